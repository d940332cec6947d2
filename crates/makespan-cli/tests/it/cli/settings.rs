//! `makespan run`: working folder, environment, niceness, and starts that are held or shuffled.

use std::process::Command;

use crate::cli::sandbox::{Said, Sandbox};

const MANY: &str = "::: a b c d e f g h";

fn out(said: &Said) -> Vec<&str> {
    assert_eq!(said.status, Some(0), "{said:?}");
    said.out.lines().collect()
}

#[test]
fn jobs_run_in_the_stated_folder() {
    let sandbox = Sandbox::new();
    let said = sandbox.makespan("run --wd new/d --joblog log --folder f -k 'touch {}; pwd' ::: a b");
    let here = sandbox.path("new/d").canonicalize().unwrap().display().to_string();
    assert_eq!(out(&said), [here.as_str(), here.as_str()]);
    assert_eq!(sandbox.entries(), ["f", "log", "new"]);
    assert!(sandbox.path("new/d/a").exists() && sandbox.path("new/d/b").exists());
    // A relative path of a program starts at the folder of the jobs.
    std::fs::copy("/bin/echo", sandbox.path("new/own")).unwrap();
    assert_eq!(out(&sandbox.makespan("run --wd new -- ./own {} ::: x")), ["x"]);
    assert_eq!(out(&sandbox.makespan("run --wd new -- sh -c 'echo $PWD' {} ::: x"))[0], here.trim_end_matches("/d"));
    for wrong in ["log", "p{}", "..."] {
        let said = sandbox.makespan(&format!("run --wd {wrong} echo ::: a"));
        assert!(said.status == Some(255) && said.err.contains("--wd"), "{said:?}");
    }
    sandbox.write("Makefile", "all:\n\techo x\n");
    let said = sandbox.makespan("run Makefile --wd new");
    assert!(said.status == Some(255) && said.err.contains("--wd: make"), "{said:?}");
}

#[test]
fn jobs_have_the_stated_niceness_and_environment() {
    let sandbox = Sandbox::new();
    assert_eq!(out(&sandbox.makespan("run --nice 19 'nice; : {}' ::: a b c")), ["19", "19", "19"]);
    sandbox.makespan("run --nice 20 echo ::: a").misused(&["--nice"]);
    let said = sandbox.makespan("run --env NO_SUCH_VARIABLE echo ::: a");
    assert!(said.status == Some(255) && said.err.contains("export NO_SUCH_VARIABLE"), "{said:?}");
    assert_eq!(out(&sandbox.makespan("run --env PATH --env _ 'test -n \"$PATH\" && echo {}' ::: a")), ["a"]);
}

#[test]
fn one_job_at_a_time_keeps_the_order_of_the_list() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo a\nsleep 0.3; echo b\nsleep 0.1; echo c\n");
    for options in ["-j1", "-j1", "--processors 1", "-j1 --pin"] {
        let said = sandbox.makespan(&format!("run {options} l.txt"));
        assert_eq!(out(&said), ["a", "b", "c"], "{options}: {said:?}");
        assert!(!said.err.contains("the plan is a simulation of the policy"), "{said:?}");
    }
    let said = sandbox.makespan("run --cores-per-job 2 --processors 2 -j1 l.txt");
    assert_eq!(out(&said), ["a", "b", "c"], "{said:?}");
}

/// A job may ignore that it could not write its output, as `cmd; true` does.
#[test]
fn a_job_whose_output_may_be_cut_off_has_failed() {
    let sandbox = Sandbox::new();
    let makespan = assert_cmd::cargo_bin!("makespan").display().to_string();
    let line = format!(
        "mount -t tmpfs -o size=1m none /mnt && cd /mnt && {{ {makespan} run -j1 -q --folder r -- 'yes {{}} | head -c 700000; true' ::: a b; \
         rm r/*.out; {makespan} run --no-output --folder r --resume --retry-failed; wc -c r/*.out; }}"
    );
    let unshared = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).status();
    if !unshared.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: a test with a full disk needs unshare and user namespaces");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &line]).env("MAKESPAN_HISTORY", sandbox.history());
    let ended = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(err.contains("the disk was full when the job ended"), "{err}");
    assert!(err.contains("succeeded=1 failed=1"), "{err}");
    assert!(err.contains("succeeded=2 failed=0"), "{err}");
    assert!(out.starts_with("700000 r/"), "{out}");
}

