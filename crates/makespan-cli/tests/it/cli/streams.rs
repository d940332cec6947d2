//! `makespan run -` and `--args-from -`: jobs start as their lines arrive.

use std::io::Write;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cli::sandbox::{Said, Sandbox};

/// A run. The test writes its standard input.
struct Stream<'a> {
    sandbox: &'a Sandbox,
    line: String,
    child: Child,
}

impl<'a> Stream<'a> {
    fn begin(sandbox: &'a Sandbox, line: &str) -> Self {
        let mut command = sandbox.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { sandbox, line: line.to_owned(), child: command.spawn().unwrap() }
    }

    fn write(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Waits until a job has created a file.
    fn wait_for(&self, file: &str) {
        let begun = Instant::now();
        while !self.sandbox.path(file).exists() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{}: no {file}", self.line);
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the run has ended, and keeps its input open.
    fn wait_for_end(&mut self) {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{}: no end", self.line);
            sleep(Duration::from_millis(5));
        }
    }

    fn end(mut self) -> Said {
        drop(self.child.stdin.take());
        let output: Output = self.child.wait_with_output().unwrap();
        Said::new(&self.line, &output)
    }
}

#[test]
fn jobs_start_while_the_input_is_open() {
    let sandbox = Sandbox::new();
    let mut stream = Stream::begin(&sandbox, "run -k --joblog log --folder f -");
    stream.write("echo a; touch a\n");
    stream.wait_for("a");
    stream.write("# a comment\n\necho c; \\\n");
    stream.write("touch c #: after=1\n#: cores=2\n");
    stream.wait_for("c");
    stream.write("echo 'd\n");
    stream.write("echo e; touch e\n");
    let said = stream.end();
    assert!(said.err.contains("standard input:7:6: the quote `'` is not closed"), "{said:?}");
    assert_eq!((said.status, said.out.as_str()), (Some(255), "a\nc\n"), "{said:?}");
    assert!(!sandbox.path("e").exists() && said.err.contains("jobs=2 succeeded=2"), "{said:?}");
    assert_eq!(sandbox.read("log").lines().count(), 3);
    assert!(sandbox.path("f/000004-echo-c-touch-c.out").exists(), "{:?}", sandbox.entries());
    assert_eq!(sandbox.makespan("logs f").out, "a\nc\n");
    assert!(sandbox.makespan("job f 2").out.contains("touch c"));
    assert!(sandbox.makespan("status f").out.contains("2 succeeded"));
}

#[test]
fn arguments_can_arrive_one_by_one() {
    let sandbox = Sandbox::new();
    for (options, end) in [("-a - ", "\n"), ("--null --args-from - ", "\0")] {
        let mut stream = Stream::begin(&sandbox, &format!("run {options} --tag -k -j1 -- echo {{#}}: {{}}"));
        for argument in ["a", "b c", "d;e"] {
            stream.write(&format!("{argument}{end}"));
            sleep(Duration::from_millis(60));
        }
        let said = stream.end();
        assert_eq!(said.out, "a\t1: a\nb c\t2: b c\nd;e\t3: d;e\n", "{said:?}");
        assert!(said.status == Some(0) && said.err.contains("3 of 3 jobs succeeded"), "{said:?}");
    }
    let mut stream = Stream::begin(&sandbox, "run -a - --results r -- 'echo {}; touch {}.done'");
    stream.write("x\n");
    stream.wait_for("x.done");
    stream.write("y\n");
    assert_eq!(stream.end().status, Some(0));
    assert_eq!((sandbox.read("r/1/x/stdout"), sandbox.read("r/1/y/seq")), ("x\n".into(), "2".into()));
}

#[test]
fn an_empty_stream_and_a_file_of_another_format_are_read_whole() {
    let sandbox = Sandbox::new();
    let said = Stream::begin(&sandbox, "run -").end();
    assert!(said.status == Some(0) && said.err.contains("standard input is empty: nothing to run"), "{said:?}");
    let said = Stream::begin(&sandbox, "run -0 -a - echo").end();
    assert!(said.status == Some(0) && said.err.contains("no arguments"), "{said:?}");
    let mut stream = Stream::begin(&sandbox, "run -");
    stream.write("version = 2\n[platform]\nprocessors = 1\n");
    sleep(Duration::from_millis(100));
    stream.write("[[jobs]]\nname = \"a\"\nprocessors = 1\ntime = 1\ncommand = \"echo a\"\n");
    let said = stream.end();
    assert!(said.status == Some(0) && said.out == "a\n", "{said:?}");
    for options in ["--dry-run", "--shuf", "-j0", "--algorithm list"] {
        let mut stream = Stream::begin(&sandbox, &format!("run {options} -k -"));
        stream.write("echo a\n");
        sleep(Duration::from_millis(60));
        stream.write("echo b");
        let said = stream.end();
        assert!(said.status == Some(0) && said.out.contains('a') && said.out.contains('b'), "{options}: {said:?}");
    }
}

#[test]
fn a_job_that_cannot_run_ends_the_stream() {
    let sandbox = Sandbox::new();
    let mut stream = Stream::begin(&sandbox, "run --processors 1 -");
    stream.write("touch a\n");
    stream.wait_for("a");
    stream.write("touch b #: cores=99\n");
    sleep(Duration::from_millis(100));
    stream.write("touch c\n");
    let said = stream.end();
    assert!(said.status == Some(255) && said.err.contains("000002-touch-b"), "{said:?}");
    assert!(!sandbox.path("c").exists(), "{said:?}");
}

#[test]
fn the_percentage_of_a_halt_counts_the_jobs_so_far() {
    let sandbox = Sandbox::new();
    let mut stream = Stream::begin(&sandbox, "run -j1 --halt now,fail=50% -");
    stream.write("touch a\ntouch b; false\n");
    // The run ends although its input is open.
    stream.wait_for_end();
    let said = stream.end();
    assert!(said.status == Some(1) && said.err.contains("1 of 2 jobs succeeded"), "{said:?}");
}

#[test]
fn a_resumed_stream_prints_each_output_once() {
    let sandbox = Sandbox::new();
    let mut stream = Stream::begin(&sandbox, "run -k -j1 --folder f -");
    stream.write("echo a; touch a\n");
    stream.wait_for("a");
    stream.write("echo b; touch b\n");
    stream.wait_for("b");
    assert_eq!(stream.end().out, "a\nb\n");
    for (text, expected) in [
        ("echo a; touch a\necho b; touch b\n", ""),
        ("echo a; touch a\necho b; touch b\necho c\n", "c\n"),
        ("echo new\necho a; touch a\necho b; touch b\necho c\necho d\n", "new\nd\n"),
    ] {
        let mut stream = Stream::begin(&sandbox, "run -k -j1 --folder f --joblog log --resume -");
        stream.write(text);
        let said = stream.end();
        assert_eq!((said.status, said.out.as_str()), (Some(0), expected), "{said:?}");
        assert_eq!(sandbox.read("log").lines().count(), 1 + text.lines().count(), "{said:?}");
        assert_eq!(said.err.contains("was edited"), expected.starts_with("new"), "{said:?}");
    }
}

#[test]
fn a_signal_ends_a_stream_that_waits_for_lines() {
    let sandbox = Sandbox::new();
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let mut stream = Stream::begin(&sandbox, &format!("run --folder {status} -"));
        stream.write(&format!("touch ran-{status}\n"));
        stream.wait_for(&format!("ran-{status}"));
        sleep(Duration::from_millis(300));
        kill(Pid::from_raw(stream.child.id() as i32), signal).unwrap();
        // The run ends although its input is open.
        stream.wait_for_end();
        let said = stream.end();
        assert!(said.status == Some(status) && said.err.contains("continues it"), "{said:?}");
    }
}

