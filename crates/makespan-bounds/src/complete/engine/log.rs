//! The records of a refutation, in the byte format of `docs/bounds.md`.

use std::ops::Range;

use super::{Literal, Step};

/// A record. Nogoods are numbered in the order of their records.
pub(in crate::complete) enum Record {
    /// A record that is always kept.
    Bytes(Vec<u8>),
    /// The next price vector. The record is omitted from the certificate if no step uses it.
    Prices(Vec<u8>),
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
    /// The number of supplies of the model without the scales, which are additional supplies.
    pub(in crate::complete) own_supplies: usize,
    /// The number of recorded changes that were made without any decision.
    pub(in crate::complete) root_changes: usize,
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

impl Log {
    pub(in crate::complete) fn new(own_supplies: usize) -> Self {
        let (records, literals, steps) = (Vec::new(), Vec::new(), Vec::new());
        Self { records, literals, steps, nogoods: 0, prices: 0, own_supplies, root_changes: 0 }
    }

    /// Returns the number of steps of all nogoods.
    pub(in crate::complete) fn length(&self) -> usize {
        self.steps.len()
    }

    /// Adds a scale of a supply. `held` contains the amount of each task in each mode.
    pub(in crate::complete) fn scale(&mut self, supply: usize, held: &[Vec<i64>]) {
        let mut bytes = vec![32, supply as u8];
        held.iter().flatten().for_each(|&amount| unsigned(&mut bytes, amount.cast_unsigned()));
        self.records.push(Record::Bytes(bytes));
    }

    /// Adds a price vector: for each supply, the prices in all intervals. `length` returns the length of an interval.
    pub(in crate::complete) fn prices(&mut self, prices: &[Vec<i64>], length: impl Fn(usize) -> i64) {
        let mut bytes = vec![31];
        for line in prices {
            // The last run of equal prices is omitted if its price is 0.
            let end = line.iter().rposition(|&price| price != 0).map_or(0, |last| last + 1);
            let runs: Vec<&[i64]> = line[..end].chunk_by(|a, b| a == b).collect();
            unsigned(&mut bytes, runs.len() as u64);
            let (mut last, mut at) = (0, 0);
            for run in runs {
                let whole: i64 = (at..at + run.len()).map(&length).sum();
                unsigned(&mut bytes, whole.cast_unsigned());
                signed(&mut bytes, run[0] - last);
                (last, at) = (run[0], at + run.len());
            }
        }
        self.prices += 1;
        self.records.push(Record::Prices(bytes));
    }

    /// Adds a pair of equal tasks.
    pub(in crate::complete) fn pair(&mut self, first: usize, second: usize) {
        let mut bytes = vec![22];
        unsigned(&mut bytes, first as u64);
        unsigned(&mut bytes, second as u64);
        self.records.push(Record::Bytes(bytes));
    }

    /// Adds the task whose middle is restricted to the first half of the schedule.
    pub(in crate::complete) fn mirror(&mut self, task: usize) {
        let mut bytes = vec![23];
        unsigned(&mut bytes, task as u64);
        self.records.push(Record::Bytes(bytes));
    }

    /// Adds a step that is made without any decision.
    pub(in crate::complete) fn root(&mut self, step: Step) {
        self.records.push(Record::Root(step));
    }

    /// Adds the next nogood, with the steps that prove it.
    pub(in crate::complete) fn nogood(&mut self, literals: &[Literal], steps: impl Iterator<Item = Step>) {
        self.literals.extend_from_slice(literals);
        self.steps.extend(steps);
        self.nogoods += 1;
        self.records.push(Record::Nogood { literals: self.literals.len(), steps: self.steps.len() });
    }

