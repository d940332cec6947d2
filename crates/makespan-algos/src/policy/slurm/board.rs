//! The board: the remaining amounts of nodes over time. Finds the earliest fit of a job.

use std::collections::BTreeSet;

use makespan_core::{Demand, Instance, Platform, ProcSet, ResourceKind, Site, TaskId, Time, View};
use rustc_hash::FxHashMap;

use super::asked::{JobRequest, MINUTE};
use super::fit::{choose, room};
use super::nodes::JobNodes;
use crate::free_time::Rows;
use crate::kernel::packing::PackingMachines;

/// The remaining amounts of nodes, licences and consumables over time. Amounts that jobs and work outside the instance
/// hold are subtracted.
#[derive(Debug)]
pub(super) struct AvailabilityBoard {
    machines: std::sync::Arc<PackingMachines>,
    /// For each node, the free processors of its cells, and then the amounts of its resources.
    nodes: Vec<Rows<i64>>,
    /// The remaining licences and consumables.
    common: Rows<i64>,
    /// The reservations of each node: start, end and index.
    kept: std::sync::Arc<Vec<Vec<(i64, i64, usize)>>>,
    /// For each node, the periods for which a plan reserves the node for pending jobs. Empty for a board without plans.
    planned: Vec<Vec<(i64, i64)>>,
    /// The instants at which a job releases its processors and resources.
    ends: BTreeSet<i64>,
    /// True if plans reserve whole nodes. False if the platform only counts processors.
    reserves_nodes: bool,
    running: FxHashMap<TaskId, JobHolding>,
}

/// The processors and resources that a job holds.
#[derive(Clone, Debug)]
pub(super) struct JobHolding {
    pub processors: u32,
    /// For each node of the job, the number of processors in each cell.
    parts: Vec<(u32, Vec<u32>)>,
    demands: Vec<Demand>,
    exclusive: bool,
    from: i64,
    pub until: i64,
}

impl JobHolding {
    /// Returns the number of nodes.
    pub fn nodes(&self) -> u32 {
        self.parts.len() as u32
    }
}

/// The start of a job, and the processors and resources that it then holds.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub start: i64,
    held: JobHolding,
}

impl AvailabilityBoard {
    /// Returns the board of an empty platform from the instant `from` on.
    pub fn new(instance: &Instance, from: i64) -> Self {
        let machines = PackingMachines::new(instance);
        let rows = |amounts: &mut dyn Iterator<Item = u64>| Rows::new(from, amounts.map(signed).collect(), 0);
        let nodes = (0..machines.nodes.len()).map(|node| rows(&mut machines.row_of(node))).collect();
        let common = rows(&mut machines.common.iter().copied());
        let kept = kept(instance.platform(), &machines);
        let ends = kept.iter().flatten().map(|one| one.1).collect();
        let (machines, kept) = (std::sync::Arc::new(machines), std::sync::Arc::new(kept));
        let planned = Vec::new();
        let platform = instance.platform();
        let reserves_nodes =
            platform.node_count() > 1 || platform.site().is_some_and(|site| !site.partitions.is_empty());
        let running = FxHashMap::default();
        let mut board = Self { machines, nodes, common, kept, planned, ends, reserves_nodes, running };
        board.close();
        board
    }

    /// Subtracts closed processors, and the amounts that work outside the instance holds.
    fn close(&mut self) {
        let machines = self.machines.clone();
        for (node, rows) in self.nodes.iter_mut().enumerate() {
            for (at, cell) in machines.cells_of(node).iter().enumerate() {
                for &(from, until) in &cell.closed {
                    rows.change(from, until, |left| left[at] -= i64::from(cell.ids.len()));
                    self.ends.insert(until);
                }
            }
        }
        for &(until, node, resource, amount) in &machines.held {
            let rows = node.map_or(&mut self.common, |node| &mut self.nodes[node]);
            let (at, _) = machines.place_of(node, resource);
            rows.change(i64::MIN, until, |left| left[at] -= signed(amount));
            self.ends.insert(until);
        }
    }

