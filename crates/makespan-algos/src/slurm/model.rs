//! The nodes and jobs of a cluster in flat arrays. Nodes are in the order in which Slurm allocates them.

use std::cmp::Reverse;
use std::collections::HashMap;

use makespan_core::{CyclePair, CycleRules, FeatureChoice, NodePlace};

use super::bits::NodeBits;
use super::counter::{LimitCounter, LimitUse};
use super::counts::ProcessorCell;
use super::request::{Levels, Memory, PartitionRequest};

/// A node of a cluster, called site in the simulation.
#[derive(Clone, Debug)]
pub struct ModelNode {
    /// Number of processors.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// The number of processors that are always allocated together, such as the hardware threads of a core.
    pub grain: u32,
    /// The place in the cluster's list of nodes.
    pub place: NodePlace,
    /// The reserved or unavailable periods.
    pub closed: Vec<ReservedPeriod>,
}

/// A period in which a node is reserved or unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedPeriod {
    /// The first instant of the period.
    pub start: i64,
    /// The first instant after the period.
    pub end: i64,
    /// The index of the reservation in [`ClusterModel::reservations`]. `None` if no job may use the node.
    pub reservation: Option<usize>,
    /// If the reservation moves with time, the time from each instant to its start. Jobs that take longer than this
    /// time cannot use the node.
    pub floats: Option<i64>,
}

/// Conditions on some of the nodes of a job: features that a certain number of nodes must have, and nodes that the job
/// must get.
#[derive(Clone, Debug)]
pub struct NodeConditions {
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

impl NodeConditions {
    /// Returns the conditions of a choice of features and of required nodes. `required` contains the number of required
    /// nodes, and a function that returns true for required sites. `features` returns the features of a site. Returns
    /// `None` if there are no conditions.
    pub fn of<'a, S: AsRef<str> + 'a>(
        sites: usize,
        choice: &FeatureChoice,
        required: (usize, impl Fn(usize) -> bool),
        features: impl Fn(usize) -> &'a [S],
    ) -> Option<Self> {
        let (required_count, is_required) = required;
        if choice.counted.is_empty() && required_count == 0 {
            return None;
        }
        let mut required = NodeBits::new(sites);
        (0..sites).for_each(|site| required.set(site, required_count > 0 && is_required(site)));
        let parts = (0..sites).map(|site| choice.parts_of(features(site))).collect();
        Some(Self { required, required_count, parts, counts: choice.counted.iter().map(|part| part.1).collect() })
    }
}

/// A job, a partition in which the job may start, and one way to satisfy the features that it requests.
#[derive(Clone, Copy, Debug)]
pub struct JobCandidate {
    /// The index of the job in [`ClusterModel::jobs`].
    pub job: usize,
    /// The index of the request in [`ClusterModel::shapes`].
    pub shape: usize,
    /// The index of the partition.
    pub partition: usize,
    /// The index in [`ClusterModel::groups`] of the limits that apply.
    pub group: usize,
    /// Candidates of a higher tier come before all candidates of lower tiers.
    pub tier: i64,
    /// The order of candidates with equal tiers and priorities. Smaller values come first.
    pub order: (i64, u64, u64),
    /// The data for scheduling cycles.
    pub pair: CyclePair,
}

/// The sort key of a candidate. Candidates with smaller keys come first.
pub(super) type CandidateKey = (Reverse<(i64, u64)>, (i64, u64, u64), u32);

impl JobCandidate {
    /// Returns the sort key of this candidate, which has the index `bid`, if its job has the given priority.
    pub(super) fn key(&self, priority: u64, bid: u32) -> CandidateKey {
        (Reverse((self.tier, priority)), self.order, bid)
    }
}

/// A job of the model.
#[derive(Clone, Debug, Default)]
pub struct ModelJob {
    /// Time limit. If a job accepts less time, the times in its requests are shorter.
    pub limit: i64,
    /// The deadline, if the job has one.
    pub deadline: Option<i64>,
    /// The position in the list of jobs ([`RunningUsage::rank`](super::RunningUsage::rank)).
    pub rank: u64,
    /// The indices of the candidates of the job, in ascending order.
    pub bids: Vec<u32>,
    /// The jobs that must start together with this job, including this job. Empty for most jobs.
    pub team: Vec<usize>,
}

/// The nodes and jobs of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterModel {
    /// The instant at which the simulation begins.
    pub begins: i64,
    /// The length of a minute in the unit of all times. Granted time limits are whole minutes.
    pub minute: i64,
    /// The time from the last full minute, on the clock of the cluster, to the instant 0.
    pub second: i64,
    /// The nodes.
    pub sites: Vec<ModelNode>,
    /// For each site, the number of its kind. All sites of a kind have the same amount of each resource.
    kind_of: Vec<usize>,
    /// For each site, the number of its sequence of adjacent nodes of equal weight.
    run_of: Vec<u32>,
    /// For each kind of site, the index of one site of the kind.
    kinds_of_sites: Vec<usize>,
    /// Number of kinds of generic resources.
    pub kinds: usize,
    /// The amounts of generic resources: for each site, the amount of each kind.
    pub gres: Vec<u64>,
    /// Sets of nodes that jobs may use.
    pub sets: Vec<NodeBits>,
    /// For each set, a range of words outside which all words are zero.
    pub(super) spans: Vec<std::ops::Range<usize>>,
    /// For each set, the number of sites of each kind that it contains.
    kinds_of_sets: Vec<Vec<(usize, u64)>>,
    /// The conditions of jobs that put conditions on some of their nodes.
    pub counted: Vec<NodeConditions>,
    /// If the platform only counts processors, the processors of its single node. Empty for a platform of nodes.
    pub cells: Vec<ProcessorCell>,
    /// The nodes of each partition.
    pub partitions: Vec<NodeBits>,
    /// For each partition, whether it starts jobs.
    pub are_up: Vec<bool>,
    /// The start and the end of each reservation.
    pub reservations: Vec<(i64, i64)>,
    /// The requests of jobs.
    pub shapes: Vec<PartitionRequest>,
    /// The amounts by which sites are grouped.
    pub(super) levels: Levels,
    /// The jobs.
    pub jobs: Vec<ModelJob>,
    /// The candidates of all jobs.
    pub bids: Vec<JobCandidate>,
    /// For each candidate, the index of the next candidate with another partition or another group of limits. Empty if
    /// the candidates are not sorted.
    next: Vec<u32>,
    /// The limited quantities.
    pub counters: Vec<LimitCounter>,
    /// For each group of jobs with equal limits, the counters to which each job of the group adds while it runs.
    pub groups: Vec<Vec<LimitUse>>,
    /// The parameters of scheduling cycles.
    pub cycles: CycleRules,
}

