//! Lists of commands, and templates with arguments, from a file, from standard input and from the command line.

use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

use crate::cli::sandbox::{Said, Sandbox};

impl Sandbox {
    /// Runs a command that reads `input` on standard input.
    fn fed(&self, line: &str, input: &str) -> Said {
        let mut command: Command = self.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The command may refuse its input before it has read all of it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Said::new(line, &child.wait_with_output().unwrap())
    }

    /// Returns the sorted lines of a file.
    fn sorted(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.read(name).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is missing in\n{text}"));
}

const LIST: &str = "# three commands\necho a >> out.txt\n\n#: memory=1MiB name=second\necho 'b # b' >> \\\n  out.txt\nsleep 0.01; echo c >> out.txt # c #: no note\n";

#[test]
fn a_list_is_run() {
    let sandbox = Sandbox::new();
    sandbox.write("commands.txt", LIST);
    let said = sandbox.makespan("run commands.txt --verbose").succeeds();
    says(
        &said,
        &[
            "3 jobs on ",
            "all 3 run times are guesses",
            "2-echo-a-out.txt",
            "second",
            "7-sleep-0.01-echo-c-out.tx",
            "3 of 3 jobs succeeded",
        ],
    );
    assert_eq!(sandbox.sorted("out.txt"), ["a", "b # b", "c"]);
    assert!(sandbox.entries().contains(&"runs".to_owned()));
    assert!(sandbox.path("runs/commands-1/2-echo-a-out.txt.out").is_file());
}

/// Other commands run after a command has failed.
#[test]
fn a_line_that_fails_does_not_keep_the_others() {
    let sandbox = Sandbox::new();
    sandbox.write("commands", "exit 3\necho a > out.txt\nno-such-program-at-all\necho b > b.txt #: after=1\n");
    let said = sandbox.makespan("run commands --folder r");
    assert_eq!(said.status, Some(3), "{said:?}");
    assert_eq!((sandbox.read("out.txt").as_str(), sandbox.path("b.txt").exists()), ("a\n", false));
    says(&sandbox.read("r/3-no-such-program-at-all.err"), &["not found"]);
}

#[test]
fn what_waits_runs_after_what_it_waits_for() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "c.txt",
        "echo last >> o #: after=2,3\nsleep 0.2; echo x >> o\n#: cores=2 after=2\necho y$MAKESPAN_PROCESSORS >> o\n",
    );
    sandbox.makespan("run c.txt --processors 2 --oversubscribe").refused(&["line 3 contains no command", "line 4"]);
    sandbox.write(
        "c.txt",
        "echo last >> o #: after=2,4\nsleep 0.2; echo x >> o\n#: cores=2 after=2\necho y$MAKESPAN_PROCESSORS >> o\n",
    );
    sandbox.makespan("run c.txt --processors 2 --oversubscribe").succeeds();
    assert_eq!(sandbox.read("o"), "x\ny2\nlast\n");
}

#[test]
fn standard_input_is_a_list_or_any_instance() {
    let sandbox = Sandbox::new();
    sandbox.fed("run -", "echo a > a\necho b > b\n").succeeds();
    assert!(sandbox.path("a").exists() && sandbox.path("b").exists() && sandbox.path("runs/stdin-1").is_dir());
    let native = "version = 2\nplatform = {processors = 1}\n[[jobs]]\nname = \"n\"\ncommand = \"echo c > c\"\n";
    sandbox.fed("run - --folder native", native).succeeds();
    assert_eq!(sandbox.read("c"), "c\n");
    for line in ["plan -", "bound -", "compare - -a list", "convert - out.json --format list"] {
        says(&sandbox.fed(line, "a\nb\n").succeeds(), &["2 jobs on "]);
    }
    sandbox.fed("plan -", "").refused(&["standard input", "empty"]);
    sandbox.fed("plan -", "# nothing\n").refused(&["standard input", "the list contains no command"]);
}

