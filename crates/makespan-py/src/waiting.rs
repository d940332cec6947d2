//! Runs work in another thread and waits for its result. While waiting, releases the interpreter's lock, handles Ctrl-C
//! and reports progress.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use makespan::Stop;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Time between two checks for signals and progress.
const TICK: Duration = Duration::from_millis(50);
/// Stack size in bytes, as usual for a main thread.
const STACK: usize = 8 << 20;

/// Options for waiting: when the work stops, and which function receives progress reports.
pub struct Watch<'a, 'py> {
    /// The stop request for the work.
    pub stop: Stop,
    /// True if the work returns its best result so far when it is stopped. If false, Ctrl-C raises `KeyboardInterrupt`
    /// at once.
    pub is_anytime: bool,
    /// Time after which the work is stopped.
    pub limit: Option<Duration>,
    /// A function that receives the progress.
    pub progress: Option<&'a Bound<'py, PyAny>>,
}

impl Watch<'_, '_> {
    /// Runs `work` in a separate thread. Returns the result of `work`, and true if Ctrl-C ended `work`.
    ///
    /// `done` returns the arguments of `progress`, such as the amount of completed work and, if known, the total amount.
    /// Without `done`, progress is the elapsed time in seconds.
    ///
    /// The first Ctrl-C asks the work to end with its best result so far. The second Ctrl-C raises `KeyboardInterrupt`.
    /// Other exceptions of signal handlers and of `progress` are raised immediately. After any of these exceptions, the
    /// thread continues until it checks for the stop request.
    pub fn wait<T: Send + 'static>(
        self,
        py: Python<'_>,
        done: Option<&dyn Fn() -> Vec<Option<f64>>>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<(T, bool)> {
        let (sender, mut receiver) = channel();
        let begin = Instant::now();
        let thread = thread::Builder::new().name("makespan".into()).stack_size(STACK).spawn(move || {
            // After a second Ctrl-C, the receiver no longer exists, so the send fails.
            let _ = sender.send(work());
        });
        thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
        let mut interrupted = false;
        loop {
            let (received, back) = py.detach(move || received(receiver));
            receiver = back;
            match received {
                Ok(made) => return Ok((made, interrupted)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err(
                        "a defect of Makespan (see the message above); please report it",
                    ));
                }
            }
            if let Err(signal) = py.check_signals() {
                self.stop.request();
                // After the first Ctrl-C, the work may still return a result. After any other exception, the result is
                // discarded.
                let is_ctrl_c = signal.is_instance_of::<PyKeyboardInterrupt>(py);
                if interrupted || !self.is_anytime || !is_ctrl_c {
                    return Err(signal);
                }
                interrupted = true;
            }
            if self.limit.is_some_and(|limit| begin.elapsed() >= limit) {
                self.stop.request();
            }
            if let Some(progress) = self.progress {
                let so_far = done.map_or_else(|| vec![Some(begin.elapsed().as_secs_f64()), None], |done| done());
                if let Err(error) = PyTuple::new(py, so_far).and_then(|arguments| progress.call1(arguments)) {
                    self.stop.request();
                    return Err(error);
                }
            }
        }
    }
}

fn received<T>(receiver: Receiver<T>) -> (Result<T, RecvTimeoutError>, Receiver<T>) {
    (receiver.recv_timeout(TICK), receiver)
}
