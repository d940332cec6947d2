//! The files that the planner and the jobs share.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use makespan_core::ProcSet;
use serde::{Deserialize, Serialize};

use crate::pilot::{AttemptEnd, AttemptOrder, end_name, fate_in, names, write};

/// Name of the folder inside the run's folder.
const FOLDER: &str = "jobs";

/// The claim of an attempt by the job that starts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// The id of the Slurm job, or 0 if the planner withdrew the attempt.
    pub job: u64,
    /// Start of the attempt in nanoseconds since 1970.
    pub began: u64,
    /// The nodes of the job, with the processors used on each, by Slurm's numbers.
    pub nodes: Vec<(String, ProcSet)>,
}

impl Claim {
    pub fn is_void(&self) -> bool {
        self.job == 0
    }

    pub fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.began)
    }
}

/// The files in the folder of a run through which the planner and the jobs communicate. An attempt has the name of its
/// status file.
///
/// | name | content |
/// |---|---|
/// | `orders/ID` | the order of an attempt, written before its submission |
/// | `submitted` | a line `ID ?` before a submission, and a line `ID NUMBER` after it |
/// | `claims/ID` | the claim of the job that started an attempt, or a void claim that prevents a start; never replaced or removed |
/// | `new/ID` | the same claim, until the planner has read it |
/// | `done/ID=FATE` | the fate of an attempt |
/// | `end/ID=HOW` | a request to end an attempt |
/// | `log/ID` | the output of the job |
#[derive(Clone, Debug)]
pub(super) struct JobBoard {
    run: PathBuf,
    folder: PathBuf,
}

impl JobBoard {
    pub fn of(run: &Path) -> Self {
        Self { run: run.to_owned(), folder: run.join(FOLDER) }
    }

    pub fn run(&self) -> &Path {
        &self.run
    }

    pub fn make(&self) -> io::Result<()> {
        let names = ["todo", "orders", "claims", "new", "done", "end", "log"];
        names.into_iter().try_for_each(|name| fs::create_dir_all(self.folder.join(name)))
    }

    fn file(&self, state: &str, name: &str) -> PathBuf {
        self.folder.join(state).join(name)
    }

    pub fn log(&self, id: &str) -> PathBuf {
        self.file("log", id)
    }

    /// Returns the last line of the log of an attempt's job.
    pub fn last_words(&self, id: &str) -> Option<String> {
        let bytes = fs::read(self.log(id)).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.lines().rev().find(|line| !line.trim().is_empty()).map(|line| line.trim().chars().take(300).collect())
    }

    /// Writes the order of an attempt. The file appears only when it is complete.
    pub fn write_order(&self, id: &str, order: &AttemptOrder) -> io::Result<()> {
        let todo = self.file("todo", id);
        write(&todo, &serde_json::to_vec(order)?)?;
        fs::rename(todo, self.file("orders", id))
    }

    pub fn order(&self, id: &str) -> io::Result<AttemptOrder> {
        Ok(serde_json::from_slice(&fs::read(self.file("orders", id))?)?)
    }

    /// Returns the attempts for which an order exists.
    pub fn orders(&self) -> Vec<String> {
        names(&self.folder.join("orders"))
    }

