//! Waiting for work without the interpreter's lock, while Ctrl-C and progress are looked after.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use makespan::Stop;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// How often signals and progress are looked at.
const TICK: Duration = Duration::from_millis(50);
/// As much as the main thread of a program has.
const STACK: usize = 8 << 20;

/// How work is watched.
pub struct Watch<'a, 'py> {
    /// Ends the work.
    pub stop: Stop,
    /// Whether the work returns the best that it has when it is to end; otherwise Ctrl-C raises `KeyboardInterrupt` at once.
    pub is_anytime: bool,
    /// Ends the work after so long.
    pub limit: Option<Duration>,
    /// Called with what is done and what there is to do.
    pub progress: Option<&'a Bound<'py, PyAny>>,
}

impl Watch<'_, '_> {
    /// What `work` makes on a thread of its own, and whether Ctrl-C ended it. `done` says how far it is: what is done and all that there
    /// is to do, where that is known; without it that is the time.
    ///
    /// The first Ctrl-C asks the work to end with what it has, the second raises `KeyboardInterrupt`. What else the handler of a signal
    /// raises, or `progress`, is raised at once; the thread then ends by itself as soon as it looks.
    pub fn wait<T: Send + 'static>(
        self,
        py: Python<'_>,
        done: Option<&dyn Fn() -> (f64, Option<f64>)>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PyResult<(T, bool)> {
        let (sender, mut receiver) = channel();
        let begin = Instant::now();
        let thread = thread::Builder::new().name("makespan".into()).stack_size(STACK).spawn(move || {
            // Nobody listens any more after a second Ctrl-C.
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
                // Handlers of signals may raise anything, and only Ctrl-C means the search alone.
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
