//! Makefiles with the real `make`, and graphs in DOT with commands for their nodes.

use crate::cli::sandbox::Sandbox;

const MAKEFILE: &str = "\
NAME = it's $(shell echo here)
.PHONY: all check FORCE
all: prog check
\t@echo all $^ >> log
prog: a.o b.o | out
\tcat a.o b.o > $@
\t@echo \"$(NAME)\" > out/name; echo prog $? >> log
%.o: %.c defs
\tcp $< $@; echo $@ >> log
out:
\tmkdir out
x.1 x.2: y
%.1 %.2: %.in
\tcp $< $*.1; cp $< $*.2; echo pair >> log
check: prog x.2 sub stamp
\t-false
\techo check >> log
sub:
\t+$(MAKE) -f sub.mk
stamp: FORCE
\techo stamp >> log; touch stamp
FORCE:
";

/// Returns true if this machine can run makefiles.
pub fn has_make() -> bool {
    let make = std::process::Command::new("make").arg("--version").output();
    let found = make.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("GNU Make 4"));
    if !found {
        eprintln!("SKIPPED: there is no GNU make 4 on this machine");
    }
    found
}

fn with_makefile() -> Option<Sandbox> {
    if !has_make() {
        return None;
    }
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", MAKEFILE);
    sandbox.write("sub.mk", "all: inner\ninner:\n\techo inner >> log; touch inner\n");
    for name in ["a.c", "b.c", "defs", "x.in", "y"] {
        sandbox.write(name, name);
    }
    Some(sandbox)
}

#[track_caller]
fn before(log: &[&str], first: &str, second: &str) {
    let at =
        |entry: &str| log.iter().position(|line| line.starts_with(entry)).unwrap_or_else(|| panic!("{entry}: {log:?}"));
    assert!(at(first) < at(second), "{first} before {second}: {log:?}");
}

#[test]
fn a_makefile_is_run_target_by_target() {
    let Some(sandbox) = with_makefile() else { return };
    let said = sandbox.makespan("run Makefile --processors 3 --oversubscribe --verbose").succeeds();
    for target in ["a.o", "b.o", "out", "prog", "x.", "check", "sub", "stamp", "all"] {
        assert!(said.contains(&format!("\n{target}")), "{target}: {said}");
    }
    let log = sandbox.read("log");
    let log: Vec<&str> = log.lines().collect();
    assert_eq!(log.len(), 8, "each recipe ran once: {log:?}");
    for (first, second) in [
        ("a.o", "prog a.o b.o"),
        ("b.o", "prog"),
        ("pair", "check"),
        ("inner", "check"),
        ("stamp", "check"),
        ("check", "all prog check"),
    ] {
        before(&log, first, second);
    }
    assert_eq!(sandbox.read("out/name"), "it's here\n");
    // Make agrees that all files are up to date. After a source was touched, its target and all that depends on it are
    // built again.
    std::fs::remove_file(sandbox.path("log")).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(2);
    std::fs::File::options().append(true).open(sandbox.path("a.c")).unwrap().set_modified(later).unwrap();
    sandbox.makespan("run Makefile").succeeds();
    let log = sandbox.read("log");
    let log: Vec<&str> = log.lines().collect();
    before(&log, "a.o", "prog a.o");
    assert!(!log.contains(&"b.o") && !log.contains(&"pair"), "{log:?}");
}

#[test]
fn a_makefile_is_planned_and_converted() {
    let Some(sandbox) = with_makefile() else { return };
    sandbox.makespan("plan Makefile --processors 2 -o plan.json").succeeds();
    sandbox.makespan("convert Makefile all.toml").succeeds();
    assert!(sandbox.read("all.toml").contains("\"--newer=a.o\""));
    sandbox.makespan("simulate Makefile").refused(&["convert the file to a native file first"]);
    assert!(!sandbox.path("log").exists(), "nothing was run");
}

#[test]
fn makefiles_that_are_wrong_are_refused() {
    let Some(sandbox) = with_makefile() else { return };
    sandbox.write("bad.mk", "all:\n  no tab\n");
    sandbox.makespan("run bad.mk").refused(&["bad.mk", "make reports an error", "missing separator"]);
    sandbox.write("none.mk", "all: nowhere\n");
    sandbox.makespan("plan none.mk").refused(&["none.mk", "No rule to make target"]);
    sandbox.write("done.mk", "all: a.c\n");
    assert!(sandbox.makespan("run done.mk").succeeds().contains("there is nothing to do"));
    sandbox.makespan("plan done.mk").refused(&["done.mk", "there is nothing to do"]);
    sandbox.makespan("run missing.mk").refused(&["missing.mk", "No such file"]);
    assert!(!sandbox.path("runs").exists());
}

#[test]
fn nodes_in_dot_have_commands() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "flow.dot",
        "digraph flow { a [command=\"echo a >> log\"]; b [command=\"echo \\\"b\\\" >> log\", time=2]; c [command=\"echo c >> log\"]; a -> b -> c }\n",
    );
    let said = sandbox.makespan("run flow.dot --verbose").succeeds();
    assert!(said.contains("2 of 3 run times are guesses"), "{said}");
    assert_eq!(sandbox.read("log"), "a\nb\nc\n");
    sandbox.makespan("plan flow.dot").refused(&["flow.dot", "--processors"]);
}

#[test]
fn a_graph_of_nextflow_is_planned_with_its_trace() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "dag.dot",
        "digraph \"flow\" {\nv0 [label=\"align\"];\nv1 [shape=point];\nv0 -> v1;\nv2 [label=\"sort\"];\nv1 -> v2;\n}\n",
    );
    let row = |name: &str, time: &str| format!("{name}\tCOMPLETED\t{time}\t2\n");
    let trace = "name\tstatus\trealtime\tcpus\n".to_owned()
        + &row("align (a)", "2s")
        + &row("align (b)", "4s")
        + &row("sort (a)", "1m 1s");
    sandbox.write("trace.txt", trace);
    let plan = "plan dag.dot --nextflow-trace trace.txt --processors 4";
    let said = sandbox.makespan(&format!("{plan} --objective makespan")).succeeds();
    assert!(
        said.contains("a graph of 3 tasks") && said.contains("63.000") && said.contains("paired by their tags"),
        "{said}"
    );
    sandbox.makespan("plan trace.txt --nextflow-trace trace.txt").refused(&[
        "trace.txt",
        "this is a trace of Nextflow",
        "plan FILE.dot",
    ]);
    sandbox.makespan("plan dag.dot --nextflow-trace none.txt --processors 2").refused(&["none.txt", "No such file"]);
}
