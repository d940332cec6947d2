//! Checks that tiny instances are planned optimally and that their optimum is proved.

use makespan::{
    Edge, Graph, Instance, Job, NamedTask, Objective, Payload, Placement, Planned, Planner, Platform, ProcSet, Profile,
    Schedule, Task, TaskId, Time, Unavailable, Weight,
};
use makespan_core::{Need, Needs, Resources};
use proptest::prelude::*;

/// The parameters of a small random instance. Times are in seconds.
#[derive(Clone, Debug)]
struct Tiny {
    processors: u32,
    licences: u64,
    /// For each processor, the instant at which it opens.
    opens: Vec<i64>,
    jobs: Vec<TinyJob>,
    /// True if jobs wait for other jobs: each job waits for the job with the index `TinyJob::after`, if this index is
    /// smaller than its own.
    has_order: bool,
    kind: Kind,
}

/// The kind of the first job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    /// Two equal tasks.
    Bag,
    /// Three tasks, of which the third one waits for the first two.
    Graph,
}

#[derive(Clone, Debug)]
struct TinyJob {
    release: i64,
    weight: u64,
    deadline: Option<i64>,
    licences: u64,
    /// The minimum number of processors. `times[i]` is the run time on `first + i` processors.
    first: u32,
    times: Vec<i64>,
    after: usize,
}

fn job() -> impl Strategy<Value = TinyJob> {
    let profile = (1_u32..=3, prop::collection::vec(1_i64..6, 1..=3));
    let deadline = prop::option::weighted(0.6, 1_i64..9);
    (0_i64..4, 0_u64..5, deadline, 0_u64..3, profile, 0_usize..4).prop_map(
        |(release, weight, deadline, licences, (first, mut times), after)| {
            times.sort_unstable_by_key(|time| -time);
            TinyJob { release, weight, deadline: deadline.map(|due| due + release), licences, first, times, after }
        },
    )
}

fn tiny() -> impl Strategy<Value = Tiny> {
    let kind = prop_oneof![4 => Just(Kind::Single), 1 => Just(Kind::Bag), 1 => Just(Kind::Graph)];
    let opens = prop_oneof![2 => Just(vec![0; 3]), 1 => prop::collection::vec(0_i64..4, 3)];
    let jobs = prop::collection::vec(job(), 1..=4);
    (1_u32..=3, 0_u64..3, opens, jobs, any::<[bool; 3]>(), kind).prop_map(
        |(processors, licences, mut opens, mut jobs, [has_order, has_releases, has_deadlines], kind)| {
            opens.truncate(processors as usize);
            jobs.truncate(if kind == Kind::Graph { 2 } else { 4 });
            for job in &mut jobs {
                job.first = job.first.min(processors);
                job.times.truncate((processors - job.first + 1) as usize);
                job.licences = job.licences.min(licences);
                job.release = if has_releases { job.release } else { 0 };
                // A bag without weight is best effort. Its plan need not be optimal.
                job.weight = if kind == Kind::Bag { job.weight.max(1) } else { job.weight };
                job.deadline = job.deadline.filter(|_| has_deadlines);
            }
            Tiny { processors, licences, opens, jobs, has_order, kind }
        },
    )
}

/// A task in the exhaustive search. `before` contains the tasks for which this task waits.
struct Small<'a> {
    job: &'a TinyJob,
    before: Vec<usize>,
}

