//! File operations of the planner.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::{AgentBeacon, PLANNER_BEAT, PilotBoard, PilotNode, end_name, fate_in, names, write};
use makespan_exec::order::{AttemptEnd, AttemptOrder};

impl PilotBoard {
    /// Gives an attempt to a place.
    pub fn give(&self, place: &PilotNode, id: &str, order: &AttemptOrder) -> io::Result<()> {
        let todo = self.folder.join("todo").join(id);
        write(&todo, &serde_json::to_vec(order)?)?;
        fs::rename(todo, self.file("in", place, id))
    }

    /// Takes an attempt back from a place. Returns false if the agent has already taken the attempt.
    pub fn take_back(&self, place: &PilotNode, id: &str) -> bool {
        let todo = self.folder.join("todo").join(id);
        let back = fs::rename(self.file("in", place, id), &todo).is_ok();
        let _ = fs::remove_file(todo);
        back
    }

    /// Removes orders in the folder `todo`. They are from planners that ended while writing them.
    pub fn sweep(&self) {
        for id in names(&self.folder.join("todo")) {
            let _ = fs::remove_file(self.folder.join("todo").join(id));
        }
    }

    /// Asks the agent of a place to end an attempt. If `kill` is true, asks it to kill the attempt.
    pub fn ask_end(&self, place: &PilotNode, id: &str, kill: bool) -> io::Result<()> {
        File::create(self.file("end", place, &end_name(id, kill))).map(drop)
    }

    /// Returns the attempt and the fate that a file name in the folder `done` of a place states. Returns `None` if the
    /// file does not exist.
    pub fn fate(&self, place: &PilotNode, name: &str) -> Option<(String, AttemptEnd)> {
        self.file("done", place, name).symlink_metadata().ok()?;
        fate_in(&self.at("done", place), name)
    }

    /// Removes the files of an attempt that has ended.
    pub fn forget(&self, place: &PilotNode, id: &str, fate: &AttemptEnd) {
        self.unclaim(id);
        [false, true].iter().for_each(|&kill| self.heeded(place, id, kill));
        let _ = fs::remove_file(self.file("done", place, &format!("{id}={}", fate.word())));
    }

    /// Removes the files of an attempt at a lost place.
    pub fn bury(&self, place: &PilotNode, id: &str) {
        let _ = fs::remove_file(self.file("in", place, id));
        let _ = fs::remove_file(self.file("run", place, id));
        self.forget(place, id, &AttemptEnd::Gone);
    }

    /// Returns all places of this run, including lost places. Each place has folders in `in`, `run` and `done`.
    pub fn places(&self) -> Vec<PilotNode> {
        let mut places: Vec<PilotNode> =
            names(&self.folder.join("in")).iter().filter_map(|name| PilotNode::parse(name)).collect();
        places.sort();
        places
    }

    /// Returns the attempts in a folder of a place. In the folder `done`, the names include the fates.
    pub fn ids(&self, state: &str, place: &PilotNode) -> Vec<String> {
        names(&self.at(state, place))
    }

    /// Returns the order for the attempt `id` at `place`, even if the agent has already taken the order.
    pub fn order(&self, place: &PilotNode, id: &str) -> Option<AttemptOrder> {
        let read = |state| fs::read(self.file(state, place, id)).ok();
        // The file may move between two reads.
        let bytes = read("in").or_else(|| read("run")).or_else(|| {
            let name = self
                .ids("done", place)
                .into_iter()
                .find(|name| name.rsplit_once('=').is_some_and(|(of, _)| of == id))?;
            fs::read(self.file("done", place, &name)).ok()
        })?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns true if a place holds running attempts, or ended attempts that no planner has handled.
    pub fn holds_any(&self, place: &PilotNode) -> bool {
        ["in", "run", "done"].iter().any(|state| !self.ids(state, place).is_empty())
    }

    /// Returns the description of the agent of a place.
    pub fn beacon(&self, place: &PilotNode) -> Option<AgentBeacon> {
        serde_json::from_slice(&fs::read(self.folder.join("agents").join(place.name())).ok()?).ok()
    }

    /// Returns the last sign of life of the agent of a place, by the file system's clock.
    pub fn last_beat(&self, place: &PilotNode) -> Option<Duration> {
        self.modified(&format!("{}=beat", place.name()))
    }

    /// Records a sign of life of the planner.
    pub fn beat_as_planner(&self) {
        // Ignore a write error: pilots end only some minutes after the last sign of life.
        let _ = fs::write(self.folder.join("agents").join(PLANNER_BEAT), ".");
    }

    /// Returns the time of the last change of a file in `agents`, by the file system's clock.
    pub(super) fn modified(&self, name: &str) -> Option<Duration> {
        let beat = self.folder.join("agents").join(name);
        fs::metadata(beat).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()
    }

    /// Records that a job is the pilot with this number.
    pub fn record_pilot(&self, job: u64, number: usize) -> io::Result<()> {
        let new = self.folder.join("todo").join(format!("{job}=pilot"));
        write(&new, number.to_string().as_bytes())?;
        fs::rename(new, self.folder.join("pilots").join(job.to_string()))
    }

    /// Returns the job ids and numbers of all pilots of this run, including ended pilots.
    pub fn pilots(&self) -> Vec<(u64, usize)> {
        let folder = self.folder.join("pilots");
        let of = |name: &String| {
            let number = fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()?;
            Some((name.parse().ok()?, number))
        };
        names(&folder).iter().filter_map(of).collect()
    }

    /// Returns the log file of a pilot's head and agents.
    pub fn log(&self, job: u64) -> PathBuf {
        self.folder.join(format!("{job}.log"))
    }

    /// Returns the folder of the log files.
    pub fn logs(&self) -> &Path {
        &self.folder
    }

    /// Records the plan node of a place.
    pub fn bind(&self, place: &PilotNode, slot: usize) -> io::Result<()> {
        let path = self.folder.join("slots").join(place.name());
        let new = self.folder.join("todo").join(format!("{}=slot", place.name()));
        write(&new, slot.to_string().as_bytes())?;
        fs::rename(new, path)
    }

    /// Returns the plan node of a place.
    pub fn slot(&self, place: &PilotNode) -> Option<usize> {
        fs::read_to_string(self.folder.join("slots").join(place.name())).ok()?.trim().parse().ok()
    }

    /// Requests the end of a pilot.
    pub fn declare_over(&self, job: u64) -> io::Result<()> {
        File::create(self.folder.join("over").join(job.to_string())).map(drop)
    }

    /// Revokes the request to end a pilot.
    pub fn declare_not_over(&self, job: u64) {
        let _ = fs::remove_file(self.folder.join("over").join(job.to_string()));
    }

    /// Returns true if a pilot must end.
    pub fn is_over(&self, job: u64) -> bool {
        self.folder.join("over").join(job.to_string()).exists()
    }
}
