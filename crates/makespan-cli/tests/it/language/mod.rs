//! Checks the language of comments, messages and documents against the rules of CONTRIBUTING.md.
//!
//! A group of files is a crate, the documents or the scripts. `counts.toml` states the number of violations for each group and rule. A
//! number may only fall.
//! `exceptions.toml` lists exceptions with reasons.

mod counts;
pub mod passages;
mod rules;
mod titles;

use std::path::{Path, PathBuf};
use std::process::Command;

use counts::{Counts, Exceptions};
use passages::{Language, passages};
use rules::{Rule, findings};

/// A sentence that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// The group of the file, such as `makespan-core` or `docs`.
    group: String,
    /// Path from the root of the project.
    file: String,
    /// Line number of the comment, message or paragraph, counted from 1.
    line: usize,
    rule: Rule,
    /// The sentence.
    text: String,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the tracked and new files of the project. Without git, returns all files outside build folders.
fn files() -> Vec<String> {
    let git = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    if let Some(output) = git.ok().filter(|output| output.status.success() && !output.stdout.is_empty()) {
        return String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    }
    let mut files = Vec::new();
    let mut open = vec![root()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() {
                if !["target", ".git", "node_modules"].contains(&name.as_str()) {
                    open.push(entry);
                }
            } else {
                files.push(entry.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    files
}

/// Returns the group of a file: the name of its crate, `decisions`, another top-level folder, or `root`.
fn group(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    match parts[..] {
        ["crates", name, ..] => name.to_owned(),
        ["docs", "decisions", ..] => "decisions".to_owned(),
        [folder, _, ..] => folder.to_owned(),
        _ => "root".to_owned(),
    }
}

fn all_findings() -> Vec<Finding> {
    let mut all = Vec::new();
    // Skip this folder and CONTRIBUTING.md, because they quote forbidden phrases.
    let quoting = |file: &str| file.contains("/tests/it/language/") || file == "CONTRIBUTING.md";
    for file in files().into_iter().filter(|file| !quoting(file)) {
        let Some(language) = Language::of(&file) else { continue };
        let Ok(text) = std::fs::read_to_string(root().join(&file)) else { continue };
        for passage in passages(language, &text) {
            let found = findings(&passage).into_iter().map(|(rule, text)| (rule, text, passage.line));
            let finding = |(rule, text, line)| Finding { group: group(&file), file: file.clone(), line, rule, text };
            all.extend(found.map(finding));
        }
    }
    all
}

#[test]
fn findings_may_only_become_fewer() {
    let folder = root().join("crates/makespan-cli/tests/it/language");
    let exceptions = Exceptions::read(&folder.join("exceptions.toml"));
    let (findings, unused) = exceptions.without(all_findings());
    assert!(unused.is_empty(), "remove these exceptions, which match no sentence: {unused:#?}");
    let path = folder.join("counts.toml");
    let now = Counts::of(&findings);
    if std::env::var("MAKESPAN_LANGUAGE").is_ok_and(|value| value == "write") {
        now.lower(&path).unwrap();
    }
    let known = Counts::read(&path);
    let worse = known.rises_to(&now);
    let examples = |group: &str, rule: Rule| -> String {
        let changed = changed_files();
        let mut found: Vec<&Finding> =
            findings.iter().filter(|finding| finding.group == group && finding.rule == rule).collect();
        found.sort_by_key(|finding| !changed.contains(&finding.file));
        found.iter().take(10).map(|f| format!("\n    {}:{}: {}", f.file, f.line, f.text)).collect()
    };
    let report: String = worse
        .iter()
        .map(|(group, rule, from, to)| {
            format!("\n{group}: {}: {from} -> {to}{}", rule.description(), examples(group, *rule))
        })
        .collect();
    assert!(worse.is_empty(), "more sentences break the rules of CONTRIBUTING.md than before:{report}");
    assert!(
        known == now,
        "fewer sentences break the rules than counts.toml states; run MAKESPAN_LANGUAGE=write cargo test -p makespan-cli --test it language"
    );
}

/// Returns the files that differ from `origin/main`, or from `HEAD~1` if `origin/main` does not exist. Includes uncommitted changes.
fn changed_files() -> Vec<String> {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let base = git(&["merge-base", "HEAD", "origin/main"]).unwrap_or_else(|| "HEAD~1".to_owned());
    git(&["diff", "--name-only", &base]).map_or_else(Vec::new, |names| names.lines().map(str::to_owned).collect())
}
