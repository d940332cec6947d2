//! A fast and good mapper. The mapper maps the longest task first, and then improves the mapping.

use std::cmp::Reverse;

use rand_chacha::ChaCha8Rng;

use crate::kernel::mapping::{Descent, Loads, MachineId, Mapper, MappingProblem};

/// Maps each task, the longest first, to the machine on which it completes earliest. If there are at most `MAX_TASKS`
/// tasks, the mapping is then improved by moves and swaps ([`Descent::improve`]). The length of a task is its time on
/// its fastest machine.
///
/// Source: R. L. Graham, SIAM J. Appl. Math. 17(2), 1969, DOI 10.1137/0117039 (the order); T. Gonzalez, O. Ibarra and
/// S. Sahni, SIAM J. Computing 6(1), 1977, DOI 10.1137/0206013 (on uniform machines). Complexity: O(n log n + n m) for
/// n tasks on m machines. The descent examines a bounded number of pairs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongestFirst;

/// Maximum number of tasks for the descent. If there are more tasks, the tasks that are mapped last are so short that
/// a descent would not improve the mapping.
const MAX_TASKS: usize = 5000;
/// Maximum number of pairs of tasks that the descent examines. The descent examines this number of pairs in about a
/// tenth of a second. On few machines, one step examines up to n^2 / 4 pairs for n tasks.
const LOOKS: usize = 100_000_000;

impl Mapper for LongestFirst {
    fn map(&self, problem: &MappingProblem<'_>, _random: &mut ChaCha8Rng) -> Vec<MachineId> {
        let mut order: Vec<usize> = (0..problem.tasks()).collect();
        order.sort_by_cached_key(|&task| Reverse(problem.shortest(task)));
        let mapping = problem.in_order(order);
        if problem.tasks() > MAX_TASKS {
            return mapping;
        }
        let mut loads = Loads::new(problem, mapping);
        Descent::improve(problem, &mut loads, LOOKS);
        loads.into_mapping()
    }
}
