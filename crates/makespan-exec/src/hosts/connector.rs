//! The process that `ssh` starts on a host: it connects its standard streams with the agent of the host.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::frame::{receive, send};
use super::message::{HostFacts, HostMessage, Opening, PlannerMessage};
use super::paths::{LOG, MARK, SOCKET, TOKEN, agent_folder, make_private};
use crate::machine::{cores, host};
use crate::resources::{gpus, memory};

/// Time in which an agent must start.
const PATIENCE: Duration = Duration::from_secs(25);

/// Connects standard input and standard output with the agent of this host. If the run has no agent on this host,
/// starts one. Returns when the connection ends.
///
/// # Errors
/// A message for the log of `ssh`.
pub fn connect() -> Result<(), String> {
    let output =
        |mut message: HostMessage| send(&mut io::stdout().lock(), &mut message).map_err(|error| error.to_string());
    output(HostMessage::Facts(HostFacts {
        host: host(),
        cores: u32::try_from(cores().map_err(|error| error.to_string())?.len()).unwrap_or(u32::MAX),
        memory: memory(),
        gpus: gpus().map(|names| names.len() as u64),
    }))?;
    let mut input = BufReader::new(io::stdin());
    let opening = match receive(&mut input) {
        Ok(Some(PlannerMessage::Open(opening))) => Opening { shares: shares(&opening), ..*opening },
        Ok::<Option<PlannerMessage>, _>(None) => return Ok(()),
        Ok(Some(_)) => return Err("the first message of the planner does not open the connection".into()),
        Err(error) => return Err(format!("the first message of the planner is unknown: {error}")),
    };
    let reached = misfit(&opening).map_or(Ok(()), Err).and_then(|()| reach(&opening));
    let stream = match reached {
        Ok(stream) => stream,
        Err(reason) => return output(HostMessage::Unfit(reason)),
    };
    let wrong = |error: io::Error| error.to_string();
    send(&mut &stream, &mut PlannerMessage::Open(Box::new(opening))).map_err(wrong)?;
    let upwards = stream.try_clone().map_err(wrong)?;
    thread::spawn(move || {
        let _ = io::copy(&mut input, &mut &upwards);
        let _ = upwards.shutdown(Shutdown::Both);
    });
    // When either direction ends, the process ends and the other side sees the end of its input.
    let _ = io::copy(&mut &stream, &mut Flushed(io::stdout()));
    Ok(())
}

/// A writer that flushes after each write.
struct Flushed<W>(W);

impl<W: Write> Write for Flushed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.0.flush()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns true if this host shares the folder of the run.
fn shares(opening: &Opening) -> bool {
    let token = fs::read_to_string(Path::new(&opening.folder).join(TOKEN));
    token.is_ok_and(|token| token.trim_end() == opening.run)
}

/// Returns the reason why this host cannot run tasks of the run.
fn misfit(opening: &Opening) -> Option<String> {
    if !opening.shares && !opening.is_scratch && opening.directory.is_none() {
        return Some(format!(
            "it does not see the folder of the run, {}; use a folder that the host and this machine share, or state \
             where its jobs run: directory=DIR in the file of hosts, or --scratch DIR for a workflow with files",
            opening.folder
        ));
    }
    if !opening.shares && opening.directory.is_none() {
        return None;
    }
    let directory = opening.directory.as_ref().unwrap_or(&opening.here);
    (!Path::new(directory).is_dir()).then(|| {
        format!(
            "it has no folder {directory}; create the folder, or write another one in the file of hosts: directory=DIR"
        )
    })
}

/// Connects to the agent, and starts the agent if it does not run.
fn reach(opening: &Opening) -> Result<UnixStream, String> {
    let folder = agent_folder(opening)?;
    let begun = Instant::now();
    let mut child: Option<Child> = None;
    loop {
        // An agent that ends removes its folder.
        make_private(&folder)?;
        let wrong = |error: io::Error| format!("{}: {error}", folder.display());
        let held = File::open(&folder).map_err(wrong)?;
        // The path of a socket has at most 107 bytes, so it must not contain the path of the folder.
        match UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", held.as_raw_fd())) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > PATIENCE => {
                return Err(format!("its agent does not answer: {error}{}", last_words(&folder)));
            }
            Err(_) => {}
        }
        match child.as_mut().map(Child::try_wait) {
            Some(Ok(None)) => {}
            Some(Ok(Some(status))) if !status.success() => {
                return Err(format!("its agent has ended with status {status}{}", last_words(&folder)));
            }
            _ => child = Some(start(&folder).map_err(wrong)?),
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts the agent. It outlives this process.
fn start(folder: &Path) -> io::Result<Child> {
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(folder.join(LOG))?;
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "--host"]).arg(folder).env(MARK, folder);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.spawn()
}

/// Returns the last line in the log of the agent, after a colon.
fn last_words(folder: &Path) -> String {
    let log = fs::read(folder.join(LOG)).unwrap_or_default();
    let text = String::from_utf8_lossy(&log).into_owned();
    text.lines().rfind(|line| !line.trim().is_empty()).map_or_else(String::new, |line| format!(": {}", line.trim()))
}
