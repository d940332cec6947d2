//! The used and the free resources during a simulation.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::best_fit::ChoiceBuffers;
use super::bits::NodeBits;
use super::counts::ProcessorCounts;
use super::ends::{EndKey, RunningEnds};
use super::model::ClusterModel;
use super::plan_events::PlanEvents;
use super::usage::{NodeReservation, RunningUsage};

/// The resources of a site that become free at the assumed end of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssumedEnd {
    pub key: EndKey,
    pub cpus: u32,
    pub memory: u64,
}

/// Cost of allocating and releasing a node, as a number of examined nodes.
const NODE_AS_LOOKS: u64 = 10;
/// Number of words of a set of nodes that together take as long to read as one node takes to examine.
pub(super) const WORDS_AS_A_LOOK: u64 = 4;

/// The free resources of a cluster, the running jobs, and the reservations for pending jobs.
#[derive(Clone, Debug)]
pub struct World {
    /// The nodes and jobs.
    pub model: Arc<ClusterModel>,
    /// The current instant.
    pub now: i64,
    pub(super) cpus: Vec<u32>,
    pub(super) memory: Vec<u64>,
    pub(super) gres: Vec<u64>,
    /// For each level of processors and of memory, the sites that have at least this amount free.
    pub(super) with_cpus: Vec<NodeBits>,
    pub(super) with_memory: Vec<NodeBits>,
    /// Sites on which nothing runs.
    pub(super) idle: NodeBits,
    running: Vec<Option<RunningUsage>>,
    /// The assumed ends of all running jobs.
    pub(super) ends: RunningEnds,
    /// Indices in `running` that are free for other jobs.
    vacant: Vec<usize>,
    /// For each site, the assumed ends of its running jobs, in ascending order.
    pub(super) on: Vec<Vec<AssumedEnd>>,
    /// For each site, the first assumed end of a running job. If no job runs there, a value later than all instants.
    pub(super) first_end: Vec<i64>,
    /// For each site, its reservations in the current cycle, in ascending order.
    pub(super) kept: Vec<Vec<NodeReservation>>,
    touched: Vec<usize>,
    /// The starts and ends of the reservations in `kept`.
    pub(super) plans: PlanEvents,
    /// True while searches ignore reserved periods of nodes.
    pub(super) ignores_closed: Cell<bool>,
    /// Sites that are reserved at a later instant, for a pending job or for a period.
    pub(super) taken_later: NodeBits,
    /// For each counter, the used amount. Unused for counters of remaining minutes.
    pub(super) used: Vec<u64>,
    /// Two numbers for each counter of remaining minutes. The first is the total amount that running jobs hold. The
    /// second is the sum, over these jobs, of the amount times the end of the job, after the beginning of the
    /// simulation.
    pub(super) falling: Vec<(u64, i128)>,
    /// Number of nodes that were examined for jobs. It measures the cost independently of the machine.
    pub(super) looked: Cell<u64>,
    /// Lists that each choice of nodes uses.
    pub(super) buffers: RefCell<ChoiceBuffers>,
    /// The free processors, if the platform only counts processors.
    pub(super) counts: Option<ProcessorCounts>,
}

