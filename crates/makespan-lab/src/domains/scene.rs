//! The instance of a run: two domains with the jobs of their owners from logs, and random compound jobs of users.

use std::collections::BTreeMap;

use makespan_algos::kernel::chains::method::Method;
use makespan_algos::kernel::chains::strategy::{ChainBase, Settings};
use makespan_algos::kernel::chains::tariff::Tariff;
use makespan_algos::policy::DomainRules;
use makespan_core::{
    Actual, Edge, Graph, Instance, Job, JobId, Link, Node, Payload, Platform, ProcSet, Profile, Time, Work,
};
use makespan_formats::{ReplayOptions, read_replay};
use makespan_generate::{GraphOptions, LublinOptions, generate_graphs, lublin};

use super::DomainsOptions;
use crate::LabError;
use crate::campaign::{failed, stirred};

/// Number of processors of a domain with a random log.
const PROCESSORS: u32 = 64;
/// Offered load of a random log.
const LOAD: f64 = 0.7;
/// The prices of the two domains in thousandths. In the campaign, processors of both domains are equally fast.
const PRICES: [u32; 2] = [1000, 1500];
/// Budget of a job in per mille of the charge in the cheaper domain.
const BUDGET: i64 = 1300;
/// Time from the release of a user's job to its deadline, as a multiple of HEFT's makespan on eight idle processors.
const DEADLINE: f64 = 3.0;
/// Bandwidth between the domains, in bytes a second.
const BANDWIDTH: f64 = 1e7;

/// Returns the method of critical jobs for this campaign. Chains are planned on the two types of processors, because
/// domains have hundreds of processors.
pub(super) fn method() -> Method {
    Method { types: true, settings: Settings { start: ChainBase::Empty, ..Settings::default() }, ..Method::default() }
}

/// The treatment of the users' jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserJobs {
    /// There are no users.
    None,
    /// Each job is submitted to the queue of one domain. The domains take turns.
    Local,
    /// The metascheduler plans the jobs over both domains.
    Metascheduler,
}

/// Two domains with users.
pub(super) struct Scene {
    pub instance: Instance,
    pub actual: Actual,
    pub rules: Vec<DomainRules>,
    pub users: Vec<JobId>,
    pub budgets: BTreeMap<JobId, i64>,
    /// Time from the first to the last submission by an owner.
    pub span: Time,
}

impl Scene {
    /// Returns the prices of all processors.
    pub(super) fn tariff(&self) -> Tariff {
        let price = |rules: &DomainRules| std::iter::repeat_n(rules.price, rules.processors.len() as usize);
        Tariff::new(self.rules.iter().flat_map(price).collect(), BTreeMap::new())
    }
}

/// The jobs of the owners of one domain. Times are counted from the first submission.
struct OwnerLog {
    processors: u32,
    /// The jobs with their actual times.
    jobs: Vec<(Job, Profile)>,
}

/// The logs of both domains.
pub(super) struct SceneLogs([OwnerLog; 2]);

impl SceneLogs {
    /// Reads part `run` of each log, or draws the logs.
    pub(super) fn read(options: &DomainsOptions, run: u32, seed: u64) -> Result<Self, LabError> {
        let own = |domain: usize| match options.logs.get(domain) {
            Some(path) => {
                let unusable = |reason: String| failed("log", path.display(), reason);
                let replay =
                    read_replay(path, &ReplayOptions::default()).map_err(|error| unusable(error.to_string()))?;
                part(&replay.instance, &replay.actual, options.owners, run)
                    .ok_or_else(|| unusable(format!("the log has fewer than {} jobs", options.owners)))
            }
            None => {
                let seed = stirred(seed, [domain as u64]);
                let drawn = LublinOptions {
                    jobs: options.owners,
                    processors: PROCESSORS,
                    seed,
                    load: Some(LOAD),
                    requests: None,
                };
                let log = lublin(&drawn)?;
                part(&log.instance, &log.actual, options.owners, 0)
                    .ok_or_else(|| failed("log", domain, "the log is empty".into()))
            }
        };
        Ok(Self([own(0)?, own(1)?]))
    }