    /// Claims an attempt. Returns true if the attempt had no claim before. No reader ever sees an incomplete claim.
    pub fn claim(&self, id: &str, claim: &Claim) -> io::Result<bool> {
        let todo = self.file("todo", &format!("{id}={}", claim.job));
        write(&todo, &serde_json::to_vec(claim)?)?;
        let linked = fs::hard_link(&todo, self.file("claims", id));
        let made = match linked {
            Ok(()) => {
                if !claim.is_void() {
                    let _ = fs::hard_link(&todo, self.file("new", id));
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        };
        let _ = fs::remove_file(todo);
        made
    }

    /// Prevents the start of an attempt. Returns false if the attempt has already started.
    pub fn void(&self, id: &str) -> bool {
        let void = Claim { job: 0, began: 0, nodes: Vec::new() };
        match self.claim(id, &void) {
            Ok(made) => made || self.claimant(id).is_some_and(|claim| claim.is_void()),
            Err(_) => false,
        }
    }

    pub fn claimant(&self, id: &str) -> Option<Claim> {
        serde_json::from_slice(&fs::read(self.file("claims", id)).ok()?).ok()
    }

    /// Records a sign of life of the job that runs an attempt.
    pub fn beat(&self, id: &str) {
        let file = OpenOptions::new().append(true).open(self.file("claims", id));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Returns the last sign of life of the job that runs an attempt, by the clock of the job's node.
    pub fn last_beat(&self, id: &str) -> Option<SystemTime> {
        fs::metadata(self.file("claims", id)).ok()?.modified().ok()
    }

    /// Returns the attempts that have started since the planner's last check.
    pub fn news(&self) -> Vec<String> {
        names(&self.folder.join("new"))
    }

    pub fn heard(&self, id: &str) {
        let _ = fs::remove_file(self.file("new", id));
    }

    /// Records the end of an attempt. The file appears only when it is complete.
    pub fn done(&self, id: &str, fate: &AttemptEnd) -> io::Result<()> {
        let todo = self.file("todo", &format!("{id}=done"));
        let reason = if let AttemptEnd::Refused(reason) = fate { reason.as_str() } else { "" };
        write(&todo, reason.as_bytes())?;
        fs::rename(todo, self.file("done", &format!("{id}={}", fate.word())))
    }

    /// Returns the ended attempts with their fates.
    pub fn ends(&self) -> Vec<(String, AttemptEnd)> {
        let folder = self.folder.join("done");
        names(&folder).iter().filter_map(|name| fate_in(&folder, name)).collect()
    }

    /// Removes the record of an end.
    pub fn forget_end(&self, id: &str, fate: &AttemptEnd) {
        let _ = fs::remove_file(self.file("done", &format!("{id}={}", fate.word())));
    }

    /// Requests the end of an attempt.
    pub fn ask_end(&self, id: &str, kill: bool) -> io::Result<()> {
        File::create(self.file("end", &end_name(id, kill))).map(drop)
    }

    /// Returns true if an attempt should end (`kill` is false) or be killed.
    pub fn is_to_end(&self, id: &str, kill: bool) -> bool {
        self.file("end", &end_name(id, kill)).exists()
    }

    /// Removes the files of an attempt that has ended or was withdrawn. Keeps its claim, because the claim prevents a
    /// later start.
    pub fn forget(&self, id: &str) {
        let _ = fs::remove_file(self.file("orders", id));
        for kill in [false, true] {
            let _ = fs::remove_file(self.file("end", &end_name(id, kill)));
        }
        self.heard(id);
    }

    /// Returns the job id of each submission, by the name of the attempt. The job id is `None` if no answer of Slurm
    /// was recorded.
    pub fn submissions(&self) -> BTreeMap<String, Option<u64>> {
        let text = fs::read_to_string(self.folder.join("submitted")).unwrap_or_default();
        let of = |line: &str| {
            let (id, number) = line.strip_suffix('\n')?.rsplit_once(' ')?;
            let number = if number == "?" { None } else { Some(number.parse().ok()?) };
            Some((id.to_owned(), number))
        };
        // A last line without a line break is incomplete. Its job was not submitted.
        text.split_inclusive('\n').filter_map(of).collect()
    }

    pub fn log_of_submissions(&self) -> io::Result<Submissions> {
        let path = self.folder.join("submitted");
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(-1)).is_ok() {
            file.read_exact(&mut last)?;
        }
        if last != [b'\n'] {
            file.write_all(b"\n")?;
        }
        Ok(Submissions(file))
    }
}

/// The file `submitted`.
#[derive(Debug)]
pub(super) struct Submissions(File);

impl Submissions {
    /// Appends a line, and waits until it is on disk.
    pub fn note(&mut self, id: &str, number: Option<u64>) -> io::Result<()> {
        let number = number.map_or_else(|| "?".to_owned(), |number| number.to_string());
        self.0.write_all(format!("{id} {number}\n").as_bytes())?;
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_begun_once_or_never() {
        let folder = tempfile::tempdir().unwrap();
        let board = JobBoard::of(folder.path());
        board.make().unwrap();
        let claim = Claim { job: 7, began: 5, nodes: vec![("n1".into(), ProcSet::range(1, 2))] };
        assert!(board.claim("a.1", &claim).unwrap() && !board.claim("a.1", &claim).unwrap());
        assert!(!board.void("a.1"), "it has begun");
        assert!(board.void("b.1") && board.void("b.1") && !board.claim("b.1", &claim).unwrap());
        assert_eq!((board.claimant("a.1"), board.news()), (Some(claim), vec!["a.1".to_owned()]));
        board.done("a.1", &AttemptEnd::Refused("no such program".into())).unwrap();
        assert_eq!(board.ends(), [("a.1".to_owned(), AttemptEnd::Refused("no such program".into()))]);
        let order = crate::pilot::example_order();
        board.write_order("a.1", &order).unwrap();
        assert_eq!(board.order("a.1").unwrap(), order);
        board.forget("a.1");
        assert!(board.orders().is_empty() && board.claimant("a.1").is_some(), "claims stay");
    }

    #[test]
    fn a_submission_that_was_cut_off_was_none() {
        let folder = tempfile::tempdir().unwrap();
        let board = JobBoard::of(folder.path());
        board.make().unwrap();
        let mut log = board.log_of_submissions().unwrap();
        log.note("a.1", None).unwrap();
        log.note("a.1", Some(12)).unwrap();
        log.note("b.1", None).unwrap();
        OpenOptions::new().append(true).open(folder.path().join("jobs/submitted")).unwrap().write_all(b"c.1").unwrap();
        board.log_of_submissions().unwrap().note("d.1", Some(13)).unwrap();
        let all: Vec<_> = board.submissions().into_iter().collect();
        let due = [("a.1", Some(12)), ("b.1", None), ("d.1", Some(13))];
        assert_eq!(all, due.map(|(id, number)| (id.to_owned(), number)));
    }
}
