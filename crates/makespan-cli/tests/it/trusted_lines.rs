//! docs/bounds.md states about how many lines of code a user trusts. Checks these figures against `scripts/trusted-lines`.

use std::collections::BTreeMap;
use std::process::Command;

use crate::language::root;

/// Returns the figures of each kind of code that a text lists, with its kind in front. `separator` separates columns.
fn rows(text: &str, separator: &str) -> BTreeMap<String, Vec<f64>> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(separator).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let (kind, figures) = cells.split_first()?;
        let figures: Option<Vec<f64>> = figures.iter().map(|cell| cell.parse().ok()).collect();
        Some(((*kind).to_owned(), figures.filter(|figures| figures.len() == 2)?))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn documents_state_the_numbers_of_lines_that_users_trust() {
    let output = Command::new("scripts/trusted-lines").current_dir(root()).output().expect("the script starts");
    assert!(output.status.success(), "{output:?}");
    let counted = rows(&String::from_utf8(output.stdout).expect("the table is text"), "  ");
    let page = std::fs::read_to_string(root().join("docs/bounds.md")).expect("docs/bounds.md is text");
    let section = page.split_once("## The code that you trust").expect("the section is there").1;
    let stated = rows(section.split("\n## ").next().unwrap_or_default(), "|");
    assert!(counted.len() > 5, "{counted:?}");
    assert_eq!(stated.keys().collect::<Vec<_>>(), counted.keys().collect::<Vec<_>>());
    for (kind, counted) in &counted {
        for (stated, counted) in stated[kind].iter().zip(counted) {
            let is_close = (stated - counted).abs() <= 0.1 * counted;
            assert!(
                is_close,
                "docs/bounds.md states {stated} lines for `{kind}`, but scripts/trusted-lines counts {counted}"
            );
        }
    }
}
