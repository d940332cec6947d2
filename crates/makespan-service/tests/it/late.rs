//! Tests of a service with an engine that starts late.

use crate::common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use common::{Running, admin, script, state, submit, until, until_state, until_there};
use makespan_core::Platform;
use makespan_exec::ExecuteOptions;
use makespan_exec::engine::Engine;
use makespan_service::host::{Host, WakeCallback, local};
use makespan_service::words::{JobNumber, State, Submission};
use makespan_service::{Keeper, KeeperOptions, Service};

/// A host with an engine that cannot start until the test allows it.
struct Late {
    platform: Platform,
    allowed: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

impl Host for Late {
    fn platform(&self) -> Platform {
        self.platform.clone()
    }

    fn name(&self) -> String {
        "a machine that comes late".into()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn engine(
        &self,
        folder: &Path,
        options: &ExecuteOptions,
        wake: WakeCallback<'_>,
    ) -> Result<Box<dyn Engine>, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.allowed.load(Ordering::Relaxed) { local(folder, options, wake) } else { Err("not yet".into()) }
    }
}

#[test]
fn what_is_asked_before_the_engine_runs_is_done_when_it_does() {
    let temporary = tempfile::tempdir().unwrap();
    let (allowed, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let host = Late { platform: Platform::flat(2).unwrap(), allowed: Arc::clone(&allowed), asked: Arc::clone(&asked) };
    let options = KeeperOptions {
        shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
        grace: Duration::from_millis(500),
        oversubscribe: true,
        ..KeeperOptions::new(temporary.path())
    };
    let keeper = Running::from(Keeper::start(&options, Box::new(host)).unwrap());
    // The first attempt to start the engine has failed. A round has begun, so jobs are handed to the engine although
    // there is no session.
    until("the engine is asked for", || asked.load(Ordering::Relaxed) > 0);
    // The first jobs occupy both processors. So the hold requests arrive before the other jobs start, even on a busy
    // machine.
    let go = temporary.path().join("go");
    let taken = [(); 2].map(|()| submit(&keeper, script(&until_there(&go))));
    let [held, cancelled, runs] = ["held", "cancelled", "runs"].map(|name| {
        let mark = temporary.path().join(format!("{name}-began"));
        submit(&keeper, script(&format!("touch {}", mark.display())))
    });
    let behind = submit(&keeper, Submission { after: vec![held], ..script("true") });
    let twice = submit(&keeper, script("true"));
    keeper.cancel(&admin(), cancelled).unwrap();
    let hold = |job: JobNumber| keeper.hold(&admin(), job).unwrap();
    std::thread::scope(|scope| {
        let both = [held, twice, twice].map(|job| scope.spawn(move || hold(job)));
        until("the holds wait", || asked.load(Ordering::Relaxed) > 1);
        allowed.store(true, Ordering::Relaxed);
        both.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), State::Held));
    });
    std::fs::write(&go, "").unwrap();
    taken.iter().for_each(|&job| until_state(&keeper, job, State::Succeeded));
    until_state(&keeper, runs, State::Succeeded);
    until_state(&keeper, cancelled, State::Cancelled);
    assert_eq!((state(&keeper, held), state(&keeper, behind)), (State::Held, State::Waiting));
    let began = |name: &str| temporary.path().join(format!("{name}-began")).exists();
    assert_eq!(["held", "cancelled", "runs"].map(began), [false, false, true]);
    for job in [held, twice] {
        keeper.release(&admin(), job).unwrap();
        until_state(&keeper, job, State::Succeeded);
    }
    until_state(&keeper, behind, State::Succeeded);
}
