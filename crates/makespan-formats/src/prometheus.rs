//! Writes metrics in the text format of Prometheus, version 0.0.4.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A metric for a monitoring system.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The name of the metric, with the prefix `makespan_`.
    pub name: &'static str,
    /// The description of the metric.
    pub help: &'static str,
    /// The kind of the metric.
    pub kind: MetricKind,
    /// The values of the metric, each with its labels. The values of a histogram are the numbers of measurements up to
    /// the bound in the label `le`.
    pub values: Vec<(Vec<(&'static str, String)>, f64)>,
}

/// The kind of a metric, as Prometheus distinguishes kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricKind {
    /// A value that may increase and decrease.
    Gauge,
    /// A value that only increases while the program runs.
    Counter,
    /// The distribution of measurements since the program started.
    Histogram {
        /// The sum of all measurements.
        sum: f64,
        /// The number of measurements.
        count: u64,
    },
}

/// Returns metrics in the text format of Prometheus. Each name is written once, with all its values.
///
/// ```
/// use makespan_formats::prometheus::{Metric, MetricKind, metrics_text};
///
/// let values = vec![(vec![("state", "running".to_owned())], 3.0)];
/// let text = metrics_text(&[Metric { name: "makespan_jobs", help: "Jobs.", kind: MetricKind::Gauge, values }]);
/// assert!(text.ends_with("# TYPE makespan_jobs gauge\nmakespan_jobs{state=\"running\"} 3\n"));
/// ```
pub fn metrics_text(metrics: &[Metric]) -> String {
    let (mut text, mut names) = (String::new(), BTreeSet::new());
    for metric in metrics {
        if !names.insert(metric.name) {
            continue;
        }
        let (kind, suffix) = match metric.kind {
            MetricKind::Gauge => ("gauge", ""),
            MetricKind::Counter => ("counter", ""),
            MetricKind::Histogram { .. } => ("histogram", "_bucket"),
        };
        let help = metric.help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = write!(text, "# HELP {0} {help}\n# TYPE {0} {kind}\n", metric.name);
        for (labels, value) in metrics.iter().filter(|other| other.name == metric.name).flat_map(|other| &other.values)
        {
            let labels: Vec<String> =
                labels.iter().map(|(name, label)| format!("{name}=\"{}\"", escaped(label))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(text, "{}{suffix}{labels} {}", metric.name, number(*value));
        }
        if let MetricKind::Histogram { sum, count } = metric.kind {
            let _ = write!(text, "{0}_sum {1}\n{0}_count {count}\n", metric.name, number(sum));
        }
    }
    text
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_buckets_a_sum_and_a_count() {
        let values = [("1", 2.0), ("+Inf", 3.0)].map(|(le, count)| (vec![("le", le.to_owned())], count));
        let kind = MetricKind::Histogram { sum: 4.5, count: 3 };
        assert_eq!(
            metrics_text(&[Metric { name: "wait", help: "Waits.", kind, values: values.to_vec() }]),
            "# HELP wait Waits.\n# TYPE wait histogram\nwait_bucket{le=\"1\"} 2\nwait_bucket{le=\"+Inf\"} 3\n\
             wait_sum 4.5\nwait_count 3\n"
        );
    }

    #[test]
    fn labels_cannot_end_a_line_or_a_quotation() {
        let metric = Metric {
            name: "makespan_jobs",
            help: "Jobs\nin all.",
            kind: MetricKind::Gauge,
            values: vec![(vec![("user", "a\"} 1\nb\\".to_owned())], 2.5), (Vec::new(), f64::INFINITY)],
        };
        assert_eq!(
            metrics_text(&[metric]),
            "# HELP makespan_jobs Jobs\\nin all.\n# TYPE makespan_jobs gauge\n\
             makespan_jobs{user=\"a\\\"} 1\\nb\\\\\"} 2.5\nmakespan_jobs +Inf\n"
        );
    }
}
