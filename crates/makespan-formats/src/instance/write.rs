//! Writes an instance in the native format.

use std::borrow::Cow;
use std::io::{self, Write};

use makespan_core::{
    Dependence, EndPenalty, Estimate, Instance, JobId, Need, Needs, Node, Payload, PenaltyForm, Platform,
    PlatformError, Profile, Resources, Setup, SpeedupLaw, Task, TaskId, Time, Weight,
};
use makespan_verify::native::instance::{
    AmountOut, PER_PROCESSOR, ResourcesOut, SiteEntry, SubmissionEntry, usual_weight,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::command::SHELL;
use crate::guess::{GUESSED_LAW, guessed};

/// Version of the format that is written.
const VERSION: u32 = 2;

/// The two languages of the native format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON, with one job on each line.
    Json,
    /// TOML, with one table `[[jobs]]` for each job.
    Toml,
}

/// A number in a notation that is read back exactly.
#[derive(Serialize)]
#[serde(untagged)]
enum Figure {
    Integer(i64),
    Float(f64),
    Text(String),
    Exact(serde_json::Number),
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    platform: PlatformEntry<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unavailable: Vec<PeriodOut>,
    jobs: Vec<JobOut<'a>>,
}

#[derive(Serialize)]
struct PlatformEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Figure>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    local_transfers: bool,
    #[serde(flatten)]
    machines: PlatformOut<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    licences: Option<ResourcesOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumables: Option<ResourcesOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    setups: Vec<SetupOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<SiteEntry>,
}

#[derive(Serialize)]
struct SetupOut<'a> {
    from: &'a str,
    to: &'a str,
    time: Figure,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PlatformOut<'a> {
    Flat {
        processors: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        resources: Option<ResourcesOut<'a>>,
    },
    Cluster {
        nodes: usize,
        processors_per_node: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        placement: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        resources: Option<ResourcesOut<'a>>,
    },
    Nodes {
        // In TOML, this key must precede the tables of the nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        placement: Option<&'static str>,
        nodes: Vec<NodeOut<'a>>,
    },
}

#[derive(Serialize)]
struct NodeOut<'a> {
    name: &'a str,
    processors: u32,
    speed: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<ResourcesOut<'a>>,
}

impl<'a> SetupOut<'a> {
    fn of(setup: &'a Setup, language: Language) -> Self {
        Self { from: &setup.from, to: &setup.to, time: time(setup.time, language), on: setup.on.as_deref() }
    }
}

/// Returns resources for writing, or `None` if there are none.
fn resources(resources: &Resources) -> Option<ResourcesOut<'_>> {
    (!resources.is_empty()).then_some(ResourcesOut(resources))
}

/// Needs of a task, for writing.
struct NeedsOut<'a>(&'a Needs);

impl Serialize for NeedsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, need) in self.0.iter() {
            match need {
                Need::Linear { whole: 0, per_processor } if *per_processor > 0 => {}
                Need::Linear { whole, .. } => map.serialize_entry(name, &AmountOut::of(name, *whole))?,
                Need::ByAllotment(amounts) => {
                    let each: Vec<AmountOut> = amounts.iter().map(|&amount| AmountOut::of(name, amount)).collect();
                    map.serialize_entry(name, &each)?;
                }
            }
        }
        let each = self.0.iter().filter_map(|(name, need)| match need {
            Need::Linear { per_processor, .. } if *per_processor > 0 => {
                Some((name, AmountOut::of(name, *per_processor)))
            }
            _ => None,
        });
        let each: std::collections::BTreeMap<&str, AmountOut> = each.collect();
        if !each.is_empty() {
            map.serialize_entry(PER_PROCESSOR, &each)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct PeriodOut {
    processors: String,
    start: Figure,
    end: Figure,
}

/// A job, or a task of a compound job, for writing.
#[derive(Default, Serialize)]
struct JobOut<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    released: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    must_end_by: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walltime: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<CommandOut<'a>>,
    // In TOML, tables must be last.
    #[serde(skip_serializing_if = "Option::is_none")]
    penalty: Option<PenaltyOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_on: Option<TimesOnOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<AllotmentsOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup: Option<SpeedupLaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<NeedsOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_estimate: Option<EstimateOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gang: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submission: Option<SubmissionEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<JobOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<EdgeOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lags: Vec<LagOut<'a>>,
}

