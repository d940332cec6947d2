//! Places the unplaced tasks of one chain on processors. A dynamic programme considers the processors and the possible
//! ends of each task. All other tasks keep their places.

use rustc_hash::{FxHashMap, FxHashSet};

use super::criterion::{Criterion, TieBreak};
use super::draft::Draft;
use super::frame::GraphDirection;
use super::windows::{PlanningLimits, TransferRoom};

/// The objective and the limits for the plan of a chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainAim {
    /// The objective.
    pub criterion: Criterion,
    /// The rule that chooses among equally good schedules.
    pub tie_break: TieBreak,
    /// Deadline of the job, in ticks: all its tasks must end by this instant.
    pub end: i64,
    /// The transfer times that are assumed for tasks without places.
    pub room: TransferRoom,
}

/// Maximum number of labels for a task on one processor. A label is a possible end of the task. A run is a sequence of
/// unplaced tasks between two placed tasks. For a run of many tasks, the maximum is `RUN_LABELS` divided by the number
/// of tasks, but at least `MIN_LABELS`.
const MAX_LABELS: usize = 64;
const MIN_LABELS: usize = 16;
const RUN_LABELS: usize = 4096;
/// For each task of a run, at most this number of minimum distances from earlier tasks of the run are stored.
const MAX_GAPS: usize = 8;

/// Places the unplaced tasks of a chain optimally, while the placed tasks keep their places. Returns `false` if a task
/// or an edge does not fit. In this case, the draft contains only the runs that were placed before the failure.
///
/// The unplaced tasks between two placed tasks of a chain form a run. Each run is planned separately. The first pass
/// goes forward through the run. For each task and processor, it computes possible ends, each with the best value of
/// the tasks so far. An end is dropped if another end is at most as late and has at least as good a value. The second
/// pass goes back from the best end of the last task. With [`TieBreak::Latest`], the tasks are then moved as late as
/// possible. Complexity: O(k m^2 l log l) for k tasks, m processors and at most l ends for a task on a processor. At
/// most 64 ends are kept (16 in long runs), spaced evenly by rank.
///
/// Source: Tselishchev and Toporkov 2009, section 3.2 (two walks over a search tree). Merging equal states turns the
/// tree into this dynamic programme.
pub fn plan(draft: &mut Draft, tasks: &[u32], edges: &[u32], aim: &ChainAim) -> bool {
    let mut at = 0;
    while at < tasks.len() {
        if draft.is_placed(tasks[at]) {
            at += 1;
            continue;
        }
        let last = (at..tasks.len()).find(|&next| draft.is_placed(tasks[next])).unwrap_or(tasks.len());
        if !run(draft, &tasks[at..last], aim) {
            return false;
        }
        at = last;
    }
    // Check the edges between two placed tasks.
    tasks.windows(2).zip(edges).all(|(pair, &edge)| draft.keeps(pair[0], pair[1], edge))
}

/// One possible end of a task on a processor.
#[derive(Clone, Copy, Debug)]
struct Label {
    end: i64,
    /// The value of this task and of all earlier tasks of the run.
    value: i64,
    /// The label of the previous task.
    before: Number,
}

/// The index of a label of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    machine: u32,
    /// The index among the labels of the task on this processor.
    at: u32,
}

/// The labels of each task of a run on each processor. The tasks are in the order of the run.
type Labels = [Vec<Vec<Label>>];

/// For one task of a run: the constraints on its start that follow from earlier tasks of the run. Each constraint is a
/// minimum time from the end of an earlier task to this start. Both lists are sorted by decreasing position of the
/// earlier task.
struct Needs {
    /// For each edge from an earlier task of the run, the position of this earlier task, and the index of the edge.
    edges: Vec<(usize, u32)>,
    /// The position of an earlier task E of the run, and the minimum time from the end of E to the start of this task.
    /// The time is needed for unplaced tasks outside the run that must run between E and this task.
    gaps: Vec<(usize, i64)>,
}

/// Unplaced tasks of a chain between two placed tasks, with the constraints from the draft.
struct Run<'a> {
    draft: &'a Draft<'a>,
    tasks: &'a [u32],
    /// For each task and each processor, the intervals in which the task may end on the processor.
    open: Vec<Vec<Vec<(i64, i64)>>>,
    needs: Vec<Needs>,
}

/// Places the tasks of a run. If one of these tasks does not fit, returns `false` and does not change the draft.
fn run(draft: &mut Draft, tasks: &[u32], aim: &ChainAim) -> bool {
    let run = Run::new(draft, tasks, aim);
    let Some(mut chosen) = run.best(aim) else { return false };
    if aim.tie_break == TieBreak::Latest {
        run.delay(&mut chosen);
    }
    for (&task, &(machine, end)) in tasks.iter().zip(&chosen) {
        draft.put(task, machine, end - draft.time(task, machine));
    }
    true
}

