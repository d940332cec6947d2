//! The rules of a cluster that several people share: partitions, classes of service, accounts, reservations.

use std::sync::Arc;

use thiserror::Error;

use crate::model::{Resources, Time};

/// How a job was submitted to the queue of a cluster: what its rules are about. Everything is as its user or an operator said it, by
/// name; what is not said is left to the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Submission {
    /// Whose it is.
    pub user: Option<Arc<str>>,
    /// Who pays.
    pub account: Option<Arc<str>>,
    /// Its class of service.
    pub qos: Option<Arc<str>>,
    /// Partitions in any of which it may run; none: the default one.
    pub partitions: Vec<Arc<str>>,
    /// Features that its nodes need, such as `ib&(a100|h100)`.
    pub constraint: Option<Arc<str>>,
    /// The least and the most nodes.
    pub nodes: Option<(u32, u32)>,
    /// The most of its processors on one node.
    pub per_node: Option<u32>,
    /// The least of its processors on each of its nodes.
    pub least_per_node: Option<u32>,
    /// Whether it shares its nodes with no other job.
    pub exclusive: bool,
    /// Nodes on which alone it may run; none: all.
    pub only: Vec<Arc<str>>,
    /// Nodes on which it must not run.
    pub except: Vec<Arc<str>>,
    /// The array of which it is a part, and how many of its parts may run at the same time.
    pub array: Option<(Arc<str>, Option<u32>)>,
    /// The reservation in which it runs.
    pub reservation: Option<Arc<str>>,
    /// By how much its priority is lowered.
    pub nice: i64,
    /// A priority that an operator has set.
    pub priority: Option<u32>,
    /// Why it is held: it does not start until somebody releases it.
    pub held: Option<Arc<str>>,
    /// The time that it will do with, where that is less than its limit.
    pub least_time: Option<Time>,
    /// The instant after which it must not run: it is given up once it cannot end by then.
    pub deadline: Option<Time>,
}

/// The rules of a shared cluster. Nodes are positions on the [`crate::Platform`] that has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Partitions; none: all nodes are one.
    pub partitions: Vec<Partition>,
    /// For each node its features; nodes beyond the end have none.
    pub features: Vec<Vec<Box<str>>>,
    /// Classes of service.
    pub qos: Vec<Qos>,
    /// Accounts and the users in them.
    pub associations: Vec<Association>,
    /// Nodes that are kept for some users at some times.
    pub reservations: Vec<SiteReservation>,
}

/// A set of nodes with a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Unique name.
    pub name: Box<str>,
    /// Its nodes, ascending.
    pub nodes: Vec<usize>,
    /// Whether jobs go there that name none.
    pub is_default: bool,
    /// Whether it starts jobs.
    pub is_up: bool,
    /// Jobs of a partition of a higher tier come before all of a lower one.
    pub tier: u32,
    /// What the partition adds to priorities, compared with others.
    pub job_factor: u32,
    /// The longest time that a job may ask for.
    pub max_time: Option<Time>,
    /// The time of a job that asks for none; none: the longest.
    pub default_time: Option<Time>,
    /// Nodes that a job needs at least.
    pub min_nodes: u32,
    /// Nodes that a job may have.
    pub max_nodes: Option<u32>,
    /// Whether every job has its nodes for itself.
    pub exclusive: bool,
    /// A class of service whose limits hold for all jobs of the partition.
    pub qos: Option<Box<str>>,
}

impl Partition {
    /// A partition without limits that is up, of tier 1.
    pub fn new(name: impl Into<Box<str>>, nodes: Vec<usize>) -> Self {
        Self {
            name: name.into(),
            nodes,
            is_default: false,
            is_up: true,
            tier: 1,
            job_factor: 1,
            max_time: None,
            default_time: None,
            min_nodes: 0,
            max_nodes: None,
            exclusive: false,
            qos: None,
        }
    }
}

/// How much may be held at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that run.
    pub jobs: Option<u32>,
    /// Amounts of [`Site::CPUS`], [`Site::NODES`] and of resources by name. What is not named has no limit.
    pub held: Resources,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        self.jobs.is_none() && self.held.is_empty()
    }
}

