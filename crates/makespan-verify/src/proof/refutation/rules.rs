//! The rules by which a step narrows the windows of tasks.

use rustc_hash::FxHashSet;

use crate::proof::CertificateError;
use crate::proof::error::invalid;

use super::meter::Meter;
use super::price_vector::PriceVector;
use super::relaxation::Relaxation;
use super::state::{Literal, StartWindow, State};
use super::step::{Held, HeldWithin, RefutationStep};
use super::task::Mode;

/// The data of the rules, apart from the windows.
pub(super) struct Rules {
    pub(super) relaxation: Relaxation,
    /// Pairs of equal tasks. The first task of a pair starts no later than the second.
    pub(super) ordered: FxHashSet<(usize, usize)>,
    /// The proved nogoods. A nogood is a clause: in every schedule that reaches the claim, at least one of its literals
    /// is true.
    pub(super) nogoods: Vec<Vec<Literal>>,
    pub(super) prices: Vec<PriceVector>,
    pub(super) meter: Meter,
}

impl Rules {
    /// Applies a step. Has no effect on an empty state.
    pub(super) fn apply(&mut self, state: &mut State, step: RefutationStep) -> Result<(), CertificateError> {
        self.meter.spend(1)?;
        if state.is_empty() {
            return Ok(());
        }
        match step {
            RefutationStep::Nogood(number) => self.nogood(state, number),
            RefutationStep::After(first, second) => {
                let least = state.window(first).earliest.saturating_add(self.gap(state, first, second)?);
                state.start_at_least(second, least);
                Ok(())
            }
            RefutationStep::Before(first, second) => {
                let most = state.window(second).latest.saturating_sub(self.gap(state, first, second)?);
                state.start_at_most(first, most);
                Ok(())
            }
            RefutationStep::StartLater(held, task) => {
                let StartWindow { earliest, .. } = state.window(task);
                let end = earliest + self.shortest(state, task);
                if end > held.at && self.is_full(state, held, task)? {
                    state.start_at_least(task, held.at + 1);
                }
                Ok(())
            }
            RefutationStep::EndEarlier(held, task) => {
                if state.window(task).latest <= held.at && self.is_full(state, held, task)? {
                    state.start_at_most(task, held.at - self.shortest(state, task));
                }
                Ok(())
            }
            RefutationStep::ModesAt(held, task) => self.modes_at(state, held, task),
            RefutationStep::Overload(held) => {
                if self.used(state, held, None)? > self.relaxation.supplies[held.supply].at(held.at) {
                    state.refute();
                }
                Ok(())
            }
            RefutationStep::Deadline(task) => {
                state.start_at_most(task, self.relaxation.tasks[task].modes[state.window(task).last].latest);
                Ok(())
            }
            RefutationStep::FastModes(task) => {
                let StartWindow { earliest, first, last, .. } = state.window(task);
                let modes = &self.relaxation.tasks[task].modes;
                let slow = modes[first..=last].iter().take_while(|mode| mode.latest < earliest).count();
                remove_first(state, task, slow);
                Ok(())
            }
            RefutationStep::Energy(held) => {
                let needed = self.energy(state, held, None)?;
                if needed > self.relaxation.supplies[held.supply].within(held.from, held.until)? {
                    state.refute();
                }
                Ok(())
            }
            RefutationStep::ModesWithin(held, task) => self.modes_within(state, held, task),
            RefutationStep::UsedUp(consumable) => {
                if self.used_up(state, consumable, None)? > self.relaxation.consumables[consumable] {
                    state.refute();
                }
                Ok(())
            }
            RefutationStep::ModesLeft(consumable, task) => self.modes_left(state, consumable, task),
            RefutationStep::FirstStarts(prices, task)
            | RefutationStep::LastStarts(prices, task)
            | RefutationStep::FirstModes(prices, task)
            | RefutationStep::LastModes(prices, task) => self.by_prices(state, step, prices, task),
            RefutationStep::Prices(prices) => {
                self.prices[prices].room(state, &self.relaxation, None, &mut self.meter).map(drop)
            }
        }
    }

    fn nogood(&mut self, state: &mut State, number: usize) -> Result<(), CertificateError> {
        let literals = &self.nogoods[number];
        self.meter.spend(literals.len())?;
        let mut open = literals.iter().filter(|literal| !state.implies(literal.negated()));
        match (open.next(), open.next()) {
            (None, _) => state.refute(),
            (Some(&literal), None) => state.assume(literal),
            (Some(_), Some(_)) => {}
        }
        Ok(())
    }

