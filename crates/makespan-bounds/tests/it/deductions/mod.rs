//! Deductions from a deadline never prove a bound above the optimum. The tests check the deductions that the search
//! finds, and certificates made from these deductions by small changes.

#[path = "../../../../makespan-verify/tests/it/certificates/instances.rs"]
#[allow(dead_code)]
mod instances;
#[path = "../../../../makespan-verify/tests/it/certificates/outcomes.rs"]
#[allow(dead_code)]
mod outcomes;
mod projects;

use instances::{Extent, Family, SMALL};
use makespan_bounds::deduced;
use makespan_core::{Instance, Objective, Time};
use makespan_verify::Proof;
use makespan_verify::proof::{Deductions, Reason, Step};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORK: u64 = 1_000_000;

/// Checks that a proof proves no bound above the optimum. Returns the bound, or `None` if the check rejects the proof.
fn check(instance: &Instance, optimum: i128, proof: &Proof) -> Option<i128> {
    let proven = proof.proves(Objective::Makespan, instance).ok()?.integer();
    assert!(proven <= optimum, "{proven} > {optimum}: {proof:?}\n{instance:?}");
    Some(proven)
}

/// Changes a number to a nearby or a distant value.
fn near(figure: &mut i64, rng: &mut ChaCha8Rng) {
    *figure = match rng.random_range(0..12) {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => figure.wrapping_mul(2),
        _ => figure.saturating_add(rng.random_range(-2..=2)),
    };
}

fn change_reason(reason: &mut Reason, rng: &mut ChaCha8Rng) {
    match reason {
        Reason::Window(held, from, until) => match rng.random_range(0..3) {
            0 => *held = rng.random_range(0..4),
            1 => near(from, rng),
            _ => near(until, rng),
        },
        Reason::Pair(other) => *other = rng.random_range(0..6),
        Reason::Steps(steps) => change(steps, rng),
    }
}

fn change(steps: &mut Vec<Step>, rng: &mut ChaCha8Rng) {
    if steps.is_empty() || rng.random_bool(0.1) {
        let window = Reason::Window(rng.random_range(0..3), rng.random_range(0..6), rng.random_range(0..12));
        let reason = if rng.random_bool(0.3) { Reason::Pair(rng.random_range(0..4)) } else { window };
        let (task, at) = (rng.random_range(0..4), rng.random_range(0..12));
        let step = if rng.random_bool(0.5) { Step::Start(task, at, reason) } else { Step::End(task, at, reason) };
        return steps.insert(rng.random_range(0..=steps.len()), step);
    }
    let at = rng.random_range(0..steps.len());
    match rng.random_range(0..8) {
        0 => {
            steps.remove(at);
        }
        1 => {
            let other = rng.random_range(0..steps.len());
            steps.swap(at, other);
        }
        2 => steps.truncate(at),
        kind => match &mut steps[at] {
            Step::Start(task, figure, reason) | Step::End(task, figure, reason) => match kind {
                3 => *task = rng.random_range(0..6),
                4 | 5 => near(figure, rng),
                _ => change_reason(reason, rng),
            },
            Step::Full(held, from, until) => match kind {
                3 => *held = rng.random_range(0..4),
                4 | 5 => near(from, rng),
                _ => near(until, rng),
            },
        },
    }
}

/// Makes small changes to the deductions that the search found, and checks each changed certificate. A changed
/// certificate that still proves a bound may be changed again.
fn attack(instance: &Instance, optimum: i128, found: &Deductions, rng: &mut ChaCha8Rng) {
    let mut kept = found.clone();
    for attempt in 0..200 {
        let mut changed = if attempt % 4 == 0 { found.clone() } else { kept.clone() };
        match rng.random_range(0..8) {
            0 => {
                let by = changed.unit.saturating_mul(rng.random_range(-1..=2));
                changed.deadline = Time::from_ticks(changed.deadline.ticks().saturating_add(by));
            }
            1 => near(&mut changed.unit, rng),
            _ => change(&mut changed.steps, rng),
        }
        if check(instance, optimum, &Proof::Deductions(changed.clone())).is_some() {
            kept = changed;
        }
    }
}