/// Writes `jobs` lines and kills the run `kills` times. Each session receives all lines from the first.
fn killed(jobs: u64, kills: u64) {
    let sandbox = Sandbox::new();
    let line = |number: u64| format!("echo {number} >> ran; echo out {number}\n");
    for session in 0..=kills {
        let resume = if sandbox.path("f").exists() { "--resume" } else { "" };
        let mut stream = Stream::begin(&sandbox, &format!("run -k --folder f {resume} -"));
        let process = Pid::from_raw(stream.child.id() as i32);
        if session < kills {
            let after = Duration::from_millis(120 + 70 * session);
            std::thread::spawn(move || {
                sleep(after);
                let _ = kill(process, Signal::SIGKILL);
            });
        }
        let input = stream.child.stdin.as_mut().unwrap();
        for number in 0..jobs {
            if input.write_all(line(number).as_bytes()).is_err() {
                break;
            }
            sleep(Duration::from_millis(if session < kills { 7 } else { 0 }));
        }
        let said = stream.end();
        if session == kills {
            assert!(said.status == Some(0), "{said:?}");
        }
    }
    let mut ran: Vec<u64> = sandbox.read("ran").lines().map(|line| line.parse().unwrap()).collect();
    ran.sort_unstable();
    assert_eq!(ran, (0..jobs).collect::<Vec<_>>());
    let expected: String = (0..jobs).map(|number| format!("out {number}\n")).collect();
    assert_eq!(sandbox.makespan("logs f").out, expected);
}