#[test]
fn every_command_reads_a_list() {
    let sandbox = Sandbox::new();
    sandbox.write("c.txt", "a #: cores=1-3 time=9\nb #: gpus=1\nc #: after=1\n");
    sandbox.write("two.toml", "version = 2\n[platform]\nprocessors = 2\nresources = {gpus = 1}\n");
    let said = sandbox.makespan("plan c.txt --platform two.toml -o plan.json").succeeds();
    says(&said, &["3 jobs on 2 processors", "all 3 run times are guesses"]);
    sandbox.makespan("verify c.txt plan.json --platform two.toml").succeeds();
    for line in ["simulate c.txt --platform two.toml", "convert c.txt c.toml --platform two.toml"] {
        sandbox.makespan(line).refused(&["convert --format list FILE"]);
    }
    sandbox.makespan("convert --format list c.txt c.toml --platform two.toml").succeeds();
    sandbox.makespan("simulate c.toml").succeeds();
    says(
        &sandbox.read("c.toml"),
        &["command = \"b\"", "after = [\"1-a\"]", "gpus = 1", "[jobs.processors]\nmin = 1\nmax = 2"],
    );
    sandbox.makespan("verify c.toml plan.json").succeeds();
    sandbox.makespan("plan c.txt --processors 8").refused(&["c.txt:2", "gpus"]);
    sandbox.makespan("plan c.txt --speedup linear").refused(&["c.txt", "a list of commands"]);
}

/// If it is doubtful that a file is a list of commands, it runs only if the user states that it is a list.
#[test]
fn a_doubtful_text_is_no_list() {
    let sandbox = Sandbox::new();
    sandbox.write("squeue.txt", "   JOBID PARTITION NAME USER ST TIME NODES\n   7 touch OWNED ann R 1 1\n");
    sandbox.write("dump", "42|touch OWNED|ann|2024-03-01T10:00:00|COMPLETED\n");
    sandbox.write("A=1.txt", "A=1 B=2\ntouch made\n");
    for verb in ["run", "plan", "bound", "simulate", "convert", "compare"] {
        let last = if verb == "convert" { "out.toml" } else { "" };
        sandbox.makespan(&format!("{verb} squeue.txt {last}")).refused(&[
            "squeue.txt",
            "output of Slurm",
            "--parsable2",
        ]);
        sandbox.makespan(&format!("{verb} dump {last}")).refused(&["dump", "--format list FILE"]);
    }
    sandbox.makespan("run A=1.txt").refused(&["KEY=VALUE", "run --format list FILE"]);
    sandbox.makespan("run --format list A=1.txt").succeeds();
    assert!(sandbox.path("made").exists() && !sandbox.path("OWNED").exists());
    sandbox.makespan("run --format list -- 'echo {}' ::: a").misused(&["--format"]);
}

#[test]
fn a_native_file_without_machines_is_for_this_one() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "n.toml",
        "version = 2\n[[jobs]]\nname = \"n\"\ncommand = \"echo c > c\"\nneeds = {memory = \"1MiB\"}\n",
    );
    sandbox.makespan("run n.toml").succeeds();
    assert_eq!(sandbox.read("c"), "c\n");
    sandbox.makespan("plan n.toml").succeeds();
}

