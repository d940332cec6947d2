//! One chain onto processors, all else as it is: a dynamic programme over processors and the ends that can be reached.

use super::draft::Draft;

/// Which schedules are better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Lowest cost: the sum over tasks of 1000 V / T, rounded up each, for a volume V that takes the time T.
    #[default]
    Cost,
    /// Greatest average utilisation of the processors: the longest times.
    Utilisation,
}

/// Of equally good places, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// The earliest.
    Early,
    /// The latest.
    Late,
}

/// What one chain is planned by.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Which schedules are better.
    pub criterion: Criterion,
    /// Of equally good ones, which.
    pub lean: Lean,
    /// No task ends later, in ticks.
    pub end: i64,
}

/// Labels that are kept for a task on one processor.
const MOST_LABELS: usize = 64;

/// Places the tasks of a chain that are not placed, as well as can be with the placed ones where they are; `false`, with
/// the draft unchanged but for what fitted, when a task or an edge does not fit.
///
/// Between two placed tasks of a chain its tasks see each other only. The first walk finds for each task and processor
/// the ends that can be reached, each with the best value of what came before, and keeps those that are not both later
/// and worse; the second walk goes back from the best last one. With [`Lean::Late`] the tasks are then moved as
/// late as they can be. O(k m^2 l log l) for k tasks, m processors and l ends, of which at most 64 are kept, evenly by
/// their rank.
///
/// Source: Tselishchev and Toporkov 2009, section 3.2 (two walks over a search tree, which is that of this programme
/// with equal states joined).
pub fn plan(draft: &mut Draft, tasks: &[u32], edges: &[u32], aim: &Aim) -> bool {
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
    // A link between two tasks that other chains have placed.
    tasks.windows(2).zip(edges).all(|(pair, &edge)| draft.keeps(pair[0], pair[1], edge))
}

/// One end of a task on a processor that can be reached.
#[derive(Clone, Copy, Debug)]
struct Label {
    end: i64,
    /// Of this task and those before it.
    value: i64,
    /// The processor and the label of the task before.
    before: (u32, u32),
}

/// What a task of a run needs of those before it.
struct Needs {
    /// Edges from tasks of the run: their positions.
    edges: Vec<(usize, u32)>,
    /// Time that must be between the end of a task of the run and the start of this one, for tasks that are placed later.
    gaps: Vec<(usize, i64)>,
}

/// For each task of a run and each processor when the task may end there.
type Open = Vec<Vec<Vec<(i64, i64)>>>;

fn run(draft: &mut Draft, tasks: &[u32], aim: &Aim) -> bool {
    let machines = draft.processors();
    let windows = draft.windows(aim.end, tasks);
    let free = |&task: &u32| {
        (0..machines as u32).map(|machine| draft.ends(task, machine, &windows, (aim.end, tasks))).collect()
    };
    let open: Open = tasks.iter().map(free).collect();
    let needs = needs(draft, tasks);
    let mut labels: Vec<Vec<Vec<Label>>> = Vec::with_capacity(tasks.len());
    for _ in tasks {
        let own = (0..machines as u32).map(|machine| reached(draft, tasks, (&open, &needs, &labels), machine, aim));
        let own: Vec<Vec<Label>> = own.collect();
        if own.iter().all(Vec::is_empty) {
            return false;
        }
        labels.push(own);
    }
    let last = labels.last().into_iter().flatten().enumerate();
    let best = last.flat_map(|(machine, own)| own.iter().enumerate().map(move |(at, label)| (machine, at, label)));
    let Some((machine, at, _)) = best.min_by_key(|&(machine, at, label)| (label.value, label.end, machine, at)) else {
        return false;
    };
    let mut at = (machine as u32, at as u32);
    let mut chosen: Vec<(u32, i64)> = Vec::with_capacity(tasks.len());
    for own in labels.iter().rev() {
        let label = own[at.0 as usize][at.1 as usize];
        chosen.push((at.0, label.end));
        at = label.before;
    }
    chosen.reverse();
    if aim.lean == Lean::Late {
        later(draft, tasks, (&open, &needs), &mut chosen);
    }
    for (&task, &(machine, end)) in tasks.iter().zip(&chosen) {
        draft.put(task, machine, end - draft.time(task, machine));
    }
    true
}

