//! Arguments of templates, compared with GNU parallel 20221122 if it is installed.

use std::process::Command;

use crate::cli::sandbox::Sandbox;

/// Options and a command that both programs accept, and the expected output of both.
const CASES: [(&str, &str); 29] = [
    ("'echo {}' ::: a 'b  c'", "a\nb  c\n"),
    ("'echo {1} {2}' ::: a b ::: x y", "a x\na y\nb x\nb y\n"),
    ("'echo {1} {2}' ::: a b c :::+ x y", "a x\nb y\n"),
    ("'echo {1}{2}{3}' ::: a b c :::+ x y ::: 1 2", "ax1\nax2\nby1\nby2\n"),
    ("--link 'echo {1} {2}' ::: a b c ::: x y", "a x\nb y\nc x\n"),
    ("'echo {1} {2}' :::: f ::::+ g", "1,2 x\n3,4 y\n"),
    ("-a f -a g 'echo {1} {2}'", "1,2 x\n1,2 y\n3,4 x\n3,4 y\n"),
    ("-a f 'echo {1} {2}' ::: z", "1,2 z\n3,4 z\n"),
    ("-N 2 'echo {1}-{2} {}' ::: a b c", "a-b a b\nc- c\n"),
    ("-N2 'echo {#}' ::: a b c", "1\n2\n"),
    ("-N 0 'echo hi' ::: a b", "hi\nhi\n"),
    ("--colsep , 'echo {2} {1}' :::: f", "2 1\n4 3\n"),
    ("-C '[,;]' 'echo {3}+{1}' ::: 'a,b;c' 'd;e'", "c+a\n+d\n"),
    ("-a f -N2 --colsep , 'echo {4} {1}'", "4 1\n"),
    ("--tag 'echo {}' ::: a b", "a\ta\nb\tb\n"),
    ("--retries 3 'echo x >> tries-{}; test $(wc -l < tries-{}) -gt 2; echo $?' ::: a", "1\n"),
    ("-j0 'echo {}' ::: a b c", "a\nb\nc\n"),
    ("-j200% 'echo {/.} {//}' ::: d/a.b", "a d\n"),
    ("-j+1 'echo {.}' ::: d/a.b", "d/a\n"),
    ("--wd new/d 'pwd | sed s:.*/new:new:; : {}' ::: a", "new/d\n"),
    ("--nice 19 'nice; : {}' ::: a", "19\n"),
    ("--env HOME 'test -n \"$HOME\" && echo {}' ::: a", "a\n"),
    ("--delay 0.05 'echo {}' ::: a b", "a\nb\n"),
    ("--memfree 1M --load 1000 'echo {}' ::: a", "a\n"),
    ("--shuf 'echo {}' ::: a a", "a\na\n"),
    ("--bar --eta --progress 'echo {}' ::: a", "a\n"),
    ("-r -a g 'echo {}'", "x\ny\n"),
    ("--no-run-if-empty --arg-file g --max-replace-args 2 'echo {1}{2}'", "xy\n"),
    ("'echo {1..3} ${HOME#\"$HOME\"}' ::: x", "{1..3} x\n"),
];

#[test]
fn a_dry_run_prints_commands_in_planned_order_and_runs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "touch a #: time=1s\ntouch 'b c' #: time=9s cores=2 memory=1MiB\n");
    let out = |line: &str| {
        let said = sandbox.makespan(line);
        assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{said:?}");
        said.out
    };
    let planned = out("run l.txt --dry-run --processors 2 --oversubscribe");
    let mut lines: Vec<&str> = planned.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["touch 'b c'  #: cores=2 memory=1MiB", "touch a  #: cores=1"]);
    let quoted = out("run --dry-run -- 'touch {}' ::: 'x y' \"z\"");
    assert_eq!(quoted, "touch 'x y'  #: cores=1\ntouch '\"z\"'  #: cores=1\n");
    assert_eq!(out("run --dry-run touch {} ::: '$x'"), "touch '$x'  #: cores=1\n");
    assert_eq!(sandbox.entries(), ["l.txt"]);
}

