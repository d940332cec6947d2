//! Creates moldable jobs on a cluster, writes them to a file and reads the file. Then plans the jobs, proves bounds and
//! draws the plan.
//!
//!     cargo run --release -p makespan --example moldable

use std::error::Error;
use std::fs::File;

use makespan::formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan::formats::{Language, ReadOptions, read_instance, write_instance};
use makespan::{Instance, Job, Objective, Planner, Platform, Profile, SpeedupLaw, Time, Weight};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // Each job has a time on one processor. On more processors, the time is shorter, by Amdahl's law.
    let render = |(frame, minutes): (usize, i64)| {
        let law = SpeedupLaw::Amdahl { serial: 0.1 };
        let profile = Profile::law(Time::from_seconds(60 * minutes), law, 1, 8)?;
        Ok(Job::new(format!("frame-{frame}"), profile).with_weight(Weight::parse("2")?))
    };
    let jobs = [30, 12, 45, 8, 20].into_iter().enumerate().map(render).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let instance = Instance::new(Platform::flat(8)?, jobs, vec![])?;

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("frames.toml");
    write_instance(&instance, Language::Toml, &mut File::create(&path)?)?;
    let instance = read_instance(&path, &ReadOptions::default())?.instance;

    let planned = Planner::new().algorithm("demt").seed(1).plan(&instance)?;
    for bound in &planned.bounds {
        bound.verify(&instance)?;
        let ratio = planned.ratio(&instance, bound.objective).unwrap_or(1.0);
        println!("{}: at most {:.3} times the best possible", bound.objective, ratio);
    }
    let schedule = planned.schedule().ok_or("a plan of jobs has a schedule")?;
    println!("makespan {} s", Objective::Makespan.decimal(Objective::Makespan.value(&instance, schedule)));

    let chart = folder.path().join("frames.svg");
    let schedules = [NamedSchedule { name: "demt", schedule }];
    let options = GanttOptions { title: "Frames", bounds: &planned.bounds, ..GanttOptions::default() };
    write_svg(&mut File::create(&chart)?, &instance, &schedules, &options)?;
    println!("the chart has {} bytes", chart.metadata()?.len());
    Ok(())
}
