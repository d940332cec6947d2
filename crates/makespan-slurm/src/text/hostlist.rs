//! Short lists of hosts, such as `n[0-3,7],login1`.

use thiserror::Error;

/// Maximum number of hosts in a list. Slurm supports at most 65,533 nodes.
const MAX_HOSTS: usize = 100_000;
/// Maximum length of a name without its numbers. This limits the memory for each host.
const MAX_NAME: usize = 256;
/// Maximum number of brackets in a name. This limits the memory for each host.
const MAX_BRACKETS: usize = 8;

/// The reason why a text is not a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostlistError {
    /// A bracket without a matching bracket.
    #[error("`{0}` has an unmatched bracket; write a list of hosts such as n[0-3,7],login1")]
    Bracket(String),
    /// Brackets that contain something other than ranges of numbers.
    #[error("`{range}` in `{text}` is not a range of numbers; write a list of hosts such as n[0-3,7],login1")]
    Range {
        /// The invalid text in brackets.
        range: String,
        /// The whole list.
        text: String,
    },
    /// A comma without a name next to it.
    #[error("`{0}` has an empty name; write a list of hosts such as n[0-3,7],login1")]
    Empty(String),
    /// A name that is too long or has too many brackets.
    #[error("`{0}` has a name of more than {MAX_NAME} characters or {MAX_BRACKETS} brackets")]
    Long(String),
    /// More hosts than the maximum.
    #[error("`{0}` contains more than {MAX_HOSTS} hosts")]
    TooMany(String),
}

/// Returns the hosts of a list in order. Numbers keep their leading zeros, and a name may have several brackets.
/// Slurm's texts for "no host" give an empty list.
///
/// # Errors
/// [`HostlistError`]
///
/// ```
/// use makespan_slurm::expand;
///
/// assert_eq!(expand("n[0-2,7],login1")?, ["n0", "n1", "n2", "n7", "login1"]);
/// assert_eq!(expand("r[1-2]n[09-10]")?, ["r1n09", "r1n10", "r2n09", "r2n10"]);
/// assert!(expand("(null)")?.is_empty());
/// # Ok::<(), makespan_slurm::HostlistError>(())
/// ```
pub fn expand(text: &str) -> Result<Vec<String>, HostlistError> {
    let text = text.trim();
    if super::present(text).is_none() || text == "None assigned" {
        return Ok(Vec::new());
    }
    let mut hosts = Vec::new();
    for name in names(text)? {
        expand_name(name, MAX_HOSTS - hosts.len(), text, &mut hosts)?;
    }
    Ok(hosts)
}

/// Formats host names as a short list, such as `n[0-3,7],login1`. Names that differ only in the last number are
/// combined. The groups are in the order in which they first occur.
///
/// ```
/// use makespan_slurm::compress;
///
/// assert_eq!(compress(["n0", "n1", "n2", "n7", "login1"]), "n[0-2,7],login1");
/// assert_eq!(compress(["r1n09", "r1n10", "n1-ib", "a"]), "r1n[09-10],n1-ib,a");
/// ```
pub fn compress<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    let mut groups: Vec<(&str, usize, Vec<u64>)> = Vec::new();
    for host in hosts {
        let digits = host.bytes().rev().take_while(u8::is_ascii_digit).count().min(18);
        let (name, number) = host.split_at(host.len() - digits);
        let width = if digits > 1 && number.starts_with('0') { digits } else { 0 };
        let number = number.parse().ok();
        let known = groups.iter_mut().find(|(other, zeros, numbers)| {
            // `09` and `10` can be in one range, because both have two digits. `9` and `010` cannot.
            *other == name
                && number.is_some()
                && !numbers.is_empty()
                && (*zeros == width || (*zeros == digits && width == 0))
        });
        match known {
            Some(group) => group.2.extend(number),
            None => groups.push((name, width, number.into_iter().collect())),
        }
    }
    let written = groups.into_iter().map(|(name, width, numbers)| match numbers.as_slice() {
        [] => name.to_owned(),
        [one] => format!("{name}{one:0width$}"),
        _ => format!("{name}[{}]", ranges(numbers, width)),
    });
    written.collect::<Vec<_>>().join(",")
}

