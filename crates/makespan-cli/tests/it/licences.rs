//! Checks all packages against `deny.toml` in the root folder of the project: the licences, the sources, and the list
//! of banned packages.

use std::collections::BTreeSet;

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::language::root;

/// Returns two lists of `deny.toml`: the licences in `[licenses] allow`, and the package names in `[bans] deny`.
fn rules() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let rules: toml::Table = toml::from_str(&text).unwrap();
    let words = |one: &toml::Value| one.as_str().unwrap().to_owned();
    let allowed = rules["licenses"]["allow"].as_array().unwrap().iter().map(words).collect();
    let denied = rules["bans"]["deny"].as_array().unwrap().iter().map(|one| words(&one["name"])).collect();
    (allowed, denied)
}

/// Returns true if the licences in `allowed` satisfy an SPDX licence expression. Old packages write `/` for OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = expression.split_whitespace().collect();
    let (value, rest) = alternatives(&words, allowed);
    assert!(rest.is_empty(), "{expression} is no expression of SPDX");
    value
}

fn alternatives<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = all(words, allowed);
    while let ["OR", behind @ ..] = rest {
        let (next, behind) = all(behind, allowed);
        (value, rest) = (value || next, behind);
    }
    (value, rest)
}

fn all<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = one(words, allowed);
    while let ["AND", behind @ ..] = rest {
        let (next, behind) = one(behind, allowed);
        (value, rest) = (value && next, behind);
    }
    (value, rest)
}

fn one<'a>(words: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inner @ ..] => match alternatives(inner, allowed) {
            (value, [")", rest @ ..]) => (value, rest),
            (_, rest) => panic!("a parenthesis is open before {rest:?}"),
        },
        [licence, "WITH", exception, rest @ ..] => (allowed.contains(&format!("{licence} WITH {exception}")), rest),
        [licence, rest @ ..] => (allowed.contains(*licence), rest),
        [] => panic!("a licence is missing"),
    }
}

fn packages() -> Vec<Package> {
    let metadata: Metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".into()])
        .exec()
        .unwrap();
    metadata.packages
}

#[test]
fn every_package_may_be_used() {
    let (allowed, denied) = rules();
    for package in packages() {
        let licence = package.license.as_deref().unwrap_or("none stated");
        assert!(is_allowed(licence, &allowed), "{} {}: {licence}", package.name, package.version);
        assert!(!denied.contains(package.name.as_str()), "{} is banned in deny.toml", package.name);
        let source = package.source.as_ref().map_or("", |source| source.repr.as_str());
        assert!(source.is_empty() || source.contains("crates.io"), "{}: {source}", package.name);
    }
}

#[test]
fn licences_are_expressions() {
    let allowed: BTreeSet<String> = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("MIT OR GPL-3.0 AND LGPL-2.1", true),
        ("(MIT OR GPL-3.0) AND LGPL-2.1", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
