//! The rules of a shared cluster: partitions, classes of service, accounts, reservations.

use std::sync::Arc;

use thiserror::Error;

use crate::model::{Resources, Time};

/// The properties of a job that the rules of a cluster refer to, such as its account. The job's user or an operator of
/// the cluster stated these properties. The rules contain defaults for properties that are not stated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Submission {
    /// The user who submitted the job.
    pub user: Option<Arc<str>>,
    /// The account to which the job's usage is charged.
    pub account: Option<Arc<str>>,
    /// The class of service of the job.
    pub qos: Option<Arc<str>>,
    /// Partitions in which the job may run. If empty, the job runs in the default partition.
    pub partitions: Vec<Arc<str>>,
    /// Features that the job's nodes need, such as `ib&(a100|h100)`.
    pub constraint: Option<Arc<str>>,
    /// Minimum and maximum number of nodes.
    pub nodes: Option<(u32, u32)>,
    /// Maximum number of the job's processors on one node.
    pub per_node: Option<u32>,
    /// Minimum number of the job's processors on each of its nodes.
    pub least_per_node: Option<u32>,
    /// True if the job shares its nodes with no other job.
    pub exclusive: bool,
    /// The only nodes on which the job may run. If empty, the job may run on all nodes.
    pub only: Vec<Arc<str>>,
    /// Nodes on which the job must not run.
    pub except: Vec<Arc<str>>,
    /// Nodes that the job must get. The job may get other nodes in addition.
    pub among: Vec<Arc<str>>,
    /// The job array that the job belongs to, and the maximum number of jobs of the array that may run at the same
    /// time.
    pub array: Option<(Arc<str>, Option<u32>)>,
    /// The reservation in which the job runs.
    pub reservation: Option<Arc<str>>,
    /// Amount by which the job's priority is lowered.
    pub nice: i64,
    /// The priority that an operator has set for the job.
    pub priority: Option<u32>,
    /// Reason why the job is held. A held job cannot start. `None` if the job is not held.
    pub held: Option<Arc<str>>,
    /// Minimum time limit that the job accepts, if the user stated one.
    pub least_time: Option<Time>,
    /// The instant by which the job must end. The job is discarded as soon as it can no longer end by this instant.
    pub deadline: Option<Time>,
}

/// The rules of a shared cluster. Nodes are stated as positions on the [`crate::Platform`] of the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Partitions. If empty, all nodes form a single partition.
    pub partitions: Vec<Partition>,
    /// Features of each node. Nodes beyond the end of the list have no features.
    pub features: Vec<Vec<Box<str>>>,
    /// Places of nodes. Nodes beyond the end of the list follow the last node of the list.
    pub places: Vec<NodePlace>,
    /// Classes of service.
    pub qos: Vec<Qos>,
    /// Accounts, and the users in each account.
    pub associations: Vec<Association>,
    /// Periods in which some nodes are reserved for some users.
    pub reservations: Vec<SiteReservation>,
    /// True if the priorities of submissions lack the fair share, so that a policy adds the fair share.
    pub adds_fair_share: bool,
    /// The number of seconds from the last full minute, on the clock of the cluster, to time 0.
    pub second: u32,
}

/// The place of a node in the list of all nodes of a cluster. Nodes of equal weight with consecutive indices are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePlace {
    /// Jobs get nodes of lower weight first.
    pub weight: u64,
    /// The index in the list.
    pub index: usize,
}

impl Site {
    /// Returns the place of a node.
    pub fn place(&self, node: usize) -> NodePlace {
        let last = self.places.len().saturating_sub(1);
        let known = self.places.get(node.min(last)).copied().unwrap_or(NodePlace { weight: 1, index: 0 });
        NodePlace { index: known.index + node.saturating_sub(last), ..known }
    }
}

/// A set of nodes with a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Unique name.
    pub name: Box<str>,
    /// The partition's nodes, ascending.
    pub nodes: Vec<usize>,
    /// True if jobs that name no partition run in this partition.
    pub is_default: bool,
    /// True if the partition starts jobs.
    pub is_up: bool,
    /// Tier of the partition. All jobs of a higher tier come before all jobs of a lower tier in the order of the queue.
    pub tier: u32,
    /// Contribution of the partition to the priority of its jobs, relative to the contributions of other partitions.
    pub job_factor: u32,
    /// Maximum time limit of a job.
    pub max_time: Option<Time>,
    /// Time limit of a job that requests no time limit. If `None`, such a job has the limit `max_time`.
    pub default_time: Option<Time>,
    /// Minimum number of nodes of a job.
    pub min_nodes: u32,
    /// Maximum number of nodes of a job.
    pub max_nodes: Option<u32>,
    /// True if no two jobs share a node.
    pub exclusive: bool,
    /// The class of service that limits all jobs of the partition.
    pub qos: Option<Box<str>>,
}

impl Partition {
    /// Creates a partition without limits, of tier 1, that starts jobs.
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

/// Limits on the number of jobs that run at the same time, on the resources that these jobs hold, and on their remaining
/// time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of running jobs.
    pub jobs: Option<u32>,
    /// Maximum amounts of [`Site::CPUS`], [`Site::NODES`] and of resources by name. A resource that is not listed has
    /// no limit.
    pub held: Resources,
    /// Maximum sums over running jobs, of the held amount times the remaining minutes until the job's time limit.
    pub minutes: Resources,
}

