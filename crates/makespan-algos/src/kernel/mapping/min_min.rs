//! Min-min: first maps the task with the earliest completion.

use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem, MaxMin};

/// Let the best completion of a task be its earliest completion over all machines. Repeatedly maps the task with the
/// earliest best completion to the machine on which it completes first.
///
/// Source: O. H. Ibarra, C. E. Kim, J. ACM 24, 1977, DOI 10.1145/322003.322011, algorithm D. The name is from T. D.
/// Braun et al., JPDC 61, 2001, section 3.4, DOI 10.1006/jpdc.2000.1714. Complexity for n tasks on m machines: O(n m
/// log n) time, and four bytes for each pair of task and machine. For each machine, only its shortest remaining task
/// can be next. So the tasks are sorted once for each machine. Each of the n steps then compares the first remaining
/// tasks of the m machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinMin;

/// Returns the mapping of Min-min or Max-min with the smaller makespan. If both makespans are equal, returns the
/// mapping of Min-min.
///
/// Source: as [`MinMin`], section 3.6. Complexity: the sum of the two complexities.
#[derive(Clone, Copy, Debug, Default)]
pub struct Duplex;

/// Number of machines with times that are copied together. A cache line contains this number of times of a task.
const TOGETHER: usize = 8;

/// The value in place of a machine for a task that is not mapped yet.
const NOWHERE: MachineId = MachineId(u32::MAX);

impl Mapper for MinMin {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let (tasks, machines) = (problem.tasks(), problem.machines());
        let orders = shortest_first(problem);
        let mut ready = problem.ready().to_vec();
        let mut mapping = vec![NOWHERE; tasks];
        let mut heads = vec![0; machines];
        // For each machine, the completion of its first remaining task, or the maximum if no task remains.
        let mut completions = vec![i64::MAX; machines];
        let advance = |machine: usize, head: &mut usize, mapping: &[MachineId], ready: i64| {
            let order = &orders[machine * tasks..(machine + 1) * tasks];
            while order.get(*head).is_some_and(|&task| mapping[task as usize] != NOWHERE) {
                *head += 1;
            }
            order.get(*head).map_or(i64::MAX, |&task| ready + problem.time(task as usize, MachineId::at(machine)))
        };
        for machine in 0..machines {
            completions[machine] = advance(machine, &mut heads[machine], &mapping, ready[machine]);
        }
        for _ in 0..tasks {
            let earliest = completions.iter().copied().min().unwrap_or(i64::MAX);
            let head = |machine: usize| orders[machine * tasks + heads[machine]];
            let equal = (0..machines).filter(|&machine| completions[machine] == earliest);
            let Some(machine) = equal.min_by_key(|&machine| (head(machine), machine)) else { break };
            let task = head(machine);
            mapping[task as usize] = MachineId::at(machine);
            ready[machine] = earliest;
            completions[machine] = advance(machine, &mut heads[machine], &mapping, earliest);
            for other in 0..machines {
                // Advance another machine only if its first remaining task is the mapped task.
                if completions[other] < i64::MAX && orders[other * tasks + heads[other]] == task {
                    completions[other] = advance(other, &mut heads[other], &mapping, ready[other]);
                }
            }
        }
        mapping
    }
}

/// Returns all tasks once for each machine, sorted by the time on this machine, and then by index.
fn shortest_first(problem: &MappingProblem<'_>) -> Vec<u32> {
    let (tasks, machines) = (problem.tasks(), problem.machines());
    let mut orders = Vec::with_capacity(tasks * machines);
    let mut columns: Vec<Vec<(i64, u32)>> = vec![Vec::with_capacity(tasks); TOGETHER.min(machines)];
    for from in (0..machines).step_by(TOGETHER) {
        let until = machines.min(from + TOGETHER);
        columns.iter_mut().for_each(Vec::clear);
        for task in 0..tasks {
            for (column, &time) in columns.iter_mut().zip(&problem.row(task)[from..until]) {
                column.push((time.ticks(), task as u32));
            }
        }
        for column in &mut columns[..until - from] {
            column.sort_unstable();
            orders.extend(column.iter().map(|&(_, task)| task));
        }
    }
    orders
}

impl Mapper for Duplex {
    fn map(&self, problem: &MappingProblem<'_>, random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let (min_min, max_min) = (MinMin.map(problem, random), MaxMin.map(problem, random));
        if problem.makespan(&max_min) < problem.makespan(&min_min) { max_min } else { min_min }
    }
}
