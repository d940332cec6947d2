//! File names of tasks.

use makespan_core::{Instance, TaskId};

/// Returns the stem of the file names of a task.
pub(crate) fn stem(instance: &Instance, task: TaskId) -> String {
    let job = instance.job_of(task);
    let short = job.is_compound().then(|| instance.short_name(task));
    file_stem(&job.name, short.as_deref(), &instance.name(task), task.index())
}

/// Returns the stem of the file names of a task. `task` is the name within a compound job, and `name` is the full
/// name. The stem is `job~task` if both names are safe. Job names are unique, so this stem is never the stem of a task
/// of a bag.
pub(crate) fn file_stem(job: &str, task: Option<&str>, name: &str, index: usize) -> String {
    let unchanged = |name: &str| file_name(name, 0) == name && !name.starts_with('_');
    match task.filter(|task| unchanged(job) && unchanged(task)) {
        Some(task) => format!("{job}~{task}"),
        None => file_name(name, index),
    }
}

/// Returns a name that is safe in any file system. A changed name begins with `_` and ends with `~` and the number of
/// the task. Safe names contain no `~`, so all results are distinct. A task of a bag, `bag/17`, becomes `bag~17`.
fn file_name(name: &str, index: usize) -> String {
    const LONGEST: usize = 100;
    if let Some((bag, task)) = name.rsplit_once('/')
        && task.parse::<u32>().is_ok_and(|number| number.to_string() == task)
        && !bag.starts_with('_')
        && file_name(bag, 0) == bag
    {
        return format!("{bag}~{task}");
    }
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if (1..=LONGEST).contains(&name.len()) && name.chars().all(is_safe) && !name.starts_with(['.', '-']) {
        return name.to_owned();
    }
    let safe: String = name.chars().take(LONGEST).map(|c| if is_safe(c) { c } else { '_' }).collect();
    format!("_{}~{index}", safe.trim_start_matches(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_safe_and_stay_distinct() {
        let names = ["a", "a/b", "a_b", "../up", "", "tête", "a b", "-rf"];
        let files: Vec<String> = names.iter().enumerate().map(|(index, name)| file_name(name, index)).collect();
        assert_eq!(files, ["a", "_a_b~1", "a_b", "__up~3", "_~4", "_t_te~5", "_a_b~6", "_rf~7"]);
        assert!(file_name(&"x".repeat(500), 1).len() < 110);
        let tasks = ["a/0", "a/17", "_a/1", "../1", "a b/2", "a/01", "a/-1", "/1"];
        let files: Vec<String> = tasks.iter().enumerate().map(|(index, name)| file_name(name, index)).collect();
        assert_eq!(files, ["a~0", "a~17", "__a_1~2", "__1~3", "_a_b_2~4", "_a_01~5", "_a_-1~6", "__1~7"]);
    }
}
