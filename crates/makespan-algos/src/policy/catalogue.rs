//! The catalogue of policies.

use std::borrow::Cow;

use makespan_core::{Demand, Instance, Job, Objective, Policy, Rows, Unsupported};
use thiserror::Error;

use super::built::{OfPolicy, SupportedPolicy};
use super::flow::{self, sequential_and_open};
use super::held::equal_speeds;
use super::job_flow;
use super::order::QueueReading;
use super::queue_state::without_transfers;
use super::slurm;
use super::{
    Batch, Communication, Conservative, Easy, Fcfs, Follow, Improve, Improving, KeptStart, MAPPERS, MappingInstants,
    MoldableEasy, Passes, QueueOrder, Queues, Replan, Request, Rules, SchedulingTime, Slurm, SlurmRules, TaskFlow,
};
use crate::catalogue::{Entry, Parameter, Spec, SpecError, objective_named};
use crate::plan::Scheduler;
use crate::scheduler::{
    STEADY_STATE, needs_no_gangs, needs_no_hard_deadlines, needs_no_lags, needs_no_resources, needs_no_setups,
};

/// Reason why a policy cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// The spec is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The policy does not support the instance.
    #[error("the policy {spec} cannot schedule this instance: {reason}")]
    Unsupported {
        /// The spec.
        spec: String,
        /// The property of the instance that the policy does not support.
        reason: Unsupported,
    },
}

const ANY: &str = "rigid, sequential and moldable jobs on any platform; needs; jobs that wait for jobs; unavailable periods; best placement; speeds; failures";
const FLOW: &str = "sequential jobs on nodes of any speeds, or with their own times on each node; failures";
const OFFLINE: &str = "all instances that its scheduler supports";
const ORDER: Parameter = Parameter { name: "order", values: QueueOrder::VALUES, default: "fcfs" };
const REQUEST: Parameter = Parameter { name: "request", values: Request::VALUES, default: "efficient" };
const SLURM: &[Parameter] = SlurmRules::PARAMETERS;
const QUEUES: Parameter = Parameter { name: "queues", values: Queues::VALUES, default: "one" };
const SCHEDULER: Parameter =
    Parameter { name: "scheduler", values: "a scheduler, such as demt[shuffles=5]", default: "list" };
const MAPPER: Parameter = Parameter { name: "mapper", values: MAPPERS, default: "min-min" };
const COMMUNICATION: Parameter = Parameter { name: "communication", values: Communication::VALUES, default: "links" };
const SCHEDULING_TIME: Parameter =
    Parameter { name: "scheduling-time", values: SchedulingTime::VALUES, default: "zero" };
const PTFS: &str = "Sun, Zhang, Wu, Inoguchi, Practical Task Flow Scheduling for High Throughput Computational Grid";
const ONLINE_MAPPING: &str = "Maheswaran et al., JPDC 59, 1999, doi:10.1006/jpdc.1999.1581";

const GRAPHS: Parameter = Parameter { name: "scheduler", values: "a scheduler, such as peft", default: "heft" };

