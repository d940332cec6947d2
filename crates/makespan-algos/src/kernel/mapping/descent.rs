//! A fast local search by moves and swaps.

use rand_chacha::ChaCha8Rng;

use super::{Loads, MachineId, Mapper, MappingProblem, MinMin};

/// Starts from the mapping of Min-min. Let L be the machine that completes last. Each step moves a task from L to
/// another machine, or swaps a task of L with a task of another machine. After the step, both machines must complete
/// before the previous completion of L. The chosen move minimises the later completion of the two machines. Swaps are
/// tried only if no move is possible. The search ends if no swap is possible either.
///
/// Source: the usual neighbourhoods, as in T. Vredeveld, C. Hurkens, INFORMS J. Computing 14, 2002, DOI
/// 10.1287/ijoc.14.2.175.113. Complexity for n tasks on m machines: for each task of L, a step takes O(m) for moves and
/// O(n) for swaps. Consider the completions of all machines in descending order. Each step makes this list
/// lexicographically smaller, so the search ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Descent;

impl Mapper for Descent {
    fn map(&self, problem: &MappingProblem<'_>, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let mut loads = Loads::new(problem, MinMin.map(problem, random));
        Self::improve(problem, &mut loads, usize::MAX);
        loads.into_mapping()
    }
}

impl Descent {
    /// Improves a mapping. `looks` is the maximum number of pairs that are examined. A pair is a task and a machine
    /// for a move, or two tasks for a swap. Returns whether neither a move nor a swap can improve the result.
    pub fn improve(problem: &MappingProblem<'_>, loads: &mut Loads, looks: usize) -> bool {
        let mut left = looks;
        let mut afford = |pairs: usize| {
            let enough = pairs <= left;
            left -= pairs.min(left);
            enough
        };
        loop {
            let own = loads.tasks_of(loads.last().0).len();
            if !afford(own * problem.machines()) {
                return false;
            }
            if step_move(problem, loads) {
                continue;
            }
            if !afford(own * (problem.tasks() - own)) {
                return false;
            }
            if !step_swap(problem, loads) {
                return true;
            }
        }
    }
}

/// Makes the best move of a task from the machine that completes last, if a move improves the mapping.
fn step_move(problem: &MappingProblem<'_>, loads: &mut Loads) -> bool {
    let (last, end) = loads.last();
    let mut best = (end, usize::MAX, MachineId(0));
    for &task in loads.tasks_of(last) {
        let task = task as usize;
        let rest = end - problem.time(task, last);
        for (machine, (&completion, &time)) in
            problem.machine_ids().zip(loads.completions().iter().zip(problem.row(task)))
        {
            let after = rest.max(completion + time.ticks());
            if machine != last && (after, task, machine) < best {
                best = (after, task, machine);
            }
        }
    }
    let (after, task, machine) = best;
    let found = after < end;
    if found {
        loads.give(problem, task, machine);
    }
    found
}

/// Swaps a task of the machine that completes last and a task of another machine. Makes the best such swap, if it
/// improves the mapping.
fn step_swap(problem: &MappingProblem<'_>, loads: &mut Loads) -> bool {
    let (last, end) = loads.last();
    let mut best = (end, usize::MAX, 0);
    for &task in loads.tasks_of(last) {
        let task = task as usize;
        let rest = end - problem.time(task, last);
        for machine in problem.machine_ids().filter(|&machine| machine != last) {
            let full = loads.completions()[machine.index()] + problem.time(task, machine);
            for &other in loads.tasks_of(machine) {
                let other = other as usize;
                let row = problem.row(other);
                let after = (rest + row[last.index()].ticks()).max(full - row[machine.index()].ticks());
                if (after, task, other) < best {
                    best = (after, task, other);
                }
            }
        }
    }
    let (after, task, other) = best;
    let found = after < end;
    if found {
        let machine = loads.mapping()[other];
        loads.give(problem, task, machine);
        loads.give(problem, other, last);
    }
    found
}
