//! Options with which a user configures the planning, and their translation to the spec of an algorithm.

use makespan_core::Instance;
use thiserror::Error;

use crate::{STEADY_STATE, catalogue, default_algorithm};

/// Options with which a user selects the algorithm of a plan, and the objective and the limits of its search.
///
/// ```
/// use makespan::{Instance, Job, Platform, Profile, Time, PlanWishes};
///
/// let job = Job::new("a", Profile::rigid(2, Time::from_seconds(60))?);
/// let instance = Instance::new(Platform::flat(4)?, vec![job], vec![])?;
/// let wishes = PlanWishes { objective: Some("makespan".into()), time_limit: Some("2s".into()), ..PlanWishes::default() };
/// assert_eq!(wishes.spec(&instance)?, "optimise[objective=makespan,time-limit=2s]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PlanWishes {
    /// Spec of the algorithm. `None` selects the default algorithm for the instance.
    pub algorithm: Option<String>,
    /// Name of the objective to minimise, or `pareto`.
    pub objective: Option<String>,
    /// Time limit of the search, such as `10s`.
    pub time_limit: Option<String>,
    /// Maximum makespan of the plan, as a multiple of the proven lower bound on the makespan.
    pub makespan_at_most: Option<String>,
}

/// The reason why an option cannot be applied to the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WishError {
    /// The algorithm does not have the parameter that the option sets.
    #[error("`{algorithm}` does not support {option}; remove the option, or use {able}")]
    NotTaken {
        /// Name of the algorithm.
        algorithm: String,
        /// Name of the option.
        option: String,
        /// Names of the algorithms that have this parameter.
        able: String,
    },
    /// Both the spec and an option set the parameter.
    #[error("both `{spec}` and the argument {option} set {key}; remove one of them")]
    Twice {
        /// The spec that states the parameter.
        spec: String,
        /// Name of the parameter.
        key: &'static str,
        /// The option that also states the parameter.
        option: String,
    },
}

impl PlanWishes {
    /// Returns the spec of the algorithm with its parameters. If neither the algorithm nor the objective is stated,
    /// the objective is the makespan for task graphs, because users wait for the last task of a graph. On machines
    /// that differ in speed, the objective is also the makespan, because the search supports no other objective there.
    ///
    /// # Errors
    /// [`WishError`] if an option sets a parameter that the algorithm does not have, or that the spec already sets.
    pub fn spec(&self, instance: &Instance) -> Result<String, WishError> {
        let Self { algorithm, objective, time_limit, makespan_at_most } = self;
        let spec = algorithm.as_deref().unwrap_or_else(|| default_algorithm(instance));
        if spec == STEADY_STATE && algorithm.is_none() {
            return Ok(spec.to_owned());
        }
        // The algorithm for gangs has no objective.
        let is_mapped = !instance.has_gangs() && (!instance.has_equal_processors() || instance.has_compound_jobs());
        let usual = (algorithm.is_none() && is_mapped).then_some("makespan");
        let objective = objective.as_deref().or(usual).map(|name| name.replace('_', "-"));
        let added = [
            ("objective", objective.as_deref()),
            ("time-limit", time_limit.as_deref()),
            ("makespan-at-most", makespan_at_most.as_deref()),
        ];
        if added.iter().all(|(_, value)| value.is_none()) {
            return Ok(spec.to_owned());
        }
        let (name, stated) = spec.split_once('[').unwrap_or((spec, ""));
        let stated = stated.strip_suffix(']').unwrap_or(stated);
        let mut parts: Vec<String> = Some(stated.to_owned()).filter(|stated| !stated.is_empty()).into_iter().collect();
        for (key, value) in added {
            let Some(value) = value else { continue };
            check(spec, name, stated, key)?;
            parts.push(format!("{key}={value}"));
        }
        Ok(format!("{name}[{}]", parts.join(",")))
    }
}

/// Checks that the algorithm has a parameter and that the spec does not set it already. Accepts an algorithm that does
/// not exist, because a later step rejects it.
fn check(spec: &str, name: &str, stated: &str, key: &'static str) -> Result<(), WishError> {
    let option = key.replace('-', "_");
    let has = |entry: &&crate::Entry| entry.parameters.iter().any(|parameter| parameter.name == key);
    if catalogue().iter().any(|entry| entry.name == name && !has(&entry)) {
        let able: Vec<&str> = catalogue().iter().filter(has).map(|entry| entry.name).collect();
        return Err(WishError::NotTaken { algorithm: name.to_owned(), option, able: able.join(" or ") });
    }
    if stated.split(',').any(|part| part.trim().split('=').next() == Some(key)) {
        return Err(WishError::Twice { spec: spec.to_owned(), key, option });
    }
    Ok(())
}
