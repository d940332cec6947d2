//! Tests of the shell that runs the commands of a list, and of plans of commands with arguments.

use crate::cli::sandbox::Sandbox;

/// A line that prints `sh` or `bash`.
const WHICH: &str = "echo ${BASH_VERSION:+bash} | grep . || echo sh";

#[test]
fn a_list_or_an_option_states_the_shell() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.txt", format!("{WHICH}\n"));
    sandbox.write("bash.txt", format!("#!/bin/bash\n{WHICH}\n[[ a = a ]] && echo yes\n"));
    sandbox.write("env.list", format!("#!/usr/bin/env bash\n{WHICH}\n"));
    sandbox.write("strict.txt", "#!/bin/sh -e\nfalse; echo not reached\n");
    for (line, status, out) in [
        ("run plain.txt --shell bash", 0, "bash\n"),
        ("run plain.txt --shell /bin/bash", 0, "bash\n"),
        ("run bash.txt --keep-order", 0, "bash\nyes\n"),
        ("run bash.txt --keep-order --strict", 0, "bash\nyes\n"),
        ("run env.list", 0, "bash\n"),
        ("run strict.txt", 1, ""),
        ("run --shell bash -- '[[ {} = a ]] && echo {1..3}' ::: a", 0, "1 2 3\n"),
    ] {
        let said = sandbox.makespan(line);
        assert_eq!((said.status, said.out.as_str()), (Some(status), out), "{line}: {said:?}");
        assert!(!said.err.contains("of bash"), "{line}: {said:?}");
    }
    sandbox.write("script.sh", "#!/bin/bash\necho a\n");
    sandbox.write("python.txt", "#!/usr/bin/python3\nprint(1)\n");
    sandbox.write("i.toml", "version = 2\n[platform]\nprocessors = 1\n[[jobs]]\nname = \"a\"\nprocessors = 1\ntime = 1\ncommand = \"true\"\n");
    sandbox.write("sh.txt", "#!/bin/sh\n[[ a = a ]]\n");
    let said = sandbox.makespan("run sh.txt");
    assert!(said.err.contains("line 2: `[[` is a feature of bash"), "{said:?}");
    for shell in ["sh", "dash", "/bin/sh"] {
        let said = sandbox.makespan(&format!("run --shell {shell} sh.txt"));
        assert!(said.err.contains("line 2: `[[` is a feature of bash"), "{said:?}");
        let said = sandbox.makespan(&format!("run --shell {shell} '[[ {{}} ]]' ::: a"));
        assert!(said.err.contains("`[[` is a feature of bash"), "{said:?}");
    }
    sandbox.write("noending", "#!/bin/bash\n[[ a = a ]] && echo yes\n");
    let mut command = sandbox.command("run -");
    let ended = command.stdin(std::fs::File::open(sandbox.path("noending")).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "yes\n");
    sandbox.makespan("run noending").refused(&["a script", "write: makespan run --format list FILE"]);
    sandbox.makespan("run script.sh").refused(&["a script", "write: makespan run --format list FILE"]);
    sandbox.makespan("run python.txt").refused(&["a script"]);
    sandbox.makespan("run plain.txt --shell perl").refused(&["--shell perl", "bash"]);
    sandbox.makespan("run plain.txt --shell /nowhere/bash").refused(&["--shell /nowhere/bash", "cannot start"]);
    sandbox.makespan("run i.toml --shell bash").refused(&["--shell is only for lists"]);
    assert_eq!(sandbox.makespan("run script.sh --format list").out, "a\n");
}

#[test]
fn several_words_start_their_program_without_a_shell() {
    let sandbox = Sandbox::new();
    // The builtin echo of some shells replaces `\\t`; the program echo does not.
    for argument in [r"a\tb", "$HOME", "a b", "*", "a'b", "#a", ";", "a\\\nb"] {
        let run = |words: &[&str]| {
            let words: Vec<&str> = [&["run"], words, &[":::", argument]].concat();
            sandbox.with_arguments(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let said = run(&["printf", "%s|", "{}", "x {}"]);
        assert_eq!(said.out, format!("{argument}|x {argument}|"), "{said:?}");
        let said = run(&["echo", "{}"]);
        assert_eq!(said.out, format!("{argument}\n"), "{said:?}");
    }
    let said = sandbox.makespan("run no-such-program {} ::: a");
    assert!(said.status == Some(1) && said.err.contains("no program of this name on PATH"), "{said:?}");
    sandbox.makespan("run script.txt -- 'echo {}' ::: a").refused(&["a file and a command cannot be run together"]);
}

#[test]
fn a_command_with_arguments_is_planned() {
    let sandbox = Sandbox::new();
    sandbox.write("args", "3\n4\n");
    let said = sandbox.makespan("plan --processors 2 --output plan.json -- 'sleep {}' ::: 1 2");
    said.succeeds();
    assert!(sandbox.read("plan.json").contains("2-sleep-2"), "{}", sandbox.read("plan.json"));
    let said = sandbox.makespan("plan --processors 2 --args-from args -- sleep '{1}' ::: 1 2");
    assert!(said.status == Some(0) && said.out.starts_with("4 jobs on 2 processors"), "{said:?}");
    sandbox.makespan("plan").misused(&["INSTANCE"]);
    sandbox.write("l.txt", "true\n");
    sandbox.makespan("plan l.txt -- 'sleep 1'").refused(&["l.txt", "cannot be planned together"]);
    sandbox.makespan("plan l.txt --args-from args").refused(&["options about arguments"]);
    sandbox.makespan("plan -- 'sleep {}' :::").refused(&["no arguments"]);
}
