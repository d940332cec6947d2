//! Limits on what runs at the same time, of qualities of service, accounts and users.

use crate::text::{Limit, bytes, duration};

/// How many jobs may run at the same time, and how much of each resource they may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Jobs.
    pub jobs: Option<u64>,
    /// Resources as Slurm calls them (`cpu`, `node`, `gres/gpu`; `mem` in MiB), each with its limit.
    pub tres: Vec<(String, u64)>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_none() && self.tres.is_empty()
    }
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qos {
    /// As it is called.
    pub name: String,
    /// Of all its jobs together.
    pub all: Limits,
    /// Of the jobs of each user.
    pub each_user: Limits,
    /// Of the jobs of each account.
    pub each_account: Limits,
    /// Of one job.
    pub job: Limits,
    /// Seconds that a job may ask for.
    pub max_time: Option<u64>,
}

/// What an account, or one of its users, may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Association {
    /// The account.
    pub account: String,
    /// The user; `None` of the account itself.
    pub user: Option<String>,
    /// The partition, if it speaks of one only.
    pub partition: Option<String>,
    /// The account above.
    pub parent: Option<String>,
    /// Of all jobs of the account and of those below it.
    pub all: Limits,
    /// Of the jobs of this user in this account.
    pub own: Limits,
    /// Of one job.
    pub job: Limits,
}

/// What `scontrol -o show assoc_mgr` prints.
pub(super) fn of_controller(text: &str) -> (Vec<Qos>, Vec<Association>) {
    let (mut qos, mut associations) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let fields = Fields(line);
        let named = |text: &str| text.split_once('(').map_or(text, |(name, _)| name).to_owned();
        let present = |key: &str| fields.get(key).filter(|text| !text.is_empty()).map(named);
        if line.starts_with("QOS=") {
            qos.push(Qos {
                name: fields.get("QOS").map(named).unwrap_or_default(),
                all: fields.limits("GrpJobs", "GrpTRES"),
                each_user: fields.limits("MaxJobsPU", "MaxTRESPU"),
                each_account: fields.limits("MaxJobsPA", "MaxTRESPA"),
                job: fields.limits("", "MaxTRESPJ"),
                max_time: fields.get("MaxWallPJ").and_then(number).map(|minutes| minutes.saturating_mul(60)),
            });
        } else if line.starts_with("ClusterName=") {
            associations.push(Association {
                account: present("Account").unwrap_or_default(),
                user: present("UserName"),
                partition: present("Partition"),
                parent: present("ParentAccount"),
                all: fields.limits("GrpJobs", "GrpTRES"),
                own: fields.limits("MaxJobs", ""),
                job: fields.limits("", "MaxTRESPJ"),
            });
        }
    }
    (qos, associations)
}

/// What `sacctmgr -P show qos` prints: columns named in the first line.
///
/// # Errors
/// A sentence when there is no such first line.
pub(super) fn of_accounts(text: &str) -> Result<Vec<Qos>, String> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('|').collect();
    let find = |name: &str| columns.iter().position(|&column| column == name);
    if find("Name").is_none() {
        return Err("it has no column Name in its first line".into());
    }
    let row = |line: &str| {
        let words: Vec<&str> = line.split('|').collect();
        let word = |name: &str| find(name).and_then(|at| words.get(at).copied()).unwrap_or_default();
        let limits = |jobs: &str, resources: &str| Limits { jobs: number(word(jobs)), tres: tres(word(resources)) };
        Qos {
            name: word("Name").to_owned(),
            all: limits("GrpJobs", "GrpTRES"),
            each_user: limits("MaxJobsPU", "MaxTRESPU"),
            each_account: limits("MaxJobsPA", "MaxTRESPA"),
            job: limits("", "MaxTRES"),
            max_time: duration(word("MaxWall")).and_then(Limit::value),
        }
    };
    Ok(lines.filter(|line| !line.trim().is_empty()).map(row).collect())
}

/// A line of fields `KEY=value`, in which a value holds no blank.
struct Fields<'a>(&'a str);

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let words = self.0.split([' ', '{', '}']);
        words.filter_map(|word| word.split_once('=')).find_map(|(known, value)| (known == key).then_some(value))
    }

    fn limits(&self, jobs: &str, resources: &str) -> Limits {
        Limits { jobs: self.get(jobs).and_then(number), tres: tres(self.get(resources).unwrap_or_default()) }
    }
}

/// `5(2)`: a limit of which 2 are used; `N(2)` and nothing are no limit.
fn number(text: &str) -> Option<u64> {
    text.split_once('(').map_or(text, |(limit, _)| limit).parse().ok()
}

/// `cpu=N(4),mem=4096(0),gres/gpu=8` or `cpu=10,mem=100G`
fn tres(text: &str) -> Vec<(String, u64)> {
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
        assert_eq!(qos[0].all, Limits { jobs: None, tres: vec![("cpu".into(), 64), ("mem".into(), 4096)] });
        assert_eq!(qos[0].each_user, Limits { jobs: Some(2), tres: vec![("gres/gpu".into(), 8)] });
        assert_eq!(qos[0].max_time, Some(3600));
        let one = &associations[0];
        assert_eq!((one.user.as_deref(), one.all.jobs, one.own.jobs), (Some("simu"), Some(9), Some(3)));
        assert_eq!(one.job.tres, [("node".to_owned(), 4)]);
        let qos = of_accounts("Name|MaxWall|GrpTRES|MaxJobsPU\nlong|2-00:00:00|cpu=10,mem=1G|4\n").unwrap();
        assert_eq!((qos[0].max_time, qos[0].each_user.jobs), (Some(172_800), Some(4)));
        assert_eq!(qos[0].all.tres, [("cpu".to_owned(), 10), ("mem".to_owned(), 1024)]);
        assert!(of_accounts("half a").is_err());
    }
}
