//! Finds dependencies between targets that result from `.NOTPARALLEL` and `.WAIT`, and not from prerequisites.

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, TargetData};
use super::order::TargetOrder;

/// Separator between two groups of prerequisites. The second group waits for the first group (GNU make 4.4).
const WAIT: &str = ".WAIT";
const NOT_PARALLEL: &str = ".NOTPARALLEL";

/// Returns, for each job, the jobs that it must wait for because of `.NOTPARALLEL` or `.WAIT`. A job waits only for
/// jobs that make would run earlier in a serial build. `printed` is the output of make, which states its version.
pub(super) fn apart(
    rules: &Database,
    order: &TargetOrder,
    printed: &str,
    numbers: &FxHashMap<&str, usize>,
) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); numbers.len()];
    let ranks: FxHashMap<&str, usize> = order.targets().zip(0..).collect();
    let rank = |number: usize, name: &str| (ranks.get(name).copied().unwrap_or(usize::MAX), number);
    let mut jobs: Vec<(&str, usize)> = numbers.iter().map(|(name, number)| (*name, *number)).collect();
    jobs.sort_unstable_by_key(|(name, number)| rank(*number, name));
    let serial = rules.get(NOT_PARALLEL);
    if serial.is_some_and(|serial| serial.needs.is_empty() || !names_targets(printed)) {
        for pair in jobs.windows(2) {
            found[pair[1].1].push(pair[0].1);
        }
        return found;
    }
    let mut places = vec![0; numbers.len()];
    for (place, (_, number)) in jobs.iter().enumerate() {
        places[*number] = place;
    }
    let is_serial = |name: &str| serial.is_some_and(|serial| serial.needs.contains(&name));
    for name in order.targets() {
        let Some(target) = rules.get(name).filter(|target| is_serial(name) || target.needs.contains(&WAIT)) else {
            continue;
        };
        let (mut earlier, mut ended) = (FxHashSet::default(), Vec::new());
        for group in groups(target, is_serial(name)) {
            let all = reached(rules, &group, numbers, false);
            for &later in all.iter().filter(|later| !earlier.contains(*later)) {
                found[later].extend(ended.iter().copied().filter(|&before: &usize| places[before] < places[later]));
            }
            ended.extend(reached(rules, &group, numbers, true));
            earlier.extend(all);
        }
    }
    found.iter_mut().for_each(|before| {
        before.sort_unstable();
        before.dedup();
    });
    found
}

/// Returns whether the version of make is GNU make 4.4 or later. From 4.4, a `.NOTPARALLEL` that names targets applies
/// only to the prerequisites of these targets. Earlier versions apply `.NOTPARALLEL` to all targets.
fn names_targets(printed: &str) -> bool {
    let version = printed.lines().find_map(|line| line.strip_prefix("# GNU Make ")).unwrap_or_default();
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (4, 4)
}

/// Returns the prerequisites of a target, in groups. Make builds one group after the other. With `.NOTPARALLEL`, each
/// prerequisite is a separate group.
fn groups<'a>(target: &TargetData<'a>, is_serial: bool) -> Vec<Vec<&'a str>> {
    let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
    for &need in &target.needs {
        if need == WAIT || is_serial {
            groups.push(Vec::new());
        }
        if need != WAIT {
            groups.last_mut().into_iter().for_each(|group| group.push(need));
        }
    }
    groups
}

/// Returns the jobs that build these targets and their prerequisites. If `is_last` is true, skips the prerequisites of
/// a job, because they end before the job begins.
fn reached(rules: &Database, from: &[&str], numbers: &FxHashMap<&str, usize>, is_last: bool) -> Vec<usize> {
    let (mut open, mut seen, mut found) = (from.to_vec(), FxHashSet::default(), Vec::new());
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        let number = rules.together(name).find_map(|one| numbers.get(one));
        found.extend(number);
        if number.is_none() || !is_last {
            open.extend(rules.get(name).into_iter().flat_map(TargetData::all_before));
        }
    }
    found
}