    /// Returns the indices on the board of these nodes of a platform.
    pub fn numbers(platform: &Platform, nodes: impl Iterator<Item = usize>) -> Vec<u32> {
        // If all nodes are equally fast, the indices on the board are the positions in the platform. Nodes without
        // processors (switches) are not counted.
        let plain = platform.node_count() == 1 || platform.kinds().all(|(node, _)| node.processors > 0);
        if plain {
            return nodes.map(|node| node as u32).collect();
        }
        let mut numbers = vec![u32::MAX; platform.node_count()];
        let mut next = 0;
        for (node, number) in numbers.iter_mut().enumerate() {
            if !platform.processors_of(node).is_empty() {
                *number = next;
                next += 1;
            }
        }
        nodes.map(|node| numbers[node]).filter(|&number| number < u32::MAX).collect()
    }

    /// Returns the board that a view shows, with running tasks and failures. For a running task, `asked` returns its
    /// time limit in ticks, and whether it uses its nodes exclusively.
    pub fn see(view: &View<'_>, asked: impl Fn(TaskId) -> Option<(i64, bool)>) -> Self {
        let now = view.now.ticks();
        let mut board = Self::new(view.instance, now);
        for down in view.down {
            let until = down.end.ticks();
            for (node, cells) in board.parts_of(&down.processors) {
                let closed = |left: &mut [i64]| take(left, cells.iter().map(|&count| count.into()), 1);
                board.nodes[node as usize].change(now, until, closed);
            }
            if until < i64::MAX / 2 {
                board.ends.insert(until);
            }
        }
        for run in view.running {
            let estimate = view.instance.time(run.task, &run.processors).ticks();
            let (limit, exclusive) = asked(run.task).unwrap_or((estimate, false));
            let until = makespan_core::believed_end(run.start, run.start + Time::from_ticks(limit), view.now).ticks();
            let demands = view.instance.demands(run.task).iter();
            let demands = demands.filter(|demand| demand.kind != ResourceKind::Consumable).cloned().collect();
            let parts = board.parts_of(&run.processors);
            let processors = run.processors.len();
            board.begin(run.task, JobHolding { processors, parts, demands, exclusive, from: now, until });
        }
        board
    }

    /// Returns a copy for plans. In plans, all jobs end as expected.
    pub fn for_plans(&self) -> Self {
        Self {
            machines: self.machines.clone(),
            nodes: self.nodes.clone(),
            common: self.common.clone(),
            kept: self.kept.clone(),
            planned: vec![Vec::new(); self.nodes.len()],
            ends: self.ends.clone(),
            reserves_nodes: self.reserves_nodes,
            running: FxHashMap::default(),
        }
    }

    fn parts_of(&self, processors: &ProcSet) -> Vec<(u32, Vec<u32>)> {
        let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
        for at in 0..self.machines.nodes.len() {
            let cells = self.machines.cells_of(at);
            let own: Vec<u32> = cells.iter().map(|cell| cell.ids.intersection(processors).len()).collect();
            if own.iter().any(|&count| count > 0) {
                parts.push((at as u32, own));
            }
        }
        parts
    }

    /// Returns the number of running tasks.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Advances to an instant, and removes the past. If tasks run longer than expected, they get later expected ends.
    pub fn advance(&mut self, now: Time, start: impl Fn(TaskId) -> Option<Time>) {
        let at = now.ticks();
        let mut late: Vec<TaskId> =
            self.running.iter().filter(|(_, held)| held.until <= at).map(|(&task, _)| task).collect();
        late.sort_unstable();
        for task in late {
            let Some(mut held) = self.running.get(&task).cloned() else { continue };
            let begun = start(task).unwrap_or(now);
            held.from = held.until;
            held.until = makespan_core::believed_end(begun, Time::from_ticks(held.until), now).ticks();
            self.begin(task, held);
        }
        self.nodes.iter_mut().for_each(|rows| rows.forget(at));
        self.common.forget(at);
        while self.ends.first().is_some_and(|&end| end <= at) {
            self.ends.pop_first();
        }
    }

    /// Adds a running task.
    pub fn begin(&mut self, task: TaskId, held: JobHolding) {
        self.take(&held, 1);
        self.running.insert(task, held);
    }

