//! Resumed runs of `makespan run` keep the names of outputs, print outputs that were not printed, and find their
//! folders.

use std::process::Stdio;

use crate::cli::sandbox::Sandbox;

fn has_ending(name: &str, ending: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|found| found == ending)
}

/// Output files keep their names if lines are inserted before finished jobs, moved or removed.
#[test]
fn a_resumed_run_keeps_the_names_of_its_outputs() {
    let sandbox = Sandbox::new();
    let run = "run l.txt --processors 1 --oversubscribe --folder f --no-history";
    sandbox.write("l.txt", "echo a\necho b\n");
    assert_eq!(sandbox.makespan(run).out, "a\nb\n");
    // The new first line would have the names of the old first line.
    sandbox.write("l.txt", "echo a #: weight=2\necho a\necho new\necho b\n");
    let said = sandbox.makespan(&format!("{run} --resume -k"));
    assert_eq!((said.status, said.out.as_str()), (Some(0), "a\nnew\n"), "{said:?}");
    assert_eq!((sandbox.read("f/1-echo-a.out"), sandbox.read("f/2-echo-b.out")), ("a\n".into(), "b\n".into()));
    // A third session reads the names from the journal.
    sandbox.write("l.txt", "echo last\necho a #: weight=2\necho a\necho new\necho b\nexit 3\n");
    let said = sandbox.makespan(&format!("{run} --resume -k"));
    assert_eq!((said.status, said.out.as_str()), (Some(1), "last\n"), "{said:?}");
    let outputs = std::fs::read_dir(sandbox.path("f")).unwrap();
    let outputs = outputs.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut texts: Vec<String> =
        outputs.filter(|name| has_ending(name, "out")).map(|name| sandbox.read(&format!("f/{name}"))).collect();
    texts.sort();
    assert_eq!(texts, ["", "a\n", "a\n", "b\n", "last\n", "new\n"]);
}

/// A failed job is still recognised as the same job after its line has moved.
#[test]
fn a_failed_job_whose_line_moved_runs_again_only_if_asked() {
    let sandbox = Sandbox::new();
    let run = "run l.txt --processors 1 --oversubscribe --folder f";
    sandbox.write("l.txt", "echo x >> ran; exit 3\n");
    assert_eq!(sandbox.makespan(run).status, Some(1));
    sandbox.write("l.txt", "true\necho x >> ran; exit 3\n");
    let said = sandbox.makespan(&format!("{run} --resume"));
    assert_eq!((said.status, sandbox.read("ran").as_str()), (Some(1), "x\n"), "{said:?}");
    assert!(
        said.err.contains("note: 1 failed job is not run again; to run all failed jobs again, add --retry-failed"),
        "{said:?}"
    );
    assert_eq!(sandbox.makespan(&format!("{run} --resume --retry-failed")).status, Some(1));
    assert_eq!(sandbox.read("ran"), "x\nx\n");
}

/// `--resume` finds the run of its own list or command among runs with the same name.
#[test]
fn a_resumed_run_finds_its_own_folder() {
    let sandbox = Sandbox::new();
    for folder in ["a", "b"] {
        std::fs::create_dir(sandbox.path(folder)).unwrap();
        sandbox.write(&format!("{folder}/l.txt"), format!("echo {folder}; test -e go\n"));
        assert_eq!(sandbox.makespan(&format!("run {folder}/l.txt")).status, Some(1));
    }
    for (template, arguments) in [("echo {}; test -e go", "1 2"), ("echo other {}; test -e go", "1 2")] {
        assert_eq!(sandbox.makespan(&format!("run -- '{template}' ::: {arguments}")).status, Some(2));
    }
    sandbox.write("go", "");
    let again = |line: &str| sandbox.makespan(&line.replacen("run", "run --resume --retry-failed -k", 1));
    assert_eq!(again("run a/l.txt").out, "a\n");
    assert_eq!(again("run b/l.txt").out, "b\n");
    // A command with one more argument belongs to the same run.
    assert_eq!(again("run -- 'echo {}; test -e go' ::: 1 2 3").out, "1\n2\n3\n");
    assert_eq!(again("run -- 'echo other {}; test -e go' ::: 1 2").out, "other 1\nother 2\n");
    for (line, note) in [
        ("run --resume -- 'echo unknown {}' ::: 1", "no run of the command is under runs/"),
        ("run --folder new --resume -- 'echo unknown {}' ::: 1", "the folder new does not exist"),
    ] {
        let said = sandbox.makespan(line);
        assert!(said.status == Some(0) && said.out == "unknown 1\n" && said.err.contains(note), "{said:?}");
        let said = sandbox.makespan(line);
        assert!(said.status == Some(0) && said.out.is_empty() && !said.err.contains(note), "{said:?}");
    }
}

