//! The fields of the records of a refutation, in the order of their numbers.

/// The kind of a record. This constant and the constants below stand for the fields to which a number can belong.
const RECORD: u64 = 0;
/// Fields of a nogood: the count of literals, the bound and the value of a literal, and the count of steps.
const LITERALS: u64 = 1;
const BOUND: u64 = 2;
const VALUE: u64 = 3;
const STEPS: u64 = 4;
/// Fields that name tasks: the first and the second of two equal tasks, and the task that is mirrored.
const FIRST: u64 = 5;
const SECOND: u64 = 6;
const MIRRORED: u64 = 7;
/// Fields of a scale: its supply (unless the scale is lifted), the count of its amounts, and an amount.
const SCALED: u64 = 8;
const AMOUNTS: u64 = 9;
const AMOUNT: u64 = 10;
/// Fields of a price vector: the count of supplies that have prices, the count of runs of a supply, and the length and
/// the price of a run.
const LINES: u64 = 11;
const RUNS: u64 = 12;
const LENGTH: u64 = 13;
const PRICE: u64 = 14;
/// The kind of a step. The field of this number is `KIND` plus the kind of the previous step.
const KIND: u64 = 16;
/// Any other number of a step. The field of this number is `STEP + 4 * kind + position`. Here, `kind` is the kind of
/// the step, and `position` is the position of the number within the step, from 0.
const STEP: u64 = 64;
/// The number of the nogood that a step uses.
const NOGOOD: u64 = STEP + 4;

/// For each kind of step: the count of numbers after the kind, and the positions of the numbers that name a task.
#[rustfmt::skip]
const SHAPES: [(u64, &[u64]); 19] = [
    (0, &[]), (1, &[]), (2, &[0, 1]), (2, &[0, 1]), (3, &[1]), (3, &[1]),
    (3, &[1]), (1, &[0]), (1, &[0]), (3, &[]), (2, &[1]), (2, &[1]),
    (2, &[1]), (2, &[1]), (2, &[]), (1, &[]), (4, &[1]),
    (1, &[]), (2, &[1]),
];

/// A position between two numbers of the records. Any sequence of numbers is permitted: after an unknown kind, the
/// record or the step has no further numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The fields that follow in the current record, in reverse order, each with the number of its repetitions.
    follow: Vec<(u64, u64)>,
    /// The kind of the previous step.
    kind: u64,
    /// The task or the bound that was read last.
    about: u64,
}

impl Place {
    /// Returns the field of the next number.
    fn field(&self) -> u64 {
        match self.follow.last() {
            Some(&(KIND, _)) => KIND + self.kind,
            Some(&(field, _)) => field,
            None => RECORD,
        }
    }

    /// Returns the context of the next number, which selects the statistics for its code.
    pub(super) fn context(&self) -> u64 {
        let field = self.field();
        field << 12 | if matches!(field, RECORD | LITERALS | STEPS | NOGOOD) { 0 } else { self.about & 4095 }
    }

    /// Moves to the place after the next number, which is `number`.
    pub(super) fn advance(&mut self, number: u64) {
        let field = self.field();
        if let Some((_, count)) = self.follow.last_mut() {
            *count -= 1;
        }
        self.follow.pop_if(|(_, count)| *count == 0);
        match (field, number) {
            (RECORD, 20) => self.then(KIND, 1),
            (RECORD, 21) => self.follow.extend([(STEPS, 1), (LITERALS, 1)]),
            (RECORD, 22) => self.follow.extend([(SECOND, 1), (FIRST, 1)]),
            (RECORD, 23) => self.then(MIRRORED, 1),
            (RECORD, 31) => self.then(LINES, 1),
            (RECORD, 32) => self.follow.extend([(AMOUNTS, 1), (SCALED, 1)]),
            (RECORD, 33) => self.then(AMOUNTS, 1),
            (LITERALS, _) => self.then(BOUND, number),
            (BOUND, _) => self.then(VALUE, 1),
            (STEPS, _) => self.then(KIND, number),
            (AMOUNTS, _) => self.then(AMOUNT, number),
            (LINES, _) => self.then(RUNS, number),
            (RUNS, _) => self.then(LENGTH, number),
            (LENGTH, _) => self.then(PRICE, 1),
            (KIND..STEP, _) => {
                let shape = usize::try_from(number).ok().and_then(|kind| SHAPES.get(kind));
                let (kind, count) = shape.map_or((0, 0), |shape| (number, shape.0));
                self.kind = kind;
                self.follow.extend((0..count).rev().map(|at| (STEP + 4 * kind + at, 1)));
            }
            _ => {}
        }
        let is_task = |field: u64| usize::try_from(field / 4).is_ok_and(|kind| SHAPES[kind].1.contains(&(field % 4)));
        if field == BOUND || field.checked_sub(STEP).is_some_and(is_task) {
            self.about = number;
        }
    }

    /// Adds a field that comes next, `count` times.
    fn then(&mut self, field: u64, count: u64) {
        self.kind = 0;
        if count > 0 {
            self.follow.push((field, count));
        }
    }
}
