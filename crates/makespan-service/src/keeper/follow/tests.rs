use makespan_core::{Cluster, Job, Need, Needs, Platform, Profile, Resources, Running, Unavailable};
use proptest::prelude::*;

use super::super::ahead::LengthPredictor;
use super::super::outlook::{Outlook, PlanInput};
use super::super::owners::tests::handed;
use super::super::plan::PlanBasis;
use super::super::promise::Promise;
use super::super::quota::ProcessorLimits;
use super::super::shared::Snapshot;
use super::*;

const PROCESSORS: u32 = 4;
const USERS: [&str; 3] = ["ann", "bob", "carol"];

fn seconds(count: i64) -> Time {
    Time::from_seconds(count)
}

/// A random task: its processors, its expected seconds, its user, its licences and its weight.
type Drawn = (u32, i64, usize, u64, u64);

/// A queue of jobs with quotas, one kind of licence and reservations.
#[derive(Clone, Debug)]
struct Queue {
    tasks: Vec<Drawn>,
    limits: ProcessorLimits,
    periods: Vec<Unavailable>,
}

fn queue(most: usize) -> impl Strategy<Value = Queue> {
    let task = (1_u32..=4, 1_i64..9, 0_usize..3, 0_u64..3, 1_u64..4);
    let limits = prop::collection::vec(prop::option::of(1_u32..=4), 3);
    let period = (1_i64..30, 1_i64..20, 0_u32..4, 1_u32..=4);
    let periods = prop::collection::vec(period, 0..3);
    (prop::collection::vec(task, 1..most), limits, periods).prop_map(|(tasks, limits, periods)| {
        let period = |(start, length, first, width): (i64, i64, u32, u32)| Unavailable {
            start: seconds(start),
            end: seconds(start + length),
            processors: ProcSet::range(first, (first + width).min(PROCESSORS) - 1),
        };
        let limits = USERS.iter().zip(limits).filter_map(|(user, limit)| Some(((*user).to_owned(), limit?))).collect();
        Queue { tasks, limits, periods: periods.into_iter().map(period).collect() }
    })
}

impl Queue {
    fn instance(&self) -> Instance {
        let licences = Resources::new([("solver", 2)]).unwrap();
        let platform = Platform::flat(PROCESSORS).unwrap().with_licences(licences).unwrap();
        let job = |(at, &(width, length, _, licences, weight)): (usize, &Drawn)| {
            let mut job = Job::new((at + 1).to_string(), Profile::rigid(width, seconds(length)).unwrap());
            job.weight = makespan_core::Weight::from_millionths(weight * 1_000_000).unwrap();
            if licences > 0 {
                let needs = Needs::new([("solver", Need::whole(licences))]).unwrap();
                job.work.tasks_mut().for_each(|task| task.needs = needs.clone());
            }
            job
        };
        let jobs = self.tasks.iter().enumerate().map(job).collect();
        Instance::new(platform, jobs, self.periods.clone()).unwrap()
    }

    fn owners(&self) -> Owners {
        let mut owners = Owners::default();
        self.tasks.iter().enumerate().for_each(|(at, task)| owners.push(&handed(at, USERS[task.2])));
        owners
    }

    /// Returns true if a task needs more processors than its user may use.
    fn exceeds(&self, task: TaskId) -> bool {
        let (width, _, user, ..) = self.tasks[task.index()];
        self.limits.get(USERS[user]).is_some_and(|&limit| width > limit)
    }
}

/// The data of a plan that do not depend on the state of the cluster.
pub(in super::super) struct PlanSetting {
    /// The beginning of the run, in seconds since 1970.
    pub origin: f64,
    pub limits: ProcessorLimits,
    pub promise: Option<Promise>,
}

impl PlanSetting {
    /// Makes a plan as the service does.
    pub fn plan(self, view: &View<'_>, owners: &Mutex<Owners>) -> Outlook {
        let Self { origin, limits, promise } = self;
        let ahead = |run: &Running| LengthPredictor {
            expected: view.instance.time(run.task, &run.processors),
            walltime: None,
            lengths: Vec::new(),
        };
        let end = |run: &Running| run.start + ahead(run).length(view.now - run.start).0;
        let snapshot = Snapshot {
            origin,
            now: view.now,
            part: view.instance.residual_until(view, Time::MAX, &end),
            request: 0,
            tasks: view.instance.tasks(),
            running: view.running.iter().map(|run| (run.clone(), ahead(run))).collect(),
            resources: BTreeMap::new(),
            left_out: 0,
            down: Vec::new(),
            changes: 0,
        };
        let (includes, closed, pending) = (PlanInput::default(), Vec::new(), Vec::new());
        PlanBasis { snapshot: &snapshot, includes, closed, pending, limits, promise }.outlook(owners).unwrap()
    }
}

