//! Functions that split a list of algorithm specs, and that derive the title of a spec for figures and tables.

/// Splits a list of specs at each comma that is not within brackets.
pub fn split_specs(list: &str) -> Vec<String> {
    outside_brackets(list).map(|part| part.trim().to_owned()).collect()
}

/// Splits a text at each comma that is not within brackets. A closing bracket without an opening bracket is an
/// ordinary character.
pub(super) fn outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Returns the title of a spec for figures and tables: the name of the algorithm and the values of its parameters. The
/// title of `list[order=saf]` is `list, saf`. If a value is a number, `true`, `false`, `yes` or `no`, the title also
/// contains the name of the parameter. A time limit is written in seconds, without the name of its parameter.
pub fn spec_title(spec: &str) -> String {
    let Some((name, inside)) = spec.split_once('[') else { return spec.to_owned() };
    let part = |part: String| match part.split_once('=') {
        Some(("time-limit", value)) if value.parse::<f64>().is_ok() => format!("{value} s"),
        Some((key, value @ ("true" | "false" | "yes" | "no"))) => format!("{key} {value}"),
        Some((key, value)) if value.parse::<f64>().is_ok() => format!("{value} {key}"),
        Some((_, value)) => value.to_owned(),
        None => part,
    };
    let inside = inside.strip_suffix(']').unwrap_or(inside);
    std::iter::once(name.to_owned()).chain(split_specs(inside).into_iter().map(part)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{spec_title, split_specs};

    #[test]
    fn titles_are_read_aloud() {
        for (spec, expected) in [
            ("gang", "gang"),
            ("list[order=saf]", "list, saf"),
            ("optimise[objective=makespan,time-limit=0.1]", "optimise, makespan, 0.1 s"),
            ("demt[compaction=raw,shuffles=3]", "demt, raw, 3 shuffles"),
            ("batch[scheduler=list[order=saf,x=1]]", "batch, list[order=saf,x=1]"),
        ] {
            assert_eq!(spec_title(spec), expected);
        }
    }

    #[test]
    fn commas_inside_brackets_do_not_split() {
        assert_eq!(split_specs("demt[compaction=raw,shuffles=3], gang"), ["demt[compaction=raw,shuffles=3]", "gang"]);
        assert_eq!(split_specs("demt"), ["demt"]);
    }
}
