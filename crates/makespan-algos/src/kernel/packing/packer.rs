//! Executes lists forward in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ResourceKind, Schedule};

use super::data::Arrivals;
use super::fit::{NodeRooms, TaskToPlace};
use super::least::{NeedTree, UnfitNeeds};
use super::state::{HeldPart, PackingState};
use super::{ListEntry, Packing, Row, schedule};

/// An event. At equal instants, ends come before releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The end of the task at a position of the list.
    End(u32),
    /// Work outside the instance returns the amount with this index.
    Back(u32),
    /// The release of the tasks of a row of equal tasks.
    Release(Row),
    /// The arrival of data on some node, or the opening of processors.
    Wake,
}

/// Executes lists. At each event, the list is read from its head. A task starts if its predecessors have ended and the
/// task fits until its end. Events are ends, releases, arrivals of data and openings of processors. A task starts on
/// the fastest processors that suffice. If a task does not fit at an instant, the tasks that need at least as many
/// processors and as much of each resource are skipped at this instant.
///
/// Source: R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969, DOI 10.1137/0117039.
/// With resources, this is the parallel scheme of J. Kelley, "The critical-path method: resources planning and
/// scheduling", in Industrial Scheduling, 1963. Complexity: O(n (log n + nodes)) for n tasks, plus O(nodes) for each
/// failed attempt to start a task.
#[derive(Debug)]
pub struct Packer<'p, 'a> {
    packing: &'p Packing<'a>,
    state: PackingState,
    rooms: NodeRooms,
    waiting: NeedTree,
    /// The tasks that did not fit at the current instant.
    refused: UnfitNeeds,
    /// For each row of equal tasks, the number of predecessors that have not ended.
    missing: Vec<u64>,
    /// The position of each task in the list.
    places: Vec<u32>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// The parts (processors of cells) that the tasks hold, one task after another.
    parts: Vec<HeldPart>,
    /// The range of each task in `parts`.
    held: Vec<(u32, u32)>,
    arrivals: Arrivals,
    /// A buffer for the instants at which data arrive.
    instants: Vec<i64>,
    /// The amounts that the current task needs.
    asked: Vec<u64>,
    /// The remaining amounts.
    left: Vec<u64>,
    /// Number of running tasks.
    running: usize,
}

impl<'p, 'a> Packer<'p, 'a> {
    /// Returns a packer for lists of an instance.
    pub fn new(packing: &'p Packing<'a>) -> Self {
        Self {
            packing,
            state: PackingState::default(),
            rooms: NodeRooms::default(),
            waiting: NeedTree::default(),
            refused: UnfitNeeds::default(),
            missing: Vec::new(),
            places: Vec::new(),
            events: BinaryHeap::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            held: Vec::new(),
            arrivals: Arrivals::default(),
            instants: Vec::new(),
            asked: Vec::new(),
            left: Vec::new(),
            running: 0,
        }
    }

    /// Executes a list that contains every task once. No task starts before `from`, in ticks. If `alone` is set, tasks
    /// run one at a time.
    ///
    /// # Errors
    /// Returns the position of a task that never starts, because other tasks have used up its consumables.
    pub fn run(&mut self, list: &[ListEntry], from: i64, alone: bool) -> Result<(), usize> {
        self.reset(list, from);
        let packing = self.packing;
        for row in packing.rows().filter(|row| packing.rows[row.index()].waits == 0) {
            self.ready(list, row);
        }
        loop {
            self.start_all(list, alone);
            let Some(&Reverse((now, _))) = self.events.peek() else { break };
            self.state.advance(&packing.machines, now);
            while let Some(Reverse((_, event))) = self.events.pop_if_at(now) {
                match event {
                    Event::End(place) => self.end(list, place as usize),
                    Event::Back(at) => self.state.change_held(&packing.machines, at as usize, true),
                    Event::Release(row) => self.submit(list, row),
                    Event::Wake => {}
                }
            }
        }
        self.starts.iter().position(|&start| start == i64::MAX).map_or(Ok(()), Err)
    }

