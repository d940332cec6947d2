//! Converts the submissions of waiting jobs to requests that the scheduler can compare with nodes.

use std::sync::Arc;

use makespan_core::{FairShares, FeatureChoice, Features, Instance, Partition, Site, Submission, TaskId, Time};
use rustc_hash::FxHashMap;

use super::asked::{JobPartition, JobRequest, MINUTE};
use super::board::AvailabilityBoard;
use super::limits::{AllLimits, amounts, within};
use super::nodes::CountedFeatures;
use crate::policy::order::Widths;

/// The ways to satisfy a constraint. Each way has suitable nodes, and features that only a stated number of these nodes
/// must have.
type Ways = Arc<[(Arc<[u32]>, Option<Arc<CountedFeatures>>)]>;

/// The tables with which a request is compared.
pub(super) struct RequestTables<'a> {
    pub board: &'a AvailabilityBoard,
    pub limits: &'a mut AllLimits,
    pub shares: &'a mut FairShares,
}

/// Converts submissions to requests.
#[derive(Debug)]
pub(super) struct Asking {
    widths: Widths,
    nodes: FxHashMap<NodesKey, Ways>,
    /// The numbers of the arrays.
    arrays: FxHashMap<Arc<str>, usize>,
    favor_small: bool,
}

/// The data that determine the suitable nodes. The number of nodes is included only if the constraint counts nodes.
type NodesKey = (Option<usize>, Option<Arc<str>>, Vec<Arc<str>>, Vec<Arc<str>>, Option<usize>, u32);

impl Asking {
    pub fn new(widths: Widths, favor_small: bool) -> Self {
        Self { widths, nodes: FxHashMap::default(), arrays: FxHashMap::default(), favor_small }
    }

    /// Returns the requests of a waiting task: one for each partition in which it may start, and for each way to satisfy
    /// its constraint there. The result is empty if the task can never start: the task is held, no node is suitable, or a
    /// limit is too low.
    pub fn of_waiting(&mut self, instance: &Instance, task: TaskId, tables: &mut RequestTables<'_>) -> Vec<JobRequest> {
        let job = instance.job_of(task);
        if job.submission.as_ref().is_some_and(|submission| submission.held.is_some()) {
            return Vec::new();
        }
        let mut all = self.requests(instance, task, tables, false).unwrap_or_default();
        all.retain(|asked| asked.latest >= job.release.ticks());
        all
    }

    /// Returns the request of a task that already runs. The task may hold more than the rules now allow. Returns `None`
    /// if the task is in none of the partitions.
    pub fn of_running(
        &mut self,
        instance: &Instance,
        task: TaskId,
        tables: &mut RequestTables<'_>,
    ) -> Option<JobRequest> {
        self.requests(instance, task, tables, true)?.into_iter().next()
    }

    fn requests(
        &mut self,
        instance: &Instance,
        task: TaskId,
        tables: &mut RequestTables<'_>,
        runs: bool,
    ) -> Option<Vec<JobRequest>> {
        let job = instance.job_of(task);
        let nothing = Submission::default();
        let submission = job.submission.as_deref().unwrap_or(&nothing);
        let processors = self.widths.of(instance, task);
        let platform = instance.platform();
        let site = platform.site();
        let whole_limit = time_limit(instance, task, processors, site, submission);
        let limit = submission.least_time.map_or(whole_limit, |least| in_minutes(least).min(whole_limit));
        let nodes = submission.nodes.unwrap_or((1, u32::MAX));
        let least_nodes = nodes.0.max(1);
        let user_name: Arc<str> = match (&submission.user, job.user) {
            (Some(user), _) => user.clone(),
            (None, Some(number)) => number.to_string().into(),
            (None, None) => "".into(),
        };
        let reservation = match &submission.reservation {
            None => None,
            // A running job has its nodes already.
            Some(_) if runs => None,
            Some(name) => match site.map(|site| &site.reservations).filter(|all| !all.is_empty()) {
                // If the site has no reservations, ignore the name, because the reservation does not exist any more.
                None => None,
                Some(all) => {
                    let at = all.iter().position(|one| *one.name == **name)?;
                    let account = submission.account.as_deref();
                    let may = all[at].users.iter().any(|own| **own == *user_name)
                        || all[at].accounts.iter().any(|own| account == Some(&**own));
                    Some(at).filter(|_| may)?;
                    Some(at)
                }
            },
        };
        let period = reservation.and_then(|at| tables.board.period_of(at));
        let until = submission.deadline.map(Time::ticks).into_iter().chain(period.map(|period| period.1)).min();
        let latest = until.map_or(i64::MAX, |until| until.saturating_sub(limit));
        // The reservation must be long enough for the job.
        period.is_none_or(|(opens, _)| latest >= opens).then_some(())?;
        let named = Submission { user: Some(user_name.clone()), ..submission.clone() };
        let held = amounts(instance, task, processors, least_nodes);
        let array = submission.array.as_ref().map(|(array, _)| {
            let next = self.arrays.len();
            *self.arrays.entry(array.clone()).or_insert(next)
        });
        let place =
            JobPartition { partition: 0, nodes: Arc::new([]), counted: None, most: u32::MAX, limits: Vec::new() };
        let asked = JobRequest {
            task,
            submitted: job.release,
            processors,
            limit,
            whole_limit,
            latest,
            demands: instance.demands(task).to_vec(),
            place,
            nodes: (least_nodes, nodes.1),
            per_node: submission.per_node.unwrap_or(u32::MAX),
            least_per_node: submission.least_per_node.unwrap_or(1).max(1),
            exclusive: submission.exclusive,
            array,
            reservation,
            user: tables.shares.user(submission.account.as_deref(), &user_name),
            amounts: held,
            // If an operator has set the priority, use the common queue. This priority is compared with all jobs of the
            // tier.
            tier: if submission.priority.is_some() { 0 } else { i64::from(job.priority) },
            nice: submission.nice,
            fixed: submission.priority,
            size: self.size(instance, processors, least_nodes),
            partition_factor: 0.0,
            qos_factor: qos_factor(site, submission),
        };
        Some(self.in_partitions(instance, &named, &asked, tables, runs))
    }