#[test]
fn a_killed_stream_is_resumed() {
    killed(60, 3);
}

#[test]
#[ignore = "long: 2,000 lines and 40 kills"]
fn a_stream_survives_many_kills() {
    killed(2000, 40);
}

#[test]
#[ignore = "long: 10,000 lines"]
fn ten_thousand_lines_from_a_slow_writer() {
    let sandbox = Sandbox::new();
    let mut stream = Stream::begin(&sandbox, "run -k -a - -- echo {}");
    for number in 0..10_000 {
        stream.write(&format!("{number}\n"));
        if number % 100 == 0 {
            sleep(Duration::from_millis(25));
        }
    }
    // The reader of the outputs must not wait for the end of the input.
    let said = stream.end();
    assert!(said.status == Some(0), "{:?}", said.err);
    let expected: String = (0..10_000).map(|number| format!("{number}\n")).collect();
    assert!(said.out == expected);
}

/// Begins a run of these lines, kills the session while the last job but one is running, and returns the folder. The job
/// ends when the file `go` exists.
fn interrupted(sandbox: &Sandbox, arguments: &str, lines: &[&str]) {
    let mut stream = Stream::begin(sandbox, &format!("run -j1 --folder f {arguments}"));
    stream.write(&(lines.join("\n") + "\n"));
    stream.wait_for("running");
    kill(Pid::from_raw(stream.child.id() as i32), Signal::SIGKILL).unwrap();
    stream.wait_for_end();
}

/// The lines of a run. The first job has ended and the second one is running when the session is killed.
const LINES: [&str; 4] = [
    "echo a >> ran; false || true",
    "touch running; while ! test -e go; do sleep 0.02; done; echo b >> ran",
    "echo c >> ran #: name=c",
    "echo d >> ran #: after=c",
];

