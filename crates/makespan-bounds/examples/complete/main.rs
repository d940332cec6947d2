//! Measures how many optima the complete search proves: `complete [OPTIONS] GROUP..`.
//!
//! Groups: `small` (6 to 12 jobs), `twenty` (20 jobs on 8 processors), `graphs` (8 to 15 moldable tasks), `readme` (the
//! first plan of README.md), and `j30`, `j60`, `j120` (projects of PSPLIB, which need `--data`).
//!
//! The search starts from a plan of a short local search. The printed time is the CPU time of the search alone, so
//! other load on the machine changes this time only a little. With `--conflicts`, the result does not depend on the
//! machine.

mod cases;
mod plan;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use makespan_bounds::{Clock, complete};
use makespan_core::{Objective, Stop};
use makespan_verify::Proof;

use cases::Case;

/// The options of a run.
struct Arguments {
    groups: Vec<String>,
    /// Seeds of the generated instances.
    seeds: std::ops::Range<u64>,
    /// CPU time for each instance, in seconds.
    limit: f64,
    conflicts: u64,
    /// Folder that contains the folders `j30`, `j60` and `j120`, and the file `best.csv`.
    data: PathBuf,
    /// Part of a name. An instance is searched only if its name contains this text.
    name: String,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments {
        groups: Vec::new(),
        seeds: 0..4,
        limit: 2.0,
        conflicts: u64::MAX,
        data: PathBuf::from("psplib"),
        name: String::new(),
    };
    let mut all = std::env::args().skip(1);
    while let Some(argument) = all.next() {
        let mut number = || {
            let text = all.next().unwrap_or_default();
            text.parse::<f64>().map_err(|_| format!("{argument} needs a number instead of `{text}`"))
        };
        match argument.as_str() {
            "--first-seed" => found.seeds.start = number()? as u64,
            "--end-seed" => found.seeds.end = number()? as u64,
            "--limit" => found.limit = number()?,
            "--conflicts" => found.conflicts = number()? as u64,
            "--data" => found.data = all.next().unwrap_or_default().into(),
            "--name" => found.name = all.next().unwrap_or_default(),
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            group => found.groups.push(group.to_owned()),
        }
    }
    if found.groups.is_empty() {
        return Err("name a group: small, twenty, graphs, readme, j30, j60 or j120".to_owned());
    }
    Ok(found)
}

/// The result of a search.
struct Row {
    group: String,
    value: i128,
    bound: i128,
    conflicts: u64,
    seconds: f64,
    bytes: usize,
}

/// Returns the CPU time of the main thread, in seconds. If the kernel does not report this time, returns the time
/// since `begun`.
fn cpu_seconds(begun: Instant) -> f64 {
    let path = format!("/proc/self/task/{}/schedstat", std::process::id());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begun.elapsed().as_secs_f64(), |time| time * 1e-9)
}

/// Searches one instance. A second thread stops the search when the search has used its CPU time.
fn measure(case: &Case, objective: Objective, arguments: &Arguments) -> Row {
    let begun = Instant::now();
    let (instance, known) = (case.instance(), case.plan(objective));
    let before = cpu_seconds(begun);
    let (stop, is_done) = (Stop::default(), AtomicBool::new(false));
    // This limit in real time is much longer than the limit in CPU time, because a busy machine gives the search only
    // a part of its CPU time.
    let clock = Clock::until(begun + Duration::from_secs_f64(40.0 * arguments.limit), &stop);
    let completed = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) && cpu_seconds(begun) - before < arguments.limit {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.request();
        });
        let work = complete::CompleteWork { clock: &clock, conflicts: arguments.conflicts };
        let completed = complete::search(&instance, objective, &known, None, work);
        is_done.store(true, Ordering::Relaxed);
        completed
    });
    let seconds = cpu_seconds(begun) - before;
    let schedule = completed.schedule.as_ref().unwrap_or(&known);
    let bytes = completed.bound.as_ref().map_or(0, |bound| match &bound.proof {
        Proof::Refutation(refutation) => refutation.steps.len(),
        _ => 0,
    });
    let row = Row {
        group: format!("{} {}", case.kind, if objective == Objective::Makespan { "mk" } else { "wct" }),
        value: objective.value(&instance, schedule),
        bound: completed.bound.map_or(0, |bound| bound.value.integer()),
        conflicts: completed.conflicts,
        seconds,
        bytes,
    };
    let start = objective.value(&instance, &known);
    println!(
        "{:28} {:4} start {:8} value {:8} bound {:8} {:8} conflicts {:7} seconds {:7.3} bytes {}",
        case.name,
        if objective == Objective::Makespan { "mk" } else { "wct" },
        cases::seconds(start),
        cases::seconds(row.value),
        cases::seconds(row.bound),
        if row.bound == row.value { "proved" } else { "open" },
        row.conflicts,
        row.seconds,
        row.bytes,
    );
    row
}

fn print_table(rows: &[Row]) {
    let mut groups: Vec<&str> = Vec::new();
    for row in rows {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    println!("\ngroup                        proved   median s  worst s  median bytes  worst bytes");
    for group in groups.into_iter().chain(["all"]) {
        let of_group: Vec<&Row> = rows.iter().filter(|row| group == "all" || row.group == group).collect();
        let mut proved: Vec<&Row> = of_group.iter().copied().filter(|row| row.bound == row.value).collect();
        proved.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let times = (proved.get(proved.len() / 2), proved.last());
        let mut bytes: Vec<usize> = proved.iter().map(|row| row.bytes).collect();
        bytes.sort_unstable();
        println!(
            "{group:26} {:4}/{:<4} {:9.3} {:8.3} {:13} {:12}",
            proved.len(),
            of_group.len(),
            times.0.map_or(0.0, |row| row.seconds),
            times.1.map_or(0.0, |row| row.seconds),
            bytes.get(bytes.len() / 2).copied().unwrap_or(0),
            bytes.last().copied().unwrap_or(0),
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let mut rows = Vec::new();
    for group in &arguments.groups {
        for (case, objectives) in cases::of_group(group, &arguments.seeds, &arguments.data)? {
            if !case.name.contains(&arguments.name) {
                continue;
            }
            for &objective in objectives {
                rows.push(measure(&case, objective, &arguments));
            }
        }
    }
    print_table(&rows);
    Ok(())
}