    /// Returns the bytes of the certificate: all records that the proof needs.
    pub(in crate::complete) fn trimmed(&self) -> Vec<u8> {
        let uses = self.uses();
        let names = Names::new(&uses);
        let mut bytes = Vec::new();
        let (mut number, mut prices, mut literals, mut steps) = (0, 0, 0, 0);
        for record in &self.records {
            match *record {
                Record::Bytes(ref own) => bytes.extend_from_slice(own),
                Record::Prices(ref own) => {
                    if uses.prices[prices] > 0 {
                        bytes.extend_from_slice(own);
                    }
                    prices += 1;
                }
                Record::Root(step) => {
                    bytes.push(20);
                    write(&mut bytes, step, &names);
                }
                Record::Nogood { literals: literals_end, steps: steps_end } => {
                    if uses.nogoods[number] > 0 {
                        bytes.push(21);
                        unsigned(&mut bytes, names.nogoods[number]);
                        self.write_nogood(&mut bytes, literals..literals_end, steps..steps_end, &names);
                    }
                    (number, literals, steps) = (number + 1, literals_end, steps_end);
                }
            }
        }
        bytes
    }

    fn write_nogood(&self, bytes: &mut Vec<u8>, literals: Range<usize>, steps: Range<usize>, names: &Names) {
        unsigned(bytes, literals.len() as u64);
        for literal in &self.literals[literals] {
            unsigned(bytes, literal.bound.into());
            signed(bytes, literal.value);
        }
        unsigned(bytes, steps.len() as u64);
        for &step in &self.steps[steps] {
            write(bytes, step, names);
        }
    }

    /// Counts the steps that use each nogood and each price vector. Steps of unused nogoods are ignored. The last
    /// nogood is used, because it states that there is no solution.
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
                Record::Bytes(_) | Record::Prices(_) => {}
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

/// The numbers that nogoods and price vectors have in the certificate.
struct Names {
    nogoods: Vec<u64>,
    prices: Vec<u8>,
}

impl Names {
    /// Numbers the nogoods and price vectors that are used. The nogoods with the most uses get the smallest numbers,
    /// which take the fewest bytes.
    fn new(uses: &Uses) -> Self {
        let mut order: Vec<usize> = (0..uses.nogoods.len()).filter(|&number| uses.nogoods[number] > 0).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(uses.nogoods[number]));
        let mut nogoods = vec![0; uses.nogoods.len()];
        order.iter().zip(0..).for_each(|(&number, name)| nogoods[number] = name);
        let mut next = 0;
        let name = |&uses: &u32| {
            next += u8::from(uses > 0);
            next.saturating_sub(1)
        };
        Self { nogoods, prices: uses.prices.iter().map(name).collect() }
    }
}

fn write(bytes: &mut Vec<u8>, step: Step, names: &Names) {
    let place = |bytes: &mut Vec<u8>, kind: u8, supply: u8, at: i64| {
        bytes.extend([kind, supply]);
        signed(bytes, at);
    };
    let last = match step {
        Step::Decision => return,
        Step::Nogood { clause } => {
            bytes.push(1);
            names.nogoods[clause]
        }
        Step::Wait { from, to, is_back } => {
            bytes.push(2 + u8::from(is_back));
            unsigned(bytes, from.into());
            to.into()
        }
        Step::Table { supply, at, task, is_back } => {
            place(bytes, 4 + u8::from(is_back), supply, at);
            task.into()
        }
        Step::ModesAt { supply, at, task } => {
            place(bytes, 6, supply, at);
            task.into()
        }
        Step::Overload { supply, at } => return place(bytes, 14, supply, at),
        Step::Deadline { task } => {
            bytes.push(7);
            task.into()
        }
        Step::FastModes { task } => {
            bytes.push(8);
            task.into()
        }
        Step::Energy { supply, from, until } => {
            place(bytes, 9, supply, from);
            return signed(bytes, until);
        }
        Step::ModesWithin { supply, from, until, task } => {
            place(bytes, 16, supply, from);
            signed(bytes, until);
            task.into()
        }
        Step::Priced { prices, task, kind } => {
            bytes.extend([10 + kind, names.prices[prices as usize]]);
            task.into()
        }
        Step::Prices { prices } => return bytes.extend([15, names.prices[prices as usize]]),
    };
    unsigned(bytes, last);
}
