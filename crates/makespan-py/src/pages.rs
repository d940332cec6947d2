//! Gantt charts (SVG) and interactive pages (HTML) of plans, as strings.

use makespan::formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan::formats::report::{Report, TreePicture, TreeReport, write_html, write_tree};
use makespan::tree::TreeProblem;
use makespan::{Plan, Planned};
use makespan_core::Instance;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::errors;

/// Calls `write` with a buffer, and returns the written text.
///
/// # Errors
///
/// The errors of `write`.
pub fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> PyResult<String> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(PyOSError::new_err)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the interactive page of a plan.
pub fn page(py: Python<'_>, title: &str, instance: &Instance, planned: &Planned, seed: u64) -> PyResult<String> {
    let Planned { algorithm, plan, bounds, remarks, .. } = planned;
    if let Plan::Periodic(state) = plan {
        let problem = TreeProblem::new(instance).map_err(|error| errors::input(py, error))?;
        let pictures = &[TreePicture { title, name: title, rates: &state.rates }];
        let summary = format!("planned by {algorithm}");
        let (problem, summary) = (&problem, &*summary);
        let report =
            TreeReport { title, summary, instance, problem, pictures, measured: false, remarks, sections: &[] };
        return text(|out| write_tree(out, &report));
    }
    let schedule = plan.schedule().cloned().unwrap_or_default();
    let schedules = [NamedSchedule { name: "plan", schedule: &schedule }];
    let report = Report {
        title,
        instance,
        schedules: &schedules,
        algorithm,
        minimised: makespan::minimised(algorithm),
        seed,
        marks: &[],
        bounds,
        remarks,
        sections: &[],
        choose: false,
        run: None,
    };
    text(|out| write_html(out, &report))
}

/// Returns a Gantt chart.
pub fn chart(title: &str, instance: &Instance, planned: &Planned, width: u32) -> PyResult<String> {
    let schedule = planned.plan.schedule().cloned().unwrap_or_default();
    let schedules = [NamedSchedule { name: "plan", schedule: &schedule }];
    let asked = if let [one] = makespan::minimised(&planned.algorithm) { Some(*one) } else { None };
    let options = GanttOptions { title, bounds: &planned.bounds, width, asked, ..GanttOptions::default() };
    text(|out| write_svg(out, instance, &schedules, &options))
}
