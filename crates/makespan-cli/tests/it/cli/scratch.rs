//! Workflows with tasks that run in their own folders with their files.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::sandbox::Sandbox;
use crate::cli::workflow::{Task, workflow};

/// Returns the number of entries in a folder.
fn below(sandbox: &Sandbox, folder: &str) -> usize {
    fs::read_dir(sandbox.path(folder)).map_or(0, Iterator::count)
}

#[test]
fn a_graph_carries_its_files_from_folder_to_folder() {
    let sandbox = Sandbox::new();
    let tasks: [Task<'_>; 3] = [
        (
            "split",
            "pwd; cat in/a; mkdir -p parts; head -1 in/a >parts/1; tail -1 in/a >parts/2; touch stray",
            &["in/a"],
            &["parts/1", "parts/2"],
        ),
        (
            "join",
            "ls; test \"$PWD\" = \"$MAKESPAN_SCRATCH\"; cat parts/2 parts/1 >out",
            &["parts/1", "parts/2"],
            &["out"],
        ),
        ("alone", "ls -A; sleep 0.2 & exit 0", &[], &[]),
    ];
    sandbox.write("w.json", workflow(&tasks));
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("in/a", "1\n2\n");
    let line = "run w.json --no-history --folder run --scratch ";
    let said = sandbox.makespan(&format!("{line}{}", sandbox.path("s/%N").display()));
    assert_eq!(said.status, Some(0), "{said:?}");
    assert_eq!(sandbox.read("out"), "2\n1\n");
    assert!(sandbox.read("run/w~split.out").contains("/s/"), "{}", sandbox.read("run/w~split.out"));
    assert_eq!(sandbox.read("run/w~join.out"), "parts\n");
    assert_eq!(sandbox.read("run/w~alone.out"), "");
    assert_eq!(sandbox.entries(), ["in", "out", "parts", "run", "s", "w.json"]);
    let node = fs::read_dir(sandbox.path("s")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(node).unwrap().count(), 0, "nothing is left on the node");
}

#[test]
fn what_is_missing_fails_with_its_name_and_is_tried_again() {
    let sandbox = Sandbox::new();
    let tasks: [Task<'_>; 4] = [
        ("liar", "echo half >b", &[], &["a", "b"]),
        ("reader", "cat nowhere", &["nowhere"], &["c"]),
        ("failing", "echo d >d; exit 3", &[], &["d"]),
        ("twice", "echo x >>HOME/tries; test $(wc -l <HOME/tries) -gt 1 && echo e >e; true", &[], &["e"]),
    ];
    let home = sandbox.path("").display().to_string();
    sandbox.write("w.json", workflow(&tasks).replace("HOME/", &home));
    let line = format!("run w.json --no-history --folder run --retry 1 --scratch {}", sandbox.path("s").display());
    let said = sandbox.makespan(&line);
    assert_eq!(said.status, Some(3), "{said:?}");
    for part in
        ["without writing the file `a`", "the input file `nowhere` of the task is not in", "returned exit status 3"]
    {
        assert!(said.err.contains(part), "`{part}` is not in {said:?}");
    }
    assert!(sandbox.read("run/w~liar.err").contains("makespan: the task ended without writing the file `a`"));
    assert_eq!(sandbox.read("e"), "e\n", "the second attempt wrote it");
    assert_eq!(sandbox.entries(), ["e", "run", "s", "tries", "w.json"], "{said:?}");
    assert_eq!(below(&sandbox, "s"), 0);
    sandbox.write("nowhere", "there");
    fs::write(
        sandbox.path("w.json"),
        workflow(&tasks).replace("HOME/", &home).replace("echo half >b", "echo a >a; echo b >b"),
    )
    .unwrap();
    let again = sandbox.makespan(&format!("{line} --resume --retry-failed"));
    assert!(again.err.contains("returned exit status 3") && !again.err.contains("is not in"), "{again:?}");
    assert_eq!(sandbox.read("a"), "a\n");
}