    fn reset(&mut self, list: &[ListEntry], from: i64) {
        let Self { packing, state, .. } = self;
        let machines = &packing.machines;
        state.reset(machines, from);
        self.waiting.reset(list.len(), 1 + machines.resources + machines.common.len());
        self.missing.clear();
        self.missing.extend(packing.rows.iter().map(|row| row.waits));
        self.places.resize(list.len(), 0);
        for (place, entry) in list.iter().enumerate() {
            self.places[entry.task.index()] = place as u32;
        }
        self.events.clear();
        let openings = machines.cells.iter().flat_map(|cell| &cell.closed).map(|closed| closed.1);
        self.events.extend(openings.filter(|&end| end > from).map(|end| Reverse((end, Event::Wake))));
        let held = machines.held.iter().zip(0..).filter(|(held, _)| held.0 > from && held.0 < i64::MAX);
        self.events.extend(held.map(|(held, at)| Reverse((held.0, Event::Back(at)))));
        self.starts.clear();
        self.starts.resize(list.len(), i64::MAX);
        self.ends.clear();
        self.ends.resize(list.len(), i64::MAX);
        self.held.clear();
        self.held.resize(list.len(), (0, 0));
        self.parts.clear();
        self.arrivals.reset(packing);
        self.running = 0;
    }

    /// Releases a row of equal tasks, because all its predecessors have ended.
    fn ready(&mut self, list: &[ListEntry], row: Row) {
        if self.packing.has_transfers {
            self.await_data(row);
        }
        let release = self.packing.release_of(row);
        if release > self.state.now {
            self.events.push(Reverse((release, Event::Release(row))));
        } else {
            self.submit(list, row);
        }
    }

    fn submit(&mut self, list: &[ListEntry], row: Row) {
        let packing = self.packing;
        let first = packing.first_of(row).index();
        for task in first..first + packing.count_of(row) as usize {
            let place = self.places[task] as usize;
            let processors = packing.choice(list[place].choice).processors;
            let machines = &packing.machines;
            self.asked.clear();
            self.asked.resize(1 + machines.resources + machines.common.len(), 0);
            self.asked[0] = processors.into();
            for demand in packing.demands_of(row) {
                let of_nodes = demand.kind == ResourceKind::OfNodes;
                let least = if of_nodes { demand.need.share(1, processors) } else { demand.need.total(processors) };
                self.asked[1 + demand.resource.index()] = least;
            }
            self.waiting.insert(place, &self.asked);
        }
    }

    /// Computes the instants at which the data of a row of equal tasks arrive on each node.
    fn await_data(&mut self, row: Row) {
        let packing = self.packing;
        let (held, parts, ends, places) = (&self.held, &self.parts, &self.ends, &self.places);
        self.arrivals.see(packing, row, |task| {
            let place = places[task.index()] as usize;
            Some((ends[place], &parts[held[place].0 as usize..held[place].1 as usize]))
        });
        let now = self.state.now;
        let arrivals = self.arrivals.of(row, &packing.machines);
        self.instants.clear();
        self.instants.extend(arrivals.iter().copied().filter(|&at| at > now));
        self.instants.sort_unstable();
        self.instants.dedup();
        self.events.extend(self.instants.iter().map(|&at| Reverse((at, Event::Wake))));
    }

    fn start_all(&mut self, list: &[ListEntry], alone: bool) {
        if alone && self.running > 0 {
            return;
        }
        self.see_left();
        self.refused.reset(self.left.len());
        let mut from = 0;
        while let Some(place) = self.waiting.next(from, &self.left, &self.refused) {
            from = place + 1;
            if !self.start(list, place) {
                if self.speaks_for_others(list[place]) {
                    self.refused.add(self.waiting.asked(place));
                }
                continue;
            }
            if alone {
                return;
            }
            self.left[0] = self.state.total.into();
            let common = 1 + self.packing.machines.resources;
            self.left[common..].copy_from_slice(&self.state.common);
        }
    }

