//! Tests that the stub of the compiled module contains all names of the module.

use std::collections::BTreeSet;

const MODULE: &str = include_str!("../src/lib.rs");
const STUB: &str = include_str!("../python/makespan/_native.pyi");

/// Returns the names between `use super::file::` and `;`, with or without braces.
fn exported() -> BTreeSet<String> {
    let uses = MODULE.split("use super::").skip(1).filter_map(|rest| rest.split(';').next());
    let names = uses.filter_map(|path| path.split_once("::")).map(|(_, names)| names);
    let each = names.flat_map(|names| names.trim_matches(['{', '}']).split(','));
    // An attribute of the class `Proven` states its name in Python, `Bound`.
    let named = |name: &str| if name == "Proven" { "Bound".to_owned() } else { name.to_owned() };
    each.map(str::trim).filter(|name| !name.is_empty()).map(named).collect()
}

#[test]
fn the_stub_has_every_class_and_function() {
    let exported = exported();
    assert!(exported.len() > 20, "{exported:?}");
    let stated: BTreeSet<String> = STUB
        .lines()
        .filter_map(|line| line.strip_prefix("class ").or_else(|| line.strip_prefix("def ")))
        .filter_map(|rest| rest.split(['(', ':']).next())
        .map(str::to_owned)
        .collect();
    let missing: Vec<&String> = exported.difference(&stated).collect();
    assert!(missing.is_empty(), "_native.pyi lacks {missing:?}");
}
