//! Converts the submissions of tasks to jobs of the scheduler.

use std::sync::Arc;

use makespan_core::{
    CyclePair, FairShares, FeatureChoice, Features, Instance, Partition, ResourceKind, Submission, TaskId, Time,
};
use rustc_hash::FxHashMap;

use super::cluster::{MINUTE, PlatformNodes};
use super::limits::{AllLimits, amounts, within};
use super::task::{RunningTask, TaskRequest, WaitingTask};
use super::terms::{computing_nodes, in_minutes, longest, named, partitions, qos_factor, time_limit};
use crate::policy::order::Widths;
use crate::slurm::{ClusterModel, JobCandidate, LimitUse, ModelJob, NodeConditions, PartitionRequest};

/// The nodes that satisfy a constraint, by indices in the model.
#[derive(Clone, Copy, Debug)]
struct NodeSets {
    /// The nodes that the job may use.
    set: usize,
    /// The nodes that Slurm tests when it plans the job.
    tested: usize,
    /// The conditions on some of the job's nodes.
    counted: Option<usize>,
}

/// The ways to satisfy a constraint.
type Ways = Arc<[NodeSets]>;

/// The tables that a submission changes.
pub(super) struct RequestTables<'a> {
    pub nodes: &'a PlatformNodes,
    pub model: &'a mut ClusterModel,
    pub shares: &'a mut FairShares,
    /// The current instant, in ticks.
    pub now: i64,
}

/// Converts submissions to requests. Equal parts of requests share an index in the model.
#[derive(Clone, Debug)]
pub(super) struct TaskRequests {
    widths: Widths,
    ways: FxHashMap<NodesKey, Ways>,
    shapes: FxHashMap<PartitionRequest, usize>,
    groups: FxHashMap<Vec<LimitUse>, usize>,
    limits: AllLimits,
    /// The numbers of the arrays.
    arrays: FxHashMap<Arc<str>, usize>,
    favor_small: bool,
}

/// The data that determine the suitable nodes. The number of nodes is included only if the constraint counts nodes.
type NodesKey = (Option<usize>, Option<Arc<str>>, [Vec<Arc<str>>; 3], Option<usize>, u32);

impl TaskRequests {
    pub fn new(widths: Widths, favor_small: bool) -> Self {
        Self {
            widths,
            ways: FxHashMap::default(),
            shapes: FxHashMap::default(),
            groups: FxHashMap::default(),
            limits: AllLimits::default(),
            arrays: FxHashMap::default(),
            favor_small,
        }
    }

    /// Adds a waiting task to the model, with a candidate for each partition in which it may start, and for each way to
    /// satisfy its constraint there. Returns `None` if the task can never start: the task is held, no node is suitable,
    /// or a limit is too low.
    pub fn add_waiting(
        &mut self,
        instance: &Instance,
        task: TaskId,
        tables: &mut RequestTables<'_>,
    ) -> Option<WaitingTask> {
        let job = instance.job_of(task);
        if job.submission.as_ref().is_some_and(|submission| submission.held.is_some()) {
            return None;
        }
        let submission = named(instance, task);
        let asked = self.request(instance, (task, &submission), tables, false)?;
        if asked.waiting.latest < job.release.ticks().max(tables.now) {
            return None;
        }
        let added = self.add_candidates(instance, &submission, &asked, tables);
        (!added.partition_factors.is_empty()).then_some(added)
    }

    /// Returns the data of a task that already runs. The task may hold more than the rules now allow.
    pub fn running(
        &mut self,
        instance: &Instance,
        task: TaskId,
        tables: &mut RequestTables<'_>,
    ) -> Option<RunningTask> {
        let submission = named(instance, task);
        let asked = self.request(instance, (task, &submission), tables, true)?;
        let partitions = partitions(instance.platform().site(), &submission);
        let first = partitions.first().copied();
        let group = first.map(|partition| {
            let (uses, _) = self.limits.of(instance, &submission, partition, tables.model);
            self.group(&asked, &uses, tables.model)
        });
        let own = instance.platform().site().zip(first.flatten()).map(|(site, at)| &site.partitions[at]);
        let exclusive = asked.exclusive || own.is_some_and(|own| own.exclusive);
        Some(RunningTask { user: asked.waiting.user, group, whole_limit: asked.waiting.whole_limit, exclusive })
    }

