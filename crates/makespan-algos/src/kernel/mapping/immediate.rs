//! Rules that map one task after another, in the order of the tasks.

use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem};

/// Maps each task to the machine that is ready first, regardless of the time of the task on this machine:
/// "opportunistic load balancing".
///
/// Source: R. Armstrong, D. Hensgen, T. Kidd, HCW 1998, as in T. D. Braun et al., JPDC 61, 2001, section 3.1, DOI
/// 10.1006/jpdc.2000.1714. Complexity: O(n m) for n tasks on m machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpportunisticLoadBalancing;

/// Maps each task to the machine that runs it in the shortest time, regardless of the machine's load: "minimum
/// execution time".
///
/// Source: as [`OpportunisticLoadBalancing`], section 3.2. Complexity: O(n m).
#[derive(Clone, Copy, Debug, Default)]
pub struct MinimumExecution;

/// Maps each task to the machine on which it completes first: "minimum completion time".
///
/// Source: as [`OpportunisticLoadBalancing`], section 3.3. Complexity: O(n m).
#[derive(Clone, Copy, Debug, Default)]
pub struct MinimumCompletion;

impl Mapper for OpportunisticLoadBalancing {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        one_by_one(problem, |task, ready| {
            let able = problem.machine_ids().filter(|&machine| problem.can_run(task, machine));
            able.min_by_key(|machine| ready[machine.index()]).unwrap_or_default()
        })
    }
}

impl Mapper for MinimumExecution {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        one_by_one(problem, |task, _| {
            problem.machine_ids().min_by_key(|&machine| problem.time(task, machine)).unwrap_or_default()
        })
    }
}

impl Mapper for MinimumCompletion {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        problem.in_order(0..problem.tasks())
    }
}

fn one_by_one(problem: &MappingProblem<'_>, choose: impl Fn(usize, &[i64]) -> MachineId) -> Vec<MachineId> {
    let mut ready = problem.ready().to_vec();
    let choice = |task| {
        let machine = choose(task, &ready);
        // Avoid an overflow. A rule that ignores completions may exceed the range of times.
        let ready = &mut ready[machine.index()];
        *ready = ready.saturating_add(problem.time(task, machine));
        machine
    };
    (0..problem.tasks()).map(choice).collect()
}
