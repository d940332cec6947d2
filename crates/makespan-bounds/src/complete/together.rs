//! Sets of tasks that can run at the same time, and the scales that follow from all of these sets (lifted scales).

use super::model::Model;
use super::scales::{Held, Scale};
use super::supply::Supply;
use super::task::ModelTask;

/// Maximum number of elementary operations of the search for a cover.
const MAX_WORK: u64 = 5_000_000;

/// Returns, for each pair of tasks, true if one of them waits for the other, directly or through other tasks.
fn excluding(model: &Model) -> Vec<Vec<bool>> {
    let tasks = 0..model.tasks.len();
    let after = |first: usize| {
        let (mut open, mut is_after) = (vec![first], vec![false; model.tasks.len()]);
        while let Some(task) = open.pop() {
            for wait in model.waits.iter().filter(|wait| wait.from == task) {
                if !std::mem::replace(&mut is_after[wait.to], true) {
                    open.push(wait.to);
                }
            }
        }
        is_after
    };
    let after: Vec<Vec<bool>> = tasks.clone().map(after).collect();
    tasks.clone().map(|one| tasks.clone().map(|other| after[one][other] || after[other][one]).collect()).collect()
}

/// The amounts that a set of tasks leaves: of each supply on the whole platform, and of each supply on each node.
#[derive(Clone)]
struct Left {
    pool: Vec<i64>,
    nodes: Vec<Vec<i64>>,
}

/// A search for the set of tasks that can run at the same time and hold the largest amount of a scale.
pub(super) struct Sets<'a> {
    model: &'a Model,
    excludes: Vec<Vec<bool>>,
    /// The number of elementary operations that may still be done.
    work: u64,
    best: (i64, Vec<usize>),
}

impl<'a> Sets<'a> {
    /// Begins a search of at most `work` elementary operations.
    pub(super) fn new(model: &'a Model, work: u64) -> Self {
        Self { model, excludes: excluding(model), work, best: (0, Vec::new()) }
    }

    /// Returns the largest sum of `held` over all sets of tasks that can run at the same time, and the set that has this
    /// sum. If `with` names a task and a mode, considers only sets that contain this task in this mode, without the
    /// amount of the task. Returns `None` if the search would take too long.
    pub(super) fn heaviest(&mut self, held: &Held, with: Option<(usize, usize)>) -> Option<(i64, Vec<usize>)> {
        self.best = (-1, Vec::new());
        let most = |task: usize| held[task].iter().copied().max().unwrap_or(0);
        let is_open = |&task: &usize| most(task) > 0 && with.is_none_or(|with| with.0 != task);
        let mut order: Vec<usize> = (0..held.len()).filter(is_open).collect();
        order.sort_by_key(|&task| (std::cmp::Reverse(most(task)), task));
        let mut rest = vec![0; order.len() + 1];
        for at in (0..order.len()).rev() {
            rest[at] = rest[at + 1] + most(order[at]);
        }
        let pool = self.model.supplies[..self.model.own].iter().map(Supply::most).collect();
        let mut starts = vec![Left { pool, nodes: self.model.nodes.clone() }];
        let mut chosen = Vec::new();
        if let Some((task, mode)) = with {
            starts = self.after(&starts[0], task, mode);
            chosen.push(task);
        }
        for left in starts {
            self.extend((held, &order, &rest), 0, 0, &left, &mut chosen)?;
        }
        Some(std::mem::take(&mut self.best))
    }

    fn extend(
        &mut self,
        of: (&Held, &[usize], &[i64]),
        from: usize,
        sum: i64,
        left: &Left,
        chosen: &mut Vec<usize>,
    ) -> Option<()> {
        let (held, order, rest) = of;
        if sum > self.best.0 {
            self.best = (sum, chosen.clone());
        }
        for at in from..order.len() {
            if sum + rest[at] <= self.best.0 {
                break;
            }
            let task = order[at];
            if chosen.iter().any(|&other| self.excludes[other][task]) {
                continue;
            }
            for (mode, &amount) in held[task].iter().enumerate().filter(|one| *one.1 > 0) {
                let nodes = left.nodes.len() as u64;
                self.work = self.work.checked_sub(left.pool.len() as u64 * (1 + nodes * nodes))?;
                for left in self.after(left, task, mode) {
                    chosen.push(task);
                    self.extend(of, at + 1, sum + amount, &left, chosen)?;
                    chosen.pop();
                }
            }
        }
        Some(())
    }

