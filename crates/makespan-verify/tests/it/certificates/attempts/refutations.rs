//! Random refutations.

use makespan_core::{Instance, ResourceKind};
use makespan_verify::proof::Refutation;

use super::Reader;

/// The instants that steps name are below this number, in units of the grid.
const INSTANTS: i64 = 12;

/// A list of steps, in the bytes of a refutation.
#[derive(Default)]
struct Steps {
    bytes: Vec<u8>,
    count: u64,
}

fn unsigned(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn signed(bytes: &mut Vec<u8>, number: i64) {
    unsigned(bytes, (number << 1 ^ number >> 63).cast_unsigned());
}

impl Steps {
    fn push(&mut self, head: &[u8], instants: &[i64], task: Option<u64>) {
        self.bytes.extend(head);
        instants.iter().for_each(|&instant| signed(&mut self.bytes, instant));
        task.into_iter().for_each(|task| unsigned(&mut self.bytes, task));
        self.count += 1;
    }
}

impl Reader<'_> {
    /// Returns a refutation of a small value. Its steps use most rules on all tasks, at the root and in two nogoods that
    /// split the starts of a task.
    pub(super) fn refutation(&mut self, instance: &Instance) -> Refutation {
        let grid = match self.below(8) {
            0 => self.any(4),
            1 => self.unit.saturating_mul(2),
            _ => self.unit,
        };
        let value = self.any(30);
        let mut bytes = Vec::new();
        if self.below(3) == 0 {
            bytes.extend([23, self.below(instance.tasks() as i64) as u8]);
        }
        if self.below(3) == 0 {
            let first = self.below(instance.tasks() as i64) as u8;
            bytes.extend([22, first, first + 1]);
        }
        let renewable = instance.platform().resources().iter().filter(|of| of.kind != ResourceKind::Consumable);
        let supplies = renewable.count() + 1;
        // Two price vectors: the first has no prices, and the second has random prices.
        bytes.push(31);
        bytes.extend(std::iter::repeat_n(0, supplies));
        bytes.push(31);
        for _ in 0..supplies {
            let runs = self.below(3);
            bytes.push(runs as u8);
            (0..runs).for_each(|run| {
                bytes.push(1 + self.below(3) as u8);
                signed(&mut bytes, if run == 0 { 128 * self.below(20) } else { 64 * (self.below(10) - 4) });
            });
        }
        let task = self.below(instance.tasks() as i64) as u64;
        let split = self.below(6);
        let supply = self.below(supplies as i64) as u8;
        let steps = Self::sweep(instance, supply);
        // The first nogood states that the task starts after `split`, and the second one that it starts by then.
        for (id, bound, value) in [(1, 4 * task, split + 1), (2, 4 * task + 1, -split)] {
            if self.below(3) > 0 {
                bytes.extend([21, id]);
                unsigned(&mut bytes, 1);
                unsigned(&mut bytes, bound);
                signed(&mut bytes, value);
                unsigned(&mut bytes, steps.count);
                bytes.extend(&steps.bytes);
                bytes.extend([20, 1, id]);
            }
        }
        // A nogood without literals states that the root is empty.
        bytes.extend([21, 3, 0]);
        unsigned(&mut bytes, steps.count);
        bytes.extend(&steps.bytes);
        Refutation { value, grid, steps: bytes }
    }

    /// Returns steps on all tasks and on one supply.
    fn sweep(instance: &Instance, supply: u8) -> Steps {
        let mut steps = Steps::default();
        let tasks = || 0..instance.tasks();
        for _ in 0..2 {
            for edge in instance.edges() {
                for from in instance.equal_tasks(edge.from) {
                    for to in instance.equal_tasks(edge.to) {
                        steps.push(&[2, from.0 as u8], &[], Some(to.0));
                        steps.push(&[3, from.0 as u8], &[], Some(to.0));
                    }
                }
            }
            for kind in [7, 8] {
                tasks().for_each(|task| steps.push(&[kind], &[], Some(task)));
            }
            for at in 0..INSTANTS {
                steps.push(&[14, supply], &[at], None);
                for kind in [4, 5, 6] {
                    tasks().for_each(|task| steps.push(&[kind, supply], &[at], Some(task)));
                }
                if at % 3 == 0 {
                    steps.push(&[9, supply], &[at / 2, INSTANTS - at], None);
                    tasks().for_each(|task| steps.push(&[16, supply], &[at / 2, INSTANTS - at], Some(task)));
                }
            }
            for prices in [0, 1] {
                steps.push(&[15, prices], &[], None);
                for kind in 10..14 {
                    tasks().for_each(|task| steps.push(&[kind, prices], &[], Some(task)));
                }
            }
        }
        (0..INSTANTS).for_each(|until| steps.push(&[9, supply], &[0, until + 1], None));
        steps
    }
}