/// A class of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Unique name.
    pub name: Box<str>,
    /// What it adds to priorities, compared with others.
    pub priority: u32,
    /// What all its jobs may hold together (`GrpJobs`, `GrpTRES`).
    pub group: Limits,
    /// What those of one user may hold (`MaxJobsPerUser`, `MaxTRESPerUser`).
    pub per_user: Limits,
    /// What those of one account may hold (`MaxJobsPerAccount`, `MaxTRESPerAccount`).
    pub per_account: Limits,
    /// What one job may hold (`MaxTRESPerJob`).
    pub per_job: Resources,
    /// The longest time that a job may ask for (`MaxWall`).
    pub max_wall: Option<Time>,
}

/// An account, or a user in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// The account.
    pub account: Box<str>,
    /// The user; none: the account itself.
    pub user: Option<Box<str>>,
    /// The account above this one, of an account; none: the root.
    pub parent: Option<Box<str>>,
    /// Its share among those that have the same parent.
    pub shares: u32,
    /// Processor seconds that it has used, decayed, when time 0 is; of accounts those of their users count.
    pub usage: f64,
    /// What all jobs below it may hold together (`GrpJobs`, `GrpTRES`).
    pub group: Limits,
    /// What the jobs of the user in this account may hold together (`MaxJobs`).
    pub own: Limits,
    /// What one job may hold (`MaxTRES`).
    pub per_job: Resources,
    /// The longest time that a job may ask for (`MaxWall`).
    pub max_wall: Option<Time>,
}

impl Association {
    /// An account below the root, with one share and no limit.
    pub fn account(name: impl Into<Box<str>>) -> Self {
        Self {
            account: name.into(),
            user: None,
            parent: None,
            shares: 1,
            usage: 0.0,
            group: Limits::default(),
            own: Limits::default(),
            per_job: Resources::default(),
            max_wall: None,
        }
    }

    /// A user in an account, with one share and no limit.
    pub fn user(name: impl Into<Box<str>>, account: impl Into<Box<str>>) -> Self {
        Self { user: Some(name.into()), ..Self::account(account) }
    }
}

/// Nodes that are kept for some.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteReservation {
    /// Unique name.
    pub name: Box<str>,
    /// Its nodes, ascending.
    pub nodes: Vec<usize>,
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
    /// Users who may use it. With no user and no account nobody does.
    pub users: Vec<Box<str>>,
    /// Accounts whose users may use it.
    pub accounts: Vec<Box<str>>,
}

