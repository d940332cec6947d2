//! A simple policy, small instances and an observer that collects events.

use std::path::Path;
use std::time::Duration;

use makespan_core::{Decision, Event, Instance, Job, Platform, Policy, Profile, Run, Running, Time, View};
use makespan_exec::{ExecuteOptions, Observer, Progress};

/// A first-come-first-served policy. A moldable job receives all free processors that it can use.
pub struct FirstCome;

impl Policy for FirstCome {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let mut free = view.free.clone();
        for task in view.waiting.iter() {
            let profile = view.instance.profile(task);
            if free.len() < profile.min_processors() {
                break;
            }
            let processors = free.take(profile.max_processors().min(free.len())).unwrap();
            decisions.push(Decision::Start { task, processors });
        }
    }
}

/// Creates a job with this number of processors that runs a shell script. The script may contain `{processors}`.
pub fn job(name: &str, processors: u32, script: &str) -> Job {
    let job = Job::new(name, Profile::rigid(processors, Time::from_seconds(1)).unwrap());
    job.with_command(["sh", "-c", script].map(String::from).to_vec())
}

/// Creates an instance with these jobs on two processors.
pub fn instance(jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
}

/// Returns options for a machine of any size, with short times.
pub fn options(folder: &Path) -> ExecuteOptions {
    ExecuteOptions {
        oversubscribe: true,
        grace: Duration::from_millis(300),
        tick: Duration::from_millis(10),
        shim: Some(env!("CARGO_BIN_EXE_makespan-shim").into()),
        ..ExecuteOptions::new(folder)
    }
}

/// Collects events, with the names of the tasks.
#[derive(Default)]
pub struct Recorder {
    pub started: Vec<String>,
    pub ended: Vec<(String, Option<String>)>,
    pub messages: Vec<String>,
    pub ticks: usize,
}

impl Observer for Recorder {
    fn started(&mut self, running: &Running, progress: &Progress<'_>) {
        self.started.push(progress.view.instance.name(running.task).into_owned());
    }

    fn ended(&mut self, run: &Run, reason: Option<&str>, progress: &Progress<'_>) {
        let name = progress.view.instance.name(run.task).into_owned();
        self.ended.push((name, reason.map(ToOwned::to_owned)));
    }

    fn message(&mut self, text: &str) {
        self.messages.push(text.to_owned());
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        assert!(progress.expected_end() >= progress.view.now);
        self.ticks += 1;
    }
}

/// Returns the text of a file in a folder, or an empty text if there is no such file.
pub fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}
