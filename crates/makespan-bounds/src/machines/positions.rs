//! Assignment of jobs to positions on machines that minimises the sum of completion times.

use makespan_core::{Instance, JobId, Objective, Profile};
use makespan_verify::proof::PositionPrices;
use makespan_verify::{Bound, Proof};

use super::taking_part;
use crate::Clock;

/// Maximum number of costs that the search examines. This takes about a second.
const MAX_LOOKS: u64 = 200_000_000;
const NOBODY: u32 = u32::MAX;

/// An assignment of jobs to processors with the least sum of completion times, and prices that prove this sum.
#[derive(Clone, Debug)]
pub struct Positions {
    /// For each job, its processor. `None` if the search reached a limit before it had assigned all jobs.
    pub processors: Option<Vec<u32>>,
    /// The prices of positions. They always prove a valid bound. The bound is the optimum if all jobs are assigned and
    /// released together, and if each processor stays available after its first available instant.
    pub prices: PositionPrices,
}

impl Positions {
    /// Returns the bound on an objective from the prices, or `None` if positions do not support the objective.
    pub fn bound(&self, instance: &Instance, objective: Objective) -> Option<Bound> {
        Bound::proved_by(objective, Proof::PositionPrices(self.prices.clone()), instance).ok()
    }
}

/// Returns true if positions support an objective: the mean flow, or the weighted completion if all jobs have equal
/// weights and none is a bag.
pub fn are_meant(instance: &Instance, objective: Objective) -> bool {
    let jobs = instance.jobs();
    let alike = || jobs.iter().all(|job| job.weight == jobs[0].weight) && !instance.has_bags();
    let has_weight = || jobs.first().is_some_and(|job| job.weight.millionths() > 0);
    objective.is_sum_of_ends() && (!objective.is_weighted() || has_weight() && alike())
}

/// Assigns the jobs to positions on processors. A bag is treated as one job. Positions are numbered from the end: the
/// last job of a processor has position 1. The cost of a job at a position is the instant from which the processor is
/// available, plus the position times the run time of the job.
///
/// Source: W. A. Horn, Operations Research 21, 1973, DOI 10.1287/opre.21.3.846; J. Bruno, E. G. Coffman, R. Sethi,
/// Comm. ACM 17, 1974, DOI 10.1145/361082.361064; shortest augmenting paths as in R. Jonker, A. Volgenant, Computing
/// 38, 1987, DOI 10.1007/BF02278710. Deviation: the search examines only the first free position of each processor,
/// because this position costs least. Assumptions: sequential jobs. Guarantee: optimal if all jobs are released
/// together on processors that stay available once they are available. Complexity for n jobs on m processors: time
/// O(n^2 (n + m)) and memory O(n + m). The search stops after it has examined `MAX_LOOKS` costs.
pub fn positions(instance: &Instance) -> Positions {
    positions_by(instance, &Clock::ENDLESS)
}

/// Assigns jobs to positions as [`positions`] does, but stops when `clock` expires.
pub fn positions_by(instance: &Instance, clock: &Clock) -> Positions {
    let nodes: Vec<usize> = (0..instance.processors()).map(|id| instance.platform().node_of(id)).collect();
    let first = i128::from(instance.first_release().ticks());
    let mut ready = vec![0; nodes.len()];
    for (node, own) in taking_part::ready_of_each(instance).into_iter().enumerate() {
        for (id, at) in instance.platform().processors_of(node).iter().zip(own) {
            ready[id as usize] = first + i128::from(at);
        }
    }
    let mut matching = Matching::new(Costs { instance, nodes, ready });
    // Add long jobs first. Long jobs are among the last jobs of their processors. So jobs that are added later rarely
    // change the positions of the long jobs, and paths stay short.
    let mut order: Vec<u32> = (0..instance.jobs().len() as u32).collect();
    order.sort_by_key(|&job| (std::cmp::Reverse(instance.profile_of(JobId(job)).shortest()), job));
    let done = order.into_iter().all(|job| !clock.is_over() && matching.add(job));
    let mut prices = vec![Vec::new(); matching.costs.nodes.len()];
    for (processor, slots) in matching.of.iter().enumerate() {
        prices[processor] = slots.iter().map(|&slot| i64::try_from(matching.slots[slot].price).unwrap_or(0)).collect();
    }
    let processors = done.then(|| {
        let mut processors = vec![0; instance.jobs().len()];
        for slot in &matching.slots {
            processors[slot.job as usize] = slot.processor;
        }
        processors
    });
    Positions { processors, prices: PositionPrices { prices } }
}

/// The costs of jobs at positions.
struct Costs<'a> {
    instance: &'a Instance,
    nodes: Vec<usize>,
    ready: Vec<i128>,
}

