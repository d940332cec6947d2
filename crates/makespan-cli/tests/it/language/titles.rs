//! Checks the titles of commits: `area: imperative`, at most 72 characters.

use std::process::Command;

/// The last commit before this rule was introduced.
const BASE: &str = "134f65d3";

/// Maximum number of characters in a title.
const MAX_TITLE: usize = 72;

/// Returns the reason why a title is refused, or `None` if it is valid.
fn wrong(title: &str) -> Option<&'static str> {
    if title.starts_with("Merge") || title.starts_with("Revert ") {
        return None;
    }
    let area = title.split_once(": ").map(|(area, _)| area);
    if title.chars().count() > MAX_TITLE {
        Some("more than 72 characters")
    } else if !area
        .is_some_and(|area| !area.is_empty() && !area.contains(char::is_uppercase) && area.split(' ').count() < 3)
    {
        Some("no area before a colon")
    } else {
        None
    }
}

#[test]
fn titles_of_commits_are_short_and_name_an_area() {
    let range = format!("{BASE}..HEAD");
    let git = Command::new("git").args(["log", "--format=%s", &range]).current_dir(super::root()).output();
    let Some(output) = git.ok().filter(|output| output.status.success()) else {
        println!("SKIPPED: titles of commits: no git, or a clone without commit {BASE}");
        return;
    };
    let titles = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong: Vec<String> =
        titles.lines().filter_map(|title| wrong(title).map(|why| format!("{why}: {title}"))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn long_titles_and_titles_without_an_area_are_refused() {
    assert_eq!(wrong("queue: reserve nodes for array tasks"), None);
    assert_eq!(wrong("Merge: two branches"), None);
    assert_eq!(wrong(&format!("queue: {}", "x".repeat(65))), None);
    assert_eq!(wrong(&format!("queue: {}", "x".repeat(66))), Some("more than 72 characters"));
    assert_eq!(wrong("A count of nodes is what it is"), Some("no area before a colon"));
}
