//! Computes the value of a list.

use makespan_core::{Objective, Schedule};

use super::SearchAim;
use super::aim::{beyond, of_ends};
use crate::kernel::packing::{Inserter, ListEntry, NodeSet, Packer, Packing, RemainingTasks, Row};

/// The scheme by which a list is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Forward in time: at each event, each task that fits starts.
    Events,
    /// Task by task: each task gets the processors and the start with which it ends first.
    Insertion,
}

/// A list, and the scheme that makes a schedule of it.
#[derive(Clone, Debug)]
pub(crate) struct DecodedList {
    pub(super) scheme: Scheme,
    pub(crate) list: Vec<ListEntry>,
    /// The site (a set of nodes) of each task. The list is empty if each task may run anywhere. The scheme `Events`
    /// ignores sites.
    pub(crate) sites: Vec<NodeSet>,
}

impl DecodedList {
    pub(super) fn anywhere(scheme: Scheme, list: Vec<ListEntry>) -> Self {
        Self { scheme, list, sites: Vec::new() }
    }
}

/// Decodes lists (makes schedules of them) one after another.
pub(super) struct Decoder<'p, 'a> {
    pub packing: &'p Packing<'a>,
    pub aim: SearchAim,
    packer: Packer<'p, 'a>,
    inserter: Inserter<'p, 'a>,
    from: i64,
    /// An amount that is subtracted from all values: the value of the objective if all remaining jobs ended now.
    paid: f64,
    /// The latest end of the tasks of each job, in ticks.
    ends: Vec<i64>,
    job_of: Vec<u32>,
    /// The earliest possible end of each job, in ticks.
    earliest: Vec<i64>,
    /// For each row of equal tasks, the minimum length of the longest path after the row, in ticks. If the makespan is
    /// minimised, the path may lead through other jobs. Otherwise, the path stays within the job of the row.
    tails: Vec<i64>,
}

impl<'p, 'a> Decoder<'p, 'a> {
    pub fn new(packing: &'p Packing<'a>, aim: SearchAim) -> Self {
        let instance = packing.instance();
        let from = instance.first_release().ticks();
        let job_of: Vec<u32> = packing.rows().map(|row| packing.job_of(row).0).collect();
        let shortest = |row: Row| packing.choices_of(row).map(|choice| packing.fastest(choice)).min().unwrap_or(0);
        let mut tails = vec![0; packing.rows().len()];
        let mut earliest = vec![0; instance.jobs().len()];
        for &row in packing.order().iter().rev() {
            let job = job_of[row.index()];
            let behind = instance.outgoing(packing.first_of(row)).map(|edge| packing.row_of(edge.to));
            let counts = |next: &Row| aim.objective == Objective::Makespan || job_of[next.index()] == job;
            let tail = behind.filter(counts).map(|next| shortest(next) + tails[next.index()]).max().unwrap_or(0);
            tails[row.index()] = tail;
            let end = &mut earliest[job as usize];
            *end = (packing.release_of(row).max(from) + shortest(row) + tail).max(*end);
        }
        Self {
            packing,
            aim,
            packer: Packer::new(packing),
            inserter: Inserter::new(packing, from),
            from,
            paid: 0.0,
            ends: vec![0; instance.jobs().len()],
            job_of,
            earliest,
            tails,
        }
    }

    /// Creates a decoder for lists of the remaining tasks of an instance. The remaining tasks are the tasks of `list`.
    /// Other tasks do not contribute to the value.
    pub fn after(packing: &'p Packing<'a>, aim: SearchAim, begun: RemainingTasks, list: &[ListEntry]) -> Self {
        let instance = packing.instance();
        let from = begun.now;
        let job_of: Vec<u32> = packing.rows().map(|row| packing.job_of(row).0).collect();
        let mut rows: Vec<Row> = list.iter().map(|entry| packing.row_of(entry.task)).collect();
        let mut in_list = vec![false; job_of.len()];
        rows.iter().for_each(|row| in_list[row.index()] = true);
        let shortest = |row: Row| packing.choices_of(row).map(|choice| packing.fastest(choice)).min().unwrap_or(0);
        let (mut tails, mut earliest) = (vec![0; job_of.len()], vec![0; instance.jobs().len()]);
        rows.clear();
        rows.extend(packing.order().iter().filter(|row| in_list[row.index()]));
        let mut now = earliest.clone();
        for &row in rows.iter().rev() {
            let job = job_of[row.index()];
            let behind = instance.outgoing(packing.first_of(row)).map(|edge| packing.row_of(edge.to));
            let counts = |next: &Row| {
                in_list[next.index()] && (aim.objective == Objective::Makespan || job_of[next.index()] == job)
            };
            let tail = behind.filter(counts).map(|next| shortest(next) + tails[next.index()]).max().unwrap_or(0);
            tails[row.index()] = tail;
            let end = &mut earliest[job as usize];
            *end = (begun.ready[row.index()].max(from) + shortest(row) + tail).max(*end);
            now[job as usize] = from;
        }
        let paid = if aim.objective.is_tardiness() { 0.0 } else { of_ends(aim.objective, instance, &now, from) };
        let inserter = Inserter::after(packing, begun);
        Self { packing, aim, packer: Packer::new(packing), inserter, from, paid, ends: now, job_of, earliest, tails }
    }

