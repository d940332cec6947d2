//! A connection to a host: a process of `ssh`, and a thread that reads its output.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::frame::{FrameSender, receive};
use super::lease::since_boot;
use super::message::{HostFacts, HostMessage, PlannerMessage};
use super::program::OwnProgram;
use super::ssh::{COPIED, HOST, LinkFailure, MISSING, READY, command, copy_script, failure, start_script};

/// Time in which a host must answer, and in which it must accept each part of the program.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of lines of standard error that are kept.
const KEPT: usize = 30;

/// Length of a part of the program in bytes.
const PART: usize = 1 << 18;

/// An event of a connection.
#[derive(Debug)]
pub(super) enum LinkEvent {
    /// The program runs on the host, and messages can be sent to it.
    Open(HostFacts, FrameSender<PlannerMessage>),
    Message(HostMessage),
    Told(String),
    /// The connection has ended. No event follows.
    Closed(LinkFailure),
}

/// An event with the host and the number of the connection.
#[derive(Debug)]
pub(super) struct HostEvent {
    pub host: usize,
    pub number: u64,
    pub event: LinkEvent,
}

/// A connection, or an attempt to connect. If this value is dropped, the connection is cut.
#[derive(Debug)]
pub(super) struct Link {
    pub number: u64,
    state: Arc<Mutex<LinkState>>,
}

#[derive(Debug, Default)]
struct LinkState {
    child: Option<Child>,
    /// The instant at which the connection is cut if the host has not answered.
    deadline: Option<Instant>,
    is_cut: bool,
}

impl Link {
    /// Connects to a host in a separate thread.
    pub fn open(host: (usize, &str), number: u64, program: &Arc<OwnProgram>, events: &Sender<HostEvent>) -> Self {
        let state = Arc::<Mutex<LinkState>>::default();
        let dialler = Dialler {
            host: host.0,
            name: host.1.to_owned(),
            number,
            program: program.clone(),
            state: state.clone(),
            events: events.clone(),
        };
        let name = format!("ssh {}", host.1);
        let started = thread::Builder::new().name(name).stack_size(256 * 1024).spawn(move || dialler.run());
        if let Err(error) = started {
            let failed = LinkFailure { reason: format!("cannot start a thread: {error}"), passing: true };
            let _ = events.send(HostEvent { host: host.0, number, event: LinkEvent::Closed(failed) });
        }
        Self { number, state }
    }

