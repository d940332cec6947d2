//! A queue in flat arrays. Nodes are in the order in which Slurm allocates them, and jobs in the order in which the
//! scheduler considers them.

use std::collections::HashMap;

use makespan_core::{CyclePair, CycleRules};

use crate::queue::{FeatureChoice, Features, Memory, Queue, QueueJob, SlurmReservation};
use crate::text::Gres;
use crate::{Node, OptionalLimit, Partition};

use super::alike::SimilarJobs;
use super::bid::JobCandidate;
use super::bits::NodeBits;
use super::counters::{self, Counter};
use super::looks::cycle_rules;
use super::shape::{Levels, PartitionRequest};
use super::times::{FOR_EVER, limit};
use super::why::{self, PermanentReason};

/// A node of the queue, called site in the simulation.
#[derive(Clone, Debug)]
pub(super) struct ForecastNode {
    /// The index of the node in the queue.
    pub node: usize,
    /// The number of the site's kind. All sites of a kind have the same amount of each resource.
    pub kind: usize,
    pub cpus: u32,
    pub memory: u64,
    /// The number of processors that are always allocated together, such as the hardware threads of a core.
    pub grain: u32,
    /// The reserved periods: start, end, and the index of the reservation.
    pub closed: Vec<(i64, i64, usize)>,
}

/// Conditions on some of the nodes of a job: features that a certain number of nodes must have, and nodes that the job
/// must get.
#[derive(Clone, Debug)]
pub(super) struct NodeConditions {
    /// Sites that the job must get. It may get other sites in addition.
    pub required: NodeBits,
    /// The number of required nodes. If a required node is not in the cluster, this number exceeds the number of
    /// required sites.
    pub required_count: usize,
    /// For each site, one bit for each feature in `counts`. A set bit means that the site has the feature.
    pub parts: Vec<u64>,
    /// The job may request a number of nodes with a feature. For each such feature, the requested number of nodes.
    pub counts: Vec<u32>,
}

/// The queue in flat arrays.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub queue: &'a Queue,
    pub sites: Vec<ForecastNode>,
    /// For each kind of site, the index of one site of the kind.
    pub kinds_of_sites: Vec<usize>,
    /// The kinds of generic resources.
    pub kinds: Vec<(String, String)>,
    /// The amounts of generic resources: for each site, the amount of each kind in `kinds`.
    pub gres: Vec<u32>,
    /// For each node of the queue, the index of its site.
    pub site_of: Vec<usize>,
    pub sets: Vec<NodeBits>,
    /// For each set, a range of words outside which all words are zero.
    pub spans: Vec<std::ops::Range<usize>>,
    /// The conditions of jobs that put conditions on some of their nodes.
    pub counted: Vec<NodeConditions>,
    pub partition_sets: Vec<NodeBits>,
    pub shapes: Vec<PartitionRequest>,
    pub levels: Levels,
    /// The bids of all jobs, in the order in which the scheduler considers them.
    pub bids: Vec<JobCandidate>,
    /// For each job, the positions of its bids.
    pub bids_of: Vec<Vec<u32>>,
    pub alike: SimilarJobs,
    pub counters: Vec<Counter>,
    /// For each job of the queue, the counters to which it adds while it runs, with the amounts.
    pub uses: Vec<Vec<(usize, u64)>>,
    /// For each job that can never start, the reason.
    pub never: Vec<Option<PermanentReason>>,
    /// For each job, the latest start that its deadline allows.
    pub latest: Vec<i64>,
    /// True if the cluster allocates memory.
    pub memory: bool,
    /// The parameters of scheduling cycles, in seconds.
    pub cycles: CycleRules,
}