impl World {
    /// Returns the world in which no job runs.
    pub fn new(model: Arc<ClusterModel>) -> Self {
        let sites = model.sites.len();
        let mut world = Self {
            now: model.begins,
            cpus: model.sites.iter().map(|site| site.cpus).collect(),
            memory: model.sites.iter().map(|site| site.memory).collect(),
            gres: model.gres.clone(),
            with_cpus: vec![NodeBits::new(sites); model.levels.cpus.len()],
            with_memory: vec![NodeBits::new(sites); model.levels.memory.len()],
            idle: NodeBits::new(sites),
            running: Vec::new(),
            ends: RunningEnds::default(),
            vacant: Vec::new(),
            on: vec![Vec::new(); sites],
            first_end: vec![i64::MAX; sites],
            kept: vec![Vec::new(); sites],
            touched: Vec::new(),
            plans: PlanEvents::default(),
            ignores_closed: Cell::new(false),
            taken_later: NodeBits::new(sites),
            used: model.counters.iter().map(|counter| counter.used).collect(),
            falling: vec![(0, 0); model.counters.len()],
            looked: Cell::new(0),
            buffers: RefCell::default(),
            counts: (!model.cells.is_empty()).then(|| ProcessorCounts::new(&model.cells, &model.gres, model.begins)),
            model,
        };
        let model = world.model.clone();
        for (site, of) in model.sites.iter().enumerate() {
            world.idle.set(site, true);
            world.taken_later.set(site, !of.closed.is_empty());
            for (&level, set) in model.levels.cpus.iter().zip(&mut world.with_cpus) {
                set.set(site, of.cpus >= level);
            }
            for (&level, set) in model.levels.memory.iter().zip(&mut world.with_memory) {
                set.set(site, of.memory >= level);
            }
        }
        world
    }

    /// Returns the number of nodes that were examined for jobs. It measures the cost independently of the machine.
    pub fn looked(&self) -> u64 {
        self.looked.get()
    }

    /// Returns a running job by its number.
    pub fn running(&self, number: usize) -> Option<&RunningUsage> {
        self.running.get(number)?.as_ref()
    }

    /// Returns the assumed end of the running job at a position. If the job still runs after its end, it is assumed to end
    /// a second after `now`.
    pub(super) fn end_of(&self, key: EndKey) -> i64 {
        key.0.max(self.now + self.model.tick())
    }

    /// Advances to an instant.
    pub(super) fn advance(&mut self, now: i64) {
        self.now = now;
        if let Some(counts) = &mut self.counts {
            counts.forget(now);
        }
    }

    /// Extends the arrays after jobs and limits have been added to the model.
    pub(super) fn grow(&mut self) {
        let counters = &self.model.counters[self.used.len()..];
        self.used.extend(counters.iter().map(|counter| counter.used));
        self.falling.resize(self.used.len(), (0, 0));
    }

    /// Starts a job. Returns its number. A job that already runs when the simulation begins may hold more than its
    /// node has.
    pub(super) fn take(&mut self, running: RunningUsage) -> usize {
        let number = self.vacant.pop().unwrap_or(self.running.len());
        self.looked.set(self.looked.get() + running.holds.len() as u64 * NODE_AS_LOOKS);
        if let Some(counts) = &mut self.counts {
            counts.take(&running, self.now);
        }
        let only_counts = self.counts.is_some();
        for hold in running.holds.iter().filter(|_| !only_counts) {
            let site = hold.site as usize;
            let (cpus, memory) = (self.cpus[site], self.memory[site]);
            self.have(site, cpus.saturating_sub(hold.cpus), memory.saturating_sub(hold.memory));
            for &(kind, count) in &hold.gres {
                let left = &mut self.gres[site * self.model.kinds + usize::from(kind)];
                *left = left.saturating_sub(count);
            }
            let end = AssumedEnd { key: running.key(number), cpus: hold.cpus, memory: hold.memory };
            let place = self.on[site].partition_point(|other| other.key <= end.key);
            self.on[site].insert(place, end);
            self.first_end[site] = self.on[site][0].key.0;
            self.idle.set(site, false);
        }
        if number == self.running.len() {
            self.running.push(None);
        }
        self.ends.add(&running, number);
        self.running[number] = Some(running);
        number
    }