/// The printed command continues a run with any options and arguments.
#[test]
fn the_printed_command_continues_the_run() {
    let sandbox = Sandbox::new();
    let many: Vec<String> = (0..500).map(|number| format!("{number} 'quoted'\nline")).collect();
    let mut words: Vec<String> = ["run", "--policy", "fcfs", "--seed", "7", "--no-history", "-k", "--folder", "a b\n"]
        .map(str::to_owned)
        .to_vec();
    words.extend(["--", "printf '%s|' {}; test -e go", ":::"].map(str::to_owned));
    words.extend(many.iter().take(40).cloned());
    let said = sandbox.with_arguments(&words);
    assert_eq!(said.status, Some(40), "{said:?}");
    let line = said.err.lines().find(|line| line.starts_with('`')).unwrap_or_else(|| panic!("{said:?}"));
    let command = line.trim_start_matches('`').split('`').next().unwrap();
    assert_eq!(command, "makespan run --folder $'a b\\n' --resume --retry-failed");
    sandbox.write("go", "");
    let program = assert_cmd::cargo_bin!("makespan").display().to_string();
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &command.replacen("makespan", &program, 1)]).current_dir(sandbox.path(""));
    let output = shell.env("MAKESPAN_HISTORY", sandbox.history()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), text), (Some(0), many[..40].concat().replace("line", "line|")));
    // In another folder, the commands would not find their files.
    std::fs::create_dir(sandbox.path("other")).unwrap();
    sandbox.makespan("run --resume").refused(&["--resume needs the folder of the run"]);
    let mut elsewhere = std::process::Command::new(program);
    elsewhere.args(["run", "--resume", "--folder", "../a b\n"]).current_dir(sandbox.path("other"));
    let text = String::from_utf8(elsewhere.output().unwrap().stderr).unwrap();
    assert!(text.contains("began in another folder") && text.contains("cd "), "{text}");
}

#[test]
fn a_list_from_standard_input_must_be_given_again() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("run - --folder f");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"exit 3\n").unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(text.contains("--retry-failed`, with the same standard input, runs all"), "{text}");
}

/// Outputs that were not printed before a session ended are printed by the next session, each once and in order.
#[test]
fn outputs_that_were_not_printed_are_printed_on_resume() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo one\ntest -e go || sleep 30; echo two\necho three\necho four\n");
    let run = "run l.txt --processors 2 --oversubscribe --folder f -k";
    let child = sandbox.command(run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = std::time::Instant::now();
    let ended =
        || std::fs::read_to_string(sandbox.path("f/journal.jsonl")).unwrap_or_default().matches("{\"ended\"").count();
    while ended() < 3 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "the jobs do not end");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), out.as_str()), (Some(143), "one\n"), "{err}");
    assert!(err.contains("--resume prints all in order): 2"), "{err}");
    sandbox.write("go", "");
    let said = sandbox.makespan(&format!("{run} --resume"));
    assert_eq!((said.status, said.out.as_str()), (Some(0), "two\nthree\nfour\n"), "{said:?}");
    assert_eq!(sandbox.makespan(&format!("{run} --resume")).out, "", "each is printed once");
    // Outputs that were suppressed are not printed later.
    sandbox.makespan("run l.txt --processors 2 --oversubscribe --folder g -q");
    assert_eq!(sandbox.makespan("run l.txt --processors 2 --oversubscribe --folder g --resume").out, "");
}