    fn request(
        &mut self,
        instance: &Instance,
        (task, submission): (TaskId, &Submission),
        tables: &mut RequestTables<'_>,
        runs: bool,
    ) -> Option<TaskRequest> {
        let job = instance.job_of(task);
        let processors = self.widths.of(instance, task);
        let platform = instance.platform();
        let site = platform.site();
        let whole_limit = time_limit(instance, task, processors, site, submission);
        let limit = submission.least_time.map_or(whole_limit, |least| in_minutes(least).min(whole_limit));
        let nodes = submission.nodes.unwrap_or((1, u32::MAX));
        let least_nodes = nodes.0.max(1);
        let user_name = submission.user.as_deref().unwrap_or_default();
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
        let period = reservation.map(|at| tables.model.reservations[at]);
        let last_start = |until: i64| until.saturating_sub(limit);
        let latest = submission.deadline.map_or(i64::MAX, |deadline| last_start(deadline.ticks()));
        let reserved_until = period.map_or(i64::MAX, |period| period.1);
        // The reservation must be long enough for the job, and must not end too early.
        period.is_none_or(|(opens, end)| last_start(end) >= opens.max(tables.now)).then_some(())?;
        let array = submission.array.as_ref().map(|(array, _)| {
            let next = self.arrays.len();
            *self.arrays.entry(array.clone()).or_insert(next)
        });
        let (of_nodes, common): (Vec<_>, Vec<_>) =
            instance.demands(task).iter().partition(|demand| demand.kind == ResourceKind::OfNodes);
        let licence = |demand: &&makespan_core::Demand| {
            let amount = demand.need.total(processors);
            LimitUse { counter: tables.nodes.counter(demand), amount, needed: amount, runs: (0, None) }
        };
        let waiting = WaitingTask {
            task,
            job: tables.model.jobs.len(),
            submitted: job.release,
            processors,
            whole_limit,
            latest,
            reserved_until,
            user: tables.shares.user(submission.account.as_deref(), user_name),
            amounts: amounts(instance, task, processors, least_nodes),
            nice: submission.nice,
            fixed: submission.priority,
            size: self.size(instance, processors, least_nodes),
            qos_factor: qos_factor(site, submission),
            partition_factors: Vec::new(),
            limits: 0,
        };
        Some(TaskRequest {
            waiting,
            deadline: submission.deadline.map(Time::ticks),
            limit,
            shares: of_nodes.iter().map(|demand| (demand.resource.index(), demand.need.clone())).collect(),
            licences: common.iter().map(licence).filter(|own| own.amount > 0).collect(),
            nodes: (least_nodes, nodes.1),
            per_node: submission.per_node.unwrap_or(u32::MAX),
            least_per_node: submission.least_per_node.unwrap_or(1).max(1),
            exclusive: submission.exclusive,
            array,
            reservation,
            // If an operator has set the priority, use the common queue. This priority is compared with all jobs of the
            // tier.
            tier: if submission.priority.is_some() { 0 } else { i64::from(job.priority) },
            rank: task.0,
        })
    }