    /// Returns the scene with the users' jobs of a seed.
    pub(super) fn scene(&self, options: &DomainsOptions, users: UserJobs, seed: u64) -> Result<Scene, LabError> {
        let last = |log: &OwnerLog| log.jobs.last().map_or(Time::ZERO, |(job, _)| job.release);
        let span = self.0.iter().map(last).min().unwrap_or_default();
        let (mut jobs, mut actual) = (Vec::new(), Vec::new());
        let (mut rules, mut first) = (Vec::new(), 0);
        for (at, log) in self.0.iter().enumerate() {
            let owners = (jobs.len()..jobs.len() + log.jobs.len()).map(|job| JobId(job as u32)).collect();
            let processors = ProcSet::range(first, first + log.processors - 1);
            let name = ["first", "second"][at].to_owned();
            rules.push(DomainRules {
                name,
                processors,
                policy: options.policies[at].clone(),
                price: PRICES[at],
                owners,
            });
            first += log.processors;
            for (job, time) in &log.jobs {
                jobs.push(Job { name: format!("{at}-{}", job.name), ..job.clone() });
                actual.push(time.clone());
            }
        }
        let mut own = Vec::new();
        if users != UserJobs::None {
            for (at, job) in user_jobs(options, span, seed)?.into_iter().enumerate() {
                let id = JobId(jobs.len() as u32);
                own.push(id);
                if users == UserJobs::Local {
                    rules[at % 2].owners.push(id);
                }
                let Work::Graph(graph) = &job.work else { continue };
                actual.extend(graph.tasks().iter().map(|task| task.task.profile.clone()));
                jobs.push(if users == UserJobs::Local { without_data(&job, graph)? } else { job });
            }
        }
        let node = |(name, log): (&str, &OwnerLog)| Node::new(name, log.processors);
        let platform = Platform::new(["first", "second"].into_iter().zip(&self.0).map(node).collect())
            .and_then(|platform| platform.with_interconnect(Link { bandwidth: BANDWIDTH, latency: Time::ZERO }));
        let unusable = |reason: String| failed("two domains", seed, reason);
        let platform = platform.map_err(|error| unusable(error.to_string()))?;
        let instance = Instance::new(platform, jobs, Vec::new()).map_err(|error| unusable(error.to_string()))?;
        let actual = Actual::Profiles(actual);
        let mut scene = Scene { instance, actual, rules, users: own, budgets: BTreeMap::new(), span };
        let (tariff, processor) = (scene.tariff(), ProcSet::first(1));
        for &job in &scene.users {
            let tasks = scene.instance.job(job).task_ids();
            let cheapest: i64 = tasks.map(|task| tariff.charge_of(&scene.instance, task, &processor)).sum();
            scene.budgets.insert(job, cheapest * BUDGET / 1000);
        }
        Ok(scene)
    }
}

/// Returns the given number of jobs of a log. Part 0 begins with the first job. If the log ends, parts begin again at
/// the start of the log. Returns `None` if the log is too short.
fn part(instance: &Instance, actual: &Actual, count: usize, run: u32) -> Option<OwnerLog> {
    let all: Vec<JobId> = instance.ids().collect();
    let parts = all.len() / count;
    let from = (run as usize).checked_rem(parts)? * count;
    let begin = instance.job(all[from]).release;
    let own = |&id: &JobId| {
        let job = instance.submitted(id);
        let job = Job { release: job.release - begin, ..job };
        let task = instance.job(id).first();
        let width = instance.profile(task).min_processors();
        let time = actual.time(instance, task, &ProcSet::first(width));
        Some((job, Profile::rigid(width, time).ok()?))
    };
    let jobs = all[from..from + count].iter().map(own).collect::<Option<Vec<_>>>()?;
    Some(OwnerLog { processors: instance.processors(), jobs })
}

/// Returns the jobs of the users, with deadlines. The jobs arrive during the time in which owners submit jobs.
fn user_jobs(options: &DomainsOptions, span: Time, seed: u64) -> Result<Vec<Job>, LabError> {
    let drawn = GraphOptions {
        jobs: options.users,
        tasks: 12,
        volume: (600.0, 7200.0),
        data: (100_000_000, 2_000_000_000),
        processors: 1,
        cores: 8,
        fastest: 1.0,
        bandwidth: BANDWIDTH,
        gap: Some((span.seconds() / (options.users as f64 + 1.0)).max(1.0)),
        deadline: Some(DEADLINE),
        seed,
        ..GraphOptions::default()
    };
    let instance = generate_graphs(&drawn)?;
    let named = |(at, job): (usize, Job)| Job { name: format!("user{at}"), ..job };
    Ok(instance.all_submitted().into_iter().enumerate().map(named).collect())
}

/// Returns the job without data on its edges. Within a domain, transfers take no time, and local policies support only
/// jobs without transfers.
fn without_data(job: &Job, graph: &Graph) -> Result<Job, LabError> {
    let free = |edge: &Edge| Edge { payload: Payload::Fixed(Time::ZERO), ..*edge };
    let graph = Graph::new(graph.tasks().to_vec(), graph.edges().iter().map(free).collect());
    let graph = graph.map_err(|error| failed("a job of a user", &job.name, error.to_string()))?;
    Ok(Job { work: Work::Graph(graph), ..job.clone() })
}
