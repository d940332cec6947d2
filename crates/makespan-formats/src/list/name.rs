//! Names of jobs in a list of commands.

/// Maximum number of characters of the command in a name.
const LONGEST: usize = 24;

/// Returns a name with the line number and a short form of the command, such as `3-gzip-a.txt`. The short form
/// contains only characters that are safe in file names. Folders are removed from paths, because many lines often have
/// the same folder. A leading `exec` is left out. The number has at least `digits` digits. So the alphabetical order
/// of the names is the order of the list.
pub(super) fn of_command(line: usize, digits: usize, command: &str) -> String {
    let command = command.strip_prefix("exec ").unwrap_or(command);
    let words = command.split_whitespace().map(|word| match word.trim_end_matches('/').rsplit_once('/') {
        Some((_, last)) => last,
        None => word,
    });
    let mut short = String::new();
    for c in words.flat_map(|word| word.chars().chain([' '])) {
        if short.len() >= LONGEST {
            break;
        }
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            short.push(c);
        } else if !short.is_empty() && !short.ends_with('-') {
            short.push('-');
        }
    }
    let short = short.trim_end_matches(['-', '.']);
    let short = if short.is_empty() { "command" } else { short };
    format!("{line:0digits$}-{short}")
}

/// Returns the number of digits of a number.
pub(super) fn digits_of(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_safe() {
        assert_eq!(of_command(3, 1, "gzip -9 a.txt"), "3-gzip-9-a.txt");
        assert_eq!(of_command(12, 1, "./run \"$HOME/Ü b\" > out/"), "12-run-b-out");
        assert_eq!(of_command(4, 1, "target/release/crunch pi /data/sets/one.csv"), "4-crunch-pi-one.csv");
        assert_eq!(of_command(5, 3, "/ // ls"), "005-ls");
        assert_eq!(of_command(1234, 3, "ls"), "1234-ls");
        assert_eq!([1, 9, 10, 999, 1000].map(digits_of), [1, 1, 2, 3, 4]);
        assert_eq!(of_command(1, 1, "(((("), "1-command");
        assert_eq!(of_command(2, 1, "exec gzip a"), "2-gzip-a");
        assert_eq!(of_command(7, 1, &"x".repeat(100)), format!("7-{}", "x".repeat(LONGEST)));
    }
}