static POLICIES: [Entry<OfPolicy>; 15] = [
    Entry {
        name: "fcfs",
        summary: "tasks start strictly in the order of the queue",
        supports: ANY,
        source: "Feitelson, Rudolph, Schwiegelshohn, JSSPP 2004, doi:10.1007/11407522_1",
        parameters: &[ORDER, QUEUES, REQUEST],
        kind: OfPolicy { build: |spec, _| Ok(SupportedPolicy::queue(Fcfs::new(reading(spec)?))) },
    },
    Entry {
        name: "easy",
        summary: "EASY backfilling: the first waiting job has a reservation, and a later job may start if it does not delay this reservation",
        supports: ANY,
        source: "Lifka, JSSPP 1995, doi:10.1007/3-540-60153-8_35; Mu'alem, Feitelson, TPDS 2001, doi:10.1109/71.932708",
        parameters: &[ORDER, QUEUES, REQUEST, Parameter { name: "passes", values: Passes::VALUES, default: "event" }],
        kind: OfPolicy {
            build: |spec, _| {
                let passes = spec.take("passes", Passes::default(), str::parse::<Passes>)?;
                Ok(SupportedPolicy::queue(Easy::new(reading(spec)?).looking(passes)))
            },
        },
    },
    Entry {
        name: "conservative",
        summary: "conservative backfilling: every job has a reservation, and a later job may start if it delays no reservation",
        supports: ANY,
        source: "Mu'alem, Feitelson, TPDS 2001, doi:10.1109/71.932708",
        parameters: &[ORDER, QUEUES, REQUEST],
        kind: OfPolicy { build: |spec, _| Ok(SupportedPolicy::queue(Conservative::new(reading(spec)?))) },
    },
    Entry {
        name: "slurm",
        summary: "Slurm's main and backfill cycles, with its priorities, partitions and limits",
        supports: "rigid, sequential and moldable jobs on equally fast processors; needs; jobs that wait for jobs; unavailable periods; failures; the rules of a shared cluster",
        source: "slurm.conf(5) of Slurm 24.11; Yoo, Jette, Grondona, JSSPP 2003, doi:10.1007/10968987_3",
        parameters: SLURM,
        kind: OfPolicy {
            build: |spec, _| {
                let rules = SlurmRules::read(spec)?;
                let request = spec.take("request", Request::default(), str::parse::<Request>)?;
                let weighed: Vec<Box<str>> = rules.priority.tres.iter().map(|weight| weight.0.clone()).collect();
                let has_all = move |instance: &Instance| slurm::has_weighed(instance, &weighed);
                Ok(SupportedPolicy::queue(Slurm::new(rules, request))
                    .only(equally_fast)
                    .only(slurm::supports)
                    .only(has_all))
            },
        },
    },
    Entry {
        name: "moldable-easy",
        summary: "EASY backfilling that chooses the number of processors of a job when it starts, by the load",
        supports: "rigid, sequential and moldable jobs on equally fast processors; needs; jobs that wait for jobs; unavailable periods; best placement; failures",
        source: "Makespan, after Srinivasan, Krishnamoorthy, Sadayappan, CLUSTER 2003",
        parameters: &[ORDER, QUEUES],
        kind: OfPolicy {
            build: |spec, _| {
                let (order, queues) = queue(spec)?;
                let reading = QueueReading { order, queues, ..QueueReading::default() };
                Ok(SupportedPolicy::queue(MoldableEasy::new(reading)).only(equally_fast))
            },
        },
    },
    Entry {
        name: "batch",
        summary: "when a batch has ended, all waiting jobs are planned as the next batch",
        supports: OFFLINE,
        source: "Shmoys, Wein, Williamson, SIAM J. Comput. 24(6), 1995, doi:10.1137/S0097539793248317",
        parameters: &[SCHEDULER, QUEUES],
        kind: OfPolicy {
            build: |spec, seed| {
                let queues = spec.take("queues", Queues::default(), str::parse::<Queues>)?;
                by_scheduler(spec, |scheduler| Batch::new(scheduler, seed).taking(queues))
            },
        },
    },
    Entry {
        name: "doubling",
        summary: "plans batches of doubling lengths, filled with jobs that are short enough, by weight divided by work",
        supports: OFFLINE,
        source: "Hall, Schulz, Shmoys, Wein, Math. Oper. Res. 22(3), 1997, doi:10.1287/moor.22.3.513",
        parameters: &[SCHEDULER],
        kind: OfPolicy { build: |spec, seed| by_scheduler(spec, |scheduler| Batch::new(scheduler, seed).doubling()) },
    },
    Entry {
        name: "replan",
        summary: "follows a plan of a scheduler, and plans again whenever events depart from the plan",
        supports: OFFLINE,
        source: "Makespan",
        parameters: &[SCHEDULER, Parameter { name: "keep", values: KeptStart::VALUES, default: "oldest" }],
        kind: OfPolicy {
            build: |spec, seed| {
                let keep = spec.take("keep", KeptStart::default(), str::parse::<KeptStart>)?;
                by_scheduler(spec, |scheduler| Replan::new(scheduler, seed).keeping(keep))
            },
        },
    },
    Entry {
        name: "improve",
        summary: "follows a plan that is repaired and improved by annealing at every event: recommended",
        supports: "rigid, sequential and moldable jobs; graphs and jobs that wait for jobs; needs; processors of different speeds; unavailable periods; best placement; failures",
        source: "Makespan; replanning by repair as in Vieira, Herrmann, Lin, J. Scheduling 6, 2003, doi:10.1023/A:1022235519958",
        parameters: &[
            Parameter { name: "objective", values: OBJECTIVES, default: "weighted-completion" },
            Parameter { name: "steps", values: STEPS, default: "2000" },
            Parameter { name: "keep", values: KeptStart::VALUES, default: "oldest" },
        ],
        kind: OfPolicy {
            build: |spec, seed| {
                let default = Improving::default();
                let improving = Improving {
                    objective: spec.take("objective", default.objective, objective)?,
                    steps: spec.take("steps", default.steps, steps)?,
                    keep: spec.take("keep", default.keep, str::parse::<KeptStart>)?,
                };
                let policy = Box::new(Improve::new(improving, seed));
                let supports = Box::new(crate::scheduler::counts_or_packs);
                Ok(SupportedPolicy { policy, supports }.only(enough_for_all))
            },
        },
    },
    Entry {
        name: "flow",
        summary: "sends tasks to the queues of the nodes, shortly before a node would become idle: recommended",
        supports: FLOW,
        source: "Makespan, after the dynamic scheduling cycle of ptfs",
        parameters: &[Parameter { default: "fast", ..MAPPER }, COMMUNICATION],
        kind: OfPolicy { build: |spec, seed| flow(spec, seed, "fast", MappingInstants::Need, SchedulingTime::Zero) },
    },
    Entry {
        name: "immediate",
        summary: "sends each task to the queue of a node when it arrives",
        supports: FLOW,
        source: ONLINE_MAPPING,
        parameters: &[Parameter { default: "mct", ..MAPPER }, COMMUNICATION],
        kind: OfPolicy { build: |spec, seed| flow(spec, seed, "mct", MappingInstants::Arrival, SchedulingTime::Zero) },
    },
    Entry {
        name: "interval",
        summary: "at regular intervals, sends all waiting tasks to the queues of the nodes",
        supports: FLOW,
        source: ONLINE_MAPPING,
        parameters: &[
            MAPPER,
            Parameter { name: "every", values: EVERY, default: "20s" },
            SCHEDULING_TIME,
            COMMUNICATION,
        ],
        kind: OfPolicy {
            build: |spec, seed| {
                let every = spec.take("every", makespan_core::Time::from_seconds(20), |text| {
                    makespan_core::Time::parse(text)
                        .ok()
                        .filter(|time| time.ticks() > 0)
                        .ok_or_else(|| EVERY.to_owned())
                })?;
                let scheduling_time =
                    spec.take("scheduling-time", SchedulingTime::Zero, str::parse::<SchedulingTime>)?;
                flow(spec, seed, MAPPER.default, MappingInstants::Every(every), scheduling_time)
            },
        },
    },
    Entry {
        name: "ptfs",
        summary: "sends batches of tasks to the queues of the nodes, so early that no node becomes idle while a batch \
                  is mapped (dynamic scheduling cycle)",
        supports: FLOW,
        source: PTFS,
        parameters: &[
            Parameter { default: "ga", ..MAPPER },
            Parameter { name: "cycle", values: CYCLE, default: "poll" },
            Parameter { default: "paper", ..SCHEDULING_TIME },
            COMMUNICATION,
        ],
        kind: OfPolicy {
            build: |spec, seed| {
                let when = spec.take("cycle", MappingInstants::Poll, |text| match text {
                    "poll" => Ok(MappingInstants::Poll),
                    "event" => Ok(MappingInstants::Events),
                    _ => Err(CYCLE.to_owned()),
                })?;
                let scheduling_time =
                    spec.take("scheduling-time", SchedulingTime::Paper, str::parse::<SchedulingTime>)?;
                flow(spec, seed, "ga", when, scheduling_time)
            },
        },
    },
    Entry {
        name: "follow",
        summary: "plans each job with all its tasks when it arrives, and keeps the order of the plan",
        supports: "all instances that its scheduler supports, including graphs of tasks with data",
        source: "Makespan",
        parameters: &[GRAPHS],
        kind: OfPolicy {
            build: |spec, seed| {
                let name = placing(spec, GRAPHS.default)?;
                let judge = crate::scheduler(&name)?;
                let policy = Box::new(Follow::new(crate::scheduler(&name)?, seed));
                let supports = Box::new(move |instance: &Instance| supported_by(judge.as_ref(), &name, instance));
                Ok(SupportedPolicy { policy, supports }.only(enough_for_all))
            },
        },
    },
    job_flow::ENTRY,
];