    /// Returns whether a task that did not fit lacked processors or resources. In this case, tasks that need at least
    /// as much do not fit either. Otherwise, there may be another reason: times that depend on the node, the walltime,
    /// the data or closed processors.
    fn speaks_for_others(&self, entry: ListEntry) -> bool {
        let task = &self.packing.rows[self.packing.row_of(entry.task).index()];
        let at_once = self.arrivals.are_none() && self.packing.machines.always_open;
        at_once && !task.own_times && task.walltime == i64::MAX
    }

    /// Computes the remaining amounts. For a resource of nodes, this is the largest remaining amount of one node.
    fn see_left(&mut self) {
        let machines = &self.packing.machines;
        self.left.clear();
        self.left.push(self.state.total.into());
        self.left.resize(1 + machines.resources, 0);
        if machines.resources > 0 {
            for row in self.state.left.chunks_exact(machines.resources) {
                for (most, &left) in self.left[1..].iter_mut().zip(row) {
                    *most = (*most).max(left);
                }
            }
        }
        self.left.extend_from_slice(&self.state.common);
    }

    /// Starts the task at a position of the list if it fits. Returns whether the task started.
    fn start(&mut self, list: &[ListEntry], place: usize) -> bool {
        let packing = self.packing;
        let ListEntry { task, choice } = list[place];
        let row = packing.row_of(task);
        let walltime = packing.rows[row.index()].walltime;
        let mut wanted = TaskToPlace::of(packing.instance, task, packing.choice(choice), walltime);
        wanted.arrivals = self.arrivals.of(row, &packing.machines);
        let begin = self.parts.len();
        let machines = &packing.machines;
        let Some(duration) = self.state.find(machines, &wanted, &mut self.rooms, None) else { return false };
        self.state.hold(machines, &wanted, duration, &self.rooms, &mut self.parts);
        self.waiting.remove(place);
        self.held[place] = (begin as u32, self.parts.len() as u32);
        self.starts[place] = self.state.now;
        self.ends[place] = self.state.now + duration;
        self.events.push(Reverse((self.ends[place], Event::End(place as u32))));
        self.running += 1;
        true
    }

    fn end(&mut self, list: &[ListEntry], place: usize) {
        let packing = self.packing;
        let ListEntry { task, choice } = list[place];
        let (first, end) = self.held[place];
        let parts = &self.parts[first as usize..end as usize];
        let processors = packing.choice(choice).processors;
        self.state.give_back(&packing.machines, packing.instance.demands(task), processors, parts);
        self.running -= 1;
        for edge in packing.instance.outgoing(task) {
            let row = packing.row_of(edge.to);
            self.missing[row.index()] -= 1;
            if self.missing[row.index()] == 0 {
                self.ready(list, row);
            }
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

    /// Returns the node of the task at a position of the list, or `None` if the task runs on several nodes.
    pub fn node_of(&self, place: usize) -> Option<usize> {
        let (first, end) = self.held[place];
        let node = |part: &HeldPart| self.packing.machines.node_of(part.cell);
        let mut nodes = self.parts[first as usize..end as usize].iter().map(node);
        let first = nodes.next()?;
        nodes.all(|other| other == first).then_some(first)
    }

    /// Returns the schedule of the last executed list.
    pub fn schedule(&self, list: &[ListEntry]) -> Schedule {
        let Self { starts, ends, held, parts, .. } = self;
        schedule::of(self.packing, list, &schedule::ExecutedList { starts, ends, held, parts })
    }
}

/// Removes the first event of an agenda if the event is at a given instant.
trait PopAt {
    fn pop_if_at(&mut self, now: i64) -> Option<Reverse<(i64, Event)>>;
}

impl PopAt for BinaryHeap<Reverse<(i64, Event)>> {
    fn pop_if_at(&mut self, now: i64) -> Option<Reverse<(i64, Event)>> {
        if self.peek()?.0.0 == now { self.pop() } else { None }
    }
}