fn ranges(mut numbers: Vec<u64>, width: usize) -> String {
    numbers.sort_unstable();
    numbers.dedup();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let run = |run: &[u64]| match run {
        [one] => format!("{one:0width$}"),
        _ => format!("{:0width$}-{:0width$}", run[0], run[run.len() - 1]),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Splits a text at commas outside brackets.
fn names(text: &str) -> Result<Vec<&str>, HostlistError> {
    let (mut names, mut from, mut open) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        match character {
            '[' if !open => open = true,
            ']' if open => open = false,
            '[' | ']' => return Err(HostlistError::Bracket(shown(text))),
            ',' if !open => {
                names.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    names.push(&text[from..]);
    match names.iter().any(|name| name.is_empty()) {
        _ if open => Err(HostlistError::Bracket(shown(text))),
        true => Err(HostlistError::Empty(shown(text))),
        false => Ok(names),
    }
}

fn expand_name(name: &str, room: usize, text: &str, hosts: &mut Vec<String>) -> Result<(), HostlistError> {
    let fixed: usize = name.split('[').map(|part| part.split_once(']').map_or(part, |(_, behind)| behind).len()).sum();
    if fixed > MAX_NAME || name.bytes().filter(|&byte| byte == b'[').count() > MAX_BRACKETS {
        return Err(HostlistError::Long(shown(text)));
    }
    let mut found = vec![String::new()];
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once('[') {
        let (ranges, behind) = behind.split_once(']').ok_or_else(|| HostlistError::Bracket(shown(text)))?;
        let mut numbers = Vec::new();
        for range in ranges.split(',') {
            numbers_of(range, room, text, &mut numbers)?;
        }
        if found.len().saturating_mul(numbers.len()) > room {
            return Err(HostlistError::TooMany(shown(text)));
        }
        let with = |start: &String| numbers.iter().map(|number| format!("{start}{before}{number}")).collect::<Vec<_>>();
        found = found.iter().flat_map(with).collect();
        rest = behind;
    }
    if found.len() > room {
        return Err(HostlistError::TooMany(shown(text)));
    }
    hosts.extend(found.into_iter().map(|start| start + rest));
    Ok(())
}

/// Parses `3` or the range `08-11`. The first number determines the number of digits.
fn numbers_of(range: &str, room: usize, text: &str, numbers: &mut Vec<String>) -> Result<(), HostlistError> {
    let wrong = || HostlistError::Range { range: shown(range), text: shown(text) };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten().ok_or_else(wrong)
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (from, until) = (number(first)?, number(last)?);
    let count = until.checked_sub(from).ok_or_else(wrong)?;
    if count >= (room - numbers.len().min(room)) as u64 {
        return Err(HostlistError::TooMany(shown(text)));
    }
    // Slurm writes at most 64 digits. Without a limit, a number could need much memory for each host.
    if first.len() > 20 {
        return Err(wrong());
    }
    let width = first.len();
    numbers.extend((from..=until).map(|number| format!("{number:0width$}")));
    Ok(())
}

/// Returns the beginning of a long text.
fn shown(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{} ..", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_shape_are_expanded() {
        assert_eq!(expand("a").unwrap(), ["a"]);
        assert_eq!(expand("b[0-3],n[0-1]").unwrap(), ["b0", "b1", "b2", "b3", "n0", "n1"]);
        assert_eq!(expand("n[098-101]-ib").unwrap(), ["n098-ib", "n099-ib", "n100-ib", "n101-ib"]);
        assert_eq!(expand("n[7,3,3]").unwrap(), ["n7", "n3", "n3"]);
        for nothing in ["", "(null)", "None assigned", "N/A", " "] {
            assert!(expand(nothing).unwrap().is_empty(), "{nothing}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for wrong in ["n[0-", "n]", "n[[0]]", "n[a-b]", "n[3-1]", "n[]", "n[1,]", ",", "n0,,n1", "n[-1]", "n[0-1]]"] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
        for large in ["n[0-99999999999]", "a[0-999]b[0-999]", "n[0-99999],m", "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]"] {
            assert_eq!(expand(large), Err(HostlistError::TooMany(large.into())));
        }
        for long in [format!("{}[0-9]", "a".repeat(257)), "[0]".repeat(9)] {
            assert!(matches!(expand(&long), Err(HostlistError::Long(_))), "{long}");
        }
        assert_eq!(expand("n[0-99999]").unwrap().len(), 100_000);
    }
}