#[test]
fn what_cannot_be_copied_is_refused_before_anything_runs() {
    let sandbox = Sandbox::with_small();
    let scratch = sandbox.path("s").display().to_string();
    sandbox.write("list.txt", "echo a\n");
    sandbox.write("Makefile", "a:\n\techo a >a\n");
    for file in ["list.txt", "Makefile"] {
        let said = sandbox.makespan(&format!("run {file} --folder run --scratch {scratch}"));
        said.refused(&[file, "inputFiles", "remove --scratch"]);
    }
    sandbox
        .makespan(&format!("run --folder run --scratch {scratch} -- echo {{}} ::: a"))
        .refused(&["remove --scratch"]);
    sandbox.write("none.json", workflow(&[("a", "true", &[], &[])]));
    sandbox.makespan(&format!("run none.json --folder run --scratch {scratch}")).refused(&["names no files"]);
    for name in ["../up", "/etc/passwd", "a/../../b"] {
        sandbox.write("out.json", workflow(&[("a", "true", &[name], &[])]));
        let said = sandbox.makespan(&format!("run out.json --folder run --scratch {scratch}"));
        said.refused(&[name, "not in the working folder"]);
    }
    sandbox.write("w.json", workflow(&[("a", "echo >a", &[], &["a"])]));
    sandbox.makespan("run w.json --folder run --scratch tmp").refused(&["write an absolute path"]);
    sandbox.makespan("run w.json --folder run --scratch /tmp/%x").refused(&["N (node)"]);
    assert!(!sandbox.path("run").exists() && !sandbox.path("s").exists());
    let said = sandbox.makespan("run w.json --no-history --folder run --scratch /proc/none");
    assert!(said.status == Some(1) && said.err.contains("cannot make a folder in /proc/none"), "{said:?}");
}

#[test]
fn a_walltime_ends_what_is_copied_and_kills_leave_nothing() {
    let sandbox = Sandbox::new();
    let tasks: [Task<'_>; 1] = [("slow", "echo part >a; echo $PPID >HOME/shim; sleep 60; echo whole >a", &[], &["a"])];
    let home = sandbox.path("").display().to_string();
    sandbox.write("w.json", workflow(&tasks).replace("HOME/", &home));
    let scratch = sandbox.path("s").display().to_string();
    let line = format!("run w.json --no-history --folder run --scratch {scratch}");
    let said = sandbox.makespan(&format!("{line} --timeout 300ms"));
    assert!(said.status == Some(1) && said.err.contains("300") | said.err.contains("0.3"), "{said:?}");
    assert!(!sandbox.path("a").exists() && below(&sandbox, "s") == 0);
    // The shim of the task is killed, first alone and then together with the planner.
    let until = |what: &str, there: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_mins(1);
        while !there() {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let shim = || fs::read_to_string(sandbox.path("shim")).ok().and_then(|text| text.trim().parse::<i32>().ok());
    for with_planner in [false, true] {
        let _ = fs::remove_file(sandbox.path("shim"));
        let _ = fs::remove_dir_all(sandbox.path("run"));
        let mut planner = sandbox.command(&line).stdout(Stdio::null()).spawn().unwrap();
        until("the task does not run", &|| shim().is_some());
        if with_planner {
            planner.kill().unwrap();
        }
        kill(Pid::from_raw(shim().unwrap()), Signal::SIGKILL).unwrap();
        planner.wait().unwrap();
        assert!(!sandbox.path("a").exists());
        if with_planner {
            assert_eq!(below(&sandbox, "s"), 1, "no process removes it");
            sandbox.write("w.json", workflow(&[("slow", "echo whole >a", &[], &["a"])]));
            assert_eq!(sandbox.makespan(&format!("{line} --resume")).status, Some(0));
            assert_eq!(sandbox.read("a"), "whole\n");
        }
        assert_eq!(below(&sandbox, "s"), 0);
    }
}