/// A run in virtual time.
struct Driven<'a> {
    queue: &'a Queue,
    cluster: Cluster<'a>,
    owners: Arc<Mutex<Owners>>,
    rules: Arc<Mutex<StartRules>>,
    follower: Follower,
    /// The starts so far.
    starts: BTreeMap<TaskId, Time>,
    wake: Option<Time>,
}

impl<'a> Driven<'a> {
    fn new(queue: &'a Queue, instance: &'a Instance) -> Self {
        let owners = Arc::new(Mutex::new(queue.owners()));
        let rules = StartRules { processors: queue.limits.clone(), ..StartRules::default() };
        let rules = Arc::new(Mutex::new(rules));
        let follower = Follower::new(Arc::clone(&owners), Arc::clone(&rules));
        let cluster = Cluster::new(instance).with_data_at_hand();
        Self { queue, cluster, owners, rules, follower, starts: BTreeMap::new(), wake: None }
    }

    /// Makes a plan as the service does, and gives it to the follower.
    fn plan(&mut self) -> Outlook {
        let setting = PlanSetting { origin: 0.0, limits: self.queue.limits.clone(), promise: None };
        let outlook = setting.plan(&self.cluster.view(), &self.owners);
        self.rules.lock().unwrap().renew(outlook.expected.iter().map(PlannedSlot::from).collect());
        outlook
    }

    fn tell(&mut self, events: &[Event]) {
        let mut decisions = Vec::new();
        self.follower.on(events, &self.cluster.view(), &mut decisions);
        self.wake = None;
        for decision in decisions {
            match decision {
                Decision::Start { task, processors } => {
                    self.cluster.start(task, processors).unwrap();
                    self.starts.insert(task, self.cluster.now());
                    self.check_quotas();
                }
                Decision::WakeAt(at) => self.wake = Some(at),
                other => panic!("{other:?}"),
            }
        }
    }

    fn check_quotas(&self) {
        for (user, &limit) in &self.queue.limits {
            let own = self.cluster.running().iter().filter(|run| USERS[self.queue.tasks[run.task.index()].2] == user);
            let used: u32 = own.map(|run| run.processors.len()).sum();
            assert!(used <= limit, "{user} uses {used} of {limit}");
        }
    }

    /// Ends the tasks that end now. `length` returns the run time of a task.
    fn end_tasks(&mut self, length: &dyn Fn(TaskId) -> Time) -> Vec<Event> {
        let now = self.cluster.now();
        let over: Vec<TaskId> = self
            .cluster
            .running()
            .iter()
            .filter(|run| run.start + length(run.task) <= now)
            .map(|run| run.task)
            .collect();
        for &task in &over {
            let run = self.cluster.end(task).unwrap();
            self.cluster.succeed(task, now, &run.processors);
        }
        let mut events: Vec<Event> = over.into_iter().map(Event::Finished).collect();
        events.sort_by_key(Event::order);
        if events.is_empty() { vec![Event::Wake] } else { events }
    }

    /// Runs all tasks. Calls `each` after the decisions of each instant. `plans` states whether a new plan is made
    /// before the decisions of each instant.
    fn run(&mut self, length: &dyn Fn(TaskId) -> Time, plans: bool, each: &mut dyn FnMut(&Self)) {
        let tasks: Vec<TaskId> = self.cluster.instance().task_ids().collect();
        let mut events: Vec<Event> =
            tasks.into_iter().filter(|&task| self.cluster.submit(task)).map(Event::Submitted).collect();
        self.plan();
        for _ in 0..1000 {
            self.tell(&events);
            each(self);
            let ends = self.cluster.running().iter().map(|run| run.start + length(run.task));
            let Some(next) = ends.chain(self.wake).chain(self.cluster.next_change()).min() else { return };
            self.cluster.advance(next);
            events = self.end_tasks(length);
            if plans {
                self.plan();
            }
        }
        panic!("the run does not end");
    }