    /// Removes a task that no longer runs.
    pub fn end(&mut self, task: TaskId, now: i64) -> Option<JobHolding> {
        let held = self.running.remove(&task)?;
        self.take(&JobHolding { from: now, ..held.clone() }, -1);
        Some(held)
    }

    /// Adds a planned job.
    pub fn plan(&mut self, fit: &Fit, resolution: i64) {
        self.take(&JobHolding { until: rounded(fit.held.until, resolution), ..fit.held.clone() }, 1);
    }

    /// Reserves the nodes of a pending job. As in Slurm, the reservation includes all processors of the nodes. If the
    /// platform only counts processors, the reservation includes only the processors of the job.
    pub fn reserve(&mut self, fit: &Fit, resolution: i64) {
        if !self.reserves_nodes {
            return self.plan(fit, resolution);
        }
        let end = rounded(fit.held.until, resolution);
        for (node, _) in &fit.held.parts {
            self.planned[*node as usize].push((fit.start, end));
        }
        self.ends.insert(end);
    }

    /// Returns the reservations of a node for pending jobs that overlap a period.
    fn planned(&self, node: usize, from: i64, until: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
        let all = self.planned.get(node).into_iter().flatten().copied();
        all.filter(move |&(start, end)| start < until && from < end)
    }

    fn take(&mut self, held: &JobHolding, sign: i64) {
        for (node, cells) in &held.parts {
            let row = self.row_of(held, *node, cells);
            self.nodes[*node as usize].change(held.from, held.until, |left| take(left, row.iter().copied(), sign));
        }
        let row = self.common_row(held);
        if row.iter().any(|&amount| amount > 0) {
            self.common.change(held.from, held.until, |left| take(left, row.iter().copied(), sign));
        }
        if sign > 0 {
            self.ends.insert(held.until);
        }
    }

    /// Returns whether a job would fit if no other job ran.
    pub fn could_hold(&self, asked: &JobRequest) -> bool {
        let nodes = asked.place.all();
        let machines = &self.machines;
        let licences = asked.demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        let mut licences = licences.map(|demand| (demand.need.total(asked.processors), demand.resource));
        if licences.any(|(total, resource)| total > machines.common[resource.index() - machines.resources]) {
            return false;
        }
        let empty = |number: &u32| {
            let node = *number as usize;
            let row: Vec<i64> = machines.row_of(node).map(signed).collect();
            room(asked, &row, machines.cells_of(node).len(), machines.nodes[node].processors)
        };
        let rooms: Vec<(u32, u32)> = nodes.numbers.iter().map(|number| (*number, empty(number))).collect();
        choose(asked, nodes, false, rooms.into_iter()).is_some()
    }

    /// Returns the earliest start of a job from `from` to `until`.
    pub fn earliest(&self, asked: &JobRequest, nodes: JobNodes<'_>, from: i64, until: i64) -> Option<Fit> {
        let (from, until) = match asked.reservation.and_then(|at| self.period_of(at)) {
            Some((begin, end)) => (from.max(begin), until.min(end.saturating_sub(asked.limit))),
            None => (from, until),
        };
        if from > until {
            return None;
        }
        let only = match *nodes.numbers {
            [only] if nodes.counted.is_none() && self.machines.cells_of(only as usize).len() == 1 => Some(only),
            _ => None,
        };
        let simple = self.common.len() == 1 && !asked.exclusive && asked.reservation.is_none();
        let is_open = |only: &u32| {
            let node = *only as usize;
            self.kept[node].is_empty() && self.planned.get(node).is_none_or(Vec::is_empty)
        };
        if let Some(only) = only.filter(|only| simple && is_open(only)) {
            let start = self.first_on(asked, only, from, until)?;
            return self.fit_at(asked, nodes, start, start == from);
        }
        let found = self.fit_at(asked, nodes, from, true);
        let mut later = self.ends.range(from + 1..=until.max(from + 1));
        found.or_else(|| later.find_map(|&at| self.fit_at(asked, nodes, at, false))).filter(|fit| fit.start <= until)
    }

    /// Returns the earliest start of a job on one node. Visits the steps of the node's amounts one by one.
    fn first_on(&self, asked: &JobRequest, number: u32, from: i64, until: i64) -> Option<i64> {
        let all = self.machines.nodes[number as usize].processors;
        let serves = |left: &[i64]| room(asked, left, 1, all) >= asked.processors;
        self.nodes[number as usize].earliest(from, asked.limit, until, serves)
    }

