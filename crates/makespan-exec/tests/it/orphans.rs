//! Tests that processes that a job starts while it is being ended also end.

use crate::common;

use std::thread;
use std::time::Duration;

use common::{FirstCome, Recorder, instance, job, options, text};
use makespan_core::Stop;
use makespan_exec::{ExecuteOptions, execute};

/// Number of times that a run is stopped, at different instants.
const TRIES: u64 = 15;

/// Stops jobs while they continuously start processes. Each of these processes would write a line later, well within the grace
/// period.
#[test]
fn no_child_that_is_born_during_a_stop_outlives_its_job() {
    let mut state = u64::from(std::process::id());
    for attempt in 0..TRIES {
        let temporary = tempfile::tempdir().unwrap();
        let log = temporary.path().join("log");
        // `&&` prevents a further line of output if the signal reaches `sleep` before it reaches the shell.
        let script = format!(
            "echo begun >>{log}; i=0; while [ $i -lt 150 ]; do (sleep 2 && echo late >>{log}) & i=$((i+1)); done; wait",
            log = log.display()
        );
        let instance = instance(vec![job("a", 1, &script), job("b", 1, &script)]);
        let stop = Stop::default();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wait = Duration::from_millis((state >> 33) % 60);
        let stopper = {
            let (stop, folder) = (stop.clone(), temporary.path().to_owned());
            thread::spawn(move || {
                while !text(&folder, "log").contains("begun") {
                    thread::sleep(Duration::from_millis(1));
                }
                thread::sleep(wait);
                stop.request();
            })
        };
        let grace = Duration::from_secs(20);
        let options = ExecuteOptions { stop, grace, ..options(&temporary.path().join("run")) };
        execute(&instance, &mut FirstCome, &options, &mut Recorder::default()).unwrap();
        stopper.join().unwrap();
        assert!(!text(temporary.path(), "log").contains("late"), "try {attempt}, stopped after {wait:?}");
    }
}
