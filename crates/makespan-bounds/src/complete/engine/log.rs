//! The records of a refutation, and their conversion to the numbers that `docs/refutation.md` defines.

use std::ops::Range;

use super::{Literal, Step};

/// A record of a refutation. Nogoods are numbered in the order of their records.
pub(in crate::complete) enum Record {
    /// A record that the certificate always contains.
    Other(Vec<u64>),
    /// The next price vector. The certificate omits this record if no step uses the prices.
    Prices(Vec<u64>),
    /// A step that is made without any decision.
    Root(Step),
    /// A nogood. Its literals end before the index `literals` of [`Log::literals`], and its steps end before the index
    /// `steps` of [`Log::steps`].
    Nogood { literals: usize, steps: usize },
}

/// The records so far.
pub(in crate::complete) struct Log {
    pub(in crate::complete) records: Vec<Record>,
    /// The literals of all nogoods, one nogood after the other.
    pub(in crate::complete) literals: Vec<Literal>,
    /// The steps of all nogoods, one nogood after the other.
    pub(in crate::complete) steps: Vec<Step>,
    pub(in crate::complete) nogoods: usize,
    pub(in crate::complete) prices: usize,
    /// The number of recorded changes that were made without any decision.
    pub(in crate::complete) root_changes: usize,
}

