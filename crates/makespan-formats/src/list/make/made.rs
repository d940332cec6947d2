//! Options for a call of make with a single target. The options state which files are already made.

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::Database;
use super::{STUB, escaped};

/// Returns the options for making a target when the files in `before` are already made. [`Database::waited_for`]
/// returns `before`. `is_goal` is true if the target itself is the goal of make. It is false if the goal is a target
/// that needs this target.
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
            // The option `--old-file` keeps make from remaking the file. With `--what-if`, make treats the file as
            // newer than targets that need it.
            words.extend([format!("--old-file={one}"), format!("--what-if={one}")]);
        }
    }
    // If make treats a double-colon target as old, make finds no rule for this target. So make considers the target
    // and its prerequisites again, but with recipes that do nothing.
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
    // Make would delete an intermediate file after making the first target that needs it.
    files.extend((!is_goal).then_some(target));
    files.retain(|one| rules.is_intermediate(one));
    words.extend(special(rules, ".SECONDARY", &files));
    words
}

/// Returns the option that adds files to the prerequisites of a special target. Returns `None` if there are no files,
/// or if the special target affects all files.
fn special(rules: &Database, special: &str, files: &[&str]) -> Option<String> {
    let names: Vec<String> = files.iter().map(|one| escaped(one)).collect();
    let is_needed = !names.is_empty() && !rules.is_for_all(special);
    is_needed.then(|| format!("--eval={special}: {}", names.join(" ")))
}
