//! Max-min: first maps the task that completes last even on its best machine.

use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem};

/// Let the best completion of a task be its earliest completion over all machines. Repeatedly maps the task with the
/// latest best completion to the machine on which it completes first.
///
/// Source: O. H. Ibarra, C. E. Kim, J. ACM 24, 1977, DOI 10.1145/322003.322011, algorithm E. The name is from T. D.
/// Braun et al., JPDC 61, 2001, section 3.5, DOI 10.1006/jpdc.2000.1714. Complexity: O(n (n + c m)) for n tasks on m
/// machines. After each step, only c tasks are updated: the tasks that complete first on the machine that got a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaxMin;

impl Mapper for MaxMin {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let mut ready = problem.ready().to_vec();
        let mut mapping = vec![MachineId(0); problem.tasks()];
        let mut waiting: Vec<(usize, MachineId, i64)> = (0..problem.tasks())
            .map(|task| {
                let (machine, completion) = problem.earliest(task, &ready);
                (task, machine, completion)
            })
            .collect();
        while let Some(&first) = waiting.first() {
            let (mut at, mut latest) = (0, first);
            for (index, &one) in waiting.iter().enumerate() {
                if (one.2, std::cmp::Reverse(one.0)) > (latest.2, std::cmp::Reverse(latest.0)) {
                    (at, latest) = (index, one);
                }
            }
            let (task, machine, completion) = latest;
            waiting.swap_remove(at);
            mapping[task] = machine;
            ready[machine.index()] = completion;
            for one in waiting.iter_mut().filter(|one| one.1 == machine) {
                (one.1, one.2) = problem.earliest(one.0, &ready);
            }
        }
        mapping
    }
}