#[test]
fn templates_make_commands() {
    let sandbox = Sandbox::new();
    sandbox.makespan("run -- 'echo {} >> out; printf %s\\\\n \"<{}>\" >> out' ::: 'a  b' '$(touch evil)' c").succeeds();
    assert_eq!(sandbox.sorted("out"), ["$(touch evil)", "<$(touch evil)>", "<a  b>", "<c>", "a  b", "c"]);
    assert!(!sandbox.path("evil").exists());
    sandbox.makespan("run -- 'echo {2} {1} >> pairs' ::: 1 2 ::: x y z").succeeds();
    assert_eq!(sandbox.sorted("pairs"), ["x 1", "x 2", "y 1", "y 2", "z 1", "z 2"]);
    sandbox.write("names", "one\n\ntwo words\n");
    sandbox.makespan("run --args-from names -- 'echo {#} {} >> named'").succeeds();
    assert_eq!(sandbox.sorted("named"), ["1 one", "2 two words"]);
    sandbox.fed("run -0 --args-from - -- 'echo {} >> nul'", "a\nb\0c\0").succeeds();
    assert_eq!(sandbox.sorted("nul"), ["a", "b", "c"]);
    sandbox.fed("run -0 -a - -- 'printf \"[%s]\\\\n\" {} >> empty'", "a\0\0b").succeeds();
    assert_eq!(sandbox.sorted("empty"), ["[]", "[a]", "[b]"]);
    sandbox.makespan("run -- 'touch alone'").succeeds();
    assert!(
        sandbox.path("alone").exists() && sandbox.path("runs/echo-1").is_dir() && sandbox.path("runs/touch-1").is_dir()
    );
}