#[test]
fn a_resumed_stream_that_is_cut_short_changes_nothing() {
    let sandbox = Sandbox::new();
    interrupted(&sandbox, "-", &LINES);
    let whole = LINES.join("\n") + "\n";
    // The last command is complete at the first byte of its note, but the note is a part of the job.
    let cuts = (0..whole.len() - " #: after=c\n".len()).step_by(11);
    let ends = LINES.iter().scan(0, |at, line| {
        *at += line.len() + 1;
        Some(*at)
    });
    for cut in cuts.chain(ends.take(3)) {
        let mut stream = Stream::begin(&sandbox, "run -j1 --folder f --resume -");
        stream.write(&whole[..cut]);
        let said = stream.end();
        assert!(said.status == Some(255), "{cut}: {said:?}");
        assert!(said.err.contains("standard input") && !said.err.contains("jobs succeeded"), "{cut}: {said:?}");
    }
    // No refused session has ended the running job.
    sandbox.write("go", "");
    let mut stream = Stream::begin(&sandbox, "run -j1 --folder f --resume -");
    stream.write(&whole);
    let said = stream.end();
    assert!(said.status == Some(0) && said.err.contains("4 of 4 jobs succeeded"), "{said:?}");
    assert_eq!(sandbox.read("ran"), "a\nb\nc\nd\n");
}

#[test]
fn a_resumed_stream_waits_for_the_lines_of_its_jobs() {
    for (arguments, lines) in [
        ("-", LINES.map(str::to_owned)),
        ("-a - -- sh -c {}", LINES.map(|line| line.split(" #:").next().unwrap().to_owned())),
    ] {
        let sandbox = Sandbox::new();
        let lines = lines.each_ref().map(String::as_str);
        interrupted(&sandbox, arguments, &lines);
        let mut stream = Stream::begin(&sandbox, &format!("run -j1 --folder f --resume {arguments}"));
        // As many new jobs as the run has arrive first.
        stream.write("echo n1 >> ran\necho n2 >> ran\necho n3 >> ran\necho n4 >> ran\n");
        sleep(Duration::from_millis(200));
        stream.write(&format!("{}\n{}\n", lines[0], lines[1]));
        sleep(Duration::from_millis(100));
        assert_eq!(sandbox.read("ran"), "a\n");
        sandbox.write("go", "");
        stream.write(&format!("{}\n{}\n", lines[2], lines[3]));
        let said = stream.end();
        assert!(said.status == Some(0) && said.err.contains("8 of 8 jobs succeeded"), "{said:?}");
        assert!(said.err.contains("waiting until standard input names all jobs of this run"), "{said:?}");
        let mut ran: Vec<String> = sandbox.read("ran").lines().map(str::to_owned).collect();
        ran.sort();
        assert_eq!(ran, ["a", "b", "c", "d", "n1", "n2", "n3", "n4"]);
    }
}

#[test]
fn a_resumed_template_without_arguments_is_cut_short() {
    let sandbox = Sandbox::new();
    interrupted(&sandbox, "-a - -- sh -c {}", &LINES[..2]);
    for text in ["", "\n", LINES[0]] {
        let mut stream = Stream::begin(&sandbox, "run --folder f --resume -a - -- sh -c {}");
        stream.write(text);
        let said = stream.end();
        assert!(said.status == Some(255) && !said.err.contains("nothing to run"), "{said:?}");
    }
    assert!(!sandbox.path("go").exists());
    sandbox.write("go", "");
    let mut stream = Stream::begin(&sandbox, "run --folder f --resume -a - -- sh -c {}");
    stream.write(&LINES[..2].join("\n"));
    let said = stream.end();
    assert!(said.status == Some(0) && sandbox.read("ran") == "a\nb\n", "{said:?}");
}

#[test]
fn a_failed_job_of_a_stream_can_be_replaced() {
    let sandbox = Sandbox::new();
    let session = |line: &str, text: &str| {
        let mut stream = Stream::begin(&sandbox, line);
        stream.write(text);
        stream.end()
    };
    assert_eq!(session("run -j1 --folder f -", "true\nfalse\n").status, Some(1));
    let said = session("run -j1 --folder f --resume -", "true\n");
    assert!(said.status == Some(255) && said.err.contains("2-false"), "{said:?}");
    let said = session("run -j1 --folder f --resume -", "true\necho repaired\n");
    assert!(said.status == Some(0) && said.out == "repaired\n", "{said:?}");
}