/// A penalty: its form, and its points as pairs of a time and a value.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum PenaltyOut {
    Steps(Vec<(Figure, Figure)>),
    Linear(Vec<(Figure, Figure)>),
}

#[derive(Serialize)]
struct EdgeOut<'a> {
    from: Cow<'a, str>,
    to: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer: Option<Figure>,
}

/// Limit on the time from the start of one task to the start of another task.
#[derive(Serialize)]
struct LagOut<'a> {
    from: Cow<'a, str>,
    to: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Figure>,
}

/// Command for writing: a program with its arguments, or a text for the shell.
#[derive(Serialize)]
#[serde(untagged)]
enum CommandOut<'a> {
    Line(&'a str),
    Words(&'a [String]),
}

impl<'a> CommandOut<'a> {
    fn of(command: &'a [String]) -> Option<Self> {
        match command {
            [] => None,
            [shell, option, line] if [shell, option] == SHELL && !line.trim().is_empty() && !line.contains('\0') => {
                Some(Self::Line(line))
            }
            words => Some(Self::Words(words)),
        }
    }
}

/// Source of the run times or of the memory, for writing.
#[derive(Serialize)]
#[serde(untagged)]
enum EstimateOut {
    Guessed(&'static str),
    Learned { runs: u32, spread: f64 },
}

impl EstimateOut {
    fn of(estimate: Estimate) -> Option<Self> {
        match estimate {
            Estimate::Stated => None,
            Estimate::Guessed => Some(Self::Guessed("guessed")),
            Estimate::Learned { runs, spread } => Some(Self::Learned { runs, spread }),
        }
    }
}

/// Times on the nodes that can run the task, for writing.
struct TimesOnOut<'a> {
    nodes: &'a [Node],
    times: &'a [Time],
    language: Language,
}

impl Serialize for TimesOnOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = self.nodes.iter().zip(self.times).filter(|pair| *pair.1 < Profile::CANNOT_RUN);
        serializer.collect_map(known.map(|(node, &at)| (node.name.as_str(), time(at, self.language))))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum TimeOut {
    One(Figure),
    Many(Vec<Figure>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum AllotmentsOut {
    Exactly(u32),
    Range { min: u32, max: u32 },
}

/// Writes an instance in the native format. Reading the output gives an equal instance.
///
/// # Errors
/// Errors of the writer.
pub fn write_instance(instance: &Instance, language: Language, writer: &mut dyn Write) -> io::Result<()> {
    let period = |period: &makespan_core::Unavailable| PeriodOut {
        processors: period.processors.to_string(),
        start: time(period.start, language),
        end: time(period.end, language),
    };
    let document = Document {
        version: VERSION,
        platform: entry(instance.platform(), language),
        unavailable: instance.unavailable().iter().map(period).collect(),
        jobs: instance.ids().map(|id| job(instance, id, language)).collect(),
    };
    match language {
        Language::Json => write_json(&document, writer),
        Language::Toml => {
            let text = toml::to_string(&document).map_err(io::Error::other)?;
            writer.write_all(text.as_bytes())
        }
    }
}

fn write_json(document: &Document<'_>, writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "{{\"version\": {VERSION},\n \"platform\": ")?;
    serde_json::to_writer(&mut *writer, &document.platform)?;
    for (key, rows) in [("unavailable", json_rows(&document.unavailable)?), ("jobs", json_rows(&document.jobs)?)] {
        if !rows.is_empty() {
            write!(writer, ",\n \"{key}\": [\n  {}]", rows.join(",\n  "))?;
        }
    }
    writeln!(writer, "}}")
}

fn json_rows<T: Serialize>(rows: &[T]) -> io::Result<Vec<String>> {
    rows.iter().map(|row| serde_json::to_string(row).map_err(io::Error::from)).collect()
}

fn entry(platform: &Platform, language: Language) -> PlatformEntry<'_> {
    let link = platform.interconnect();
    PlatformEntry {
        bandwidth: link.map(|link| link.bandwidth),
        latency: link.map(|link| time(link.latency, language)),
        local_transfers: platform.has_local_transfers(),
        machines: machines(platform, language),
        licences: resources(platform.licences()),
        consumables: resources(platform.consumables()),
        setups: platform.setups().iter().map(|setup| SetupOut::of(setup, language)).collect(),
        site: SiteEntry::of(platform),
    }
}

fn machines(platform: &Platform, language: Language) -> PlatformOut<'_> {
    let each = platform.processors_of(0).len();
    // A platform is written without a list of its nodes if all nodes have the resources of the first node.
    let own = platform.kinds().next().map(|(node, _)| &node.resources);
    let same = |other: Result<Platform, PlatformError>| {
        let equipped = other.and_then(|other| own.map_or(Ok(other.clone()), |own| other.with_node_resources(own)));
        equipped.is_ok_and(|other| other.has_nodes_of(platform))
    };
    let stated = own.and_then(resources);
    if same(Platform::flat(platform.processors())) && !platform.is_compact() {
        return PlatformOut::Flat { processors: platform.processors(), resources: stated };
    }
    let placement = platform.stated_placement().map(|compact| if compact { "compact" } else { "any" });
    let count = platform.node_count();
    if same(Platform::cluster(count as u32, each)) {
        return PlatformOut::Cluster { nodes: count, processors_per_node: each, placement, resources: stated };
    }
    let nodes = platform.nodes();
    let node = |node: &'_ Node| -> (Option<f64>, Option<Figure>) {
        (node.link.map(|link| link.bandwidth), node.link.map(|link| time(link.latency, language)))
    };
    let out = nodes.iter().map(|one| {
        let (bandwidth, latency) = node(one);
        let parent = one.parent.map(|parent| nodes[parent].name.as_str());
        let resources = resources(&one.resources);
        NodeOut { name: &one.name, processors: one.processors, speed: one.speed, parent, bandwidth, latency, resources }
    });
    PlatformOut::Nodes { placement, nodes: out.collect() }
}

