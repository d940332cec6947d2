//! Checks that no certificate proves more than is true. The tests draw random certificates for tiny instances, and
//! improve them by small changes. They compare the values that these certificates prove with the outcomes of all
//! schedules.

mod attempts;
mod instances;
mod outcomes;

use attempts::{Figures, KINDS, rank};
use instances::{Extent, Family, SMALL};
use makespan_core::Objective;
use makespan_verify::Bound;
use outcomes::least;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::refusal::is_clear_refusal;

/// Returns true if the tests examine all instances.
fn is_long() -> bool {
    std::env::var_os("MAKESPAN_LONG").is_some()
}

/// Tries `attempts` certificates of each kind on each of `instances` instances. If the variable `MAKESPAN_LONG` is not
/// set, uses only a part of these instances. Returns three numbers for each kind: all certificates, the certificates
/// that proved something, and the certificates that proved the optimum.
fn attack((family, extent): (Family, Extent), seed: u64, instances: usize, attempts: usize) -> [[u64; 3]; KINDS] {
    let instances = if is_long() { instances } else { instances.div_ceil(3) };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut proved = [[0; 3]; KINDS];
    for _ in 0..instances {
        let Some(instance) = instances::draw(family, extent, &mut rng) else { continue };
        let outcomes = outcomes::all(&instance);
        if outcomes.is_empty() && instance.has_demands() {
            // Skips an instance if its tasks use up more of a consumable than the platform has.
            continue;
        }
        let optimum =
            least(&outcomes, Objective::Makespan, None).unwrap_or_else(|| panic!("a job runs nowhere: {instance:?}"));
        for (kind, proved) in proved.iter_mut().enumerate() {
            let mut best = None;
            for attempt in 0..attempts {
                let figures = match &best {
                    Some((_, figures)) if attempt % 8 > 1 => Figures::changed(figures, &mut rng),
                    _ => Figures::draw(&mut rng),
                };
                let (objective, proof) = figures.certificate(kind, &instance, optimum as i64, extent);
                let proven = proof.proves(objective, &instance).map(|value| value.integer());
                proved[0] += 1;
                if let Ok(value) = proven {
                    let truth = least(&outcomes, objective, proof.horizon());
                    assert!(
                        truth.is_none_or(|truth| value <= truth),
                        "{value} > {truth:?} of the {objective}: {proof:?}\n{instance:?}"
                    );
                    proved[1] += 1;
                    proved[2] += u64::from(Some(value) == truth);
                    let bound = Bound { objective, value: value.into(), makespan_at_most: proof.horizon(), proof };
                    assert_eq!(bound.verify(&instance), Ok(()));
                } else if attempt % 4 == 0 {
                    let bound = Bound { objective, value: 1.into(), makespan_at_most: proof.horizon(), proof };
                    let refusal = bound.verify(&instance).unwrap_err();
                    assert!(is_clear_refusal(&format!("bound on the {objective}: {refusal}")), "{refusal}");
                }
                let rank = rank(&proven);
                if best.as_ref().is_none_or(|(best, _)| rank >= *best) {
                    best = Some((rank, figures));
                }
            }
        }
    }
    proved
}

/// Index of the kind of certificates that prove costs.
const COST: usize = 15;
/// Number of kinds that apply to instances without needs, deadlines and edges.
const OF_ALL: usize = 20;
/// Index of the certificates of the kind `DueBy` that contain a proof by prices. They rarely prove the optimum.
const LATE_PRICES: usize = 29;
/// Indices of the job prices for weighted completion and mean flow.
const JOB_PRICES: std::ops::Range<usize> = 30..32;
/// Index of the kind with deductions from a deadline.
const DEDUCTIONS: usize = 33;

/// Indices of the certificates of the kind `LastJob` for weighted completion and mean flow.
const LAST_JOB: std::ops::Range<usize> = 34..36;
/// Indices of the certificates of the kind `LastJob` for maximum and weighted tardiness.
const LAST_LATE: std::ops::Range<usize> = 36..38;

/// Indices of refutations, for makespan, weighted completion and mean flow.
const REFUTATIONS: std::ops::Range<usize> = 38..41;
/// Index of refutations for the maximum tardiness.
const LATE_REFUTATIONS: usize = 41;

/// Checks that enough certificates of each kind prove the exact optimum, so that an error of a single tick would be
/// detected.
fn sharp(proved: &[[u64; 3]; KINDS], kinds: impl IntoIterator<Item = usize>) {
    let enough = if is_long() { 20 } else { 6 };
    for kind in kinds {
        assert!(proved[kind][2] > enough, "kind {kind}: {:?}", proved[kind]);
    }
}

#[test]
fn on_equal_processors() {
    sharp(
        &attack((Family::Equal, SMALL), 1, 300, 40),
        (0..OF_ALL).chain(JOB_PRICES).chain([DEDUCTIONS]).chain(LAST_JOB).chain(REFUTATIONS),
    );
}

#[test]
fn on_machines_that_differ() {
    sharp(
        &attack((Family::Machines, SMALL), 2, 400, 40),
        (0..OF_ALL).chain(JOB_PRICES).chain([DEDUCTIONS]).chain(LAST_JOB),
    );
}

#[test]
fn of_graphs() {
    // For graphs, only certificates with windows, costs, job prices, deductions and last jobs apply. The other kinds
    // apply only to the few instances that contain no graph.
    sharp(
        &attack((Family::Graphs, SMALL), 3, 300, 40),
        (10..13).chain([COST, DEDUCTIONS]).chain(JOB_PRICES).chain(LAST_JOB),
    );
}

#[test]
fn of_graphs_that_fork_and_join() {
    sharp(&attack((Family::Forks, SMALL), 6, 200, 60), (10..13).chain([DEDUCTIONS]));
}

#[test]
fn of_what_is_held() {
    let proved = attack((Family::Held, SMALL), 5, 500, 40);
    sharp(
        &proved,
        [10, 11, 12]
            .into_iter()
            .chain(OF_ALL..LATE_PRICES)
            .chain(JOB_PRICES)
            .chain([DEDUCTIONS])
            .chain(LAST_JOB)
            .chain(LAST_LATE)
            .chain(REFUTATIONS)
            .chain([LATE_REFUTATIONS]),
    );
    assert!(proved[LATE_PRICES][1] > if is_long() { 20 } else { 6 }, "{:?}", proved[LATE_PRICES]);
}

/// The number of ticks per unit of time, and the number of millionths per unit of weight, for the longest times and the
/// largest weights.
const LARGE: (i64, u64) = (50_000_000_000_000_000, 100_000_000_000_000);

#[test]
fn at_the_limits_of_their_figures() {
    for family in [Family::Equal, Family::Machines, Family::Graphs, Family::Held] {
        for (unit, weight) in [(1, 1), (1, LARGE.1), (LARGE.0, 1), LARGE] {
            attack((family, Extent { unit, weight, wild: true }), 4, 40, 40);
        }
    }
}
