//! Which job has which position on which machine, so that the completions add up to the least.

use makespan_core::proof::PositionPrices;
use makespan_core::{Bound, Instance, JobId, Objective, Profile, Proof};

use super::taking_part;
use crate::Clock;

/// More costs than these are not looked at: about a second.
const MAX_LOOKS: u64 = 200_000_000;
const NOBODY: u32 = u32::MAX;

/// The processors of the jobs for which the completions add up to the least, and the prices that prove it.
#[derive(Clone, Debug)]
pub struct Positions {
    /// For each job its processor; `None` when not all jobs were assigned in the time that there is.
    pub processors: Option<Vec<u32>>,
    /// Prices of positions. They prove something in any case, and the optimum where all jobs are assigned, released together, and
    /// processors that once open stay open.
    pub prices: PositionPrices,
}

impl Positions {
    /// What the prices prove of an objective, if they speak of it.
    pub fn bound(&self, instance: &Instance, objective: Objective) -> Option<Bound> {
        Bound::proved_by(objective, Proof::PositionPrices(self.prices.clone()), instance).ok()
    }
}

/// Whether an objective is one of positions: the mean flow, and the weighted completion of jobs of one weight that are no bags.
pub fn are_meant(instance: &Instance, objective: Objective) -> bool {
    let jobs = instance.jobs();
    let alike = || jobs.iter().all(|job| job.weight == jobs[0].weight) && !instance.has_bags();
    let has_weight = || jobs.first().is_some_and(|job| job.weight.millionths() > 0);
    objective.is_sum_of_ends() && (!objective.is_weighted() || has_weight() && alike())
}

/// Assigns the jobs, of which a bag counts as one, to positions on processors, the last of each processor being the first: there a job
/// costs the instant from which the processor is free plus as many times its time.
///
/// Source: W. A. Horn, Operations Research 21, 1973, DOI 10.1287/opre.21.3.846; J. Bruno, E. G. Coffman, R. Sethi, Comm. ACM 17, 1974,
/// DOI 10.1145/361082.361064; shortest augmenting paths as in R. Jonker, A. Volgenant, Computing 38, 1987, DOI 10.1007/BF02278710.
/// Deviation: of the positions that nobody has only the first of each processor is looked at, which costs least.
/// Assumptions: sequential jobs. Guarantee: optimal where all are released together on processors that once open stay open.
/// Complexity: O(n^2 (n + m)) for n jobs on m processors at most, and `MAX_LOOKS` in any case; memory O(n + m).
pub fn positions(instance: &Instance) -> Positions {
    positions_by(instance, &Clock::ENDLESS)
}

/// The same until the clock is over.
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
    // Long jobs first: they come to lie in front, and paths stay short.
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

/// What a job costs at a position.
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

/// A position that some job has.
struct Slot {
    processor: u32,
    /// From the end, beginning at 1.
    position: u32,
    job: u32,
    /// What is to be paid for it, not negative.
    price: i128,
}

/// Jobs with positions such that no others cost less, and prices at which every job has what is cheapest for it.
struct Matching<'a> {
    costs: Costs<'a>,
    slots: Vec<Slot>,
    /// For each processor its slots, by position.
    of: Vec<Vec<usize>>,
    looks: u64,
}

/// What is known of a slot, or of the first free position of a processor, while a job is added.
#[derive(Clone, Copy)]
struct Reached {
    /// The shortest way to it.
    distance: i128,
    /// The slot before it on this way; `None` for the job that is added.
    from: Option<usize>,
    is_done: bool,
}

impl Matching<'_> {
    fn new(costs: Costs<'_>) -> Matching<'_> {
        let of = vec![Vec::new(); costs.nodes.len()];
        Matching { costs, slots: Vec::new(), of, looks: 0 }
    }

    /// Adds a job by a shortest augmenting path; whether there was time for it.
    ///
    /// The distance of a place is what the jobs on the way to it lose by moving on, prices included. What a job has is cheapest for it, so
    /// no step of a way is shorter than nothing.
    fn add(&mut self, job: u32) -> bool {
        let (used, processors) = (self.slots.len(), self.of.len());
        let unknown = Reached { distance: i128::MAX, from: None, is_done: false };
        let mut reached = vec![unknown; used + processors];
        let mut row = vec![0; processors];
        // The job that moves on, the slot that it has, and the distance of this.
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
                // Of several a free one, which ends the search.
                let key = (place.distance, index < used, index);
                if place.distance < i128::MAX && nearest.is_none_or(|nearest| key < nearest) {
                    nearest = Some(key);
                }
            }
            // A job that can run nowhere is in no instance.
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
        // Each job on the way moves one place on.
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
