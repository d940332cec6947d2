//! Ended jobs from which run times are learned. They come from `sacct`, or from the controller's memory.

use super::array::task_name;
use crate::{Job, JobState, OptionalLimit, moment};

/// The run time of an ended job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// The id of the job.
    pub id: u64,
    /// The name that the user gave the job.
    pub name: String,
    /// The user who submitted the job.
    pub user: String,
    /// The account that was charged.
    pub account: Option<String>,
    /// The partition in which the job ran.
    pub partition: String,
    /// Time limit in seconds.
    pub limit: Option<u64>,
    /// Run time in seconds.
    pub seconds: u64,
    /// True if the job ended with success, so that it did all of its work.
    pub has_succeeded: bool,
    /// Number of nodes on which the job ran, if known.
    pub nodes: Option<u32>,
    /// Number of processors that the job held, if known.
    pub cpus: Option<u64>,
    /// The id as Slurm shows it, such as `12_3` in an array. `None` if the output has no such column.
    pub shown: Option<String>,
    /// Time of submission in seconds since 1970.
    pub submitted: Option<i64>,
    /// Time of the start in seconds since 1970.
    pub started: Option<i64>,
}

impl PastRun {
    /// Returns true if the job is similar to a job of this user with this name: if the users are equal, and the names
    /// differ only in their numbers.
    pub fn is_like(&self, user: &str, name: &str) -> bool {
        self.user == user && without_numbers(&self.name) == without_numbers(name)
    }

    /// Returns the run of a job that ended by itself or at its limit. Returns `None` for all other jobs, such as
    /// cancelled jobs, because their run times are not informative.
    pub(super) fn of(job: &Job) -> Option<Self> {
        let (start, end) = (job.start?, job.end?);
        let seconds = u64::try_from(end.checked_sub(start)?).ok().filter(|&seconds| seconds > 0)?;
        tells(&job.state).then(|| Self {
            id: job.id,
            name: job.name.clone(),
            user: job.user.clone(),
            account: job.account.clone(),
            partition: job.partition.clone(),
            limit: job.time_limit.and_then(OptionalLimit::value),
            seconds,
            has_succeeded: job.state == JobState::Completed,
            nodes: positive(job.node_count.0),
            cpus: job.cpus.filter(|&cpus| cpus > 0),
            shown: Some(match &job.array {
                Some((array, task)) => task_name(*array, task),
                None => job.id.to_string(),
            }),
            submitted: job.submitted,
            started: Some(start),
        })
    }

    /// Parses the output of `sacct -P`. Returns the runs and the number of invalid lines.
    ///
    /// The first line contains the names of the columns. The columns after the job name are counted from the right,
    /// because a name may contain the separator.
    ///
    /// # Errors
    /// The first line is missing.
    pub fn of_sacct(text: &str) -> Result<(Vec<Self>, usize), String> {
        let mut lines = text.lines();
        let Some(heading) = lines.next() else { return Ok((Vec::new(), 0)) };
        let columns: Vec<&str> = heading.split('|').collect();
        let find = |name: &str| columns.iter().position(|&column| column == name);
        let need = |name: &str| find(name).ok_or_else(|| format!("the first line has no column {name}"));
        let (id, user, name) = (need("JobIDRaw")?, need("User")?, need("JobName")?);
        let (partition, elapsed, state) = (need("Partition")?, need("ElapsedRaw")?, need("State")?);
        let (account, limit) = (find("Account"), find("TimelimitRaw"));
        let (shown, submitted, started) = (find("JobID"), find("Submit"), find("Start"));
        let (nodes, cpus) = (find("NNodes"), find("AllocCPUS"));
        let (mut runs, mut strange) = (Vec::new(), 0);
        for line in lines {
            let words = words(line, columns.len(), name);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let numbers = words.get(id).zip(words.get(elapsed)).map(|(id, elapsed)| (id.parse(), elapsed.parse()));
            let (true, Some((Ok(id), Ok(seconds)))) = (words.len() == columns.len(), numbers) else {
                strange += usize::from(!line.trim().is_empty());
                continue;
            };
            let word = |at: usize| words[at].to_owned();
            let minutes = limit.and_then(|at| words[at].parse::<u64>().ok());
            let count = |column: Option<usize>| words[column?].parse::<u64>().ok().filter(|&count| count > 0);
            let state = JobState::parse(words[state]);
            if seconds > 0 && tells(&state) {
                runs.push(Self {
                    id,
                    name: word(name),
                    user: word(user),
                    account: account.map(word).filter(|account| !account.is_empty()),
                    partition: word(partition),
                    limit: minutes.map(|minutes| minutes.saturating_mul(60)),
                    seconds,
                    has_succeeded: state == JobState::Completed,
                    nodes: count(nodes).and_then(positive),
                    cpus: count(cpus),
                    shown: shown.map(word),
                    submitted: submitted.and_then(|at| moment(words[at])),
                    started: started.and_then(|at| moment(words[at])),
                });
            }
        }
        Ok((runs, strange))
    }
}

