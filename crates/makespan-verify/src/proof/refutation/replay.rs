//! The replay of the records of a refutation.

use rustc_hash::FxHashSet;

use crate::proof::CertificateError;
use crate::proof::error::{invalid, malformed, unproved};

use super::code::Reader;
use super::lift::most_together;
use super::meter::Meter;
use super::price_vector::PriceVector;
use super::relaxation::{Relaxation, are_equal};
use super::rules::Rules;
use super::state::{Literal, State};
use super::step::{Counts, RefutationStep};
use super::supply::Supply;

/// Maximum number of scales, and maximum number of price vectors.
const MAX_LISTS: usize = 64;
/// Maximum number of processors for which a scale is supported.
const MAX_SCALED: i128 = 1024;
/// Maximum number of supplies, including scales.
const MAX_SUPPLIES: usize = 255;

/// The state after the records that were read so far.
pub(super) struct Replay {
    pub(super) rules: Rules,
    pub(super) root: State,
    /// Number of supplies of the relaxed problem, without the scales that records add.
    own_supplies: usize,
    /// The deadline of all tasks, if the instance has mirror symmetry: the time reversal of every schedule is also a
    /// schedule.
    mirror: Option<i64>,
    /// The task with the restriction of [`Self::reflect`], if a record names such a task.
    mirrored: Option<usize>,
    /// For each task, true if a record names it as one of two equal tasks.
    paired: Vec<bool>,
}

impl Replay {
    /// Begins a replay at the root state. If the time reversal of every schedule is also a schedule, `mirror` is the
    /// deadline of all tasks. Otherwise, it is `None`.
    pub(super) fn new(relaxation: Relaxation, mirror: Option<i64>) -> Result<Self, CertificateError> {
        if relaxation.supplies.len() > MAX_SUPPLIES {
            return unproved(format!("a certificate `refutation` supports at most {MAX_SUPPLIES} resources"));
        }
        let root = State::root(&relaxation);
        let (own_supplies, paired) = (relaxation.supplies.len(), vec![false; relaxation.tasks.len()]);
        let (ordered, nogoods, prices) = (FxHashSet::default(), Vec::new(), Vec::new());
        let rules = Rules { relaxation, ordered, nogoods, prices, meter: Meter::new() };
        Ok(Self { rules, root, own_supplies, mirror, mirrored: None, paired })
    }

    /// Reads all records. Returns true as soon as the root state (the windows without assumptions) is empty. Returns
    /// false if the root state is not empty after the last record.
    pub(super) fn refutes(&mut self, steps: &[u8]) -> Result<bool, CertificateError> {
        let mut reader = Reader::new(steps)?;
        let mut records = 0;
        while !self.rules.relaxation.is_refuted && !self.root.is_empty() {
            if reader.is_at_end() {
                return Ok(false);
            }
            records += 1;
            self.record(&mut reader).map_err(|error| error.in_step(records))?;
        }
        Ok(true)
    }

    fn record(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        match reader.unsigned()? {
            20 => {
                let step = RefutationStep::read(reader, self.counts())?;
                self.rules.apply(&mut self.root, step)
            }
            21 => self.nogood(reader),
            22 => self.pair(reader),
            23 => self.reflect(reader),
            32 => self.scale(reader),
            33 => self.lifted_scale(reader),
            31 => self.prices(reader),
            kind => malformed(format!("the steps contain a record of the unknown kind {kind}")),
        }
    }

    fn counts(&self) -> Counts {
        let Rules { relaxation, prices, nogoods, .. } = &self.rules;
        let (tasks, supplies) = (relaxation.tasks.len(), relaxation.supplies.len());
        let consumables = relaxation.consumables.len();
        Counts { tasks, supplies, consumables, prices: prices.len(), nogoods: nogoods.len() }
    }

    /// Reads a nogood: a list of literals, and the steps that refute the state in which all of them are false.
    fn nogood(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let bounds = 4 * self.rules.relaxation.tasks.len();
        let mut literals = Vec::new();
        for _ in 0..reader.unsigned()? {
            literals.push(Literal { bound: reader.position(bounds)?, value: reader.signed()? });
        }
        self.rules.meter.spend(self.root.windows().len() + literals.len())?;
        let mut state = self.root.clone();
        literals.iter().for_each(|literal| state.assume(literal.negated()));
        for (number, _) in (1..).zip(0..reader.unsigned()?) {
            let step = RefutationStep::read(reader, self.counts())?;
            self.rules.apply(&mut state, step).map_err(|error| error.in_step(number))?;
        }
        if !state.is_empty() {
            return invalid("the nogood does not follow, because every task still has a feasible window");
        }
        if literals.is_empty() {
            self.root.refute();
        }
        self.rules.nogoods.push(literals);
        Ok(())
    }

    /// Reads a pair of equal tasks. Later steps may use that the first task starts no later than the second. This
    /// restriction is valid, because equal tasks can be exchanged in every schedule.
    fn pair(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let tasks = self.rules.relaxation.tasks.len();
        let (first, second) = (reader.position(tasks)?, reader.position(tasks)?);
        self.rules.meter.spend(self.rules.relaxation.waits.len())?;
        if first >= second || !are_equal(&self.rules.relaxation, first, second) {
            return invalid(format!("tasks {first} and {second} are not equal tasks in ascending order"));
        }
        if self.mirrored.is_some_and(|mirrored| mirrored == first || mirrored == second) {
            return invalid("one of the two equal tasks is mirrored");
        }
        if !self.rules.ordered.insert((first, second)) {
            return invalid(format!("an earlier record already states that tasks {first} and {second} are equal"));
        }
        (self.paired[first], self.paired[second]) = (true, true);
        Ok(())
    }