impl Limits {
    /// Returns true if there is no limit.
    pub fn is_none(&self) -> bool {
        self.jobs.is_none() && self.held.is_empty() && self.minutes.is_empty()
    }
}

/// A class of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Unique name.
    pub name: Box<str>,
    /// Contribution of the class to the priority of its jobs, relative to the contributions of other classes.
    pub priority: u32,
    /// Limits on all jobs of the class together (`GrpJobs`, `GrpTRES`).
    pub group: Limits,
    /// Limits on the jobs of each user (`MaxJobsPerUser`, `MaxTRESPerUser`).
    pub per_user: Limits,
    /// Limits on the jobs of each account (`MaxJobsPerAccount`, `MaxTRESPerAccount`).
    pub per_account: Limits,
    /// Maximum amounts of resources that a single job may hold (`MaxTRESPerJob`).
    pub per_job: Resources,
    /// Maximum time limit of a job (`MaxWall`).
    pub max_wall: Option<Time>,
}

/// An account, or a user in an account.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// Name of the account.
    pub account: Box<str>,
    /// Name of the user, or `None` for the account itself.
    pub user: Option<Box<str>>,
    /// Name of the account's parent, or `None` if the parent is the root.
    pub parent: Option<Box<str>>,
    /// Number of shares, relative to the shares of the other associations with the same parent.
    pub shares: u32,
    /// Processor seconds that were used before time 0, with older use decayed. For an account, this value is ignored,
    /// because the usage of an account is the sum over its users.
    pub usage: f64,
    /// Limits on all jobs of this account or user, and of all accounts and users below it, together (`GrpJobs`,
    /// `GrpTRES`).
    pub group: Limits,
    /// Limits on the jobs of the user in this account together (`MaxJobs`).
    pub own: Limits,
    /// Maximum amounts of resources that a single job may hold (`MaxTRES`).
    pub per_job: Resources,
    /// Maximum time limit of a job (`MaxWall`).
    pub max_wall: Option<Time>,
}

impl Association {
    /// Creates an account below the root, with one share and no limit.
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

    /// Creates a user in an account, with one share and no limit.
    pub fn user(name: impl Into<Box<str>>, account: impl Into<Box<str>>) -> Self {
        Self { user: Some(name.into()), ..Self::account(account) }
    }
}

/// A period in which some nodes are reserved for some users.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteReservation {
    /// Unique name.
    pub name: Box<str>,
    /// The reserved nodes, ascending.
    pub nodes: Vec<usize>,
    /// Start of the reservation.
    pub start: Time,
    /// End of the reservation.
    pub end: Time,
    /// Users who may use the reservation. If `users` and `accounts` are both empty, no job may use the reservation.
    pub users: Vec<Box<str>>,
    /// Accounts with users who may use the reservation.
    pub accounts: Vec<Box<str>>,
}

/// The reason why the rules of a cluster are invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SiteError {
    /// Two entries of a kind have the same name.
    #[error("there are two {what}s named `{name}`; names must be unique")]
    Twice {
        /// The kind of entry, such as `partition`.
        what: &'static str,
        /// Name of the entries.
        name: String,
    },
    /// The entry contains a node that does not exist.
    #[error("{what} `{name}` has node number {node}, but the platform has only {nodes} nodes, numbered from 0")]
    NoNode {
        /// The kind of entry.
        what: &'static str,
        /// Name of the entry.
        name: String,
        /// Position of the missing node.
        node: usize,
        /// Number of nodes of the platform.
        nodes: usize,
    },
    /// The entry has no nodes, or its nodes are not ascending.
    #[error("{what} `{name}` has no nodes, or its nodes are not in ascending order")]
    Nodes {
        /// The kind of entry.
        what: &'static str,
        /// Name of the entry.
        name: String,
    },
    /// The entry refers to a class of service, an account or a user that does not exist.
    #[error("{what} `{name}` refers to `{other}`, which does not exist")]
    Unknown {
        /// The kind of entry.
        what: &'static str,
        /// Name of the entry.
        name: String,
        /// The name to which the entry refers.
        other: String,
    },
    /// An account is its own ancestor.
    #[error("account `{0}` is its own ancestor; correct the parents of the accounts")]
    Cycle(String),
    /// A reservation ends before it begins, or a usage is not a valid number.
    #[error("{what} `{name}`: {problem}")]
    Wrong {
        /// The kind of entry.
        what: &'static str,
        /// Name of the entry.
        name: String,
        /// Description of the problem.
        problem: &'static str,
    },
}

impl Site {
    /// The name under which limits count processors.
    pub const CPUS: &'static str = "cpu";
    /// The name under which limits count nodes.
    pub const NODES: &'static str = "node";

    /// Returns the position of the partition with this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| &*partition.name == name)
    }

    /// Returns the position of the default partition.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.is_default).or((!self.partitions.is_empty()).then_some(0))
    }

    /// Checks that the rules fit a platform of `nodes` nodes.
    ///
    /// # Errors
    /// [`SiteError`] names the invalid entry.
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
                let problem = "its usage is not a number of at least 0";
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
            (site(vec![Partition { qos: Some("x".into()), ..partition("a", &[0]) }]), "refers to `x`"),
            (Site { associations: vec![Association::user("u", "nobody")], ..Site::default() }, "refers to `nobody`"),
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
