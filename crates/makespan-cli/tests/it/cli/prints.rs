//! The output of jobs in `makespan run`.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cli::sandbox::{Said, Sandbox};

/// Runs a list of commands with these options.
fn ran(list: &str, options: &str) -> Said {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", list);
    sandbox.makespan(&format!("run l.txt --processors 2 --oversubscribe {options}"))
}

#[test]
fn standard_output_holds_exactly_what_jobs_print() {
    let said = ran("printf 'one\\ntwo'\nprintf '\\033[31m\\n'; echo error >&2\n", "--keep-order");
    assert_eq!((said.status, said.out.as_str()), (Some(0), "one\ntwo\u{1b}[31m\n"), "{said:?}");
    assert!(said.err.contains("\nerror\n") || said.err.starts_with("error\n"), "{said:?}");
    assert!(said.err.lines().last().unwrap().starts_with("result: "), "{said:?}");
    for option in ["--quiet", "--no-output"] {
        let said = ran("echo one; echo two >&2\n", option);
        assert!(said.out.is_empty() && !said.err.lines().any(|line| line == "two"), "{said:?}");
    }
    let sandbox = Sandbox::new();
    sandbox.makespan("run l.txt --quiet --tag").misused(&["--tag"]);
}

/// Each output is printed in one piece, standard output first.
#[test]
fn outputs_are_not_mixed() {
    let list: String =
        (0..6).map(|job| format!("for i in 1 2 3; do echo {job}; sleep 0.02; echo e{job} >&2; done\n")).collect();
    let said = ran(&list, "");
    let jobs: Vec<&str> = said.out.lines().collect();
    assert_eq!(jobs.len(), 18, "{said:?}");
    assert!(jobs.chunks(3).all(|chunk| chunk.iter().all(|line| *line == chunk[0])), "{said:?}");
    let errors: Vec<&str> = said.err.lines().filter(|line| line.starts_with('e') && line.len() == 2).collect();
    assert!(errors.len() == 18 && errors.chunks(3).all(|chunk| chunk.iter().all(|line| *line == chunk[0])), "{said:?}");
}

#[test]
fn the_order_of_the_list_is_kept_if_asked() {
    let list = "sleep 0.6; echo 1\necho 2\nexit 3\necho 4 #: after=3\necho 5\n";
    let said = ran(list, "--keep-order");
    assert_eq!(said.out, "1\n2\n5\n", "{said:?}");
    let said = ran(list, "");
    assert!(said.out == "2\n5\n1\n" || said.out == "5\n2\n1\n", "{said:?}");
    // A resumed run prints only the outputs of its own jobs.
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo 1\ntest -e there && echo 2\necho 3\n");
    let run = "run l.txt --processors 2 --oversubscribe --folder f -k";
    assert_eq!(sandbox.makespan(run).out, "1\n3\n");
    sandbox.write("there", "");
    assert_eq!(sandbox.makespan(&format!("{run} --resume --retry-failed")).out, "2\n");
}

#[test]
fn tags_are_arguments_or_names() {
    let sandbox = Sandbox::new();
    let arguments = ["run", "-k", "--tag", "--", "printf 'x\\ny'", ":::", "a b", "c", ":::", "d"].map(str::to_owned);
    let said = sandbox.with_arguments(&arguments);
    assert_eq!(said.out, "a b d\tx\na b d\ty\nc d\tx\nc d\ty\n", "{said:?}");
    // A tag has the bytes of its argument, which need not be UTF-8.
    let mut command = sandbox.command("run --tag --folder g -- echo :::");

    let output = command.arg(std::ffi::OsStr::from_bytes(b"a\xffb")).output().unwrap();
    assert_eq!(output.stdout, b"a\xffb\ta\xffb\n");
    let said = ran("echo x #: name=first\n", "--tag");
    assert_eq!(said.out, "first\tx\n", "{said:?}");
}

#[test]
fn a_retried_job_prints_its_last_attempt() {
    let said = ran("echo tried; test -e flag && echo again || { touch flag; exit 1; }\n", "--retry 1");
    assert_eq!((said.status, said.out.as_str()), (Some(0), "tried\nagain\n"), "{said:?}");
}