const EVERY: &str = "a positive time, such as 20s";
const CYCLE: &str = "poll or event";

const OBJECTIVES: &str = "makespan, weighted-completion, mean-flow, max-tardiness or weighted-tardiness";
const STEPS: &str = "a number from 0 to 1000000";

fn objective(text: &str) -> Result<Objective, String> {
    objective_named(text, Objective::OF_TIME).ok_or_else(|| OBJECTIVES.to_owned())
}

fn steps(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|steps| *steps <= 1_000_000).ok_or_else(|| STEPS.to_owned())
}

/// Builds a policy that sends tasks to queues of nodes.
fn flow(
    spec: &mut Spec,
    seed: u64,
    default: &str,
    when: MappingInstants,
    scheduling_time: SchedulingTime,
) -> Result<SupportedPolicy, SpecError> {
    let name = spec.take("mapper", default.to_owned(), |text| Ok(text.to_owned()))?;
    let communication = spec.take("communication", Communication::Links, str::parse::<Communication>)?;
    let rules = Rules { when, scheduling_time, communication };
    Ok(SupportedPolicy::any(TaskFlow::new(rules, flow::mapper(&name)?, seed))
        .only(sequential_and_open)
        .only(without_needs))
}

impl SupportedPolicy {
    /// Returns a policy that supports any instance in which transfers between nodes take no time.
    fn any(policy: impl Policy + 'static) -> Self {
        Self { policy: Box::new(policy), supports: Box::new(without_transfers) }.only(enough_for_all)
    }

