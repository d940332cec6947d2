//! A queue in flat arrays. Nodes are in the order in which Slurm allocates them, and candidates of jobs in the order in
//! which the scheduler considers them.

use std::collections::HashMap;
use std::sync::Arc;

use makespan_algos::slurm::{
    ClusterModel, Hold, JobCandidate, LimitUse, ModelJob, ModelNode, NodeBits, NodeConditions, PartitionRequest,
    ReservedPeriod,
};
use makespan_core::{CyclePair, NodePlace, WaitKind};

use crate::queue::{FeatureChoice, Features, NodeHolding, Queue, QueueJob, SlurmReservation};
use crate::text::Gres;
use crate::{Node, OptionalLimit, Partition};

use super::counters::QueueLimits;
use super::looks::cycle_rules;
use super::times::{FOR_EVER, limit};
use super::why::{self, PartitionObstacle, PermanentReason};

/// A queue, and its data in flat arrays for the scheduler. Each job of the queue has the same index in both.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub queue: &'a Queue,
    pub cluster: Arc<ClusterModel>,
    /// For each site, the index of its node in the queue.
    pub nodes: Vec<usize>,
    /// For each node of the queue, the index of its site.
    pub site_of: Vec<usize>,
    /// The sites that accept jobs now, or after the end of a reservation.
    pub open: NodeBits,
    /// The kinds of generic resources.
    pub kinds: Vec<(String, String)>,
    pub limits: QueueLimits,
    /// For each job that can never start, the reason.
    pub never: Vec<Option<PermanentReason>>,
    /// For each job, the latest start that its deadline allows.
    pub latest: Vec<i64>,
    /// True if the cluster allocates memory.
    memory: bool,
    /// The distinct amounts of memory of the nodes in bytes, in ascending order.
    memories: Vec<u64>,
}

impl<'a> Model<'a> {
    pub(super) fn of(queue: &'a Queue) -> Self {
        let nodes = queue.nodes_by_weight();
        let (mut site_of, mut open) = (vec![0; nodes.len()], NodeBits::new(nodes.len()));
        for (site, &node) in nodes.iter().enumerate() {
            site_of[node] = site;
            open.set(site, queue.takes_jobs(&queue.nodes[node]));
        }
        let kinds = kinds(&queue.nodes);
        let memory = queue.counts_memory();
        let gres = nodes.iter().flat_map(|&node| amounts(&queue.nodes[node].gres, &kinds)).collect();
        let mut cluster = ClusterModel::new(sites(queue, &nodes), (kinds.len(), gres), queue.now, 60);
        let by_name: HashMap<&str, usize> =
            nodes.iter().enumerate().map(|(site, &node)| (queue.nodes[node].name.as_str(), site)).collect();
        let of_partition = |partition: &Partition| {
            let mut set = NodeBits::new(nodes.len());
            let members = partition.nodes.iter().filter_map(|name| by_name.get(name.as_str()));
            members.for_each(|&site| set.set(site, true));
            set
        };
        cluster.partitions = queue.partitions.iter().map(of_partition).collect();
        cluster.are_up = queue.partitions.iter().map(Partition::is_up).collect();
        cluster.reservations = queue.reservations.iter().map(|kept| (kept.start, kept.end)).collect();
        cluster.cycles = cycle_rules(queue, nodes.len());
        let limits = QueueLimits::of(queue, &mut cluster);
        let mut teams = teams(queue);
        let job = |(index, job): (usize, &QueueJob)| ModelJob {
            limit: limit(job),
            deadline: job.deadline,
            // Running jobs are the first in the list.
            rank: (index + if job.run.is_some() { 0 } else { queue.jobs.len() }) as u64,
            bids: Vec::new(),
            team: teams.remove(&index).unwrap_or_default(),
        };
        cluster.jobs = queue.jobs.iter().enumerate().map(job).collect();
        let latest = queue.jobs.iter().map(|job| job.latest_start().filter(|_| job.run.is_none()).unwrap_or(i64::MAX));
        let latest = latest.collect();
        let never = vec![None; queue.jobs.len()];
        let cluster = Arc::new(cluster);
        let mut memories: Vec<u64> = queue.nodes.iter().filter_map(|node| node.memory).collect();
        memories.sort_unstable();
        memories.dedup();
        let mut model = Self { queue, cluster, nodes, site_of, open, kinds, limits, never, latest, memory, memories };
        model.add_bids();
        let cluster = Arc::make_mut(&mut model.cluster);
        cluster.sort_bids();
        cluster.set_levels();
        model
    }

