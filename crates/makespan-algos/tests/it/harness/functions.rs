//! Tests of dual-feasible functions that are found, modified or drawn at random: an accepted bound must be valid.

use makespan_bounds::dual_feasible;
use makespan_core::{Instance, Objective, Time};
use makespan_verify::Proof;
use makespan_verify::proof::{DualFeasible, Scale, Term};
use proptest::prelude::*;

use super::bounds::{Truth, Twist, twist};
use super::draft::drafts;

/// Sizes in units, with the increase of the value at each size. Empty for the identity function.
type Rises = Vec<(i64, u32)>;

fn rises(most: i64) -> impl Strategy<Value = Rises> {
    prop_oneof![1 => Just(Vec::new()), 3 => prop::collection::vec((1..=most, 1_u32..4), 1..4)]
}

fn scale(rises: &Rises, unit: i64, more: i64) -> Scale {
    let mut sizes: Vec<(i64, u32)> = rises.iter().map(|&(size, rise)| (size * unit + more, rise)).collect();
    sizes.sort_unstable();
    sizes.dedup_by_key(|step| step.0);
    let mut value = 0;
    let step = |(size, rise): (i64, u32)| {
        value += rise;
        (size.max(1), value)
    };
    if rises.is_empty() { Scale::Whole } else { Scale::Steps(sizes.into_iter().map(step).collect()) }
}

/// Returns the refutations that the search finds for deadlines at several fractions of the optimum.
fn refutations(instance: &Instance, optimum: i128) -> Vec<DualFeasible> {
    let from = instance.first_release();
    let found = [2, 4, 6, 7].into_iter().filter_map(|eighths| {
        let known = Time::from_ticks(i64::try_from(optimum * eighths / 8).unwrap());
        match dual_feasible::search(instance, from, known.max(from + Time::TICK))?.proof {
            Proof::DualFeasible(refutation) => Some(refutation),
            _ => None,
        }
    });
    found.collect()
}

fn twist_scale(scale: &mut Scale, at: prop::sample::Index, size: Twist, value: Twist) {
    if let Scale::Steps(steps) = scale {
        let at = at.index(steps.len());
        steps[at].0 = size.of(steps[at].0);
        steps[at].1 = u32::try_from(value.of(i64::from(steps[at].1)).clamp(0, 100_000)).unwrap();
        // Other tests check the order. Here, the steps are sorted, so that most of the modified functions are well
        // formed.
        steps.sort_unstable();
        steps.dedup_by(|later, kept| later.0 == kept.0 || later.1 <= kept.1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn twisted_functions_prove_nothing_false(
        draft in drafts(),
        twists in prop::collection::vec([twist(), twist(), twist(), twist(), twist()], 5),
        at in any::<prop::sample::Index>(),
    ) {
        let truth = Truth::of(draft.instance(1));
        for refutation in refutations(&truth.instance, truth.least(Objective::Makespan)) {
            truth.check(&Proof::DualFeasible(refutation.clone()))?;
            for &[deadline, from, price, size, value] in &twists {
                let mut twisted = refutation.clone();
                twisted.deadline = deadline.time(twisted.deadline);
                twisted.from = from.time(twisted.from);
                let index = at.index(twisted.terms.len());
                let term = &mut twisted.terms[index];
                term.price = price.of(term.price);
                twist_scale(&mut term.widths, at, size, value);
                twist_scale(&mut term.times, at, size, value);
                truth.check(&Proof::DualFeasible(twisted.clone()))?;
                // Use these functions at deadlines at which a wrong function would be detected.
                for late in 0..2 {
                    let deadline = Time::from_ticks(i64::try_from(truth.least(Objective::Makespan)).unwrap() + late);
                    truth.check(&Proof::DualFeasible(DualFeasible { deadline, ..twisted.clone() }))?;
                }
            }
        }
    }

    /// Checks that random functions prove nothing false. The deadlines are near the optimum or random, and may be above
    /// the optimum.
    #[test]
    fn any_functions_prove_nothing_false(
        draft in drafts(),
        raw in prop::collection::vec((0_i64..4, rises(5), rises(30), -1_i64..=1), 1..4),
        release in 0_usize..6,
        other in 1_i64..40,
    ) {
        let truth = Truth::of(draft.instance(1));
        let optimum = i64::try_from(truth.least(Objective::Makespan)).unwrap();
        let jobs = truth.instance.jobs();
        for from in [Time::ZERO, jobs[release % jobs.len()].release] {
            for deadline in [optimum - 1, optimum, optimum + 1, other * draft.unit] {
                let term = |&(price, ref widths, ref times, more): &(i64, Rises, Rises, i64)| Term {
                    // A unit of work costs one. A step of the time has the value of a unit of time.
                    price: if times.is_empty() { price } else { price * draft.unit },
                    widths: scale(widths, 1, 0),
                    times: scale(times, draft.unit, more),
                };
                let terms = raw.iter().map(term).collect();
                let deadline = Time::from_ticks(deadline);
                truth.check(&Proof::DualFeasible(DualFeasible { deadline, from, terms }))?;
            }
        }
    }
}
