//! Tasks of job arrays. One pending record can represent several tasks, such as `3-10%2`.

use std::fmt::Display;

/// The array of a job, and its task number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id of the array.
    pub array: u64,
    /// The number of the task in the array.
    pub task: u64,
    /// Maximum number of tasks of the array that may run at the same time, if limited.
    pub at_once: Option<u64>,
}

/// Returns the id of a task as Slurm shows it, such as `12_3`.
pub(super) fn task_name(array: u64, task: impl Display) -> String {
    format!("{array}_{task}")
}

/// Parses task numbers such as `3-10%2` or `1,3,5-15:5`. Returns the first `most` of the task numbers, the maximum
/// number of tasks that may run at the same time, and the number of task numbers after the first `most`.
///
/// ```
/// use makespan_slurm::queue::members;
///
/// assert_eq!(members("3-5,9%2", 100), Some((vec![3, 4, 5, 9], Some(2), 0)));
/// assert_eq!(members("0-8:4", 2), Some((vec![0, 4], None, 1)));
/// assert_eq!(members("3-x", 100), None);
/// ```
pub fn members(text: &str, most: usize) -> Option<(Vec<u64>, Option<u64>, u64)> {
    let (ranges, at_once) = match text.split_once('%') {
        Some((ranges, at_once)) => (ranges, Some(at_once.parse::<u64>().ok()?).filter(|&at_once| at_once > 0)),
        None => (text, None),
    };
    let (mut numbers, mut left_out) = (Vec::new(), 0_u64);
    for range in ranges.split(',') {
        let (range, step) = range.split_once(':').map_or(Some((range, 1)), |(range, step)| {
            Some((range, step.parse::<u64>().ok().filter(|&step| step > 0)?))
        })?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let count = (last.checked_sub(first)? / step).checked_add(1)?;
        let taken = count.min((most - numbers.len()) as u64);
        numbers.extend((0..taken).map(|index| first + index * step));
        left_out = left_out.saturating_add(count - taken);
    }
    Some((numbers, at_once, left_out))
}

/// Returns the reliable part of a list of task numbers that Slurm has truncated, such as `1,3,5,4...%5`. If the list
/// is complete, returns `None`. Leaves out a number directly before `...`, because its last digits may be missing.
pub(super) fn known_of_cut(text: &str) -> Option<String> {
    let (list, end) = text.split_once("...")?;
    let (known, last) = list.rsplit_once(',').unwrap_or(("", list));
    let first = last.split_once('-').map(|(first, _)| first).filter(|first| !first.is_empty());
    let parts: Vec<&str> = Some(known).filter(|known| !known.is_empty()).into_iter().chain(first).collect();
    Some(format!("{}{end}", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_before_the_last_comma_is_known_of_a_list_that_is_cut() {
        for (text, expect) in
            [("1,3,5,4...%5", "1,3,5%5"), ("0-99,200-1...", "0-99,200"), ("12...%2", "%2"), ("7-1...", "7")]
        {
            assert_eq!(known_of_cut(text).as_deref(), Some(expect), "{text}");
        }
        assert_eq!(known_of_cut("1,3%5"), None);
    }

    #[test]
    fn what_is_no_list_of_tasks_is_refused_and_nothing_overflows() {
        for wrong in
            ["", "a", "1-", "-1", "5-3", "1:0", "0-9:x", "1%x", "99999999999999999999", "0-18446744073709551615"]
        {
            assert_eq!(members(wrong, 10), None, "{wrong}");
        }
        let huge = format!("0-{}", u64::MAX - 1);
        assert_eq!(members(&huge, 2), Some((vec![0, 1], None, u64::MAX - 2)));
        assert_eq!(members("7%0", 10), Some((vec![7], None, 0)));
    }
}
