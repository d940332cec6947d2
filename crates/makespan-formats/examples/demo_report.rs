//! Writes reports and charts of generated schedules, for the browser test and for viewing.
//!
//! `cargo run -p makespan-formats --example demo_report -- FOLDER [JOBS]` writes the following files. `demo.html` and
//! `demo.svg` have 10,000 jobs, or JOBS. `two.html` and `two.svg` show a small plan and what happened. `bags.html` and
//! `bags.svg` have two jobs, a best-effort bag and a competing bag. In `graph.html`, tasks wait for each other and need
//! memory and GPUs. `front.html` has two alternative schedules, and `empty.html` has none.

use std::fs::{self, File};
use std::path::Path;

use makespan_core::{
    Edge, Graph, Instance, Job, JobId, Link, NamedTask, Need, Needs, Objective, Outcome, Payload, Placement, Platform,
    ProcSet, Profile, Resources, Run, Schedule, ScheduleBuilder, SpeedupLaw, Task, TaskId, Time, Trace, Unavailable,
    Weight,
};
use makespan_formats::gantt::{Deadline, GanttOptions, Marks, NamedSchedule, write_svg};
use makespan_formats::report::{Attempt, Report, RunDetails, Section, write_html};
use makespan_verify::{
    Bound, Proof,
    proof::{Alone, Rejection, Selection},
};

type Failure = Box<dyn std::error::Error>;

/// Name that would run a script on a page that does not escape it.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// Generator of pseudo-random numbers (`SplitMix64`). It gives the same numbers on each machine.
struct Numbers(u64);

/// Number of jobs above which jobs are placed in turn. Otherwise, each job is placed at its earliest fit.
const MAX_INSERTED: u64 = 50_000;

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: demo_report FOLDER [JOBS]")?;
    let jobs = arguments.next().map_or(Ok(10_000), |jobs| jobs.parse())?;
    fs::create_dir_all(&folder)?;
    large(Path::new(&folder), jobs)?;
    two(Path::new(&folder))?;
    bags(Path::new(&folder))?;
    graph(Path::new(&folder))?;
    let nothing = Instance::new(Platform::flat(4)?, vec![], vec![])?;
    write(Path::new(&folder), "empty", &nothing, &[("plan", Schedule::default())])
}

fn large(folder: &Path, count: u64) -> Result<(), Failure> {
    let mut numbers = Numbers(1);
    let mut jobs = vec![Job::new(HOSTILE, Profile::rigid(40, Time::from_seconds(4000))?)];
    for index in 1..count {
        let law = SpeedupLaw::Amdahl { serial: 0.01 + numbers.below(20) as f64 / 100.0 };
        let sequential = Time::from_seconds(60 + (numbers.below(60) * numbers.below(200)) as i64);
        let weight = Weight::from_f64(1.0 + numbers.below(90) as f64 / 10.0)?;
        let release = Time::from_seconds((index * 9) as i64 * i64::from(index % 3 == 0));
        let name = format!("{}-{index:05}", ["mesh", "solve", "render", "train", "align"][index as usize % 5]);
        let mut job = Job::new(name, Profile::law(sequential, law, 1, 64)?).with_weight(weight).with_release(release);
        job.user = Some((numbers.below(12) * numbers.below(12) / 8) as u32);
        jobs.push(job);
    }
    let closed = |first, last, start, end| Unavailable {
        processors: ProcSet::range(first, last),
        start: Time::from_seconds(start),
        end: Time::from_seconds(end),
    };
    if count > MAX_INSERTED {
        let instance = Instance::new(Platform::cluster(16, 16)?, jobs, vec![])?;
        let plan = in_turn(&instance, &mut numbers);
        return write(folder, "demo", &instance, &[("plan", plan)]);
    }
    let periods = vec![closed(192, 223, 20_000, 38_000), closed(0, 255, 60_000, 61_800), closed(16, 20, 0, 9_000)];
    let instance = Instance::new(Platform::cluster(16, 16)?, jobs, periods)?;
    let mut builder = ScheduleBuilder::new(&instance);
    for task in instance.task_ids() {
        let profile = instance.profile(task);
        let allotment = (1 + numbers.below(16) as u32).clamp(profile.min_processors(), profile.max_processors());
        builder.place_earliest(task, allotment, Time::ZERO);
    }
    write(folder, "demo", &instance, &[("plan", builder.finish())])
}

