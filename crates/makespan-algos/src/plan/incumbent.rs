//! The best value and the best bound of a running search.

use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::Objective;
use makespan_verify::{Bound, Value};

/// The best value and the best bound that a search has found for one objective. Another thread can read them while the
/// search runs. The default ignores all reports.
///
/// ```
/// use makespan_algos::Incumbent;
/// use makespan_core::Objective;
///
/// let incumbent = Incumbent::of(Objective::Makespan);
/// incumbent.found(Objective::Makespan, 9.0);
/// incumbent.found(Objective::Makespan, 7.0);
/// incumbent.found(Objective::MeanFlow, 3.0);
/// assert_eq!(incumbent.state().value, Some(7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Incumbent(Option<Arc<Watched>>);

#[derive(Debug)]
struct Watched {
    objective: Objective,
    state: Mutex<IncumbentState>,
}

/// The results of a search so far.
#[derive(Clone, Debug, Default)]
pub struct IncumbentState {
    /// The best value, in the unit of [`Objective::value`].
    pub value: Option<i128>,
    /// The best bound that holds for all schedules.
    pub bound: Option<Value>,
}

impl Incumbent {
    /// Returns an incumbent that records reports on this objective.
    pub fn of(objective: Objective) -> Self {
        Self(Some(Arc::new(Watched { objective, state: Mutex::default() })))
    }

    /// Returns true if reports on this objective are recorded.
    pub(crate) fn records(&self, objective: Objective) -> bool {
        self.0.as_ref().is_some_and(|watched| watched.objective == objective)
    }

    /// Reports the value of a schedule, in the unit of [`Objective::value`].
    pub fn found(&self, objective: Objective, value: f64) {
        // Some searches begin without a solution, and their value is infinite.
        if value.is_finite() {
            self.update(objective, |state| {
                let value = value as i128;
                state.value = Some(state.value.map_or(value, |known| known.min(value)));
            });
        }
    }

    /// Reports a bound. A bound that holds only for some schedules is ignored.
    pub fn proved(&self, bound: &Bound) {
        if bound.makespan_at_most.is_none() {
            self.update(bound.objective, |state| {
                if state.bound.as_ref().is_none_or(|known| *known < bound.value) {
                    state.bound = Some(bound.value.clone());
                }
            });
        }
    }

    /// Returns what the search has found so far.
    pub fn state(&self) -> IncumbentState {
        let read = |watched: &Arc<Watched>| watched.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.0.as_ref().map(read).unwrap_or_default()
    }

    fn update(&self, objective: Objective, change: impl FnOnce(&mut IncumbentState)) {
        if let Some(watched) = self.0.as_ref().filter(|watched| watched.objective == objective) {
            change(&mut watched.state.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}