impl ClusterModel {
    /// Returns a model without jobs. `gres` contains, for each site, the amount of each of `kinds` generic resources.
    /// `minute` is the length of a minute in the unit of all times.
    pub fn new(sites: Vec<ModelNode>, (kinds, gres): (usize, Vec<u64>), begins: i64, minute: i64) -> Self {
        let (kind_of, kinds_of_sites) = tell_apart(&sites, &gres, kinds);
        Self {
            begins,
            minute,
            second: 0,
            run_of: runs(&sites),
            sites,
            kind_of,
            kinds_of_sites,
            kinds,
            gres,
            sets: Vec::new(),
            spans: Vec::new(),
            kinds_of_sets: Vec::new(),
            counted: Vec::new(),
            cells: Vec::new(),
            partitions: Vec::new(),
            are_up: Vec::new(),
            reservations: Vec::new(),
            shapes: Vec::new(),
            levels: Levels::of(&[]),
            jobs: Vec::new(),
            bids: Vec::new(),
            next: Vec::new(),
            counters: Vec::new(),
            groups: Vec::new(),
            cycles: CycleRules::usual(minute / 60),
        }
    }

    /// Adds a set of nodes. Returns its index.
    pub fn add_set(&mut self, set: NodeBits) -> usize {
        let mut counts = vec![0_u64; self.kinds_of_sites.len()];
        set.iter().for_each(|site| counts[self.kind_of[site]] += 1);
        self.kinds_of_sets.push(counts.into_iter().enumerate().filter(|kind| kind.1 > 0).collect());
        self.spans.push(set.span());
        self.sets.push(set);
        self.sets.len() - 1
    }

    /// Adds a candidate of a job.
    pub fn add_bid(&mut self, bid: JobCandidate) {
        self.jobs[bid.job].bids.push(self.bids.len() as u32);
        self.bids.push(bid);
    }

    /// Groups the sites by the amounts that the requests ask for. Without this call, the model is correct but slower.
    pub fn set_levels(&mut self) {
        self.levels = Levels::of(&self.shapes);
    }

    /// Sorts the candidates of all jobs in the order in which the scheduler considers them. Call this method when all
    /// jobs are known.
    pub fn sort_bids(&mut self) {
        let mut bids = std::mem::take(&mut self.bids);
        bids.sort_by_key(|bid| bid.key(bid.pair.priority, 0));
        self.jobs.iter_mut().for_each(|job| job.bids.clear());
        bids.into_iter().for_each(|bid| self.add_bid(bid));
        let bids = &self.bids;
        self.next = vec![bids.len() as u32; bids.len()];
        for at in (1..bids.len()).rev() {
            let (before, bid) = (&bids[at - 1], &bids[at]);
            let is_alike = (before.partition, before.group) == (bid.partition, bid.group);
            self.next[at - 1] = if is_alike { self.next[at] } else { at as u32 };
        }
    }

