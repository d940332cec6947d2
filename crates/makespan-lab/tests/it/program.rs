//! Tests of the program itself: help, version, manual pages and text style.

use std::fs;

use crate::sandbox::Sandbox;

const CAMPAIGNS: [&str; 11] = [
    "demt",
    "optimiser",
    "hierarchical",
    "trees",
    "mapping",
    "parallel-graphs",
    "rcpsp",
    "ptfs",
    "critical-jobs",
    "domains",
    "strategies",
];

#[test]
fn help_lists_the_campaigns_and_nothing_else() {
    let sandbox = Sandbox::new();
    let whole = sandbox.lab("--help").succeeds();
    for name in CAMPAIGNS {
        assert!(whole.contains(&format!("\n  {name} ")), "{name} is missing in\n{whole}");
        let help = sandbox.lab(&format!("{name} --help")).succeeds();
        assert!(help.contains(&format!("Usage: makespan-lab {name} ")), "{help}");
        assert!(help.contains(&format!("[default: reproduce-{name}]")), "{help}");
    }
    assert!(whole.contains("\n  bounds "), "{whole}");
    for hidden in ["shard", "agent", "setup"] {
        assert!(!whole.contains(&format!("\n  {hidden} ")), "{whole}");
        assert!(sandbox.lab(&format!("{hidden} --help")).succeeds().contains("Usage: makespan-lab "));
    }
    assert!(sandbox.lab("--version").succeeds().starts_with("makespan-lab "));
    sandbox.lab("").misused(&["Usage: makespan-lab [OPTIONS] <COMMAND>", "demt"]);
    sandbox.lab("frobnicate").misused(&["unrecognized subcommand 'frobnicate'"]);
    sandbox.lab("demt --runs 1.5").misused(&["1.5", "write a whole number"]);
}

#[test]
fn manual_pages_and_completions_are_those_of_this_program() {
    let sandbox = Sandbox::new();
    let said = sandbox.lab("setup --prefix p").succeeds();
    assert!(said.contains("`man makespan-lab`"), "{said}");
    for (file, content) in [
        ("man/man1/makespan-lab.1", "makespan\\-lab\\-demt(1)"),
        ("man/man1/makespan-lab-demt.1", "families"),
        ("bash-completion/completions/makespan-lab", "complete"),
        ("fish/vendor_completions.d/makespan-lab.fish", "complete"),
        ("zsh/site-functions/_makespan-lab", "#compdef makespan-lab"),
    ] {
        let text = sandbox.read(&format!("p/share/{file}"));
        assert!(text.contains(content), "{file} has no {content:?}:\n{text}");
    }
    assert_eq!(fs::read_dir(sandbox.path("p/share/man/man1")).unwrap().count(), 2 + CAMPAIGNS.len());
    sandbox.lab("setup --prefix p --remove").succeeds();
    assert_eq!(fs::read_dir(sandbox.path("p/share/man/man1")).unwrap().count(), 0);
}

#[test]
fn texts_fit_a_terminal() {
    let sandbox = Sandbox::new();
    for line in [
        "demt --runs 1 --output results",
        "optimiser --runs 1 --families weak --jobs 3 --limits steps=5 --output optimiser",
    ] {
        let text = sandbox.lab(line).succeeds();
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "too wide: {line}");
            assert_eq!(line, line.trim_end(), "spaces at the end");
            assert!(!line.contains('\x1b'), "an escape sequence in {line:?}");
        }
        assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{line}: empty lines in\n{text}");
    }
}