    /// Returns a policy that supports an instance if transfers between nodes take no time and no job has its own time
    /// on each machine.
    fn queue(policy: impl Policy + 'static) -> Self {
        Self::any(policy).only(|instance| {
            if instance.has_machine_times() {
                return Err(Unsupported(
                    "it does not support jobs with their own time on each machine; use replan with a scheduler that \
                     supports such jobs"
                        .into(),
                ));
            }
            Ok(())
        })
    }

    /// Adds a condition that each supported instance must meet.
    fn only(self, supports: impl Fn(&Instance) -> Result<(), Unsupported> + 'static) -> Self {
        let before = self.supports;
        Self {
            policy: self.policy,
            supports: Box::new(move |instance| before(instance).and_then(|()| supports(instance))),
        }
    }
}

fn reading(spec: &mut Spec) -> Result<QueueReading, SpecError> {
    let (order, queues) = queue(spec)?;
    Ok(QueueReading { order, queues, request: spec.take("request", Request::default(), str::parse::<Request>)? })
}

fn queue(spec: &mut Spec) -> Result<(QueueOrder, Queues), SpecError> {
    let order = spec.take("order", QueueOrder::default(), str::parse::<QueueOrder>)?;
    Ok((order, spec.take("queues", Queues::default(), str::parse::<Queues>)?))
}