    /// Returns the minimum time from the start of the task `first` to the start of the task `second`, which waits for
    /// `first`.
    fn gap(&mut self, state: &State, first: usize, second: usize) -> Result<i64, CertificateError> {
        if let Some(transfers) = self.relaxation.transfers.get(&(first, second)) {
            let modes = |task: usize| {
                let StartWindow { first, last, .. } = state.window(task);
                &self.relaxation.tasks[task].modes[first..=last]
            };
            self.meter.spend(modes(first).len() * modes(second).len())?;
            let in_modes = |from: &Mode, to: &Mode| from.time.saturating_add(transfers[from.class][to.class]);
            let gaps = modes(first).iter().flat_map(|from| modes(second).iter().map(move |to| in_modes(from, to)));
            return Ok(gaps.min().unwrap_or(0));
        }
        if let Some(delay) = self.relaxation.waits.get(&(first, second)) {
            return Ok(self.shortest(state, first).saturating_add(*delay));
        }
        if self.ordered.contains(&(first, second)) {
            return Ok(0);
        }
        invalid(format!(
            "the step assumes that task {second} waits for task {first}, but the instance does not state this"
        ))
    }

    /// Returns the time of a task in the fastest of its remaining modes.
    fn shortest(&self, state: &State, task: usize) -> i64 {
        self.relaxation.tasks[task].modes[state.window(task).last].time
    }

    /// Returns true if a task cannot run at an instant, because the tasks that must run at this instant leave too
    /// little of a supply.
    fn is_full(&mut self, state: &State, held: Held, task: usize) -> Result<bool, CertificateError> {
        let used = self.used(state, held, Some(task))?;
        let own = self.least(state.window(task), held.supply, task)?;
        let needed = used.checked_add(own).ok_or(CertificateError::Overflow)?;
        Ok(needed > self.relaxation.supplies[held.supply].at(held.at))
    }

    /// Returns the minimum amount that the tasks hold together at an instant. Only tasks that must run at the instant
    /// are included. The task `except` is left out.
    fn used(&mut self, state: &State, held: Held, except: Option<usize>) -> Result<i128, CertificateError> {
        self.meter.spend(state.windows().len())?;
        let mut sum = 0_i128;
        for (task, &window) in state.windows().iter().enumerate() {
            if Some(task) != except && self.runs_at(window, task, held.at) {
                let amount = self.least(window, held.supply, task)?;
                sum = sum.checked_add(amount).ok_or(CertificateError::Overflow)?;
            }
        }
        Ok(sum)
    }

    fn runs_at(&self, window: StartWindow, task: usize, at: i64) -> bool {
        window.latest <= at && at < window.earliest + self.relaxation.tasks[task].modes[window.last].time
    }

    /// Returns the minimum amount of a supply that a task holds while it runs.
    fn least(&mut self, window: StartWindow, supply: usize, task: usize) -> Result<i128, CertificateError> {
        let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
        self.meter.spend(modes.len())?;
        Ok(modes.iter().map(|mode| mode.amounts[supply]).min().unwrap_or(0))
    }

    fn modes_at(&mut self, state: &mut State, held: Held, task: usize) -> Result<(), CertificateError> {
        let window = state.window(task);
        if !self.runs_at(window, task, held.at) {
            return Ok(());
        }
        let free = self.relaxation.supplies[held.supply].at(held.at).checked_sub(self.used(state, held, Some(task))?);
        let free = free.ok_or(CertificateError::Overflow)?;
        let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
        let wide = modes.iter().rev().take_while(|mode| mode.amounts[held.supply] > free).count();
        remove_last(state, task, wide);
        Ok(())
    }

    /// Returns the minimum amount that all tasks except `except` hold within a window of time, summed over the units
    /// of time of the window.
    fn energy(&mut self, state: &State, held: HeldWithin, except: Option<usize>) -> Result<i128, CertificateError> {
        let mut sum = 0_i128;
        for (task, &window) in state.windows().iter().enumerate().filter(|(task, _)| Some(*task) != except) {
            let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
            self.meter.spend(modes.len())?;
            let mut least = i128::MAX;
            for mode in modes {
                least = least.min(energy_of(window, mode, held)?);
            }
            sum = sum.checked_add(least).ok_or(CertificateError::Overflow)?;
        }
        Ok(sum)
    }

