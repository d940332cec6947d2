//! Phrases for numbers and names of jobs.

/// Some of the names, and how many more.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    const NAMED: usize = 4;
    let some: Vec<&str> = names.iter().take(NAMED).map(AsRef::as_ref).collect();
    let more = names.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    some.join(", ") + &more
}

/// `1 job is left out`, `4 jobs are left out`.
pub fn counted(jobs: usize, what: &str) -> String {
    if jobs == 1 { format!("1 job is {what}") } else { format!("{jobs} jobs are {what}") }
}
