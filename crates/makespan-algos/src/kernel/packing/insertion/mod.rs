//! Serial insertion: places the tasks in the order of a list. Each task is placed where it ends first. Tasks that are
//! already placed do not move.

mod begun;
mod calendar;
mod places;
mod sites;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ResourceKind, Schedule};

use super::fit::TaskToPlace;
use super::{HeldPart, ListEntry, Packing, data, schedule};
pub(crate) use begun::RemainingTasks;
use calendar::Calendar;
use places::{PlaceFinder, RunPeriod, SoughtTask};
pub use sites::{NodeSet, Sites};

/// Maximum number of visits to nodes for one list. A list that needs more visits is rejected, because it would slow
/// down a search, which tries many lists.
const MAX_LOOKS: u64 = 10_000_000;
/// The value in place of a position for a task that is not in the list.
const NOWHERE: u32 = u32::MAX;

/// Executes lists by insertion into gaps. This is the serial scheme, on nodes that may differ. If a task waits for
/// tasks that come later in the list, it is placed immediately after the last of these tasks. A task can be restricted
/// to a site (a set of nodes).
///
/// Source: J. Kelley, "The critical-path method: resources planning and scheduling", in Industrial Scheduling, 1963;
/// insertion on machines of different speeds as in H. Topcuoglu, S. Hariri, M. Wu, IEEE TPDS 13, 2002, DOI
/// 10.1109/71.993206. Complexity with n placed tasks: O(nodes log n + k) for a task on one node, if the free amounts
/// have k steps between the earliest start of the task and its end. A task on several nodes visits all nodes again for
/// each of the k steps.
#[derive(Debug)]
pub struct Inserter<'p, 'a> {
    packing: &'p Packing<'a>,
    sites: Sites,
    /// The calendar before any task is placed.
    empty: Calendar,
    /// The calendar with all placed tasks.
    calendar: Calendar,
    places: PlaceFinder,
    /// The time of each allotment on each class of speeds.
    durations: Vec<i64>,
    from: i64,
    /// The tasks that have started, if there are any.
    begun: Option<RemainingTasks>,
    /// For each row of equal tasks, the number of unplaced tasks that the row waits for.
    missing: Vec<u64>,
    /// For each row of equal tasks, the latest end of the placed tasks that the row waits for.
    ready: Vec<i64>,
    /// The position of each task in the list.
    place_of: Vec<u32>,
    /// The positions of the tasks that became ready only after the pass over the list had reached their position.
    passed: BinaryHeap<Reverse<u32>>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// The parts (processors of cells) that the tasks hold, one task after another.
    parts: Vec<HeldPart>,
    /// The range of each task in `parts`.
    held: Vec<(u32, u32)>,
    /// The allotment of each task.
    choices: Vec<u32>,
    data: data::Arrivals,
}

impl<'p, 'a> Inserter<'p, 'a> {
    /// Returns an inserter for lists of an instance. No task starts before `from`, in ticks.
    pub fn new(packing: &'p Packing<'a>, from: i64) -> Self {
        let machines = &packing.machines;
        let empty = Calendar::new(machines, &is_consumable(packing), from);
        let on_class = |choice| (0..machines.classes.len()).map(move |class| (choice, class));
        let duration = |(choice, class): (&super::Choice, usize)| machines.slowed(choice.time, class);
        Self {
            packing,
            sites: Sites::new(machines),
            calendar: Calendar::default(),
            empty,
            places: PlaceFinder::default(),
            durations: packing.choices.iter().flat_map(on_class).map(duration).collect(),
            from,
            begun: None,
            missing: Vec::new(),
            ready: Vec::new(),
            place_of: Vec::new(),
            passed: BinaryHeap::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            held: Vec::new(),
            choices: Vec::new(),
            data: data::Arrivals::default(),
        }
    }

    /// Returns an inserter for lists of the remaining tasks. All lists must have the same tasks.
    pub(crate) fn after(packing: &'p Packing<'a>, begun: RemainingTasks) -> Self {
        let mut inserter = Self::new(packing, begun.now);
        inserter.empty.begin(packing, &is_consumable(packing), &begun);
        inserter.place_of = vec![NOWHERE; packing.instance.tasks() as usize];
        Self { begun: Some(begun), ..inserter }
    }

