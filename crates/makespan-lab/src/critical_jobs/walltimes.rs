//! The walltimes of a campaign, and the method under them.

/// Walltimes, as multiples of HEFT's makespan.
pub(super) const WALLTIMES: [&str; 4] = ["1.25", "1.5", "2", "3"];

/// The method under a walltime of so many times HEFT's makespan.
pub(super) fn spec(factor: &str) -> String {
    if factor == "1.5" { "critical-jobs".into() } else { format!("critical-jobs[walltime={factor}]") }
}