impl<'a> Model<'a> {
    pub(super) fn of(queue: &'a Queue) -> Self {
        let order = queue.nodes_by_weight();
        let mut site_of = vec![0; order.len()];
        for (site, &node) in order.iter().enumerate() {
            site_of[node] = site;
        }
        let kinds = kinds(&queue.nodes);
        let cores = queue.gives_whole_cores();
        let memory = queue.counts_memory();
        let closed = closed(queue);
        let site = |&node: &usize| {
            let of = &queue.nodes[node];
            ForecastNode {
                node,
                kind: 0,
                cpus: of.usable_cpus,
                memory: of.memory.unwrap_or(u64::MAX).saturating_sub(of.kept_memory),
                grain: if cores { of.threads_per_core.max(1) } else { 1 },
                closed: closed.get(of.name.as_str()).cloned().unwrap_or_default(),
            }
        };
        let mut sites: Vec<ForecastNode> = order.iter().map(site).collect();
        let gres: Vec<u32> = sites.iter().flat_map(|site| amounts(&queue.nodes[site.node].gres, &kinds)).collect();
        let kinds_of_sites = tell_apart(&mut sites, &gres, kinds.len());
        let names: HashMap<&str, usize> =
            sites.iter().enumerate().map(|(site, of)| (queue.nodes[of.node].name.as_str(), site)).collect();
        let of_partition = |partition: &Partition| {
            let mut set = NodeBits::new(sites.len());
            let members = partition.nodes.iter().filter_map(|name| names.get(name.as_str()));
            members.for_each(|&site| set.set(site, true));
            set
        };
        let partition_sets = queue.partitions.iter().map(of_partition).collect();
        let never = vec![None; queue.jobs.len()];
        let latest = queue.jobs.iter().map(|job| job.latest_start().filter(|_| job.run.is_none()).unwrap_or(i64::MAX));
        let latest = latest.collect();
        let cycles = cycle_rules(queue, sites.len());
        let mut model = Self {
            queue,
            sites,
            kinds_of_sites,
            kinds,
            gres,
            site_of,
            sets: Vec::new(),
            spans: Vec::new(),
            counted: Vec::new(),
            partition_sets,
            shapes: Vec::new(),
            levels: Levels::of(&[]),
            bids: Vec::new(),
            bids_of: vec![Vec::new(); queue.jobs.len()],
            alike: SimilarJobs::default(),
            counters: Vec::new(),
            uses: Vec::new(),
            never,
            latest,
            memory,
            cycles,
        };
        (model.counters, model.uses) = counters::of(queue);
        model.add_bids();
        model.alike = SimilarJobs::of(queue, &model.uses, &model.counters, &model.bids);
        model.levels = Levels::of(&model.shapes);
        model
    }

