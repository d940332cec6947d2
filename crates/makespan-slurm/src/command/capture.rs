//! Runs a process with a time limit and reads its output.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The exit status and the output of a process.
pub(super) struct ProcessOutput {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// The reason why a process gave no result.
pub(super) enum Problem {
    /// The process could not be started.
    Start(io::Error),
    /// The process was killed at its time limit. Contains its output on standard error.
    TimedOut(Vec<u8>),
    /// The process printed more than `MAX_BYTES` bytes.
    TooMuch,
}

/// Maximum number of bytes that are read from a stream. For comparison: the list of 100,000 jobs has 100 MB.
const MAX_BYTES: u64 = 1 << 30;
/// After a process has closed its output: time between two checks whether the process has ended.
const GLANCE: Duration = Duration::from_millis(2);

/// A message from a thread that reads the output.
enum OutputPart {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

/// Runs a command, and kills it after `limit`. The command gets its own process group. So signals from the keyboard do
/// not reach the command, and all its processes can be killed together.
pub(super) fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<ProcessOutput, Problem> {
    let deadline = Instant::now() + limit;
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(Problem::Start)?;
    let parts = listen(&mut child, input);
    match ended(&mut child, &parts, deadline) {
        Ok(ended) => Ok(ended),
        Err(problem) => {
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            // The kernel may delay the end of a killed process, so wait for it for at most a second.
            let patience = Instant::now() + Duration::from_secs(1);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < patience {
                thread::sleep(GLANCE);
            }
            Err(problem)
        }
    }
}

/// Starts threads that read the output of a process and write to its standard input.
fn listen(child: &mut Child, input: &[u8]) -> Receiver<io::Result<OutputPart>> {
    let (sender, parts) = channel();
    if let Some(out) = child.stdout.take() {
        read(out, sender.clone(), OutputPart::Out);
    }
    if let Some(err) = child.stderr.take() {
        read(err, sender, OutputPart::Err);
    }
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program may close the pipe before it has read all input. Then the write fails. This is not an error.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    parts
}

fn read(
    stream: impl Read + Send + 'static,
    sender: Sender<io::Result<OutputPart>>,
    as_part: fn(Vec<u8>) -> OutputPart,
) {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        // After the time limit, the receiver is gone, so sending fails. This is not an error.
        drop(sender.send(read.map(|_| as_part(bytes))));
    });
}

fn ended(
    child: &mut Child,
    parts: &Receiver<io::Result<OutputPart>>,
    deadline: Instant,
) -> Result<ProcessOutput, Problem> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match parts.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(OutputPart::Out(bytes))) => out = bytes,
            Ok(Ok(OutputPart::Err(bytes))) => err = bytes,
            Ok(Err(error)) => return Err(Problem::Start(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Err(Problem::TimedOut(err)),
        }
        if out.len().max(err.len()) as u64 > MAX_BYTES {
            return Err(Problem::TooMuch);
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(ProcessOutput { status, out, err }),
            Ok(None) if Instant::now() >= deadline => return Err(Problem::TimedOut(err)),
            Ok(None) => thread::sleep(GLANCE),
            Err(error) => return Err(Problem::Start(error)),
        }
    }
}