    /// Adds a bid for every pending job in each of its partitions.
    fn add_bids(&mut self) {
        let mut interning = Interning::default();
        let (mut users, mut arrays) = (HashMap::new(), HashMap::new());
        let by_name: HashMap<&str, usize> =
            self.queue.partitions.iter().enumerate().map(|(at, partition)| (partition.name.as_str(), at)).collect();
        let queue = self.queue;
        for (index, job) in queue.jobs.iter().enumerate().filter(|(_, job)| job.run.is_none()) {
            let total = |own: &LimitUse| self.cluster.counters[own.counter].total;
            let beyond = || self.limits_of(index).iter().find(|own| own.needed > total(own));
            let late = || (self.latest[index] < queue.now).then(|| why::too_late(job));
            let barred = || {
                queue.barred(job).map(|bar| PermanentReason::new(WaitKind::Limit, bar.brief, bar.text).with(bar.remedy))
            };
            self.never[index] = why::at_once(job)
                .or_else(barred)
                .or_else(|| {
                    let own = beyond()?;
                    Some(why::beyond(&self.limits.words[own.counter], own.needed, total(own)))
                })
                .or_else(late);
            let mut obstacles: Vec<PartitionObstacle> = Vec::new();
            let mut found = false;
            let (next_user, next_array) = (users.len(), arrays.len());
            let user = *users.entry(job.user.as_str()).or_insert(next_user);
            let array = job.array.map(|member| *arrays.entry(member.array).or_insert(next_array));
            for name in &job.partitions {
                let Some(&partition) = by_name.get(name.as_str()) else {
                    obstacles.push(why::no_partition(job, name).into());
                    continue;
                };
                let choices =
                    job.request.features.as_ref().map_or_else(|| vec![FeatureChoice::default()], Features::choices);
                for choice in &choices {
                    match self.shape(job, partition, choice, &mut interning) {
                        Ok(shape) => {
                            let pair = CyclePair {
                                job: index,
                                partition,
                                user,
                                array,
                                has_reservation: self.cluster.shapes[shape].reservation.is_some(),
                                submitted: job.submitted.unwrap_or(i64::MIN),
                                priority: job.priority,
                            };
                            let task = job.array.map_or(0, |member| member.task);
                            Arc::make_mut(&mut self.cluster).add_bid(JobCandidate {
                                job: index,
                                shape,
                                partition,
                                group: self.limits.group_of[index],
                                tier: i64::try_from(queue.partitions[partition].priority_tier).unwrap_or(i64::MAX),
                                order: (job.submitted.unwrap_or(i64::MAX), job.id, task),
                                pair,
                            });
                            found = true;
                        }
                        Err(obstacle) => obstacles.push(obstacle),
                    }
                }
            }
            if !found && self.never[index].is_none() {
                // The return of nodes in one partition is enough, so this partition comes first.
                let obstacle = obstacles.into_iter().min_by_key(|obstacle| !obstacle.is_away);
                self.never[index] = obstacle.map(|obstacle| obstacle.why);
            }
        }
    }

