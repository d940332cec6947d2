//! Limits of qualities of service, accounts and users.

use std::collections::HashSet;

use crate::cluster::Config;
use crate::text::{OptionalLimit, bytes, duration};

/// Limits on the jobs that run at the same time: the number of jobs, and the resources that they hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlurmLimits {
    /// Maximum number of jobs.
    pub jobs: Option<u64>,
    /// Maximum amounts of resources, by Slurm's names. Memory (`mem`) is in MiB. Other names are, for example, `cpu`,
    /// `node` and `gres/gpu`.
    pub tres: Vec<(String, u64)>,
    /// Maximum sums over running jobs of an amount of a resource, times the minutes for which the job may still hold
    /// it (`GrpTRESRunMins`).
    pub tres_minutes: Vec<(String, u64)>,
}

/// Limits of a single job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JobLimits {
    /// Maximum amounts of resources.
    pub tres: Vec<(String, u64)>,
    /// Maximum amounts of resources per node.
    pub per_node: Vec<(String, u64)>,
    /// Maximum amounts of resources times minutes.
    pub minutes: Vec<(String, u64)>,
    /// Minimum amounts of resources.
    pub least: Vec<(String, u64)>,
    /// Maximum time limit in seconds.
    pub max_time: Option<u64>,
}

/// A limit on past usage, and the usage so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The resource, or `wall`. The usage of a resource is its amount times minutes. The usage of `wall` is the
    /// minutes of jobs.
    pub name: String,
    /// The maximum usage.
    pub total: u64,
    /// The usage so far, if known.
    pub used: Option<u64>,
}

impl SlurmLimits {
    /// Returns true if there is no limit.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_none() && self.tres.is_empty() && self.tres_minutes.is_empty()
    }
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qos {
    /// The name of the quality of service.
    pub name: String,
    /// Limits of all jobs of this quality of service together.
    pub all: SlurmLimits,
    /// Limits of the jobs of each user.
    pub each_user: SlurmLimits,
    /// Limits of the jobs of each account.
    pub each_account: SlurmLimits,
    /// Limits of a single job.
    pub job: JobLimits,
    /// Limits of past usage.
    pub budgets: Vec<Budget>,
}

/// The limits of an account or of one of its users.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// The name of the account.
    pub account: String,
    /// The user, or `None` for the account itself.
    pub user: Option<String>,
    /// The partition, if the limits apply to one partition only.
    pub partition: Option<String>,
    /// The parent account.
    pub parent: Option<String>,
    /// Limits of all jobs of the account and of its child accounts.
    pub all: SlurmLimits,
    /// Limits of the jobs of this user in this account.
    pub own: SlurmLimits,
    /// Limits of a single job.
    pub job: JobLimits,
    /// Limits of past usage of all jobs of the account and of its child accounts.
    pub budgets: Vec<Budget>,
    /// The fair share, if known.
    pub fair_share: Option<FairShare>,
}

impl Association {
    /// Returns this association without its limits.
    pub(super) fn without_limits(self) -> Self {
        let Self { account, user, partition, parent, fair_share, .. } = self;
        Self { account, user, partition, parent, fair_share, ..Self::default() }
    }
}

/// The fair share of an account or of a user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairShare {
    /// Number of shares, relative to the associations with the same parent.
    pub shares: u32,
    /// Past usage in processor seconds, with older usage decayed.
    pub usage: f64,
    /// The factor, from 0 to 1, that the priorities of the user's jobs contain.
    pub factor: f64,
}

/// The key of the shares and of the factor.
const SHARES: &str = "SharesRaw/Norm/Level/Factor";
/// The number of shares that means `parent`.
const PARENT: u32 = i32::MAX as u32;

/// Returns whether a cluster enforces the limits of users, accounts and QOS. Returns true if this is unknown.
pub(super) fn are_enforced(config: &Config) -> bool {
    let enforced = config.get("AccountingStorageEnforce").unwrap_or("limits").to_lowercase();
    ["limits", "safe", "all"].iter().any(|word| enforced.contains(word))
}