    /// Returns a lower bound on the end of the remaining tasks. The bound is the later of two instants: the end of the
    /// longest path, and the end of all work if no processor is ever idle.
    pub fn floor(&self, list: &[ListEntry]) -> i64 {
        let packing = self.packing;
        let area = |entry: &ListEntry| {
            let choices = packing.choices_of(packing.row_of(entry.task));
            let area = |choice| packing.fastest(choice) as f64 * f64::from(packing.choice(choice).processors);
            choices.map(area).fold(f64::INFINITY, f64::min)
        };
        let area: f64 = list.iter().map(area).sum();
        let length = area / f64::from(packing.instance().processors());
        self.earliest.iter().copied().fold(self.from + length as i64, i64::max)
    }

    /// Returns the value of a schedule with this makespan, if the makespan is minimised.
    pub fn value_of_makespan(&self, makespan: i64) -> f64 {
        makespan as f64 - self.paid
    }

    /// Decodes a list of the remaining tasks. If a task cannot be placed, returns its position in the list as an error.
    pub fn carry(&mut self, listed: &DecodedList) -> Result<&Inserter<'p, 'a>, usize> {
        self.inserter.run(&listed.list, &listed.sites, |_, _| true)?;
        Ok(&self.inserter)
    }

    /// Returns the sites to which insertion may restrict a task.
    pub fn sites(&self) -> &crate::kernel::packing::Sites {
        self.inserter.sites()
    }

    /// Returns the value of the objective for a list, in the unit of the objective. If the objective is a mean, returns
    /// the sum. If the schedule exceeds the limit, adds a penalty. Returns infinity if the list cannot be decoded, or
    /// if insertion shows early that the value exceeds `allowed`.
    pub fn value(&mut self, listed: &DecodedList, allowed: f64) -> f64 {
        let carried = match listed.scheme {
            Scheme::Events => self.packer.run(&listed.list, self.from, false).is_ok(),
            Scheme::Insertion => self.insert(listed, allowed),
        };
        if !carried {
            return f64::INFINITY;
        }
        let Self { packing, ends, job_of, .. } = self;
        ends.fill(0);
        let mut last = 0;
        let of_tasks = if listed.scheme == Scheme::Events { self.packer.ends() } else { self.inserter.ends() };
        for (entry, &end) in listed.list.iter().zip(of_tasks) {
            let job = job_of[packing.row_of(entry.task).index()] as usize;
            ends[job] = ends[job].max(end);
            last = last.max(end);
        }
        let value = of_ends(self.aim.objective, packing.instance(), ends, last) - self.paid;
        beyond(value, self.aim.limit, last)
    }

    fn insert(&mut self, listed: &DecodedList, allowed: f64) -> bool {
        let Self { packing, aim, inserter, ends, job_of, earliest, tails, .. } = self;
        ends.copy_from_slice(earliest);
        let mut last = ends.iter().copied().max().unwrap_or(0);
        let instance = packing.instance();
        let mut least = of_ends(aim.objective, instance, ends, last);
        let paid = self.paid;
        // Allow a small error, because sums of changes are not exact in floating point.
        let allowed = allowed + 1e-9 * allowed.abs();
        let keep = |place: usize, end: i64| {
            let row = packing.row_of(listed.list[place].task).index();
            let (job, end) = (job_of[row] as usize, end + tails[row]);
            last = end.max(last);
            if end > ends[job] {
                least = aim.raised(&instance.jobs()[job], least, [ends[job], end], last);
                ends[job] = end;
            }
            beyond(least - paid, aim.limit, last) <= allowed
        };
        inserter.run(&listed.list, &listed.sites, keep).is_ok()
    }

    /// Inserts the tasks of a list. Each task gets the allotment that minimises the end of the task plus `price` times
    /// the area of the task. Returns whether the consumables suffice.
    pub fn choose(&mut self, list: &mut [ListEntry], price: f64) -> bool {
        self.inserter.choose(list, price).is_ok()
    }

    /// Returns two lists for insertion. Both contain the tasks in the order of their starts under the scheme `Events`.
    /// In the first list, tasks may run anywhere. In the second list, each task that ran on one node is restricted to
    /// this node.
    pub fn inserted(&mut self, events: &DecodedList) -> Option<[DecodedList; 2]> {
        self.packer.run(&events.list, self.from, false).ok()?;
        let starts = self.packer.starts();
        let mut places: Vec<usize> = (0..starts.len()).collect();
        places.sort_by_key(|&place| starts[place]);
        let list: Vec<ListEntry> = places.into_iter().map(|place| events.list[place]).collect();
        let mut sites = vec![NodeSet::ANY; list.len()];
        for (place, entry) in events.list.iter().enumerate() {
            let node = self.packer.node_of(place);
            sites[entry.task.index()] = node.map_or(NodeSet::ANY, |node| self.inserter.sites().alone(node));
        }
        let anywhere = DecodedList::anywhere(Scheme::Insertion, list.clone());
        Some([anywhere, DecodedList { scheme: Scheme::Insertion, list, sites }])
    }

    /// Returns the schedule of a list, or `None` if the list cannot be decoded.
    pub fn schedule(&mut self, listed: &DecodedList) -> Option<Schedule> {
        match listed.scheme {
            Scheme::Events => {
                self.packer.run(&listed.list, self.from, false).ok()?;
                Some(self.packer.schedule(&listed.list))
            }
            Scheme::Insertion => {
                self.inserter.run(&listed.list, &listed.sites, |_, _| true).ok()?;
                Some(self.inserter.schedule(&listed.list))
            }
        }
    }
}