impl Tiny {
    fn instance(&self) -> Instance {
        let time = Time::from_seconds;
        let profile = |job: &TinyJob| {
            let before = std::iter::repeat_n(job.times[0], job.first as usize - 1);
            let all = before.chain(job.times.iter().copied()).map(time).collect();
            Profile::table(all).unwrap().at_least(job.first).unwrap()
        };
        let needs = |job: &TinyJob| Needs::new([("solver", Need::whole(job.licences))]).unwrap();
        let build = |(number, job): (usize, &TinyJob)| {
            let plain = Job::new(number.to_string(), profile(job)).with_needs(needs(job));
            let own = match self.kind {
                Kind::Bag if number == 0 => plain.with_count(2.try_into().unwrap()),
                Kind::Graph if number == 0 => {
                    let task = |name: &str| NamedTask {
                        name: name.into(),
                        task: Task { needs: needs(job), ..Task::new(profile(job)) },
                    };
                    let edge = |from| Edge { from, to: 2, payload: Payload::Bytes(0) };
                    let tasks = ["a", "b", "c"].map(task).to_vec();
                    Job::compound("0", Graph::new(tasks, vec![edge(0), edge(1)]).unwrap())
                }
                _ => plain,
            };
            let after = self.waits_for(number).map(|before| before.to_string());
            let own = own.with_release(time(job.release)).with_after(after);
            let weight = Weight::from_millionths(job.weight * 500_000).unwrap();
            Job { deadline: job.deadline.map(time), ..own.with_weight(weight) }
        };
        let licences = Resources::new([("solver", self.licences)]).unwrap();
        let platform = Platform::flat(self.processors).unwrap().with_licences(licences).unwrap();
        let closed = self.opens.iter().zip(0..).filter(|(opens, _)| **opens > 0);
        let closed = closed.map(|(&opens, processor)| Unavailable {
            processors: ProcSet::range(processor, processor),
            start: Time::ZERO,
            end: time(opens),
        });
        Instance::new(platform, self.jobs.iter().enumerate().map(build).collect(), closed.collect()).unwrap()
    }

    /// Returns the job that a job waits for.
    fn waits_for(&self, job: usize) -> Option<usize> {
        (self.has_order && self.jobs[job].after < job).then(|| self.jobs[job].after)
    }

    /// Returns the tasks in the order of their numbers.
    fn tasks(&self) -> Vec<Small<'_>> {
        let first = match self.kind {
            Kind::Single => 1,
            Kind::Bag => 2,
            Kind::Graph => 3,
        };
        let tasks_of = |job: usize| if job == 0 { 0..first } else { job + first - 1..job + first };
        let mut tasks = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            for task in tasks_of(number) {
                let inside = if self.kind == Kind::Graph && task == 2 { vec![0, 1] } else { Vec::new() };
                let before = self.waits_for(number).into_iter().flat_map(tasks_of).chain(inside).collect();
                tasks.push(Small { job, before });
            }
        }
        tasks
    }

    /// Returns the minimum of each objective, found by an exhaustive search. The search tries every order of the tasks
    /// and every number of processors, and starts each task in this order at the earliest possible instant. One of
    /// these schedules is optimal.
    fn least(&self, instance: &Instance, objectives: &[Objective]) -> Vec<i128> {
        let mut best = vec![i128::MAX; objectives.len()];
        self.extend(&self.tasks(), &mut Vec::new(), &mut |placed| {
            let placements = placed.iter().map(|one| Placement {
                task: TaskId(one.task as u64),
                start: Time::from_seconds(one.start),
                end: Time::from_seconds(one.end),
                processors: ProcSet::first(one.width),
            });
            let schedule = Schedule::new(placements.collect());
            for (best, objective) in best.iter_mut().zip(objectives) {
                *best = objective.value(instance, &schedule).min(*best);
            }
        });
        best
    }

    fn extend(&self, tasks: &[Small], placed: &mut Vec<Placed>, complete: &mut impl FnMut(&[Placed])) {
        if placed.len() == tasks.len() {
            complete(placed);
            return;
        }
        for (task, small) in tasks.iter().enumerate() {
            let end_of = |task: usize| placed.iter().find(|one| one.task == task).map(|one| one.end);
            let before: Vec<Option<i64>> = small.before.iter().map(|&before| end_of(before)).collect();
            if end_of(task).is_some() || before.contains(&None) {
                continue;
            }
            let ready = before.into_iter().flatten().max().unwrap_or(0).max(small.job.release);
            for (&time, width) in small.job.times.iter().zip(small.job.first..) {
                let fits = |start: &i64| (*start..start + time).all(|at| self.fits(tasks, placed, small, width, at));
                let start = (ready..).find(fits).unwrap();
                placed.push(Placed { task, start, end: start + time, width });
                self.extend(tasks, placed, complete);
                placed.pop();
            }
        }
    }

    fn fits(&self, tasks: &[Small], placed: &[Placed], small: &Small, width: u32, at: i64) -> bool {
        let beside = || placed.iter().filter(|one| one.start <= at && at < one.end);
        let used: u32 = beside().map(|one| one.width).sum();
        let held: u64 = beside().map(|one| tasks[one.task].job.licences).sum();
        let open = self.opens.iter().filter(|&&opens| opens <= at).count() as u32;
        used + width <= open && held + small.job.licences <= self.licences
    }

    /// Returns the objectives for which the complete search proves the optimum. For a bag, this excludes sums over
    /// jobs: bounds on sums assume that the tasks of a bag share its weight, so they are below the optimum.
    fn objectives(&self) -> Vec<Objective> {
        let sums = [Objective::WeightedCompletion, Objective::MeanFlow];
        let weighed = self.jobs.iter().any(|job| job.weight > 0);
        let sums = sums.into_iter().filter(|&sum| self.kind != Kind::Bag && (sum == Objective::MeanFlow || weighed));
        let late = self.jobs.iter().any(|job| job.deadline.is_some()).then_some(Objective::MaxTardiness);
        [Objective::Makespan].into_iter().chain(late).chain(sums).collect()
    }
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    task: usize,
    start: i64,
    end: i64,
    width: u32,
}