/// Parses the output of `scontrol -o show assoc_mgr`.
pub(super) fn of_controller(text: &str) -> (Vec<Qos>, Vec<Association>) {
    let (mut qos, mut associations) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let fields = Fields(line);
        let named = |text: &str| text.split_once('(').map_or(text, |(name, _)| name).to_owned();
        let present = |key: &str| fields.get(key).filter(|text| !text.is_empty()).map(named);
        if line.starts_with("QOS=") {
            qos.push(Qos {
                name: fields.get("QOS").map(named).unwrap_or_default(),
                all: fields.limits("GrpJobs", "GrpTRES", "GrpTRESRunMins"),
                each_user: fields.limits("MaxJobsPU", "MaxTRESPU", "MaxTRESRunMinsPU"),
                each_account: fields.limits("MaxJobsPA", "MaxTRESPA", "MaxTRESRunMinsPA"),
                job: fields.of_job(),
                budgets: fields.budgets(),
            });
        } else if line.starts_with("ClusterName=") {
            associations.push(Association {
                account: present("Account").unwrap_or_default(),
                user: present("UserName"),
                partition: present("Partition"),
                parent: present("ParentAccount"),
                all: fields.limits("GrpJobs", "GrpTRES", "GrpTRESRunMins"),
                own: fields.limits("MaxJobs", "", ""),
                job: fields.of_job(),
                budgets: fields.budgets(),
                fair_share: fields.fair_share(),
            });
        }
    }
    (qos, associations)
}

/// Returns true if an output of `scontrol -o show assoc_mgr` was cut off. The output must have no line break at its
/// end. It lists users, then accounts, then qualities of service. In a complete output, the last record has every
/// field that other records of its kind have.
pub(super) fn is_cut(lines: &[&str]) -> bool {
    const LAST: &str = " User Limits";
    let Some((&last, others)) = lines.split_last() else { return false };
    if last.starts_with("No QOS ") {
        return false;
    }
    let opened = |open: char, close: char| last.matches(open).count() > last.matches(close).count();
    let keys = |line: &str| -> HashSet<String> {
        line.split([' ', '{', '}']).filter_map(|word| Some(word.split_once('=')?.0.to_owned())).collect()
    };
    let own = keys(last);
    let common =
        others.iter().filter(|line| line.starts_with("QOS=")).map(|line| keys(line)).reduce(|all, keys| &all & &keys);
    !last.starts_with("QOS=")
        || opened('{', '}')
        || opened('(', ')')
        || !last.contains(LAST)
        || common.is_some_and(|common| !common.is_subset(&own))
}

/// Parses the output of `sacctmgr -P show qos`. The first line contains the names of the columns.
///
/// # Errors
/// A message if the first line is missing.
pub(super) fn of_accounts(text: &str) -> Result<Vec<Qos>, String> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('|').collect();
    let find = |name: &str| columns.iter().position(|&column| column == name);
    if find("Name").is_none() {
        return Err("the first line has no column Name".into());
    }
    let row = |line: &str| {
        let words: Vec<&str> = line.split('|').collect();
        let word = |name: &str| find(name).and_then(|at| words.get(at).copied()).unwrap_or_default();
        let limits = |jobs: &str, resources: &str, minutes: &str| SlurmLimits {
            jobs: number(word(jobs)),
            tres: tres(word(resources)),
            tres_minutes: tres(word(minutes)),
        };
        Qos {
            name: word("Name").to_owned(),
            all: limits("GrpJobs", "GrpTRES", "GrpTRESRunMins"),
            each_user: limits("MaxJobsPU", "MaxTRESPU", "MaxTRESRunMinsPU"),
            each_account: limits("MaxJobsPA", "MaxTRESPA", "MaxTRESRunMinsPA"),
            job: JobLimits {
                tres: tres(word("MaxTRES")),
                per_node: tres(word("MaxTRESPerNode")),
                minutes: tres(word("MaxTRESMins")),
                least: tres(word("MinTRES")),
                max_time: span(word("MaxWall")),
            },
            budgets: budgets(word("GrpTRESMins"), word("GrpWall")),
        }
    };
    Ok(lines.filter(|line| !line.trim().is_empty()).map(row).collect())
}