/// Takes the name of the scheduler from the spec. Rejects a scheduler that makes plans without placements.
fn placing(spec: &mut Spec, default: &str) -> Result<String, SpecError> {
    spec.take("scheduler", default.to_owned(), |text| match text.split('[').next() {
        Some(STEADY_STATE) => Err(format!("a scheduler that places tasks; {STEADY_STATE} returns rates")),
        _ => Ok(text.to_owned()),
    })
}

/// Builds a policy that plans with the scheduler in the spec. The policy supports the instances that this scheduler
/// supports.
fn by_scheduler<P: Policy + 'static>(
    spec: &mut Spec,
    policy: impl FnOnce(Box<dyn Scheduler>) -> P,
) -> Result<SupportedPolicy, SpecError> {
    let name = placing(spec, SCHEDULER.default)?;
    let judge = crate::scheduler(&name)?;
    let built = SupportedPolicy::any(policy(crate::scheduler(&name)?));
    Ok(built.only(move |instance| supported_by(judge.as_ref(), &name, &one_by_one(instance))))
}

/// Checks that a scheduler supports an instance. The error describes a policy, so the error names the scheduler that
/// the policy uses.
fn supported_by(scheduler: &dyn Scheduler, name: &str, instance: &Instance) -> Result<(), Unsupported> {
    scheduler.supports(instance).map_err(|reason| Unsupported(format!("with scheduler={name}, {reason}")))
}

/// Returns an instance in which each task is a separate job, to check policies that plan each task separately. A bag
/// becomes one task.
fn one_by_one(instance: &Instance) -> Cow<'_, Instance> {
    if !instance.has_bags() && !instance.has_compound_jobs() && !instance.has_edges_between_jobs() {
        return Cow::Borrowed(instance);
    }
    let different = |job: &Job<Rows>| job.task_ids().take(job.different_tasks() as usize);
    let tasks = instance.jobs().iter().flat_map(different);
    Cow::Owned(instance.with_jobs(tasks.map(|task| instance.alone(task)).collect()))
}

/// Checks that the consumables suffice for all tasks with any allotments. Policies with a queue require this, because
/// they start tasks without reserving consumables for later tasks.
fn enough_for_all(instance: &Instance) -> Result<(), Unsupported> {
    let platform = instance.platform();
    for (name, there) in platform.consumables().iter() {
        let resource = platform.resource(name);
        let most = |task| {
            let demand = instance.demands(task).iter().find(|demand| Some(demand.resource) == resource);
            let profile = instance.profile(task);
            let totals = |demand: &Demand| {
                (profile.min_processors()..=profile.max_processors()).map(|width| demand.need.total(width)).max()
            };
            demand.and_then(totals).unwrap_or(0)
        };
        let needed: u128 = instance.task_ids().map(|task| u128::from(most(task))).sum();
        if needed > u128::from(there) {
            let what = format!("all tasks together may use up {needed} of `{name}`, but the platform has {there}");
            return Err(Unsupported(format!("{what}; plan them with `optimise`, which chooses their allotments")));
        }
    }
    Ok(())
}

/// Rejects instances with tasks that need resources. Policies that plan only processors use this check.
pub(super) fn without_needs(instance: &Instance) -> Result<(), Unsupported> {
    needs_no_resources(instance, "policy", "easy or replan")
}

fn equally_fast(instance: &Instance) -> Result<(), Unsupported> {
    if equal_speeds(instance) {
        return Ok(());
    }
    Err(Unsupported("it does not support processors of different speeds; use easy".into()))
}

/// Returns the entries of all policies.
pub fn policies() -> &'static [Entry<OfPolicy>] {
    &POLICIES
}

