//! Functions for tests of a service.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use makespan_core::Platform;
use makespan_service::host::ThisMachine;
use makespan_service::words::{Content, Filter, JobNumber, Needs, Role, State, Submission, Who};
use makespan_service::{Keeper, KeeperOptions, Service};

/// Maximum time for any step on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A service in this process. When this value is dropped, all unfinished jobs are cancelled and ended first. Jobs
/// continue after the end of a service, so their processes would otherwise outlive the test.
pub struct Running(Option<Arc<Keeper>>);

impl Running {
    /// Ends the service. Its jobs continue, and the next service on its store takes them over.
    pub fn close(mut self) {
        Arc::into_inner(self.0.take().unwrap()).unwrap().close();
    }
}

impl Running {
    /// Returns this service for an HTTP server.
    pub fn shared(&self) -> Arc<dyn Service> {
        Arc::clone(self.0.as_ref().unwrap()) as Arc<dyn Service>
    }
}

impl From<Keeper> for Running {
    fn from(keeper: Keeper) -> Self {
        Self(Some(Arc::new(keeper)))
    }
}

impl Deref for Running {
    type Target = Keeper;

    fn deref(&self) -> &Keeper {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(keeper) = &self.0 else { return };
        let open = Filter { state: vec![State::Held, State::Waiting, State::Running], ..Filter::default() };
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let open = keeper.jobs(&admin(), &open, None, 1000).map_or_else(|_| Vec::new(), |page| page.items);
            if open.is_empty() {
                return;
            }
            open.iter().for_each(|job| _ = keeper.cancel(&admin(), job.number));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Starts a service with the given folder and number of processors.
pub fn keeper_on(folder: &Path, processors: u32) -> Running {
    keeper_of(folder, Platform::flat(processors).unwrap())
}

/// Starts a service with the given folder and platform.
pub fn keeper_of(folder: &Path, platform: Platform) -> Running {
    Keeper::start(&options(folder), Box::new(ThisMachine(platform))).unwrap().into()
}

/// Returns the options of a service in a test.
pub fn options(folder: &Path) -> KeeperOptions {
    KeeperOptions {
        shim: Some(env!("CARGO_BIN_EXE_service-shim").into()),
        grace: Duration::from_millis(500),
        oversubscribe: true,
        ..KeeperOptions::new(folder)
    }
}

/// Starts a service with two processors, if its store can be used.
pub fn start(options: &KeeperOptions) -> Result<Running, String> {
    Keeper::start(options, Box::new(ThisMachine(Platform::flat(2).unwrap()))).map(Running::from)
}

pub fn keeper(folder: &Path) -> Running {
    keeper_on(folder, 2)
}

pub fn who(user: &str, role: Role) -> Who {
    Who { user: user.into(), role }
}

pub fn admin() -> Who {
    who("root", Role::Admin)
}

/// Returns a submission of one job that runs a shell script.
pub fn script(text: &str) -> Submission {
    command(&["sh", "-c", text])
}

/// Returns a shell script that waits until a file exists, even on a slow machine.
pub fn until_there(file: &Path) -> String {
    format!("until [ -e '{}' ]; do sleep 0.02; done", file.display())
}

pub fn command(argv: &[&str]) -> Submission {
    let argv = argv.iter().map(ToString::to_string).collect();
    submission(Content::Command { argv, needs: Needs::default() })
}

pub fn submission(content: Content) -> Submission {
    Submission {
        content,
        name: None,
        directory: None,
        environment: BTreeMap::new(),
        weight: None,
        priority: None,
        deadline: None,
        begin: None,
        hold: false,
        after: Vec::new(),
    }
}

/// Submits one job.
pub fn submit(keeper: &Keeper, submission: Submission) -> JobNumber {
    let receipt = keeper.submit(&admin(), submission, None).unwrap();
    assert_eq!(receipt.jobs.len(), 1);
    receipt.jobs[0]
}

pub fn state(keeper: &Keeper, job: JobNumber) -> State {
    keeper.job(&admin(), job).unwrap().summary.state
}

/// Waits until `is_so` returns true.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not come so far: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a job has the given state.
pub fn until_state(keeper: &Keeper, job: JobNumber, state: State) {
    let begun = Instant::now();
    loop {
        let now = keeper.job(&admin(), job).unwrap();
        if now.summary.state == state {
            return;
        }
        let said = keeper.health().trouble;
        assert!(
            !now.summary.state.is_final() && begun.elapsed() < PATIENCE,
            "job {job} is to be {state:?}: {now:?} {said:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Copies the files of a folder and of its folders.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}