/// Places each task on the next processors in turn, from the instant at which the processors are free and the task is
/// released. This is fast, but leaves gaps.
fn in_turn(instance: &Instance, numbers: &mut Numbers) -> Schedule {
    let processors = instance.processors();
    let (mut free, mut first) = (vec![Time::ZERO; processors as usize], 0);
    let place = |task: TaskId| {
        let profile = instance.profile(task);
        let allotment = (1 + numbers.below(8) as u32).clamp(profile.min_processors(), profile.max_processors());
        first = if first + allotment > processors { 0 } else { first };
        let places = first as usize..(first + allotment) as usize;
        first += allotment;
        let ready = free[places.clone()].iter().copied().max().unwrap_or_default();
        let start = ready.max(instance.release(task));
        let end = start + profile.time(allotment);
        free[places.clone()].fill(end);
        Placement { task, start, end, processors: ProcSet::range(places.start as u32, places.end as u32 - 1) }
    };
    Schedule::new(instance.task_ids().map(place).collect())
}

fn two(folder: &Path) -> Result<(), Failure> {
    let mut numbers = Numbers(7);
    let mut jobs = vec![Job::new(HOSTILE, Profile::rigid(3, Time::from_seconds(40))?)];
    for index in 1..40 {
        let law = SpeedupLaw::Power { exponent: 0.8 };
        let sequential = Time::from_ticks((5_000 + numbers.below(90_000) as i64) * 1_000_000);
        jobs.push(Job::new(format!("step {index}"), Profile::law(sequential, law, 1, 16)?));
    }
    let instance = Instance::new(Platform::flat(16)?, jobs, vec![])?;
    let mut builder = ScheduleBuilder::new(&instance);
    for task in instance.task_ids() {
        let allotment = 1 + numbers.below(5) as u32;
        builder.place_earliest(task, instance.profile(task).min_processors().max(allotment), Time::ZERO);
    }
    let plan = builder.finish();
    // In reality, each run time differs by -10 % to +14 % from the plan, and a run starts when its processors are
    // free.
    let mut free = [Time::ZERO; 16];
    let mut happened = Vec::new();
    for placement in plan.placements() {
        let factor = 90 + numbers.below(25) as i64;
        let start = placement.processors.iter().map(|id| free[id as usize]).max().unwrap_or_default();
        let end = start + Time::from_ticks((placement.end - placement.start).ticks() / 100 * factor);
        placement.processors.iter().for_each(|id| free[id as usize] = end);
        happened.push(Placement { start, end, ..placement.clone() });
    }
    let brief = happened.iter().map(|placement: &Placement| {
        let [start, end] = [placement.start, placement.end].map(|at| Time::from_ticks(at.ticks() / 100));
        Placement { start, end, ..placement.clone() }
    });
    let brief = Schedule::new(brief.collect());
    write(folder, "short", &instance, &[("happened", brief), ("planned", plan.clone())])?;
    write(folder, "two", &instance, &[("happened", Schedule::new(happened)), ("planned", plan)])
}

/// Writes a schedule in which tasks are placed one after the other, each at its earliest fit.
fn bags(folder: &Path) -> Result<(), Failure> {
    let job = |name: &str, width, seconds| {
        Ok::<_, Failure>(Job::new(name, Profile::rigid(width, Time::from_seconds(seconds))?))
    };
    let bag = |job: Job, weight, count: u64| Ok::<_, Failure>(job.with_weight(weight).with_count(count.try_into()?));
    let jobs = vec![
        job("wide", 6, 40)?,
        job("narrow", 3, 70)?,
        bag(job("urgent", 2, 15)?, Weight::ONE, 4)?,
        bag(job("fill", 1, 6)?, Weight::ZERO, 50)?,
    ];
    let instance = Instance::new(Platform::flat(8)?, jobs, vec![])?;
    let mut builder = ScheduleBuilder::new(&instance);
    for task in instance.task_ids() {
        builder.place_earliest(task, instance.profile(task).min_processors(), Time::ZERO);
    }
    write(folder, "bags", &instance, &[("plan", builder.finish())])
}