fn build(spec: &str, seed: u64) -> Result<SupportedPolicy, SpecError> {
    let made = Entry::made(&POLICIES, "policy", spec, |entry, spec| (entry.kind.build)(spec, seed));
    made.map_err(|error| {
        let is_scheduler = |name: &str| crate::catalogue().iter().any(|entry| entry.name == name);
        error.unless(
            is_scheduler,
            "an algorithm, for `plan`; the policies `follow`, `replan` and `batch` have a parameter for an algorithm",
        )
    })
}

/// Returns the policy that a spec names, such as `fcfs`, `easy[order=sjf]` or `batch[scheduler=demt[shuffles=5]]`. A
/// policy object may be used for one instance only, but jobs may be added to this instance. [`policy_for`] also checks
/// that the policy supports the instance. Equal seeds give equal decisions.
///
/// # Errors
/// [`SpecError`] states the unknown or invalid part of the spec, and lists the valid values.
pub fn policy(spec: &str, seed: u64) -> Result<Box<dyn Policy>, SpecError> {
    build(spec, seed).map(|built| built.policy)
}

/// Returns the policy that a spec names, if it supports this instance. If jobs are added to the instance later, the
/// caller must check that the policy supports these jobs.
///
/// # Errors
/// [`PolicyError`] if the spec is invalid or the policy does not support the instance.
pub fn policy_for(spec: &str, instance: &Instance, seed: u64) -> Result<Box<dyn Policy>, PolicyError> {
    let built = build(spec, seed)?;
    let has_gangs = spec.split('[').next() == Some(job_flow::ENTRY.name);
    let gangs = if has_gangs { Ok(()) } else { needs_no_gangs(instance) };
    let deadlines = || needs_no_hard_deadlines(instance).and_then(|()| needs_no_setups(instance));
    let gangs = gangs.and_then(|()| needs_no_lags(instance));
    match gangs.and_then(|()| deadlines()).and_then(|()| (built.supports)(instance)) {
        Ok(()) => Ok(built.policy),
        Err(reason) => Err(PolicyError::Unsupported { spec: spec.to_owned(), reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_specs_are_told_what_would_be_right() {
        let refused = |spec: &str, part: &str| {
            let message = policy(spec, 1).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(message.contains(part), "{spec}: {message}");
        };
        refused("esay", "did you mean `easy`");
        refused("heft", "unknown policy `heft`; it is an algorithm");
        refused("batch[scheduler=steady-state]", "steady-state returns rates");
        refused("easy[ordre=sjf]", "did you mean `order`");
        refused("easy[order=first]", "one of fcfs, sjf");
        refused("easy[passes=twice]", "instant or event");
        refused("replan[scheduler=dmet]", "did you mean `demt`");
        refused("replan[scheduler=demt[shufles=2]]", "did you mean `shuffles`");
        refused("replan[scheduler=demt[shuffles=2]", "name[key=value,..]");
        refused("replan[scheduler=demt]]", "name[key=value,..]");
        assert!(policy("replan[scheduler=demt[shuffles=5,compaction=list]]", 1).is_ok());
    }

    #[test]
    fn defaults_are_what_the_listing_says() {
        for entry in policies() {
            for parameter in entry.parameters {
                assert!(policy(&format!("{}[{}={}]", entry.name, parameter.name, parameter.default), 1).is_ok());
            }
        }
    }

    #[test]
    fn what_a_policy_cannot_drive_is_refused() {
        use makespan_core::{Node, Platform};
        let node = |(name, speed): (&str, f64)| Node { speed, ..Node::new(name, 1) };
        let platform = Platform::new([("slow", 1.0), ("fast", 2.0)].map(node).to_vec()).unwrap();
        let instance = Instance::new(platform, vec![], vec![]).unwrap();
        let refused = policy_for("moldable-easy", &instance, 1).err().map(|error| error.to_string());
        assert!(refused.unwrap_or_default().contains("use easy"));
        assert!(policy_for("easy", &instance, 1).is_ok());
    }
}
