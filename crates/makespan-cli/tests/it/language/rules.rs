//! The rules of language, and the search for sentences that break them.

use super::passages::{Kind, Passage};

/// A rule of CONTRIBUTING.md that a program can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Beginning,
    OneWord,
    Phrase,
    Where,
    Whose,
}

/// Words with which a sentence must not begin.
const BEGINNINGS: [&str; 6] = ["What ", "Which ", "Who ", "Whose ", "Whether it ", "Of "];

/// Phrases to replace by plainer ones.
const PHRASES: [&str; 7] = ["is told", "is said", "so many", "so long", "that of", "of whom", "nobody"];

/// Conditions that use `where` instead of `if`.
const PLACES: [&str; 8] = [
    "where there is",
    "where there are",
    "where nothing",
    "where none",
    "where no",
    "where nobody",
    "where it is",
    "where they are",
];

impl Rule {
    pub const ALL: [Self; 5] = [Self::Beginning, Self::OneWord, Self::Phrase, Self::Where, Self::Whose];

    /// Returns the key of the rule in `counts.toml`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Beginning => "beginning",
            Self::OneWord => "one-word",
            Self::Phrase => "phrase",
            Self::Where => "where",
            Self::Whose => "whose",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Beginning => "a sentence begins with What, Which, Who, Whose, Whether it or Of",
            Self::OneWord => "a comment of one word",
            Self::Phrase => "is told, is said, so many, so long, that of, of whom or nobody",
            Self::Where => "`where` instead of `if`",
            Self::Whose => "`whose` instead of `with`, `if` or a noun",
        }
    }
}

/// Returns each violation in a passage: the rule and the sentence.
pub fn findings(passage: &Passage) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    let text = passage.text.trim();
    let is_word = |text: &str| !text.is_empty() && text.chars().all(char::is_alphabetic);
    if passage.kind == Kind::Comment && is_word(text.trim_end_matches('.')) && text.ends_with('.') {
        found.push((Rule::OneWord, text.to_owned()));
    }
    for sentence in sentences(text) {
        if BEGINNINGS.iter().any(|word| sentence.starts_with(word)) && !sentence.ends_with('?') {
            found.push((Rule::Beginning, sentence.to_owned()));
        }
        let lower = format!(" {} ", sentence.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
        let count = |phrases: &[&str]| -> usize {
            phrases.iter().map(|phrase| lower.matches(&format!(" {phrase} ")).count()).sum()
        };
        found.extend(std::iter::repeat_n((Rule::Phrase, sentence.to_owned()), count(&PHRASES)));
        found.extend(std::iter::repeat_n((Rule::Where, sentence.to_owned()), count(&PLACES)));
        // If a sentence begins with `Whose`, it breaks only the rule of beginnings.
        let whose = lower[1..].matches(" whose ").count();
        found.extend(std::iter::repeat_n((Rule::Whose, sentence.to_owned()), whose));
    }
    found
}

/// Splits a passage after `.`, `!`, `?` or `:` before a capital letter or a backquote.
fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(['.', '!', '?', ':']) {
        let rest = &text[at + 1..];
        let begins = rest.strip_prefix(' ').and_then(|rest| rest.chars().next());
        if begins.is_some_and(|c| c.is_uppercase() || c == '`') {
            all.push(text[start..=at].trim());
            start = at + 1;
        }
    }
    all.push(text[start..].trim());
    all
}

#[cfg(test)]
mod tests {
    use super::super::passages::{Language, passages};
    use super::*;

    fn rules(language: Language, text: &str) -> Vec<Rule> {
        passages(language, text).iter().flat_map(findings).map(|(rule, _)| rule).collect()
    }

    /// Finds violations in comments, messages and documents, and comments of one word.
    #[test]
    fn each_kind_of_sentence_is_found() {
        let cases = [
            ("What is left to do.", Rule::Beginning),
            ("Which node a place is.", Rule::Beginning),
            ("Who asked for it.", Rule::Beginning),
            ("Whose turn comes next.", Rule::Beginning),
            ("Whether it has ended.", Rule::Beginning),
            ("Of a job the name.", Rule::Beginning),
            ("So many seconds it may take.", Rule::Phrase),
            ("First this. Which was that.", Rule::Beginning),
            ("The policy is told the time.", Rule::Phrase),
            ("It is said in the log.", Rule::Phrase),
            ("It takes so many nodes.", Rule::Phrase),
            ("It waits at most so long.", Rule::Phrase),
            ("The value and that of the bound.", Rule::Phrase),
            ("The users of whom one waits.", Rule::Phrase),
            ("A time nobody knows.", Rule::Phrase),
            ("It guesses where nothing is stated.", Rule::Where),
            ("It fails where there is no room.", Rule::Where),
            ("The jobs whose run time is guessed.", Rule::Whose),
        ];
        for (text, rule) in cases {
            assert_eq!(rules(Language::Rust, &format!("let x = 1; // {text}")), [rule], "{text}");
            assert_eq!(rules(Language::Rust, &format!("/// {text}\nfn f() {{}}")), [rule], "{text}");
            assert_eq!(rules(Language::Rust, &format!("let x = \"{text}\";")), [rule], "{text}");
            assert_eq!(rules(Language::Rust, &format!("let x = r#\"{text}\"#;")), [rule], "{text}");
            assert_eq!(rules(Language::Markdown, &format!("# Title\n\n* {text}\n")), [rule], "{text}");
            assert_eq!(rules(Language::Markdown, &format!("| a | {text} |\n")), [rule], "{text}");
            assert_eq!(rules(Language::Shell, &format!("# {text}\nls\n")), [rule], "{text}");
            assert_eq!(rules(Language::Script, &format!("f(); /* {text} */ g()")), [rule], "{text}");
        }
        assert_eq!(rules(Language::Rust, "    /// When.\n    at: f64,"), [Rule::OneWord]);
        // A sentence that continues in the next line.
        assert_eq!(rules(Language::Rust, "/// A time that is\n/// told."), [Rule::Phrase]);
        assert_eq!(rules(Language::Rust, "let x = \"a time that is \\\n    told\";"), [Rule::Phrase]);
    }

    #[test]
    fn code_and_plain_sentences_pass() {
        for text in [
            "/// Returns the time at which the job ends.\nfn what() {}",
            "let is_told = nobody(so_many);",
            "/// ```\n/// // What is left.\n/// ```\nfn f() {}",
            "let key = \"nobody\";",
            "/// Calls `is told`.\nfn f() {}",
            "let quote = '\"'; let what = 1;",
        ] {
            assert_eq!(rules(Language::Rust, text), [], "{text}");
        }
        assert_eq!(rules(Language::Markdown, "Text.\n\n```\nWhat is told\n```\n\n    Which code\n"), []);
        assert_eq!(rules(Language::Markdown, "How good is a plan? [Which one](Of-it.md)"), [Rule::Beginning]);
        assert_eq!(rules(Language::Shell, "What() { so many; }"), []);
    }
}