    /// Returns the start and the end of a reservation.
    pub fn period_of(&self, reservation: usize) -> Option<(i64, i64)> {
        self.kept.iter().flatten().find(|one| one.2 == reservation).map(|one| (one.0, one.1))
    }

    /// Returns whether enough licences for a job are available from `start` to `until`.
    pub fn has_licences(&self, asked: &JobRequest, start: i64, until: i64) -> bool {
        let mut licences = asked.demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes).peekable();
        if licences.peek().is_none() {
            return true;
        }
        let mut least = Vec::new();
        self.common.least(self.common.step_at(start), until, &mut least);
        let there = |demand: &Demand| least[demand.resource.index() - self.machines.resources];
        licences.all(|demand| demand.need.total(asked.processors) as i64 <= there(demand))
    }

    /// Returns the fit of a job at the instant `start`, or `None` if the job does not fit. If `takes_all` is true and the
    /// job accepts a range of nodes, the job gets as many nodes as possible.
    fn fit_at(&self, asked: &JobRequest, nodes: JobNodes<'_>, start: i64, takes_all: bool) -> Option<Fit> {
        let until = start.saturating_add(asked.limit);
        if !self.has_licences(asked, start, until) {
            return None;
        }
        let mut least = Vec::new();
        let mut rooms = Vec::with_capacity(nodes.numbers.len());
        for &number in nodes.numbers {
            let meets = |one: &(i64, i64, usize)| one.0 < until && start < one.1 && Some(one.2) != asked.reservation;
            if self.kept[number as usize].iter().any(meets)
                || self.planned(number as usize, start, until).next().is_some()
            {
                continue;
            }
            let (node, rows) = (number as usize, &self.nodes[number as usize]);
            rows.least(rows.step_at(start), until, &mut least);
            let cells = self.machines.cells_of(node).len();
            let room = room(asked, &least, cells, self.machines.nodes[node].processors);
            if room > 0 {
                rooms.push((number, room));
            }
        }
        let chosen = choose(asked, nodes, takes_all, rooms.into_iter())?;
        let parts = chosen.into_iter().map(|(number, count)| (number, self.cells(number, count, start, until)));
        let held = JobHolding {
            processors: asked.processors,
            parts: parts.collect(),
            demands: asked.demands.clone(),
            exclusive: asked.exclusive,
            from: start,
            until,
        };
        Some(Fit { start, held })
    }

    /// Extends the end of a fit, up to the full time limit of the job. The nodes of the job must stay free, and the job
    /// must meet its deadline.
    pub fn extended(&self, asked: &JobRequest, mut fit: Fit) -> Fit {
        let last = fit.start.saturating_add(asked.whole_limit).min(asked.latest.saturating_add(asked.limit));
        let until = fit.held.until;
        if last <= until {
            return fit;
        }
        let comes = |one: &&(i64, i64, usize)| Some(one.2) != asked.reservation && one.1 > until;
        let kept = fit.held.parts.iter().flat_map(|part| &self.kept[part.0 as usize]).filter(comes).map(|one| one.0);
        let own = asked.reservation.and_then(|at| self.period_of(at)).map(|period| period.1);
        let planned = fit.held.parts.iter().flat_map(|part| self.planned(part.0 as usize, until, last));
        let end = kept.chain(own).chain(planned.map(|one| one.0)).chain([last]).min().unwrap_or(last);
        let lacks = self.ends_of_room(&fit.held, until, end).min();
        let granted = lacks.unwrap_or(end).max(until) - fit.start;
        // Grant only whole minutes, because limits are whole minutes.
        fit.held.until = until.max(fit.start.saturating_add(granted - granted % MINUTE));
        fit
    }

    /// Returns, for each node of a job and for its licences, the first instant between `from` and `until` at which the
    /// amounts of the job are not available. Omits a node if its amounts are always available.
    fn ends_of_room<'a>(&'a self, held: &'a JobHolding, from: i64, until: i64) -> impl Iterator<Item = i64> + 'a {
        let of_nodes =
            held.parts.iter().map(|(node, cells)| (&self.nodes[*node as usize], self.row_of(held, *node, cells)));
        of_nodes.chain([(&self.common, self.common_row(held))]).filter_map(move |(rows, row)| {
            let first = rows.step_at(from);
            let begins = |step: usize| if step == first { from } else { rows.begins(step) };
            let lacks = |step: &usize| rows.row(*step).iter().zip(&row).any(|(left, own)| *own > 0 && left < own);
            (first..rows.len()).take_while(|&step| begins(step) < until).find(lacks).map(begins)
        })
    }

    /// Returns the amounts of a node that a job holds: first of each cell, and then of each resource.
    fn row_of(&self, held: &JobHolding, node: u32, cells: &[u32]) -> Vec<i64> {
        let mut row = vec![0; self.nodes[node as usize].width()];
        let here: u32 = cells.iter().sum();
        let own = self.machines.cells_of(node as usize);
        for ((row, cell), &count) in row.iter_mut().zip(own).zip(cells) {
            *row = i64::from(if held.exclusive { cell.ids.len() } else { count });
        }
        for demand in held.demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes) {
            row[cells.len() + demand.resource.index()] = demand.need.share(here, held.processors) as i64;
        }
        row
    }

    /// Returns the amounts of licences and consumables that a job holds.
    fn common_row(&self, held: &JobHolding) -> Vec<i64> {
        let mut row = vec![0; self.common.width()];
        let common = held.demands.iter().filter(|demand| demand.kind != ResourceKind::OfNodes);
        common.for_each(|demand| {
            row[demand.resource.index() - self.machines.resources] = demand.need.total(held.processors) as i64;
        });
        row
    }

    /// Chooses `count` processors of a node. Cells with few free processors are used first.
    fn cells(&self, number: u32, mut count: u32, start: i64, until: i64) -> Vec<u32> {
        let cells = self.machines.cells_of(number as usize).len();
        let (mut least, rows) = (Vec::new(), &self.nodes[number as usize]);
        rows.least(rows.step_at(start), until, &mut least);
        let mut order: Vec<usize> = (0..cells).collect();
        order.sort_by_key(|&cell| (least[cell], cell));
        let mut taken = vec![0; cells];
        for cell in order {
            let here = count.min(least[cell].max(0) as u32);
            taken[cell] = here;
            count -= here;
        }
        taken
    }

    /// Takes the processors of a job that starts now. Removes them from `free`, or returns `None` if `free` does not
    /// contain them.
    pub fn processors(&self, fit: &Fit, free: &mut ProcSet) -> Option<(ProcSet, JobHolding)> {
        let mut own = ProcSet::new();
        for (number, counts) in &fit.held.parts {
            let cells = self.machines.cells_of(*number as usize);
            for (cell, &count) in cells.iter().zip(counts).filter(|part| *part.1 > 0) {
                own.insert(&cell.ids.intersection(free).take(count)?);
            }
        }
        free.remove(&own);
        Some((own, fit.held.clone()))
    }
}

/// Rounds an instant up to a multiple of the resolution. Starts are not rounded, because a rounded start could be before
/// the end of another job that uses the processors.
fn rounded(until: i64, resolution: i64) -> i64 {
    until.saturating_add((resolution - until.rem_euclid(resolution)) % resolution)
}

/// Converts an amount to a signed number, because free amounts may become negative.
fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// Subtracts amounts from a row. If `sign` is -1, adds them instead.
fn take(left: &mut [i64], amounts: impl Iterator<Item = i64>, sign: i64) {
    left.iter_mut().zip(amounts).for_each(|(left, amount)| *left -= sign * amount);
}

/// Returns the reservations of each node.
fn kept(platform: &Platform, machines: &PackingMachines) -> Vec<Vec<(i64, i64, usize)>> {
    let mut kept = vec![Vec::new(); machines.nodes.len()];
    for (at, one) in platform.site().map_or(&[][..], |site: &Site| &site.reservations).iter().enumerate() {
        for number in AvailabilityBoard::numbers(platform, one.nodes.iter().copied()) {
            kept[number as usize].push((one.start.ticks(), one.end.ticks(), at));
        }
    }
    kept
}