    /// Returns the requests of a job in each of its partitions in which the job can ever start. If the job already runs,
    /// returns the requests in all its partitions.
    fn in_partitions(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        asked: &JobRequest,
        tables: &mut RequestTables<'_>,
        runs: bool,
    ) -> Vec<JobRequest> {
        let site = instance.platform().site();
        let highest = site.and_then(|site| site.partitions.iter().map(|one| one.job_factor).max()).unwrap_or(0).max(1);
        let mut all = Vec::new();
        let mut add = |partition: Option<usize>, own: Option<&Partition>| {
            if !runs && own.is_some_and(|own| !takes(own, asked)) {
                return;
            }
            let ways = self.ways(instance, submission, partition, asked);
            let (limits, most) = tables.limits.of(instance, submission, partition);
            let wall = longest(site, submission, own);
            let fits = runs
                || within(&asked.amounts, &most)
                    && tables.limits.could_have_room(&limits, &asked.amounts)
                    && wall.is_none_or(|wall| asked.whole_limit <= wall.ticks().max(MINUTE));
            for (nodes, counted) in ways.iter().filter(|_| fits).cloned() {
                let most = own.and_then(|own| own.max_nodes).unwrap_or(u32::MAX);
                let asked = JobRequest {
                    place: JobPartition {
                        partition: partition.unwrap_or(0),
                        nodes,
                        counted,
                        most,
                        limits: limits.clone(),
                    },
                    exclusive: asked.exclusive || own.is_some_and(|one| one.exclusive),
                    tier: asked.tier + own.map_or(0, |one| i64::from(one.tier)),
                    partition_factor: own.map_or(0.0, |one| f64::from(one.job_factor) / f64::from(highest)),
                    ..asked.clone()
                };
                if runs || tables.board.could_hold(&asked) {
                    all.push(asked);
                }
            }
        };
        match site.filter(|site| !site.partitions.is_empty()) {
            None => add(None, None),
            Some(site) => {
                let mut wanted: Vec<usize> =
                    submission.partitions.iter().filter_map(|name| site.partition(name)).collect();
                if submission.partitions.is_empty() {
                    wanted.extend(site.default_partition());
                }
                wanted.sort_by_key(|&at| std::cmp::Reverse(site.partitions[at].tier));
                wanted.into_iter().for_each(|at| add(Some(at), Some(&site.partitions[at])));
            }
        }
        all
    }