    /// Adds a job to the model, with candidates for all of its partitions in which the job can ever start.
    fn add_candidates(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        asked: &TaskRequest,
        tables: &mut RequestTables<'_>,
    ) -> WaitingTask {
        let mut waiting = asked.waiting.clone();
        let site = instance.platform().site();
        let highest = site.and_then(|site| site.partitions.iter().map(|one| one.job_factor).max()).unwrap_or(0).max(1);
        let (limit, deadline) = (waiting.whole_limit, asked.deadline);
        tables.model.jobs.push(ModelJob { limit, deadline, rank: asked.rank, ..ModelJob::default() });
        for partition in partitions(site, submission) {
            let own = site.zip(partition).map(|(site, at)| &site.partitions[at]);
            let (uses, most) = self.limits.of(instance, submission, partition, tables.model);
            let wall = longest(site, submission, own);
            let fits = own.is_none_or(|own| takes(own, asked))
                && within(&waiting.amounts, &most)
                && wall.is_none_or(|wall| waiting.whole_limit <= wall.ticks().max(MINUTE));
            if !fits {
                continue;
            }
            waiting.limits = waiting.limits.max(uses.len());
            let group = self.group(asked, &uses, tables.model);
            let counters = &tables.model.counters;
            if tables.model.groups[group].iter().any(|own| own.needed > counters[own.counter].total) {
                continue;
            }
            for way in self.ways(instance, submission, partition, asked, tables).iter() {
                let Some(shape) = self.shape(asked, own, way, tables.model) else { continue };
                let pair = CyclePair {
                    job: waiting.job,
                    partition: partition.unwrap_or(0),
                    user: waiting.user,
                    array: asked.array,
                    has_reservation: asked.reservation.is_some(),
                    submitted: waiting.submitted.ticks(),
                    priority: 0,
                };
                let place = waiting.partition_factors.len() as u64;
                tables.model.add_bid(JobCandidate {
                    job: waiting.job,
                    shape,
                    partition: pair.partition,
                    group,
                    tier: asked.tier + own.map_or(0, |one| i64::from(one.tier)),
                    order: (pair.submitted, waiting.task.0, place),
                    pair,
                });
                let factor = own.map_or(0.0, |one| f64::from(one.job_factor) / f64::from(highest));
                waiting.partition_factors.push(factor);
            }
        }
        waiting
    }

    /// Returns the index of the group of jobs with the limits and the licences of a job.
    fn group(&mut self, asked: &TaskRequest, limits: &[(usize, usize)], model: &mut ClusterModel) -> usize {
        let amounts = &asked.waiting.amounts;
        let minutes = u64::try_from(asked.waiting.whole_limit / MINUTE).unwrap_or(0);
        let counters = &model.counters;
        let of_limits = limits.iter().map(|&(counter, at)| {
            let times = if counters[counter].falls { minutes } else { 1 };
            LimitUse { counter, amount: amounts[at], needed: amounts[at].saturating_mul(times), runs: (0, None) }
        });
        let mut uses: Vec<LimitUse> =
            of_limits.chain(asked.licences.iter().copied()).filter(|own| own.amount > 0).collect();
        uses.sort_unstable();
        uses.dedup();
        let groups = &mut model.groups;
        *self.groups.entry(uses).or_insert_with_key(|uses| {
            groups.push(uses.clone());
            groups.len() - 1
        })
    }

    /// Returns the index of the request of a job in a partition. Returns `None` if the job would not fit there even if
    /// no other job ran.
    fn shape(
        &mut self,
        asked: &TaskRequest,
        own: Option<&Partition>,
        way: &NodeSets,
        model: &mut ClusterModel,
    ) -> Option<usize> {
        let most = own.and_then(|own| own.max_nodes).unwrap_or(u32::MAX);
        // No node is useful without a processor for the job.
        let useful = asked.waiting.processors / asked.least_per_node;
        let max = asked.nodes.1.min(most).min(useful);
        let shape = PartitionRequest {
            set: way.set,
            tested: way.tested,
            counted: way.counted,
            min_nodes: asked.nodes.0,
            max_nodes: Some(max),
            takes_all: asked.nodes.0 < asked.nodes.1 && asked.nodes.1 < u32::MAX,
            cpus: asked.waiting.processors.into(),
            per_node: asked.least_per_node,
            most_per_node: asked.per_node,
            memory: None,
            gres: Vec::new(),
            shares: asked.shares.clone(),
            whole: asked.exclusive || own.is_some_and(|own| own.exclusive),
            reservation: asked.reservation,
            lasts: asked.limit,
        };
        if let Some(&known) = self.shapes.get(&shape) {
            return Some(known);
        }
        if max < asked.nodes.0 || model.check(&shape).is_err() {
            return None;
        }
        model.shapes.push(shape.clone());
        self.shapes.insert(shape, model.shapes.len() - 1);
        Some(model.shapes.len() - 1)
    }