impl Costs<'_> {
    fn fill_row(&self, job: u32, row: &mut [i64]) {
        let task = self.instance.job(JobId(job)).first();
        let mut last = (usize::MAX, 0);
        for (time, &node) in row.iter_mut().zip(&self.nodes) {
            if last.0 != node {
                last = (node, self.instance.time_on(task, node).unwrap_or(Profile::CANNOT_RUN).ticks());
            }
            *time = last.1;
        }
    }

    fn of(&self, row: &[i64], processor: u32, position: u32) -> Option<i128> {
        let time = row[processor as usize];
        let able = time < Profile::CANNOT_RUN.ticks();
        able.then(|| self.ready[processor as usize] + i128::from(time) * i128::from(position))
    }
}

/// A position that is assigned to a job.
struct Slot {
    processor: u32,
    /// The position, counted from the end of the processor. The last job has position 1.
    position: u32,
    job: u32,
    /// The price of the position, which is never negative.
    price: i128,
}

/// An assignment of jobs to positions with the least total cost, and the prices of the positions. Each job has a
/// position with the least sum of cost and price for this job.
struct Matching<'a> {
    costs: Costs<'a>,
    slots: Vec<Slot>,
    /// For each processor, its slots in ascending order of positions.
    of: Vec<Vec<usize>>,
    looks: u64,
}

/// The state of a position in the search that adds a job. The position is a slot, or the first free position of a
/// processor.
#[derive(Clone, Copy)]
struct SlotState {
    /// The length of the shortest path found so far to the position.
    distance: i128,
    /// The slot before the position on this path. `None` if the path begins with the job that is added.
    from: Option<usize>,
    is_done: bool,
}

impl Matching<'_> {
    fn new(costs: Costs<'_>) -> Matching<'_> {
        let of = vec![Vec::new(); costs.nodes.len()];
        Matching { costs, slots: Vec::new(), of, looks: 0 }
    }

    /// Adds a job by a shortest augmenting path. Returns false if the search would examine more than `MAX_LOOKS` costs.
    ///
    /// Each step of a path moves a job to another position. The length of the step is the increase of the sum of cost
    /// and price for this job. The distance of a position is the length of the shortest path to this position. No step
    /// has a negative length, because every job already has its cheapest position.
    fn add(&mut self, job: u32) -> bool {
        let (used, processors) = (self.slots.len(), self.of.len());
        let unknown = SlotState { distance: i128::MAX, from: None, is_done: false };
        let mut reached = vec![unknown; used + processors];
        let mut row = vec![0; processors];
        // The job that moves next, the slot that it leaves, and the distance of this slot.
        let (mut mover, mut at, mut distance) = (job, None, 0);
        let (end, processor) = loop {
            self.looks += (used + processors) as u64;
            if self.looks > MAX_LOOKS {
                return false;
            }
            self.costs.fill_row(mover, &mut row);
            let cost = |processor: u32, position: u32| self.costs.of(&row, processor, position);
            let had = at.map_or(0, |at: usize| {
                let slot = &self.slots[at];
                cost(slot.processor, slot.position).unwrap_or(0) + slot.price
            });
            let mut nearest: Option<(i128, bool, usize)> = None;
            let places = self.slots.iter().map(|slot| (slot.processor, slot.position, slot.price));
            let free = self.of.iter().enumerate().map(|(processor, own)| (processor as u32, own.len() as u32 + 1, 0));
            for (index, (processor, position, price)) in places.chain(free).enumerate() {
                let place = &mut reached[index];
                if place.is_done {
                    continue;
                }
                if let Some(cost) = cost(processor, position) {
                    let through = distance + cost + price - had;
                    if through < place.distance {
                        (place.distance, place.from) = (through, at);
                    }
                }
                // Among positions at equal distances, prefer a free one, because a free position ends the search.
                let key = (place.distance, index < used, index);
                if place.distance < i128::MAX && nearest.is_none_or(|nearest| key < nearest) {
                    nearest = Some(key);
                }
            }
            // `nearest` is never `None`, because every job of an instance can run on some processor.
            let Some((far, is_used, index)) = nearest else { return false };
            if !is_used {
                break (index, index - used);
            }
            reached[index].is_done = true;
            (mover, at, distance) = (self.slots[index].job, Some(index), far);
        };
        let length = reached[end].distance;
        for (slot, reached) in self.slots.iter_mut().zip(&reached).filter(|(_, reached)| reached.is_done) {
            slot.price += length - reached.distance;
        }
        // Move each job on the path to the next position on the path.
        self.of[processor].push(used);
        let position = self.of[processor].len() as u32;
        self.slots.push(Slot { processor: processor as u32, position, job: NOBODY, price: 0 });
        let (mut to, mut from) = (used, reached[end].from);
        while let Some(slot) = from {
            self.slots[to].job = self.slots[slot].job;
            (to, from) = (slot, reached[slot].from);
        }
        self.slots[to].job = job;
        true
    }
}