/// Writes two graphs: one without data, and one with a gigabyte of data on each edge. A transfer of a gigabyte between
/// nodes takes one second.
fn graph(folder: &Path) -> Result<(), Failure> {
    graph_with(folder, 0)?;
    graph_with(folder, 1_000_000_000)
}

/// Writes a graph with three forks and joins, on nodes with memory and GPUs. Each task starts after its predecessors.
fn graph_with(folder: &Path, bytes: u64) -> Result<(), Failure> {
    let mut numbers = Numbers(3);
    let (mut tasks, mut edges) = (Vec::new(), Vec::new());
    for round in 0..3_u32 {
        let first = tasks.len() as u32;
        for (kind, count) in [("split", 1), ("align", 14), ("train", 4), ("merge", 1)] {
            for _ in 0..count {
                let time = Time::from_ticks((20_000 + numbers.below(50_000) as i64) * 1_000_000);
                let (wide, gpus) = if kind == "train" { (4, 1) } else { (1 + numbers.below(2) as u32, 0) };
                let needs = Needs::new([
                    ("memory", Need::per_processor((1 + numbers.below(4)) << 30)),
                    ("gpus", Need::whole(gpus)),
                ])?;
                let task = Task { needs, ..Task::new(Profile::rigid(wide, time)?) };
                tasks.push(NamedTask { name: format!("{kind}_ID{:07}", tasks.len()).into(), task });
            }
        }
        let last = tasks.len() as u32 - 1;
        let payload = Payload::Bytes(bytes);
        edges.extend(
            (first + 1..last)
                .flat_map(|task| [Edge { from: first, to: task, payload }, Edge { from: task, to: last, payload }]),
        );
        if round > 0 {
            edges.push(Edge { from: first - 1, to: first, payload });
        }
    }
    let job = Job::compound("genome-2020", Graph::new(tasks, edges)?);
    let resources = Resources::new([("memory", 32_u64 << 30), ("gpus", 2)])?;
    let link = Link { bandwidth: 1e9, latency: Time::ZERO };
    let platform = Platform::cluster(4, 8)?.with_node_resources(&resources)?.with_interconnect(link)?;
    let instance = Instance::new(platform, vec![job], vec![])?;
    // Each task waits for a whole transfer, even if its predecessor ran on the same node.
    let transfer = Time::from_seconds((bytes / 1_000_000_000) as i64);
    let mut builder = ScheduleBuilder::new(&instance);
    let mut ends = vec![Time::ZERO; instance.tasks() as usize];
    for task in instance.in_order() {
        let ready = instance.incoming(task).map(|edge| ends[edge.from.index()] + transfer).max().unwrap_or_default();
        let (start, _) = builder.place_earliest(task, instance.profile(task).min_processors(), ready);
        ends[task.index()] = start + instance.profile(task).time(instance.profile(task).min_processors());
    }
    let plan = builder.finish();
    if bytes > 0 {
        return page(folder, "transfers", &instance, &[("plan", plan)], &Drawn { marks: &[], choose: false });
    }
    let runs = plan.placements().iter().enumerate().map(|(at, placement)| Run {
        task: placement.task,
        start: placement.start,
        end: placement.end,
        processors: placement.processors.clone(),
        outcome: match at % 17 {
            5 => Outcome::Failed { status: 1 },
            9 => Outcome::TimedOut,
            _ => Outcome::Succeeded,
        },
        accounting: None,
    });
    let marks = Marks::default().with_outcomes(&Trace { runs: runs.collect() });
    let later =
        plan.placements().iter().map(|one| Placement { start: one.start * 2, end: one.start + one.end, ..one.clone() });
    let schedules = [("as told", plan.clone()), ("with gaps", Schedule::new(later.collect()))];
    page(folder, "graph", &instance, &schedules[..1], &Drawn { marks: &[marks], choose: false })?;
    page(folder, "front", &instance, &schedules, &Drawn { marks: &[], choose: true })
}

