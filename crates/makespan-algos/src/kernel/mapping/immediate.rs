//! Rules that look at one task after the other, in their order.

use rand_chacha::ChaCha8Rng;

use super::{MachineId, Mapper, MappingProblem};

/// Each task to the machine that is ready first, whatever its time there: "opportunistic load balancing".
///
/// Source: R. Armstrong, D. Hensgen, T. Kidd, HCW 1998; as in T. D. Braun et al., JPDC 61, 2001, section 3.1,
/// DOI 10.1006/jpdc.2000.1714. Complexity: O(n m) for n tasks on m machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpportunisticLoadBalancing;

/// Each task to the machine that runs it in the shortest time, whatever else it has to do: "minimum execution time".
///
/// Source: as [`OpportunisticLoadBalancing`], section 3.2. Complexity: O(n m).
#[derive(Clone, Copy, Debug, Default)]
pub struct MinimumExecution;

/// Each task to the machine on which it is complete first: "minimum completion time".
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
        // A rule that looks at no completion may pile up more than there is time.
        let ready = &mut ready[machine.index()];
        *ready = ready.saturating_add(problem.time(task, machine));
        machine
    };
    (0..problem.tasks()).map(choice).collect()
}