impl<'a> Run<'a> {
    fn new(draft: &'a Draft<'a>, tasks: &'a [u32], aim: &ChainAim) -> Self {
        let machines = 0..draft.processors() as u32;
        let span = PlanningLimits { end: aim.end, room: aim.room, run: tasks };
        let windows = draft.windows(tasks, &span);
        let free = |&task: &u32| machines.clone().map(|machine| draft.ends(task, machine, &windows, &span)).collect();
        Self { draft, tasks, open: tasks.iter().map(free).collect(), needs: needs(draft, tasks, aim.room) }
    }

    /// Returns the processor and the end of each task in the best plan, or `None` if a task does not fit.
    fn best(&self, aim: &ChainAim) -> Option<Vec<(u32, i64)>> {
        let machines = 0..self.draft.processors() as u32;
        let mut labels: Vec<Vec<Vec<Label>>> = Vec::with_capacity(self.tasks.len());
        for _ in self.tasks {
            let own: Vec<Vec<Label>> = machines.clone().map(|machine| self.reached(&labels, machine, aim)).collect();
            if own.iter().all(Vec::is_empty) {
                return None;
            }
            labels.push(own);
        }
        let last = (0..).zip(labels.last().into_iter().flatten());
        let all =
            last.flat_map(|(machine, own)| (0..).zip(own).map(move |(at, label)| (Number { machine, at }, label)));
        let (mut number, _) = all.min_by_key(|&(number, label)| (label.value, label.end, number))?;
        let mut chosen: Vec<(u32, i64)> = Vec::with_capacity(self.tasks.len());
        for own in labels.iter().rev() {
            let label = own[number.machine as usize][number.at as usize];
            chosen.push((number.machine, label.end));
            number = label.before;
        }
        chosen.reverse();
        Some(chosen)
    }

    /// Returns the possible ends of the next task on one processor, each with its best value. Each end has a better
    /// value than all earlier ends.
    fn reached(&self, labels: &Labels, machine: u32, aim: &ChainAim) -> Vec<Label> {
        let (draft, position) = (self.draft, labels.len());
        let (task, open) = (self.tasks[position], &self.open[position][machine as usize]);
        let Some(&(first, _)) = open.first() else { return Vec::new() };
        let (time, weight) = (draft.time(task, machine), draft.weight(task, machine, aim.criterion));
        if position == 0 {
            return vec![Label { end: first, value: weight, before: Number::default() }];
        }
        let mut found = Vec::new();
        for (other, own) in (0..).zip(&labels[position - 1]) {
            for (at, label) in (0..).zip(own) {
                let before = Number { machine: other, at };
                let end = self.ready(labels, before, machine) + time;
                let next = open.partition_point(|&(_, until)| until < end);
                if let Some(&(first, _)) = open.get(next) {
                    found.push(Label { end: end.max(first), value: label.value + weight, before });
                }
            }
        }
        found.sort_unstable_by_key(|label| (label.end, label.value, label.before));
        let mut least = i64::MAX;
        found.retain(|label| {
            let better = label.value < least;
            least = least.min(label.value);
            better
        });
        let (count, most) = (found.len(), (RUN_LABELS / self.tasks.len()).clamp(MIN_LABELS, MAX_LABELS));
        if count > most {
            // Keep the first end, the last end, and some ends between them that are spaced evenly by rank.
            found = (0..most).map(|rank| found[rank * (count - 1) / (most - 1)]).collect();
        }
        found
    }

    /// Returns the earliest start of the next task on `machine` that keeps the minimum distances from all earlier
    /// tasks of the run. `last` is the label of the previous task.
    fn ready(&self, labels: &Labels, last: Number, machine: u32) -> i64 {
        let (mut ready, mut number) = (i64::MIN, last);
        let needs = &self.needs[labels.len()];
        let (mut edges, mut gaps) = (needs.edges.as_slice(), needs.gaps.as_slice());
        for position in (0..labels.len()).rev() {
            if edges.is_empty() && gaps.is_empty() {
                break;
            }
            let label = labels[position][number.machine as usize][number.at as usize];
            while let Some((&(_, edge), rest)) = edges.split_first().filter(|(need, _)| need.0 == position) {
                ready = ready.max(label.end + self.draft.way_between(edge, number.machine, machine));
                edges = rest;
            }
            while let Some((&(_, gap), rest)) = gaps.split_first().filter(|(need, _)| need.0 == position) {
                ready = ready.max(label.end + gap);
                gaps = rest;
            }
            number = label.before;
        }
        ready
    }

