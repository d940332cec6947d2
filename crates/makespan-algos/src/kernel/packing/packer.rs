//! Lists carried out forward in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{ResourceKind, Schedule};

use super::data::Arrivals;
use super::fit::{Rooms, Wanted};
use super::least::{Least, Refused};
use super::state::{Part, State};
use super::{Entry, Packing, Row, schedule};

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
    arrivals: Arrivals,
    /// At which data arrive.
    instants: Vec<i64>,
    /// What a task asks for, and what is left of it.
    asked: Vec<u64>,
    left: Vec<u64>,
    /// How many run.
    running: usize,
}

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
            arrivals: Arrivals::default(),
            instants: Vec::new(),
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
        self.arrivals.reset(packing);
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
        let at_once = self.arrivals.are_none() && self.packing.machines.always_open;
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

    /// The node on which the task at a place runs, if it is one alone.
    pub fn node_of(&self, place: usize) -> Option<usize> {
        let (first, end) = self.held[place];
        let node = |part: &Part| self.packing.machines.node_of(part.cell);
        let mut nodes = self.parts[first as usize..end as usize].iter().map(node);
        let first = nodes.next()?;
        nodes.all(|other| other == first).then_some(first)
    }

    /// The schedule of the list that was carried out last.
    pub fn schedule(&self, list: &[Entry]) -> Schedule {
        let Self { starts, ends, held, parts, .. } = self;
        schedule::of(self.packing, list, &schedule::Carried { starts, ends, held, parts })
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
