//! What an agent and the head of a pilot do.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use super::{Beacon, Board, Left, PLANNER_BEAT, Place, write};
use crate::pilot::order::Fate;

impl Board {
    /// Keeps other agents out of a place, until the file is dropped; `None` while one is there.
    pub fn lock(&self, place: &Place) -> io::Result<Option<File>> {
        self.lock_named(&place.name())
    }

    /// The same for whoever starts the agents of a pilot.
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

    /// Says that an agent is there.
    pub fn announce(&self, place: &Place, beacon: &Beacon) -> io::Result<()> {
        let path = self.folder.join("agents").join(place.name());
        let new = self.folder.join("agents").join(format!("{}=new", place.name()));
        write(&new, &serde_json::to_vec(beacon)?)?;
        fs::rename(new, path)
    }

    /// Says that it still is.
    pub fn beat(&self, place: &Place) -> io::Result<()> {
        File::create(self.folder.join("agents").join(format!("{}=beat", place.name())))?.write_all(b".")
    }

    /// Takes an attempt that the place was given; whether it was there to be taken.
    pub fn take(&self, place: &Place, id: &str) -> bool {
        fs::rename(self.file("in", place, id), self.file("run", place, id)).is_ok()
    }

    /// An attempt that was taken.
    pub fn taken(&self, place: &Place, id: &str) -> io::Result<Vec<u8>> {
        fs::read(self.file("run", place, id))
    }

    /// Becomes the one who begins an attempt; `None` where somebody has.
    pub fn claim(&self, id: &str) -> io::Result<Option<File>> {
        let path = self.folder.join("claims").join(id);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lets somebody else begin an attempt that was claimed and did not come to run.
    pub fn unclaim(&self, id: &str) {
        let _ = fs::remove_file(self.folder.join("claims").join(id));
    }

    /// Who has begun an attempt; `None` where nobody got as far as that.
    pub fn claimant(&self, id: &str) -> Option<Left> {
        serde_json::from_slice(&fs::read(self.folder.join("claims").join(id)).ok()?).ok()
    }

    /// An attempt has ended. What is called so is whole.
    pub fn done(&self, place: &Place, id: &str, fate: &Fate) -> io::Result<String> {
        let (run, name) = (self.file("run", place, id), format!("{id}={}", fate.word()));
        if let Fate::Refused(reason) = fate {
            write(&run, reason.as_bytes())?;
        }
        match fs::rename(&run, self.file("done", place, &name)) {
            // Over a network the answer to a request that was done may have been lost.
            Err(_) if self.file("done", place, &name).exists() => Ok(name),
            renamed => renamed.map(|()| name),
        }
    }

    /// Whether a pilot holds attempts that have not ended.
    pub fn has_work(&self, job: u64) -> bool {
        let own = self.places().into_iter().filter(|place| place.job == job);
        own.into_iter().any(|place| ["in", "run"].iter().any(|state| !self.ids(state, &place).is_empty()))
    }

    /// When a planner last said that it is there, by the clock of the file system.
    pub fn last_planner_beat(&self) -> Option<Duration> {
        self.modified(PLANNER_BEAT)
    }

    /// Attempts that are to end, and whether they are to be killed.
    pub fn asked(&self, place: &Place) -> Vec<(String, bool)> {
        let asked = self.ids("end", place).into_iter();
        let asked = asked.filter_map(|name| name.rsplit_once('=').map(|(id, how)| (id.to_owned(), how == "kill")));
        asked.collect()
    }

    /// What was asked is done.
    pub fn heeded(&self, place: &Place, id: &str, kill: bool) {
        let _ = fs::remove_file(self.file("end", place, &format!("{id}={}", if kill { "kill" } else { "term" })));
    }
}