/// Returns the best bound from the area and the longest job.
fn bounds(instance: &Instance, makespan: Time) -> Vec<Bound> {
    let alone = instance.ids().map(|job| Proof::Alone(Alone { job }));
    let deadlines = (1..100).map(|percent| {
        let deadline = Time::from_ticks(makespan.ticks() / 100 * percent);
        Proof::Rejection(Rejection { deadline, from: Time::ZERO, at: Time::ZERO, selection: Selection::Price(0) })
    });
    let proved =
        alone.take(50).chain(deadlines).filter_map(|proof| Bound::proved_by(Objective::Makespan, proof, instance).ok());
    proved.max_by_key(|bound| bound.value.integer()).into_iter().collect()
}

/// Data for a chart in addition to its schedules.
struct Drawn<'a> {
    marks: &'a [Marks],
    choose: bool,
}

/// Writes a chart. If the chart shows what happened, a job and two deadlines are marked.
fn write(folder: &Path, name: &str, instance: &Instance, schedules: &[(&str, Schedule)]) -> Result<(), Failure> {
    let deadline = |percent: i64, missed| Deadline {
        at: Time::from_ticks(schedules[0].1.makespan().ticks() / 100 * percent),
        text: format!("a deadline at {percent} %"),
        missed,
        job: JobId(0),
    };
    let tasks = [(TaskId(0), "collided and was moved".to_owned())].into();
    let happened = Marks { tasks, deadlines: vec![deadline(50, true), deadline(70, false)], ..Marks::default() };
    let marks = [happened, Marks::default()];
    let marks = if schedules.len() > 1 { &marks[..] } else { &[] };
    page(folder, name, instance, schedules, &Drawn { marks, choose: false })
}

fn page(
    folder: &Path,
    name: &str,
    instance: &Instance,
    schedules: &[(&str, Schedule)],
    drawn: &Drawn<'_>,
) -> Result<(), Failure> {
    let named: Vec<_> = schedules.iter().map(|(name, schedule)| NamedSchedule { name, schedule }).collect();
    let bounds = bounds(instance, schedules[0].1.makespan());
    let title = format!("A generated schedule of {} jobs", instance.jobs().len());
    let mut svg = File::create(folder.join(format!("{name}.svg")))?;
    let run = (!drawn.choose && schedules.len() > 1).then(|| details(instance, &schedules[0].1));
    let sentence = run.as_ref().map(|_| "what happened, and the plan");
    let (title, bounds) = (&*title, &*bounds);
    write_svg(&mut svg, instance, &named, &GanttOptions { title, bounds, run: sentence, ..Default::default() })?;
    let remarks = ["Allotments were drawn at random: this is a demonstration, not an algorithm.".to_owned()];
    let sections = [Section {
        title: "Platform".to_owned(),
        text: "Every node of the platform.".to_owned(),
        columns: vec!["node".to_owned(), "processors".to_owned()],
        rows: instance.platform().nodes().iter().map(|n| vec![n.name.clone(), n.processors.to_string()]).collect(),
        ..Section::default()
    }];
    let report = Report {
        title,
        instance,
        schedules: &named,
        marks: drawn.marks,
        algorithm: "list[order=random]",
        seed: 1,
        bounds,
        remarks: &remarks,
        sections: &sections,
        minimised: &[],
        choose: drawn.choose,
        run: run.as_ref(),
    };
    write_html(&mut File::create(folder.join(format!("{name}.html")))?, &report)?;
    Ok(())
}

/// Facts about a run in which one job failed. Names and commands are hostile.
fn details(instance: &Instance, ran: &Schedule) -> RunDetails {
    let attempt = |placement: &Placement| {
        let failed = placement.task == TaskId(3);
        Attempt {
            ended: if failed { "3" } else { "0" }.to_owned(),
            stem: format!("{:02}-{HOSTILE}", placement.task.0 + 1).replace('/', "-"),
            has_output: true,
            has_errors: failed,
        }
    };
    RunDetails {
        origin: vec!["16 processors".to_owned()],
        succeeded: instance.jobs().len() - 1,
        others: "1 failed".to_owned(),
        commands: instance.jobs().iter().map(|job| format!("work '{}' {HOSTILE}", job.name)).collect(),
        attempts: ran.placements().iter().map(attempt).collect(),
    }
}
