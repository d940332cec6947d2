//! Performance profiles of algorithms, as data and as figures.

use makespan::formats::performance_profile::{PerformanceProfile, figure, performance_profiles as profiles_of};
use makespan::formats::plot::write_figure;
use makespan::spec_title;
use pyo3::prelude::*;

use crate::pages::text;

/// For each algorithm, each factor at which its profile grows, with the share of instances at this factor.
type Steps = Vec<Vec<(f64, f64)>>;

/// Returns the steps of the profile of each algorithm, and a figure of all profiles (SVG). `values` has a row for each
/// instance and a column for each algorithm. `what` is the name of the compared value.
#[pyfunction]
pub fn performance_profiles(
    algorithms: Vec<String>,
    values: Vec<Vec<Option<f64>>>,
    what: &str,
) -> PyResult<(Steps, String)> {
    let profiles = profiles_of(&values);
    let titles: Vec<String> = algorithms.iter().map(|name| spec_title(name)).collect();
    let svg = text(|out| write_figure(out, &figure(&titles, &profiles, what)))?;
    Ok((profiles.iter().map(PerformanceProfile::steps).collect(), svg))
}
