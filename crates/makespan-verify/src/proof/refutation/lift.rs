//! Lifted scales: additional supplies that follow from all supplies, nodes and waits together.

use crate::proof::CertificateError;

use super::meter::Meter;
use super::relaxation::Relaxation;
use super::supply::Supply;
use super::task::Mode;

/// A task that holds an amount of a lifted scale in some mode.
struct LiftedTask<'a> {
    task: usize,
    /// The modes in which the amount of the scale is positive, each with this amount.
    modes: Vec<(&'a Mode, i128)>,
    /// The largest of these amounts.
    most: i128,
}

/// The amounts that a set of tasks leaves.
struct Left {
    /// For each supply, the amount that remains on the whole platform.
    pool: Vec<i128>,
    /// For each node, the amount of each supply that remains on this node.
    nodes: Vec<Vec<i128>>,
}

impl Left {
    /// Returns the amounts that are left after a task has been added in some mode, once for each choice of its node.
    /// If two nodes have equal amounts left, only the first of them is a choice.
    fn after<'a>(&'a self, mode: &'a Mode) -> impl Iterator<Item = Self> + 'a {
        let without = move |left: &[i128]| {
            let each = left.iter().zip(&mode.amounts).map(|(left, held)| Some(left - held).filter(|&left| left >= 0));
            each.collect::<Option<Vec<i128>>>()
        };
        let pool = without(&self.pool);
        let is_anywhere = !mode.is_on_one_node || self.nodes.is_empty();
        let anywhere = pool.clone().filter(|_| is_anywhere).map(|pool| Self { pool, nodes: self.nodes.clone() });
        let count = if is_anywhere || pool.is_none() { 0 } else { self.nodes.len() };
        // The choices are computed one by one, so that a recursion holds few of them.
        let choice = move |number: usize| {
            let rest = without(&self.nodes[number]).filter(|_| !self.nodes[..number].contains(&self.nodes[number]))?;
            let mut nodes = self.nodes.clone();
            nodes[number] = rest;
            Some(Self { pool: pool.clone()?, nodes })
        };
        anywhere.into_iter().chain((0..count).filter_map(choice))
    }

    /// Returns the number of elementary operations of [`Left::after`].
    fn work(&self) -> usize {
        self.pool.len() * (1 + self.nodes.len()) * (1 + self.nodes.len())
    }
}

/// A search through all sets of tasks that can run at the same time.
struct Sets<'a> {
    /// The tasks in descending order of their largest amounts.
    tasks: Vec<LiftedTask<'a>>,
    /// Entry i is the sum of the largest amounts of the tasks from index i on.
    rest: Vec<i128>,
    /// For each pair of tasks, true if one of them waits for the other, directly or through other tasks.
    excludes: Vec<Vec<bool>>,
    most: i128,
}

/// Returns the maximum sum of `held` over all sets of tasks, each in one mode, that can run at the same time. `held`
/// contains an amount of the lifted scale for each mode of each task. Tasks can run at the same time under these
/// conditions:
///
/// * No task of the set waits for another one, directly or through other tasks.
/// * The tasks together hold at most the largest amount of each of the first `supplies` supplies.
/// * If the relaxed problem has nodes, the tasks on one processor can be distributed to the nodes.
pub(super) fn most_together(
    relaxation: &Relaxation,
    supplies: usize,
    held: &[i128],
    meter: &mut Meter,
) -> Result<i128, CertificateError> {
    let mut held = held.iter().copied();
    let mut tasks: Vec<LiftedTask<'_>> = Vec::new();
    for (task, of) in relaxation.tasks.iter().enumerate() {
        let modes: Vec<(&Mode, i128)> = of.modes.iter().zip(held.by_ref()).filter(|mode| mode.1 > 0).collect();
        let most = modes.iter().map(|mode| mode.1).max();
        tasks.extend(most.map(|most| LiftedTask { task, modes, most }));
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(task.most));
    let mut rest = vec![0; tasks.len() + 1];
    for at in (0..tasks.len()).rev() {
        rest[at] = rest[at + 1] + tasks[at].most;
    }
    let excludes = excludes(relaxation, &tasks, meter)?;
    let pool = relaxation.supplies[..supplies].iter().map(Supply::most).collect();
    let all = Left { pool, nodes: relaxation.nodes.clone() };
    let mut sets = Sets { tasks, rest, excludes, most: 0 };
    sets.extend(0, 0, &all, &mut Vec::new(), meter)?;
    Ok(sets.most)
}

/// Returns [`Sets::excludes`].
fn excludes(
    relaxation: &Relaxation,
    tasks: &[LiftedTask<'_>],
    meter: &mut Meter,
) -> Result<Vec<Vec<bool>>, CertificateError> {
    let mut next = vec![Vec::new(); relaxation.tasks.len()];
    relaxation.waits.keys().for_each(|&(from, to)| next[from].push(to));
    let mut excludes = vec![vec![false; tasks.len()]; tasks.len()];
    for (one, first) in tasks.iter().enumerate() {
        meter.spend(relaxation.tasks.len() + relaxation.waits.len() + tasks.len())?;
        let mut is_after = vec![false; relaxation.tasks.len()];
        let mut open = vec![first.task];
        while let Some(task) = open.pop() {
            for &after in &next[task] {
                if !std::mem::replace(&mut is_after[after], true) {
                    open.push(after);
                }
            }
        }
        for other in (0..tasks.len()).filter(|&other| is_after[tasks[other].task]) {
            (excludes[one][other], excludes[other][one]) = (true, true);
        }
    }
    Ok(excludes)
}

impl Sets<'_> {
    /// Adds tasks from index `from` on to a set of tasks in every possible way. The tasks of the set have the indices
    /// `chosen` and the sum `sum` of amounts.
    fn extend(
        &mut self,
        from: usize,
        sum: i128,
        left: &Left,
        chosen: &mut Vec<usize>,
        meter: &mut Meter,
    ) -> Result<(), CertificateError> {
        self.most = self.most.max(sum);
        for at in from..self.tasks.len() {
            meter.spend(1 + chosen.len())?;
            if sum + self.rest[at] <= self.most {
                return Ok(());
            }
            if chosen.iter().any(|&other| self.excludes[other][at]) {
                continue;
            }
            for mode in 0..self.tasks[at].modes.len() {
                meter.spend(left.work())?;
                let (held, amount) = self.tasks[at].modes[mode];
                for left in left.after(held) {
                    chosen.push(at);
                    self.extend(at + 1, sum + amount, &left, chosen, meter)?;
                    chosen.pop();
                }
            }
        }
        Ok(())
    }
}