    /// Returns a waiting task that could start now without a delay of a running task or a reservation, checked second
    /// by second for each set of processors.
    fn startable(&self) -> Option<TaskId> {
        let view = self.cluster.view();
        let (now, instance) = (view.now, view.instance);
        let slots: Vec<&Slot> = self.follower.slots.iter().filter(|slot| slot.task.is_some()).collect();
        let sets: Vec<ProcSet> = (1_u32..1 << PROCESSORS)
            .map(|bits| {
                ProcSet::from_intervals((0..PROCESSORS).filter(|at| bits >> at & 1 == 1).map(|at| (at, at)).collect())
            })
            .collect();
        view.waiting.iter().find(|&task| {
            let (width, length, user, licences, _) = self.queue.tasks[task.index()];
            let fits = |set: &&ProcSet| {
                (0..length).all(|later| {
                    let at = now + seconds(later);
                    let running = view.running.iter().filter(|run| run.expected_end(instance, now) > at);
                    let planned = slots.iter().filter(|slot| {
                        let late = now.saturating_since(slot.planned.start);
                        slot.task != Some(task) && slot.planned.start + late <= at && at < slot.planned.end + late
                    });
                    let others: Vec<(TaskId, &ProcSet)> = running
                        .map(|run| (run.task, &run.processors))
                        .chain(planned.map(|slot| (slot.task.unwrap(), &slot.planned.processors)))
                        .collect();
                    let closed = instance.unavailable().iter().filter(|one| one.start <= at && at < one.end);
                    let own = |one: &&(TaskId, &ProcSet)| self.queue.tasks[one.0.index()].2 == user;
                    let used: u32 = others.iter().filter(own).map(|one| one.1.len()).sum();
                    let held: u64 = others.iter().map(|one| self.queue.tasks[one.0.index()].3).sum();
                    let limit = self.queue.limits.get(USERS[user]).copied().unwrap_or(PROCESSORS);
                    others.iter().all(|one| one.1.is_disjoint(set))
                        && closed.into_iter().all(|one| one.processors.is_disjoint(set))
                        && used + width <= limit
                        && held + licences <= 2
                })
            };
            sets.iter().filter(|set| set.len() == width && set.is_subset(view.free)).any(|set| fits(&set))
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Plans random queues with quotas, licences and reservations, and runs them with the expected run times. Checks that
    /// each task starts exactly at its shown start.
    #[test]
    fn a_shown_start_is_the_start(queue in queue(10)) {
        let instance = queue.instance();
        let mut driven = Driven::new(&queue, &instance);
        instance.task_ids().for_each(|task| _ = driven.cluster.submit(task));
        let shown: BTreeMap<TaskId, Time> =
            driven.plan().expected.iter().map(|one| (TaskId(one.job.0 - 1), one.slot.0)).collect();
        let mut driven = Driven::new(&queue, &instance);
        driven.run(&|task| seconds(queue.tasks[task.index()].1), false, &mut |_| ());
        prop_assert_eq!(&driven.starts, &shown);
        let exceeding = instance.task_ids().filter(|&task| queue.exceeds(task)).count();
        prop_assert_eq!(shown.len() + exceeding, queue.tasks.len());
    }

    /// Runs random queues in which tasks end earlier or later than expected. A plan is made at each instant, or only at
    /// the beginning. Checks that no quota is exceeded, that no task waits next to free processors although it could start
    /// without a delay of others, and that all tasks run in the end.
    #[test]
    fn no_startable_task_waits(
        queue in queue(8), plans in any::<bool>(), actual in prop::collection::vec(1_i64..14, 8),
    ) {
        let instance = queue.instance();
        let mut driven = Driven::new(&queue, &instance);
        driven.run(&|task| seconds(actual[task.index()]), plans, &mut |driven| {
            let startable = driven.startable();
            assert!(startable.is_none(), "{startable:?} could start at {}", driven.cluster.now());
        });
        let left: Vec<TaskId> = driven.cluster.waiting().iter().filter(|&task| !queue.exceeds(task)).collect();
        prop_assert!(left.is_empty(), "{left:?} still wait");
    }
}
