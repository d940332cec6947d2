//! Waits for work without the interpreter lock, while handling Ctrl-C and reporting progress.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use makespan::Stop;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// Interval between checks of signals and progress.
const TICK: Duration = Duration::from_millis(50);
/// Stack size in bytes: the usual size for the main thread of a program.
const STACK: usize = 8 << 20;

/// Options for waiting.
pub struct Watch<'a, 'py> {
    /// Stop request for the work.
    pub stop: Stop,
    /// True if the stopped work returns its best result so far. Otherwise Ctrl-C raises `KeyboardInterrupt` at once.
    pub is_anytime: bool,
    /// Time limit of the work.
    pub limit: Option<Duration>,
    /// Function that receives the completed and the total amount of work.
    pub progress: Option<&'a Bound<'py, PyAny>>,
}

impl Watch<'_, '_> {
    /// Runs `work` on a separate thread, and returns its result and whether Ctrl-C ended it. `done` returns the completed and the
    /// total amount of work, as far as they are known. Without `done`, progress is the elapsed time.
    ///
    /// The first Ctrl-C asks the work to stop and return its current result. The second raises `KeyboardInterrupt`. Other
    /// exceptions from signal handlers or `progress` are raised at once. The thread then stops at its next check.
    pub fn wait<T: Send + 'static>(
        self,
        py: Python<'_>,
        done: Option<&dyn Fn() -> (f64, Option<f64>)>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<(T, bool)> {
        let (sender, mut receiver) = channel();
        let begin = Instant::now();
        let thread = thread::Builder::new().name("makespan".into()).stack_size(STACK).spawn(move || {
            // After a second Ctrl-C, the channel has no receiver.
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
                    return Err(PyRuntimeError::new_err("a defect of Makespan, told above; please report it"));
                }
            }
            if let Err(signal) = py.check_signals() {
                self.stop.request();
                // Signal handlers may raise any exception. Only Ctrl-C stops the search alone.
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
                let so_far = done.map_or_else(|| (begin.elapsed().as_secs_f64(), None), |done| done());
                if let Err(error) = progress.call1(so_far) {
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