/// Returns the output of one of the two programs.
fn printed(sandbox: &Sandbox, program: &str, line: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{program} {line}")]).current_dir(sandbox.path(""));
    command.env("MAKESPAN_HISTORY", sandbox.history()).env("SHELL", "/bin/sh").env("PARALLEL_SHELL", "/bin/sh");
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{line}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn makespan() -> String {
    format!("{} run --keep-order", assert_cmd::cargo_bin!("makespan").display())
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("f", "1,2\n3,4\n");
    sandbox.write("g", "x\ny\n");
    sandbox
}

#[test]
fn arguments_are_those_of_gnu_parallel() {
    for (line, expected) in CASES {
        assert_eq!(printed(&sandbox(), &makespan(), line), expected, "{line}");
    }
}

#[test]
#[ignore = "long: runs GNU parallel"]
fn gnu_parallel_prints_the_same() {
    for (line, expected) in CASES {
        assert_eq!(printed(&sandbox(), "parallel --keep-order", line), expected, "{line}");
    }
}

/// Rules of `--halt`, the exit statuses of the jobs, and the expected exit status of both programs. Jobs run one after
/// the other.
const HALTS: [(&str, &str, i32); 25] = [
    ("soon,fail=1", "0 3 5 0", 3),
    ("now,fail=1", "0 0 5 3", 5),
    ("soon,fail=2", "0 3 5 0 7 2", 2),
    ("now,fail=2", "0 3 5 0 7 2", 2),
    ("soon,fail=9", "0 3 5 0 7 2", 4),
    ("now,fail=50%", "0 3 5 0 7", 60),
    ("soon,fail=30%", "0 3 5 0 7", 40),
    ("soon,fail=50%", "0 0 0 3 0", 20),
    ("soon,fail=50%", "4 0", 4),
    ("soon,fail=200%", "0 4 0 3 0", 40),
    ("30%", "0 3 5 0 7", 40),
    ("soon,success=1", "3 4 0 3 0", 0),
    ("now,success=2", "3 4 0 3 0", 0),
    ("soon,success=3", "3 4 0 3 0", 3),
    ("soon,success=50%", "3 4 0 3 0", 60),
    ("soon,done=1", "3 4 0", 3),
    ("soon,done=1", "0 4 3", 0),
    ("now,done=3", "3 4 0 3 0", 2),
    ("soon,done=60%", "3 4 0 3 0", 40),
    ("never", "0 4 0 3 0", 2),
    ("0", "0 4 0 3 0", 2),
    ("1", "0 4 0 3 0", 4),
    ("2", "0 6 0 3 0", 6),
    ("-1", "0 6 0 3 0", 0),
    ("now,fail=1", "0 200 0", 200),
];

/// Returns the exit status of one of the two programs, and the number of jobs that it started.
fn halted(program: &str, rule: &str, jobs: &str) -> (i32, usize) {
    let sandbox = Sandbox::new();
    let line = format!("{program} -j1 --halt {rule} 'echo x >> log; exit {{}}' ::: {jobs}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(sandbox.path("")).env("MAKESPAN_HISTORY", sandbox.history());
    let output = command.output().unwrap();
    (output.status.code().unwrap(), sandbox.read("log").lines().count())
}

#[test]
fn halted_runs_have_the_statuses_of_gnu_parallel() {
    for (rule, jobs, status) in HALTS {
        assert_eq!(halted(&makespan(), rule, jobs).0, status, "--halt {rule}: {jobs}");
    }
}

#[test]
#[ignore = "long: runs GNU parallel"]
fn gnu_parallel_halts_at_the_same_job() {
    for (rule, jobs, status) in HALTS {
        let (own, other) = (halted(&makespan(), rule, jobs), halted("parallel", rule, jobs));
        assert_eq!((own, own.0), (other, status), "--halt {rule}: {jobs}");
    }
}

/// Commands, and the exit status of both programs.
const EMPTY: [(&str, i32); 7] = [
    ("true :::", 0),
    ("'exit 3; : {}' :::", 0),
    ("-r true ::: < /dev/null", 0),
    ("-a /dev/null 'exit 3; : {}'", 0),
    ("'exit 3; : {}' ::: a", 1),
    ("'no-such-program {}' ::: a b", 2),
    ("-j1 no-such-program ::: a", 1),
];

/// Returns the exit status of one of the two programs.
fn status(program: &str, line: &str) -> Option<i32> {
    let sandbox = Sandbox::new();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{program} {line}")]).current_dir(sandbox.path(""));
    command.env("MAKESPAN_HISTORY", sandbox.history()).output().unwrap().status.code()
}

#[test]
fn no_argument_is_no_job() {
    for (line, expected) in EMPTY {
        assert_eq!(status(&makespan(), line), Some(expected), "{line}");
    }
    let list = |text: &str| format!("printf '{text}' | {} -", makespan());
    for (text, expected) in [
        ("\\n# c\\n", 0),
        ("", 0),
        ("#a", 0),
        ("no-such-program x\\nno-such-program y\\n", 2),
        ("no-such-program x", 1),
    ] {
        assert_eq!(status(&list(text), ""), Some(expected), "{text}");
    }
}

#[test]
#[ignore = "long: runs GNU parallel"]
fn no_argument_is_no_job_for_gnu_parallel() {
    for (line, expected) in EMPTY {
        assert_eq!(status("parallel", line), Some(expected), "{line}");
    }
}

/// Paths of up to five of these characters.
fn paths() -> Vec<String> {
    let mut all: Vec<String> = vec![String::new()];
    for at in 0.. {
        if all[at].len() == 5 {
            break;
        }
        for character in ['a', '.', '/'] {
            all.push(format!("{}{character}", all[at]));
        }
    }
    all.split_off(1)
}

#[test]
#[ignore = "long: runs GNU parallel with 363 paths"]
fn parts_of_paths_are_those_of_gnu_parallel() {
    let sandbox = Sandbox::new();
    sandbox.write("paths", paths().join("\n") + "\n");
    let line = "-a paths \"printf '[%s]' {} {.} {/} {/.} {//} .; echo\"";
    let (own, other) = (printed(&sandbox, &makespan(), line), printed(&sandbox, "parallel --keep-order", line));
    assert_eq!(own.lines().count(), 363);
    for (own, other) in own.lines().zip(other.lines()) {
        assert_eq!(own, other);
    }
}

/// Returns lines of hostile characters, which depend only on the seed.
fn hostile(seed: u64, lines: usize) -> String {
    const CHARACTERS: [&str; 30] = [
        "a", "b", "0", "'", "\"", "`", "$", "$(", ")", "${x}", "\\", " ", "  ", "\t", ",", ";", "&", "|", "<", ">",
        "*", "?", "~", "#", "!", "{}", "{1}", "=", "-", "é",
    ];
    let mut state = seed;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut line = || -> String { (0..=next(9)).map(|_| CHARACTERS[next(CHARACTERS.len())]).collect() };
    (0..lines).map(|_| line() + "\n").collect()
}

#[test]
#[ignore = "long: runs GNU parallel with 400 hostile arguments"]
fn hostile_arguments_arrive_as_with_gnu_parallel() {
    let sandbox = Sandbox::new();
    sandbox.write("f", hostile(45, 400));
    sandbox.write("g", hostile(46, 400));
    for line in [
        "-a f \"printf '[%s]' {}; echo\"",
        "-a f -N2 \"printf '[%s]' {1} {2} {} .; echo\"",
        "\"printf '[%s]' {1} {2}; echo\" :::: f ::::+ g",
        "-a f --colsep , \"printf '[%s]' {1} {2} {} .; echo\"",
    ] {
        let (own, other) = (printed(&sandbox, &makespan(), line), printed(&sandbox, "parallel --keep-order", line));
        for (number, (own, other)) in (1..).zip(own.lines().zip(other.lines())) {
            assert_eq!(own, other, "{line}: command {number}");
        }
        assert_eq!(own.lines().count(), other.lines().count(), "{line}");
    }
}