    /// Moves each task of the run to the latest end that the later tasks of the run allow, beginning with the last
    /// task. Each task stays on its processor.
    fn delay(&self, chosen: &mut [(u32, i64)]) {
        let Self { draft, tasks, needs, .. } = self;
        for position in (0..tasks.len()).rev() {
            let (machine, end) = chosen[position];
            let mut limit = i64::MAX;
            for next in position + 1..tasks.len() {
                let start = chosen[next].1 - draft.time(tasks[next], chosen[next].0);
                for &(_, edge) in needs[next].edges.iter().filter(|need| need.0 == position) {
                    limit = limit.min(start - draft.way_between(edge, machine, chosen[next].0));
                }
                for &(_, gap) in needs[next].gaps.iter().filter(|need| need.0 == position) {
                    limit = limit.min(start - gap);
                }
            }
            let free = &self.open[position][machine as usize];
            let last = free[..free.partition_point(|&(first, _)| first <= limit)].last();
            chosen[position].1 = last.map_or(end, |&(_, until)| until.min(limit)).max(end);
        }
    }
}

/// Returns the minimum distances that each task of a run must keep from earlier tasks of the run. The distances follow
/// from edges, and from paths through unplaced tasks outside the run. On a path, each task takes its fastest time. If
/// a task has more than eight distances from paths, keeps the eight that delay the task most.
fn needs(draft: &Draft, tasks: &[u32], room: TransferRoom) -> Vec<Needs> {
    let frame = draft.frame();
    let positions: FxHashMap<u32, usize> = tasks.iter().copied().zip(0..).collect();
    let edges = |&task: &u32| {
        let each = frame.incoming(task).filter_map(|from| Some((*positions.get(&from.task)?, from.edge)));
        let mut edges: Vec<(usize, u32)> = each.collect();
        edges.sort_unstable_by_key(|&(at, edge)| (usize::MAX - at, edge));
        Needs { edges, gaps: Vec::new() }
    };
    let mut needs: Vec<Needs> = tasks.iter().map(edges).collect();
    let open = if tasks.len() == 1 { Vec::new() } else { between(draft, tasks, &positions) };
    if open.is_empty() {
        return needs;
    }
    let way = |edge: u32| match room {
        TransferRoom::Least => frame.least_transfer(edge),
        TransferRoom::Mean => frame.mean_transfer(edge),
    };
    // For each task, the minimum time from the start of the run to the start of the task. This time is computed from
    // the fastest times of the tasks of the run.
    let mut starts = vec![0; tasks.len()];
    for at in 1..tasks.len() {
        let edge = needs[at].edges.iter().find(|need| need.0 == at - 1);
        let way = edge.map_or(0, |&(_, edge)| frame.least_transfer(edge));
        starts[at] = starts[at - 1] + frame.chart.times[tasks[at - 1] as usize] + way;
    }
    // The longest path from the end of the task `first` to the end of each unplaced task outside the run.
    let mut lengths: FxHashMap<u32, i64> = FxHashMap::default();
    for (from, &first) in tasks.iter().enumerate() {
        lengths.clear();
        let reach = |lengths: &FxHashMap<u32, i64>, task: u32| {
            let each = frame.incoming(task).filter_map(|before| match lengths.get(&before.task) {
                Some(length) => Some(length + way(before.edge)),
                None => (before.task == first).then(|| way(before.edge)),
            });
            each.max()
        };
        for &task in &open {
            if let Some(length) = reach(&lengths, task) {
                lengths.insert(task, length + frame.chart.times[task as usize]);
            }
        }
        let end = starts[from] + frame.chart.times[first as usize];
        for (at, &task) in tasks.iter().enumerate().skip(from + 1) {
            let each = frame.incoming(task).filter_map(|last| Some(lengths.get(&last.task)? + way(last.edge)));
            if let Some(gap) = each.max().filter(|gap| end + gap > starts[at]) {
                needs[at].gaps.push((from, gap));
            }
        }
    }
    for (at, need) in needs.iter_mut().enumerate() {
        let excess = |&(from, gap): &(usize, i64)| starts[from] + frame.chart.times[tasks[from] as usize] + gap;
        need.gaps.sort_unstable_by_key(|gap| (starts[at] - excess(gap), gap.0));
        need.gaps.truncate(MAX_GAPS);
        need.gaps.sort_unstable_by_key(|gap| usize::MAX - gap.0);
    }
    needs
}

/// Let T be the last task of the run in topological order. Returns the unplaced tasks outside the run that come after
/// a task of the run in the graph, and before T in topological order. The result is in topological order.
fn between(draft: &Draft, tasks: &[u32], positions: &FxHashMap<u32, usize>) -> Vec<u32> {
    let frame = draft.frame();
    let last = tasks.iter().map(|&task| frame.position(task)).max().unwrap_or(0);
    let is_open = |task: u32| !draft.is_placed(task) && !positions.contains_key(&task) && frame.position(task) < last;
    let mut seen = FxHashSet::default();
    let mut open = Vec::new();
    for &task in tasks {
        open.extend(frame.outgoing(task).map(|to| to.task).filter(|&to| is_open(to) && seen.insert(to)));
    }
    let mut next = 0;
    while let Some(&task) = open.get(next) {
        next += 1;
        open.extend(
            frame.beside(task, GraphDirection::After).map(|to| to.task).filter(|&to| is_open(to) && seen.insert(to)),
        );
    }
    open.sort_unstable_by_key(|&task| frame.position(task));
    open
}
