//! The queue of a cluster at an instant: pending and running jobs, and all data that decide when a job starts.
//!
//! [`Queue::read`] queries a running Slurm. [`Queue::from_folder`] reads saved output of Slurm's commands.
//! [`Queue::read_grid_engine`] and [`Queue::grid_engine_from_folder`] are the corresponding functions for Grid Engine.
//! All four functions leave the cluster unchanged.

mod array;
mod barred;
mod beside;
mod change;
mod dependency;
mod doubts;
mod ended;
mod fair_share;
mod grown;
mod holding;
mod job;
mod limits;
mod listed;
mod new_job;
mod new_priority;
mod now;
mod parts;
mod past;
mod present;
mod read;
mod request;
mod reservation;
mod saved;
mod sge;
mod sge_site;
mod site;
mod waits;

pub use array::{Member, members};
pub use barred::Bar;
pub use change::{NumberChange, QueueChange};
pub(crate) use dependency::DependencyTargets;
pub use dependency::{Condition, Dependency};
pub use ended::EndedJob;
pub(crate) use fair_share::FairShareRules;
pub use holding::NodeHolding;
pub use job::{QueueJob, RunningJobData};
pub use limits::{Association, Budget, FairShare, JobLimits, Qos, SlurmLimits};
pub use makespan_algos::slurm::Memory;
pub use makespan_core::{FeatureChoice, Features};
pub use new_job::NewJob;
pub use parts::{ClusterOutput, Texts};
pub use past::PastRun;
pub(crate) use past::without_numbers;
pub use present::{Present, PresentError};
pub use request::JobRequest;
pub use reservation::{Licence, SlurmReservation};
pub use saved::SavedError;
pub(crate) use sge_site::permanent;

use std::collections::BTreeMap;

use makespan_core::CycleRules;

use crate::{Config, Node, Partition};

/// A cluster's queue at an instant. To answer a what-if question, change the queue before a forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The instant in seconds since 1970.
    pub now: i64,
    /// Settings of the cluster. Empty if they could not be read.
    pub config: Config,
    /// All nodes, including unavailable nodes.
    pub nodes: Vec<Node>,
    /// All partitions of the cluster.
    pub partitions: Vec<Partition>,
    /// Reservations of nodes and licences, including future ones.
    pub reservations: Vec<SlurmReservation>,
    /// Licences that the cluster counts.
    pub licences: Vec<Licence>,
    /// True if `licences` contains all licences of the cluster.
    pub knows_licences: bool,
    /// The qualities of service with their limits. Empty if the cluster keeps no accounts.
    pub qos: Vec<Qos>,
    /// Limits of accounts and of their users. Empty if the cluster keeps no accounts.
    pub associations: Vec<Association>,
    /// True if the priorities of pending jobs lack the fair share ([`Queue::separate_fair_share`]).
    pub adds_fair_share: bool,
    /// Pending and running jobs in Slurm's order. Each task of an array is a separate job.
    pub jobs: Vec<QueueJob>,
    /// Jobs that have ended and that the controller still lists.
    pub ended: Vec<EndedJob>,
    /// Resources that jobs hold which this user cannot see.
    pub hidden: Vec<NodeHolding>,
    /// Ended jobs, from which run times are learned.
    pub past: Vec<PastRun>,
    /// A sentence that says why accounting data were not read, so that `past` contains only the jobs that the
    /// controller remembers. `None` if accounting data were read.
    pub past_missing: Option<String>,
    /// Warnings about missing or strange data, as sentences.
    pub remarks: Vec<String>,
}

/// Parameters of Slurm's scheduler that the policy `slurm` supports.
const PARAMETERS: [&str; 14] = [
    "bf_interval",
    "bf_window",
    "bf_resolution",
    "bf_window_linear",
    "bf_max_job_test",
    "bf_max_job_part",
    "bf_max_job_user",
    "bf_max_job_start",
    "bf_max_job_array_resv",
    "bf_min_age_reserve",
    "bf_min_prio_reserve",
    "default_queue_depth",
    "partition_job_depth",
    "sched_interval",
];

impl Queue {
    /// Returns true if the queue was read from Grid Engine instead of Slurm.
    pub fn is_grid_engine(&self) -> bool {
        self.config.get(sge_site::SETTING).is_some()
    }

