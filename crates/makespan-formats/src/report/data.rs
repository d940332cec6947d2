//! Data of a page, for the chart and the table of jobs. Columns are packed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use makespan_core::{
    Dependence, Instance, Job, JobId, Objective, Outcome, Placement, ResourceKind, Rows, Schedule, Time,
};
use makespan_verify::Bound;
use serde::Serialize;

use super::pack::{Distinct, PackedBytes};
use super::run::RunDetails;
use crate::gantt::summary::{bound_word, is_guess};
use crate::gantt::{Marks, NamedSchedule};

/// Data for drawing a chart. Single times are in seconds. Times in columns are in units of `1 / per_second` seconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChartData<'a> {
    version: u32,
    title: &'a str,
    processors: u32,
    per_second: f64,
    /// Nodes with processors. An entry consists of the name, the first processor and the number of processors of a
    /// node.
    nodes: Vec<(&'a str, u32, u32)>,
    resources: Vec<ResourceData<'a>>,
    bound: Option<f64>,
    /// Noun for the bound, such as "bound".
    bound_word: String,
    jobs: JobData,
    /// Names of users, if any job states a user. A user's number is the index of the name.
    users: Option<Vec<&'a str>>,
    tasks: Option<TaskData>,
    /// Edges. For each distinct task, in order: the number of its predecessors, and for each predecessor the
    /// difference between the two task numbers.
    edges: Option<PackedBytes>,
    unavailable: Vec<Period>,
    open: AvailabilitySteps,
    /// True if the schedules are alternatives. The page shows alternatives one at a time.
    choose: bool,
    /// Command of each distinct task of a run. If this field is set, the first schedule contains the actual runs, and
    /// the second schedule, if any, is the plan.
    commands: Option<PackedBytes>,
    schedules: Vec<ScheduleData<'a>>,
}

#[derive(Serialize)]
struct ResourceData<'a> {
    name: &'a str,
    total: f64,
    /// True if used amounts of the resource are not returned.
    consumable: bool,
}

#[derive(Serialize)]
struct JobData {
    count: usize,
    names: PackedBytes,
    weight: Distinct<f64>,
    release: PackedBytes,
    /// Numbers of the users, or `None` if no user is known.
    user: Option<Distinct<i64>>,
    /// Kind of each job: 0 for a job, 1 for a bag, 2 for a best-effort bag. `None` if there are no bags.
    kind: Option<Distinct<u8>>,
}

/// Distinct tasks. All tasks of a bag count as one distinct task. Used only if there are bags or compound jobs.
#[derive(Serialize)]
struct TaskData {
    count: usize,
    /// Number of distinct tasks of each job.
    rows: PackedBytes,
    /// Names of the tasks within their jobs. A name is empty if its job has only one distinct task.
    names: PackedBytes,
}

