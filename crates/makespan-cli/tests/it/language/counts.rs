//! Counts of violations, which may only fall, and exceptions to the rules.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use toml::Table;

use super::Finding;
use super::rules::Rule;

/// The number of violations for each group and rule. Numbers of zero are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<(String, Rule), usize>);

impl Counts {
    pub fn of(findings: &[Finding]) -> Self {
        let mut counts = BTreeMap::new();
        for finding in findings {
            *counts.entry((finding.group.clone(), finding.rule)).or_insert(0) += 1;
        }
        Self(counts)
    }

    pub fn read(path: &Path) -> Self {
        let table: Table = fs::read_to_string(path).unwrap_or_default().parse().expect("counts.toml is TOML");
        let mut counts = BTreeMap::new();
        for (group, rules) in table {
            for rule in Rule::ALL {
                if let Some(count) = rules.get(rule.key()) {
                    counts.insert((group.clone(), rule), count.as_integer().expect("a count is a number") as usize);
                }
            }
        }
        Self(counts)
    }

    /// Returns each group and rule with a number that is larger in `now`, and the old and the new number.
    pub fn rises_to(&self, now: &Self) -> Vec<(String, Rule, usize, usize)> {
        let rise = |((group, rule), &to): (&(String, Rule), &usize)| {
            let from = self.0.get(&(group.clone(), *rule)).copied().unwrap_or(0);
            (to > from).then(|| (group.clone(), *rule, from, to))
        };
        now.0.iter().filter_map(rise).collect()
    }

    /// Replaces the numbers in the file. Returns an error if a number is larger than before.
    pub fn lower(&self, path: &Path) -> io::Result<()> {
        if path.exists() && !Self::read(path).rises_to(self).is_empty() {
            return Err(io::Error::other("a number has risen; numbers may only fall"));
        }
        let mut text = "# Findings by group and rule. A number may only fall:\n\
                        # MAKESPAN_LANGUAGE=write cargo test -p makespan-cli --test it language\n"
            .to_owned();
        let mut last = "";
        for ((group, rule), count) in &self.0 {
            if group != last {
                text += &format!("\n[{group}]\n");
                last = group;
            }
            text += &format!("{} = {count}\n", rule.key());
        }
        fs::write(path, text)
    }
}

/// Sentences that are allowed to break a rule.
pub struct Exceptions(Vec<Exception>);

#[derive(Clone, Debug)]
pub struct Exception {
    file: String,
    rule: String,
    /// A part of the sentence. The file also states a reason.
    text: String,
}

impl Exceptions {
    pub fn read(path: &Path) -> Self {
        let table: Table = fs::read_to_string(path).unwrap().parse().expect("exceptions.toml is TOML");
        let entries = table.get("exception").and_then(|list| list.as_array()).cloned().unwrap_or_default();
        let entry = |entry: &toml::Value| {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(|value| value.as_str())
                    .unwrap_or_else(|| panic!("{entry}: `{key}` is missing"))
                    .to_owned()
            };
            assert!(text("reason").split(' ').count() > 2, "{entry}: the reason is too short");
            Exception { file: text("file"), rule: text("rule"), text: text("text") }
        };
        Self(entries.iter().map(entry).collect())
    }

    /// Returns the findings that match no exception, and the exceptions that match no finding.
    pub fn without(self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Exception>) {
        let allows = |exception: &Exception, finding: &Finding| {
            exception.file == finding.file
                && exception.rule == finding.rule.key()
                && finding.text.contains(&exception.text)
        };
        let unused = self.0.iter().filter(|exception| !findings.iter().any(|finding| allows(exception, finding)));
        let unused = unused.cloned().collect();
        let left = findings.into_iter().filter(|finding| !self.0.iter().any(|exception| allows(exception, finding)));
        (left.collect(), unused)
    }
}

#[test]
fn a_number_that_rises_or_falls_is_reported() {
    let finding =
        |rule| Finding { group: "docs".into(), file: "docs/a.md".into(), line: 1, rule, text: "What is so.".into() };
    let one = Counts::of(&[finding(Rule::Beginning)]);
    let two = Counts::of(&[finding(Rule::Beginning), finding(Rule::Beginning), finding(Rule::Where)]);
    let risen = [("docs".to_owned(), Rule::Beginning, 1, 2), ("docs".to_owned(), Rule::Where, 0, 1)];
    assert_eq!(one.rises_to(&two), risen);
    assert_eq!(two.rises_to(&one), []);
    assert_ne!(one, two);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.toml");
    two.lower(&path).unwrap();
    assert_eq!(Counts::read(&path), two);
    one.lower(&path).unwrap();
    assert_eq!(Counts::read(&path), one);
    assert!(two.lower(&path).is_err());
}

#[test]
fn exceptions_hide_findings_and_unused_ones_are_reported() {
    let finding =
        Finding { group: "docs".into(), file: "a".into(), line: 1, rule: Rule::Phrase, text: "so long".into() };
    let exception = |text: &str| Exception { file: "a".into(), rule: "phrase".into(), text: text.into() };
    let (left, unused) = Exceptions(vec![exception("so"), exception("other")]).without(vec![finding]);
    assert_eq!((left.len(), unused.len()), (0, 1));
}
