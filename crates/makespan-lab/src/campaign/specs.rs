//! Lists of specs.

/// Splits a list of specs at the commas outside brackets.
pub fn split(list: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = list.split(|c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn commas_inside_brackets_do_not_split() {
        assert_eq!(split("demt[compaction=raw,shuffles=3], gang"), ["demt[compaction=raw,shuffles=3]", "gang"]);
        assert_eq!(split("demt"), ["demt"]);
    }
}