/// A single string is a shell command. Several words are a program and its arguments.
#[test]
fn several_words_are_no_shell_command() {
    let sandbox = Sandbox::new();
    let out = |folder: &str| {
        let names = std::fs::read_dir(sandbox.path(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut out: Vec<_> = names.filter(|path| path.extension().is_some_and(|end| end == "out")).collect();
        out.sort();
        out.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect::<String>()
    };
    sandbox.makespan("run --folder a -- 'echo a; echo $((1 + 1))'").succeeds();
    assert_eq!(out("a"), "a\n2\n");
    sandbox.makespan("run --folder b -- echo 'a; $HOME  b' '' *").succeeds();
    assert_eq!(out("b"), "a; $HOME  b  *\n");
    let said = sandbox.makespan("run --folder c -- echo {2} 'see {1}.txt' '>' x ::: 'a b' ::: 1 2").succeeds();
    assert_eq!(out("c"), "1 see a b.txt > x\n2 see a b.txt > x\n");
    assert!(said.contains("`>` is passed to the program as an argument"), "{said}");
    let said = sandbox.makespan("run --folder d -- no-such-program");
    assert!(
        said.err.contains("it returned exit status 127: ") && said.err.contains("no-such-program: not found"),
        "{said:?}"
    );
}

#[test]
fn templates_that_are_wrong_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.makespan("run -- 'a `b {}`' ::: x").refused(&["between backquotes", "$(..)"]);
    let of_input = "for each line of standard input: makespan run -a - -- ";
    sandbox.makespan("run echo").refused(&["there is no file echo", "run -- echo;", of_input]);
    sandbox.makespan("run echo {}").refused(&["'{}'", "run -- echo {};", of_input]);
    sandbox.makespan("run missing.txt").refused(&["missing.txt: cannot open"]);
    sandbox.makespan("run lists/missing").refused(&["lists/missing: cannot open"]);
    let said = sandbox.makespan("run -- 'a {}' :::");
    assert_eq!((said.status, said.err.as_str()), (Some(0), "no arguments: nothing to run\n"));
    for line in ["run -- 'a {}' :::: /dev/null", "run -- 'a {1} {2}' ::: b :::: /dev/null"] {
        let said = sandbox.makespan(line);
        assert_eq!((said.status, said.err.as_str()), (Some(0), "no arguments: nothing to run\n"), "{line}");
    }
    sandbox.makespan(r"run -- 'find . -exec echo {} \;'").refused(&["`{}`", "there are no arguments", ":::", "a list"]);
    sandbox.makespan("run -- 'touch {/.}.txt'").refused(&["`{/.}`", "there are no arguments"]);
    sandbox.makespan("run -- 'a {2}' ::: x").refused(&["`{2}`", "there is only 1 source"]);
    sandbox.makespan("run -- ' ' ::: x").refused(&["the template is empty"]);
    sandbox.makespan("run -- 'a {%}' ::: x").refused(&["`{%}`", "GNU parallel", "{#}"]);
    sandbox.makespan("run --colsep '(' -- a ::: x").refused(&["`(`", "regular expression"]);
    sandbox.makespan("run -- a ::::").refused(&["`::::`", ":::: FILE"]);
    sandbox.makespan("run --null -- a ::: x").refused(&["--null", "--args-from FILE"]);
    sandbox.makespan("run x.txt -N 2").refused(&["options about arguments", "-- 'COMMAND {}'"]);
    sandbox.makespan("run echo hi").misused(&["'hi'", "makespan run -- echo hi"]);
    sandbox.makespan("run --args-from none -- a").refused(&["none", "No such file"]);
    sandbox.makespan("run").misused(&["list of commands", "--"]);
    sandbox.makespan("run x.txt --args-from names").refused(&["--args-from", "-- 'COMMAND {}'"]);
    sandbox.makespan("run -j 0% x.txt").misused(&["200%"]);
    sandbox.makespan("run --retries 2 --retry 1 x.txt").misused(&["--retry"]);
    assert_eq!(sandbox.entries(), [""; 0]);
}

/// File names are bytes. A command receives its arguments unchanged, whether they are on the command line, in a file or
/// in a list.
#[test]
fn names_that_are_not_utf8_reach_the_command() {
    let sandbox = Sandbox::new();
    let names: [&[u8]; 3] = [b"caf\xe9", b"\xff\xfe", "\u{10FF80}\u{10FFFF}".as_bytes()];
    sandbox.write("names", names.join(&0));
    sandbox.write("list", [b"touch list-".as_slice(), names[0], b"\ntouch list-b\n"].concat());
    sandbox.makespan("run --null --args-from names -- 'touch file-{}'").succeeds();
    sandbox.makespan("run list").succeeds();
    let word = |name: &[u8]| std::ffi::OsString::from_vec([b"touch word-", name].concat());
    assert!(sandbox.command("run --").arg(word(names[0])).output().unwrap().status.success());
    for (first, name) in
        [("file-", names[0]), ("file-", names[1]), ("file-", names[2]), ("list-", names[0]), ("word-", names[0])]
    {
        let path = std::ffi::OsString::from_vec([first.as_bytes(), name].concat());
        assert!(sandbox.path(".").join(&path).exists(), "{path:?}");
    }
}

#[test]
fn no_more_tasks_run_at_once_than_allowed() {
    let most = |sandbox: &Sandbox, options: &str| {
        let said = sandbox.makespan(&format!("run c.txt {options}")).succeeds();
        says(&said, &["4 of 4 jobs"]);
        let (mut now, mut most) = (0_i32, 0);
        for line in sandbox.read("log").lines() {
            now += if line == "s" { 1 } else { -1 };
            most = most.max(now);
        }
        std::fs::remove_file(sandbox.path("log")).unwrap();
        most
    };
    let sandbox = Sandbox::new();
    let command = "echo s >> log; sleep 0.4; echo e >> log";
    sandbox.write("c.txt", format!("{command}\n").repeat(4));
    assert_eq!(most(&sandbox, "-j 1"), 1);
    assert_eq!(most(&sandbox, "-j 3"), 3);
    // Each job that may take several cores holds a licence.
    sandbox.write("c.txt", format!("{command} #: cores=1-2 time=1\n").repeat(4));
    assert_eq!(most(&sandbox, "-j 1 --processors 4 --oversubscribe"), 1);
    assert_eq!(most(&sandbox, "-j 2 --processors 4 --oversubscribe"), 2);
}

#[test]
fn a_stopped_or_failed_run_of_a_template_goes_on() {
    let sandbox = Sandbox::new();
    let words = "-- 'echo {} >> out; test -e ok || exit 1' ::: a";
    assert_eq!(sandbox.makespan(&format!("run --folder r {words}")).status, Some(1));
    sandbox.write("ok", "");
    sandbox.makespan(&format!("run --folder r --resume --retry-failed {words}")).succeeds();
    assert_eq!(sandbox.read("out"), "a\na\n");
}

#[test]
fn a_command_that_is_a_folder_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("bin")).unwrap();
    sandbox.write("c.txt", "echo a > a\n./bin x\n");
    sandbox.makespan("run c.txt").refused(&["2-bin-x", "./bin, which is a folder"]);
    sandbox.write("n.toml", "version = 2\n[[jobs]]\nname = \"n\"\ncommand = [\"./bin\"]\n");
    sandbox.makespan("run n.toml").refused(&["`n`", "./bin, which is a folder"]);
    assert_eq!(sandbox.entries(), ["bin", "c.txt", "n.toml"]);
}