    /// Returns the ways to satisfy the constraint of a job in a partition. The nodes of a way have the features and are
    /// not excluded. The nodes are numbered as on the board.
    fn ways(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        partition: Option<usize>,
        asked: &JobRequest,
    ) -> Ways {
        let (Submission { constraint, only, except, .. }, reservation) = (submission, asked.reservation);
        let counts = constraint.as_deref().is_some_and(|text| text.contains(['*', '[']));
        let number = if counts { asked.nodes.0 } else { 0 };
        let key = (partition, constraint.clone(), only.clone(), except.clone(), reservation, number);
        if let Some(known) = self.nodes.get(&key) {
            return known.clone();
        }
        let platform = instance.platform();
        let site = platform.site();
        let all: Vec<usize> = match (site, partition) {
            (Some(site), Some(at)) => site.partitions[at].nodes.clone(),
            _ => (0..platform.node_count()).collect(),
        };
        // If no node states features, the features are unknown, so ignore constraints.
        let stated = site.is_some_and(|site| site.features.iter().any(|own| !own.is_empty()));
        let choices = match constraint.as_deref().filter(|_| stated).map(Features::parse) {
            None => vec![FeatureChoice::default()],
            Some(read) => read.map_or_else(Vec::new, |read| read.choices()),
        };
        let named = !only.is_empty() || !except.is_empty();
        let features = |node: usize| site.and_then(|site| site.features.get(node)).map_or(&[][..], Vec::as_slice);
        let will_do = |node: usize, choice: &FeatureChoice| {
            let name = if named { platform.nodes()[node].name.as_str() } else { "" };
            let by_name =
                (only.is_empty() || only.iter().any(|one| **one == *name)) && !except.iter().any(|one| **one == *name);
            let kept = reservation.and_then(|at| site?.reservations.get(at));
            choice.serves(features(node), asked.nodes.0)
                && by_name
                && kept.is_none_or(|kept| kept.nodes.binary_search(&node).is_ok())
        };
        let way = |choice: &FeatureChoice| {
            let good: Vec<usize> = all.iter().copied().filter(|&node| will_do(node, choice)).collect();
            let numbers = AvailabilityBoard::numbers(platform, good.iter().copied());
            let counted = (!choice.counted.is_empty()).then(|| {
                let own = numbers.iter().copied().zip(good.iter().map(|&node| features(node)));
                Arc::new(CountedFeatures::new(choice, own))
            });
            (Arc::from(numbers), counted)
        };
        let ways: Ways = choices.iter().map(way).collect();
        self.nodes.insert(key, ways.clone());
        ways
    }

    /// Returns the size factor of a job: the mean of the fraction of all nodes and the fraction of all processors that
    /// the job requests. If small jobs are favoured, each fraction is subtracted from 1.
    fn size(&self, instance: &Instance, processors: u32, nodes: u32) -> f64 {
        let platform = instance.platform();
        let all = platform.kinds().filter(|(node, _)| node.processors > 0).map(|(_, count)| count).sum::<usize>();
        let share = |own: u32, all: f64| {
            let share = f64::from(own) / all.max(1.0);
            if self.favor_small { 1.0 - share } else { share }
        };
        share(nodes, all as f64).midpoint(share(processors, f64::from(platform.processors())))
    }
}

/// Returns whether a partition can ever start a job.
fn takes(own: &Partition, asked: &JobRequest) -> bool {
    let most = own.max_nodes.unwrap_or(u32::MAX);
    own.is_up
        && own.max_time.is_none_or(|most| asked.whole_limit <= most.ticks().max(MINUTE))
        && asked.nodes.0 <= most
        && asked.nodes.1 >= own.min_nodes
}

/// Returns the maximum time that the classes of service and the associations of a job allow.
fn longest(site: Option<&Site>, submission: &Submission, partition: Option<&Partition>) -> Option<Time> {
    let site = site?;
    let names = submission.qos.as_deref().into_iter().chain(partition.and_then(|one| one.qos.as_deref()));
    let by_qos = names.filter_map(|name| site.qos.iter().find(|qos| &*qos.name == name)?.max_wall);
    let account = submission.account.as_deref().unwrap_or_default();
    let own = |one: &&makespan_core::Association| {
        &*one.account == account && one.user.as_deref().is_none_or(|user| Some(user) == submission.user.as_deref())
    };
    by_qos.chain(site.associations.iter().filter(own).filter_map(|one| one.max_wall)).min()
}

fn qos_factor(site: Option<&Site>, submission: &Submission) -> f64 {
    let Some(site) = site else { return 0.0 };
    let most = site.qos.iter().map(|qos| qos.priority).max().unwrap_or(0).max(1);
    let own = submission.qos.as_deref().and_then(|name| site.qos.iter().find(|qos| &*qos.name == name));
    own.map_or(0.0, |qos| f64::from(qos.priority) / f64::from(most))
}

/// Returns the time limit in ticks, rounded up to minutes. This is the walltime. If no walltime is stated, the time
/// limit is the default of the partition or, without a default, the estimate.
fn time_limit(instance: &Instance, task: TaskId, processors: u32, site: Option<&Site>, submission: &Submission) -> i64 {
    let stated = instance.walltime(task);
    let by_partition = || {
        let site = site?;
        let first = submission.partitions.first().and_then(|name| site.partition(name));
        let own = &site.partitions[first.or_else(|| site.default_partition())?];
        own.default_time.or(own.max_time).filter(|_| instance.task(task).estimate.is_guess())
    };
    let estimate = instance.profile(task).time(processors);
    in_minutes(stated.or_else(by_partition).unwrap_or(estimate))
}

/// Rounds a time up to whole minutes.
fn in_minutes(time: Time) -> i64 {
    let minutes = time.ticks().div_ceil_of(MINUTE).max(1);
    minutes.saturating_mul(MINUTE).min(i64::MAX / 4)
}

trait DivCeil {
    fn div_ceil_of(self, unit: i64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_of(self, unit: i64) -> i64 {
        self / unit + i64::from(self % unit > 0)
    }
}