    /// Adds a bid for every pending job in each of its partitions, in the scheduler's order.
    fn add_bids(&mut self) {
        let mut interning = Interning::default();
        let (mut users, mut arrays) = (HashMap::new(), HashMap::new());
        let by_name: HashMap<&str, usize> =
            self.queue.partitions.iter().enumerate().map(|(at, partition)| (partition.name.as_str(), at)).collect();
        let queue = self.queue;
        for (index, job) in queue.jobs.iter().enumerate().filter(|(_, job)| job.run.is_none()) {
            let own = |one: &(usize, u64)| (one.0, self.amount(index, one));
            let beyond = || self.uses[index].iter().map(own).find(|one| one.1 > self.counters[one.0].total);
            let late = || (self.latest[index] < queue.now).then(|| why::too_late(job));
            let barred =
                || queue.barred(job).map(|bar| PermanentReason::new("limit", bar.brief, bar.text).with(bar.remedy));
            self.never[index] = why::at_once(job)
                .or_else(barred)
                .or_else(|| Some(why::beyond(&self.counters[beyond()?.0], beyond()?.1)))
                .or_else(late);
            let mut obstacle = None;
            let mut found = false;
            let (next_user, next_array) = (users.len(), arrays.len());
            let user = *users.entry(job.user.as_str()).or_insert(next_user);
            let array = job.array.map(|member| *arrays.entry(member.array).or_insert(next_array));
            for name in &job.partitions {
                let Some(&partition) = by_name.get(name.as_str()) else {
                    obstacle = obstacle.or_else(|| Some(why::no_partition(job, name)));
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
                                has_reservation: self.shapes[shape].reservation.is_some(),
                                submitted: job.submitted.unwrap_or(i64::MIN),
                                priority: job.priority,
                            };
                            self.bids.push(JobCandidate { job: index, shape, partition, pair });
                            found = true;
                        }
                        Err(why) => obstacle = obstacle.or(Some(why)),
                    }
                }
            }
            if !found && self.never[index].is_none() {
                self.never[index] = obstacle;
            }
        }
        let key = |bid: &JobCandidate| {
            let job = &queue.jobs[bid.job];
            let tier = queue.partitions[bid.partition].priority_tier;
            let task = job.array.map_or(0, |member| member.task);
            (std::cmp::Reverse((tier, job.priority)), job.submitted.unwrap_or(i64::MAX), job.id, task)
        };
        self.bids.sort_by_cached_key(key);
        for (position, bid) in self.bids.iter().enumerate() {
            self.bids_of[bid.job].push(position as u32);
        }
    }

    /// Returns the amount that a job adds to a counter when it starts.
    pub(super) fn amount(&self, job: usize, own: &(usize, u64)) -> u64 {
        let minutes = || self.queue.jobs[job].minutes().unwrap_or(365 * 1440);
        if self.counters[own.0].falls { own.1.saturating_mul(minutes()) } else { own.1 }
    }

    /// Returns the request of a job in a partition. If the partition can never satisfy the request, returns the
    /// reason.
    fn shape(
        &mut self,
        job: &QueueJob,
        partition: usize,
        choice: &FeatureChoice,
        interning: &mut Interning,
    ) -> Result<usize, PermanentReason> {
        let queue = self.queue;
        let (request, part) = (&job.request, &queue.partitions[partition]);
        let lasts = limit(job);
        if let OptionalLimit::At(most) = part.max_time
            && job.limit.is_none_or(|limit| limit > most)
        {
            return Err(why::too_long(part, job.limit, most));
        }
        let most = part.max_nodes.value();
        if most.is_some_and(|most| request.min_nodes > most) {
            return Err(why::too_many(part, request.min_nodes));
        }
        let reservation = match &request.reservation {
            None => None,
            Some(name) => {
                let found = queue.reservations.iter().position(|reservation| &reservation.name == name);
                let found = found.ok_or_else(|| why::no_reservation(name))?;
                let kept = &queue.reservations[found];
                if !kept.admits(&job.user, job.account.as_deref()) {
                    return Err(why::not_admitted(kept));
                }
                if lasts > kept.end - kept.start.max(queue.now) {
                    return Err(why::longer_than(kept, queue.now));
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
            counted,
            min_nodes: small(request.min_nodes).max(choice.nodes()),
            max_nodes: max.map(small),
            takes_all: request.max_nodes.is_some_and(|most| most > request.min_nodes),
            cpus: request.cpus,
            per_node: small(request.cpus_per_node),
            memory: self.memory.then_some(request.memory),
            gres: self.wanted(&request.gres),
            whole: request.exclusive || queue.gives_whole_nodes() || is_exclusive(part),
            reservation,
            lasts: request.min_time.and_then(|least| i64::try_from(least).ok()).map_or(lasts, |least| least.min(lasts)),
        };
        if let Some(&known) = interning.shapes.get(&shape) {
            return Ok(known);
        }
        self.check(job, partition, &shape, interning)?;
        interning.shapes.insert(shape.clone(), self.shapes.len());
        self.shapes.push(shape);
        Ok(self.shapes.len() - 1)
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
        let key = SetKey {
            partition,
            features: choice.clone(),
            // If the job puts conditions on only some of its nodes, the set also depends on its number of nodes.
            nodes: if choice.counted.is_empty() { 0 } else { nodes },
            only: only.to_vec(),
            excluded: request.excluded.clone(),
            reservation,
        };
        if let Some(&known) = interning.sets.get(&key) {
            return known;
        }
        let mut set = NodeBits::new(self.sites.len());
        for site in self.partition_sets[partition].iter() {
            let node = &self.queue.nodes[self.sites[site].node];
            let fits = takes_jobs(node, &self.sites[site])
                && choice.serves(&node.features, nodes)
                && !request.excluded.contains(&node.name)
                && (only.is_empty() || only.contains(&node.name))
                && reservation.is_none_or(|kept| self.queue.reservations[kept].nodes.contains(&node.name));
            set.set(site, fits);
        }
        self.spans.push(set.span());
        self.sets.push(set);
        interning.sets.insert(key, self.sets.len() - 1);
        self.sets.len() - 1
    }

    /// Returns the conditions on some of a job's nodes. They state, for each site, its features that have a number of
    /// nodes, and the sites that the job must get.
    fn counted(&mut self, choice: &FeatureChoice, among: &[String], interning: &mut Interning) -> Option<usize> {
        if choice.counted.is_empty() && among.is_empty() {
            return None;
        }
        let key = CountedKey { features: choice.counted.clone(), among: among.to_vec() };
        if let Some(&known) = interning.counted.get(&key) {
            return Some(known);
        }
        let mut required = NodeBits::new(self.sites.len());
        for (at, site) in self.sites.iter().enumerate().filter(|_| !among.is_empty()) {
            required.set(at, among.contains(&self.queue.nodes[site.node].name));
        }
        let parts = |site: &ForecastNode| choice.parts_of(&self.queue.nodes[site.node].features);
        let parts = self.sites.iter().map(parts).collect();
        let counts = choice.counted.iter().map(|part| part.1).collect();
        self.counted.push(NodeConditions { required, required_count: among.len(), parts, counts });
        interning.counted.insert(key, self.counted.len() - 1);
        Some(self.counted.len() - 1)
    }

    /// Moves required sites, and sites that satisfy the conditions, to the front. The order of all other sites is
    /// unchanged. Returns the number of moved sites, or `None` if there are too few suitable sites.
    pub(super) fn put_counted_first<T: Copy>(
        &self,
        shape: &PartitionRequest,
        sites: &mut [T],
        site: impl Fn(T) -> usize,
    ) -> Option<usize> {
        let Some(counted) = shape.counted.map(|at| &self.counted[at]) else { return Some(0) };
        let is_required = |one: T| counted.required.has(site(one));
        let mut required = 0;
        for at in 0..sites.len() {
            if required < counted.required_count && is_required(sites[at]) {
                sites[required..=at].rotate_right(1);
                required += 1;
            }
        }
        if required < counted.required_count {
            return None;
        }
        // The first suitable sites satisfy the conditions on features. Required sites come first in the order, so they
        // are preferred. Required sites that are not among these are moved to the front afterwards.
        let front = makespan_core::put_counted_first(sites, &counted.counts, |one| counted.parts[site(one)])?;
        Some(front + sites[front..].iter().take_while(|&&one| is_required(one)).count())
    }

    /// Checks that the partition has enough nodes for the job if no other job runs.
    fn check(
        &self,
        job: &QueueJob,
        partition: usize,
        shape: &PartitionRequest,
        interning: &mut Interning,
    ) -> Result<(), PermanentReason> {
        let kinds = interning.kinds.entry(shape.set).or_insert_with(|| {
            let mut counts = vec![0_u64; self.kinds_of_sites.len()];
            self.sets[shape.set].iter().for_each(|site| counts[self.sites[site].kind] += 1);
            counts.into_iter().enumerate().filter(|kind| kind.1 > 0).collect()
        });
        let size = |&(kind, count): &(usize, u64)| Some((self.capacity(shape, self.kinds_of_sites[kind])?, count));
        let mut sizes: Vec<(u32, u64)> = kinds.iter().filter_map(size).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let there: u64 = sizes.iter().map(|size| size.1).sum();
        let enough_nodes = there >= u64::from(shape.min_nodes);
        let mut left = shape.max_nodes.map_or(there, u64::from);
        let mut cpus = 0_u64;
        for (of_each, count) in sizes {
            let taken = count.min(left);
            left -= taken;
            cpus = cpus.saturating_add(taken.saturating_mul(of_each.into()));
        }
        let counted = || {
            let sites = self.sets[shape.set].iter().filter(|&site| self.capacity(shape, site).is_some());
            self.put_counted_first(shape, &mut sites.collect::<Vec<_>>(), |site| site).is_some()
        };
        if enough_nodes && cpus >= shape.cpus && (shape.counted.is_none() || counted()) {
            return Ok(());
        }
        Err(self.too_few(job, partition, shape, there as usize))
    }

    /// Returns the required nodes of a job for which `has_room` is false.
    pub(super) fn lacking<'b>(
        &self,
        job: &'b QueueJob,
        shape: &PartitionRequest,
        has_room: impl Fn(usize) -> bool,
    ) -> Vec<&'b str> {
        let Some(counted) = shape.counted.map(|at| &self.counted[at]).filter(|counted| counted.required_count > 0)
        else {
            return Vec::new();
        };
        let set = &self.sets[shape.set];
        let there: Vec<&str> = counted
            .required
            .iter()
            .filter(|&site| set.has(site) && has_room(site))
            .map(|site| self.queue.nodes[self.sites[site].node].name.as_str())
            .collect();
        job.request.required.iter().map(String::as_str).filter(|name| !there.contains(name)).collect()
    }

    /// Returns the number of processors that an empty node can provide to a job. Returns `None` if the node has too
    /// little of another resource that the job requests on each node.
    pub(super) fn capacity(&self, shape: &PartitionRequest, site: usize) -> Option<u32> {
        let of = &self.sites[site];
        let kinds = self.kinds.len();
        self.room(shape, site, of.cpus, of.memory, &self.gres[site * kinds..(site + 1) * kinds])
    }

    /// Returns the number of processors that a node with these free resources can provide to a job. Returns `None` if
    /// the node has too little of another resource that the job requests on each node.
    pub(super) fn room(
        &self,
        shape: &PartitionRequest,
        site: usize,
        cpus: u32,
        memory: u64,
        gres: &[u32],
    ) -> Option<u32> {
        let of = &self.sites[site];
        if shape.whole && cpus < of.cpus {
            return None;
        }
        let cpus = match shape.memory {
            Some(Memory::PerCpu(bytes)) if bytes > 0 => {
                cpus.min(u32::try_from(memory / bytes).unwrap_or(u32::MAX)) / of.grain * of.grain
            }
            Some(Memory::PerNode(bytes)) if memory < bytes => return None,
            Some(Memory::Whole) if memory < of.memory => return None,
            _ => cpus,
        };
        let enough = |(kinds, count): &(Vec<usize>, u32)| kinds.iter().map(|&kind| gres[kind]).sum::<u32>() >= *count;
        (cpus >= shape.cpus_of_node() && shape.gres.iter().all(enough)).then_some(cpus)
    }

    /// For each requested generic resource, returns the kinds that satisfy the request, and the amount. If no node has
    /// a suitable kind, the list of kinds is empty.
    fn wanted(&self, gres: &[Gres]) -> Vec<(Vec<usize>, u32)> {
        let of = |gres: &Gres| {
            let fits =
                |(name, kind): &(String, String)| *name == gres.name && (gres.kind.is_empty() || *kind == gres.kind);
            let kinds = (0..self.kinds.len()).filter(|&kind| fits(&self.kinds[kind])).collect();
            (kinds, u32::try_from(gres.count).unwrap_or(u32::MAX))
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
    /// For each set, the number of sites of each kind.
    kinds: HashMap<usize, Vec<(usize, u64)>>,
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
}

/// Numbers the kinds of sites. Two sites are of one kind if they have equal amounts of every resource. Returns one
/// site of each kind.
fn tell_apart(sites: &mut [ForecastNode], gres: &[u32], kinds: usize) -> Vec<usize> {
    let mut known: HashMap<(u32, u64, u32, &[u32]), usize> = HashMap::new();
    let mut first = Vec::new();
    for (at, site) in sites.iter_mut().enumerate() {
        let key = (site.cpus, site.memory, site.grain, &gres[at * kinds..(at + 1) * kinds]);
        site.kind = *known.entry(key).or_insert_with(|| {
            first.push(at);
            first.len() - 1
        });
    }
    first
}

fn is_exclusive(partition: &Partition) -> bool {
    partition.record.get("OverSubscribe").is_some_and(|text| text.starts_with("EXCLUSIVE"))
}

/// Returns true if a node accepts jobs now, or after the end of a reservation that makes it unavailable.
pub(super) fn takes_jobs(node: &Node, site: &ForecastNode) -> bool {
    if node.state.takes_jobs() {
        return true;
    }
    let mut state = node.state.clone();
    state.flags.retain(|flag| flag != "MAINTENANCE");
    !site.closed.is_empty() && state.takes_jobs()
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
pub(super) fn amounts(gres: &[Gres], kinds: &[(String, String)]) -> Vec<u32> {
    let mut amounts = vec![0_u32; kinds.len()];
    for one in gres.iter().filter(|gres| !gres.shared) {
        let exact = kinds.iter().position(|(name, kind)| *name == one.name && *kind == one.kind);
        let found = exact.or_else(|| kinds.iter().position(|(name, _)| *name == one.name));
        if let Some(kind) = found {
            amounts[kind] = amounts[kind].saturating_add(u32::try_from(one.count).unwrap_or(u32::MAX));
        }
    }
    amounts
}

/// Returns the reserved periods of each node.
fn closed(queue: &Queue) -> HashMap<&str, Vec<(i64, i64, usize)>> {
    let mut closed: HashMap<&str, Vec<(i64, i64, usize)>> = HashMap::new();
    let ahead = |reservation: &&SlurmReservation| reservation.end > queue.now;
    for reservation in queue.reservations.iter().filter(ahead) {
        let index = queue.reservations.iter().position(|other| std::ptr::eq(other, reservation)).unwrap_or(0);
        let end = reservation.end.min(queue.now.saturating_add(FOR_EVER));
        for node in &reservation.nodes {
            closed.entry(node.as_str()).or_default().push((reservation.start, end, index));
        }
    }
    closed
}