    /// Returns the index of the next candidate with another partition or another group of limits. Returns `None` if the
    /// candidates are not sorted.
    pub(super) fn next_group(&self, bid: u32) -> Option<u32> {
        self.next.get(bid as usize).copied()
    }

    /// Rounds the end of a plan up to the resolution of the cycles.
    pub(super) fn rounded(&self, until: i64) -> i64 {
        let unit = self.cycles.bf_resolution;
        let ahead = until.saturating_sub(self.begins);
        self.begins.saturating_add(ahead.saturating_add(unit - 1) / unit * unit)
    }

    /// Returns the length of a second, the precision of Slurm's clock.
    pub(super) fn tick(&self) -> i64 {
        (self.minute / 60).max(1)
    }

    /// Returns true if two sites are adjacent nodes of equal weight, in this order.
    pub(super) fn are_adjacent(&self, one: usize, next: usize) -> bool {
        next == one + 1 && self.run_of[one] == self.run_of[next]
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

    /// Checks that there are enough nodes for a request if no job runs.
    ///
    /// # Errors
    /// The number of nodes that are large enough for the request.
    pub fn check(&self, shape: &PartitionRequest) -> Result<(), usize> {
        let size = |&(kind, count): &(usize, u64)| Some((self.capacity(shape, self.kinds_of_sites[kind])?, count));
        let mut sizes: Vec<(u32, u64)> = self.kinds_of_sets[shape.set].iter().filter_map(size).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let there: u64 = sizes.iter().map(|size| size.1).sum();
        let enough_nodes = there >= u64::from(shape.min_nodes);
        let mut left = shape.max_nodes.map_or(there, u64::from);
        let mut cpus = 0_u64;
        // The job gets its required sites even if other sites are larger.
        let set = &self.sets[shape.set];
        let required = shape.counted.into_iter().flat_map(|at| self.counted[at].required.iter());
        for room in required.filter(|&site| set.has(site)).filter_map(|site| self.capacity(shape, site)) {
            if let Some(own) = sizes.iter_mut().find(|own| own.0 == room && own.1 > 0) {
                own.1 -= 1;
                left = left.saturating_sub(1);
                cpus = cpus.saturating_add(room.into());
            }
        }
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
            Ok(())
        } else {
            Err(there as usize)
        }
    }

    /// Returns the number of processors that an empty node can provide to a job. Returns `None` if the node has too
    /// little of another resource that the job requests on each node.
    pub fn capacity(&self, shape: &PartitionRequest, site: usize) -> Option<u32> {
        let of = &self.sites[site];
        self.room(shape, site, of.cpus, of.memory, &self.gres[site * self.kinds..(site + 1) * self.kinds])
    }

    /// Returns the number of processors that a node with these free resources can provide to a job. Returns `None` if
    /// the node has too little of another resource that the job requests on each node.
    pub(super) fn room(
        &self,
        shape: &PartitionRequest,
        site: usize,
        cpus: u32,
        memory: u64,
        gres: &[u64],
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
        let enough = |(kinds, count): &(Vec<usize>, u64)| kinds.iter().map(|&kind| gres[kind]).sum::<u64>() >= *count;
        if !shape.gres.iter().all(enough) {
            return None;
        }
        let cpus = shape.with_shares(cpus, |kind| gres[kind]);
        (cpus >= shape.cpus_of_node()).then_some(cpus)
    }
}

/// Numbers the runs of adjacent nodes of equal weight. Returns the run of each site.
fn runs(sites: &[ModelNode]) -> Vec<u32> {
    let mut run = 0;
    let follows = |one: NodePlace, next: NodePlace| one.weight == next.weight && one.index + 1 == next.index;
    let number = |at: usize| {
        run += u32::from(at > 0 && !follows(sites[at - 1].place, sites[at].place));
        run
    };
    (0..sites.len()).map(number).collect()
}

/// Numbers the kinds of sites. Two sites are of one kind if they have equal amounts of every resource. Returns the kind
/// of each site, and one site of each kind.
fn tell_apart(sites: &[ModelNode], gres: &[u64], kinds: usize) -> (Vec<usize>, Vec<usize>) {
    let mut known: HashMap<(u32, u64, u32, &[u64]), usize> = HashMap::new();
    let mut first = Vec::new();
    let kind = |(at, site): (usize, &ModelNode)| {
        let key = (site.cpus, site.memory, site.grain, &gres[at * kinds..(at + 1) * kinds]);
        *known.entry(key).or_insert_with(|| {
            first.push(at);
            first.len() - 1
        })
    };
    let kind_of = sites.iter().enumerate().map(kind).collect();
    (kind_of, first)
}