/// `logs`, `job` and `status` show a run from its folder.
#[test]
fn a_folder_shows_its_run() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "sleep 0.3; echo one\necho two; echo err >&2; exit 3\nprintf three #: name=named\n");
    sandbox.makespan("run l.txt --processors 2 --oversubscribe --folder f -q");
    let logs = sandbox.makespan("logs f");
    assert_eq!((logs.status, logs.out.as_str(), logs.err.as_str()), (Some(0), "one\ntwo\nthree", "err\n"));
    assert_eq!(sandbox.makespan("logs f --err").out, "err\n");
    let job = sandbox.makespan("job f 2").succeeds();
    for part in
        ["job        2 2-echo-two", "failed with exit status 3", "echo two; echo err >&2; exit 3", "\ntwo\n", "\nerr\n"]
    {
        assert!(job.contains(part), "{part}: {job}");
    }
    assert!(job.contains(&format!("folder     {}", sandbox.path("").canonicalize().unwrap().display())), "{job}");
    assert!(sandbox.makespan("job f named").succeeds().contains("printf three"));
    sandbox.makespan("job f 4").refused(&["has no job 4; it has 3 jobs"]);
    sandbox.makespan("job f").refused(&["name a job of the run"]);
    for line in ["logs no-folder", "job no-folder 1", "status no-folder"] {
        sandbox.makespan(line).refused(&["no-folder"]);
    }
    sandbox.makespan("status").refused(&["there is no run under runs/"]);
    let status = sandbox.makespan("status f").succeeds();
    for part in [
        "state      ended",
        "2 succeeded",
        "job 2 `2-echo-two-echo-err-2-exit`: failed with exit status 3",
        "--folder f --resume --retry-failed`",
    ] {
        assert!(status.contains(part), "{part}: {status}");
    }
    // `logs` prints the remaining outputs, and its exit status shows that other outputs are missing.
    sandbox.write("f/1-sleep-0.3-echo-one.out", "");
    std::fs::remove_file(sandbox.path("f/2-echo-two-echo-err-2-exit.err")).unwrap();
    let logs = sandbox.makespan("logs f");
    assert_eq!((logs.status, logs.out.as_str()), (Some(1), "two\nthree"), "{logs:?}");
    for part in [
        "the file was truncated: it has 0 bytes, but had 4",
        "f/2-echo-two-echo-err-2-exit.err: No such file",
        "2 files cannot",
    ] {
        assert!(logs.err.contains(part), "{part}: {logs:?}");
    }
}

#[test]
fn the_state_of_a_run_that_goes_on_is_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo begun; touch begun; while ! test -e go; do sleep 0.01; done\ntrue\n");
    let mut child = sandbox.command("run l.txt --processors 1 --oversubscribe -q").spawn().unwrap();
    let begun = std::time::Instant::now();
    while !sandbox.path("begun").exists() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "the job does not begin");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let status = sandbox.makespan("status").succeeds();
    assert!(status.contains("run        runs/l-1\nstate      running\n") && status.contains(": running\n"), "{status}");
    assert_eq!(sandbox.makespan("logs runs/l-1").out, "begun\n");
    sandbox.write("go", "");
    assert!(child.wait().unwrap().success());
    assert!(sandbox.makespan("status").succeeds().contains("2 succeeded"));
}

/// With --line-buffer, nothing of a failed attempt is lost when the next attempt begins at once.
#[test]
fn lines_of_failed_attempts_are_printed_to_their_end() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo x >> tries; for i in $(seq 200); do echo $i; done; test $(wc -l < tries) = 4\n");
    let said = sandbox.makespan("run l.txt --processors 1 --oversubscribe --folder f --lb --retry 3");
    assert_eq!((said.status, said.out.lines().count()), (Some(0), 800), "{said:?}");
    let jobs = "echo x >> t.{}; n=$(wc -l < t.{}); echo {} $n; test $n -ge 3";
    let sources: String = (0..30).map(|at| format!(" {at}")).collect();
    let said = sandbox.makespan(&format!("run -j3 -k --folder k --lb --retry 5 -- '{jobs}' :::{sources}"));
    let expected: String = (0..30).map(|at| format!("{at} 1\n{at} 2\n{at} 3\n")).collect();
    assert_eq!((said.status, said.out.as_str()), (Some(0), expected.as_str()), "{said:?}");
    let left =
        std::fs::read_dir(sandbox.path("f")).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert!(left.into_iter().all(|name| !has_ending(&name, "before")));
}

/// Background processes of a job are ended with the job. The summary mentions this once.
#[test]
fn ended_background_processes_are_mentioned_once() {
    let sandbox = Sandbox::new();
    sandbox
        .write("l.txt", "sleep 60 & true #: name=a\nsleep 60 & true #: name=b\n(sleep 0.1 &) ; sleep 0.3 #: name=c\n");
    let said = sandbox.makespan("run l.txt --processors 1 --oversubscribe --folder f");
    let text = said.err.replace("\n  ", " ");
    assert_eq!(
        text.matches("background processes of job `a` and 1 more job were ended with the job").count(),
        1,
        "{said:?}"
    );
    assert_eq!(said.status, Some(0), "{said:?}");
}
