//! What `make` would do, from what GNU make prints of a dry run with `--trace` and `--print-data-base`.
//!
//! The recipes stay with make: a job runs `make TARGET`, told that all that the target waits for has just been made
//! (`--old-file` and `--what-if`). So variables, shells, `.ONESHELL`, ignored errors and recipes that call make again mean what
//! they mean to make.

use makespan_core::{Estimate, Instance, Job, Platform};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{FormatError, Place};
use crate::guess::guessed;

/// The options with which make is to be asked, in front of `-f FILE`; `LC_ALL=C` must be in its environment.
pub const ASK: [&str; 4] = ["--dry-run", "--trace", "--print-data-base", "--print-directory"];

/// The targets that make would update, each a job that waits for others, or `None` where all are up to date; `file` is the
/// makefile, and `printed` what make has printed.
///
/// # Errors
/// [`FormatError`] where make printed something else, or the targets are no instance.
pub fn read_make(file: &str, printed: &str, platform: &Platform) -> Result<Option<Instance>, FormatError> {
    let wrong = |problem: String| FormatError::content(file, Place::default(), problem);
    let updated = updated(printed);
    if updated.is_empty() {
        return Ok(None);
    }
    let Some(base) = printed.rfind("\n# Files\n").map(|at| &printed[at..]) else {
        return Err(wrong("make has not printed its database; GNU make 4 or later is needed".into()));
    };
    let rules = Rules::read(base);
    let numbers: FxHashMap<&str, usize> = updated.iter().enumerate().map(|(at, target)| (*target, at)).collect();
    let job = |target: &&str| {
        let before = rules.waited_for(target, &numbers);
        let before: Vec<&str> = before.into_iter().map(|number| updated[number]).collect();
        let profile = guessed(1, 1, None, None).map_err(|error| error.to_string())?;
        let job = Job::new(*target, profile).with_estimate(Estimate::Guessed);
        Ok(job.with_command(command(file, target, &before)).with_after(before))
    };
    let jobs = updated.iter().map(job).collect::<Result<Vec<_>, String>>().map_err(wrong)?;
    let platform = super::with_needed(platform, |_| false);
    Instance::new(platform, jobs, Vec::new()).map(Some).map_err(|error| wrong(error.to_string()))
}

/// What updates one target when all before it have been.
fn command(file: &str, target: &str, before: &[&str]) -> Vec<String> {
    let mut words = vec!["make".to_owned(), "--no-print-directory".into(), "-f".into(), file.into()];
    for one in before {
        // The first keeps make from updating it again, the second makes it newer than what needs it.
        words.extend([format!("--old-file={one}"), format!("--what-if={one}")]);
    }
    words.extend(["--".into(), target.to_owned()]);
    words
}

/// The targets that the outermost make would update, in its order, each once.
fn updated(printed: &str) -> Vec<&str> {
    let (mut depth, mut targets, mut seen) = (0_usize, Vec::new(), FxHashSet::default());
    for line in printed.lines().take_while(|line| *line != "# Make data base") {
        if let Some((_, said)) = line.strip_prefix("make[").and_then(|rest| rest.split_once("]: ")) {
            if said.starts_with("Entering directory") {
                depth += 1;
            } else if said.starts_with("Leaving directory") {
                depth = depth.saturating_sub(1);
            }
        }
        if depth == 0
            && let Some(target) = traced(line)
            && seen.insert(target)
        {
            targets.push(target);
        }
    }
    targets
}

/// The target of a line such as `Makefile:3: update target 'a' due to: b` or `Makefile:3: target 'a' does not exist`.
fn traced(line: &str) -> Option<&str> {
    let (place, said) = line.split_once(": ")?;
    let is_place = place == "<builtin>"
        || place
            .rsplit_once(':')
            .is_some_and(|(_, line)| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_place {
        return None;
    }
    let quoted = |text: &'static str| -> Option<&str> { said.strip_prefix(text) };
    if let Some(rest) = quoted("update target '") {
        return rest.split_once("' due to: ").map(|(target, _)| target);
    }
    quoted("target '")?.strip_suffix("' does not exist")
}

/// Who needs whom, as the database says.
#[derive(Default)]
struct Rules<'a> {
    needs: FxHashMap<&'a str, Vec<&'a str>>,
    /// The target whose recipe makes a file that is no target of its own.
    made_with: FxHashMap<&'a str, &'a str>,
}