    /// Ends a job and releases its resources.
    pub(super) fn give_back(&mut self, number: usize) -> Option<RunningUsage> {
        let running = self.running.get_mut(number)?.take()?;
        self.ends.remove(&running, number);
        self.vacant.push(number);
        let only_counts = self.counts.is_some();
        if let Some(counts) = &mut self.counts {
            counts.give_back(&running, self.now);
        }
        let kinds = self.model.kinds;
        for hold in running.holds.iter().filter(|_| !only_counts) {
            let site = hold.site as usize;
            let (all_cpus, all_memory) = (self.model.sites[site].cpus, self.model.sites[site].memory);
            self.on[site].retain(|end| end.key.2 as usize != number);
            self.first_end[site] = self.on[site].first().map_or(i64::MAX, |end| end.key.0);
            self.idle.set(site, self.on[site].is_empty());
            if self.on[site].is_empty() {
                // Jobs may hold more than their node has. But the free resources of a node never
                // exceed its resources.
                self.have(site, all_cpus, all_memory);
                self.gres[site * kinds..(site + 1) * kinds]
                    .copy_from_slice(&self.model.gres[site * kinds..(site + 1) * kinds]);
            } else {
                let cpus = (self.cpus[site] + hold.cpus).min(all_cpus);
                self.have(site, cpus, self.memory[site].saturating_add(hold.memory).min(all_memory));
                for &(kind, count) in &hold.gres {
                    let at = site * kinds + usize::from(kind);
                    self.gres[at] = (self.gres[at] + count).min(self.model.gres[at]);
                }
            }
        }
        Some(running)
    }

    /// Runs a search that ignores reserved periods of nodes.
    pub(super) fn ignoring_closed<T>(&self, search: impl FnOnce() -> T) -> T {
        self.ignores_closed.set(true);
        let found = search();
        self.ignores_closed.set(false);
        found
    }

    /// Sets the free resources of a site.
    fn have(&mut self, site: usize, cpus: u32, memory: u64) {
        let levels = &self.model.levels;
        change(&levels.cpus, &mut self.with_cpus, site, std::mem::replace(&mut self.cpus[site], cpus), cpus);
        change(&levels.memory, &mut self.with_memory, site, std::mem::replace(&mut self.memory[site], memory), memory);
    }

    /// Discards all reservations for pending jobs.
    pub(super) fn forget_kept(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.begin_plans();
        }
        self.plans.clear();
        for site in self.touched.drain(..) {
            self.kept[site].clear();
            self.taken_later.set(site, !self.model.sites[site].closed.is_empty());
        }
    }

    /// Returns the jobs that the last backfill cycle planned, with their starts and their nodes in ascending order.
    pub fn plans(&self) -> Vec<(usize, i64, Vec<usize>)> {
        let mut plans: BTreeMap<(i64, usize), Vec<usize>> = BTreeMap::new();
        for (site, kept) in self.kept.iter().enumerate() {
            kept.iter().for_each(|kept| plans.entry((kept.from, kept.job)).or_default().push(site));
        }
        plans.into_iter().map(|((from, job), sites)| (job, from, sites)).collect()
    }

    /// Reserves sites. If a rounded end is after the start of the next reservation of a site, the new reservation ends at
    /// this start.
    pub(super) fn keep(&mut self, sites: &[usize], kept: NodeReservation) {
        for &site in sites {
            let others = &mut self.kept[site];
            let place = others.partition_point(|other| other.from < kept.from);
            debug_assert!(others[..place].last().is_none_or(|other| other.until <= kept.from));
            let until = others.get(place).map_or(kept.until, |next| kept.until.min(next.from));
            debug_assert!(kept.from < until);
            others.insert(place, NodeReservation { until, ..kept });
            self.plans.add(site, kept.from, until);
            self.touched.push(site);
            self.taken_later.set(site, true);
        }
        self.plans.divide(kept.from, kept.until);
    }
}

/// Updates the sets of sites after a value of `site` changed. For each level, one set contains the sites with a value
/// of at least this level.
fn change<T: Ord + Copy>(levels: &[T], sets: &mut [NodeBits], site: usize, before: T, now: T) {
    let reached = |value: &T| levels.partition_point(|level| level <= value);
    let (before, now) = (reached(&before), reached(&now));
    sets[before.min(now)..before.max(now)].iter_mut().for_each(|set| set.set(site, now > before));
}
