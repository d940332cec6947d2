//! Random refutations.

use makespan_core::{Instance, ResourceKind};
use makespan_verify::proof::Refutation;

use super::Reader;

/// The instants that steps name are below this number, in units of the grid.
const INSTANTS: i64 = 12;

/// A list of steps, in the numbers of a refutation.
#[derive(Default)]
struct Steps {
    numbers: Vec<u64>,
    count: u64,
}

/// Encodes a signed number as an unsigned number.
fn signed(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

impl Steps {
    fn push(&mut self, head: &[u64], task: Option<u64>, instants: &[i64]) {
        self.numbers.extend(head);
        self.numbers.extend(task);
        self.numbers.extend(instants.iter().map(|&instant| signed(instant)));
        self.count += 1;
    }
}

impl Reader<'_> {
    /// Returns a refutation of a small value. Its steps use most rules on all tasks, at the root and in two nogoods
    /// that split the starts of a task.
    pub(super) fn refutation(&mut self, instance: &Instance) -> Refutation {
        let grid = match self.below(8) {
            0 => self.any(4),
            1 => self.unit.saturating_mul(2),
            _ => self.unit,
        };
        let value = self.any(30);
        let mut numbers = Vec::new();
        if self.below(3) == 0 {
            numbers.extend([23, self.below(instance.tasks() as i64) as u64]);
        }
        if self.below(3) == 0 {
            let first = self.below(instance.tasks() as i64) as u64;
            numbers.extend([22, first, first + 1]);
        }
        let renewable = instance.platform().resources().iter().filter(|of| of.kind != ResourceKind::Consumable);
        let supplies = renewable.count() + 1;
        // Two price vectors: the first has no prices, and the second has random prices.
        numbers.extend([31, supplies as u64]);
        numbers.extend(std::iter::repeat_n(0, supplies));
        numbers.extend([31, supplies as u64]);
        for _ in 0..supplies {
            let runs = self.below(3);
            numbers.push(runs as u64);
            (0..runs).for_each(|run| {
                numbers.push(1 + self.below(3) as u64);
                numbers.push(signed(if run == 0 { 128 * self.below(20) } else { 64 * (self.below(10) - 4) }));
            });
        }
        let task = self.below(instance.tasks() as i64) as u64;
        let split = self.below(6);
        let supply = self.below(supplies as i64) as u64;
        let rounds = 1 + i64::from(self.below(4) == 0);
        let steps = Self::sweep(instance, supply, rounds);
        // The first nogood states that the task starts after `split`. The second nogood states that the task starts at
        // `split` or earlier.
        let mut nogoods = 0;
        for (bound, value) in [(4 * task, split + 1), (4 * task + 1, -split)] {
            if self.below(3) > 0 {
                numbers.extend([21, 1, bound, signed(value), steps.count]);
                numbers.extend(&steps.numbers);
                numbers.extend([20, 1, nogoods]);
                nogoods += 1;
            }
        }
        // A nogood without literals states that the root is empty.
        numbers.extend([21, 0, steps.count]);
        numbers.extend(&steps.numbers);
        Refutation { value, grid, steps: Refutation::encoded(&numbers) }
    }

    /// Returns steps on all tasks and on one supply, `rounds` times.
    fn sweep(instance: &Instance, supply: u64, rounds: i64) -> Steps {
        let mut steps = Steps::default();
        let tasks = || 0..instance.tasks();
        for _ in 0..rounds {
            for edge in instance.edges() {
                for from in instance.equal_tasks(edge.from) {
                    for to in instance.equal_tasks(edge.to) {
                        steps.push(&[2, from.0], Some(to.0), &[]);
                        steps.push(&[3, from.0], Some(to.0), &[]);
                    }
                }
            }
            for kind in [7, 8] {
                tasks().for_each(|task| steps.push(&[kind], Some(task), &[]));
            }
            for at in 0..INSTANTS {
                steps.push(&[14, supply], None, &[at]);
                for kind in [4, 5, 6] {
                    tasks().for_each(|task| steps.push(&[kind, supply], Some(task), &[at]));
                }
                if at % 3 == 0 {
                    steps.push(&[9, supply], None, &[at / 2, INSTANTS - at]);
                    tasks().for_each(|task| steps.push(&[16, supply], Some(task), &[at / 2, INSTANTS - at]));
                }
            }
            let is_used_up = |of: &&makespan_core::Resource| of.kind == ResourceKind::Consumable;
            for consumable in 0..instance.platform().resources().iter().filter(is_used_up).count() as u64 {
                steps.push(&[17, consumable], None, &[]);
                tasks().for_each(|task| steps.push(&[18, consumable], Some(task), &[]));
            }
            for prices in [0, 1] {
                steps.push(&[15, prices], None, &[]);
                for kind in 10..14 {
                    tasks().for_each(|task| steps.push(&[kind, prices], Some(task), &[]));
                }
            }
        }
        (0..INSTANTS).for_each(|until| steps.push(&[9, supply], None, &[0, until + 1]));
        steps
    }
}
