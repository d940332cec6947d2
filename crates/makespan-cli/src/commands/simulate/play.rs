//! Simulates all policies, several at the same time.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::ProgressBar;
use makespan::{Observer, Simulated, SimulationInput, simulate};
use makespan_core::{Measures, TaskId, Time, Trace};
use miette::{Result, miette};

use crate::progress::bar;

/// Number of ended jobs between two updates of the progress bar.
const STEP: usize = 1 << 12;

/// Simulates each scene under its policy, up to `threads` scenes at the same time. Returns the results in the order of
/// the scenes. If several simulations fail, returns the error of the first failed scene.
pub fn play(scenes: &[(SimulationInput<'_>, &str)], threads: usize) -> Result<Vec<Simulated>> {
    play_with(scenes, threads, &|scene, spec, observer| {
        simulate(scene, spec, observer).map_err(|error| miette!("{error}"))
    })
}

/// A function that simulates an input under the policy with the given spec.
type SimulateOne<'a> = &'a (dyn Fn(&SimulationInput<'_>, &str, &mut dyn Observer) -> Result<Simulated> + Sync);

/// Like [`play`], but runs each simulation with the function `simulate`.
pub fn play_with(
    scenes: &[(SimulationInput<'_>, &str)],
    threads: usize,
    simulate: SimulateOne<'_>,
) -> Result<Vec<Simulated>> {
    let bar = bar(scenes.iter().map(|(scene, _)| scene.instance.tasks()).sum(), "simulating");
    let done: Mutex<Vec<Option<Result<Simulated>>>> = Mutex::new(scenes.iter().map(|_| None).collect());
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
    done.into_iter().flatten().collect()
}

/// Computes waits, flow times and slowdowns without the jobs that ran from the beginning, because these jobs did not
/// wait.
fn of_those_that_waited(scene: &SimulationInput<'_>, mut one: Simulated) -> Simulated {
    let ran: HashSet<TaskId> = scene.options.running.iter().map(|run| run.0).collect();
    if !ran.is_empty() {
        let runs = one.simulation.trace.runs.iter().filter(|run| !ran.contains(&run.task));
        let Measures { wait, flow, bounded_slowdown, fairness, .. } =
            Measures::of(scene.instance, &Trace { runs: runs.cloned().collect() });
        one.measures = Measures { wait, flow, bounded_slowdown, fairness, ..one.measures };
    }
    one
}

/// Updates the progress bar when jobs of a policy end.
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
