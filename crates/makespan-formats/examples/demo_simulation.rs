//! Writes pages of invented simulations, for the browser test and for viewing.
//!
//! `cargo run -p makespan-formats --example demo_simulation -- FOLDER` writes `replay.html` (a short log under two
//! policies, with all jobs) and `long.html` (a year).

use std::fs::{self, File};
use std::path::Path;

use makespan_core::{Instance, Job, Platform, Profile, Schedule, ScheduleBuilder, Time};
use makespan_formats::gantt::Marks;
use makespan_formats::report::{PolicyPanel, Section, SimulationLevel, SimulationReport, write_simulation};

type Failure = Box<dyn std::error::Error>;

/// Name that would run a script on a page that does not escape it.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).ok_or("usage: demo_simulation FOLDER")?;
    fs::create_dir_all(&folder)?;
    write(&Path::new(&folder).join("replay.html"), 300, true)?;
    write(&Path::new(&folder).join("long.html"), 60_000, false)
}

/// Writes a page for jobs of pseudo-random widths under two policies. The first keeps the order of the jobs.
fn write(path: &Path, count: u64, gantt: bool) -> Result<(), Failure> {
    let mut state = 1_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut release = 0;
    let mut jobs = Vec::new();
    for index in 0..count {
        release += below(if index % 300 < 200 { 500 } else { 1_500 });
        let profile =
            Profile::rigid(1 + (below(8) * below(8)) as u32, Time::from_seconds(60 + (below(60) * below(120)) as i64))?;
        let mut job = Job::new(format!("{index}"), profile).with_release(Time::from_seconds(release as i64));
        job.user = Some((below(6) * below(6) / 3) as u32);
        jobs.push(job);
    }
    let instance = Instance::new(Platform::flat(64)?, jobs, vec![])?;
    let schedule = |keep_order: bool| {
        let (mut builder, mut after) = (ScheduleBuilder::new(&instance), Time::ZERO);
        for task in instance.task_ids() {
            let (placed, _) = builder.place_earliest(task, instance.profile(task).min_processors(), after);
            after = if keep_order { placed } else { after };
        }
        builder.finish()
    };
    let schedules = [("fcfs", schedule(true)), (HOSTILE, schedule(false))];
    let levels: Vec<Vec<SimulationLevel>> = schedules.iter().map(|(_, schedule)| levels(&instance, schedule)).collect();
    let panels: Vec<PolicyPanel<'_>> = schedules
        .iter()
        .zip(&levels)
        .map(|((name, schedule), levels)| PolicyPanel {
            name,
            summary: "mean wait 1 h 3 min, bounded slowdown 12.3, utilisation 71.4 %",
            end: schedule.makespan(),
            processors: instance.processors(),
            levels,
            phases: None,
            schedule: gantt.then_some(schedule),
            marks: Marks::NONE,
        })
        .collect();
    let comparison = Section {
        title: "Policies".into(),
        text: "Times in seconds.".into(),
        columns: ["", "fcfs", HOSTILE].map(str::to_owned).to_vec(),
        rows: vec![["mean wait", "12345.6", "789.1"].map(str::to_owned).to_vec(); 12],
        ..Section::default()
    };
    let report = SimulationReport {
        title: "An invented log",
        instance: &instance,
        policies: &panels,
        seed: 1,
        remarks: &["The log is invented: this is a demonstration, not an experiment.".to_owned()],
        is_present: false,
        week: None,
        comparison: &comparison,
        sections: &[],
    };
    write_simulation(&mut File::create(path)?, &report)?;
    Ok(())
}

fn levels(instance: &Instance, schedule: &Schedule) -> Vec<SimulationLevel> {
    let mut changes: Vec<(Time, i64, i64)> = instance.jobs().iter().map(|job| (job.release, 0, 1)).collect();
    for placement in schedule.placements() {
        let width = i64::from(placement.processors.len());
        changes.extend([(placement.start, width, -1), (placement.end, -width, 0)]);
    }
    changes.sort_unstable();
    let (mut held, mut waiting) = (0, 0);
    let mut levels: Vec<SimulationLevel> = Vec::new();
    for (time, width, jobs) in changes {
        (held, waiting) = (held + width, waiting + jobs);
        if levels.last().is_some_and(|last| last.time == time) {
            levels.pop();
        }
        levels.push(SimulationLevel { time, held: held as u32, waiting: waiting as u32 });
    }
    levels
}
