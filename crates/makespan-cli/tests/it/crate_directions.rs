//! Checks the dependencies between the crates against the directions in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand, NodeDep, PackageId, Target};

/// The crates of the workspace on which each crate may depend.
const ALLOWED: [(&str, &[&str]); 17] = [
    ("makespan-core", &[]),
    ("makespan-verify", &["makespan-core"]),
    ("makespan-bounds", &["makespan-core", "makespan-verify"]),
    ("makespan-algos", &["makespan-core", "makespan-verify", "makespan-bounds"]),
    ("makespan-exec", &["makespan-core"]),
    ("makespan-history", &["makespan-core"]),
    ("makespan-sim", &["makespan-core"]),
    ("makespan-slurm", &["makespan-core", "makespan-algos", "makespan-exec"]),
    ("makespan-formats", &["makespan-core", "makespan-verify"]),
    (
        "makespan",
        &["makespan-core", "makespan-verify", "makespan-bounds", "makespan-algos", "makespan-formats", "makespan-sim"],
    ),
    ("makespan-generate", &["makespan-core", "makespan-algos"]),
    (
        "makespan-lab",
        &[
            "makespan-core",
            "makespan-verify",
            "makespan-bounds",
            "makespan-algos",
            "makespan-formats",
            "makespan-generate",
            "makespan-sim",
            "makespan",
            "makespan-cli",
        ],
    ),
    (
        "makespan-service",
        &["makespan-core", "makespan-exec", "makespan-history", "makespan-slurm", "makespan-formats", "makespan"],
    ),
    (
        "makespan-cli",
        &[
            "makespan-core",
            "makespan-verify",
            "makespan-exec",
            "makespan-history",
            "makespan-sim",
            "makespan-slurm",
            "makespan-formats",
            "makespan-generate",
            "makespan",
            "makespan-service",
        ],
    ),
    ("makespan-example", &[]),
    ("makespan-fuzz", &["makespan-core", "makespan-verify", "makespan-formats", "makespan-slurm"]),
    ("makespan-py", &["makespan-core", "makespan-exec", "makespan-generate", "makespan"]),
];

/// Packages on which the core must not depend: input and output, solvers, threads, randomness.
const NOT_IN_CORE: [&str; 8] = ["clarabel", "rand", "rayon", "tokio", "serde_json", "toml", "nix", "csv"];

/// The packages that the checker is built from, apart from packages that only generate code while it is built: integers,
/// JSON with the place of each error, SHA-256, and small libraries for hash tables, short lists, error types and suggestions.
const OF_CHECKER: [&str; 28] = [
    "block-buffer",
    "cfg-if",
    "const-oid",
    "cpufeatures",
    "crypto-common",
    "dashu-base",
    "dashu-int",
    "dashu-ratio",
    "digest",
    "hybrid-array",
    "itoa",
    // The package `cpufeatures` needs this package on processors of Arm.
    "libc",
    "makespan-core",
    "makespan-verify",
    "memchr",
    "num-modular",
    "rustc-hash",
    "serde",
    "serde_core",
    "serde_json",
    "serde_path_to_error",
    "sha2",
    "smallvec",
    "static_assertions",
    "strsim",
    "thiserror",
    "typenum",
    "zmij",
];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo describes the workspace");
    let normal = |package: &cargo_metadata::Package| {
        let wanted = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        wanted.map(|dependency| dependency.name.clone()).collect()
    };
    metadata.packages.iter().map(|package| (package.name.to_string(), normal(package))).collect()
}

#[test]
fn crates_depend_only_in_the_allowed_directions() {
    let dependencies = dependencies();
    let known: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let ours: BTreeSet<&str> = dependencies.keys().map(String::as_str).collect();
    assert_eq!(ours, known.keys().copied().collect(), "a crate is missing in this test, or gone");
    for (name, wanted) in &dependencies {
        for dependency in wanted.iter().filter(|dependency| ours.contains(dependency.as_str())) {
            assert!(known[name.as_str()].contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn the_core_does_no_input_or_output_and_calls_no_solver() {
    let core = &dependencies()["makespan-core"];
    for unwanted in NOT_IN_CORE {
        assert!(!core.contains(unwanted), "makespan-core must not depend on {unwanted}");
    }
}

#[test]
fn the_checker_is_built_from_integers_and_json() {
    let metadata =
        MetadataCommand::new().other_options(["--locked".into()]).exec().expect("cargo describes the workspace");
    let nodes = metadata.resolve.expect("the dependencies are resolved").nodes;
    let package =
        |id: &PackageId| metadata.packages.iter().find(|package| package.id == *id).expect("the package is listed");
    let first = nodes.iter().map(|node| &node.id).find(|id| package(id).name.as_str() == "makespan-verify");
    let (mut open, mut found) = (vec![first.expect("it is in the workspace")], BTreeSet::new());
    while let Some(id) = open.pop() {
        let is_macro = package(id).targets.iter().any(Target::is_proc_macro);
        if is_macro || !found.insert(package(id).name.as_str()) {
            continue;
        }
        let node = nodes.iter().find(|node| node.id == *id).expect("the package is resolved");
        let is_used =
            |dependency: &&NodeDep| dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
        open.extend(node.deps.iter().filter(is_used).map(|dependency| &dependency.pkg));
    }
    assert_eq!(found, BTreeSet::from(OF_CHECKER));
}

#[test]
fn only_the_bounds_call_a_solver() {
    let users: Vec<String> =
        dependencies().into_iter().filter(|(_, wanted)| wanted.contains("clarabel")).map(|(name, _)| name).collect();
    assert_eq!(users, ["makespan-bounds"]);
}