fn job(instance: &Instance, id: JobId, language: Language) -> JobOut<'_> {
    let job = instance.job(id);
    let name = Cow::Borrowed(job.name.as_str());
    let of = |name, one| task(name, one, job.walltime, instance.platform(), language);
    let (out, data) = if job.is_compound() {
        let tasks = job.task_ids().map(|one| of(instance.short_name(one), instance.task(one))).collect();
        let edges = instance.edges_of(id).iter().map(|one| edge(instance, one, language)).collect();
        let lags = job.task_ids().flat_map(|to| lags(instance, to, language)).collect();
        (JobOut { name, tasks, edges, lags, ..JobOut::default() }, None)
    } else {
        let task = instance.task(job.first());
        (of(name, task), task.data)
    };
    let usual = usual_weight(job.is_bag(), data);
    JobOut {
        weight: (job.weight != usual).then(|| figure(&job.weight.to_string(), job.weight.as_f64(), language)),
        priority: (job.priority != 0).then_some(job.priority),
        released: (job.release != Time::ZERO).then(|| time(job.release, language)),
        deadline: job.deadline.map(|deadline| time(deadline, language)),
        must_end_by: job.must_end_by.map(|must_end_by| time(must_end_by, language)),
        penalty: job.penalty.as_ref().map(|one| penalty(one, language)),
        walltime: job.walltime.map(|walltime| time(walltime, language)),
        count: job.is_bag().then(|| job.tasks()),
        data,
        after: job.after.iter().map(|name| &**name).collect(),
        submission: job.submission.as_deref().map(SubmissionEntry::of),
        ..out
    }
}

fn penalty(penalty: &EndPenalty, language: Language) -> PenaltyOut {
    let point =
        |&(at, value): &(Time, Weight)| (time(at, language), figure(&value.to_string(), value.as_f64(), language));
    let points = penalty.points().iter().map(point).collect();
    match penalty.form() {
        PenaltyForm::Steps => PenaltyOut::Steps(points),
        PenaltyForm::Linear => PenaltyOut::Linear(points),
    }
}

