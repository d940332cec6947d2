//! The records of a refutation, in the byte format of `docs/bounds.md`.

use super::{Clause, Literal, Step};

/// A record, and the nogoods that it names.
struct Record {
    bytes: Vec<u8>,
    /// The number of the nogood that the record proves.
    proves: Option<usize>,
    uses: Vec<usize>,
}

/// The records so far.
pub(in crate::complete) struct Log {
    records: Vec<Record>,
    nogoods: usize,
    length: usize,
    /// The number of supplies that are not scales.
    pub(in crate::complete) own_supplies: usize,
    /// The number of root changes that are recorded.
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
        Self { records: Vec::new(), nogoods: 0, length: 0, own_supplies, root_changes: 0 }
    }

    fn add(&mut self, bytes: Vec<u8>, proves: Option<usize>, uses: Vec<usize>) {
        self.length += bytes.len();
        self.records.push(Record { bytes, proves, uses });
    }

    /// Returns the number of bytes of all records.
    pub(in crate::complete) fn length(&self) -> usize {
        self.length
    }

    /// Adds a scale of the processors with its capacity.
    pub(in crate::complete) fn scale(&mut self, capacity: i64, scale: &[i64]) {
        let mut bytes = vec![30];
        for &amount in std::iter::once(&capacity).chain(scale) {
            unsigned(&mut bytes, amount.cast_unsigned());
        }
        self.add(bytes, None, Vec::new());
    }

    /// Adds prices of all supplies at all instants.
    pub(in crate::complete) fn prices(&mut self, prices: &[Vec<i64>]) {
        let mut bytes = vec![31];
        for line in prices {
            let runs: Vec<&[i64]> = line.chunk_by(|a, b| a == b).collect();
            unsigned(&mut bytes, runs.len() as u64);
            let mut last = 0;
            for run in runs {
                unsigned(&mut bytes, run.len() as u64);
                signed(&mut bytes, run[0] - last);
                last = run[0];
            }
        }
        self.add(bytes, None, Vec::new());
    }

    /// Adds a pair of equal tasks.
    pub(in crate::complete) fn pair(&mut self, first: usize, second: usize) {
        let mut bytes = vec![22];
        unsigned(&mut bytes, first as u64);
        unsigned(&mut bytes, second as u64);
        self.add(bytes, None, Vec::new());
    }

    /// Adds the task that runs in the first half of the time.
    pub(in crate::complete) fn mirror(&mut self, task: usize) {
        let mut bytes = vec![23];
        unsigned(&mut bytes, task as u64);
        self.add(bytes, None, Vec::new());
    }

    /// Adds a step that changes the root state.
    pub(in crate::complete) fn root(&mut self, step: Step, clauses: &[Clause]) {
        let (mut bytes, mut uses) = (vec![20], Vec::new());
        write(&mut bytes, step, clauses, &mut uses);
        self.add(bytes, None, uses);
    }

    /// Adds a nogood with the steps that prove it, and returns its number.
    pub(in crate::complete) fn nogood(&mut self, literals: &[Literal], steps: &[Step], clauses: &[Clause]) -> usize {
        let number = self.nogoods;
        self.nogoods += 1;
        let (mut bytes, mut uses) = (Vec::new(), Vec::new());
        unsigned(&mut bytes, literals.len() as u64);
        for literal in literals {
            unsigned(&mut bytes, literal.bound.into());
            signed(&mut bytes, literal.value);
        }
        unsigned(&mut bytes, steps.len() as u64);
        for &step in steps {
            write(&mut bytes, step, clauses, &mut uses);
        }
        self.add(bytes, Some(number), uses);
        number
    }

    /// Returns the bytes of all records that the last one needs.
    pub(in crate::complete) fn trimmed(&self) -> Vec<u8> {
        let mut is_used = vec![false; self.nogoods];
        let mut kept = Vec::new();
        for (at, record) in self.records.iter().enumerate().rev() {
            if at + 1 == self.records.len() || record.proves.is_none_or(|number| is_used[number]) {
                record.uses.iter().for_each(|&number| is_used[number] = true);
                kept.push(record);
            }
        }
        let mut bytes = Vec::new();
        for record in kept.into_iter().rev() {
            if let Some(number) = record.proves {
                bytes.push(21);
                unsigned(&mut bytes, number as u64);
            }
            bytes.extend_from_slice(&record.bytes);
        }
        bytes
    }
}

fn write(bytes: &mut Vec<u8>, step: Step, clauses: &[Clause], uses: &mut Vec<usize>) {
    let place = |bytes: &mut Vec<u8>, kind: u8, supply: u8, at: i64| {
        bytes.extend([kind, supply]);
        signed(bytes, at);
    };
    let last = match step {
        Step::Decision => return,
        Step::Nogood { clause } => {
            bytes.push(1);
            uses.push(clauses[clause].id);
            clauses[clause].id as u64
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
            bytes.extend([10 + kind, prices]);
            task.into()
        }
        Step::Prices { prices } => return bytes.extend([15, prices]),
    };
    unsigned(bytes, last);
}
