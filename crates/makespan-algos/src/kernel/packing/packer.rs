//! Lists carried out forward in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Placement, ProcSet, ResourceKind, Schedule, Time};

use super::fit::{Rooms, Wanted};
use super::least::{Least, Refused};
use super::state::{Part, State};
use super::{Entry, Packing, Row};
use crate::kernel::graph::NodeId;

/// What happens at an instant: ends come before what is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The task at this place of the list ends.
    End(u32),
    /// Others give back what they hold.
    Back(u32),
    /// The tasks of a row are released.
    Release(Row),
    /// Data are on some node, or processors open.
    Wake,
}

/// Carries out lists: whenever something ends, is released or opens, the list is read from its head, and every task starts that
/// waits for nothing and for which there is room until its end. A task starts on the fastest processors that suffice. One that asks
/// for at least as many processors, and as much for each, as another that finds no place at an instant is not asked then.
///
/// Source: R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969, DOI 10.1137/0117039; with
/// resources this is the parallel scheme of J. Kelley, "The critical-path method: resources planning and scheduling", in
/// Industrial Scheduling, 1963. O(n (log n + nodes)) for n tasks, and once more the nodes for each task that is asked in vain.
#[derive(Debug)]
pub struct Packer<'p, 'a> {
    packing: &'p Packing<'a>,
    state: State,
    rooms: Rooms,
    waiting: Least,
    /// Those that found no place at this instant.
    refused: Refused,
    /// For each row how many tasks it waits for.
    missing: Vec<u64>,
    /// For each task its place in the list.
    places: Vec<u32>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// What each place holds, one after another, and where in there.
    parts: Vec<Part>,
    held: Vec<(u32, u32)>,
    /// For each row where its times of arrival begin, one a node; the largest number where data are there at once.
    arrival_of: Vec<u32>,
    arrivals: Vec<i64>,
    /// What a task asks for, and what is left of it.
    asked: Vec<u64>,
    left: Vec<u64>,
    /// How many run.
    running: usize,
}

/// No times of arrival.
const AT_ONCE: u32 = u32::MAX;

impl<'p, 'a> Packer<'p, 'a> {
    /// For lists of an instance.
    pub fn new(packing: &'p Packing<'a>) -> Self {
        Self {
            packing,
            state: State::default(),
            rooms: Rooms::default(),
            waiting: Least::default(),
            refused: Refused::default(),
            missing: Vec::new(),
            places: Vec::new(),
            events: BinaryHeap::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            held: Vec::new(),
            arrival_of: Vec::new(),
            arrivals: Vec::new(),
            asked: Vec::new(),
            left: Vec::new(),
            running: 0,
        }
    }

