//! One chain onto processors, all else as it is: a dynamic programme over processors and ends.

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

/// Of the steps in which ends are looked at there are 2 to the power of this in the walltime, and fewer than twice as many.
const STEPS: u32 = 8;
const NO: i64 = i64::MAX / 4;

/// Places the tasks of a chain that are not placed, as well as can be with the placed ones where they are; `false`, with
/// the draft unchanged but for what fitted, when a task or an edge does not fit. Ends are on a grid of 256 to 511
/// steps to the walltime, starts exact.
///
/// Between two placed tasks of a chain its tasks see each other only. The backward run finds for each task, processor and
/// end what the rest of the run is worth at best, with the minima over later ends kept; the forward run reads the
/// places off. O(k m^2 s) for k tasks, m processors and s steps.
///
/// Source: Tselishchev and Toporkov 2009, section 3.2 (reverse and forward walk over a search tree, which is that of
/// this programme with equal states joined).
pub fn plan(draft: &mut Draft, tasks: &[u32], edges: &[u32], aim: &Aim) -> bool {
    let mut at = 0;
    while at < tasks.len() {
        if draft.is_placed(tasks[at]) {
            at += 1;
            continue;
        }
        let last = (at..tasks.len()).find(|&next| draft.is_placed(tasks[next])).unwrap_or(tasks.len());
        if !run(draft, &tasks[at..last], &edges[at..last - 1], aim) {
            return false;
        }
        at = last;
    }
    // A link between two tasks that other chains have placed.
    tasks.windows(2).zip(edges).all(|(pair, &edge)| draft.keeps(pair[0], pair[1], edge))
}

/// The step of a walltime: a power of two, so that times in finer ticks of that kind have the same steps.
pub fn step(walltime: i64) -> i64 {
    1 << walltime.max(1).ilog2().saturating_sub(STEPS)
}

struct Table {
    /// For each processor and step what the rest is worth when the task ends there.
    value: Vec<i64>,
    /// The minima over this and later steps.
    later: Vec<i64>,
}

fn run(draft: &mut Draft, tasks: &[u32], edges: &[u32], aim: &Aim) -> bool {
    let origin = draft.release();
    let step = step(aim.end - origin);
    let (steps, machines) = (((aim.end - origin) / step) as usize + 1, draft.processors());
    let windows = draft.windows(aim.end, tasks);
    let mut tables: Vec<Table> = Vec::with_capacity(tasks.len());
    for (position, &task) in tasks.iter().enumerate().rev() {
        let mut table = Table { value: vec![NO; machines * steps], later: vec![NO; machines * steps] };
        for machine in 0..machines as u32 {
            let weight = draft.weight(task, machine, aim.criterion);
            let next = tables.last().map(|next| (next, tasks[position + 1], edges[position]));
            let row = machine as usize * steps;
            for (from, until) in draft.ends(task, machine, &windows, (aim.end, tasks)) {
                let first = (from - origin + step - 1).div_euclid(step).max(0) as usize;
                let last = (until - origin).div_euclid(step);
                for at in first..=usize::try_from(last).unwrap_or(0).min(steps - 1) {
                    if last >= 0 {
                        table.value[row + at] = 0;
                    }
                }
            }
            if let Some((next, after, edge)) = next {
                let mut rest = vec![NO; steps];
                for to in 0..machines {
                    let shift = draft.shift((after, edge), machine, to as u32, step);
                    let Some(shift) = shift.filter(|&shift| shift < steps) else { continue };
                    let later = &next.later[to * steps + shift..(to + 1) * steps];
                    rest.iter_mut().zip(later).for_each(|(rest, &later)| *rest = later.min(*rest));
                }
                let values = table.value[row..row + steps].iter_mut().zip(&rest);
                values.filter(|(value, _)| **value < NO).for_each(|(value, &rest)| *value = rest);
            }
            let mut least = NO;
            for at in (0..steps).rev() {
                let value = &mut table.value[row + at];
                if *value < NO {
                    *value += weight;
                }
                least = least.min(*value);
                table.later[row + at] = least;
            }
        }
        tables.push(table);
    }
    tables.reverse();
    forward(draft, tasks, &tables, (origin, step, aim.lean))
}

/// Reads the places off the tables.
fn forward(draft: &mut Draft, tasks: &[u32], tables: &[Table], grid: (i64, i64, Lean)) -> bool {
    let (origin, step, lean) = grid;
    let machines = draft.processors();
    let steps = tables[0].value.len() / machines;
    for (&task, table) in tasks.iter().zip(tables) {
        // The tables know of the edge between neighbours in the chain only; others may lead past a task.
        let first = |to: usize| {
            let end = draft.first_end(task, to as u32)?;
            usize::try_from((end - origin + step - 1).div_euclid(step)).ok().filter(|&at| at < steps)
        };
        let starts: Vec<Option<usize>> = (0..machines).map(first).collect();
        let reached = |to: usize| starts[to].map_or(NO, |at| table.later[to * steps + at]);
        let best = (0..machines).map(reached).min().unwrap_or(NO);
        if best >= NO {
            return false;
        }
        let fits = |to: usize| {
            let mut ends = starts[to]?..steps;
            let good = |&at: &usize| table.value[to * steps + at] == best;
            let at = if lean == Lean::Early { ends.find(good) } else { ends.rev().find(good) }?;
            Some((to, at))
        };
        let options = (0..machines).filter_map(fits);
        let start = |&(to, at): &(usize, usize)| {
            let start = at as i64 * step - draft.time(task, to as u32);
            if lean == Lean::Early { (at as i64, to) } else { (-start, to) }
        };
        let Some((machine, at)) = options.min_by_key(start) else { return false };
        let end = origin + at as i64 * step;
        draft.put(task, machine as u32, end - draft.time(task, machine as u32));
    }
    true
}
