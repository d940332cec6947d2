//! The deadlines of a campaign, and the method with them.

/// Deadlines, as multiples of HEFT's makespan.
pub(super) const DEADLINES: [&str; 4] = ["1.25", "1.5", "2", "3"];

/// The method with a deadline of so many times HEFT's makespan.
pub(super) fn spec(factor: &str) -> String {
    if factor == "1.5" { "critical-jobs".into() } else { format!("critical-jobs[deadline={factor}]") }
}
