//! Formats objectives, bounds and ratios as text.

use makespan_core::{Instance, Objective, Placement, Schedule, SeparateEnds};
use makespan_verify::Bound;
pub(crate) use makespan_verify::check::bound_word;
use makespan_verify::check::percent_above;

use super::ticks::duration;

/// Value of an objective, with the best proven bound.
pub(crate) struct ValueAndBound {
    /// The objective.
    pub objective: Objective,
    /// Value in the integer unit of the objective.
    pub value: i128,
    /// Strongest bound, in the integer unit of the objective.
    pub bound: Option<i128>,
    /// Condition under which the bound is valid ([`Instance::condition`]).
    pub condition: &'static str,
}

impl ValueAndBound {
    /// Returns the values of the standard objectives with their bounds. The cost, the derived objectives and the
    /// penalties are included if they have a bound.
    pub(crate) fn all(instance: &Instance, schedule: &Schedule, bounds: &[Bound]) -> Vec<Self> {
        let condition = instance.condition();
        let any = |bound: &Bound| bound.makespan_at_most.is_none();
        let holds = |bound: &&Bound, objective| {
            bound.objective == objective && (any(bound) || objective == Objective::Cost && bound.speaks_of(schedule))
        };
        let of = |objective: Objective| Self {
            objective,
            value: objective.value(instance, schedule),
            bound: bounds.iter().filter(|bound| holds(bound, objective)).map(|bound| bound.value.integer()).max(),
            condition,
        };
        let others = [Objective::Cost].into_iter().chain(Objective::DERIVED).chain(Objective::PENALTIES);
        let bounded = others.filter(|&objective| bounds.iter().any(|bound| bound.objective == objective));
        Objective::standard(instance).chain(bounded).map(of).collect()
    }

    /// Returns the value divided by the bound, if both are positive.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.bound.filter(|&bound| bound > 0 && self.value > 0).map(|bound| self.value as f64 / bound as f64)
    }

    /// Returns a phrase such as "at most 3.21 % above the optimum". The percentage is rounded up, so that the phrase
    /// remains true.
    pub(crate) fn claim(&self) -> Option<String> {
        let bound = self.bound?;
        let condition = self.condition;
        if self.value == bound {
            return Some(format!("optimal{condition}"));
        }
        let ratio = self.ratio()?;
        (self.value > bound).then(|| format!("at most {}\u{A0}% above the optimum{condition}", percent_above(ratio)))
    }

    /// Formats a value of this objective for people. Weighted completion and weighted tardiness are in weight times
    /// seconds.
    pub(crate) fn show(&self, value: i128) -> String {
        let value = value as f64 / 10_f64.powi(self.objective.places() as i32);
        let is_time = self.objective.shape().is_some_and(|shape| !shape.is_weighted());
        if is_time { duration(value) } else { grouped(value) }
    }
}

/// Returns whether the length of a placement is a guessed run time. The length of a placement from a real run is not a
/// guess.
pub(crate) fn is_guess(instance: &Instance, placement: &Placement) -> bool {
    let Placement { task, start, end, ref processors } = *placement;
    instance.has_guesses()
        && instance.has_task(task)
        && instance.task(task).estimate.is_guess()
        && instance.accepts(task, processors)
        && instance.time(task, processors) == end - start
}

/// Formats a number with separated thousands. Whole numbers have no decimal places. Other numbers below a thousand
/// have three decimal places.
pub(crate) fn grouped(value: f64) -> String {
    let places = if value.abs() >= 1000.0 || value.fract() == 0.0 { 0 } else { 3 };
    let text = format!("{value:.places$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut shown = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) && !shown.ends_with('-') {
            shown.push('\u{202F}');
        }
        shown.push(digit);
    }
    if fraction.is_empty() { shown } else { format!("{shown}.{fraction}") }
}

/// Returns one line for each objective. If `asked` is set, this objective comes first, and the lines of other
/// objectives state only the value.
pub(super) fn lines(
    instance: &Instance,
    schedule: &Schedule,
    bounds: &[Bound],
    asked: Option<Objective>,
) -> Vec<String> {
    let mut all = ValueAndBound::all(instance, schedule, bounds);
    // If `asked` is not shown, all lines are complete.
    let asked = asked.filter(|asked| all.iter().any(|standing| standing.objective == *asked));
    all.sort_by_key(|standing| asked.is_some_and(|asked| asked != standing.objective));
    let line = |standing: ValueAndBound| {
        if asked.is_some_and(|asked| asked != standing.objective) {
            return format!("{}: {}", standing.objective, standing.show(standing.value));
        }
        let parts = [
            Some(format!("{}: {}", standing.objective, standing.show(standing.value))),
            standing.bound.map(|bound| format!("{} {}", bound_word(standing.condition), standing.show(bound))),
            standing.ratio().map(|ratio| format!("ratio {ratio:.3}")),
            standing.claim(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    };
    all.into_iter().map(line).collect()
}

/// Returns a line that states the end of all best-effort bags and the end of all other jobs. Returns `None` for a plan
/// without best-effort bags.
pub(super) fn best_effort(instance: &Instance, schedule: &Schedule) -> Option<String> {
    let SeparateEnds { others, best_effort } = SeparateEnds::of(instance, schedule)?;
    let (others, best_effort) = (duration(others.seconds()), duration(best_effort.seconds()));
    Some(format!("best-effort jobs end at {best_effort}; all other jobs end at {others}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_never_too_good() {
        let standing = |value, bound| ValueAndBound { objective: Objective::Makespan, value, bound, condition: "" };
        assert_eq!(standing(10_321, Some(10_000)).claim().unwrap(), "at most 3.21\u{A0}% above the optimum");
        assert_eq!(standing(10_000, Some(10_000)).claim().unwrap(), "optimal");
        assert_eq!(standing(10_000, Some(0)).claim(), None);
        assert_eq!(standing(10_000, None).claim(), None);
        assert_eq!(standing(9_000, Some(10_000)).claim(), None);
        let guessed = ValueAndBound { condition: " if the guesses hold", ..standing(10_000, Some(10_000)) };
        assert_eq!(guessed.claim().unwrap(), "optimal if the guesses hold");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(grouped(1_234_567.0), "1\u{202F}234\u{202F}567");
        assert_eq!([12.5, 5.39, 5.724, 12.0].map(grouped), ["12.500", "5.390", "5.724", "12"]);
        assert_eq!(grouped(0.0), "0");
    }
}
