//! File operations of agents and of the head of a pilot.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use super::{AgentBeacon, AttemptProcess, PLANNER_BEAT, PilotBoard, PilotNode, end_name, write};
use makespan_exec::order::AttemptEnd;

impl PilotBoard {
    /// Locks a place. The lock lasts until the returned file is dropped. Returns `None` if another agent holds the
    /// lock.
    pub fn lock(&self, place: &PilotNode) -> io::Result<Option<File>> {
        self.lock_named(&place.name())
    }

    /// Locks the head of a pilot. The head is the process that starts the agents of the pilot.
    pub fn lock_head(&self, job: u64) -> io::Result<Option<File>> {
        self.lock_named(&format!("{job}=head"))
    }

    fn lock_named(&self, name: &str) -> io::Result<Option<File>> {
        let path = self.folder.join("agents").join(format!("{name}=lock"));
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Announces an agent.
    pub fn announce(&self, place: &PilotNode, beacon: &AgentBeacon) -> io::Result<()> {
        let path = self.folder.join("agents").join(place.name());
        let new = self.folder.join("agents").join(format!("{}=new", place.name()));
        write(&new, &serde_json::to_vec(beacon)?)?;
        fs::rename(new, path)
    }

    /// Records a sign of life of an agent.
    pub fn beat(&self, place: &PilotNode) -> io::Result<()> {
        File::create(self.folder.join("agents").join(format!("{}=beat", place.name())))?.write_all(b".")
    }

    /// Takes an attempt that the planner gave to the place. Returns false if the planner has taken the attempt back.
    pub fn take(&self, place: &PilotNode, id: &str) -> bool {
        fs::rename(self.file("in", place, id), self.file("run", place, id)).is_ok()
    }

    /// Reads an attempt that was taken.
    pub fn taken(&self, place: &PilotNode, id: &str) -> io::Result<Vec<u8>> {
        fs::read(self.file("run", place, id))
    }

    /// Claims an attempt. Returns `None` if it is already claimed.
    pub fn claim(&self, id: &str) -> io::Result<Option<File>> {
        let path = self.folder.join("claims").join(id);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Releases a claimed attempt that did not start, so that another agent can start it.
    pub fn unclaim(&self, id: &str) {
        let _ = fs::remove_file(self.folder.join("claims").join(id));
    }

    /// Returns the agent that started an attempt, or `None` if the claim is missing or incomplete.
    pub fn claimant(&self, id: &str) -> Option<AttemptProcess> {
        serde_json::from_slice(&fs::read(self.folder.join("claims").join(id)).ok()?).ok()
    }

    /// Records the end of an attempt. The file appears only when it is complete.
    pub fn done(&self, place: &PilotNode, id: &str, fate: &AttemptEnd) -> io::Result<String> {
        let (run, name) = (self.file("run", place, id), format!("{id}={}", fate.word()));
        if let AttemptEnd::Refused(reason) = fate {
            write(&run, reason.as_bytes())?;
        }
        match fs::rename(&run, self.file("done", place, &name)) {
            // On a network file system, a rename may succeed although it returns an error.
            Err(_) if self.file("done", place, &name).exists() => Ok(name),
            renamed => renamed.map(|()| name),
        }
    }

    /// Returns true if a pilot holds attempts that have not ended.
    pub fn has_work(&self, job: u64) -> bool {
        let own = self.places().into_iter().filter(|place| place.job == job);
        own.into_iter().any(|place| ["in", "run"].iter().any(|state| !self.ids(state, &place).is_empty()))
    }

    /// Returns the instant of a planner's last sign of life, by the clock of the file system.
    pub fn last_planner_beat(&self) -> Option<Duration> {
        self.modified(PLANNER_BEAT)
    }

    /// Returns the attempts that must end. The flag is true if the attempt must be killed.
    pub fn asked(&self, place: &PilotNode) -> Vec<(String, bool)> {
        let asked = self.ids("end", place).into_iter();
        let asked = asked.filter_map(|name| name.rsplit_once('=').map(|(id, how)| (id.to_owned(), how == "kill")));
        asked.collect()
    }

    /// Removes a fulfilled request to end an attempt.
    pub fn heeded(&self, place: &PilotNode, id: &str, kill: bool) {
        let _ = fs::remove_file(self.file("end", place, &end_name(id, kill)));
    }
}