    /// Returns the sets of nodes that a task can be restricted to.
    pub fn sites(&self) -> &Sites {
        &self.sites
    }

    /// Executes a list that contains every task once. `sites` contains, for each task, the nodes to which it is
    /// restricted. If the task does not fit on these nodes, it may run on all nodes. `keep` receives the position and
    /// the end of each placed task. The execution stops as soon as `keep` returns `false`.
    ///
    /// # Errors
    /// Returns the position of the task at which the execution stopped. The reason is that `keep` returned `false`,
    /// that other tasks have used up the consumables of the task, or that too many nodes were visited.
    pub fn run(
        &mut self,
        list: &[ListEntry],
        sites: &[NodeSet],
        keep: impl FnMut(usize, i64) -> bool,
    ) -> Result<(), usize> {
        self.insert(list, sites, None, keep)
    }

    /// Executes a list, but chooses the allotments. Each task gets the allotment that minimises E + `price` * m * A. E
    /// is the end of the task, m the number of processors of the platform, and A the [area](Packing::area) of the
    /// allotment.
    ///
    /// # Errors
    /// Returns the position of the task at which the execution stopped, as in [`Inserter::run`].
    pub fn choose(&mut self, list: &mut [ListEntry], price: f64) -> Result<(), usize> {
        self.insert(list, &[], Some(price), |_, _| true)?;
        list.iter_mut().zip(&self.choices).for_each(|(entry, &choice)| entry.choice = choice);
        Ok(())
    }

    fn insert(
        &mut self,
        list: &[ListEntry],
        sites: &[NodeSet],
        price: Option<f64>,
        mut keep: impl FnMut(usize, i64) -> bool,
    ) -> Result<(), usize> {
        self.reset(list);
        let packing = self.packing;
        if let Some(begun) = &self.begun {
            self.missing.copy_from_slice(&begun.waits);
            self.ready.copy_from_slice(&begun.ready);
            if packing.has_transfers {
                for row in begun.ready_rows() {
                    self.data
                        .see(packing, row, |task| begun.ends.get(&task).map(|(end, parts)| (*end, parts.as_slice())));
                }
            }
        } else {
            for row in packing.rows().filter(|row| packing.rows[row.index()].waits == 0) {
                self.ready[row.index()] = self.from.max(packing.release_of(row));
            }
        }
        for place in 0..list.len() {
            let waits = self.missing[packing.row_of(list[place].task).index()] > 0;
            let mut next = (!waits).then_some(place);
            while let Some(at) = next {
                let placed = self.place(list, at, sites, price) && self.places.looked_at() <= MAX_LOOKS;
                if !placed || !keep(at, self.ends[at]) {
                    return Err(at);
                }
                self.see_ready(list, at, place);
                next = self.passed.pop().map(|Reverse(at)| at as usize);
            }
        }
        Ok(())
    }

    fn reset(&mut self, list: &[ListEntry]) {
        let packing = self.packing;
        self.calendar.clone_from(&self.empty);
        self.places.reset();
        self.missing.clear();
        self.missing.extend(packing.rows.iter().map(|row| row.waits));
        self.ready.clear();
        self.ready.resize(packing.rows.len(), self.from);
        if self.begun.is_none() {
            self.place_of.resize(list.len(), 0);
        }
        for (place, entry) in list.iter().enumerate() {
            self.place_of[entry.task.index()] = place as u32;
        }
        self.passed.clear();
        for times in [&mut self.starts, &mut self.ends] {
            times.clear();
            times.resize(list.len(), i64::MAX);
        }
        self.parts.clear();
        self.held.clear();
        self.held.resize(list.len(), (0, 0));
        self.choices.clear();
        self.choices.extend(list.iter().map(|entry| entry.choice));
        self.data.reset(packing);
    }

