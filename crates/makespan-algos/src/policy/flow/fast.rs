//! A mapping that is good at once: the longest task first, then a descent.

use std::cmp::Reverse;

use rand_chacha::ChaCha8Rng;

use crate::kernel::mapping::{Descent, Loads, MachineId, Mapper, MappingProblem};

/// Each task in turn, the longest first, to the machine on which it is complete first; then moves and swaps
/// ([`Descent::improve`]) where there are few enough tasks for them to matter.
///
/// Source: R. L. Graham, SIAM J. Appl. Math. 17(2), 1969, DOI 10.1137/0117039 (the order); T. Gonzalez, O. Ibarra and
/// S. Sahni, SIAM J. Computing 6(1), 1977, DOI 10.1137/0206013 (on uniform machines). A task is as long as on the machine that
/// is fastest for it. Complexity: O(n log n + n m), and the descent looks at a bounded number of pairs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LongestFirst;

/// Beyond so many tasks the last ones are too short for a descent to gain anything.
const MAX_TASKS: usize = 5000;
/// Pairs that the descent looks at, at most: a tenth of a second. On few machines one step looks at a quarter of the square of
/// the tasks.
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