/// Returns a job or a task for writing, under the given name.
fn task<'a>(
    name: Cow<'a, str>,
    task: &'a Task,
    walltime: Option<Time>,
    platform: &'a Platform,
    language: Language,
) -> JobOut<'a> {
    let profile = &task.profile;
    let (work, speedup) = profile.speedup().unzip();
    // Guesses are not written if a reader would make the same guesses.
    let again = |law| guessed(profile.min_processors(), profile.max_processors(), law, walltime);
    let is_default = task.estimate.is_guess() && again(speedup).is_ok_and(|again| again == *profile);
    let estimate = EstimateOut::of(task.estimate).filter(|_| !is_default);
    let speedup = speedup.filter(|law| !is_default || *law != GUESSED_LAW);
    JobOut {
        name,
        work: work.filter(|_| !is_default).map(|work| time(work, language)),
        time: times(profile, language).filter(|_| !is_default),
        command: CommandOut::of(&task.command),
        estimate,
        time_on: profile.machine_times().map(|times| TimesOnOut { nodes: platform.nodes(), times, language }),
        processors: allotments(profile),
        speedup,
        needs: (!task.needs.is_empty()).then_some(NeedsOut(&task.needs)),
        memory_estimate: EstimateOut::of(task.memory_estimate),
        gang: task.gang.as_deref(),
        family: task.family.as_deref(),
        ..JobOut::default()
    }
}

fn edge<'a>(instance: &'a Instance, edge: &Dependence, language: Language) -> EdgeOut<'a> {
    let (data, transfer) = match edge.payload {
        Payload::Bytes(bytes) => (Some(bytes), None),
        Payload::Fixed(fixed) => (None, Some(time(fixed, language))),
    };
    EdgeOut { from: instance.short_name(edge.from), to: instance.short_name(edge.to), data, transfer }
}

/// Returns the lags to a task. A negative lag is a maximal lag from the task.
fn lags(instance: &Instance, to: TaskId, language: Language) -> impl Iterator<Item = LagOut<'_>> {
    instance.lags_to(to).map(move |(from, least)| {
        let (from, to) = (instance.short_name(from), instance.short_name(to));
        if least < Time::ZERO {
            return LagOut { from: to, to: from, min: None, max: Some(time(Time::ZERO - least, language)) };
        }
        LagOut { from, to, min: Some(time(least, language)), max: None }
    })
}

fn times(profile: &Profile, language: Language) -> Option<TimeOut> {
    if let Some(times) = profile.times() {
        return Some(TimeOut::Many(times.iter().map(|&one| time(one, language)).collect()));
    }
    let rigid = profile.speedup().is_none() && profile.machine_times().is_none();
    rigid.then(|| TimeOut::One(time(profile.shortest(), language)))
}

fn allotments(profile: &Profile) -> Option<AllotmentsOut> {
    let (min, max) = (profile.min_processors(), profile.max_processors());
    match profile.times() {
        _ if profile.machine_times().is_some() => None,
        Some(_) if min == 1 => None,
        None if profile.speedup().is_none() => Some(AllotmentsOut::Exactly(min)),
        _ => Some(AllotmentsOut::Range { min, max }),
    }
}

fn time(time: Time, language: Language) -> Figure {
    figure(&time.to_string(), time.seconds(), language)
}

/// Returns a number for writing. `text` is its exact decimal, and `float` the nearest float.
fn figure(text: &str, float: f64, language: Language) -> Figure {
    match language {
        Language::Json => text.parse().map_or_else(|_| Figure::Text(text.to_owned()), Figure::Exact),
        Language::Toml => match text.parse() {
            Ok(integer) => Figure::Integer(integer),
            // A TOML float is read as its shortest decimal. If this decimal is not the number, an exact text is
            // written instead.
            Err(_) if float.to_string() == text => Figure::Float(float),
            Err(_) => Figure::Text(text.to_owned()),
        },
    }
}