    /// Carries out a list that has every task once, not before `from`, in ticks. `alone`: one task at a time.
    ///
    /// # Errors
    /// The place of a task that never starts: others have used up what it needs.
    pub fn run(&mut self, list: &[Entry], from: i64, alone: bool) -> Result<(), usize> {
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

    fn reset(&mut self, list: &[Entry], from: i64) {
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
        self.arrivals.clear();
        self.arrival_of.clear();
        if packing.has_transfers {
            self.arrival_of.resize(packing.rows.len(), AT_ONCE);
        }
        self.running = 0;
    }

    /// All that a row waits for has ended.
    fn ready(&mut self, list: &[Entry], row: Row) {
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

    fn submit(&mut self, list: &[Entry], row: Row) {
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

    /// When the data of a row are on each node.
    fn await_data(&mut self, row: Row) {
        let packing = self.packing;
        let instance = packing.instance;
        let Some(transfers) = &packing.machines.transfers else { return };
        let begin = self.arrivals.len();
        for &edge in instance.incoming_edges(packing.first_of(row)) {
            let from = instance.edges()[edge as usize].from;
            if !transfers.takes_time(edge) {
                continue;
            }
            if self.arrivals.len() == begin {
                self.arrivals.resize(begin + packing.machines.nodes.len(), 0);
            }
            let place = self.places[from.index()] as usize;
            let (first, end) = self.held[place];
            for part in &self.parts[first as usize..end as usize] {
                let source = NodeId::at(packing.machines.node_of(part.cell));
                for (node, arrival) in self.arrivals[begin..].iter_mut().enumerate() {
                    *arrival = (*arrival).max(self.ends[place] + transfers.time(edge, source, NodeId::at(node)));
                }
            }
        }
        if self.arrivals.len() == begin {
            return;
        }
        self.arrival_of[row.index()] = begin as u32;
        let mut instants: Vec<i64> = self.arrivals[begin..].iter().copied().filter(|&at| at > self.state.now).collect();
        instants.sort_unstable();
        instants.dedup();
        self.events.extend(instants.into_iter().map(|at| Reverse((at, Event::Wake))));
    }

    fn start_all(&mut self, list: &[Entry], alone: bool) {
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

    /// Whether a task finds no place only for what it asks for: not for its own times, its walltime or its data, nor since
    /// processors close.
    fn speaks_for_others(&self, entry: Entry) -> bool {
        let task = &self.packing.rows[self.packing.row_of(entry.task).index()];
        let at_once = self.arrival_of.is_empty() && self.packing.machines.always_open;
        at_once && !task.own_times && task.walltime == i64::MAX
    }

    /// What is left of everything; of a resource of nodes, the most that is left on one.
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

    /// Whether the task at a place starts now.
    fn start(&mut self, list: &[Entry], place: usize) -> bool {
        let packing = self.packing;
        let Entry { task, choice } = list[place];
        let row = packing.row_of(task);
        let walltime = packing.rows[row.index()].walltime;
        let mut wanted = Wanted::of(packing.instance, task, packing.choice(choice), walltime);
        if let Some(&begin) = self.arrival_of.get(row.index()).filter(|begin| **begin != AT_ONCE) {
            wanted.arrivals = &self.arrivals[begin as usize..][..packing.machines.nodes.len()];
        }
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

    fn end(&mut self, list: &[Entry], place: usize) {
        let packing = self.packing;
        let Entry { task, choice } = list[place];
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

    /// When the task at each place starts, in ticks.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// When the task at each place ends, in ticks.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// The schedule of the list that was carried out last.
    pub fn schedule(&self, list: &[Entry]) -> Schedule {
        let machines = &self.packing.machines;
        let mut free: Vec<ProcSet> = machines.cells.iter().map(|cell| cell.ids.clone()).collect();
        let mut changes: Vec<(i64, bool, u32)> = Vec::with_capacity(2 * list.len());
        for place in 0..list.len() {
            changes.push((self.starts[place], true, place as u32));
            changes.push((self.ends[place], false, place as u32));
        }
        changes.sort_unstable();
        let mut given: Vec<Vec<ProcSet>> = vec![Vec::new(); list.len()];
        let mut placements = Vec::with_capacity(list.len());
        for (at, starts, place) in changes {
            let place = place as usize;
            let (first, end) = self.held[place];
            let parts = &self.parts[first as usize..end as usize];
            if !starts {
                for (part, ids) in parts.iter().zip(std::mem::take(&mut given[place])) {
                    free[part.cell as usize].insert(&ids);
                }
                continue;
            }
            let take = |part: &Part| free[part.cell as usize].take(part.count).expect("what is held was free");
            given[place] = parts.iter().map(take).collect();
            let ids = given[place].iter().flat_map(|ids| ids.intervals().iter().copied()).collect();
            placements.push(Placement {
                task: list[place].task,
                start: Time::from_ticks(at),
                end: Time::from_ticks(self.ends[place]),
                processors: ProcSet::from_intervals(ids),
            });
        }
        Schedule::new(placements)
    }
}

/// Takes the first event if it is at this instant.
trait PopAt {
    fn pop_if_at(&mut self, now: i64) -> Option<Reverse<(i64, Event)>>;
}

impl PopAt for BinaryHeap<Reverse<(i64, Event)>> {
    fn pop_if_at(&mut self, now: i64) -> Option<Reverse<(i64, Event)>> {
        if self.peek()?.0.0 == now { self.pop() } else { None }
    }
}