    /// Returns the request of a job in a partition. If the partition can never satisfy the request, returns the
    /// reason.
    fn shape(
        &mut self,
        job: &QueueJob,
        partition: usize,
        choice: &FeatureChoice,
        interning: &mut Interning,
    ) -> Result<usize, PartitionObstacle> {
        let queue = self.queue;
        let (request, part) = (&job.request, &queue.partitions[partition]);
        let lasts = limit(job);
        if let OptionalLimit::At(most) = part.max_time
            && job.limit.is_none_or(|limit| limit > most)
        {
            return Err(why::too_long(part, job.limit, most).into());
        }
        let most = part.max_nodes.value();
        if most.is_some_and(|most| request.min_nodes > most) {
            return Err(why::too_many(part, request.min_nodes).into());
        }
        let reservation = match &request.reservation {
            None => None,
            Some(name) => {
                let found = queue.reservations.iter().position(|reservation| &reservation.name == name);
                let found = found.ok_or_else(|| why::no_reservation(name))?;
                let kept = &queue.reservations[found];
                if !kept.admits(&job.user, job.account.as_deref()) {
                    return Err(why::not_admitted(kept).into());
                }
                if lasts > kept.end - kept.start.max(queue.now) {
                    return Err(why::longer_than(kept, queue.now).into());
                }
                Some(found)
            }
        };
        let max = [request.max_nodes, most].into_iter().flatten().min();
        let only = request.only_nodes(max);
        let among = if only.is_empty() { &request.required[..] } else { &[] };
        let counted = self.counted(choice, among, interning);
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let shape = PartitionRequest {
            set: self.set(job, (partition, only), reservation, choice, interning),
            tested: self.set(job, (partition, &[]), reservation, choice, interning),
            counted,
            min_nodes: small(request.min_nodes).max(choice.nodes()),
            max_nodes: max.map(small),
            takes_all: request.max_nodes.is_some_and(|most| most > request.min_nodes),
            cpus: request.cpus,
            per_node: small(request.cpus_per_node),
            most_per_node: queue.most_cpus_per_node(request).map_or(u32::MAX, small),
            memory: self.memory.then_some(request.memory),
            gres: self.wanted(&request.gres),
            shares: Vec::new(),
            whole: request.exclusive || queue.gives_whole_nodes() || is_exclusive(part),
            reservation,
            lasts: request.min_time.and_then(|least| i64::try_from(least).ok()).map_or(lasts, |least| least.min(lasts)),
        };
        if let Some(&known) = interning.shapes.get(&shape) {
            return Ok(known);
        }
        self.cluster.check(&shape).map_err(|there| self.too_few(job, partition, &shape, there))?;
        let shapes = &mut Arc::make_mut(&mut self.cluster).shapes;
        interning.shapes.insert(shape.clone(), shapes.len());
        shapes.push(shape);
        Ok(shapes.len() - 1)
    }

    /// Returns the nodes of a partition that a job could use if no other job ran. If `only` is not empty, the nodes
    /// must also be in `only`.
    fn set(
        &mut self,
        job: &QueueJob,
        (partition, only): (usize, &[String]),
        reservation: Option<usize>,
        choice: &FeatureChoice,
        interning: &mut Interning,
    ) -> usize {
        let request = &job.request;
        let nodes = u32::try_from(request.min_nodes).unwrap_or(u32::MAX);
        let least_memory = request.least_memory_on_node();
        let key = SetKey {
            partition,
            features: choice.clone(),
            // If the job puts conditions on only some of its nodes, the set also depends on its number of nodes.
            nodes: if choice.counted.is_empty() { 0 } else { nodes },
            only: only.to_vec(),
            excluded: request.excluded.clone(),
            reservation,
            memory: if self.memory { 0 } else { self.memories.partition_point(|&has| has < least_memory) },
        };
        if let Some(&known) = interning.sets.get(&key) {
            return known;
        }
        let mut set = NodeBits::new(self.nodes.len());
        for site in self.cluster.partitions[partition].iter() {
            let node = self.node(site);
            let fits = self.open.has(site)
                && (self.memory || request.fits_memory(node))
                && choice.serves(&node.features, nodes)
                && !request.excluded.contains(&node.name)
                && (only.is_empty() || only.contains(&node.name))
                && reservation.is_none_or(|kept| self.queue.reservations[kept].nodes.contains(&node.name));
            set.set(site, fits);
        }
        let index = Arc::make_mut(&mut self.cluster).add_set(set);
        interning.sets.insert(key, index);
        index
    }

