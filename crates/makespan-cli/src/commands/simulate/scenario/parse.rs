//! Parses scenarios.

use makespan_formats::Estimates;
use makespan_slurm::queue::{NumberChange, QueueChange};

use super::super::super::queue::clock::is_day;

/// A scenario: a list of changes to the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Text of the scenario, as the user wrote it.
    pub name: String,
    pub changes: Vec<ScenarioChange>,
}

/// A change to the log or to the policy.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioChange {
    /// Another number of nodes.
    Nodes(Amount),
    /// Another number of processors, on a platform that does not state its nodes.
    Processors(Amount),
    Policy(String),
    Estimates(Estimates),
    /// Removal of one job, or of all jobs of a user, account, partition or QOS.
    Without(JobSelector, String),
    /// Factor by which the arrival rate of jobs is multiplied.
    Load(f64),
    /// A change of the queue of a cluster.
    Queue(QueueChange),
    /// A period in which nodes of a cluster run no jobs.
    Closed(ClosedNodes),
    /// Another number of shares of a user, or of an account.
    Shares(ShareHolder, u32),
}

/// A holder of shares in the fair share of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareHolder {
    Account(String),
    User(String),
}

/// A period in which nodes of a cluster run no jobs, as text. The present of the queue decides what the text means.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNodes {
    /// The word `drain` or `maintenance`.
    pub name: &'static str,
    /// The nodes, or `None` for all nodes.
    pub nodes: Option<String>,
    /// The begin, such as `tomorrow 8:00`.
    pub from: String,
    /// The end, or `None` if the nodes do not come back.
    pub until: Option<String>,
}

/// A number, or a change of the present number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    All(u32),
    More(u32),
    Fewer(u32),
}

/// The property that selects the jobs to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSelector {
    User,
    Account,
    Partition,
    Qos,
    Job,
}

const WORDS: &str = "now, nodes=+20, nodes=-4, nodes=100, processors=+20, policy=conservative, estimates=clairvoyant, load=1.2, without user=ann \
                     (account=, partition=, qos=, job=), or for the queue of a cluster: job=5 limit=4min, job=5 top, qos=high jobs=+4, \
                     account=phys shares=5, user=ann shares=3, drain=n3 from tomorrow 8:00, maintenance=tuesday 8:00..12:00 on n[1-4]";

impl Scenario {
    /// Returns the policy that the scenario names, if any.
    pub fn policy(&self) -> Option<&str> {
        self.changes.iter().find_map(|change| match change {
            ScenarioChange::Policy(policy) => Some(policy.as_str()),
            _ => None,
        })
    }

    /// Parses words that are separated by spaces outside brackets, such as
    /// `nodes=+20 policy=easy[order=saf] without user=ann`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |problem: String| format!("--scenario '{text}': {problem}; write words such as {WORDS}");
        let words = words(text);
        if words.is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let mut changes = Vec::new();
        let mut left = words.iter().peekable();
        while let Some(word) = left.next() {
            match word.as_str() {
                "now" if words.len() == 1 => {}
                "now" => return Err(wrong("`now` cannot be combined with changes".into())),
                "without" => {
                    let next = left.next().ok_or_else(|| wrong("a word is missing after `without`".into()))?;
                    changes.push(without(next).map_err(wrong)?);
                }
                word => {
                    let new = match word.split_once('=') {
                        Some(("job", job)) => of_job(job, &mut left),
                        Some(("qos", qos)) => of_qos(qos, &mut left).map(|change| vec![change]),
                        Some(("account", name)) => {
                            shares(word, ShareHolder::Account(name.to_owned()), &mut left).map(|change| vec![change])
                        }
                        Some(("user", name)) => {
                            shares(word, ShareHolder::User(name.to_owned()), &mut left).map(|change| vec![change])
                        }
                        Some(("drain", nodes)) => drain(nodes, &mut left).map(|change| vec![change]),
                        Some(("maintenance", from)) => maintenance(from, &mut left).map(|change| vec![change]),
                        _ => change(word).map(|change| vec![change]),
                    };
                    for change in new.map_err(wrong)? {
                        if changes.iter().any(|other: &ScenarioChange| other.is_like(&change)) {
                            return Err(wrong(format!("`{word}` is a second change of the same kind")));
                        }
                        changes.push(change);
                    }
                }
            }
        }
        Ok(Self { name: text.trim().to_owned(), changes })
    }
}