/// What is wrong with the rules of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SiteError {
    /// Two of one name.
    #[error("there are two {what}s named `{name}`; names must be unique")]
    Twice {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A node that is none.
    #[error("{what} `{name}` has node number {node}, and the platform has {nodes}")]
    NoNode {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// The node.
        node: usize,
        /// How many there are.
        nodes: usize,
    },
    /// A partition without nodes, or nodes that do not ascend.
    #[error("{what} `{name}` has no nodes, or its nodes do not ascend")]
    Nodes {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Another class of service, account or user that is not there.
    #[error("{what} `{name}` names `{other}`, which is not there")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// What it names.
        other: String,
    },
    /// Accounts that are below themselves.
    #[error("account `{0}` is below itself; accounts form a tree")]
    Cycle(String),
    /// A reservation that ends before it begins, or a usage that is no number.
    #[error("{what} `{name}`: {problem}")]
    Wrong {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Site {
    /// The name under which processors are limited and counted.
    pub const CPUS: &'static str = "cpu";
    /// The name under which nodes are.
    pub const NODES: &'static str = "node";

    /// The partition of this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| &*partition.name == name)
    }

    /// The partition of jobs that name none.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.is_default).or((!self.partitions.is_empty()).then_some(0))
    }

    /// Whether the rules fit a platform of so many nodes.
    ///
    /// # Errors
    /// [`SiteError`] names what does not.
    pub fn check(&self, nodes: usize) -> Result<(), SiteError> {
        let partitions = self.partitions.iter().map(|one| (&*one.name, one.nodes.as_slice()));
        check_nodes("partition", partitions, nodes)?;
        let reservations = self.reservations.iter().map(|one| (&*one.name, one.nodes.as_slice()));
        check_nodes("reservation", reservations, nodes)?;
        unique("QOS", self.qos.iter().map(|qos| &*qos.name))?;
        for partition in &self.partitions {
            if let Some(qos) = partition.qos.as_ref().filter(|name| self.qos.iter().all(|qos| qos.name != **name)) {
                return Err(unknown("partition", &partition.name, qos));
            }
        }
        if let Some(empty) = self.reservations.iter().find(|reservation| reservation.end <= reservation.start) {
            let (what, problem) = ("reservation", "it ends before it begins");
            return Err(SiteError::Wrong { what, name: empty.name.to_string(), problem });
        }
        self.check_accounts()
    }

    fn check_accounts(&self) -> Result<(), SiteError> {
        let accounts = || self.associations.iter().filter(|one| one.user.is_none());
        unique("account", accounts().map(|one| &*one.account))?;
        let known = |name: &str| accounts().find(|one| &*one.account == name);
        for one in &self.associations {
            let name = one.user.as_deref().unwrap_or(&one.account);
            if !(one.usage.is_finite() && one.usage >= 0.0) {
                let problem = "its usage is no number from 0";
                return Err(SiteError::Wrong { what: "account", name: name.into(), problem });
            }
            let above = if one.user.is_some() { Some(&one.account) } else { one.parent.as_ref() };
            if let Some(above) = above.filter(|above| known(above).is_none()) {
                return Err(unknown("account", name, above));
            }
        }
        for one in accounts() {
            let (mut at, mut steps) = (one, 0);
            while let Some(above) = at.parent.as_deref().and_then(known) {
                (at, steps) = (above, steps + 1);
                if steps > self.associations.len() {
                    return Err(SiteError::Cycle(one.account.to_string()));
                }
            }
        }
        Ok(())
    }
}

fn unknown(what: &'static str, name: &str, other: &str) -> SiteError {
    SiteError::Unknown { what, name: name.to_owned(), other: other.to_owned() }
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), SiteError> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(SiteError::Twice { what, name: pair[0].to_owned() }),
        None => Ok(()),
    }
}

fn check_nodes<'a>(
    what: &'static str,
    all: impl Iterator<Item = (&'a str, &'a [usize])> + Clone,
    nodes: usize,
) -> Result<(), SiteError> {
    unique(what, all.clone().map(|one| one.0))?;
    for (name, own) in all {
        let name = name.to_owned();
        if own.is_empty() || own.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(SiteError::Nodes { what, name });
        }
        if let Some(&node) = own.last().filter(|&&node| node >= nodes) {
            return Err(SiteError::NoNode { what, name, node, nodes });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_do_not_fit_are_refused() {
        let partition = |name: &str, nodes: &[usize]| Partition::new(name, nodes.to_vec());
        let site = |partitions: Vec<Partition>| Site { partitions, ..Site::default() };
        assert_eq!(site(vec![partition("a", &[0, 1]), partition("b", &[1])]).check(2), Ok(()));
        let wrong = [
            (site(vec![partition("a", &[0]), partition("a", &[1])]), "two partitions"),
            (site(vec![partition("a", &[2])]), "node number 2"),
            (site(vec![partition("a", &[])]), "no nodes"),
            (site(vec![partition("a", &[1, 0])]), "ascend"),
            (site(vec![Partition { qos: Some("x".into()), ..partition("a", &[0]) }]), "names `x`"),
            (Site { associations: vec![Association::user("u", "nobody")], ..Site::default() }, "names `nobody`"),
        ];
        for (site, part) in wrong {
            let error = site.check(2).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let below =
            |name: &str, parent: &str| Association { parent: Some(parent.into()), ..Association::account(name) };
        let cycle = Site { associations: vec![below("a", "b"), below("b", "a")], ..Site::default() };
        assert_eq!(cycle.check(2), Err(SiteError::Cycle("a".into())));
    }
}
