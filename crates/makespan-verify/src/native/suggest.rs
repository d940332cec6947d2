//! Finds the known word that is most similar to an unknown word.

/// Returns the candidate most similar to `word`, or `None` if no candidate is similar enough to be a
/// correction.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The first measure favours a common prefix. The second measure favours short words with one missing letter or two
    // swapped letters.
    let likeness =
        |candidate| strsim::jaro_winkler(word, candidate).max(strsim::normalized_damerau_levenshtein(word, candidate));
    let scored = candidates.into_iter().map(|candidate| (likeness(candidate), candidate));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
    (best.0 >= 0.65).then_some(best.1)
}

/// Rewrites an error of serde, such as "unknown field `x`, expected one of `a`, `b`", in plain words. The
/// message suggests the nearest key.
pub fn explain(message: &str) -> String {
    for (kind, word) in [("unknown field `", "key"), ("unknown variant `", "word")] {
        let Some((unknown, expected)) = message.strip_prefix(kind).and_then(|rest| rest.split_once("`, ")) else {
            continue;
        };
        // serde writes each known word between backticks. So if the list of words is split at backticks, every second
        // piece is a word.
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let list = known.join(", ");
        return match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("unknown {word} `{unknown}`; did you mean `{near}`? (known: {list})"),
            None => format!("unknown {word} `{unknown}`; the known {word}s are {list}"),
        };
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        return format!("the key `{} is missing", rest.replace("`, ", "` "));
    }
    if let Some(key) = message.strip_prefix("duplicate field `").and_then(|rest| rest.strip_suffix('`')) {
        return format!("the key `{key}` occurs twice; remove one of the two");
    }
    if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("found {}; expected {}", found_in_words(found), expected_in_words(expected));
    }
    if message.starts_with("invalid length ") && message.contains(", expected struct ") {
        return "found a list; expected a table".to_owned();
    }
    if message.starts_with("EOF") {
        return format!("the text ends too early ({message})");
    }
    match message {
        "expected value" => "expected value; JSON allows numbers such as 1.5, texts in quotes, true, false, null, \
                             lists and tables here, and no comments"
            .to_owned(),
        "trailing characters" => "the document is already complete here; remove the text that follows".to_owned(),
        _ if message.contains("escape") => format!("{message}; write the character itself, or its complete escape"),
        _ => message.to_owned(),
    }
}

/// Rewrites serde's description of the value that it found.
fn found_in_words(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    let value = value.trim_matches('`');
    match kind {
        "integer" => format!("the number {value}"),
        "floating" => format!("the number {}", value.trim_start_matches("point ").trim_matches('`')),
        "string" => format!("the text {value}"),
        "boolean" => format!("`{value}`"),
        "map" => "a table".into(),
        "sequence" => "a list".into(),
        "null" | "unit" | "Option" => "nothing".into(),
        _ => found.into(),
    }
}

/// Rewrites serde's description of the value that it expected. Names of Rust types become the words for types in JSON
/// and TOML.
fn expected_in_words(expected: &str) -> String {
    let whole = |bits: &str| !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit() || byte == b's');
    let is_integer = expected.strip_prefix(['i', 'u']).is_some_and(|bits| whole(bits) || bits == "size");
    match expected {
        _ if is_integer => "a whole number".into(),
        "f64" | "f32" => "a number".into(),
        "a string" | "str" | "string" => "a text".into(),
        "a sequence" | "an array" => "a list".into(),
        "a boolean" | "bool" => "true or false".into(),
        "a map" | "map" => "a table".into(),
        _ if expected.starts_with("struct ") => "a table".into(),
        _ if expected.starts_with("tuple") || expected.starts_with("an array of length") => "a list".into(),
        _ if expected.starts_with("enum ") || expected.starts_with("variant") => "one of the known words".into(),
        _ => expected.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_known_key() {
        let text = explain("unknown field `wieght`, expected one of `name`, `weight`, `released`");
        assert!(text.contains("did you mean `weight`?"), "{text}");
        let text = explain("unknown field `zzz`, expected `min` or `max`");
        assert_eq!(text, "unknown key `zzz`; the known keys are min, max");
        assert_eq!(explain("missing field `name`"), "the key `name` is missing");
        assert_eq!(explain("duplicate field `time`"), "the key `time` occurs twice; remove one of the two");
    }

    #[test]
    fn types_have_the_names_that_they_have_in_files() {
        for (serde, words) in [
            ("invalid type: integer `3`, expected struct Fields", "found the number 3; expected a table"),
            ("invalid type: floating point `1.5`, expected i32", "found the number 1.5; expected a whole number"),
            ("invalid type: string \"x\", expected u64", "found the text \"x\"; expected a whole number"),
            ("invalid type: boolean `true`, expected a string", "found `true`; expected a text"),
            ("invalid type: map, expected a list of jobs", "found a table; expected a list of jobs"),
            ("invalid type: null, expected a sequence", "found nothing; expected a list"),
            ("invalid length 0, expected struct Document with 4 elements", "found a list; expected a table"),
        ] {
            assert_eq!(explain(serde), words);
        }
    }
}
