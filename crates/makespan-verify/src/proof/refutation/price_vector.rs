//! Prices of resources over time, and the costs of tasks that pay these prices.

use crate::proof::CertificateError;
use crate::proof::error::malformed;

use super::code::Reader;
use super::curve::Curve;
use super::meter::Meter;
use super::relaxation::Relaxation;
use super::state::{StartWindow, State};
use super::supply::Supply;
use super::task::{Mode, RelaxedTask};

/// The unit of prices is the unit of the claim divided by this number.
const SCALE: i128 = 1024;
/// The largest price.
const MAX_PRICE: i64 = 1 << 36;

/// A price of each supply at each instant, and the resulting costs of all tasks.
#[derive(Clone, Debug)]
pub(super) struct PriceVector {
    /// The cost of each task in each mode: the cost of its end plus its payments.
    curves: Vec<Vec<Curve>>,
    /// The price of all available amounts of all supplies, over all instants.
    sold: i128,
    /// If the costs of all tasks sum to at least `limit + sold`, they contradict the claim.
    limit: i128,
    /// For each task, the last window for which its minimum cost was computed, and this minimum cost.
    known: Vec<Option<(StartWindow, Option<i128>)>>,
}

/// The prices of one supply. The prices are constant within each run (a period of successive instants). After the last
/// run, the price is 0.
#[derive(Default)]
struct Line {
    /// For each run: its start, its price, and the sum of the prices of all instants before its start.
    runs: Vec<(i64, i64, i128)>,
    end: i64,
    total: i128,
}

impl Line {
    fn read(reader: &mut Reader<'_>) -> Result<Self, CertificateError> {
        let count = reader.unsigned()?;
        let mut line = Self::default();
        let mut price = 0_i64;
        for _ in 0..count {
            let length = reader.amount()?;
            price += reader.signed()?;
            let end = line.end.saturating_add(length);
            if !(0..=MAX_PRICE).contains(&price) || end > super::LIMIT {
                return malformed("a price is negative or too large, or the prices of a supply last too long");
            }
            if length == 0 {
                continue;
            }
            line.runs.push((line.end, price, line.total));
            line.total += i128::from(price) * i128::from(length);
            line.end = end;
        }
        Ok(line)
    }

    /// Returns the sum of the prices of all instants from 0 to `until`.
    fn until(&self, until: i64) -> i128 {
        let next = self.runs.partition_point(|run| run.0 <= until);
        let Some(&(start, price, before)) = next.checked_sub(1).and_then(|at| self.runs.get(at)) else { return 0 };
        before + i128::from(price) * i128::from(until.min(self.end) - start)
    }

    /// Returns the instants at which the price may change.
    fn changes(&self) -> impl Iterator<Item = i64> + '_ {
        self.runs.iter().map(|run| run.0).chain([self.end])
    }

    /// Returns the price of the available amounts of the supply, over all instants.
    fn sold(&self, supply: &Supply) -> Result<i128, CertificateError> {
        let ends = self.runs.iter().skip(1).map(|run| run.0).chain([self.end]);
        self.runs.iter().zip(ends).try_fold(0_i128, |sum, (&(start, price, _), end)| {
            let paid = supply.within(start, end)?.checked_mul(price.into());
            paid.and_then(|paid| sum.checked_add(paid)).ok_or(CertificateError::Overflow)
        })
    }
}