    /// Returns the ways to satisfy the constraint of a job in a partition. The nodes of a way have the features and are
    /// not excluded.
    fn ways(
        &mut self,
        instance: &Instance,
        submission: &Submission,
        partition: Option<usize>,
        asked: &TaskRequest,
        tables: &mut RequestTables<'_>,
    ) -> Ways {
        let (Submission { constraint, only, except, among, .. }, reservation) = (submission, asked.reservation);
        let counts = constraint.as_deref().is_some_and(|text| text.contains(['*', '[']));
        let number = if counts { asked.nodes.0 } else { 0 };
        let names = [only.clone(), except.clone(), among.clone()];
        let key = (partition, constraint.clone(), names, reservation, number);
        if let Some(known) = self.ways.get(&key) {
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
        let named = !except.is_empty();
        let features = |node: usize| site.and_then(|site| site.features.get(node)).map_or(&[][..], Vec::as_slice);
        let is_named = |node: usize| only.is_empty() || only.iter().any(|one| **one == *platform.nodes()[node].name);
        let will_do = |node: usize, choice: &FeatureChoice| {
            let name = if named { platform.nodes()[node].name.as_str() } else { "" };
            let by_name = !except.iter().any(|one| **one == *name);
            let kept = reservation.and_then(|at| site?.reservations.get(at));
            choice.serves(features(node), asked.nodes.0)
                && by_name
                && kept.is_none_or(|kept| kept.nodes.binary_search(&node).is_ok())
        };
        let way = |choice: &FeatureChoice| {
            let tested: Vec<usize> = all.iter().copied().filter(|&node| will_do(node, choice)).collect();
            let set = tables.nodes.set(tested.iter().copied().filter(|&node| is_named(node)));
            let tested = tables.nodes.set(tested.into_iter());
            let node = |site: usize| tables.nodes.node(site);
            let is_required = |site: usize| among.iter().any(|one| **one == *platform.nodes()[node(site)].name);
            let required = (among.len(), is_required);
            let counted = NodeConditions::of(tables.nodes.len(), choice, required, |site| features(node(site)));
            let counted = counted.map(|counted| {
                tables.model.counted.push(counted);
                tables.model.counted.len() - 1
            });
            let set = tables.model.add_set(set);
            let tested = if only.is_empty() { set } else { tables.model.add_set(tested) };
            NodeSets { set, tested, counted }
        };
        let ways: Ways = choices.iter().map(way).collect();
        self.ways.insert(key, ways.clone());
        ways
    }

    /// Returns the size factor of a job: the mean of the fraction of all nodes and the fraction of all processors that
    /// the job requests. If small jobs are favoured, each fraction is subtracted from 1.
    fn size(&self, instance: &Instance, processors: u32, nodes: u32) -> f64 {
        let platform = instance.platform();
        let share = |own: u32, all: f64| {
            let share = f64::from(own) / all.max(1.0);
            if self.favor_small { 1.0 - share } else { share }
        };
        share(nodes, computing_nodes(platform)).midpoint(share(processors, f64::from(platform.processors())))
    }
}

/// Returns whether a partition can ever start a job.
fn takes(own: &Partition, asked: &TaskRequest) -> bool {
    let most = own.max_nodes.unwrap_or(u32::MAX);
    own.is_up
        && own.max_time.is_none_or(|most| asked.waiting.whole_limit <= most.ticks().max(MINUTE))
        && asked.nodes.0 <= most
        && asked.nodes.1 >= own.min_nodes
}