    /// Returns a partition by name.
    pub fn partition(&self, name: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name == name)
    }

    /// Returns the value of a word in `SchedulerParameters`, such as `bf_interval`. If the word has no value, returns
    /// an empty text.
    pub fn scheduler_parameter(&self, name: &str) -> Option<&str> {
        let words = self.config.get("SchedulerParameters")?.split(',');
        words
            .filter_map(|word| word.trim().split_once('=').or(Some((word.trim(), ""))))
            .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }

    /// Returns the value of a word in `SchedulerParameters` as a number.
    pub fn scheduler_number(&self, name: &str) -> Option<i64> {
        self.scheduler_parameter(name)?.parse().ok()
    }

    /// Returns the value of a parameter in [`PARAMETERS`] if it differs from the default.
    fn cycle_number(&self, name: &str) -> Option<i64> {
        match name {
            "bf_max_job_array_resv" => self.scheduler_number(name).map(|value| value.clamp(0, 1000)),
            // A value of 0 is the default.
            _ => self.scheduler_number(name).filter(|&value| value > 0),
        }
    }

    /// Returns the parameters of the scheduler's cycles, with times in seconds.
    pub fn cycle_rules(&self) -> CycleRules {
        let usual = CycleRules::usual(1);
        let number = |name: &str, usual: i64| self.cycle_number(name).unwrap_or(usual);
        let count = |name: &str, usual: usize| {
            self.cycle_number(name).map_or(usual, |value| usize::try_from(value).unwrap_or(usize::MAX))
        };
        CycleRules {
            bf_interval: number("bf_interval", usual.bf_interval),
            bf_window: self.cycle_number("bf_window").map_or(usual.bf_window, |minutes| minutes.saturating_mul(60)),
            bf_resolution: number("bf_resolution", usual.bf_resolution),
            bf_window_linear: number("bf_window_linear", usual.bf_window_linear),
            bf_max_job_test: count("bf_max_job_test", usual.bf_max_job_test),
            bf_max_job_part: count("bf_max_job_part", usual.bf_max_job_part),
            bf_max_job_user: count("bf_max_job_user", usual.bf_max_job_user),
            bf_max_job_start: count("bf_max_job_start", usual.bf_max_job_start),
            bf_max_job_array_resv: count("bf_max_job_array_resv", usual.bf_max_job_array_resv),
            bf_min_age_reserve: number("bf_min_age_reserve", usual.bf_min_age_reserve),
            bf_min_prio_reserve: count("bf_min_prio_reserve", 0) as u64,
            default_queue_depth: count("default_queue_depth", usual.default_queue_depth),
            partition_job_depth: count("partition_job_depth", usual.partition_job_depth),
            // A negative interval turns these cycles off.
            sched_interval: match self.scheduler_number("sched_interval") {
                Some(stated) => Some(stated).filter(|&interval| interval > 0),
                None => usual.sched_interval,
            },
            backfills: self.config.get("SchedulerType").is_none_or(|kind| !kind.contains("builtin")),
            ..usual
        }
    }

    /// Returns the specification of the policy `slurm` with the parameters of the cluster's scheduler. The parameters
    /// `other` replace those of the cluster. If the priorities of jobs lack the fair share, the specification contains
    /// its parameters.
    pub fn policy_spec(&self, other: &[(&'static str, i64)]) -> String {
        let stated = PARAMETERS.iter().filter_map(|&name| Some((name, self.cycle_number(name)?)));
        let mut own: BTreeMap<&str, i64> = stated.collect();
        own.extend(other.iter().copied());
        let mut own: Vec<String> = own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let shares = if self.adds_fair_share { self.fair_share_parameters() } else { Vec::new() };
        own.extend(shares.iter().map(|(name, value)| format!("{name}={value}")));
        if own.is_empty() { "slurm".to_owned() } else { format!("slurm[{}]", own.join(",")) }
    }

    /// Returns true if a node accepts jobs now, or after the end of a reservation that makes it unavailable. Slurm removes
    /// the state `MAINTENANCE` some seconds after the end of the reservation.
    pub(crate) fn takes_jobs(&self, node: &Node) -> bool {
        if node.state.takes_jobs() {
            return true;
        }
        let mut state = node.state.clone();
        state.flags.retain(|flag| flag != "MAINTENANCE");
        state.takes_jobs() && self.reservations.iter().any(|kept| kept.nodes.contains(&node.name))
    }

    /// Returns the maximum number of processors that a job gets on each node, if there is a maximum.
    pub(crate) fn most_cpus_per_node(&self, request: &JobRequest) -> Option<u64> {
        let shares = !request.exclusive && !self.gives_whole_nodes();
        request.cpus_of_tasks_per_node.filter(|_| shares).map(|cpus| cpus.max(request.cpus_per_node))
    }

    /// Returns the minimum number of processors that a pending job gets because it gets whole nodes, or 0 if it shares
    /// nodes.
    pub(crate) fn whole_node_cpus(&self, job: &QueueJob) -> u64 {
        if !job.request.exclusive && !self.gives_whole_nodes() {
            return 0;
        }
        let of_node = self.nodes.iter().map(|node| node.usable_cpus).min().unwrap_or(1);
        job.request.min_nodes.saturating_mul(of_node.into())
    }

    /// Returns the indices of the nodes in the order in which Slurm allocates them: by weight, and then as listed.
    pub(crate) fn nodes_by_weight(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&node| (self.nodes[node].weight, node));
        order
    }

    /// Returns true if the cluster allocates memory. If the settings are unknown, returns true if some job holds
    /// memory.
    pub fn counts_memory(&self) -> bool {
        match self.config.get("SelectTypeParameters") {
            Some(text) => text.to_uppercase().contains("MEMORY"),
            None if self.config.settings().is_empty() => {
                let held = self.jobs.iter().filter_map(|job| job.run.as_ref()).flat_map(|run| &run.holds);
                held.map(|holding| holding.memory).any(|memory| memory > 0)
            }
            None => false,
        }
    }

    /// Returns true if the cluster allocates whole cores, with all their hardware threads.
    pub fn gives_whole_cores(&self) -> bool {
        self.config.get("SelectTypeParameters").is_some_and(|text| text.to_uppercase().contains("CR_CORE"))
    }

    /// Returns true if the cluster allocates whole nodes.
    pub fn gives_whole_nodes(&self) -> bool {
        self.config.get("SelectType").is_some_and(|text| text == "select/linear")
    }
}