    /// Reads a task, and restricts its run: the middle of the run lies in the first half of the time until the
    /// deadline. This restriction is valid if the time reversal of every schedule is also a schedule.
    fn reflect(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let task = reader.position(self.paired.len())?;
        let Some(deadline) = self.mirror.filter(|_| self.mirrored.is_none() && !self.paired[task]) else {
            return invalid(
                "a record mirrors a task, but the instance has no mirror symmetry, or another task is already mirrored, or \
                 a record pairs the task with an equal task",
            );
        };
        self.mirrored = Some(task);
        for mode in &mut self.rules.relaxation.tasks[task].modes {
            mode.latest = mode.latest.min((deadline - mode.time).div_euclid(2));
        }
        let fastest = self.rules.relaxation.tasks[task].modes[self.root.window(task).last].latest;
        self.root.start_at_most(task, fastest);
        Ok(())
    }

    /// Reads a scale: an additional supply. For each mode of each task, the record states the amount that the task
    /// holds.
    fn scale(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let supply = reader.position(self.rules.relaxation.supplies.len())?;
        let most = self.rules.relaxation.supplies[supply].most();
        if most > MAX_SCALED {
            return invalid(format!("the supply of a scale is more than {MAX_SCALED}"));
        }
        let count = usize::try_from(most).unwrap_or(0);
        self.begin_scale(reader)?;
        let Rules { relaxation, meter, .. } = &mut self.rules;
        let (mut most, mut held) = (vec![0_i128; count + 1], Vec::new());
        for task in &relaxation.tasks {
            meter.spend((count + 1) * (task.modes.len() + 1))?;
            // This copy ensures that a set of tasks contains this task in at most one mode.
            let before = most.clone();
            for mode in &task.modes {
                let amount = i128::from(reader.amount()?);
                held.push(amount);
                let least = usize::try_from(mode.amounts[supply]).unwrap_or(usize::MAX);
                for size in least..=count {
                    let sum = before[size - least].checked_add(amount).ok_or(CertificateError::Overflow)?;
                    most[size] = most[size].max(sum);
                }
            }
        }
        self.add_scale(supply, &most, held)
    }

    /// Reads a lifted scale: an additional supply that never changes. For each mode of each task, the record states the
    /// amount that the task holds. The supply is the maximum sum of these amounts over all sets of tasks that can run
    /// at the same time.
    fn lifted_scale(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let modes = self.begin_scale(reader)?;
        let held: Vec<i128> =
            (0..modes).map(|_| Ok(reader.amount()?.into())).collect::<Result<_, CertificateError>>()?;
        let Rules { relaxation, meter, .. } = &mut self.rules;
        let most = most_together(relaxation, self.own_supplies, &held, meter)?;
        relaxation.supplies.push(Supply::new(most, &[])?);
        hold(relaxation, held);
        Ok(())
    }

    /// Reads the number of amounts of a scale, which is the number of modes of all tasks. Returns an error if no
    /// further scale is permitted.
    fn begin_scale(&self, reader: &mut Reader<'_>) -> Result<usize, CertificateError> {
        let Relaxation { supplies, tasks, .. } = &self.rules.relaxation;
        if supplies.len() - self.own_supplies >= MAX_LISTS || supplies.len() >= MAX_SUPPLIES {
            return invalid(format!("there are more than {MAX_LISTS} scales, or too many supplies"));
        }
        if !self.rules.prices.is_empty() {
            return invalid("a scale follows prices, but scales must come first");
        }
        let modes: usize = tasks.iter().map(|task| task.modes.len()).sum();
        if reader.unsigned()? != u64::try_from(modes).unwrap_or(u64::MAX) {
            return malformed("a scale does not have an amount for each mode of each task");
        }
        Ok(modes)
    }

    /// Adds a supply. Its amount is `most[x]` while the supply with the index `of` has the amount x. `held` contains
    /// the amount of the new supply that each task holds in each mode.
    fn add_scale(&mut self, of: usize, most: &[i128], held: Vec<i128>) -> Result<(), CertificateError> {
        let relaxation = &mut self.rules.relaxation;
        let supply = relaxation.supplies[of].mapped(|open| entry(most, open))?;
        relaxation.supplies.push(supply);
        hold(relaxation, held);
        Ok(())
    }

    fn prices(&mut self, reader: &mut Reader<'_>) -> Result<(), CertificateError> {
        let Rules { relaxation, prices, meter, .. } = &mut self.rules;
        if prices.len() >= MAX_LISTS {
            return invalid(format!("there are more than {MAX_LISTS} price vectors"));
        }
        prices.push(PriceVector::read(reader, relaxation, meter)?);
        Ok(())
    }
}

/// Adds the amount of a new supply to each mode of each task.
fn hold(relaxation: &mut Relaxation, held: Vec<i128>) {
    let modes = relaxation.tasks.iter_mut().flat_map(|task| &mut task.modes);
    modes.zip(held).for_each(|(mode, amount)| mode.amounts.push(amount));
}

/// Returns an entry of a list, or 0 if there is no such entry.
fn entry(values: &[i128], at: i128) -> i128 {
    usize::try_from(at).ok().and_then(|at| values.get(at).copied()).unwrap_or(0)
}