#[test]
fn lines_come_while_a_job_runs() {
    for options in ["--lb", "--line-buffer -k --tag"] {
        let sandbox = Sandbox::new();
        sandbox.write("l.txt", "echo first; while ! test -e go; do sleep 0.01; done; printf last #: name=job\n");
        let mut command = sandbox.command(&format!("run l.txt --processors 1 --oversubscribe --folder f {options}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let tag = if options.contains("tag") { "job\t" } else { "" };
        assert_eq!(line, format!("{tag}first\n"));
        sandbox.write("go", "");
        out.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{tag}first\n{tag}last\n"));
        assert!(child.wait().unwrap().success());
    }
}

/// Each failure is one line at once, with its status and its last error.
#[test]
fn failures_are_printed_at_once() {
    let sandbox = Sandbox::new();
    let list = "echo no; echo first >&2; echo 'the \u{1b}[31mcause' >&2; exit 3 #: name=bad\n\
                true #: name=behind after=bad\nwhile ! test -e go; do sleep 0.01; done #: name=long\n";
    sandbox.write("l.txt", list);
    let mut command = sandbox.command("run l.txt --processors 2 --oversubscribe --folder f --no-output");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut failed = lines.skip_while(|line| !line.starts_with("failed: "));
    assert_eq!(failed.next().unwrap(), "failed: `bad`: it returned exit status 3 | the \\u{1b}[31mcause");
    sandbox.write("go", "");
    assert!(failed.all(|line| !line.starts_with("failed: ")));
    assert_eq!(child.wait().unwrap().code(), Some(2));
    // A cause is also printed if it is a part of the text about the status.
    let said = ran("echo 3 >&2; exit 3 #: name=bad\n", "");
    assert!(said.err.contains("failed: `bad`: it returned exit status 3 | 3\n"), "{said:?}");
    for option in ["--quiet", "--folder g"] {
        let said = sandbox.makespan(&format!("run l.txt --processors 2 --oversubscribe {option}"));
        assert_eq!(said.err.matches("failed: `").count(), 1, "{option}: {said:?}");
    }
}

/// Without a terminal, a run prints its progress from time to time.
#[test]
fn progress_is_printed_without_a_terminal() {
    let said = ran("false\nsleep 1.3\nsleep 1.8\n", "");
    let lines: Vec<&str> = said.err.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert!(!lines.is_empty() && lines.len() <= 2, "{said:?}");
    assert!(lines[0].starts_with("progress: 1 of 3 jobs ended, 1 failed, 2 running"), "{said:?}");
}

/// The numbers in names of files have equal widths, and a run that is resumed keeps its names.
#[test]
fn numbers_in_file_names_are_padded() {
    let sandbox = Sandbox::new();
    let list = |count: usize| (0..count).map(|_| "echo a\n").collect::<String>();
    let run = |words: &str, folder: &str| format!("run {words} --folder {folder} --processors 2 --oversubscribe -q");
    sandbox.write("l.txt", list(12));
    sandbox.makespan(&run("l.txt", "twelve")).succeeds();
    assert_eq!(
        (sandbox.read("twelve/01-echo-a.out"), sandbox.read("twelve/12-echo-a.out")),
        ("a\n".into(), "a\n".into())
    );
    sandbox.write("l.txt", list(9));
    sandbox.makespan(&run("l.txt", "nine")).succeeds();
    sandbox.write("l.txt", list(10));
    sandbox.makespan(&format!("{} --resume", run("l.txt", "nine"))).succeeds();
    for name in ["1-echo-a", "9-echo-a", "10-echo-a"] {
        assert_eq!(sandbox.read(&format!("nine/{name}.out")), "a\n");
    }
    assert!(!sandbox.path("nine/01-echo-a.out").exists());
    let mut child = sandbox.command(&run("-", "stream")).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"echo a\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(sandbox.read("stream/000001-echo-a.out"), "a\n");
    sandbox.write("l.txt", list(11) + "./bin/x\n");
    sandbox.write("bin", "");
    std::fs::remove_file(sandbox.path("bin")).unwrap();
    std::fs::create_dir_all(sandbox.path("bin/x")).unwrap();
    sandbox.makespan("run l.txt").refused(&["l.txt:12: "]);
}

/// The summary is short: no table, no guessed figures, and the exact command that continues the run.
#[test]
fn the_summary_is_short() {
    let sandbox = Sandbox::new();
    let list: String = (0..30).map(|job| format!("echo a cause {} {job} >&2; exit 3\n", "long ".repeat(30))).collect();
    sandbox.write("l.txt", list + "true\n");
    let run = "run l.txt --processors 2 --oversubscribe --folder f --no-output";
    let said = sandbox.makespan(run);
    let begin = said.err.find("1 of 31 jobs succeeded; 30 failed; ").unwrap_or_else(|| panic!("{said:?}"));
    let summary = &said.err[begin..];
    let goes_on = "`makespan run --folder f --resume --retry-failed`";
    assert!(summary.contains(goes_on), "{summary}");
    assert_eq!(summary.matches("job `").count(), 20, "{summary}");
    assert!(summary.contains("and 10 more; jobs.csv lists all"), "{summary}");
    let is_short = |line: &str| line.chars().count() <= 80 || line.starts_with(['`', 'r']);
    assert!(summary.lines().all(is_short) && !summary.contains("planned 0"), "{summary}");
    assert!(said.err.starts_with("no run times known yet; starting in list order\n"), "{said:?}");
    assert!(!said.err.contains("guess") && !said.err.contains("optim"), "{said:?}");
    let said = sandbox.makespan(&format!("{run} --resume --verbose"));
    assert!(!said.err.contains("planned "), "the first plan is not shown: {said:?}");
}

/// A slow reader delays no start, and no output is lost.
#[test]
fn a_slow_reader_delays_no_job() {
    let sandbox = Sandbox::new();
    let list: String =
        (0..10).map(|job| format!("head -c 100000 /dev/zero | tr '\\0' {job}; echo; touch done{job}\n")).collect();
    sandbox.write("l.txt", list);
    let mut child = sandbox.command("run l.txt --processors 2 --oversubscribe").stdout(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !(0..10).all(|job| sandbox.path(&format!("done{job}")).exists()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "jobs wait for the reader");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((out.len(), child.wait().unwrap().success()), (10 * 100_001, true));
}

/// If standard output is closed, the run ends and its jobs are stopped. Another session finishes them.
#[test]
fn a_closed_output_stops_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo one\nsleep 0.3; echo two\ntest -e go || sleep 60; echo three\n");
    let run = "run l.txt --processors 3 --oversubscribe --folder f";
    let mut child = sandbox.command(run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30) && output.status.code() == Some(143), "{text}");
    assert!(text.contains("the run was stopped") && text.contains("succeeded=2 "), "{text}");
    sandbox.write("go", "");
    // The second output had no reader, so it is printed now.
    assert_eq!(sandbox.makespan(&format!("{run} --resume")).out, "two\nthree\n");
}

/// All jobs succeed, but their output is lost, so the run does not succeed.
#[test]
fn a_full_standard_output_is_an_error() {
    let sandbox = Sandbox::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command("run --folder f --no-history -- echo ::: a b");
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(255) && text.contains("cannot write to standard output"), "{text}");
    assert!(text.contains(" status=255 "), "{text}");
}