    fn modes_within(&mut self, state: &mut State, held: HeldWithin, task: usize) -> Result<(), CertificateError> {
        let others = self.energy(state, held, Some(task))?;
        let all = self.relaxation.supplies[held.supply].within(held.from, held.until)?;
        let free = all.checked_sub(others).ok_or(CertificateError::Overflow)?;
        let window = state.window(task);
        let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
        self.meter.spend(modes.len())?;
        let mut wide = 0;
        for mode in modes.iter().rev() {
            if energy_of(window, mode, held)? <= free {
                break;
            }
            wide += 1;
        }
        remove_last(state, task, wide);
        Ok(())
    }

    /// Returns the sum of the minimum amounts of a consumable that the tasks use up in their remaining modes. Does not
    /// count the task `except`.
    fn used_up(&mut self, state: &State, consumable: usize, except: Option<usize>) -> Result<i128, CertificateError> {
        let mut sum = 0_i128;
        for (task, window) in state.windows().iter().enumerate().filter(|(task, _)| Some(*task) != except) {
            let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
            self.meter.spend(modes.len())?;
            let least = modes.iter().map(|mode| mode.used_up[consumable]).min().unwrap_or(0);
            sum = sum.checked_add(least).ok_or(CertificateError::Overflow)?;
        }
        Ok(sum)
    }

    fn modes_left(&mut self, state: &mut State, consumable: usize, task: usize) -> Result<(), CertificateError> {
        let others = self.used_up(state, consumable, Some(task))?;
        let left = self.relaxation.consumables[consumable].checked_sub(others).ok_or(CertificateError::Overflow)?;
        let window = state.window(task);
        let modes = &self.relaxation.tasks[task].modes[window.first..=window.last];
        self.meter.spend(modes.len())?;
        let is_too_much = |mode: &&Mode| mode.used_up[consumable] > left;
        let (first, last) =
            (modes.iter().take_while(is_too_much).count(), modes.iter().rev().take_while(is_too_much).count());
        remove_first(state, task, first);
        if !state.is_empty() {
            remove_last(state, task, last);
        }
        Ok(())
    }

    /// Removes starts or modes of a task that are too expensive.
    fn by_prices(
        &mut self,
        state: &mut State,
        step: RefutationStep,
        prices: usize,
        task: usize,
    ) -> Result<(), CertificateError> {
        let Self { relaxation, prices: all, meter, .. } = self;
        let prices = &mut all[prices];
        let room = prices.room(state, relaxation, Some(task), meter)?;
        if state.is_empty() {
            return Ok(());
        }
        let window = state.window(task);
        let is_expensive =
            |mode: &usize| prices.least_in(window, relaxation, task, *mode).is_none_or(|cost| cost >= room);
        match step {
            RefutationStep::FirstModes(..) => {
                meter.spend(8 * (window.last + 1 - window.first))?;
                remove_first(state, task, (window.first..=window.last).take_while(is_expensive).count());
            }
            RefutationStep::LastModes(..) => {
                meter.spend(8 * (window.last + 1 - window.first))?;
                remove_last(state, task, (window.first..=window.last).rev().take_while(is_expensive).count());
            }
            RefutationStep::FirstStarts(..) => match prices.first_start(window, relaxation, task, room, meter)? {
                Some(start) => state.start_at_least(task, start),
                None => state.refute(),
            },
            _ => match prices.last_start(window, relaxation, task, room, meter)? {
                Some(start) => state.start_at_most(task, start),
                None => state.refute(),
            },
        }
        Ok(())
    }
}

/// Returns the minimum amount that a task in one mode holds within a window of time, summed over the units of time of
/// the window. The minimum occurs at the first or at the last start.
fn energy_of(window: StartWindow, mode: &Mode, held: HeldWithin) -> Result<i128, CertificateError> {
    let latest = window.latest.min(mode.latest);
    let after = window.earliest + mode.time - held.from;
    let time = mode.time.min(held.until - held.from).min(after).min(held.until - latest).max(0);
    mode.amounts[held.supply].checked_mul(time.into()).ok_or(CertificateError::Overflow)
}

/// Removes the first `count` modes of a task. The state is refuted if no mode is left.
fn remove_first(state: &mut State, task: usize, count: usize) {
    let StartWindow { first, last, .. } = state.window(task);
    if count > last - first {
        state.refute();
    } else {
        state.mode_at_least(task, i64::try_from(first + count).unwrap_or(i64::MAX));
    }
}

/// Removes the last `count` modes of a task. The state is refuted if no mode is left.
fn remove_last(state: &mut State, task: usize, count: usize) {
    let StartWindow { first, last, .. } = state.window(task);
    if count > last - first {
        state.refute();
    } else {
        state.mode_at_most(task, i64::try_from(last - count).unwrap_or(i64::MAX));
    }
}