#[test]
fn held_starts_kill_nothing() {
    let sandbox = Sandbox::new();
    let said = sandbox.makespan("run -j0 -k --delay 0.2 'date +%s%N; : {}' ::: a b c");
    let mut starts: Vec<u64> = out(&said).iter().map(|line| line.parse().unwrap()).collect();
    starts.sort_unstable();
    // A job may read the clock some time after its start, so only the sum of both delays is certain.
    assert!(starts[2] >= starts[0] + 250_000_000, "{starts:?}");
    assert_eq!(out(&sandbox.makespan("run -k --memfree 1M --load 1000000 'echo {}' ::: a b")), ["a", "b"]);
    let makespan = assert_cmd::cargo_bin!("makespan").display().to_string();
    for (option, reason) in [("--memfree 1000P", "MiB of memory are free"), ("--load 0", "the load of the machine is ")]
    {
        let busy = if option == "--load 0" { "while :; do :; done & busy=$!;" } else { "busy=;" };
        let line = format!(
            "{busy} timeout 1 {makespan} run --folder f {option} 'echo x >> ran' ::: a; echo $?; test -z $busy || kill $busy"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(sandbox.path("")).env("MAKESPAN_HISTORY", sandbox.history());
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("note: no job is started for now: ") && err.contains(reason), "{option}: {err}");
        assert!(err.contains("interrupted=0 not_run=1"), "{option}: {err}");
        assert!(!sandbox.path("ran").exists());
        std::fs::remove_dir_all(sandbox.path("f")).unwrap();
    }
    for wrong in ["--delay 1sauto", "--delay x", "--delay -1", "--timeout -1", "--timeout 0"] {
        let said = sandbox.makespan(&format!("run {wrong} echo ::: a"));
        assert!(said.status == Some(255) && said.err.contains(&wrong[..7]), "{said:?}");
    }
    sandbox.makespan("run --memfree x echo ::: a").misused(&["--memfree"]);
    sandbox.makespan("run --load x echo ::: a").misused(&["--load"]);
}

#[test]
fn jobs_get_a_jobserver_and_are_not_pinned() {
    let sandbox = Sandbox::new();
    for (option, auth) in [("--jobserver", ""), ("--jobserver=pipe", ""), ("--jobserver=fifo", "fifo:/")] {
        let line = "echo $MAKEFLAGS $OMP_NUM_THREADS; : {}";
        let said = sandbox.makespan(&format!("run --oversubscribe --processors 3 {option} '{line}' ::: a"));
        let printed = out(&said)[0].to_owned();
        let is_expected = |rest: &str| rest.starts_with(auth) && rest.ends_with(" 1");
        assert!(printed.strip_prefix("-j3 --jobserver-auth=").is_some_and(is_expected), "{printed}");
        assert!(!said.err.contains("was planned with"), "{said:?}");
    }
    sandbox.makespan("run --jobserver --pin echo ::: a").misused(&["--jobserver", "--pin"]);
    sandbox.makespan("run --jobserver=socket echo ::: a").misused(&["socket", "pipe", "fifo"]);
    let said = sandbox.makespan("run --jobserver --on slurm echo ::: a");
    assert!(said.status == Some(255), "{said:?}");
}

#[test]
fn a_shuffled_run_has_all_jobs_in_the_order_of_its_seed() {
    let sandbox = Sandbox::new();
    let run = |options: &str| {
        let said = sandbox.makespan(&format!("run --shuf -j1 --tag {options} 'echo {{}}' {MANY}"));
        out(&said).iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()
    };
    let (first, second, other) = (run(""), run("-k"), run("--seed 2"));
    assert!(first == second && first != other, "{first:?} {other:?}");
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert!(
        first != sorted && sorted == MANY.split(' ').skip(1).map(|word| format!("{word}\t{word}")).collect::<Vec<_>>()
    );
    sandbox.write("l.txt", "true #: name=a\ntrue #: after=a\n");
    let said = sandbox.makespan("run --shuf l.txt");
    assert!(said.status == Some(255) && said.err.contains("--shuf: some jobs wait"), "{said:?}");
}

