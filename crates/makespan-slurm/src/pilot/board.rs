//! The files that planner and agents share.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use makespan_exec::engine::Identity;
use serde::{Deserialize, Serialize};

use super::order::{Fate, Order};

/// The folder in that of the run.
pub(crate) const FOLDER: &str = "pilot";

/// A node in a pilot: `JOB.NODE`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The number of the job that the pilot is.
    pub job: u64,
    /// As Slurm calls it.
    pub node: String,
}

impl Place {
    /// The name of its folders and files.
    pub fn name(&self) -> String {
        format!("{}.{}", self.job, self.node)
    }

    /// Of such a name.
    pub fn parse(name: &str) -> Option<Self> {
        let (job, node) = name.split_once('.')?;
        (!node.is_empty() && !node.contains('/')).then_some(())?;
        Some(Self { job: job.parse().ok()?, node: node.to_owned() })
    }
}

/// What an agent says of itself when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beacon {
    /// What its machine is called.
    pub host: String,
    /// Where it listens; 0 where it cannot.
    pub port: u16,
    /// What whoever connects says first.
    pub token: String,
    /// Its process, in the machine's present boot.
    pub process: Identity,
    pub boot: String,
    /// How many cores it may use.
    pub cores: usize,
    /// How many GPUs, where they can be counted.
    pub gpus: Option<usize>,
    /// Why the memory of tasks is not limited, where somebody wants it to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_limits: Option<String>,
}

/// Who has begun an attempt: the process around it, in the boot of its machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    pub shim: Identity,
    pub boot: String,
}

/// The files in the folder of a run by which planner and agents know of each other.
///
/// | folder | what is in it |
/// |---|---|
/// | `todo` | what the planner is writing |
/// | `in/PLACE` | attempts that a place was given |
/// | `run/PLACE` | attempts that its agent has taken |
/// | `done/PLACE` | attempts that have ended, `ID=FATE` |
/// | `end/PLACE` | attempts that are to end, `ID=term` or `ID=kill` |
/// | `claims` | who has begun an attempt: made only where there is none |
/// | `agents` | what each agent says of itself, its lock, and the times at which it was there |
/// | `slots` | which node of the plan each place is |
/// | `pilots` | the jobs that are pilots |
/// | `over` | pilots that are to end |
#[derive(Clone, Debug)]
pub(crate) struct Board {
    run: PathBuf,
    folder: PathBuf,
}

impl Board {
    /// That of the run in this folder.
    pub fn of(run: &Path) -> Self {
        Self { run: run.to_owned(), folder: run.join(FOLDER) }
    }

    /// The folder of the run.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// Makes what the planner needs.
    pub fn make(&self) -> io::Result<()> {
        for name in ["todo", "in", "run", "done", "end", "claims", "agents", "slots", "pilots", "over"] {
            fs::create_dir_all(self.folder.join(name))?;
        }
        Ok(())
    }

    /// Makes what the agent of a place needs.
    pub fn make_place(&self, place: &Place) -> io::Result<()> {
        ["in", "run", "done", "end"].into_iter().try_for_each(|name| fs::create_dir_all(self.at(name, place)))
    }

    fn at(&self, state: &str, place: &Place) -> PathBuf {
        self.folder.join(state).join(place.name())
    }

    fn file(&self, state: &str, place: &Place, id: &str) -> PathBuf {
        self.at(state, place).join(id)
    }

    // What the planner does.

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
        let _ = fs::remove_file(self.folder.join("claims").join(id));
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

    /// What the agent of a place says of itself.
    pub fn beacon(&self, place: &Place) -> Option<Beacon> {
        serde_json::from_slice(&fs::read(self.folder.join("agents").join(place.name())).ok()?).ok()
    }

    /// When the agent of a place last said that it is there, by the clock of the file system.
    pub fn last_beat(&self, place: &Place) -> Option<Duration> {
        let beat = self.folder.join("agents").join(format!("{}=beat", place.name()));
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

    // What an agent does.

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

/// Writes a file that only this user may read: commands may hold secrets.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}

/// The names in a folder; none where there is no folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_in_one_place_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let board = Board::of(folder.path());
        let place = Place { job: 7, node: "a.b-1".into() };
        assert_eq!(Place::parse(&place.name()), Some(place.clone()));
        assert_eq!((Place::parse("x.y"), Place::parse("7."), Place::parse("7")), (None, None, None));
        board.make().unwrap();
        board.make_place(&place).unwrap();
        let order = Order::example();
        board.give(&place, "a~1.1", &order).unwrap();
        assert_eq!(board.order(&place, "a~1.1").as_ref(), Some(&order));
        assert!(board.take(&place, "a~1.1") && !board.take(&place, "a~1.1"));
        assert!(!board.take_back(&place, "a~1.1"), "it is taken");
        assert!(board.claim("a~1.1").unwrap().is_some() && board.claim("a~1.1").unwrap().is_none());
        assert_eq!(board.claimant("a~1.1"), None, "nobody has begun it");
        let name = board.done(&place, "a~1.1", &Fate::Exit(3)).unwrap();
        assert_eq!(board.fate(&place, &name), Some(("a~1.1".into(), Fate::Exit(3))));
        assert_eq!(board.order(&place, "a~1.1"), Some(order.clone()));
        board.forget(&place, "a~1.1", &Fate::Exit(3));
        assert_eq!(board.fate(&place, &name), None);
        board.give(&place, "b.1", &order).unwrap();
        assert!(board.take_back(&place, "b.1") && board.ids("in", &place).is_empty());
        board.give(&place, "c.1", &order).unwrap();
        assert!(board.take(&place, "c.1"));
        let name = board.done(&place, "c.1", &Fate::Refused("no such program".into())).unwrap();
        assert_eq!(board.fate(&place, &name).unwrap().1, Fate::Refused("no such program".into()));
        assert_eq!(board.places(), std::slice::from_ref(&place));
        let held = board.lock(&place).unwrap();
        assert!(held.is_some() && board.lock(&place).unwrap().is_none());
        assert!(!board.is_over(7) && board.declare_over(7).is_ok() && board.is_over(7));
    }
}