#[test]
fn a_line_put_in_repeats_nothing_that_is_done() {
    let sandbox = Sandbox::new();
    sandbox.write("commands.txt", "echo a >> out.txt\necho b >> out.txt; test -e there\necho c >> out.txt\n");
    let said = sandbox.makespan("run commands.txt --folder f");
    assert_eq!(said.status, Some(1), "{said:?}");
    // All lines have new numbers now, and one command is corrected.
    sandbox.write("commands.txt", "echo new >> out.txt\necho a >> out.txt\necho b2 >> out.txt\necho c >> out.txt\n");
    let said = sandbox.makespan("run commands.txt --folder f --resume");
    assert_eq!(said.status, Some(0), "{said:?}");
    says(
        &said.err,
        &["2 jobs have ended and are not run again", "2 are new: `1-echo-new-out.txt`, `3-echo-b2-out.txt`"],
    );
    assert_eq!(sandbox.sorted("out.txt"), ["a", "b", "b2", "c", "new"]);
}

#[test]
fn a_session_that_was_killed_before_its_journal_is_no_obstacle() {
    let sandbox = Sandbox::new();
    sandbox.write("commands.txt", "echo a >> out.txt\n");
    sandbox.makespan("run commands.txt --folder first").succeeds();
    for resume in ["", " --resume"] {
        let folder = sandbox.path("killed");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(sandbox.path("first/plan.json"), folder.join("plan.json")).unwrap();
        // Without the lock of a session, the file is an unrelated plan.
        sandbox.makespan(&format!("run commands.txt --folder killed{resume}")).refused(&["killed", "no run"]);
        std::fs::copy(sandbox.path("first/lock"), folder.join("lock")).unwrap();
        sandbox.makespan(&format!("run commands.txt --folder killed{resume}")).succeeds();
    }
    assert_eq!(sandbox.sorted("out.txt"), ["a"; 3]);
}

/// Each run gets its own folder, even if several begin at the same instant.
#[test]
fn runs_that_begin_together_are_told_apart() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "true\n");
    for _ in 0..3 {
        let begun: Vec<_> = (0..6).map(|_| sandbox.command("run l.txt -q").spawn().unwrap()).collect();
        for mut run in begun {
            assert!(run.wait().unwrap().success());
        }
    }
    assert_eq!(std::fs::read_dir(sandbox.path("runs")).unwrap().count(), 18);
}

/// A run is resumed only in its own folder. A run with other jobs is not changed, and an empty folder gives a note.
#[test]
fn the_folder_of_another_run_is_not_resumed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "echo a\necho b\n");
    sandbox.write("b.txt", "touch c\ntouch d\n");
    sandbox.makespan("run a.txt --folder a").succeeds();
    let before = sandbox.read("a/journal.jsonl");
    sandbox.makespan("run b.txt --folder a --resume").refused(&["a", "2 other tasks", "--resume"]);
    assert_eq!(sandbox.read("a/journal.jsonl"), before);
    sandbox.write("b.txt", "echo b\ntouch d\n");
    let edited = sandbox.makespan("run b.txt --folder a --resume");
    assert!(edited.status == Some(0) && edited.err.contains("1 job has ended"), "{}", edited.err);
    assert!(sandbox.path("d").exists());
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let begun = sandbox.makespan("run a.txt -q --folder empty --resume");
    assert!(
        begun.status == Some(0) && begun.err.contains("empty is empty, so this run begins at the first job"),
        "{}",
        begun.err
    );
}
