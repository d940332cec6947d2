//! Refutation of a value by nogoods: the certificate of a complete search with learning.

mod bytes;
mod code;
mod curve;
mod deadlines;
mod lift;
mod machines;
mod meter;
mod place;
mod price_vector;
mod relaxation;
mod replay;
mod rules;
mod state;
mod step;
mod supply;
mod task;
#[cfg(test)]
mod tests;
mod units;

use serde::{Deserialize, Serialize};

use super::error::{malformed, unproved};
use super::{CertificateError, Kind, Scope, Value, prices};
use makespan_core::{Instance, Objective, Weight};

use relaxation::Relaxation;
use replay::Replay;
use supply::Supply;

/// Maximum length of [`Refutation::steps`], in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum number of tasks, including all tasks of bags.
const MAX_TASKS: u64 = 1000;
/// Upper limit for instants and values. Sums of four numbers below this limit fit into 64 bits.
const LIMIT: i64 = 1 << 58;

/// A proof that no schedule has a smaller value of the objective than `value`.
///
/// The proof is about a relaxed problem, in which all times are multiples of `grid` ticks. Each task has a window of
/// starts and a range of modes (allotments). A step of the proof names a rule, such as "the time table of this
/// resource at this instant excludes an earlier start of this task". The check applies the rule to the windows that
/// the check has computed itself. So a step states no premise and no conclusion, and a wrong step cannot prove
/// anything false.
///
/// A literal is a condition on the start or the mode of one task. A nogood is a list of literals. In every schedule of
/// the relaxed problem with a value below `value`, at least one of these literals is true. Steps prove a nogood: they
/// show that some task has no start or no mode left if all literals are false. Later steps may use the nogood. The
/// claim is proved when some task has no start or no mode left without any assumption.
///
/// `docs/refutation.md` defines the relaxed problem, the byte format and all rules.
///
/// # Numbers
/// * Tasks: [`makespan_core::TaskId`], with one number for each task of a bag.
/// * Modes: [`makespan_core::Profile::allotments`], numbered from 0.
/// * Supplies: numbered from 0, in this order: the processors, the resources of [`makespan_core::Platform::resources`]
///   except the consumables, and the scales in the order of their records. A scale is an additional supply. The record
///   of a scale states an amount for each mode of each task. A scale follows from one supply. A lifted scale follows
///   from all supplies and all waits together.
/// * Weights: the weights of the ends of tasks in millionths, divided by their greatest common divisor.
///   [`Refutation::weights`] returns them.
///
/// # Objectives
/// For [`Objective::Makespan`] and [`Objective::MaxTardiness`], the unit of `value` is the grid. For
/// [`Objective::WeightedCompletion`], [`Objective::MeanFlow`] and [`Objective::WeightedTardiness`], the unit is the grid
/// times the greatest common divisor of the weights. For the mean flow, `value` is a bound on the sum of the ends.
///
/// Sources: lazy clause generation, O. Ohrimenko, P. J. Stuckey, M. Codish, Constraints 14(3), 2009,
/// DOI 10.1007/s10601-008-9064-x; energetic reasoning, J. Erschler, P. Lopez (PMS 1990).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refutation {
    /// The bound that is proved. Its unit depends on the objective, as stated above.
    pub value: i64,
    /// Length of the unit of time in ticks, for example the result of [`crate::proof::value_grid`]. Times that are not
    /// multiples of the unit are rounded, which weakens the bound but keeps it valid.
    pub grid: i64,
    /// The code of the records of the proof ([`Refutation::encoded`]). In files, it is written as base64.
    #[serde(with = "bytes")]
    pub steps: Vec<u8>,
}

impl Refutation {
    /// Maximum length of [`Refutation::steps`], in bytes.
    pub const MAX_BYTES: usize = MAX_BYTES;

    /// Returns the bytes of [`Refutation::steps`] for these numbers, each below 2^63 - 1. `docs/refutation.md` defines
    /// their meaning.
    pub fn encoded(numbers: &[u64]) -> Vec<u8> {
        code::encoded(numbers)
    }

    /// Returns true if the objective is a sum over jobs: the weighted completion, the mean flow or the weighted tardiness.
    pub fn is_sum(objective: Objective) -> bool {
        objective.of_jobs().is_some_and(|shape| shape.is_sum)
    }

    /// Returns the integer weights of the ends of all tasks, and the divisor. The weights are the stated weights
    /// divided by their greatest common divisor. The divisor is in millionths. The divisor is 0 if no task has a
    /// weight. All weights are 0 unless the objective is a sum over jobs ([`Refutation::is_sum`]).
    pub fn weights(objective: Objective, instance: &Instance) -> (Vec<i64>, i64) {
        if !Self::is_sum(objective) {
            return (vec![0; usize::try_from(instance.tasks()).unwrap_or(0)], 0);
        }
        deadlines::weights_in_units(instance, objective)
    }
}

impl Kind for Refutation {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_TIME
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven value. Takes at most about 2^30 elementary operations. The memory is linear in the sum of
    /// four numbers: tasks, bytes of the certificate, amounts that all modes of all tasks need, and points of all cost
    /// functions (at most 2^20).
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.steps.len() > MAX_BYTES {
            return malformed(format!("the steps have more than {MAX_BYTES} bytes"));
        }
        if self.grid < 1 || self.value < 1 || self.value > LIMIT {
            return malformed("the value or the grid is not positive, or the value is above 2^58");
        }
        let relaxation = deadlines::claimed(instance, objective, self.grid, self.value - 1)?;
        let deadline = (objective == Objective::Makespan && is_symmetric(&relaxation)).then_some(self.value - 1);
        if !Replay::new(relaxation, deadline)?.refutes(&self.steps)? {
            return unproved("after the last step of the certificate, every task still has a feasible window");
        }
        let value = i128::from(self.value).checked_mul(self.grid.into()).ok_or(CertificateError::Overflow)?;
        Ok(Value::Integer(match objective {
            Objective::WeightedCompletion | Objective::WeightedTardiness => weighted(value, objective, instance)?,
            Objective::MeanFlow => {
                let ends = weighted(value, objective, instance)?;
                let whole = i128::from(Weight::ONE.millionths());
                prices::flow(-(-ends).div_euclid(whole), instance)
            }
            _ => value,
        }))
    }
}

/// Multiplies a sum of weighted ends by the greatest common divisor of the weights of the ends. In the relaxed problem,
/// all weights are divided by this divisor.
fn weighted(value: i128, objective: Objective, instance: &Instance) -> Result<i128, CertificateError> {
    let unit = i128::from(deadlines::unit(instance, objective));
    value.checked_mul(unit).ok_or(CertificateError::Overflow)
}

/// Returns true if the relaxed problem has mirror symmetry: for any schedule that ends by a deadline, its time reversal
/// is also a schedule that ends by this deadline.
fn is_symmetric(relaxation: &Relaxation) -> bool {
    relaxation.waits.is_empty()
        && relaxation.tasks.iter().all(|task| task.release == 0)
        && relaxation.supplies.iter().all(Supply::is_constant)
}
