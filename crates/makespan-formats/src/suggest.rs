//! Names the known word that is nearest to an unknown one.

/// The candidate most like `word`, if any is alike enough to be meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = candidates.into_iter().map(|candidate| (strsim::jaro_winkler(word, candidate), candidate));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))?;
    (best.0 >= 0.7).then_some(best.1)
}

/// Turns serde's "unknown field `x`, expected one of `a`, `b`" into a sentence that names the nearest key.
pub(crate) fn explain(message: &str) -> String {
    for (kind, word) in [("unknown field `", "key"), ("unknown variant `", "word")] {
        let Some((unknown, expected)) = message.strip_prefix(kind).and_then(|rest| rest.split_once("`, ")) else {
            continue;
        };
        // Every other piece between backticks is a known word.
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let list = known.join(", ");
        return match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("unknown {word} `{unknown}`; did you mean `{near}`? (known: {list})"),
            None => format!("unknown {word} `{unknown}`; known are {list}"),
        };
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        return format!("the key `{} is missing", rest.replace("`, ", "` "));
    }
    if message.starts_with("EOF") {
        return format!("the text ends too early ({message})");
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_known_key() {
        let text = explain("unknown field `wieght`, expected one of `name`, `weight`, `released`");
        assert!(text.contains("did you mean `weight`?"), "{text}");
        let text = explain("unknown field `zzz`, expected `min` or `max`");
        assert_eq!(text, "unknown key `zzz`; known are min, max");
        assert_eq!(explain("missing field `name`"), "the key `name` is missing");
    }
}