/// The ends of the next task on one processor, each with its best value, none both later and worse than another.
fn reached(
    draft: &Draft,
    tasks: &[u32],
    (open, needs, labels): (&Open, &[Needs], &[Vec<Vec<Label>>]),
    machine: u32,
    aim: &Aim,
) -> Vec<Label> {
    let position = labels.len();
    let (task, open) = (tasks[position], &open[position][machine as usize]);
    let Some(&(first, _)) = open.first() else { return Vec::new() };
    let (time, weight) = (draft.time(task, machine), draft.weight(task, machine, aim.criterion));
    if position == 0 {
        return vec![Label { end: first, value: weight, before: (0, 0) }];
    }
    let mut found = Vec::new();
    for (other, own) in labels[position - 1].iter().enumerate() {
        for (at, label) in own.iter().enumerate() {
            let before = (other as u32, at as u32);
            let end = ready(draft, (&needs[position], labels), before, machine) + time;
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
    let count = found.len();
    if count > MOST_LABELS {
        // The first, the last, and those between by rank.
        found = (0..MOST_LABELS).map(|rank| found[rank * (count - 1) / (MOST_LABELS - 1)]).collect();
    }
    found
}

/// When a task may start as far as the run before it is concerned, which ends with a label.
fn ready(draft: &Draft, (needs, labels): (&Needs, &[Vec<Vec<Label>>]), last: (u32, u32), machine: u32) -> i64 {
    let (mut ready, mut at) = (i64::MIN, last);
    let least = needs.edges.iter().map(|need| need.0).chain(needs.gaps.iter().map(|need| need.0)).min();
    for position in (least.unwrap_or(labels.len())..labels.len()).rev() {
        let label = labels[position][at.0 as usize][at.1 as usize];
        for &(_, edge) in needs.edges.iter().filter(|need| need.0 == position) {
            ready = ready.max(label.end + draft.way_between(edge, at.0, machine));
        }
        for &(_, gap) in needs.gaps.iter().filter(|need| need.0 == position) {
            ready = ready.max(label.end + gap);
        }
        at = label.before;
    }
    ready
}

/// Moves each task as late as those after it allow, from the last on, each on its processor.
fn later(draft: &Draft, tasks: &[u32], (open, needs): (&Open, &[Needs]), chosen: &mut [(u32, i64)]) {
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
        let free = &open[position][machine as usize];
        let last = free[..free.partition_point(|&(first, _)| first <= limit)].last();
        chosen[position].1 = last.map_or(end, |&(_, until)| until.min(limit)).max(end);
    }
}

/// What each task of a run needs of the others: edges, and paths through tasks that are neither placed nor of the run, at
/// their fastest with mean transfers.
fn needs(draft: &Draft, tasks: &[u32]) -> Vec<Needs> {
    let frame = draft.frame();
    let mut position = vec![usize::MAX; frame.tasks()];
    tasks.iter().enumerate().for_each(|(at, &task)| position[task as usize] = at);
    let edges = |&task: &u32| {
        let each = frame.incoming(task).map(|from| (position[from.task as usize], from.edge));
        Needs { edges: each.filter(|&(at, _)| at != usize::MAX).collect(), gaps: Vec::new() }
    };
    let mut needs: Vec<Needs> = tasks.iter().map(edges).collect();
    let is_open = |&task: &u32| !draft.is_placed(task) && position[task as usize] == usize::MAX;
    let open: Vec<u32> = frame.chart.order.iter().copied().filter(is_open).collect();
    if open.is_empty() || tasks.len() == 1 {
        return needs;
    }
    let mut lengths = vec![i64::MIN; frame.tasks()];
    for from in 0..tasks.len() {
        lengths.fill(i64::MIN);
        // Longest ways from the end of the task to that of each open one.
        let reach = |lengths: &[i64], task: u32| {
            let each = frame.incoming(task).filter_map(|before| {
                let (at, way) = (position[before.task as usize], frame.mean_transfer(before.edge));
                match lengths[before.task as usize] {
                    _ if at == from => Some(way),
                    i64::MIN => None,
                    length => Some(length + way),
                }
            });
            each.max()
        };
        for &task in &open {
            if let Some(length) = reach(&lengths, task) {
                lengths[task as usize] = length + frame.chart.times[task as usize];
            }
        }
        for (at, &task) in tasks.iter().enumerate().skip(from + 1) {
            let each = frame.incoming(task).filter(|before| lengths[before.task as usize] != i64::MIN);
            let gap = each.map(|before| lengths[before.task as usize] + frame.mean_transfer(before.edge)).max();
            needs[at].gaps.extend(gap.map(|gap| (from, gap)));
        }
    }
    needs
}
