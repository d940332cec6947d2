//! Shortens names: removes the common prefix of all job names, and finds the type of a task from its name.

use std::borrow::Cow;

use makespan_core::{Instance, TaskId};

/// Separators between the words of a name.
const SIGNS: [char; 6] = ['-', '_', '/', '.', ' ', ':'];
/// Minimum position of the last separator in a common prefix. Shorter prefixes are not removed.
const SHORTEST: usize = 3;

/// Returns the common prefix of all job names, up to and including a separator. Returns an empty text if there is no
/// such prefix.
pub(super) fn shared(instance: &Instance) -> &str {
    let mut names = instance.jobs().iter().map(|job| job.name.as_str());
    let Some(first) = names.next().filter(|_| instance.jobs().len() > 1) else { return "" };
    let common = names.fold(first, |common, name| {
        let same = common.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
        &common[..end]
    });
    let cut = common.rfind(SIGNS).filter(|&cut| cut >= SHORTEST);
    cut.map_or("", |cut| &common[..=cut])
}

/// Returns the name of a task without the common prefix of all jobs. If there is only one job, returns the name of
/// the task within the job.
pub(super) fn label(instance: &Instance, task: TaskId, shared: &str) -> String {
    let name = if instance.has_task(task) { instance.name(task) } else { Cow::Owned(task.to_string()) };
    let lone = Some(instance.jobs()).filter(|jobs| jobs.len() == 1).map(|jobs| format!("{}/", jobs[0].name));
    let prefix = lone.as_deref().unwrap_or(shared);
    name.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned()
}

/// Returns the type of a task: the part of its name before the number. For example, the type of `frequency_ID0000012`
/// is `frequency`.
pub(super) fn type_of(name: &str) -> &str {
    let end = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let separator = |c: char| c.is_whitespace() || "_-.#:/(".contains(c);
    let trimmed = name[..end].trim_end_matches(separator);
    let numbered = ["ID", "id", "job", "task"].iter().filter_map(|word| trimmed.strip_suffix(word));
    // The suffix is removed only if a separator precedes it, because a word such as `grid` ends with `id` by chance.
    let bare = numbered.map(|rest| (rest, rest.trim_end_matches(separator))).find(|(rest, bare)| rest != bare);
    match bare.map_or(trimmed, |(_, bare)| bare) {
        "" if end == 0 && !name.is_empty() => "numbered",
        "" => name,
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{Job, Platform, Profile, Time};

    #[test]
    fn what_all_names_share_is_left_out() {
        let of = |names: &[&str]| {
            let job = |name: &&str| Job::new(*name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
            let instance = Instance::new(Platform::flat(2).unwrap(), names.iter().map(job).collect(), vec![]).unwrap();
            let shared = shared(&instance).to_owned();
            instance.task_ids().map(|task| label(&instance, task, &shared)).collect::<Vec<_>>()
        };
        assert_eq!(of(&["experiment-028-ann", "experiment-029-bob"]), ["028-ann", "029-bob"]);
        assert_eq!(of(&["experiment-", "experiment-1"]), ["experiment-", "1"]);
        assert_eq!(of(&["a-1", "a-2"]), ["a-1", "a-2"]);
        assert_eq!(of(&["größe-ä", "größe-ö"]), ["ä", "ö"]);
        assert_eq!(of(&["alone-1"]), ["alone-1"]);
    }

    #[test]
    fn tasks_are_of_types() {
        for (name, expected) in [
            ("individuals_ID0000001", "individuals"),
            ("sifting_ID0000011", "sifting"),
            ("grid7", "grid"),
            ("map-3 of 4", "map"),
            ("task12", "task"),
            ("12", "numbered"),
            ("merge", "merge"),
            ("", ""),
        ] {
            assert_eq!(type_of(name), expected, "{name}");
        }
    }
}