/// Without a terminal, `--progress` prints a line about progress each second.
#[test]
fn progress_is_shown_when_it_is_wanted() {
    let sandbox = Sandbox::new();
    for (option, lines) in [("--bar --eta --progress", 1), ("", 0)] {
        let said = sandbox.makespan(&format!("run {option} 'sleep 1.4; : {{}}' ::: a"));
        assert_eq!(said.err.lines().filter(|line| line.starts_with("progress: ")).count(), lines, "{option}: {said:?}");
    }
    sandbox.makespan("run --bar --quiet echo ::: a").misused(&["--quiet"]);
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    sandbox.read(&format!("out/{name}"))
}

#[test]
fn results_are_links_below_the_arguments() {
    let sandbox = Sandbox::new();
    let run = "run --results out --folder f 'echo {1}-{2}; echo error >&2' ::: a/b 'c d' .. ::: x";
    sandbox.makespan(run).succeeds();
    for (folder, out, number) in
        [("1/a\\_b/2/x", "a/b-x\n", "1"), ("1/c d/2/x", "c d-x\n", "2"), ("1/\\../2/x", "..-x\n", "3")]
    {
        assert_eq!(read(&sandbox, &format!("{folder}/stdout")), out);
        assert_eq!(read(&sandbox, &format!("{folder}/stderr")), "error\n");
        assert_eq!(read(&sandbox, &format!("{folder}/seq")), number);
    }
    // A second name needs no second copy.
    let output = std::fs::metadata(sandbox.path("out/1/c d/2/x/stdout")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::nlink(&output), 2);
    // The last attempt is linked, also in a resumed run.
    let retry = "run --results out --folder g --retry 1 'echo {} $(cat tries-{}); echo x >> tries-{}; test -e {} || exit 3' ::: r s";
    let said = sandbox.makespan(retry);
    assert_eq!(said.status, Some(2), "{said:?}");
    assert_eq!(read(&sandbox, "1/r/stdout"), "r x\n");
    sandbox.write("r", "");
    let said = sandbox.makespan("run --folder g --resume --retry-failed");
    assert_eq!(said.status, Some(1), "{said:?}");
    assert_eq!(read(&sandbox, "1/r/stdout"), "r x x\n");
    // A job of a list uses its command as its argument. Jobs with the same arguments share a folder.
    sandbox.write("l.txt", "echo one\necho one\n");
    let said = sandbox.makespan("run l.txt --results out --folder h");
    assert!(said.err.contains("note: jobs with the same arguments share a folder below --results"), "{said:?}");
    assert_eq!(read(&sandbox, "1/echo one/stdout"), "one\n");
    for wrong in ["l.txt", "o.csv", "o.json", "p{}"] {
        let said = sandbox.makespan(&format!("run --results {wrong} --folder i echo ::: a"));
        assert!(said.status == Some(255) && said.err.contains("--results"), "{said:?}");
    }
    assert!(!sandbox.path("i").exists());
}

/// `tee` also prints to the terminal, where its text would mix with a progress line.
#[test]
fn a_reader_on_the_terminal_sees_no_pieces_of_the_progress_line() {
    let sandbox = Sandbox::new();
    let makespan = assert_cmd::cargo_bin!("makespan").display().to_string();
    let typed = |line: &str| {
        let mut command = Command::new("script");
        command
            .args(["-qec", line, "/dev/null"])
            .current_dir(sandbox.path(""))
            .env("MAKESPAN_HISTORY", sandbox.history());
        let output = command.env("COLUMNS", "80").stdin(std::process::Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let run = format!("{makespan} run -j2 'sleep 0.3; echo {{}}' ::: a b c d");
    let (Some(with_bar), Some(with_tee)) = (typed(&run), typed(&format!("{run} | tee all"))) else {
        eprintln!("SKIPPED: script is not installed, so the progress line is not tried on a terminal");
        return;
    };
    assert!(with_bar.contains(" elapsed, ") && with_bar.contains("\u{1b}[2K"), "{with_bar:?}");
    for piece in [" elapsed", "█", "\u{1b}[2K", "\u{1b}[1A"] {
        assert!(!with_tee.contains(piece), "{piece:?}: {with_tee:?}");
    }
    for letter in ["a", "b", "c", "d"] {
        assert!(with_tee.lines().any(|line| line == letter), "{with_tee:?}");
    }
    assert_eq!(sandbox.read("all").lines().count(), 4);
    // On a terminal, the line `result:` is printed only with `--quiet`.
    assert!(!with_bar.contains("result: ") && !with_tee.contains("result: "), "{with_tee}");
    assert!(typed(&run.replace("-j2", "-j2 --quiet")).is_some_and(|text| text.contains("result: jobs=4 ")));
}