#[derive(Serialize)]
pub(super) struct Period {
    pub start: f64,
    pub end: f64,
    /// Intervals of processors, as the first and the last processor of each interval.
    pub processors: Vec<u32>,
    /// Reason why the processors are unavailable, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Number of processors available to jobs, from each instant on.
#[derive(Serialize)]
pub(super) struct AvailabilitySteps {
    pub time: Vec<f64>,
    pub processors: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScheduleData<'a> {
    name: &'a str,
    makespan: f64,
    count: usize,
    /// Total number of processor intervals of all placements.
    intervals: usize,
    /// True if each placement states the number of its task within a bag.
    copies: bool,
    /// Placements. Each consists of the task, the task's number within its bag, the start, the duration, and the
    /// processor intervals.
    placements: PackedBytes,
    /// Indices of marked placements, each with the reason.
    marks: Vec<(usize, &'a str)>,
    /// Indices of placements with guessed run times.
    guesses: Vec<usize>,
    /// Indices of placements of tasks that did not succeed, each with the outcome.
    outcomes: Vec<(usize, &'static str)>,
    /// For a run: the exit status of each placement, or another reason for its end.
    ended: Option<Distinct<&'a str>>,
    /// For a run: the path of the output files of each placement, without extensions.
    stems: Option<PackedBytes>,
    /// For a run: 0, plus 1 if the placement has output, plus 2 if it has errors.
    written: Option<Distinct<u8>>,
    /// Deadlines. Each consists of the instant, whether it was missed, and the job.
    deadlines: Vec<(f64, bool, u32)>,
    /// Duration of the data transfer on each edge, in seconds. `None` if transfers take no time.
    transfers: Option<Distinct<f64>>,
    groups: Vec<&'a str>,
    /// Group of each placement: 0 for none, or else 1 plus the index in `groups`. `None` if there are no groups.
    group: Option<PackedBytes>,
    /// Amounts of each resource that the placements hold.
    held: Vec<Distinct<f64>>,
}

/// Content of a chart.
#[derive(Clone, Copy)]
pub(super) struct ChartContent<'a> {
    pub title: &'a str,
    pub instance: &'a Instance,
    pub schedules: &'a [NamedSchedule<'a>],
    pub marks: &'a [Marks],
    pub bounds: &'a [Bound],
    pub choose: bool,
    pub run: Option<&'a RunDetails>,
}

impl<'a> ChartData<'a> {
    pub(super) fn new(charted: ChartContent<'a>) -> Self {
        let ChartContent { title, instance, schedules, marks, bounds, choose, run } = charted;
        let platform = instance.platform();
        let nodes = platform.nodes().iter().enumerate().filter(|(_, node)| node.processors > 0);
        let first_of = |index| platform.processors_of(index).intervals().first().map_or(0, |interval| interval.0);
        let makespans = bounds.iter().filter(|bound| bound.objective == Objective::Makespan);
        let unit = unit(instance, schedules);
        let users = users(instance);
        let of = |(at, named): (usize, &NamedSchedule<'a>)| {
            let data = placements(instance, *named, marks.get(at).unwrap_or(Marks::NONE), unit);
            match run.filter(|_| at == 0).map(RunDetails::columns) {
                Some(run) => {
                    ScheduleData { ended: Some(run.ended), stems: Some(run.stems), written: Some(run.written), ..data }
                }
                None => data,
            }
        };
        Self {
            version: 2,
            title,
            processors: instance.processors(),
            per_second: (Time::TICKS_PER_SECOND / unit) as f64,
            nodes: nodes.map(|(index, node)| (node.name.as_str(), first_of(index), node.processors)).collect(),
            resources: resources(instance),
            bound: makespans.map(|bound| bound.value.integer()).max().map(|ticks| ticks as f64 / 1e9),
            bound_word: bound_word(instance.condition()),
            jobs: jobs(instance, unit, &users),
            users: (!users.is_empty()).then_some(users),
            tasks: tasks(instance),
            edges: edges(instance),
            unavailable: instance.unavailable().iter().map(period).collect(),
            open: open(instance),
            choose,
            commands: run.map(|run| PackedBytes::names(run.commands.iter())),
            schedules: schedules.iter().enumerate().map(of).collect(),
        }
    }
}

/// Writes JSON. Each `<` is written as `\u003c`, so that no text can end the script element that contains the JSON.
pub(super) fn write_json(out: &mut impl Write, data: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(data)?;
    let mut pieces = json.split('<');
    out.write_all(pieces.next().unwrap_or_default().as_bytes())?;
    pieces.try_for_each(|piece| write!(out, "\\u003c{piece}"))
}

/// Returns the unit of times in columns, in ticks. The unit is the longest of 1 s, 0.1 s, 0.01 s and so on that
/// divides all instants.
fn unit(instance: &Instance, schedules: &[NamedSchedule<'_>]) -> i64 {
    let placed = schedules.iter().flat_map(|named| named.schedule.placements());
    let instants = placed.flat_map(|placement| [placement.start, placement.end]);
    let mut unit = Time::TICKS_PER_SECOND;
    for instant in instants.chain(instance.jobs().iter().map(|job| job.release)) {
        while instant.ticks() % unit != 0 {
            unit /= 10;
        }
    }
    unit
}

fn resources(instance: &Instance) -> Vec<ResourceData<'_>> {
    if !instance.has_demands() {
        return Vec::new();
    }
    let platform = instance.platform();
    let one = |resource: &'_ makespan_core::Resource| {
        let total = platform.resource(&resource.name).map_or(0, |id| platform.total(id));
        (total as f64, resource.kind == ResourceKind::Consumable)
    };
    let with_total = platform.resources().iter().map(|resource| (resource, one(resource)));
    with_total.map(|(resource, (total, consumable))| ResourceData { name: &resource.name, total, consumable }).collect()
}

