//! Writes a plan for a tree, with one application on each line.

use std::io::{self, Write};

use dashu_ratio::RBig;
use makespan_core::Instance;
use makespan_core::tree::decimal_text;

use super::{StatedFairness, StatedPeriod, TreePlanFile};
use crate::native::schedule::write_bound;

impl TreePlanFile {
    /// Writes the file.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, instance: &Instance, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(writer, "{{\"version\": 1,\n \"algorithm\": {},", serde_json::to_string(&self.algorithm)?)?;
        if let Some(origin) = &self.origin {
            writeln!(writer, " \"origin\": {},", serde_json::to_string(origin)?)?;
        }
        writeln!(writer, " \"fair_throughput\": {},", decimal_text(&self.fair_throughput))?;
        write!(writer, " \"bounds\": {{\"{}\": ", self.bound.objective.name())?;
        write_bound(instance, &self.bound, writer)?;
        writeln!(writer, "}},")?;
        if let Some(StatedFairness { fairness, excess }) = &self.fairness {
            let (alpha, prices) = (fairness.alpha, serde_json::to_string(&fairness.prices)?);
            write!(writer, " \"fairness\": {{\"alpha\": {alpha}, \"excess\": {}, ", decimal_text(excess))?;
            writeln!(writer, "\"prices\": {prices}}},")?;
        }
        if !self.remarks.is_empty() {
            writeln!(writer, " \"remarks\": {},", serde_json::to_string(&self.remarks)?)?;
        }
        if let Some(StatedPeriod { periodic: period, fair_throughput }) = &self.period {
            write!(writer, " \"period\": {{\"seconds\": {}, ", period.period)?;
            write!(writer, "\"fair_throughput\": {}, \"tasks\": ", decimal_text(fair_throughput))?;
            let count = |node: usize, app: usize| period.tasks[node * instance.jobs().len() + app];
            by_application(instance, writer, |node, app| {
                Some(count(node, app)).filter(|&n| n > 0).map(|n| n.to_string())
            })?;
            writeln!(writer, "}},")?;
        }
        write!(writer, " \"rates\": ")?;
        let rate = |rate: &RBig| (!rate.is_zero()).then(|| decimal_text(rate));
        by_application(instance, writer, |node, app| rate(self.rates.of(node, app)))?;
        writeln!(writer, "}}")
    }
}

/// Writes `{"app": {"node": number}}`. `figure` returns the number for a node and an application, or `None` to omit
/// it.
fn by_application(
    instance: &Instance,
    writer: &mut dyn Write,
    figure: impl Fn(usize, usize) -> Option<String>,
) -> io::Result<()> {
    write!(writer, "{{")?;
    for (app, job) in instance.jobs().iter().enumerate() {
        write!(writer, "{}\n  {}: {{", if app == 0 { "" } else { "," }, serde_json::to_string(&job.name)?)?;
        let mut first = true;
        for (at, node) in instance.platform().nodes().iter().enumerate() {
            if let Some(figure) = figure(at, app) {
                let comma = if std::mem::take(&mut first) { "" } else { ", " };
                write!(writer, "{comma}{}: {figure}", serde_json::to_string(&node.name)?)?;
            }
        }
        write!(writer, "}}")?;
    }
    write!(writer, "}}")
}
