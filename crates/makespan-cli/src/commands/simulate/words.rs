//! Phrases with a number of jobs or with names.

use makespan_core::counted;

/// Lists some of the names, and states the number of further names.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    const NAMED: usize = 4;
    let some: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = names.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    some.join(", ") + &more
}

/// Returns `1 job is left out` or `4 jobs are left out`.
pub fn left_out(jobs: usize) -> String {
    format!("{} {} left out", counted(jobs, "job"), if jobs == 1 { "is" } else { "are" })
}