impl PriceVector {
    /// Reads the prices of all supplies.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        relaxation: &Relaxation,
        meter: &mut Meter,
    ) -> Result<Self, CertificateError> {
        let (stated, supplies) = (reader.unsigned()?, relaxation.supplies.len());
        if stated != u64::try_from(supplies).unwrap_or(u64::MAX) {
            return malformed(format!(
                "a record of kind 31 in `steps` has prices for {stated} supplies (processors and resources), but \
                 there are {supplies}"
            ));
        }
        let lines = relaxation.supplies.iter().map(|_| Line::read(reader)).collect::<Result<Vec<_>, _>>()?;
        let mut sold = 0_i128;
        for (line, supply) in lines.iter().zip(&relaxation.supplies) {
            meter.spend(line.runs.len())?;
            sold = sold.checked_add(line.sold(supply)?).ok_or(CertificateError::Overflow)?;
        }
        let mut changes: Vec<i64> = lines.iter().flat_map(Line::changes).collect();
        changes.sort_unstable();
        changes.dedup();
        let mut curve = |task: &RelaxedTask, mode: &Mode| {
            let starts = starts(&changes, task, mode);
            meter.store(starts.len().max(1))?;
            meter.spend(starts.len().saturating_mul(lines.len()))?;
            let cost = |start: i64| Some((start, cost(&lines, task, mode, start)?));
            let points: Option<Vec<(i64, i128)>> = starts.into_iter().map(cost).collect();
            points.map(Curve::new).ok_or(CertificateError::Overflow)
        };
        let mut curves = Vec::new();
        for task in &relaxation.tasks {
            let own: Result<Vec<Curve>, _> = task.modes.iter().map(|mode| curve(task, mode)).collect();
            curves.push(own?);
        }
        // The payments of all tasks sum to at most `sold`. If the objective is not a sum over jobs, all costs are
        // payments. Otherwise, a cost also contains the cost of the task's end. In every schedule that satisfies the
        // claim, these costs sum to at most the claimed value.
        let limit = if relaxation.is_sum { SCALE * i128::from(relaxation.value) + 1 } else { 1 };
        let known = vec![None; relaxation.tasks.len()];
        Ok(Self { curves, sold, limit, known })
    }

    /// Returns the limit for the cost of `task`: if all other tasks have their minimum costs, the cost of `task` must
    /// be below this limit. Refutes the state if the minimum costs of all tasks contradict the claim.
    pub(super) fn room(
        &mut self,
        state: &mut State,
        relaxation: &Relaxation,
        task: Option<usize>,
        meter: &mut Meter,
    ) -> Result<i128, CertificateError> {
        let (mut total, mut own) = (0_i128, 0);
        for other in 0..self.curves.len() {
            let Some(least) = self.least(state.window(other), relaxation, other, meter)? else {
                state.refute();
                return Ok(0);
            };
            total = total.checked_add(least).ok_or(CertificateError::Overflow)?;
            own = if Some(other) == task { least } else { own };
        }
        let needed = self.limit.checked_add(self.sold).ok_or(CertificateError::Overflow)?;
        if total >= needed {
            state.refute();
        }
        needed.checked_sub(total).and_then(|left| left.checked_add(own)).ok_or(CertificateError::Overflow)
    }

    fn least(
        &mut self,
        window: StartWindow,
        relaxation: &Relaxation,
        task: usize,
        meter: &mut Meter,
    ) -> Result<Option<i128>, CertificateError> {
        meter.spend(1)?;
        if let Some((known, least)) = self.known[task]
            && known == window
        {
            return Ok(least);
        }
        let modes = window.first..window.last + 1;
        meter.spend(8 * modes.len())?;
        let least = modes.filter_map(|mode| self.least_in(window, relaxation, task, mode)).min();
        self.known[task] = Some((window, least));
        Ok(least)
    }

    /// Returns the minimum cost of a task in one mode, or `None` if the task cannot start in this mode.
    pub(super) fn least_in(
        &self,
        window: StartWindow,
        relaxation: &Relaxation,
        task: usize,
        mode: usize,
    ) -> Option<i128> {
        let latest = window.latest.min(relaxation.tasks[task].modes[mode].latest);
        self.curves[task][mode].least(window.earliest, latest)
    }

    /// Returns the first start at which the cost of a task is below `room`, over all modes in its window.
    pub(super) fn first_start(
        &self,
        window: StartWindow,
        relaxation: &Relaxation,
        task: usize,
        room: i128,
        meter: &mut Meter,
    ) -> Result<Option<i64>, CertificateError> {
        let mut first: Option<i64> = None;
        for mode in window.first..=window.last {
            let (curve, latest) = (&self.curves[task][mode], relaxation.tasks[task].modes[mode].latest);
            meter.spend(curve.len())?;
            let found = curve.first_below(window.earliest, window.latest.min(latest), room);
            first = found.map_or(first, |found| Some(first.map_or(found, |first| first.min(found))));
        }
        Ok(first)
    }

    /// Returns the last start at which the cost of a task is below `room`, over all modes in its window.
    pub(super) fn last_start(
        &self,
        window: StartWindow,
        relaxation: &Relaxation,
        task: usize,
        room: i128,
        meter: &mut Meter,
    ) -> Result<Option<i64>, CertificateError> {
        let mut last: Option<i64> = None;
        for mode in window.first..=window.last {
            let (curve, latest) = (&self.curves[task][mode], relaxation.tasks[task].modes[mode].latest);
            meter.spend(curve.len())?;
            last = last.max(curve.last_below(window.earliest, window.latest.min(latest), room));
        }
        Ok(last)
    }
}

/// Returns the starts between which the cost of a task in a mode is linear.
fn starts(changes: &[i64], task: &RelaxedTask, mode: &Mode) -> Vec<i64> {
    let head = task.head;
    if head > mode.latest {
        return Vec::new();
    }
    let between = |after: i64, before: i64| {
        let first = changes.partition_point(|&change| change <= after);
        let end = changes.partition_point(|&change| change < before);
        changes[first..end.max(first)].iter().copied()
    };
    let time = mode.time;
    let ends = between(head.saturating_add(time), mode.latest.saturating_add(time)).map(|change| change - time);
    let free = [task.free_until.saturating_sub(time)].into_iter().filter(|&start| head < start && start < mode.latest);
    let inner = between(head, mode.latest).chain(ends).chain(free);
    let mut starts: Vec<i64> = inner.chain([head, mode.latest]).collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Returns the cost of the end of a task that starts at `start`, plus its payments. Returns `None` on overflow.
fn cost(lines: &[Line], task: &RelaxedTask, mode: &Mode, start: i64) -> Option<i128> {
    let end = start.checked_add(mode.time)?;
    let weighted = SCALE.checked_mul(task.cost(end))?;
    lines.iter().zip(&mode.amounts).try_fold(weighted, |sum, (line, &amount)| {
        sum.checked_add(amount.checked_mul(line.until(end) - line.until(start))?)
    })
}
