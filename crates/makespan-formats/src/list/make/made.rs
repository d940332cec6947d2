//! How make is told what is made already when it makes one target.

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::Database;
use super::{STUB, escaped};

/// The options for a target before which these files are made, as [`Database::waited_for`] finds them. Make is asked for the target
/// itself, or for another one that needs it: then `is_goal` is false.
pub(super) fn words<'a>(
    rules: &Database<'a>,
    (target, is_goal): (&'a str, bool),
    before: &[(usize, &'a str)],
    numbers: &FxHashMap<&str, usize>,
) -> Vec<String> {
    let needs: FxHashSet<&str> = rules.get(target).into_iter().flat_map(|target| &target.needs).copied().collect();
    let is_compared = |one: &str| needs.contains(one) && rules.get(one).is_none_or(|target| !target.is_phony);
    let is_double_colon = |one: &str| rules.get(one).is_some_and(|target| target.is_double_colon);
    let (mut files, mut stubbed): (Vec<&str>, Vec<&str>) = Default::default();
    let mut words = Vec::new();
    for &(_, one) in before {
        if is_double_colon(one) {
            stubbed.push(one);
            continue;
        }
        files.push(one);
        if is_compared(one) {
            words.push(format!("--newer={one}"));
        } else {
            // The first keeps make from updating it again, the second makes it newer than what needs it.
            words.extend([format!("--old-file={one}"), format!("--what-if={one}")]);
        }
    }
    // Make has no rule for a target with `::` that is old. So it looks at it again, and at what it needs, and its recipes do nothing.
    let mut seen: FxHashSet<&str> = before.iter().map(|(_, one)| *one).collect();
    let mut at = 0;
    while let Some(&double_colon) = stubbed.get(at) {
        for (_, one) in rules.waited_for(double_colon, numbers) {
            if !seen.insert(one) {
                continue;
            }
            if is_double_colon(one) {
                stubbed.push(one);
            } else {
                files.push(one);
                words.push(format!("--old-file={one}"));
            }
        }
        at += 1;
    }
    words.extend(stubbed.iter().map(|one| format!("--eval={}: private override {STUB}", escaped(one))));
    words.extend(special(rules, ".SILENT", &stubbed));
    // Who is first to need an intermediate file would delete it.
    files.extend((!is_goal).then_some(target));
    files.retain(|one| rules.is_intermediate(one));
    words.extend(special(rules, ".SECONDARY", &files));
    words
}

/// Adds files to those that a special target needs, unless there are none or it stands for all.
fn special(rules: &Database, special: &str, files: &[&str]) -> Option<String> {
    let names: Vec<String> = files.iter().map(|one| escaped(one)).collect();
    let is_needed = !names.is_empty() && !rules.is_for_all(special);
    is_needed.then(|| format!("--eval={special}: {}", names.join(" ")))
}