/// Changes bytes of the certificate's file. If the changed file can be read, its certificate must prove no bound above
/// the optimum.
fn attack_text(instance: &Instance, optimum: i128, found: &Deductions, rng: &mut ChaCha8Rng) {
    let text = serde_json::to_vec(&Proof::Deductions(found.clone())).unwrap();
    for _ in 0..100 {
        let mut changed = text.clone();
        for _ in 0..rng.random_range(1..=3) {
            let at = rng.random_range(0..changed.len());
            changed[at] = b"0123456789-,[]{}\"e."[rng.random_range(0..19)];
        }
        let read = serde_json::from_slice::<serde_json::Value>(&changed).and_then(serde_json::from_value::<Proof>);
        if let Ok(proof) = read {
            check(instance, optimum, &proof);
        }
    }
}

/// Counts of the proofs that the search found: all proofs, the proofs of the exact optimum, and, for each kind of
/// reason, the proofs that contain a step with this reason.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    proofs: usize,
    sharp: usize,
    windows: usize,
    pairs: usize,
    suppositions: usize,
}

impl Found {
    fn count(&mut self, steps: &[Step]) {
        let (mut windows, mut pairs, mut suppositions) = (false, false, false);
        for step in steps {
            match step {
                Step::Start(_, _, Reason::Pair(_)) | Step::End(_, _, Reason::Pair(_)) => pairs = true,
                Step::Start(_, _, Reason::Steps(_)) | Step::End(_, _, Reason::Steps(_)) => suppositions = true,
                _ => windows = true,
            }
        }
        self.windows += usize::from(windows);
        self.pairs += usize::from(pairs);
        self.suppositions += usize::from(suppositions);
    }

    /// Searches for a proof for one instance. Then checks changed versions of this proof.
    fn add(&mut self, instance: &Instance, optimum: i128, rng: &mut ChaCha8Rng) {
        let Some(found) = deduced(instance, 0, WORK) else { return };
        let proven = check(instance, optimum, &Proof::Deductions(found.clone()));
        assert!(proven.is_some(), "the deductions prove nothing: {found:?}\n{instance:?}");
        self.proofs += 1;
        self.sharp += usize::from(proven == Some(optimum));
        self.count(&found.steps);
        attack(instance, optimum, &found, rng);
        attack_text(instance, optimum, &found, rng);
    }
}

/// Tests the given number of instances.
fn all(family: Family, extent: Extent, seed: u64, instances: usize) -> Found {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut found = Found::default();
    for _ in 0..instances {
        let Some(instance) = instances::draw(family, extent, &mut rng) else { continue };
        let outcomes = outcomes::all(&instance);
        let Some(optimum) = outcomes::least(&outcomes, Objective::Makespan, None) else { continue };
        found.add(&instance, optimum, &mut rng);
    }
    found
}

/// Returns the number of instances to test: `PROPTEST_CASES`, or 256 if the variable is not set.
fn cases() -> usize {
    proptest::test_runner::Config::default().cases as usize
}

#[test]
fn nothing_false_is_deduced() {
    let families = [Family::Equal, Family::Machines, Family::Graphs, Family::Forks, Family::Held];
    for (family, seed) in families.into_iter().zip(1..) {
        for unit in [1, 30] {
            let found = all(family, Extent { unit, ..SMALL }, seed, cases() / 2);
            println!("{family:?}: {found:?}");
            assert!(5 * found.proofs > cases() && 2 * found.sharp > found.proofs, "{family:?}: {found:?}");
        }
    }
}

#[test]
fn nothing_false_is_deduced_of_projects() {
    for (unit, seed) in [(1, 1), (20, 2), (1_000_000_000, 3)] {
        let (mut rng, mut found) = (ChaCha8Rng::seed_from_u64(seed), Found::default());
        for _ in 0..cases() {
            let (instance, optimum) = projects::draw(unit, &mut rng);
            found.add(&instance, optimum, &mut rng);
        }
        println!("{unit}: {found:?}");
        let Found { proofs, sharp, windows, pairs, suppositions } = found;
        assert!(2 * sharp > proofs && 10 * windows.min(pairs).min(suppositions) > proofs, "{found:?}");
    }
}

#[test]
fn large_figures_are_no_defect() {
    let extent = Extent { unit: 50_000_000_000_000_000, weight: 1, wild: true };
    for (family, seed) in [(Family::Equal, 1), (Family::Graphs, 3), (Family::Held, 4)] {
        all(family, extent, seed, cases() / 4);
    }
}