    /// Places the task at a position of the list. Returns whether it fits.
    fn place(&mut self, list: &[ListEntry], place: usize, sites: &[NodeSet], price: Option<f64>) -> bool {
        let task = list[place].task;
        let row = self.packing.row_of(task);
        if let Some(price) = price {
            let processors = f64::from(self.packing.instance.platform().processors());
            let mut best: Option<(f64, u32)> = None;
            for choice in self.packing.choices_of(row) {
                let Some(period) = self.find(list, place, choice, NodeSet::ANY) else { continue };
                let value = period.end as f64 + price * processors * self.packing.area(choice);
                if best.is_none_or(|best| value < best.0) {
                    best = Some((value, choice));
                }
            }
            let Some((_, choice)) = best else { return false };
            self.choices[place] = choice;
        }
        let choice = self.choices[place];
        let site = sites.get(task.index()).copied().unwrap_or(NodeSet::ANY);
        let found = self.find(list, place, choice, site);
        let found =
            if found.is_none() && site != NodeSet::ANY { self.find(list, place, choice, NodeSet::ANY) } else { found };
        let Some(period) = found else { return false };
        let begin = self.parts.len();
        let packing = self.packing;
        let wanted = TaskToPlace::of(packing.instance, task, packing.choice(choice), i64::MAX);
        self.places.hold(&packing.machines, &mut self.calendar, &wanted, period, &mut self.parts);
        self.held[place] = (begin as u32, self.parts.len() as u32);
        (self.starts[place], self.ends[place]) = (period.start, period.end);
        true
    }

    fn find(&mut self, list: &[ListEntry], place: usize, choice: u32, site: NodeSet) -> Option<RunPeriod> {
        let packing = self.packing;
        let task = list[place].task;
        let row = packing.row_of(task);
        let walltime = packing.rows[row.index()].walltime;
        let mut wanted = TaskToPlace::of(packing.instance, task, packing.choice(choice), walltime);
        wanted.arrivals = self.data.of(row, &packing.machines);
        let classes = packing.machines.classes.len();
        let durations = &self.durations[choice as usize * classes..][..classes];
        let sought =
            SoughtTask { wanted: &wanted, nodes: self.sites.nodes(site), ready: self.ready[row.index()], durations };
        self.places.find(&packing.machines, &self.calendar, &sought)
    }

    /// Updates the successors of a placed task. If a successor becomes ready after the pass over the list has reached
    /// its position, the successor is placed next.
    fn see_ready(&mut self, list: &[ListEntry], place: usize, walked: usize) {
        let packing = self.packing;
        for edge in packing.instance.outgoing(list[place].task) {
            let row = packing.row_of(edge.to);
            let (missing, ready) = (&mut self.missing[row.index()], &mut self.ready[row.index()]);
            *missing -= 1;
            *ready = self.ends[place].max(*ready);
            if *missing > 0 {
                continue;
            }
            *ready = packing.release_of(row).max(*ready);
            if packing.has_transfers {
                let (held, parts, ends, begun) = (&self.held, &self.parts, &self.ends, &self.begun);
                let placed = |task: makespan_core::TaskId| {
                    let place = self.place_of[task.index()];
                    if place == NOWHERE {
                        return begun.as_ref()?.ends.get(&task).map(|(end, parts)| (*end, parts.as_slice()));
                    }
                    let place = place as usize;
                    Some((ends[place], &parts[held[place].0 as usize..held[place].1 as usize]))
                };
                self.data.see(packing, row, placed);
            }
            let first = packing.first_of(row).index();
            let places = &self.place_of[first..first + packing.count_of(row) as usize];
            self.passed.extend(places.iter().filter(|at| (**at as usize) < walked).map(|&at| Reverse(at)));
        }
    }

    /// Returns the start of the task at each position of the list, in ticks.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// Returns the end of the task at each position of the list, in ticks.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// Returns the parts that the task at a position of the list holds.
    pub(crate) fn parts(&self, place: usize) -> &[HeldPart] {
        &self.parts[self.held[place].0 as usize..self.held[place].1 as usize]
    }

    /// Returns the schedule of the last executed list.
    pub fn schedule(&self, list: &[ListEntry]) -> Schedule {
        let Self { starts, ends, held, parts, .. } = self;
        schedule::of(self.packing, list, &schedule::ExecutedList { starts, ends, held, parts })
    }
}

/// Returns, for each resource that belongs to no node, whether it is a consumable.
fn is_consumable(packing: &Packing<'_>) -> Vec<bool> {
    let resources = packing.instance.platform().resources();
    let common = resources[packing.machines.resources..].iter();
    common.map(|resource| resource.kind == ResourceKind::Consumable).collect()
}
