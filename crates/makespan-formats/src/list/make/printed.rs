//! Reads the output of a dry run of make with `--trace`.

use rustc_hash::FxHashMap;

/// Returns the targets that make would update, with the lines of their recipes. Each target occurs once, in the order
/// of make.
pub(super) fn updated(printed: &str) -> Vec<(&str, String)> {
    let (mut targets, mut numbers): (Vec<(&str, String)>, FxHashMap<&str, usize>) = Default::default();
    let mut current = None;
    for line in printed.lines().take_while(|line| !line.starts_with("# Make data base")) {
        if let Some(target) = traced(line) {
            let number = *numbers.entry(target).or_insert(targets.len());
            if number == targets.len() {
                targets.push((target, String::new()));
            }
            current = Some(number);
        } else if line.starts_with("# GNU Make ") {
            // The database begins with a line about the version of make. This line and the following lines are not
            // part of a recipe.
            current = None;
        } else if let Some(number) = current {
            targets[number].1 += line;
            targets[number].1.push('\n');
        }
    }
    targets
}

/// Returns the target of a line such as `Makefile:3: update target 'a' due to: b` or
/// `Makefile:3: target 'a' does not exist`.
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
}
