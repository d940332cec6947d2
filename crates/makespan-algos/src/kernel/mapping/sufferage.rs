//! Sufferage: first maps the task that loses the most time if it does not get its best machine.

use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem};

/// The *sufferage* of a task is the difference between its earliest completion and its second earliest completion on
/// another machine. There are two variants.
///
/// * By passes: each pass goes through the waiting tasks in their order. Among the tasks with the same best machine,
///   the pass selects the task with the largest sufferage. At the end of the pass, the selected tasks are mapped. The
///   other tasks wait for the next pass.
/// * Greedy: each step maps the task with the largest sufferage, and then evaluates all remaining tasks again.
///
/// Source: M. Maheswaran et al., JPDC 59, 1999, section 3.3 (Figure 3), DOI 10.1006/jpdc.1999.1581 (by passes); H.
/// Casanova et al., HCW 2000, DOI 10.1109/HCW.2000.843757 (greedy). A task that only one machine can run has the
/// largest sufferage. Complexity by passes, for n tasks on m machines: O(n m) for each of at most n passes. Complexity
/// of the greedy variant: O(n (n + c m)), if each machine is the best or second best machine of c tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sufferage {
    /// Whether each step maps a single task. Otherwise, each pass maps up to one task for each machine.
    pub greedy: bool,
}

/// The two best machines of a task, its completion on the best machine, and its sufferage.
#[derive(Clone, Copy, Debug)]
struct BestMachines {
    machine: MachineId,
    second: MachineId,
    completion: i64,
    sufferage: i64,
}

impl BestMachines {
    fn of(problem: &MappingProblem<'_>, task: usize, ready: &[i64]) -> Self {
        let (mut best, mut second) = ((MachineId(0), i64::MAX), (MachineId(0), i64::MAX));
        for (machine, (&ready, &time)) in problem.machine_ids().zip(ready.iter().zip(problem.row(task))) {
            let completion = ready + time.ticks();
            if completion < best.1 {
                (second, best) = (best, (machine, completion));
            } else if completion < second.1 {
                second = (machine, completion);
            }
        }
        Self { machine: best.0, second: second.0, completion: best.1, sufferage: second.1 - best.1 }
    }
}

impl Mapper for Sufferage {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        if self.greedy { one_by_one(problem) } else { by_passes(problem) }
    }
}

fn by_passes(problem: &MappingProblem<'_>) -> Vec<MachineId> {
    let mut ready = problem.ready().to_vec();
    let mut mapping = vec![MachineId(0); problem.tasks()];
    let mut waiting: Vec<usize> = (0..problem.tasks()).collect();
    let mut next = Vec::with_capacity(waiting.len());
    let mut held: Vec<Option<(usize, BestMachines)>> = vec![None; problem.machines()];
    while !waiting.is_empty() {
        for &task in &waiting {
            let wish = BestMachines::of(problem, task, &ready);
            let holder = &mut held[wish.machine.index()];
            match holder {
                Some((_, other)) if other.sufferage >= wish.sufferage => next.push(task),
                _ => next.extend(holder.replace((task, wish)).map(|(other, _)| other)),
            }
        }
        for (task, wish) in held.iter_mut().filter_map(Option::take) {
            mapping[task] = wish.machine;
            ready[wish.machine.index()] = wish.completion;
        }
        // A task that loses its best machine to another task returns to its position in the order.
        next.sort_unstable();
        std::mem::swap(&mut waiting, &mut next);
        next.clear();
    }
    mapping
}

fn one_by_one(problem: &MappingProblem<'_>) -> Vec<MachineId> {
    let mut ready = problem.ready().to_vec();
    let mut mapping = vec![MachineId(0); problem.tasks()];
    let mut waiting: Vec<(usize, BestMachines)> =
        (0..problem.tasks()).map(|task| (task, BestMachines::of(problem, task, &ready))).collect();
    while let Some(at) =
        (0..waiting.len()).max_by_key(|&at| (waiting[at].1.sufferage, std::cmp::Reverse(waiting[at].0)))
    {
        let (task, BestMachines { machine, completion, .. }) = waiting.swap_remove(at);
        mapping[task] = machine;
        ready[machine.index()] = completion;
        for (task, wish) in waiting.iter_mut().filter(|(_, wish)| wish.machine == machine || wish.second == machine) {
            *wish = BestMachines::of(problem, *task, &ready);
        }
    }
    mapping
}