/// Returns the names of all users who submitted jobs, sorted.
fn users(instance: &Instance) -> Vec<&str> {
    let names: BTreeSet<&str> = instance.jobs().iter().filter_map(user_name).collect();
    names.into_iter().collect()
}

fn user_name(job: &Job<Rows>) -> Option<&str> {
    job.submission.as_deref()?.user.as_deref()
}

fn jobs(instance: &Instance, unit: i64, names: &[&str]) -> JobData {
    let jobs = instance.jobs();
    let users = !names.is_empty() || jobs.iter().any(|job| job.user.is_some());
    let user = |job: &Job<Rows>| match names {
        [] => job.user.map(i64::from),
        names => user_name(job).and_then(|name| names.binary_search(&name).ok()).map(|at| at as i64),
    };
    JobData {
        count: jobs.len(),
        names: PackedBytes::names(jobs.iter().map(|job| &job.name)),
        weight: Distinct::of(jobs.iter().map(|job| job.weight.as_f64()), f64::to_bits),
        release: PackedBytes::distances(jobs.iter().map(|job| job.release.ticks() / unit)),
        user: users.then(|| Distinct::of(jobs.iter().map(|job| user(job).unwrap_or(-1)), |user| user)),
        kind: instance.has_bags().then(|| Distinct::of(jobs.iter().map(kind), |kind| kind)),
    }
}

fn kind(job: &Job<Rows>) -> u8 {
    u8::from(job.is_bag()) + u8::from(job.is_best_effort())
}

fn tasks(instance: &Instance) -> Option<TaskData> {
    if !instance.has_compound_jobs() {
        return None;
    }
    let name = |task| {
        if instance.job_of(task).is_compound() { instance.short_name(task) } else { std::borrow::Cow::Borrowed("") }
    };
    Some(TaskData {
        count: instance.different_tasks(),
        rows: PackedBytes::numbers(instance.jobs().iter().map(|job| u64::from(job.different_tasks()))),
        names: PackedBytes::names(instance.different_task_ids().map(name)),
    })
}

fn edges(instance: &Instance) -> Option<PackedBytes> {
    if instance.edges().is_empty() {
        return None;
    }
    let mut packed = PackedBytes::default();
    for (row, task) in instance.different_task_ids().enumerate() {
        let incoming = instance.incoming(task);
        packed.number(incoming.len() as u64);
        incoming.for_each(|edge| packed.signed(row as i64 - instance.different(edge.from) as i64));
    }
    Some(packed)
}

fn period(period: &makespan_core::Unavailable) -> Period {
    Period {
        start: period.start.seconds(),
        end: period.end.seconds(),
        processors: period.processors.intervals().iter().flat_map(|&(first, last)| [first, last]).collect(),
        why: None,
    }
}

fn open(instance: &Instance) -> AvailabilitySteps {
    let mut times: Vec<_> = instance.unavailable().iter().flat_map(|period| [period.start, period.end]).collect();
    times.push(Time::ZERO);
    times.sort_unstable();
    times.dedup();
    AvailabilitySteps {
        time: times.iter().map(|time| time.seconds()).collect(),
        processors: times.iter().map(|&time| instance.availability().open_at(time)).collect(),
    }
}

fn placements<'a>(instance: &Instance, named: NamedSchedule<'a>, marks: &'a Marks, unit: i64) -> ScheduleData<'a> {
    let NamedSchedule { name, schedule } = named;
    let placed = schedule.placements();
    let groups = schedule.group_names();
    let group = |at| schedule.group(at).and_then(|name| groups.binary_search(&name).ok()).map_or(0, |at| at as u64 + 1);
    let marked = |(at, placement): (usize, &Placement)| Some((at, marks.tasks.get(&placement.task)?.as_str()));
    ScheduleData {
        name,
        makespan: schedule.makespan().seconds(),
        count: placed.len(),
        intervals: placed.iter().map(|placement| placement.processors.intervals().len()).sum(),
        copies: instance.has_bags(),
        placements: packed(instance, placed, unit),
        marks: placed.iter().enumerate().filter(|_| !marks.tasks.is_empty()).filter_map(marked).collect(),
        guesses: placed.iter().enumerate().filter(|(_, one)| is_guess(instance, one)).map(|(at, _)| at).collect(),
        outcomes: outcomes(placed, marks),
        ended: None,
        stems: None,
        written: None,
        deadlines: deadlines(instance, schedule, marks),
        transfers: instance.has_transfers().then(|| transfers(instance, placed)),
        group: (!groups.is_empty()).then(|| PackedBytes::numbers((0..placed.len()).map(group))),
        groups,
        held: held(instance, placed),
    }
}

