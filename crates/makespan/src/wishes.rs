//! Options of a plan, and the spec that they mean.

use makespan_core::Instance;
use thiserror::Error;

use crate::{STEADY_STATE, catalogue, default_algorithm};

/// The wishes of a user about a plan: an algorithm, or the default one, and the aim of its search.
///
/// ```
/// use makespan::{Instance, Job, Platform, Profile, Time, Wishes};
///
/// let job = Job::new("a", Profile::rigid(2, Time::from_seconds(60))?);
/// let instance = Instance::new(Platform::flat(4)?, vec![job], vec![])?;
/// let wishes = Wishes { objective: Some("makespan".into()), time_limit: Some("2s".into()), ..Wishes::default() };
/// assert_eq!(wishes.spec(&instance)?, "optimise[objective=makespan,time-limit=2s]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// A spec; the algorithm that is meant for the instance if it is missing.
    pub algorithm: Option<String>,
    /// The name of an objective, or `pareto`.
    pub objective: Option<String>,
    /// How long the search may take, such as `10s`.
    pub time_limit: Option<String>,
    /// How many times the proven bound the makespan may be.
    pub makespan_at_most: Option<String>,
}

/// An option that does not go with the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WishError {
    /// The algorithm has no such parameter.
    #[error("`{algorithm}` takes no {option}; leave it out, or plan by {able}")]
    NotTaken {
        /// Its name.
        algorithm: String,
        /// The option.
        option: String,
        /// The algorithms that have it.
        able: String,
    },
    /// The spec states the parameter as well.
    #[error("`{spec}` states {key} and so does the argument {option}; give one of them")]
    Twice {
        /// The spec.
        spec: String,
        /// The parameter.
        key: &'static str,
        /// The option.
        option: String,
    },
}

impl Wishes {
    /// Returns the spec of the algorithm with its parameters. The default algorithm minimises the makespan of graphs, whose last task is
    /// waited for, and on machines that differ, where it searches for nothing else.
    ///
    /// # Errors
    /// [`WishError`] names the option that the algorithm does not take, or that the spec states as well.
    pub fn spec(&self, instance: &Instance) -> Result<String, WishError> {
        let Self { algorithm, objective, time_limit, makespan_at_most } = self;
        let spec = algorithm.as_deref().unwrap_or_else(|| default_algorithm(instance));
        if spec == STEADY_STATE && algorithm.is_none() {
            return Ok(spec.to_owned());
        }
        let is_mapped = !instance.has_equal_processors() || instance.has_compound_jobs();
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

/// Checks whether the algorithm has the parameter, and whether the spec leaves it open. An unknown algorithm is refused later.
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
