//! Every policy simulated, several at the same time.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::ProgressBar;
use makespan::{Observer, Scene, SimulateError, Simulated, simulate};
use makespan_core::{Measures, TaskId, Time, Trace};
use miette::{Result, miette};

use crate::progress::bar;

/// Ended jobs between two steps of the bar.
const STEP: usize = 1 << 12;

/// What each policy made of its scene, in the order of the scenes, with at most `threads` at the same time. The first
/// policy that fails, in the same order, is the error.
pub fn play(scenes: &[(Scene<'_>, &str)], threads: usize) -> Result<Vec<Simulated>> {
    let bar = bar(scenes.iter().map(|(scene, _)| scene.instance.tasks()).sum(), "simulating");
    let done: Mutex<Vec<Option<Result<Simulated, SimulateError>>>> = Mutex::new(scenes.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((scene, spec)) = scenes.get(at) else { return };
            let outcome = simulate(scene, spec, &mut Watch { bar: &bar, shown: 0 });
            let outcome = outcome.map(|one| of_those_that_waited(scene, one));
            if let Ok(mut done) = done.lock() {
                done[at] = Some(outcome);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(scenes.len()) {
            scope.spawn(work);
        }
        work();
    });
    bar.finish_and_clear();
    let done = done.into_inner().unwrap_or_default();
    done.into_iter().flatten().map(|outcome| outcome.map_err(|error| miette!("{error}"))).collect()
}

/// What ran from the beginning has not waited: waits, flows and slowdowns are of the others.
fn of_those_that_waited(scene: &Scene<'_>, mut one: Simulated) -> Simulated {
    let ran: HashSet<TaskId> = scene.options.running.iter().map(|run| run.0).collect();
    if !ran.is_empty() {
        let runs = one.simulation.trace.runs.iter().filter(|run| !ran.contains(&run.task));
        let Measures { wait, flow, bounded_slowdown, fairness, .. } =
            Measures::of(scene.instance, &Trace { runs: runs.cloned().collect() });
        one.measures = Measures { wait, flow, bounded_slowdown, fairness, ..one.measures };
    }
    one
}

/// Moves the bar on by what one policy has done.
struct Watch<'a> {
    bar: &'a ProgressBar,
    shown: usize,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, _now: Time, ended: usize) {
        if ended >= self.shown + STEP {
            self.bar.inc((ended - self.shown) as u64);
            self.shown = ended;
        }
    }
}