/// A line of fields `KEY=value`. Values contain no spaces.
struct Fields<'a>(&'a str);

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let words = self.0.split([' ', '{', '}']);
        words.filter_map(|word| word.split_once('=')).find_map(|(known, value)| (known == key).then_some(value))
    }

    fn fair_share(&self) -> Option<FairShare> {
        let part = |key: &str, at: usize| self.get(key)?.split('/').nth(at);
        let number = |key: &str, at: usize| part(key, at)?.parse::<f64>().ok().filter(|number| number.is_finite());
        Some(FairShare {
            // Slurm prints the largest number for the word `parent`. Such a user has no shares of its own.
            shares: part(SHARES, 0)?.parse().ok().filter(|&shares| shares < PARENT).unwrap_or(1),
            usage: number("UsageRaw/Norm/Efctv", 0)?.max(0.0),
            factor: number(SHARES, 3)?.clamp(0.0, 1.0),
        })
    }

    fn tres(&self, key: &str) -> Vec<(String, u64)> {
        tres(self.get(key).unwrap_or_default())
    }

    fn limits(&self, jobs: &str, resources: &str, minutes: &str) -> SlurmLimits {
        let jobs = self.get(jobs).and_then(number);
        SlurmLimits { jobs, tres: self.tres(resources), tres_minutes: self.tres(minutes) }
    }

    fn of_job(&self) -> JobLimits {
        JobLimits {
            tres: self.tres("MaxTRESPJ"),
            per_node: self.tres("MaxTRESPN"),
            minutes: self.tres("MaxTRESMinsPJ"),
            least: self.tres("MinTRESPJ"),
            max_time: self.get("MaxWallPJ").and_then(span),
        }
    }

    fn budgets(&self) -> Vec<Budget> {
        budgets(self.get("GrpTRESMins").unwrap_or_default(), self.get("GrpWall").unwrap_or_default())
    }
}

/// Parses limits of past usage of resources and of time.
fn budgets(minutes: &str, wall: &str) -> Vec<Budget> {
    let parts = minutes.split(',').filter_map(|part| part.rsplit_once('='));
    let one = |(name, value): (&str, &str)| {
        let (limit, used) = value.split_once('(').map_or((value, None), |(limit, used)| (limit, Some(used)));
        let total = limit.parse().ok().or_else(|| Some(span(limit)? / 60).filter(|_| name == Budget::WALL))?;
        let used = used.and_then(|used| used.trim_end_matches(')').parse::<f64>().ok());
        Some(Budget { name: name.to_owned(), total, used: used.map(|used| used.max(0.0) as u64) })
    };
    parts.chain([(Budget::WALL, wall)]).filter_map(one).collect()
}

impl Budget {
    /// The `name` of a limit on the minutes of jobs.
    pub const WALL: &'static str = "wall";
}

/// Parses minutes, or a time span such as `1-00:00:00`. Returns seconds. After the time, the text may contain the
/// usage in parentheses.
fn span(text: &str) -> Option<u64> {
    let text = text.split_once('(').map_or(text, |(limit, _)| limit);
    match text.parse::<u64>() {
        Ok(minutes) => Some(minutes.saturating_mul(60)),
        Err(_) if text.contains(':') => duration(text).and_then(OptionalLimit::value),
        Err(_) => None,
    }
}

/// Parses a limit with its usage, such as `5(2)`. `N(2)` and an empty text mean no limit.
fn number(text: &str) -> Option<u64> {
    text.split_once('(').map_or(text, |(limit, _)| limit).parse().ok()
}