fn planned(instance: &Instance, objective: Objective) -> Planned {
    let name = objective.name().replace('_', "-");
    Planner::new().algorithm(format!("optimise[objective={name},steps=20,searches=1]")).plan(instance).unwrap()
}

/// Checks that a plan is proved optimal, or that a remark states why it is not.
fn is_explained(instance: &Instance, objective: Objective) -> Result<(), TestCaseError> {
    let found = planned(instance, objective);
    let value = objective.value(instance, found.schedule().unwrap()).into();
    let is_proved = found.bounds.iter().any(|bound| bound.objective == objective && bound.value >= value);
    let reasons = found.remarks.iter().filter(|remark| remark.contains("is not proved optimal: the complete search "));
    prop_assert_eq!(reasons.count(), usize::from(!is_proved), "{}: {:?}", objective, found);
    Ok(())
}

/// Checks for each objective that the plan is optimal, that a bound proves the plan optimal, and that a second run
/// returns the same result.
fn is_solved(tiny: &Tiny, objectives: &[Objective]) -> Result<(), TestCaseError> {
    let instance = tiny.instance();
    for (&objective, least) in objectives.iter().zip(tiny.least(&instance, objectives)) {
        let found = planned(&instance, objective);
        let value = objective.value(&instance, found.schedule().unwrap());
        prop_assert_eq!(value, least, "{} is not optimal", objective);
        let bound = found.bounds.iter().find(|bound| bound.objective == objective);
        prop_assert_eq!(bound.map(|bound| bound.value.integer()), Some(value), "{} is not proved", objective);
        for bound in &found.bounds {
            prop_assert_eq!(bound.verify(&instance), Ok(()));
        }
        prop_assert_eq!(format!("{:?}", planned(&instance, objective)), format!("{found:?}"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tiny_instances_are_solved(tiny in tiny(), objective: prop::sample::Index) {
        is_solved(&tiny, &[*objective.get(&tiny.objectives())])?;
    }

    #[test]
    fn unproved_plans_are_explained(tiny in tiny(), objective: prop::sample::Index) {
        let instance = tiny.instance();
        let objectives: Vec<Objective> = Objective::standard(&instance).collect();
        is_explained(&instance, *objective.get(&objectives))?;
    }

    /// `demt` minimises the weighted completion and the makespan. So the bounds on both objectives are equal to the
    /// optima.
    #[test]
    fn bounds_on_all_minimised_objectives_are_optimal(tiny in tiny()) {
        let instance = tiny.instance();
        let Ok(found) = Planner::new().algorithm("demt").plan(&instance) else { return Ok(()) };
        let both = [Objective::Makespan, Objective::WeightedCompletion];
        let proved: Vec<Objective> = tiny.objectives().into_iter().filter(|objective| both.contains(objective)).collect();
        for (objective, least) in proved.iter().zip(tiny.least(&instance, &proved)) {
            let bound = found.bounds.iter().find(|bound| bound.objective == *objective);
            prop_assert_eq!(bound.map(|bound| bound.value.integer()), Some(least), "{}", objective);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    #[ignore = "long: 1,000 instances"]
    fn many_tiny_instances_are_solved(tiny in tiny()) {
        is_solved(&tiny, &tiny.objectives())?;
    }

    /// Generates other random instances than `many_tiny_instances_are_solved`, so it is useful to run both tests at the
    /// same time.
    #[test]
    #[ignore = "long: 1,000 instances"]
    fn many_other_tiny_instances_are_solved(tiny in tiny()) {
        is_solved(&tiny, &tiny.objectives())?;
    }
}