    /// Cuts the connection if the host has not answered in time.
    pub fn expire(&self) {
        if locked(&self.state).deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.cut();
        }
    }

    /// Sets the time in which the host must answer. `None` if there is no limit.
    pub fn expect(&self, within: Option<Duration>) {
        locked(&self.state).deadline = within.map(|within| Instant::now() + within);
    }

    /// Ends the process of `ssh`.
    pub fn cut(&self) {
        let mut state = locked(&self.state);
        state.is_cut = true;
        state.deadline = None;
        if let Some(child) = &mut state.child {
            let _ = child.kill();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.cut();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The streams of a process of `ssh`.
struct Streams {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: JoinHandle<Vec<String>>,
}

/// The thread of a connection.
struct Dialler {
    host: usize,
    name: String,
    number: u64,
    program: Arc<OwnProgram>,
    state: Arc<Mutex<LinkState>>,
    events: Sender<HostEvent>,
}

impl Dialler {
    fn run(&self) {
        let failure = match self.connect() {
            Ok(false) => self.copy().and_then(|()| self.connect()).map_or_else(
                |failure| failure,
                |_| LinkFailure {
                    reason: "the copied program has vanished; check the quota of the home folder".into(),
                    passing: false,
                },
            ),
            Ok(true) => LinkFailure { reason: "the connection was closed".into(), passing: true },
            Err(failure) => failure,
        };
        self.tell(LinkEvent::Closed(failure));
    }

    fn tell(&self, event: LinkEvent) -> bool {
        self.events.send(HostEvent { host: self.host, number: self.number, event }).is_ok()
    }

    /// Starts `ssh`, and sends a script to the shell on the host.
    fn spawn(&self, script: &str) -> Result<Streams, LinkFailure> {
        let fail = |reason: String| LinkFailure { reason, passing: false };
        let mut state = locked(&self.state);
        if state.is_cut {
            return Err(LinkFailure { reason: "the connection was closed".into(), passing: true });
        }
        let mut child = command(&self.name).spawn().map_err(|error| {
            fail(format!(
                "cannot start `ssh`: {error}; install the OpenSSH client (package openssh-client on Debian and Ubuntu)"
            ))
        })?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        (state.child, state.deadline) = (Some(child), Some(Instant::now() + PATIENCE));
        drop(state);
        let (Some(mut input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err(fail("`ssh` has no standard streams".into()));
        };
        // If the script cannot be sent, `ssh` has ended and its error is reported.
        let _ = input.write_all(script.as_bytes()).and_then(|()| input.flush());
        let errors = thread::Builder::new().stack_size(128 * 1024).spawn(move || last_lines(errors));
        let errors = errors.map_err(|error| fail(format!("cannot start a thread: {error}")))?;
        Ok(Streams { input, output: BufReader::new(output), errors })
    }

    /// Returns the failure after the end of the output of `ssh`.
    fn failed(&self, errors: JoinHandle<Vec<String>>, otherwise: &str) -> LinkFailure {
        let waited = Instant::now();
        loop {
            let mut state = locked(&self.state);
            let Some(child) = &mut state.child else { break };
            if !matches!(child.try_wait(), Ok(None)) {
                break;
            }
            if waited.elapsed() > Duration::from_secs(2) {
                let _ = child.kill();
            }
            drop(state);
            thread::sleep(Duration::from_millis(5));
        }
        if locked(&self.state).is_cut {
            let reason = format!("it did not answer for {} s", PATIENCE.as_secs());
            return LinkFailure { reason: format!("{reason}; check the host and the network"), passing: true };
        }
        failure(&self.name, &errors.join().unwrap_or_default(), otherwise)
    }

    /// Connects, and passes on the messages of the host until the connection ends. Returns false if the host has no
    /// copy of the program.
    fn connect(&self) -> Result<bool, LinkFailure> {
        let Streams { input, mut output, errors } = self.spawn(&start_script(&self.program))?;
        let Some(described) = line_with(&mut output, HOST) else {
            return Err(self.failed(errors, "the host closed the connection"));
        };
        let (machine, library) = described.split_once(' ').unwrap_or((&described, ""));
        if let Some(reason) = self.program.misfit(machine, library) {
            return Err(LinkFailure { reason, passing: false });
        }
        let mut first = String::new();
        let _ = output.read_line(&mut first);
        if first.trim_end() == MISSING {
            drop(input);
            self.failed(errors, "");
            return Ok(false);
        }
        let Ok(HostMessage::Facts(facts)) = serde_json::from_str(&first) else {
            let failure = self.failed(errors, "it ended without a message");
            return Err(LinkFailure {
                reason: format!("the program does not start there: {}", failure.reason),
                ..failure
            });
        };
        let sender = FrameSender::new(input)
            .map_err(|error| LinkFailure { reason: format!("cannot start a thread: {error}"), passing: true })?;
        locked(&self.state).deadline = None;
        self.tell(LinkEvent::Open(facts, sender));
        let problem = loop {
            match receive::<HostMessage>(&mut output) {
                Ok(Some(message)) => {
                    if !self.tell(LinkEvent::Message(message)) {
                        break None;
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(format!("the host sent an unknown message: {error}")),
            }
        };
        if let Some(reason) = problem {
            return Err(LinkFailure { reason, passing: true });
        }
        Err(self.failed(errors, "the host closed the connection"))
    }

    /// Copies the program to the host.
    fn copy(&self) -> Result<(), LinkFailure> {
        self.tell(LinkEvent::Told(format!(
            "copying the program to {} ({} MB)",
            self.name,
            self.program.size.div_ceil(1_000_000)
        )));
        let mark = format!("{:x}{:x}", std::process::id(), since_boot().as_nanos());
        let Streams { mut input, mut output, errors } = self.spawn(&copy_script(&self.program, &mark))?;
        // A shell may read ahead, so the program follows only after the shell has read the whole script.
        if line_with(&mut output, READY).is_none() {
            return Err(self.failed(errors, "the host closed the connection"));
        }
        let sent = File::open(&self.program.path).and_then(|mut program| {
            let mut part = vec![0; PART];
            loop {
                let length = program.read(&mut part)?;
                if length == 0 {
                    return Ok(());
                }
                locked(&self.state).deadline = Some(Instant::now() + PATIENCE);
                input.write_all(&part[..length])?;
            }
        });
        drop(input);
        locked(&self.state).deadline = Some(Instant::now() + PATIENCE);
        let is_copied = line_with(&mut output, COPIED).is_some() && sent.is_ok();
        let failure = self.failed(errors, "the copy of the program is incomplete; check the space on the host");
        if is_copied { Ok(()) } else { Err(failure) }
    }
}

/// Returns the rest of the first line that begins with `word`. Lines before it are output of the start files of shells.
fn line_with(output: &mut impl BufRead, word: &str) -> Option<String> {
    let mut lines = output.lines().map_while(Result::ok);
    lines.find_map(|line| Some(line.strip_prefix(word)?.trim().to_owned()))
}

/// Reads standard error to its end, and returns its last lines.
fn last_lines(errors: ChildStderr) -> Vec<String> {
    let mut kept = Vec::new();
    for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
        kept.push(String::from_utf8_lossy(&line).into_owned());
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
    kept
}