    /// Returns the conditions on some of a job's nodes. They state, for each site, its features that have a number of
    /// nodes, and the sites that the job must get.
    fn counted(&mut self, choice: &FeatureChoice, among: &[String], interning: &mut Interning) -> Option<usize> {
        let key = CountedKey { features: choice.counted.clone(), among: among.to_vec() };
        if let Some(&known) = interning.counted.get(&key) {
            return Some(known);
        }
        let required = (among.len(), |site: usize| among.contains(&self.node(site).name));
        let conditions = NodeConditions::of(self.nodes.len(), choice, required, |site| &self.node(site).features)?;
        let counted = &mut Arc::make_mut(&mut self.cluster).counted;
        counted.push(conditions);
        interning.counted.insert(key, counted.len() - 1);
        Some(counted.len() - 1)
    }

    /// Returns the required nodes of a job for which `has_room` is false.
    pub(super) fn lacking<'b>(
        &self,
        job: &'b QueueJob,
        shape: &PartitionRequest,
        has_room: impl Fn(usize) -> bool,
    ) -> Vec<&'b str> {
        let Some(counted) =
            shape.counted.map(|at| &self.cluster.counted[at]).filter(|counted| counted.required_count > 0)
        else {
            return Vec::new();
        };
        let set = &self.cluster.sets[shape.set];
        let there: Vec<&str> = counted
            .required
            .iter()
            .filter(|&site| set.has(site) && has_room(site))
            .map(|site| self.node(site).name.as_str())
            .collect();
        job.request.required.iter().map(String::as_str).filter(|name| !there.contains(name)).collect()
    }

    /// Returns the counters to which a job adds while it runs.
    pub(super) fn limits_of(&self, job: usize) -> &[LimitUse] {
        &self.cluster.groups[self.limits.group_of[job]]
    }

    /// Returns the running jobs of each counter.
    pub(super) fn holders(&self) -> HashMap<usize, Vec<usize>> {
        let mut holders: HashMap<usize, Vec<usize>> = HashMap::new();
        for index in (0..self.queue.jobs.len()).filter(|&index| self.queue.jobs[index].run.is_some()) {
            self.limits_of(index).iter().for_each(|own| holders.entry(own.counter).or_default().push(index));
        }
        holders
    }

    /// Returns the node of a site.
    pub(super) fn node(&self, site: usize) -> &'a Node {
        &self.queue.nodes[self.nodes[site]]
    }

    /// Returns the resources that a job of the queue holds on a node.
    pub(super) fn hold(&self, holding: &NodeHolding) -> Hold {
        let amounts = amounts(&holding.gres, &self.kinds).into_iter().enumerate();
        Hold {
            site: self.site_of[holding.node] as u32,
            cpus: holding.cpus,
            own: holding.cpus,
            memory: if self.memory { holding.memory } else { 0 },
            gres: amounts.filter(|one| one.1 > 0).map(|(kind, count)| (kind as u16, count)).collect(),
            cells: Vec::new(),
        }
    }

    /// For each requested generic resource, returns the kinds that satisfy the request, and the amount. If no node has
    /// a suitable kind, the list of kinds is empty.
    fn wanted(&self, gres: &[Gres]) -> Vec<(Vec<usize>, u64)> {
        let of = |gres: &Gres| {
            let fits =
                |(name, kind): &(String, String)| *name == gres.name && (gres.kind.is_empty() || *kind == gres.kind);
            let kinds = (0..self.kinds.len()).filter(|&kind| fits(&self.kinds[kind])).collect();
            (kinds, gres.count)
        };
        gres.iter().filter(|gres| !gres.shared && gres.count > 0).map(of).collect()
    }
}

/// Gives each distinct value an index. If several jobs have equal values, they share the index.
#[derive(Default)]
struct Interning {
    sets: HashMap<SetKey, usize>,
    counted: HashMap<CountedKey, usize>,
    shapes: HashMap<PartitionRequest, usize>,
}

