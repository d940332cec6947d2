//! The socket of an agent.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::hosts::frame::{FrameSender, receive};
use crate::hosts::message::{HostMessage, Opening, PlannerMessage};
use crate::hosts::paths::SOCKET;
use crate::local::Waker;

/// Time limit for sending a part of a message. If the planner reads nothing for this time, the connection ends.
const SENDING: Duration = Duration::from_secs(20);

/// An event of a connection, with the number of the connection.
#[derive(Debug)]
pub(super) enum AgentEvent {
    Open(u64, Box<Opening>, FrameSender<HostMessage>),
    Message(u64, PlannerMessage),
    Closed(u64),
}

/// The socket of an agent, and the events of its connections.
pub(super) struct Listener {
    pub events: Receiver<AgentEvent>,
    waker: Arc<OnceLock<Waker>>,
}

impl Listener {
    /// Starts to listen in the folder of the agent.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let _ = fs::remove_file(folder.join(SOCKET));
        let held = File::open(folder)?;
        // The path of a socket has at most 107 bytes, so it must not contain the path of the folder.
        let listener = UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", held.as_raw_fd()))?;
        let (sender, events) = mpsc::channel();
        let waker = Arc::<OnceLock<Waker>>::default();
        let wakes = waker.clone();
        thread::Builder::new().name("listen".into()).stack_size(128 * 1024).spawn(move || {
            for (number, stream) in (1..).zip(listener.incoming().flatten()) {
                let (sender, wakes) = (sender.clone(), wakes.clone());
                let serve = move || serve(number, stream, &sender, &wakes);
                // If the thread cannot be started, the planner connects again.
                let _ = thread::Builder::new().name("planner".into()).stack_size(256 * 1024).spawn(serve);
            }
        })?;
        Ok(Self { events, waker })
    }

    /// Sets the engine that each event wakes.
    pub fn wake(&self, waker: Waker) {
        let _ = self.waker.set(waker);
    }
}

/// Passes on the messages of a connection.
fn serve(number: u64, stream: UnixStream, events: &Sender<AgentEvent>, waker: &OnceLock<Waker>) {
    let tell = |event| {
        let sent = events.send(event).is_ok();
        if let Some(waker) = waker.get() {
            waker.wake();
        }
        sent
    };
    let Ok(writer) = stream.try_clone() else { return };
    let _ = writer.set_write_timeout(Some(SENDING));
    let mut reader = BufReader::new(stream);
    let Ok(Some(PlannerMessage::Open(opening))) = receive(&mut reader) else { return };
    let Ok(sender) = FrameSender::new(writer) else { return };
    if !tell(AgentEvent::Open(number, opening, sender)) {
        return;
    }
    while let Ok(Some(message)) = receive(&mut reader) {
        if !tell(AgentEvent::Message(number, message)) {
            return;
        }
    }
    tell(AgentEvent::Closed(number));
}
