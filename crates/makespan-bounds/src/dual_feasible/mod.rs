//! Refutation of deadlines by dual-feasible functions. [`makespan_verify::proof::DualFeasible`] states the theorem.
//!
//! The search divides time into equal classes. If the jobs have few allotments to choose from, the search also divides
//! the number of processors into classes. On these classes, the search gives a price to each function of the families
//! in `functions`. Each job chooses the allotment with the least need at these prices. The search maximises the total
//! need over the prices, as the module `game` explains.

mod board;
mod functions;
mod game;
mod rounding;

use makespan_core::{Instance, Objective, Time};
use makespan_verify::{Bound, Proof};

use crate::Clock;

pub(crate) use board::Grid;
use board::{AllotmentBoard, BoardSetting};
pub(crate) use functions::families;
use game::Game;
pub(crate) use rounding::steps;

/// Number of classes of a grid. This number is divisible by 2, 3, 4, 5, 6, 10 and 12.
const CLASSES: i64 = 60;
/// Number of classes of a grid for instances of more than `MAX_JOBS` jobs.
const FEW_CLASSES: i64 = 24;
/// Maximum number of jobs for which the search finds prices (module `game`). If an instance has more jobs, the search
/// uses a sample of the jobs.
const MAX_JOBS: usize = 1024;
/// Maximum number of certificates that one search checks. A check takes long, because it examines all jobs.
const MAX_CHECKS: usize = 3;
/// Number of rounds of the search for prices, for the first deadline.
const FIRST_ROUNDS: u32 = 120;
/// Number of rounds of the search for prices, for each later deadline.
const ROUNDS: u32 = 32;
/// If more than this number of functions of the width have prices, the number of rounds is divided by four.
const MANY_WIDTHS: usize = 8;
/// If the total need of the jobs exceeds this multiple of the capacity, the deadline is treated as refuted. The
/// multiple is more than one, because rounding to integers may reduce the need.
const SURE: f64 = 1.000_05;
/// The value used in place of `SURE` if a sample represents all jobs.
const SURE_OF_SAMPLE: f64 = 1.002;
/// The search for prices for a deadline ends early if the total need exceeds `SURE` (or `SURE_OF_SAMPLE`) by more than
/// this value. All three numbers are fractions of the capacity. The search for the first deadline never ends early for
/// this reason.
const ENOUGH: f64 = 0.001;
/// Maximum number of deadlines that are tried.
const ATTEMPTS: u32 = 7;
/// Maximum number of deadlines that are tried if every job has only one allotment. Then one round is enough for each
/// deadline.
const ATTEMPTS_RIGID: u32 = 24;

/// Returns the bound from the largest deadline that the search refutes. Ignores jobs that are released before `from`.
/// The first deadline is `known`, the best bound so far. Returns `None` if this deadline is not refuted.
///
/// Complexity: about 300 rounds on at most 1,024 jobs, each in O(choices + classes^2), and up to three checks of
/// certificates on all jobs. An allotment is a choice if its run time is in a lower class than the run times of all
/// smaller allotments.
pub fn search(instance: &Instance, from: Time, known: Time) -> Option<Bound> {
    search_until(instance, from, known, &Clock::ENDLESS)
}

/// Runs [`search`], but stops when `clock` expires.
pub(crate) fn search_until(instance: &Instance, from: Time, known: Time, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let few = instance.jobs().len() <= MAX_JOBS;
    let setting = BoardSetting::new(instance, from, MAX_JOBS, if few { CLASSES } else { FEW_CLASSES });
    if setting.jobs.is_empty() {
        return None;
    }
    let sure = if few { SURE } else { SURE_OF_SAMPLE };
    let mut game = Game::new(&setting);
    let mut refuted = Vec::new();
    let mut deadline = known;
    let mut low = None;
    let mut high: Option<TriedDeadline> = None;
    let rigid = setting.jobs.iter().all(|job| job.profile().is_rigid());
    for attempt in 0..if rigid { ATTEMPTS_RIGID } else { ATTEMPTS } {
        if clock.is_over() {
            break;
        }
        let Some(board) = AllotmentBoard::new(&setting, deadline) else { break };
        let (rounds, enough) = if attempt == 0 { (FIRST_ROUNDS, f64::INFINITY) } else { (ROUNDS, sure + ENOUGH) };
        // With many functions of the width, each round is slow, because every pair of a function of the width and a
        // function of the time has a price.
        let rounds = if setting.widths.len() > MANY_WIDTHS { rounds / 4 } else { rounds };
        let (needed, costs) = game.play(&board, rounds, enough, clock);
        if needed > sure {
            refuted.push(rounding::certificate(&board, &costs, deadline));
            low = Some(TriedDeadline { deadline, needed });
        } else {
            high = Some(TriedDeadline { deadline, needed });
        }
        // If the first deadline is not refuted, no later deadline can be refuted.
        let Some(tried) = low.and_then(|low| next(from, sure, low, high)) else { break };
        deadline = tried;
    }
    // Check the largest deadline first. If its prices, which were found in floating point, prove nothing in exact
    // integers, check the next deadline.
    let proved = |refutation| Bound::proved_by(Objective::Makespan, Proof::DualFeasible(refutation), instance).ok();
    refuted.into_iter().rev().take(MAX_CHECKS).find_map(proved)
}

/// A deadline that was tried, and the total need of the jobs for this deadline, as a fraction of the capacity.
#[derive(Clone, Copy)]
struct TriedDeadline {
    deadline: Time,
    needed: f64,
}

/// Returns the next deadline to try: an estimate of the deadline for which the total need of the jobs equals the
/// capacity. `low` is the last refuted deadline, and `high` is the last deadline that was not refuted. Returns `None`
/// if the estimate is close to `low`.
fn next(from: Time, sure: f64, low: TriedDeadline, high: Option<TriedDeadline>) -> Option<Time> {
    let span = (low.deadline - from).ticks() as f64;
    let step = match high {
        // If the need did not change, the next deadline would be later by the fraction `needed - sure`. The step is
        // shorter, because jobs may choose allotments of less work for a later deadline.
        None => span * (low.needed - sure) * 0.6,
        Some(high) => {
            let gap = (high.deadline - low.deadline).ticks() as f64;
            gap * ((low.needed - sure) / (low.needed - high.needed).max(1e-12)).clamp(0.2, 0.8)
        }
    };
    (step > span * 5e-5).then(|| low.deadline + Time::from_ticks(step as i64))
}

#[cfg(test)]
mod tests;