fn packed(instance: &Instance, placed: &[Placement], unit: i64) -> PackedBytes {
    let (mut packed, mut row, mut start) = (PackedBytes::default(), 0, 0);
    for placement in placed {
        let next = instance.different(placement.task) as i64;
        packed.signed(next - row);
        if instance.has_bags() {
            packed.number(u64::from(if instance.job_of(placement.task).is_bag() {
                instance.number(placement.task)
            } else {
                0
            }));
        }
        let begin = placement.start.ticks() / unit;
        packed.signed(begin - start);
        packed.number((placement.end.ticks() / unit - begin).max(0) as u64);
        let intervals = placement.processors.intervals();
        packed.number(intervals.len() as u64);
        let mut free = 0;
        for &(first, last) in intervals {
            packed.number(u64::from(first - free));
            packed.number(u64::from(last - first));
            free = last + 1;
        }
        (row, start) = (next, begin);
    }
    packed
}

fn outcomes(placed: &[Placement], marks: &Marks) -> Vec<(usize, &'static str)> {
    let word = |outcome: Outcome| match outcome {
        Outcome::Succeeded => None,
        Outcome::Failed { .. } => Some(if outcome.signal().is_some() { "signalled" } else { "failed" }),
        Outcome::TimedOut => Some("killed"),
        Outcome::Interrupted => Some("interrupted"),
        Outcome::NotStarted => Some("not started"),
    };
    let known = placed.iter().enumerate().filter(|_| !marks.outcomes.is_empty());
    known.filter_map(|(at, one)| Some((at, word(*marks.outcomes.get(&(one.task, one.start))?)?))).collect()
}

/// Returns the deadlines in `marks`, or the deadlines of the jobs if `marks` has none.
fn deadlines(instance: &Instance, schedule: &Schedule, marks: &Marks) -> Vec<(f64, bool, u32)> {
    if !marks.deadlines.is_empty() || !instance.has_deadlines() {
        return marks.deadlines.iter().map(|one| (one.at.seconds(), one.missed, one.job.0)).collect();
    }
    let mut ends: BTreeMap<JobId, Time> = BTreeMap::new();
    for placement in schedule.placements() {
        let end = ends.entry(instance.job_id(placement.task)).or_default();
        *end = placement.end.max(*end);
    }
    let of = |id: JobId| {
        let job = instance.job(id);
        let at = job.deadline?;
        Some((at.seconds(), ends.get(&id).is_some_and(|&end| end > at), id.0))
    };
    instance.ids().filter_map(of).collect()
}

fn transfers(instance: &Instance, placed: &[Placement]) -> Distinct<f64> {
    // Among equal tasks, the last task to end sends the data, and the first task to start waits for the data.
    let mut ends: Vec<Option<(&Placement, &Placement)>> = vec![None; instance.different_tasks()];
    for placement in placed {
        let (first, last) = ends[instance.different(placement.task)].get_or_insert((placement, placement));
        *first = std::cmp::min_by_key(*first, placement, |one| one.start);
        *last = std::cmp::max_by_key(*last, placement, |one| one.end);
    }
    let seconds = |edge: &Dependence| {
        let (_, from) = ends[instance.different(edge.from)]?;
        let (to, _) = ends[instance.different(edge.to)]?;
        Some(instance.platform().transfer_between(&from.processors, &to.processors, edge.payload).seconds())
    };
    let incoming = instance.different_task_ids().flat_map(|task| instance.incoming(task));
    Distinct::of(incoming.map(|edge| seconds(edge).unwrap_or(0.0)), f64::to_bits)
}

fn held(instance: &Instance, placed: &[Placement]) -> Vec<Distinct<f64>> {
    if !instance.has_demands() {
        return Vec::new();
    }
    let of = |resource: usize, placement: &Placement| {
        let demands = instance.demands(placement.task);
        let demand = demands.iter().find(|demand| demand.resource.index() == resource);
        demand.map_or(0.0, |demand| demand.need.total(placement.processors.len()) as f64)
    };
    let column = |resource| Distinct::of(placed.iter().map(|placement| of(resource, placement)), f64::to_bits);
    (0..instance.platform().resources().len()).map(column).collect()
}
