//! Deadlines refuted by dual-feasible functions.
//!
//! The theorem is with the certificate, [`makespan_core::proof::DualFeasible`]. The search divides time into equal
//! classes (and the processors, for jobs that have little choice of their width) and mixes all functions of the known
//! families on them, such that the jobs need most whatever allotments they choose: see `game`.

mod board;
mod functions;
mod game;
mod rounding;

use makespan_core::{Bound, Instance, Objective, Proof, Time};

use crate::Clock;

pub(crate) use board::Grid;
use board::{Board, Setting};
pub(crate) use functions::families;
use game::Game;
pub(crate) use rounding::steps;

/// Classes of a grid; it has halves, thirds, quarters, fifths, sixths, tenths and twelfths.
const CLASSES: i64 = 60;
/// The same for instances of many jobs.
const FEW_CLASSES: i64 = 24;
/// Prices are found on at most this many jobs.
const MAX_JOBS: usize = 1024;
/// Certificates checked at most.
const MAX_CHECKS: usize = 3;
/// Rounds for the first deadline.
const FIRST_ROUNDS: u32 = 120;
/// Rounds for each later one.
const ROUNDS: u32 = 32;
/// With more functions of the width than this, a quarter of the rounds.
const MANY_WIDTHS: usize = 8;
/// A deadline counts as refuted when the jobs need this share of what there is; the rest is for the rounding to integers.
const SURE: f64 = 1.000_05;
/// The same where a sample of the jobs stands for all.
const SURE_OF_SAMPLE: f64 = 1.002;
/// A later deadline is not looked at longer than until they need so much more than that.
const ENOUGH: f64 = 0.001;
/// Deadlines tried at most.
const ATTEMPTS: u32 = 7;
/// The same for jobs without a choice, for which a deadline is one round.
const ATTEMPTS_RIGID: u32 = 24;

/// The bound of the largest deadline found that is refuted, from `known` on: a time at which a schedule may end as far as
/// is known. Jobs released before `from` are not counted. `None` when not even `known` is refuted.
///
/// Complexity: O(choices + classes^2) a round, for some 300 rounds and at most 1,024 jobs, a choice being an allotment that
/// brings a job into a lower class of times; and a check of the certificate on all jobs.
pub fn search(instance: &Instance, from: Time, known: Time) -> Option<Bound> {
    search_until(instance, from, known, &Clock::ENDLESS)
}

/// The same until the clock is over.
pub(crate) fn search_until(instance: &Instance, from: Time, known: Time, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let few = instance.jobs().len() <= MAX_JOBS;
    let setting = Setting::new(instance, from, MAX_JOBS, if few { CLASSES } else { FEW_CLASSES });
    if setting.jobs.is_empty() {
        return None;
    }
    let sure = if few { SURE } else { SURE_OF_SAMPLE };
    let mut game = Game::new(&setting);
    let mut refuted = Vec::new();
    let mut deadline = known;
    let mut low = None;
    let mut high: Option<Tried> = None;
    let rigid = setting.jobs.iter().all(|job| job.profile().is_rigid());
    for attempt in 0..if rigid { ATTEMPTS_RIGID } else { ATTEMPTS } {
        if clock.is_over() {
            break;
        }
        let Some(board) = Board::new(&setting, deadline) else { break };
        let (rounds, enough) = if attempt == 0 { (FIRST_ROUNDS, f64::INFINITY) } else { (ROUNDS, sure + ENOUGH) };
        // Pairs of functions make a round dear.
        let rounds = if setting.widths.len() > MANY_WIDTHS { rounds / 4 } else { rounds };
        let (needed, costs) = game.play(&board, rounds, enough, clock);
        if needed > sure {
            refuted.push(rounding::certificate(&board, &costs, deadline));
            low = Some(Tried { deadline, needed });
        } else {
            high = Some(Tried { deadline, needed });
        }
        // Not even what is known is refuted: more is out of reach.
        let Some(tried) = low.and_then(|low| next(from, sure, low, high)) else { break };
        deadline = tried;
    }
    // The best first; one that a float made too bold proves nothing.
    let proved = |refutation| Bound::proved_by(Objective::Makespan, Proof::DualFeasible(refutation), instance).ok();
    refuted.into_iter().rev().take(MAX_CHECKS).find_map(proved)
}

/// A deadline that was looked at, and which share of what there is the jobs need to meet it.
#[derive(Clone, Copy)]
struct Tried {
    deadline: Time,
    needed: f64,
}

/// Where needs and what there is should meet; `None` when it is near enough.
fn next(from: Time, sure: f64, low: Tried, high: Option<Tried>) -> Option<Time> {
    let span = (low.deadline - from).ticks() as f64;
    let step = match high {
        // Longer deadlines also let the jobs choose allotments of less work.
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