/// Encodes a signed number as an unsigned number.
fn signed(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

impl Log {
    pub(in crate::complete) fn new() -> Self {
        let (records, literals, steps) = (Vec::new(), Vec::new(), Vec::new());
        Self { records, literals, steps, nogoods: 0, prices: 0, root_changes: 0 }
    }

    /// Returns the number of steps of all nogoods.
    pub(in crate::complete) fn length(&self) -> usize {
        self.steps.len()
    }

    /// Adds the record of a scale of a supply, or of a lifted scale if `supply` is `None`. `held` contains the amount of
    /// the scale that each task holds in each mode.
    pub(in crate::complete) fn scale(&mut self, supply: Option<usize>, held: &[Vec<i64>]) {
        let amounts = held.iter().flatten().map(|amount| amount.cast_unsigned());
        let mut numbers = supply.map_or_else(|| vec![33], |supply| vec![32, supply as u64]);
        numbers.push(held.iter().map(Vec::len).sum::<usize>() as u64);
        numbers.extend(amounts);
        self.records.push(Record::Other(numbers));
    }

    /// Adds the record of a price vector: for each supply, the prices in all intervals. `length` returns the length of
    /// an interval.
    pub(in crate::complete) fn prices(&mut self, prices: &[Vec<i64>], length: impl Fn(usize) -> i64) {
        let mut numbers = vec![31, prices.len() as u64];
        for line in prices {
            // The last run of equal prices is omitted if its price is 0.
            let end = line.iter().rposition(|&price| price != 0).map_or(0, |last| last + 1);
            let runs: Vec<&[i64]> = line[..end].chunk_by(|a, b| a == b).collect();
            numbers.push(runs.len() as u64);
            let (mut last, mut at) = (0, 0);
            for run in runs {
                let whole: i64 = (at..at + run.len()).map(&length).sum();
                numbers.extend([whole.cast_unsigned(), signed(run[0] - last)]);
                (last, at) = (run[0], at + run.len());
            }
        }
        self.prices += 1;
        self.records.push(Record::Prices(numbers));
    }

    /// Adds the record of a pair of equal tasks.
    pub(in crate::complete) fn pair(&mut self, first: usize, second: usize) {
        self.records.push(Record::Other(vec![22, first as u64, second as u64]));
    }

    /// Adds a record that restricts the middle of a task to the first half of the schedule.
    pub(in crate::complete) fn mirror(&mut self, task: usize) {
        self.records.push(Record::Other(vec![23, task as u64]));
    }

    /// Adds the record of a step that is made without any decision.
    pub(in crate::complete) fn root(&mut self, step: Step) {
        self.records.push(Record::Root(step));
    }

    /// Adds the record of the next nogood, with the steps that prove the nogood.
    pub(in crate::complete) fn nogood(&mut self, literals: &[Literal], steps: impl Iterator<Item = Step>) {
        self.literals.extend_from_slice(literals);
        self.steps.extend(steps);
        self.nogoods += 1;
        self.records.push(Record::Nogood { literals: self.literals.len(), steps: self.steps.len() });
    }

    /// Returns the numbers of the certificate: all records that the proof needs.
    pub(in crate::complete) fn trimmed(&self) -> Vec<u64> {
        let uses = self.uses();
        let names = Names::new(&uses);
        let mut numbers = Vec::new();
        let (mut number, mut prices, mut literals, mut steps) = (0, 0, 0, 0);
        for record in &self.records {
            match *record {
                Record::Other(ref own) => numbers.extend_from_slice(own),
                Record::Prices(ref own) => {
                    if uses.prices[prices] > 0 {
                        numbers.extend_from_slice(own);
                    }
                    prices += 1;
                }
                Record::Root(step) => {
                    numbers.push(20);
                    write(&mut numbers, step, &names);
                }
                Record::Nogood { literals: literals_end, steps: steps_end } => {
                    if uses.nogoods[number] > 0 {
                        self.write_nogood(&mut numbers, literals..literals_end, steps..steps_end, &names);
                    }
                    (number, literals, steps) = (number + 1, literals_end, steps_end);
                }
            }
        }
        numbers
    }

    fn write_nogood(&self, numbers: &mut Vec<u64>, literals: Range<usize>, steps: Range<usize>, names: &Names) {
        // Sort the literals by bound, because the encoded certificate is then shorter.
        let mut literals = self.literals[literals].to_vec();
        literals.sort_unstable();
        numbers.extend([21, literals.len() as u64]);
        numbers.extend(literals.iter().flat_map(|literal| [literal.bound.into(), signed(literal.value)]));
        numbers.push(steps.len() as u64);
        self.steps[steps].iter().for_each(|&step| write(numbers, step, names));
    }

    /// Counts the steps that use each nogood and each price vector. Ignores the steps of unused nogoods. Always treats
    /// the last nogood as used, because this nogood states that there is no solution.
    pub(in crate::complete) fn uses(&self) -> Uses {
        let mut uses = Uses { nogoods: vec![0; self.nogoods], prices: vec![0; self.prices] };
        if let Some(last) = uses.nogoods.last_mut() {
            *last = 1;
        }
        let mut number = self.nogoods;
        let mut end = self.steps.len();
        let first = |at: usize| self.records[..at].iter().rev().find_map(Record::steps).unwrap_or(0);
        for (at, record) in self.records.iter().enumerate().rev() {
            match *record {
                Record::Other(_) | Record::Prices(_) => {}
                Record::Root(step) => uses.add(step),
                Record::Nogood { .. } => {
                    number -= 1;
                    let begin = first(at);
                    if uses.nogoods[number] > 0 {
                        self.steps[begin..end].iter().for_each(|&step| uses.add(step));
                    }
                    end = begin;
                }
            }
        }
        uses
    }
}

impl Record {
    /// Returns the index after the last step of a nogood, or `None` for other records.
    fn steps(&self) -> Option<usize> {
        match *self {
            Self::Nogood { steps, .. } => Some(steps),
            _ => None,
        }
    }
}

/// The number of steps that use each nogood and each price vector.
pub(in crate::complete) struct Uses {
    pub(in crate::complete) nogoods: Vec<u32>,
    prices: Vec<u32>,
}

impl Uses {
    fn add(&mut self, step: Step) {
        match step {
            Step::Nogood { clause } => self.nogoods[clause] += 1,
            Step::Priced { prices, .. } | Step::Prices { prices } => self.prices[prices as usize] += 1,
            _ => {}
        }
    }
}

/// The numbers by which the certificate refers to nogoods and price vectors.
struct Names {
    nogoods: Vec<u64>,
    prices: Vec<u64>,
}

impl Names {
    /// Numbers the nogoods and price vectors that are used.
    fn new(uses: &Uses) -> Self {
        let names = |uses: &[u32]| {
            let mut next = 0;
            let name = |&uses: &u32| {
                next += u64::from(uses > 0);
                next.saturating_sub(1)
            };
            uses.iter().map(name).collect()
        };
        Self { nogoods: names(&uses.nogoods), prices: names(&uses.prices) }
    }
}

fn write(numbers: &mut Vec<u64>, step: Step, names: &Names) {
    match step {
        Step::Decision => {}
        Step::Nogood { clause } => numbers.extend([1, names.nogoods[clause]]),
        Step::Wait { from, to, is_back } => numbers.extend([2 + u64::from(is_back), from.into(), to.into()]),
        Step::Table { supply, at, task, is_back } => {
            numbers.extend([4 + u64::from(is_back), supply.into(), task.into(), signed(at)]);
        }
        Step::ModesAt { supply, at, task } => numbers.extend([6, supply.into(), task.into(), signed(at)]),
        Step::Overload { supply, at } => numbers.extend([14, supply.into(), signed(at)]),
        Step::Deadline { task } => numbers.extend([7, task.into()]),
        Step::FastModes { task } => numbers.extend([8, task.into()]),
        Step::Energy { supply, from, until } => numbers.extend([9, supply.into(), signed(from), signed(until)]),
        Step::ModesWithin { supply, from, until, task } => {
            numbers.extend([16, supply.into(), task.into(), signed(from), signed(until)]);
        }
        Step::Priced { prices, task, kind } => {
            numbers.extend([10 + u64::from(kind), names.prices[usize::from(prices)], task.into()]);
        }
        Step::UsedUp { consumable } => numbers.extend([17, consumable.into()]),
        Step::ModesLeft { consumable, task } => numbers.extend([18, consumable.into(), task.into()]),
        Step::Prices { prices } => numbers.extend([15, names.prices[usize::from(prices)]]),
    }
}