#[derive(PartialEq, Eq, Hash)]
struct CountedKey {
    features: Vec<(Features, u32)>,
    among: Vec<String>,
}

#[derive(PartialEq, Eq, Hash)]
struct SetKey {
    partition: usize,
    features: FeatureChoice,
    nodes: u32,
    only: Vec<String>,
    excluded: Vec<String>,
    reservation: Option<usize>,
    /// If the cluster does not allocate memory, the number of values in [`Model::memories`] that are too small.
    memory: usize,
}

fn is_exclusive(partition: &Partition) -> bool {
    partition.record.get("OverSubscribe").is_some_and(|text| text.starts_with("EXCLUSIVE"))
}

/// Returns the sites for these nodes.
fn sites(queue: &Queue, nodes: &[usize]) -> Vec<ModelNode> {
    let closed = closed(queue);
    let cores = queue.gives_whole_cores();
    let site = |&node: &usize| {
        let of = &queue.nodes[node];
        ModelNode {
            cpus: of.usable_cpus,
            memory: of.memory.unwrap_or(u64::MAX).saturating_sub(of.kept_memory),
            grain: if cores { of.threads_per_core.max(1) } else { 1 },
            place: NodePlace { weight: of.weight, index: node },
            closed: closed.get(of.name.as_str()).cloned().unwrap_or_default(),
        }
    };
    nodes.iter().map(site).collect()
}

/// Returns the components of each heterogeneous job.
fn teams(queue: &Queue) -> HashMap<usize, Vec<usize>> {
    let mut by_first: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, job) in queue.jobs.iter().enumerate().filter(|(_, job)| job.run.is_none()) {
        if let Some(first) = job.together {
            by_first.entry(first).or_default().push(index);
        }
    }
    let several = by_first.into_values().filter(|team| team.len() > 1);
    several.flat_map(|team| team.clone().into_iter().map(move |job| (job, team.clone()))).collect()
}

fn kinds(nodes: &[Node]) -> Vec<(String, String)> {
    let mut kinds: Vec<(String, String)> = Vec::new();
    for gres in nodes.iter().flat_map(|node| &node.gres).filter(|gres| !gres.shared) {
        let kind = (gres.name.clone(), gres.kind.clone());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Returns the amount of each kind of generic resource. If a resource has no kind, it counts as the first kind of its
/// name.
fn amounts(gres: &[Gres], kinds: &[(String, String)]) -> Vec<u64> {
    let mut amounts = vec![0_u64; kinds.len()];
    for one in gres.iter().filter(|gres| !gres.shared) {
        let exact = kinds.iter().position(|(name, kind)| *name == one.name && *kind == one.kind);
        let found = exact.or_else(|| kinds.iter().position(|(name, _)| *name == one.name));
        if let Some(kind) = found {
            amounts[kind] = amounts[kind].saturating_add(one.count);
        }
    }
    amounts
}

/// Returns the reserved periods of each node.
fn closed(queue: &Queue) -> HashMap<&str, Vec<ReservedPeriod>> {
    let mut closed: HashMap<&str, Vec<ReservedPeriod>> = HashMap::new();
    let ahead = |reservation: &&SlurmReservation| reservation.end > queue.now;
    for reservation in queue.reservations.iter().filter(ahead) {
        let index = queue.reservations.iter().position(|other| std::ptr::eq(other, reservation)).unwrap_or(0);
        let end = reservation.end.min(queue.now.saturating_add(FOR_EVER));
        for node in &reservation.nodes {
            let period = if reservation.floats() {
                let ahead = (reservation.start - queue.now).max(0);
                let end = queue.now.saturating_add(FOR_EVER);
                ReservedPeriod { start: reservation.start, end, reservation: Some(index), floats: Some(ahead) }
            } else {
                ReservedPeriod { start: reservation.start, end, reservation: Some(index), floats: None }
            };
            closed.entry(node.as_str()).or_default().push(period);
        }
    }
    closed
}