impl ScenarioChange {
    /// Returns true if two changes cannot be in one scenario, because the second would replace the first.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Closed(one), Self::Closed(other)) => one == other,
            (Self::Shares(one, _), Self::Shares(other, _)) => one == other,
            (Self::Queue(QueueChange::Limit { job: one, .. }), Self::Queue(QueueChange::Limit { job: other, .. }))
            | (Self::Queue(QueueChange::Top { job: one }), Self::Queue(QueueChange::Top { job: other }))
            | (
                Self::Queue(QueueChange::QosJobs { qos: one, .. }),
                Self::Queue(QueueChange::QosJobs { qos: other, .. }),
            ) => one == other,
            (Self::Queue(_) | Self::Without(..), _) => false,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The words of a scenario that have not been parsed.
type Words<'a> = std::iter::Peekable<std::slice::Iter<'a, String>>;

/// Parses the words after `job=5`: `limit=4min`, `top`, or both.
fn of_job(job: &str, left: &mut Words<'_>) -> Result<Vec<ScenarioChange>, String> {
    let mut changes = Vec::new();
    let missing =
        || format!("`job={job}` does not state a change; add limit=4min or top, or write `without job={job}`");
    if job.is_empty() {
        return Err("`job=` states no job".to_owned());
    }
    while let Some(word) = left.peek() {
        let change = match word.split_once('=') {
            Some(("limit", text)) => QueueChange::Limit {
                job: job.to_owned(),
                seconds: makespan_slurm::requested_time(text).ok_or_else(|| {
                    format!("`limit={text}` is not a time limit; write 4min, 2h, or Slurm's forms such as 1-12:00:00")
                })?,
            },
            None if word.as_str() == "top" => QueueChange::Top { job: job.to_owned() },
            _ => break,
        };
        changes.push(ScenarioChange::Queue(change));
        left.next();
    }
    if changes.is_empty() { Err(missing()) } else { Ok(changes) }
}

/// Parses the word after `qos=high`: `jobs=+4`.
fn of_qos(qos: &str, left: &mut Words<'_>) -> Result<ScenarioChange, String> {
    let missing = || format!("`qos={qos}` does not state a change; add jobs=+4, or write `without qos={qos}`");
    let text =
        left.next().and_then(|word| word.strip_prefix("jobs=")).filter(|_| !qos.is_empty()).ok_or_else(missing)?;
    let jobs = match amount(text).ok_or_else(|| format!("`jobs={text}` is not a number of jobs"))? {
        Amount::All(all) => NumberChange::To(all.into()),
        Amount::More(more) => NumberChange::More(more.into()),
        Amount::Fewer(fewer) => NumberChange::Fewer(fewer.into()),
    };
    Ok(ScenarioChange::Queue(QueueChange::QosJobs { qos: qos.to_owned(), jobs }))
}

/// Parses the word after `account=phys` or `user=ann`: `shares=5`.
fn shares(word: &str, holder: ShareHolder, left: &mut Words<'_>) -> Result<ScenarioChange, String> {
    let missing = || format!("`{word}` does not state a change; add shares=5, or write `without {word}`");
    let text = left.next_if(|next| next.starts_with("shares=")).ok_or_else(missing)?;
    let count = text["shares=".len()..].parse().map_err(|_| format!("`{text}` is not a number of shares"))?;
    Ok(ScenarioChange::Shares(holder, count))
}

/// Parses the words after `drain=n3`: nothing, or `from` and an instant.
fn drain(nodes: &str, left: &mut Words<'_>) -> Result<ScenarioChange, String> {
    if nodes.is_empty() {
        return Err("`drain=` states no node".to_owned());
    }
    let mut from = "now".to_owned();
    if left.next_if(|word| word.as_str() == "from").is_some() {
        let missing = || "an instant is missing after `from`, such as tomorrow 8:00".to_owned();
        from.clone_from(left.next().ok_or_else(missing)?);
        if is_day(&from) {
            from = format!("{from} {}", left.next().ok_or_else(|| time_is_missing(&from))?);
        }
    }
    let nodes = Some(nodes.to_owned());
    Ok(ScenarioChange::Closed(ClosedNodes { name: "drain", nodes, from, until: None }))
}

/// Parses the words of `maintenance=tuesday 8:00..12:00 on n[1-4]`, of which the last two may be missing.
fn maintenance(first: &str, left: &mut Words<'_>) -> Result<ScenarioChange, String> {
    let mut text = first.to_owned();
    while text.rsplit([' ', '.']).next().is_some_and(is_day) {
        text = format!("{text} {}", left.next().ok_or_else(|| time_is_missing(&text))?);
    }
    let Some((from, until)) = text.split_once("..").filter(|(from, until)| !from.is_empty() && !until.is_empty())
    else {
        return Err(format!("`maintenance={text}` is not a period; write maintenance=tuesday 8:00..12:00"));
    };
    let mut nodes = None;
    if left.next_if(|word| word.as_str() == "on").is_some() {
        nodes = Some(left.next().ok_or("the nodes are missing after `on`")?.clone());
    }
    let (from, until) = (from.to_owned(), Some(until.to_owned()));
    Ok(ScenarioChange::Closed(ClosedNodes { name: "maintenance", nodes, from, until }))
}

fn time_is_missing(day: &str) -> String {
    format!("a time of day is missing after `{day}`, such as 8:00")
}

/// Splits a text at spaces outside brackets.
fn words(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c.is_whitespace() && depth <= 0
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn change(word: &str) -> Result<ScenarioChange, String> {
    let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not a known change"))?;
    match key {
        "nodes" => {
            amount(value).map(ScenarioChange::Nodes).ok_or_else(|| format!("`{value}` is not a number of nodes"))
        }
        "processors" => amount(value)
            .map(ScenarioChange::Processors)
            .ok_or_else(|| format!("`{value}` is not a number of processors")),
        "policy" if !value.is_empty() => Ok(ScenarioChange::Policy(value.to_owned())),
        "estimates" => value.parse().map(ScenarioChange::Estimates),
        "load" => {
            let factor = value.parse::<f64>().ok().filter(|factor| (1e-3..=1e3).contains(factor));
            factor.map(ScenarioChange::Load).ok_or_else(|| format!("`{value}` is not a load from 0.001 to 1000"))
        }
        "partition" => Err(format!("`without` is missing before `{word}`")),
        _ => Err(format!("`{word}` is not a known change")),
    }
}

fn amount(text: &str) -> Option<Amount> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    match text.as_bytes().first()? {
        b'+' => number(&text[1..]).map(Amount::More),
        b'-' => number(&text[1..]).map(Amount::Fewer),
        _ => number(text).filter(|&all| all > 0).map(Amount::All),
    }
}

fn without(word: &str) -> Result<ScenarioChange, String> {
    let wrong = || format!("`without {word}` does not state which jobs");
    let (key, value) = word.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
    let whose = match key {
        "user" => JobSelector::User,
        "account" => JobSelector::Account,
        "partition" => JobSelector::Partition,
        "qos" => JobSelector::Qos,
        "job" => JobSelector::Job,
        _ => return Err(wrong()),
    };
    Ok(ScenarioChange::Without(whose, value.to_owned()))
}

impl JobSelector {
    /// Returns the word for this property in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Account => "account",
            Self::Partition => "partition",
            Self::Qos => "QOS",
            Self::Job => "job",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_words() {
        let changes = |text: &str| Scenario::parse(text).unwrap().changes;
        assert_eq!(changes("now"), []);
        assert_eq!(
            changes(" nodes=+20  policy=replan[scheduler=list, keep=oldest] without user=ann without job=3"),
            [
                ScenarioChange::Nodes(Amount::More(20)),
                ScenarioChange::Policy("replan[scheduler=list, keep=oldest]".into()),
                ScenarioChange::Without(JobSelector::User, "ann".into()),
                ScenarioChange::Without(JobSelector::Job, "3".into()),
            ]
        );
        assert_eq!(changes("nodes=-4 load=1.5"), [ScenarioChange::Nodes(Amount::Fewer(4)), ScenarioChange::Load(1.5)]);
        let limit = |job: &str, seconds| ScenarioChange::Queue(QueueChange::Limit { job: job.into(), seconds });
        let top = |job: &str| ScenarioChange::Queue(QueueChange::Top { job: job.into() });
        assert_eq!(changes("job=5 limit=4min top job=6 top"), [limit("5", 240), top("5"), top("6")]);
        assert_eq!(changes("job=7_2 limit=1-12:00:00"), [limit("7_2", 129_600)]);
        let jobs = |jobs| [ScenarioChange::Queue(QueueChange::QosJobs { qos: "high".into(), jobs })];
        assert_eq!(changes("qos=high jobs=+4"), jobs(NumberChange::More(4)));
        assert_eq!(changes("qos=high jobs=4"), jobs(NumberChange::To(4)));
        let holders = [ShareHolder::Account("phys".into()), ShareHolder::User("ann".into())];
        let [phys, ann] = holders.map(|holder| ScenarioChange::Shares(holder, 5));
        assert_eq!(changes("account=phys shares=5 user=ann shares=5"), [phys, ann]);
        let closed = |name, nodes: Option<&str>, from: &str, until: Option<&str>| {
            let (nodes, until) = (nodes.map(str::to_owned), until.map(str::to_owned));
            [ScenarioChange::Closed(ClosedNodes { name, nodes, from: from.into(), until })]
        };
        assert_eq!(changes("drain=n[3-5,7]"), closed("drain", Some("n[3-5,7]"), "now", None));
        assert_eq!(changes("drain=n3 from tomorrow 8:00"), closed("drain", Some("n3"), "tomorrow 8:00", None));
        assert_eq!(changes("drain=n3 from 8:00"), closed("drain", Some("n3"), "8:00", None));
        for (text, nodes, from, until) in [
            ("tuesday 8:00..12:00", None, "tuesday 8:00", "12:00"),
            ("Friday 18:00..Monday 6:00 on n[1, 4]", Some("n[1, 4]"), "Friday 18:00", "Monday 6:00"),
            ("2026-11-22T08:00..2026-11-22T12:00", None, "2026-11-22T08:00", "2026-11-22T12:00"),
        ] {
            let words = format!("maintenance={text}");
            assert_eq!(changes(&words), closed("maintenance", nodes, from, Some(until)), "{words}");
        }
        assert_eq!(changes("maintenance=8:00..12:00 nodes=+1 drain=n1 job=5 top").len(), 4);
        for (bad, part) in [
            ("", "it is empty"),
            ("now nodes=3", "cannot be combined with changes"),
            ("nodes=0", "not a number"),
            ("processors=x", "not a number of processors"),
            ("nodes=++3", "not a number"),
            ("nodes=3 nodes=4", "second"),
            ("without", "after `without`"),
            ("without ann", "which jobs"),
            ("user=ann", "add shares=5, or write `without user=ann`"),
            ("account=phys nodes=3", "add shares=5"),
            ("account=phys shares=-1", "not a number of shares"),
            ("user=ann shares=1 user=ann shares=2", "second"),
            ("partition=p", "`without` is missing"),
            ("load=0", "not a load"),
            ("estimates=good", "not a kind"),
            ("faster", "not a known change"),
            ("job=5", "add limit=4min or top"),
            ("job=5 nodes=+3", "add limit=4min or top"),
            ("job= top", "states no job"),
            ("job=5 limit=soon", "not a time limit"),
            ("job=5 limit=0", "not a time limit"),
            ("job=5 top top", "second"),
            ("job=5 limit=4min job=5 limit=5min", "second"),
            ("qos=high", "add jobs=+4"),
            ("qos=high top", "add jobs=+4"),
            ("qos=high jobs=x", "not a number of jobs"),
            ("drain=", "states no node"),
            ("drain=n3 from", "an instant is missing"),
            ("drain=n3 from tomorrow", "a time of day is missing"),
            ("maintenance=tuesday", "a time of day is missing"),
            ("maintenance=tuesday 8:00", "not a period"),
            ("maintenance=8:00..", "not a period"),
            ("maintenance=8:00..tuesday", "a time of day is missing"),
            ("maintenance=8:00..12:00 on", "the nodes are missing"),
            ("maintenance=8:00..12:00 maintenance=8:00..12:00", "second"),
        ] {
            let error = Scenario::parse(bad).unwrap_err();
            assert!(error.contains(part) && error.contains("nodes=+20"), "{bad}: {error}");
        }
    }
}