/// Splits a line into one cell for each column. If the line has too many cells, the free text contains the separator.
/// In this case, joins the surplus cells with the free text.
fn words(line: &str, columns: usize, free: usize) -> Vec<String> {
    let mut words: Vec<String> = line.split('|').map(str::to_owned).collect();
    let excess = words.len().saturating_sub(columns);
    if excess > 0 {
        let text = words[free..=free + excess].join("|");
        words.splice(free..=free + excess, [text]);
    }
    words
}

/// Replaces the numbers in the name of a job. For example, `fit-3` and `fit-17` are runs of the same program.
pub(crate) fn without_numbers(name: &str) -> String {
    // Keep all other characters, because they distinguish programs with short names.
    let mut plain = String::new();
    for character in name.chars() {
        match character.is_ascii_digit() {
            true if plain.ends_with('#') => {}
            true => plain.push('#'),
            false => plain.push(character),
        }
    }
    plain
}

fn positive(count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|&count| count > 0)
}

/// Returns true if the run time of a job with this final state is informative.
fn tells(state: &JobState) -> bool {
    matches!(state, JobState::Completed | JobState::Failed | JobState::Timeout | JobState::OutOfMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_of_ended_jobs_are_read_if_their_columns_exist() {
        let text = "JobIDRaw|JobID|User|Partition|ElapsedRaw|State|Submit|Start|JobName\n\
                    9|7_2|bob|batch|30|COMPLETED|1970-01-01T00:01:00|1970-01-01T00:02:00|fit\n10|10|bob|batch|30|COMPLETED|Unknown|None|fit\n";
        let (runs, strange) = PastRun::of_sacct(text).unwrap();
        let found: Vec<_> = runs.iter().map(|run| (run.shown.as_deref(), run.submitted, run.started)).collect();
        assert_eq!((found, strange), (vec![(Some("7_2"), Some(60), Some(120)), (Some("10"), None, None)], 0));
    }

    #[test]
    fn sizes_and_successes_of_ended_jobs_are_read() {
        let text = "JobIDRaw|User|Partition|ElapsedRaw|State|NNodes|AllocCPUS|JobName\n\
                    1|bob|p|30|COMPLETED|2|8|fit-1\n2|bob|p|30|FAILED|0||fit-22\n";
        let (runs, _) = PastRun::of_sacct(text).unwrap();
        let found: Vec<_> = runs.iter().map(|run| (run.has_succeeded, run.nodes, run.cpus)).collect();
        assert_eq!(found, [(true, Some(2), Some(8)), (false, None, None)]);
        assert!(runs.iter().all(|run| run.is_like("bob", "fit-7") && !run.is_like("ann", "fit-7")));
    }

    #[test]
    fn names_differ_by_more_than_numbers() {
        let plain = without_numbers;
        assert_eq!((plain("fit-3"), plain("fit-17"), plain("a1b22")), ("fit-#".into(), "fit-#".into(), "a#b#".into()));
    }

    #[test]
    fn accounts_are_read_by_the_names_of_their_columns() {
        let text = "State|JobIDRaw|User|JobName|Partition|ElapsedRaw|TimelimitRaw\nCOMPLETED|7|bob|fit|batch|30|2\n\
                    CANCELLED by 1|8|bob|fit|batch|5|2\nTIMEOUT|9|bob|a|b|batch|60|1\nFAILED|10|bob|fit|batch|61|UNLIMITED\n";
        let (runs, strange) = PastRun::of_sacct(text).unwrap();
        let shown: Vec<_> = runs.iter().map(|run| (run.id, run.name.as_str(), run.seconds, run.limit)).collect();
        let expect = vec![(7, "fit", 30, Some(120)), (9, "a|b", 60, Some(60)), (10, "fit", 61, None)];
        assert_eq!((shown, strange), (expect, 0));
        let last =
            "JobIDRaw|User|Partition|ElapsedRaw|State|JobName\n1|ann|batch|900|COMPLETED|odd||name|\n2|ann|batch\n";
        let (runs, strange) = PastRun::of_sacct(last).unwrap();
        assert_eq!((runs.len(), runs[0].name.as_str(), strange), (1, "odd||name|", 1));
        assert!(PastRun::of_sacct("nonsense\n").unwrap_err().contains("JobIDRaw"));
        assert_eq!(PastRun::of_sacct("").unwrap(), (vec![], 0));
    }
}
