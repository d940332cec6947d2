//! Connections by which planners and agents announce that files have moved. An agent listens, and planners connect to
//! it. If there is no connection, both check the files at intervals.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use makespan_exec::{Waker, host};

use super::board::{AgentBeacon, PilotNode};

/// Time limit for a connection attempt.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time limit for sending a line. If the line is not read within this time, the connection is closed.
const SENDING: Duration = Duration::from_secs(1);

/// Maximum length of a line in bytes. A line contains a file name of at most 255 bytes.
const LONGEST: u64 = 512;

/// The agent's end of the connections.
#[derive(Debug)]
pub(crate) struct Server {
    /// The port on which the agent listens.
    pub port: u16,
    /// The token that a planner must send first.
    pub token: String,
    planners: Arc<Mutex<Vec<TcpStream>>>,
}

impl Server {
    /// Starts to listen. Sends the lines of planners to `heard`.
    pub fn open(heard: Sender<String>, waker: Waker) -> io::Result<Self> {
        let listener = TcpListener::bind(("0.0.0.0", 0))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let planners: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (all, expected) = (planners.clone(), token.clone());
        thread::Builder::new().name("listen".into()).stack_size(128 * 1024).spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, waker, all, expected) = (heard.clone(), waker.clone(), all.clone(), expected.clone());
                let serve = move || serve(&stream, &heard, &waker, &all, &expected);
                // If the thread cannot be started, planners check the files instead.
                let _ = thread::Builder::new().name("planner".into()).stack_size(128 * 1024).spawn(serve);
            }
        })?;
        Ok(Self { port, token, planners })
    }

    /// Sends a line to all connected planners.
    pub fn tell(&self, line: &str) {
        let text = format!("{line}\n");
        locked(&self.planners).retain_mut(|planner| {
            let sent = planner.write_all(text.as_bytes()).is_ok();
            if !sent {
                let _ = planner.shutdown(Shutdown::Both);
            }
            sent
        });
    }

    /// Returns true if a planner is connected.
    pub fn is_connected(&self) -> bool {
        !locked(&self.planners).is_empty()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: &TcpStream, heard: &Sender<String>, waker: &Waker, all: &Mutex<Vec<TcpStream>>, expected: &str) {
    let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(SENDING)));
    let (Ok(()), Ok(address), Ok(writer)) = (prepared, stream.peer_addr(), stream.try_clone()) else { return };
    // If a client sends no token within this time, it is disconnected.
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut reader = BufReader::new(stream);
    if line(&mut reader).as_deref() != Some(expected) {
        return;
    }
    let _ = stream.set_read_timeout(None);
    locked(all).push(writer);
    waker.wake();
    while let Some(line) = line(&mut reader) {
        if heard.send(line).is_err() {
            break;
        }
        waker.wake();
    }
    locked(all).retain(|other| other.peer_addr().is_ok_and(|other| other != address));
    waker.wake();
}

/// Reads the next line. Returns `None` at the end of the input, or if the line is incomplete.
fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.take(LONGEST).read_line(&mut line).ok()?;
    Some(line.strip_suffix('\n')?.to_owned())
}

/// Returns 128 random bits as text.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A message to the planner from the connection to an agent.
#[derive(Debug)]
pub(crate) enum AgentMessage {
    /// The connection is open.
    Open(TcpStream),
    /// A line from the agent.
    Line(String),
    /// The connection was closed, or could not be opened.
    Closed,
}

/// Connects to an agent in a separate thread. Each message contains the place and the number of the connection.
pub(crate) fn dial(
    place: &PilotNode,
    beacon: &AgentBeacon,
    number: u64,
    told: impl Fn(PilotNode, u64, AgentMessage) -> bool + Send + 'static,
) {
    let (own, beacon) = (place.clone(), beacon.clone());
    let place = place.clone();
    let run = move || {
        let hosts =
            if beacon.host == host() { vec!["127.0.0.1".to_owned()] } else { vec![beacon.host, own.node.clone()] };
        let addresses = hosts.iter().filter_map(|host| (host.as_str(), beacon.port).to_socket_addrs().ok()).flatten();
        let connected = addresses.into_iter().find_map(|address| TcpStream::connect_timeout(&address, PATIENCE).ok());
        let say = |said| told(own.clone(), number, said);
        if let Some(mut stream) = connected.filter(|_| beacon.port > 0)
            && stream.set_nodelay(true).is_ok()
            && stream.set_write_timeout(Some(SENDING)).is_ok()
            && stream.write_all(format!("{}\n", beacon.token).as_bytes()).is_ok()
            && let Ok(writer) = stream.try_clone()
            && say(AgentMessage::Open(writer))
        {
            let mut reader = BufReader::new(stream);
            while let Some(line) = line(&mut reader) {
                if !say(AgentMessage::Line(line)) {
                    return;
                }
            }
        }
        say(AgentMessage::Closed);
    };
    let name = format!("agent {}", place.node);
    let _ = thread::Builder::new().name(name).stack_size(128 * 1024).spawn(run);
}
