//! Lists of the names of nodes, in the notation of Slurm.

/// Maximum number of nodes in a list.
const MAX_NODES: usize = 1 << 20;

/// Returns the names in a list of nodes such as `n[1-4,7],login`, or `None` if the list is unreadable.
pub fn hosts(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0;
    let parts = list.split(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    for part in parts {
        let Some((prefix, rest)) = part.split_once('[') else {
            names.push(part.to_owned());
            continue;
        };
        let (inner, suffix) = rest.split_once(']')?;
        for number in numbers(inner, MAX_NODES)? {
            names.push(format!("{prefix}{number}{suffix}"));
        }
        if names.len() > MAX_NODES {
            return None;
        }
    }
    Some(names)
}

/// Returns the numbers of a list such as `1-4,7` or `0-9:3`, with leading zeros. Returns `None` if the list is
/// unreadable, if a range has more than `most` numbers, or if more than `most` numbers precede a range.
pub fn numbers(list: &str, most: usize) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (range, step) = part.split_once(':').map_or((part, "1"), |(range, step)| (range, step));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let digits = |text: &str| -> Option<u64> {
            (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
        };
        let (from, until, step) = (digits(first)?, digits(last)?, digits(step)?);
        if step == 0 || until < from || (until - from) / step >= most as u64 || numbers.len() > most {
            return None;
        }
        let width = first.len();
        numbers.extend((from..=until).step_by(step as usize).map(|number| format!("{number:0width$}")));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_nodes_are_expanded() {
        let hosts = |list: &str| hosts(list).map(|names| names.join(" "));
        assert_eq!(hosts("n[1-3,7],login"), Some("n1 n2 n3 n7 login".to_owned()));
        assert_eq!(hosts("n[08-10]-ib"), Some("n08-ib n09-ib n10-ib".to_owned()));
        for bad in ["n[1-", "n[3-1]", "n[x]", "n[0-99999999999]"] {
            assert_eq!(hosts(bad), None, "{bad}");
        }
        assert_eq!(numbers("0-9:3,20", 100), Some(["0", "3", "6", "9", "20"].map(str::to_owned).to_vec()));
    }
}