/// A message of Makespan always begins a new line, even after an output without a final newline.
#[test]
fn own_lines_begin_new_lines() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "printf odd >&2; exit 1\n");
    let said = sandbox.makespan("run l.txt --folder f --no-history");
    assert!(said.err.contains("odd\nfailed: "), "{said:?}");
    assert!(said.err.contains("`makespan run --folder f --resume --retry-failed`"), "{said:?}");
}

/// The memory of a run does not grow with the output of a job.
#[test]
fn an_output_of_200_megabytes_is_copied_in_little_memory() {
    const BYTES: usize = 200_000_000;
    for options in ["", "--tag --lb"] {
        let sandbox = Sandbox::new();
        let line = "x".repeat(99);
        sandbox.write("l.txt", format!("yes {line} | head -c {BYTES} #: name=j\n"));
        let run = format!("run l.txt --processors 1 --oversubscribe {options}");
        let mut child = sandbox.command(&run).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (mut part, mut count, mut peak) = (vec![0; 1 << 16], 0, 0);
        loop {
            let read = out.read(&mut part).unwrap();
            if read == 0 {
                break;
            }
            count += read;
            peak = peak.max(peak_memory(child.id()));
        }
        let tags = if options.is_empty() { 0 } else { BYTES / 50 };
        assert!(child.wait().unwrap().success());
        assert_eq!(count, BYTES + tags);
        assert!((1..80_000).contains(&peak), "{peak} kB");
    }
}

/// Peak memory of a process in kB, or 0 if the process has ended.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// On a terminal, outputs stay whole above the progress line.
#[test]
fn a_progress_line_stays_below_the_output() {
    let sandbox = Sandbox::new();
    sandbox.write("l.txt", "echo one\nsleep 0.6; printf unfinished\nsleep 1\n");
    let program = assert_cmd::cargo_bin!("makespan").display().to_string();
    let line = format!("{program} run l.txt --processors 2 --oversubscribe");
    let output = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(sandbox.path(""))
        .env("MAKESPAN_HISTORY", sandbox.history())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no program `script` to make a terminal");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("one\r\n") && text.contains("unfinished\r\n"), "{text:?}");
    assert!(text.contains("/3 jobs"), "{text:?}");
    assert!(text.contains("3 of 3 jobs succeeded"), "{text:?}");
}
