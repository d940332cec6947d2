//! Checks that the files of a crate do not import each other in a cycle, either directly or through other files.
//!
//! If a file imports a re-exported name, it counts as importing the file that defines the name. `mod` lines, re-exports
//! and imports from parent modules of the file are ignored.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, iter};

use cargo_metadata::MetadataCommand;

use modules::{Read, modules, resolve};

/// For each file, the files from which it imports names, with the imported names.
type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[test]
fn no_files_of_a_crate_import_each_other() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo describes the workspace");
    let targets = metadata.packages.iter().flat_map(|package| &package.targets);
    let roots = targets.filter(|one| !one.is_test() && !one.is_bench() && !one.is_example() && !one.is_custom_build());
    let crates: Vec<Arrows> =
        roots.map(|one| arrows(one.src_path.as_str(), &|path| fs::read_to_string(path).ok())).collect();
    let (files, found): (usize, Vec<String>) =
        (crates.iter().map(BTreeMap::len).sum(), crates.iter().flat_map(circles).collect());
    assert!(files > 1000, "only {files} files were read");
    assert!(found.is_empty(), "{} circles of files:\n{}", found.len(), found.join("\n"));
}

#[test]
fn circles_are_found_and_re_exports_are_none() {
    const TREES: [(&str, &str); 7] = [
        ("a.rs: use super::b::B; struct A; | b.rs: use crate::{a::{A, C}}; struct B;", "a.rs b.rs"),
        ("a.rs: fn f() { super::b::g() } | b.rs: use super::a; fn g() { a::f() }", "a.rs b.rs"),
        ("a.rs: use super::b::B; // crate::b::B | b.rs: struct B; const T: &str = \"}crate::a::f()\";", ""),
        ("a.rs: use super::b::B; | b.rs: struct B; #[cfg(test)] mod tests { use crate::a::A; }", ""),
        ("a.rs: use super::b::B; | b.rs: struct B; #[cfg(test)] mod tests; use crate::a::A;", "a.rs b.rs"),
        ("b.rs: use crate::a::X; | a/x.rs: use super::Y; struct X; | a/y.rs: struct Y;", ""),
        ("b.rs: | a/x.rs: use super::Y; struct X; | a/y.rs: use crate::a::X; struct Y;", "a/x.rs a/y.rs"),
    ];
    const ROOM: &str = "mod x; mod y; pub use x::X; pub(crate) use y::Y;";
    for (tree, expected) in TREES {
        let named = tree.split(" | ").filter_map(|file| file.split_once(':'));
        let files: BTreeMap<&str, &str> =
            [("lib.rs", "mod a; mod b;"), ("a/mod.rs", ROOM)].into_iter().chain(named).collect();
        let found = circles(&arrows("lib.rs", &|path| Some(files.get(path)?.to_string())));
        let found: Vec<&str> = found.iter().filter_map(|circle| circle.lines().next()).collect();
        assert_eq!(found.join(";"), expected, "{tree}");
    }
}

/// Returns a text for each import cycle. Its first line lists all files of the cycle, and each further line describes
/// an import.
fn circles(arrows: &Arrows) -> Vec<String> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (from.as_str(), reached(from, arrows))).collect();
    let of = |from: &str| reached[from].iter().copied().filter(|to| reached[to].contains(from)).collect();
    let groups: BTreeSet<Vec<&str>> =
        arrows.keys().map(|from| of(from)).filter(|group: &Vec<&str>| !group.is_empty()).collect();
    let described = |group: &Vec<&str>| {
        let arrows = group.iter().flat_map(|from| arrows[*from].iter().map(move |(to, names)| (from, to, names)));
        let inside = arrows.filter(|(_, to, _)| group.contains(&to.as_str()));
        inside.fold(group.join(" "), |text, (from, to, names)| format!("{text}\n  {from} -> {to}: {names:?}"))
    };
    groups.iter().map(described).collect()
}

/// Returns the files that `from` imports, either directly or through other files.
fn reached<'a>(from: &'a str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        open.extend(arrows[file].keys().map(String::as_str).filter(|&to| reached.insert(to)));
    }
    reached
}

/// Returns all imports between the files of the crate with the root file `root`.
fn arrows(root: &str, read: Read) -> Arrows {
    let modules = modules(root, read);
    let mut arrows: Arrows = modules.iter().map(|module| (module.file.clone(), BTreeMap::new())).collect();
    for (at, module) in modules.iter().enumerate() {
        let above: Vec<usize> = iter::successors(Some(at), |&at| (at > 0).then(|| modules[at].parent)).collect();
        for (to, name) in module.paths.iter().filter_map(|path| resolve(&modules, at, path, 0)) {
            if let (Some(name), false) = (name, above.contains(&to)) {
                let names = arrows.entry(module.file.clone()).or_default().entry(modules[to].file.clone()).or_default();
                names.insert(name);
            }
        }
    }
    arrows
}