/// Parses amounts such as `cpu=N(4),mem=4096(0),gres/gpu=8` or `cpu=10,mem=100G`.
pub(super) fn tres(text: &str) -> Vec<(String, u64)> {
    let parts = text.split(',').filter_map(|part| part.rsplit_once('='));
    let one = |(name, value): (&str, &str)| {
        let value = value.split_once('(').map_or(value, |(limit, _)| limit);
        let amount = if name == "mem" { bytes(value).map(|bytes| bytes >> 20) } else { value.parse().ok() };
        amount.map(|amount| (name.to_owned(), amount))
    };
    parts.filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_the_controller_and_from_the_accounts() {
        let text = "QOS Records\nQOS=high(2) UsageRaw=1.5 GrpJobs=N(2) GrpTRES=cpu=64(4),mem=4096(0),node=N(1) MaxWallPJ=60 MaxTRESPJ= \
                    User Limits= 1001={MaxJobsPU=2(2) MaxTRESPU=cpu=N(4),gres/gpu=8(0)}\n\
                    ClusterName=sim Account=lab UserName=simu(1001) Partition= ParentAccount= GrpJobs=9(1) GrpTRES=cpu=N(1) MaxJobs=3 MaxTRESPJ=node=4\n";
        let (qos, associations) = of_controller(text);
        assert_eq!(qos[0].name, "high");
        assert_eq!(
            qos[0].all,
            SlurmLimits { tres: vec![("cpu".into(), 64), ("mem".into(), 4096)], ..SlurmLimits::default() }
        );
        assert_eq!(
            qos[0].each_user,
            SlurmLimits { jobs: Some(2), tres: vec![("gres/gpu".into(), 8)], ..SlurmLimits::default() }
        );
        assert_eq!(qos[0].job.max_time, Some(3600));
        let one = &associations[0];
        assert_eq!((one.user.as_deref(), one.all.jobs, one.own.jobs), (Some("simu"), Some(9), Some(3)));
        assert_eq!(one.job.tres, [("node".to_owned(), 4)]);
        let qos = of_accounts("Name|MaxWall|GrpTRES|MaxJobsPU\nlong|2-00:00:00|cpu=10,mem=1G|4\n").unwrap();
        assert_eq!((qos[0].job.max_time, qos[0].each_user.jobs), (Some(172_800), Some(4)));
        assert_eq!(qos[0].all.tres, [("cpu".to_owned(), 10), ("mem".to_owned(), 1024)]);
        assert!(of_accounts("half a").is_err());
    }

    #[test]
    fn what_is_used_is_read_beside_its_limit() {
        let text = "QOS=q(1) GrpWall=60(12.85) GrpTRESMins=cpu=100(7),mem=N(3) GrpTRESRunMins=cpu=50(40),node=N(1) MaxWallPJ=00:05:00 \
                    MaxTRESPN=cpu=4 MaxTRESMinsPJ=cpu=99 MinTRESPJ=gres/gpu=1\n";
        let qos = &of_controller(text).0[0];
        let used: Vec<_> = qos.budgets.iter().map(|one| (one.name.as_str(), one.total, one.used)).collect();
        assert_eq!(used, [("cpu", 100, Some(7)), ("wall", 60, Some(12))]);
        assert_eq!(qos.all.tres_minutes, [("cpu".to_owned(), 50)]);
        let job = &qos.job;
        assert_eq!((job.max_time, job.per_node[0].1, job.minutes[0].1, job.least[0].1), (Some(300), 4, 99, 1));
        let accounts =
            of_accounts("Name|GrpWall|GrpTRESMins|MaxTRESPerNode|MinTRES\nq|01:00:00|cpu=9|cpu=4|cpu=2\n").unwrap();
        let budgets: Vec<_> = accounts[0].budgets.iter().map(|one| (one.total, one.used)).collect();
        assert_eq!((budgets, accounts[0].job.least[0].1), (vec![(9, None), (60, None)], 2));
    }
}