    /// Returns the amounts that are left after a task has been added in some mode, once for each choice of its node.
    fn after(&self, left: &Left, task: usize, mode: usize) -> Vec<Left> {
        let of = &self.model.tasks[task];
        let without = |left: &[i64]| {
            let each =
                left.iter().zip(&of.amounts).map(|(left, held)| Some(left - held[mode]).filter(|&left| left >= 0));
            each.collect::<Option<Vec<i64>>>()
        };
        let Some(pool) = without(&left.pool) else { return Vec::new() };
        if !of.is_on_one_node(mode) || left.nodes.is_empty() {
            return vec![Left { pool, nodes: left.nodes.clone() }];
        }
        let choice = |(number, node): (usize, &Vec<i64>)| {
            let rest = without(node).filter(|_| !left.nodes[..number].contains(node))?;
            let mut nodes = left.nodes.clone();
            nodes[number] = rest;
            Some(Left { pool: pool.clone(), nodes })
        };
        left.nodes.iter().enumerate().filter_map(choice).collect()
    }
}

/// Returns a lifted scale that a solution of the relaxed problem violates: at some instant, the running tasks cannot run
/// at the same time. `starts` contains the start and the mode of each task. Returns `None` if there is no such instant,
/// or if the search would take too long.
pub(super) fn violated(model: &Model, starts: &[(i64, usize)]) -> Option<Scale> {
    let mut instants: Vec<i64> = starts.iter().map(|start| start.0).collect();
    instants.sort_unstable();
    instants.dedup();
    let mut sets = Sets::new(model, MAX_WORK);
    instants.into_iter().find_map(|at| {
        let running = starts
            .iter()
            .enumerate()
            .filter(|&(task, &(start, mode))| start <= at && at < start + model.tasks[task].times[mode]);
        let running: Vec<(usize, usize)> = running.map(|(task, start)| (task, start.1)).collect();
        sets.cover(&running)
    })
}

impl Sets<'_> {
    /// Returns a lifted scale for tasks that cannot run at the same time. Each entry of `tasks` is a task with its mode.
    /// First removes tasks as long as the remaining tasks cannot run at the same time. Then raises the amounts of all
    /// tasks as far as possible without raising the capacity of the scale (lifting of a cover inequality; K. Sidorov,
    /// arXiv 2602.15635). Returns `None` if the tasks can run at the same time, or if the search would take too long.
    fn cover(&mut self, tasks: &[(usize, usize)]) -> Option<Scale> {
        let mut held: Held = self.model.tasks.iter().map(|task| vec![0; task.modes()]).collect();
        tasks.iter().for_each(|&(task, mode)| held[task][mode] = 1);
        let mut count = tasks.len() as i64;
        if self.heaviest(&held, None)?.0 >= count {
            return None;
        }
        for &(task, mode) in tasks {
            held[task][mode] = 0;
            let is_needed = self.heaviest(&held, None)?.0 >= count - 1;
            held[task][mode] = i64::from(is_needed);
            count -= i64::from(!is_needed);
        }
        let most = self.heaviest(&held, None)?.0;
        let mut order: Vec<usize> = (0..held.len()).collect();
        order.sort_by_key(|&task| (std::cmp::Reverse(self.model.tasks[task].shortest()), task));
        for task in order {
            for mode in 0..held[task].len() {
                // A set that contains the task in this mode holds at most `others` without this task.
                let (others, _) = self.heaviest(&held, Some((task, mode)))?;
                if others >= 0 {
                    held[task][mode] = most - others;
                }
            }
        }
        Some(Scale::lifted(held, most))
    }
}

impl ModelTask {
    /// Returns true if the task runs on a single processor in this mode, so that it holds all amounts on one node.
    fn is_on_one_node(&self, mode: usize) -> bool {
        self.allotments[mode] == 1 && self.until[mode] == 2
    }
}
