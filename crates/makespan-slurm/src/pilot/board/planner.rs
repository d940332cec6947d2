//! What the planner does.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use super::{Beacon, Board, PLANNER_BEAT, Place, names, write};
use crate::pilot::order::{Fate, Order};

impl Board {
    /// Gives an attempt to a place.
    pub fn give(&self, place: &Place, id: &str, order: &Order) -> io::Result<()> {
        let todo = self.folder.join("todo").join(id);
        write(&todo, &serde_json::to_vec(order)?)?;
        fs::rename(todo, self.file("in", place, id))
    }

    /// Takes back an attempt that its place has not taken; whether that was so.
    pub fn take_back(&self, place: &Place, id: &str) -> bool {
        let todo = self.folder.join("todo").join(id);
        let back = fs::rename(self.file("in", place, id), &todo).is_ok();
        let _ = fs::remove_file(todo);
        back
    }

    /// Removes what was never given.
    pub fn sweep(&self) {
        for id in names(&self.folder.join("todo")) {
            let _ = fs::remove_file(self.folder.join("todo").join(id));
        }
    }

    /// Asks the agent of a place to end an attempt, or to kill it.
    pub fn ask_end(&self, place: &Place, id: &str, kill: bool) -> io::Result<()> {
        File::create(self.file("end", place, &format!("{id}={}", if kill { "kill" } else { "term" }))).map(drop)
    }

    /// How an attempt has ended at a place, by a name in its folder `done`; `None` where nothing is called so.
    pub fn fate(&self, place: &Place, name: &str) -> Option<(String, Fate)> {
        let path = self.file("done", place, name);
        path.symlink_metadata().ok()?;
        let (id, fate) = name.rsplit_once('=')?;
        let fate = match Fate::parse(fate)? {
            Fate::Refused(_) => Fate::Refused(fs::read_to_string(path).unwrap_or_default()),
            fate => fate,
        };
        Some((id.to_owned(), fate))
    }

    /// Forgets an attempt that has ended.
    pub fn forget(&self, place: &Place, id: &str, fate: &Fate) {
        self.unclaim(id);
        for ask in ["term", "kill"] {
            let _ = fs::remove_file(self.file("end", place, &format!("{id}={ask}")));
        }
        let _ = fs::remove_file(self.file("done", place, &format!("{id}={}", fate.word())));
    }

    /// Forgets an attempt whose place is gone.
    pub fn bury(&self, place: &Place, id: &str) {
        let _ = fs::remove_file(self.file("in", place, id));
        let _ = fs::remove_file(self.file("run", place, id));
        self.forget(place, id, &Fate::Gone);
    }

    /// All places that there ever were, and what is in `in`, `run` and `done` of each.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> =
            names(&self.folder.join("in")).iter().filter_map(|name| Place::parse(name)).collect();
        places.sort();
        places
    }

    /// The attempts in a folder of a place; in `done` with their fates.
    pub fn ids(&self, state: &str, place: &Place) -> Vec<String> {
        names(&self.at(state, place))
    }

    /// An attempt that a place was given, and has perhaps taken.
    pub fn order(&self, place: &Place, id: &str) -> Option<Order> {
        let read = |state| fs::read(self.file(state, place, id)).ok();
        // It may move on in between.
        let bytes = read("in").or_else(|| read("run")).or_else(|| {
            let name = self
                .ids("done", place)
                .into_iter()
                .find(|name| name.rsplit_once('=').is_some_and(|(of, _)| of == id))?;
            fs::read(self.file("done", place, &name)).ok()
        })?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Whether a place was given attempts of which a planner has not heard the end.
    pub fn holds_any(&self, place: &Place) -> bool {
        ["in", "run", "done"].iter().any(|state| !self.ids(state, place).is_empty())
    }

    /// What the agent of a place says of itself.
    pub fn beacon(&self, place: &Place) -> Option<Beacon> {
        serde_json::from_slice(&fs::read(self.folder.join("agents").join(place.name())).ok()?).ok()
    }

    /// When the agent of a place last said that it is there, by the clock of the file system.
    pub fn last_beat(&self, place: &Place) -> Option<Duration> {
        self.modified(&format!("{}=beat", place.name()))
    }

    /// Says that a planner is there.
    pub fn beat_as_planner(&self) {
        // Pilots are given back some minutes after the last one that arrives.
        let _ = fs::write(self.folder.join("agents").join(PLANNER_BEAT), ".");
    }

    /// When a file beside what agents say of themselves was written last, by the clock of the file system.
    pub(super) fn modified(&self, name: &str) -> Option<Duration> {
        let beat = self.folder.join("agents").join(name);
        fs::metadata(beat).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()
    }

    /// Remembers that a job is this one of the pilots.
    pub fn record_pilot(&self, job: u64, number: usize) -> io::Result<()> {
        let new = self.folder.join("todo").join(format!("{job}=pilot"));
        write(&new, number.to_string().as_bytes())?;
        fs::rename(new, self.folder.join("pilots").join(job.to_string()))
    }

    /// The pilots that there ever were, each with its number.
    pub fn pilots(&self) -> Vec<(u64, usize)> {
        let folder = self.folder.join("pilots");
        let of = |name: &String| {
            let number = fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()?;
            Some((name.parse().ok()?, number))
        };
        names(&folder).iter().filter_map(of).collect()
    }

    /// What the head of a pilot and its agents have to say.
    pub fn log(&self, job: u64) -> PathBuf {
        self.folder.join(format!("{job}.log"))
    }

    /// The same, as `sbatch` writes the number of the job.
    pub fn log_pattern(&self) -> PathBuf {
        self.folder.join("%j.log")
    }

    /// Remembers which node of the plan a place is.
    pub fn bind(&self, place: &Place, slot: usize) -> io::Result<()> {
        let path = self.folder.join("slots").join(place.name());
        let new = self.folder.join("todo").join(format!("{}=slot", place.name()));
        write(&new, slot.to_string().as_bytes())?;
        fs::rename(new, path)
    }

    /// Which node of the plan a place is.
    pub fn slot(&self, place: &Place) -> Option<usize> {
        fs::read_to_string(self.folder.join("slots").join(place.name())).ok()?.trim().parse().ok()
    }

    /// A pilot is to end.
    pub fn declare_over(&self, job: u64) -> io::Result<()> {
        File::create(self.folder.join("over").join(job.to_string())).map(drop)
    }

    /// A pilot goes on that was to end.
    pub fn declare_not_over(&self, job: u64) {
        let _ = fs::remove_file(self.folder.join("over").join(job.to_string()));
    }

    /// Whether a pilot is to end.
    pub fn is_over(&self, job: u64) -> bool {
        self.folder.join("over").join(job.to_string()).exists()
    }
}