impl<'a> Rules<'a> {
    fn read(base: &'a str) -> Self {
        let (mut rules, mut last, mut skipped) = (Self::default(), None, false);
        for line in base.lines() {
            if line == "# Not a target:" {
                skipped = true;
            } else if let Some(others) = line.strip_prefix("#  Also makes: ") {
                for other in others.split_whitespace() {
                    rules.made_with.extend(last.map(|target| (other, target)));
                }
            } else if !line.starts_with(['#', '\t']) && !line.trim().is_empty() {
                let found = rule(line).filter(|_| !std::mem::take(&mut skipped));
                last = found.as_ref().map(|(target, _)| *target);
                if let Some((target, needs)) = found {
                    rules.needs.entry(target).or_default().extend(needs);
                }
            }
        }
        rules
    }

    /// The numbers of the targets that are updated before one is, as far as nothing that is updated stands between, ascending.
    fn waited_for(&self, target: &str, numbers: &FxHashMap<&str, usize>) -> Vec<usize> {
        let needs = |target: &str| self.needs.get(target).into_iter().flatten().copied();
        let own = numbers.get(target).copied();
        let (mut open, mut seen) = (needs(target).collect::<Vec<&str>>(), FxHashSet::default());
        let mut found = Vec::new();
        while let Some(one) = open.pop() {
            if !seen.insert(one) {
                continue;
            }
            let maker = self.made_with.get(one).copied().unwrap_or(one);
            match numbers.get(one).or_else(|| numbers.get(maker)) {
                Some(&number) => found.push(number),
                None => open.extend(needs(one)),
            }
        }
        found.retain(|&number| Some(number) != own);
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A line such as `a: b c | d`: the target and all that it needs. What stands in front of a colon that begins `:=` is a variable.
fn rule(line: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (target, rest) = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|target| (target, "")))?;
    let target = target.strip_suffix(':').unwrap_or(target);
    if target.is_empty() || target.contains([' ', '=']) {
        return None;
    }
    Some((target, rest.split_whitespace().filter(|word| *word != "|")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_trace_name_their_targets() {
        assert_eq!(traced("Makefile:9: update target 'a.o' due to: a.c"), Some("a.o"));
        assert_eq!(traced("sub/x.mk:12: target 'dir' does not exist"), Some("dir"));
        assert_eq!(traced("<builtin>: update target 'b.o' due to: b.c"), Some("b.o"));
        for other in [
            "echo a: target 'b' does not exist",
            "make: Entering directory '/x'",
            "cp a b",
            "x:y: target 'a' does not exist",
        ] {
            assert_eq!(traced(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_between_two_targets_is_passed_through() {
        let printed = "m:1: update target 'a' due to: x\na\nm:2: target 'b' does not exist\nb\nmake[1]: Entering directory '/s'\n\
                       m:3: target 'inner' does not exist\nmake[1]: Leaving directory '/s'\nm:4: update target 'c' due to: b\n\
                       # Make data base\n\n# Files\n\nb: phony | dir\n#  x\n\nphony: a\n\n# Not a target:\ndir:\n\na:: x\n\nc: a2 b\n\n\
                       # Not a target:\na2:\n\na: x\n#  Also makes: a2\n";
        let instance = read_make("m", printed, &Platform::flat(2).unwrap()).unwrap().unwrap();
        let all: Vec<(&str, Vec<&str>)> = instance
            .jobs()
            .iter()
            .map(|job| (job.name.as_str(), job.after.iter().map(|name| &**name).collect()))
            .collect();
        assert_eq!(all, [("a", vec![]), ("b", vec!["a"]), ("c", vec!["a", "b"])]);
        let command = instance.command(instance.jobs()[1].first());
        let words = ["make", "--no-print-directory", "-f", "m", "--old-file=a", "--what-if=a", "--", "b"];
        assert_eq!(&*command, words);
        assert!(
            read_make("m", "make: Nothing to be done for 'all'.\n", &Platform::flat(1).unwrap()).unwrap().is_none()
        );
        assert!(read_make("m", "m:1: target 'a' does not exist\n", &Platform::flat(1).unwrap()).is_err());
    }
}
