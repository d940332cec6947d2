//! A process whose output is read while it runs, and which is killed when its time is over.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How a process ended, and what it printed.
pub(super) struct Ended {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// Why there is no such thing.
pub(super) enum Problem {
    /// It could not be started.
    Start(io::Error),
    /// It was killed at its time limit; what it had said on standard error.
    TimedOut(Vec<u8>),
    /// It printed more than anybody reads.
    TooMuch,
}

/// Most bytes that are read of one stream: a queue of 100,000 jobs takes 100 MB.
const MAX_BYTES: u64 = 1 << 30;
/// Between two looks at a process that has closed its output and should end at once.
const GLANCE: Duration = Duration::from_millis(2);

/// What a reader says.
enum Heard {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

/// Runs a command to its end, for at most `limit`. It has a process group of its own, so that a signal from the keyboard does not
/// reach it and all of it can be killed.
pub(super) fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<Ended, Problem> {
    let deadline = Instant::now() + limit;
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(Problem::Start)?;
    let heard = listen(&mut child, input);
    match ended(&mut child, &heard, deadline) {
        Ok(ended) => Ok(ended),
        Err(problem) => {
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            // A process in the kernel's hands may not die at once; nobody waits for it for ever.
            let patience = Instant::now() + Duration::from_secs(1);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < patience {
                thread::sleep(GLANCE);
            }
            Err(problem)
        }
    }
}

/// Threads that read what it prints and write what it reads.
fn listen(child: &mut Child, input: &[u8]) -> Receiver<io::Result<Heard>> {
    let (sender, heard) = channel();
    if let Some(out) = child.stdout.take() {
        read(out, sender.clone(), Heard::Out);
    }
    if let Some(err) = child.stderr.take() {
        read(err, sender, Heard::Err);
    }
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program that does not read to the end closes the pipe, which is its own affair.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    heard
}

fn read(stream: impl Read + Send + 'static, sender: Sender<io::Result<Heard>>, as_heard: fn(Vec<u8>) -> Heard) {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        // Nobody listens any more if the time was over.
        drop(sender.send(read.map(|_| as_heard(bytes))));
    });
}

fn ended(child: &mut Child, heard: &Receiver<io::Result<Heard>>, deadline: Instant) -> Result<Ended, Problem> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(Heard::Out(bytes))) => out = bytes,
            Ok(Ok(Heard::Err(bytes))) => err = bytes,
            Ok(Err(error)) => return Err(Problem::Start(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Err(Problem::TimedOut(err)),
        }
        if out.len().max(err.len()) as u64 > MAX_BYTES {
            return Err(Problem::TooMuch);
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ended { status, out, err }),
            Ok(None) if Instant::now() >= deadline => return Err(Problem::TimedOut(err)),
            Ok(None) => thread::sleep(GLANCE),
            Err(error) => return Err(Problem::Start(error)),
        }
    }
}
