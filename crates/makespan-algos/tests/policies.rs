//! Every policy in simulated time: late and early jobs, failures, walltimes, unavailable periods, moldable jobs.

use makespan_algos::policy::{PolicyError, expected_starts, policy, policy_for};
use makespan_core::{
    Actual, Decision, Ended, Event, Failure, Instance, Job, JobId, JobSet, Measures, Node, Outcome, Platform, Policy,
    ProcSet, Profile, SpeedupLaw, Time, Unavailable, View, Weight,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

const SPECS: [&str; 13] = [
    "fcfs",
    "easy",
    "easy[order=sjf,request=fastest]",
    "easy[passes=instant]",
    "conservative",
    "conservative[order=laf,request=fewest]",
    "moldable-easy",
    "moldable-easy[order=widest]",
    "batch",
    "batch[scheduler=demt[shuffles=2]]",
    "doubling",
    "replan",
    "follow[scheduler=list]",
];

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// Width or parallelism, time, release, the truth in percent of the estimate, and whether moldable.
type Row = (u32, i64, i64, i64, bool);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..250, any::<bool>()), 1..most)
}

fn profile(&(width, time, _, _, moldable): &Row, percent: i64) -> Profile {
    let time = t((time * percent + 99) / 100);
    if !moldable {
        return Profile::rigid(width, time).unwrap();
    }
    let law = SpeedupLaw::Downey { parallelism: f64::from(width), sigma: 0.5 };
    Profile::law(time, law, 1, 8).unwrap()
}

fn platforms() -> Vec<Platform> {
    let node = |(name, speed): (&str, f64)| Node { name: name.into(), processors: 4, speed, parent: None, link: None };
    let speeds = Platform::new([("a", 1.0), ("b", 2.5)].map(node).to_vec()).unwrap();
    let compact = Platform::cluster(4, 2).unwrap().requiring_compact();
    vec![Platform::flat(8).unwrap(), compact, speeds]
}

fn instance(platform: Platform, rows: &[Row], periods: &[(u32, i64, i64)]) -> (Instance, Actual) {
    let job = |(index, row): (usize, &Row)| Job::new(index.to_string(), profile(row, 100)).with_release(t(row.2));
    let period = |&(first, start, length): &(u32, i64, i64)| Unavailable {
        processors: ProcSet::range(first, first + 2),
        start: t(start),
        end: t(start + length),
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(platform, jobs, periods.iter().map(period).collect()).unwrap();
    (instance, Actual::Profiles(rows.iter().map(|row| profile(row, row.3)).collect()))
}

fn run(spec: &str, instance: &Instance, actual: &Actual, options: &SimulationOptions) -> Option<Simulation> {
    let mut policy = match policy_for(spec, instance, 1) {
        Ok(policy) => policy,
        Err(PolicyError::Unsupported { .. }) => return None,
        Err(wrong) => panic!("{wrong}"),
    };
    // The simulation refuses what no cluster could do: processors used twice, closed, in no best placement.
    Some(
        simulate(instance, actual, policy.as_mut(), options, &mut Silent).unwrap_or_else(|why| panic!("{spec}: {why}")),
    )
}

fn all_ended(spec: &str, instance: &Instance, simulation: &Simulation) -> Result<(), TestCaseError> {
    let ended: Vec<_> = simulation.trace.runs.iter().filter(|run| run.outcome != Outcome::Interrupted).collect();
    let jobs: JobSet = ended.iter().map(|run| run.job).collect();
    prop_assert_eq!((ended.len(), jobs.len()), (instance.jobs().len(), instance.jobs().len()), "{}", spec);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Nothing waits for ever, whatever the jobs really take and whatever fails.
    #[test]
    fn every_job_ends_once(
        rows in rows(16), periods in prop::collection::vec((0_u32..6, 0_i64..80, 1_i64..40), 0..3),
        failures in prop::collection::vec((0_u32..8, 0_i64..120, 1_i64..40, any::<bool>()), 0..3), kill in any::<bool>(),
    ) {
        let failure = |(processor, down, length, known): (u32, i64, i64, bool)| Failure {
            processors: ProcSet::range(processor, processor),
            down: t(down),
            up: t(down + length),
            expected_up: known.then(|| t(down + length / 2 + 1)),
        };
        let failures = failures.into_iter().map(failure).collect();
        let options = SimulationOptions { kill_at_walltime: kill, failures, ..SimulationOptions::default() };
        for platform in platforms() {
            let (instance, actual) = instance(platform, &rows, &periods);
            for spec in SPECS {
                if let Some(simulation) = run(spec, &instance, &actual, &options) {
                    all_ended(spec, &instance, &simulation)?;
                    let again = run(spec, &instance, &actual, &options);
                    prop_assert_eq!(Some(simulation.trace), again.map(|again| again.trace), "{}", spec);
                }
            }
        }
    }

    /// With exact estimates and nothing more to come, what is expected is what happens.
    #[test]
    fn expected_starts_are_the_starts_when_estimates_are_exact(rows in rows(14)) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, _, _, moldable)| (width, time, 0, 100, moldable)).collect();
        let (instance, actual) = instance(Platform::flat(8).unwrap(), &rows, &[(1, 20, 15)]);
        let waiting: JobSet = instance.ids().collect();
        let free = ProcSet::first(8);
        let view = View { now: Time::ZERO, instance: &instance, waiting: &waiting, running: &[], free: &free, down: &[], ended: Ended::default() };
        for spec in SPECS {
            let Some(simulation) = run(spec, &instance, &actual, &SimulationOptions::default()) else { continue };
            let mut expected: Vec<_> =
                expected_starts(policy(spec, 1).unwrap().as_mut(), &view).iter().map(|one| (one.job, one.start)).collect();
            let mut happened: Vec<_> = simulation.trace.runs.iter().map(|run| (run.job, run.start)).collect();
            expected.sort_unstable();
            happened.sort_unstable();
            prop_assert_eq!(expected, happened, "{}", spec);
        }
    }
}

/// The repair was expected before the period ends, so the job has its reservation on processors that are still down then,
/// and no event tells that the repair is now expected later.
#[test]
fn an_overdue_repair_moves_reservations() {
    let period = Unavailable { processors: "0-2,5".parse().unwrap(), start: t(1), end: t(2_800) };
    let job = Job::new("a", Profile::rigid(3, t(500)).unwrap()).with_release(t(1_250));
    let instance = Instance::new(Platform::flat(6).unwrap(), vec![job], vec![period]).unwrap();
    let processors = "0-1,3-4".parse().unwrap();
    let failure = Failure { processors, down: t(1_260), up: t(900_000), expected_up: Some(t(2_300)) };
    for spec in SPECS.iter().filter(|spec| !spec.contains("passes=event")) {
        let options = SimulationOptions { failures: vec![failure.clone()], ..SimulationOptions::default() };
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let simulation = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        assert_eq!(simulation.trace.runs.last().map(|run| run.end), Some(t(900_500)), "{spec}");
        assert!(simulation.instants < 20, "{spec}: {} instants", simulation.instants);
    }
}

const QUEUES: [&str; 9] = [
    "fcfs",
    "fcfs[order=sjf]",
    "easy",
    "easy[order=sjf]",
    "easy[order=widest,passes=instant]",
    "conservative",
    "conservative[order=sjf]",
    "moldable-easy",
    "moldable-easy[order=saf]",
];

/// Policies that ask a scheduler.
const PLANNERS: [&str; 5] =
    ["replan", "replan[scheduler=demt[shuffles=2]]", "batch", "batch[scheduler=list[order=saf]]", "doubling"];

fn run_starts(
    spec: &str,
    instance: &Instance,
    actual: &Actual,
    options: &SimulationOptions,
) -> Option<Vec<(u32, Time)>> {
    let simulation = run(spec, instance, actual, options)?;
    let mut starts: Vec<_> = simulation.trace.runs.iter().map(|run| (run.job.0, run.start)).collect();
    starts.sort_unstable();
    Some(starts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A period that nothing meets changes nothing: one that is past, one long after everything, one between two logs.
    #[test]
    fn a_period_that_nobody_meets_changes_nothing(
        rows in rows(16), first in 0_u32..8, number in 1_u32..9, length in 1_i64..1_000, which in 0_usize..4,
        known in any::<bool>(),
    ) {
        let between = which == 0;
        let rows: Vec<Row> = rows.into_iter().enumerate().map(|(index, (width, time, release, percent, moldable))| {
            let later = if between && index % 2 == 1 { 20_000 } else { 0 };
            (width, time, 50 + release + later, if known { 100 } else { percent }, moldable)
        }).collect();
        let start = [9_000, 5_000, 1_000_000_000_000, 0][which];
        let length = if which == 3 { length.min(49) } else { length };
        let processors = ProcSet::range(first, (first + number - 1).min(7));
        let period = Unavailable { processors, start: t(start), end: t(start + length) };
        for platform in platforms() {
            let (open, actual) = instance(platform.clone(), &rows, &[]);
            let closed = Instance::new(platform, open.jobs().to_vec(), vec![period.clone()]).unwrap();
            for spec in QUEUES.iter().chain(&PLANNERS) {
                let options = SimulationOptions::default();
                let [a, b] = [&open, &closed].map(|instance| run_starts(spec, instance, &actual, &options));
                prop_assert_eq!(a, b, "{} {:?}", spec, period);
            }
        }
    }

    /// A failure of processors that are down all the while changes nothing, where ends are as expected.
    #[test]
    fn a_failure_within_another_changes_nothing(
        rows in rows(16), first in 0_u32..7, number in 2_u32..9, down in 0_i64..100, length in 3_i64..300,
        inner in (1_i64..300, 1_i64..300),
    ) {
        let rows: Vec<Row> = rows.into_iter().map(|row| (row.0, row.1, row.2, 100, row.4)).collect();
        let (instance, actual) = instance(Platform::flat(8).unwrap(), &rows, &[]);
        let last = (first + number - 1).min(7);
        let failure = |from: u32, down: i64, up: i64| Failure {
            processors: ProcSet::range(from, last), down: t(down), up: t(up), expected_up: Some(t(up)),
        };
        let outer = failure(first, down, down + length);
        let from = down + inner.0 % (length - 1);
        let inner = failure(first + 1, from, from + 1 + inner.1 % (down + length - from).max(1));
        prop_assume!(inner.up <= outer.up);
        for spec in QUEUES.iter().chain(&PLANNERS) {
            let options = |failures: Vec<Failure>| SimulationOptions { failures, ..SimulationOptions::default() };
            let [one, both] = [vec![outer.clone()], vec![inner.clone(), outer.clone()]]
                .map(|failures| run_starts(spec, &instance, &actual, &options(failures)));
            prop_assert_eq!(one, both, "{} {:?}", spec, inner);
        }
    }
}

/// Failures that nobody announced, as they are and with each processor down from when it goes down to when it is up.
fn merged(failures: &[Failure], processors: u32) -> Vec<Failure> {
    let of = |processor: u32| {
        let mut periods: Vec<(Time, Time)> = failures
            .iter()
            .filter(|failure| failure.processors.contains(processor))
            .map(|failure| (failure.down, failure.up))
            .collect();
        periods.sort_unstable();
        let mut merged: Vec<(Time, Time)> = Vec::new();
        for (down, up) in periods {
            match merged.last_mut() {
                Some(last) if down < last.1 => last.1 = last.1.max(up),
                _ => merged.push((down, up)),
            }
        }
        let failure =
            move |(down, up)| Failure { processors: ProcSet::range(processor, processor), down, up, expected_up: None };
        merged.into_iter().map(failure)
    };
    (0..processors).flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// A failure counts where it takes processors that are not down already, and a repair where it gives some back.
    #[test]
    fn failures_that_overlap_are_as_their_union(
        rows in rows(14),
        failures in prop::collection::vec((0_u32..8, 1_u32..5, 0_i64..90, 1_i64..60), 1..6), second in any::<bool>(),
    ) {
        // In ticks a repair is never overdue; in seconds it may be.
        let unit = if second { Time::TICKS_PER_SECOND } else { 1 };
        let rows: Vec<Row> = rows.into_iter().map(|row| (row.0, row.1 * unit, row.2 * unit, row.3, row.4)).collect();
        let failure = |(first, number, down, length): (u32, u32, i64, i64)| Failure {
            processors: ProcSet::range(first, (first + number - 1).min(7)),
            down: t(down * unit),
            up: t((down + length * if second { 3 } else { 1 }) * unit),
            expected_up: None,
        };
        let failures: Vec<Failure> = failures.into_iter().map(failure).collect();
        for platform in platforms() {
            let (instance, actual) = instance(platform, &rows, &[]);
            for spec in SPECS {
                let options = |failures: Vec<Failure>| SimulationOptions { failures, ..SimulationOptions::default() };
                let [plain, union] = [failures.clone(), merged(&failures, 8)]
                    .map(|failures| run(spec, &instance, &actual, &options(failures)).map(|simulation| simulation.trace));
                prop_assert_eq!(plain, union, "{}", spec);
            }
        }
    }
}

/// A processor that is down from 2 to 9 fails once more in between.
#[test]
fn a_failure_of_what_is_down_moves_no_reservation() {
    let seconds = Time::from_seconds;
    let rows = [(1, 2, 1), (2, 3, 2), (2, 1, 0), (3, 3, 1)];
    let job = |(index, &(release, time, priority)): (usize, &(i64, i64, i32))| {
        let job = Job::new(index.to_string(), Profile::rigid(1, seconds(time)).unwrap());
        job.with_release(seconds(release)).with_priority(priority)
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let failure = |down: i64, up: i64| Failure {
        processors: ProcSet::range(0, 0),
        down: seconds(down),
        up: seconds(up),
        expected_up: None,
    };
    for spec in SPECS.into_iter().chain(["conservative[queues=priority]"]) {
        let [one, both] = [vec![failure(2, 9)], vec![failure(2, 9), failure(6, 7)]].map(|failures| {
            let options = SimulationOptions { failures, ..SimulationOptions::default() };
            run(spec, &instance, &Actual::AsEstimated, &options).unwrap().trace
        });
        assert_eq!(one, both, "{spec}");
    }
}

/// EASY, and a look at every possible place after each of its answers: nobody that waits could start without putting off
/// the head of the queue, and that is put off by nobody.
struct Exhaustive {
    policy: Box<dyn Policy>,
    /// The jobs in the order of the queue.
    order: Vec<JobId>,
    /// Whether the head keeps its start: no job takes longer than estimated, and none comes before the head.
    keeps: bool,
    /// The head when it was last looked, and when it was to start.
    promised: Option<(JobId, Time)>,
    missed: Option<String>,
}

/// From when to when each processor is held or closed.
struct Busy(Vec<Vec<(Time, Time)>>);

impl Busy {
    fn of(view: &View<'_>) -> Self {
        let mut busy = Self(vec![Vec::new(); view.instance.processors() as usize]);
        for period in view.instance.unavailable().iter().chain(view.down).filter(|period| period.end > view.now) {
            busy.hold(&period.processors, period.start, period.end);
        }
        for run in view.running {
            // A period ends it, if need be.
            let periods = view.instance.unavailable().iter().filter(|period| period.start > view.now);
            let meeting = periods.filter(|period| !period.processors.is_disjoint(&run.processors));
            let closes = meeting.map(|period| period.start).min().unwrap_or(Time::MAX);
            busy.hold(&run.processors, view.now, run.expected_end(view.instance, view.now).min(closes));
        }
        busy
    }

    fn hold(&mut self, processors: &ProcSet, start: Time, end: Time) {
        processors.iter().for_each(|id| self.0[id as usize].push((start, end)));
    }

    /// Every way to run a job from an instant on, with the end.
    fn places(&self, instance: &Instance, job: JobId, start: Time) -> Vec<(ProcSet, Time)> {
        let (processors, width) = (instance.processors(), instance.job(job).profile().min_processors());
        let sets = (0_u32..1 << processors).filter(|mask| mask.count_ones() == width);
        let sets = sets.map(|mask| {
            ProcSet::from_intervals((0..processors).filter(|id| (mask >> id) & 1 == 1).map(|id| (id, id)).collect())
        });
        let places = sets.map(|set| {
            let end = start + instance.time(job, &set);
            (set, end)
        });
        let open = |(set, end): &(ProcSet, Time)| {
            set.iter().all(|id| self.0[id as usize].iter().all(|held| held.1 <= start || *end <= held.0))
        };
        places.filter(open).collect()
    }
}

impl Exhaustive {
    fn check(&mut self, view: &View<'_>, decisions: &[Decision]) -> Result<(), String> {
        let (instance, now) = (view.instance, view.now);
        let (mut busy, mut waiting) = (Busy::of(view), view.waiting.clone());
        for decision in decisions {
            if let Decision::Start { job, processors } = decision {
                busy.hold(processors, now, now + instance.time(*job, processors));
                waiting.remove(*job);
            }
        }
        let mut queue = self.order.iter().copied().filter(|&job| waiting.contains(job));
        let Some(head) = queue.next() else { return Ok(()) };
        let promised = self.promised.take().filter(|promised| self.keeps && promised.0 == head);
        let mut instants: Vec<Time> = busy.0.iter().flatten().map(|held| held.1).filter(|&end| end > now).collect();
        instants.push(now);
        instants.sort_unstable();
        let earliest = |busy: &Busy| {
            let ends = instants.iter().map(|&start| (start, busy.places(instance, head, start)));
            let ends = ends.filter_map(|(start, places)| Some((start, places.iter().map(|place| place.1).min()?)));
            let mut ends = ends;
            ends.next().expect("periods end")
        };
        let reserved = earliest(&busy);
        if reserved.0 == now {
            return Err(format!("{now}: the head {} could start", head.0));
        }
        self.promised = Some((head, reserved.0));
        if promised.is_some_and(|promised| reserved.0 > promised.1) {
            return Err(format!("{now}: the head {} is put off to {}", head.0, reserved.0));
        }
        for job in queue {
            for (set, end) in busy.places(instance, job, now) {
                let mut with = Busy(busy.0.clone());
                with.hold(&set, now, end);
                let at = with.places(instance, head, reserved.0).iter().map(|place| place.1).min();
                if end <= reserved.0 || at.is_some_and(|at| at <= reserved.1) {
                    return Err(format!(
                        "{now}: {} could start on {set}; {} is reserved at {}",
                        job.0, head.0, reserved.0
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Policy for Exhaustive {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.policy.on(events, view, decisions);
        if self.missed.is_none() {
            self.missed = self.check(view, decisions).err();
        }
    }
}

/// Rigid jobs around unavailable periods under EASY with an order; what it misses, and when the jobs start. `keeps`: no job
/// takes longer than estimated.
fn easy_misses(order: &str, instance: &Instance, actual: &Actual, keeps: bool) -> (Option<String>, Vec<Time>) {
    let mut jobs: Vec<JobId> = instance.ids().collect();
    let width = |job: JobId| i64::from(instance.job(job).profile().min_processors());
    let time = |job: JobId| instance.job(job).profile().slowest().ticks();
    let key = |job: JobId| match order {
        "sjf" => time(job),
        "laf" => -time(job) * width(job),
        "narrowest" => width(job),
        _ => 0,
    };
    jobs.sort_by_key(|&job| (key(job), instance.job(job).release, job));
    // Under other orders who comes later may go before.
    let keeps = keeps && order == "fcfs";
    let mut missed = None;
    let mut starts = vec![Time::MAX; jobs.len()];
    for passes in ["event", "instant"] {
        let policy = policy_for(&format!("easy[order={order},passes={passes}]"), instance, 1).unwrap();
        let mut policy = Exhaustive { policy, order: jobs.clone(), keeps, promised: None, missed: None };
        let options = SimulationOptions::default();
        let simulation = simulate(instance, actual, &mut policy, &options, &mut Silent).unwrap();
        simulation.trace.runs.iter().for_each(|run| starts[run.job.index()] = run.start);
        missed = missed.or(policy.missed.map(|missed| format!("{order}, {passes}: {missed}")));
    }
    (missed, starts)
}

/// Three processors, and a job that could start at 115 on the one that no period closes.
#[test]
fn easy_leaves_the_choice_of_processors_open() {
    let closed = |processors: &str, start: i64, end: i64| Unavailable {
        processors: processors.parse().unwrap(),
        start: t(start),
        end: t(end),
    };
    let periods = vec![closed("0,2", 12, 74), closed("0-2", 11, 51), closed("1-2", 119, 141)];
    let job = |(index, &(release, time, width)): (usize, &(i64, i64, u32))| {
        Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
    };
    let rows = [(2, 16, 3), (10, 36, 1), (13, 33, 2), (37, 25, 1)];
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(Platform::flat(3).unwrap(), jobs, periods).unwrap();
    let (missed, starts) = easy_misses("sjf", &instance, &Actual::AsEstimated, true);
    assert_eq!((missed, starts), (None, [74, 115, 141, 90].map(t).to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn easy_misses_no_start_that_puts_nobody_off(
        rows in prop::collection::vec((1_u32..6, 1_i64..30, 0_i64..60, 1_i64..=150), 1..12),
        periods in prop::collection::vec((1_u32..31, 0_i64..120, 1_i64..40), 0..5), keeps in any::<bool>(),
    ) {
        let period = |&(mask, start, length): &(u32, i64, i64)| Unavailable {
            processors: ProcSet::from_intervals((0..5).filter(|id| (mask >> id) & 1 == 1).map(|id| (id, id)).collect()),
            start: t(start),
            end: t(start + length),
        };
        let job = |(index, &(width, time, release, _)): (usize, &(u32, i64, i64, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
        };
        let actual = |&(width, time, _, percent): &(u32, i64, i64, i64)| {
            let percent = if keeps { percent.min(100) } else { percent };
            Profile::rigid(width, t((time * percent + 99) / 100)).unwrap()
        };
        let actual = Actual::Profiles(rows.iter().map(actual).collect());
        let node = |(name, processors, speed): (&str, u32, f64)| Node { name: name.into(), processors, speed, parent: None, link: None };
        let speeds = Platform::new([("a", 3, 1.0), ("b", 2, 2.5)].map(node).to_vec()).unwrap();
        for platform in [Platform::flat(5).unwrap(), speeds] {
            let (jobs, periods) = (rows.iter().enumerate().map(job).collect(), periods.iter().map(period).collect());
            let instance = Instance::new(platform, jobs, periods).unwrap();
            for order in ["fcfs", "sjf", "laf", "narrowest"] {
                prop_assert_eq!(easy_misses(order, &instance, &actual, keeps).0, None);
            }
        }
    }
}

/// Four processors, of which two are down until 900 by two failures that share one.
#[test]
fn overlapping_failures_count_once() {
    let seconds = Time::from_seconds;
    let job = Job::new("a", Profile::rigid(2, seconds(5)).unwrap()).with_release(seconds(30));
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![job], vec![]).unwrap();
    let failure = |down: i64, up: i64| Failure {
        processors: "0-1".parse().unwrap(),
        down: seconds(down),
        up: seconds(up),
        expected_up: Some(seconds(up)),
    };
    let options = SimulationOptions { failures: vec![failure(10, 1000), failure(20, 900)], ..Default::default() };
    for spec in QUEUES {
        let simulation = run(spec, &instance, &Actual::AsEstimated, &options).unwrap();
        assert_eq!(simulation.trace.runs[0].start, seconds(30), "{spec}");
    }
}

/// A moldable log of sixty jobs on sixteen processors, drawn from a seed: laws of one kind or of all, at a load of 0.1 to 1.5,
/// or all jobs at once.
fn moldable_log(seed: u64) -> Instance {
    moldable_log_on(16, [0.1, 0.4, 0.8, 1.5, f64::INFINITY][(seed / 6 % 5) as usize], seed)
}

/// The same on so many processors, at a load: the work on the fewest processors over what the machine can do.
fn moldable_log_on(processors: u32, load: f64, seed: u64) -> Instance {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    // Xorshift, in [0, 1).
    let mut draw = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (kind, all) = (seed % 6, f64::from(processors));
    let works: Vec<f64> = (0..60).map(|_| (10.0_f64.ln() + draw() * 300.0_f64.ln()).exp()).collect();
    let span = works.iter().sum::<f64>() / all / load;
    let jobs = works.iter().enumerate().map(|(index, &work)| {
        let time = Time::from_seconds_f64(work).unwrap();
        let law = |law: SpeedupLaw| Profile::law(time, law, 1, processors);
        let profile = match if kind == 5 { (draw() * 5.0) as u64 } else { kind } {
            0 => law(SpeedupLaw::Power { exponent: 0.3 }),
            1 => law(SpeedupLaw::Power { exponent: draw() }),
            2 => law(SpeedupLaw::Amdahl { serial: draw() * draw() }),
            3 => {
                let parallelism = (draw() * all.ln()).exp();
                law(SpeedupLaw::Downey { parallelism, sigma: 2.0 * draw() })
            }
            // A rigid one among them, where all kinds are.
            _ if kind == 5 => Profile::rigid(1 + (draw() * all) as u32, time),
            _ => law(SpeedupLaw::Power { exponent: 0.9 + 0.1 * draw() }),
        };
        Job::new(index.to_string(), profile.unwrap()).with_release(Time::from_seconds_f64(draw() * span).unwrap())
    });
    Instance::new(Platform::flat(processors).unwrap(), jobs.collect(), vec![]).unwrap()
}

fn mean_flow(spec: &str, instance: &Instance) -> f64 {
    let simulation = run(spec, instance, &Actual::AsEstimated, &SimulationOptions::default()).unwrap();
    Measures::of(instance, &simulation.trace, &[]).flow.mean
}

#[test]
fn moldable_easy_is_never_much_worse_than_the_better_of_fcfs_and_easy() {
    let (mut worst, mut sum) = (0.0_f64, 0.0);
    for seed in 0..180 {
        let instance = moldable_log(seed);
        let better = mean_flow("fcfs", &instance).min(mean_flow("easy", &instance));
        let ratio = mean_flow("moldable-easy", &instance) / better;
        assert!(ratio <= 1.5, "seed {seed}: {ratio} times the better of fcfs and easy");
        (worst, sum) = (worst.max(ratio), sum + ratio);
    }
    // What choosing is for.
    assert!(sum / 180.0 < 0.9, "mean {}, worst {worst}", sum / 180.0);
}

/// Where the machine is nearly idle, a job is nearly as fast as it can be.
#[test]
fn moldable_easy_is_fast_on_machines_that_are_nearly_idle() {
    for (processors, load) in [(16, 0.001), (16, 0.01), (16, 0.09), (128, 0.001), (128, 0.03), (1024, 0.01)] {
        for seed in 0..30 {
            let instance = moldable_log_on(processors, load, seed);
            let ratio = mean_flow("moldable-easy", &instance) / mean_flow("easy[request=fastest]", &instance);
            assert!(ratio <= 1.5, "{processors} processors, load {load}, seed {seed}: {ratio} times the fastest");
        }
    }
}

/// One job alone: less than twice its shortest time, whatever its profile, since one more may come.
#[test]
fn moldable_easy_runs_a_job_alone_in_less_than_twice_its_shortest_time() {
    let tables: [&[i64]; 4] = [&[199, 198, 197, 100], &[100, 60, 60, 59], &[400, 200, 134, 100], &[7]];
    for times in tables {
        let profile = Profile::table(times.iter().map(|&ticks| t(ticks)).collect()).unwrap();
        let shortest = profile.shortest();
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![Job::new("a", profile)], vec![]).unwrap();
        let simulation = run("moldable-easy", &instance, &Actual::AsEstimated, &SimulationOptions::default()).unwrap();
        assert!(simulation.trace.runs[0].end < shortest * 2, "{times:?}: {:?}", simulation.trace.runs[0]);
    }
}

/// Jobs that hardly speed up run side by side, as under fcfs, and those that scale perfectly one after the other.
#[test]
fn moldable_easy_gives_the_machine_to_those_who_can_use_it() {
    let flow = |exponent: f64, spec: &str| {
        let profile = Profile::law(Time::from_seconds(200), SpeedupLaw::Power { exponent }, 1, 128).unwrap();
        let jobs = (0..64).map(|index| Job::new(index.to_string(), profile.clone())).collect();
        mean_flow(spec, &Instance::new(Platform::flat(128).unwrap(), jobs, vec![]).unwrap())
    };
    assert!(flow(0.3, "moldable-easy") <= flow(0.3, "fcfs") + 1e-9);
    let alone = 200.0 / 128.0;
    assert!((flow(1.0, "moldable-easy") - alone * 32.5).abs() < 0.01);
}

/// A queue order against its definition: always the first of the waiting jobs that fits, until one does not.
#[test]
fn queues_by_weight_and_priority_are_read_as_defined() {
    type Key = fn(&Job) -> (i64, i64, Time);
    let weight: Key = |job| (0, -(job.weight.millionths() as i64), job.release);
    let priority: Key = |job| (i64::from(-job.priority), 0, job.release);
    let shortest: Key = |job| (i64::from(-job.priority), job.profile().shortest().ticks(), job.release);
    let orders = [
        ("order=weight", weight),
        ("order=priority", priority),
        ("queues=priority", priority),
        ("order=sjf,queues=priority", shortest),
    ];
    for seed in 0..40_u64 {
        let mut state = seed + 1;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let job = |index: usize| {
            let profile = Profile::rigid(1 + draw(8) as u32, t(1 + draw(30) as i64)).unwrap();
            let weight = Weight::from_millionths(draw(4) * 500_000).unwrap();
            let job = Job::new(index.to_string(), profile).with_release(t(draw(60) as i64)).with_weight(weight);
            job.with_priority(draw(4) as i32 - 1)
        };
        let instance = Instance::new(Platform::flat(8).unwrap(), (0..25).map(job).collect(), vec![]).unwrap();
        for (order, key) in orders {
            // First come, first served, instant by instant.
            let mut starts: Vec<Option<i64>> = vec![None; 25];
            for now in 0..2000 {
                let lasts = |id: usize| instance.jobs()[id].profile().shortest().ticks();
                loop {
                    let held: u32 = (0..25)
                        .filter(|&id| starts[id].is_some_and(|start| now < start + lasts(id)))
                        .map(|id| instance.jobs()[id].profile().min_processors())
                        .sum();
                    let waiting = (0..25).filter(|&id| starts[id].is_none() && instance.jobs()[id].release <= t(now));
                    let Some(first) = waiting.min_by_key(|&id| (key(&instance.jobs()[id]), id)) else { break };
                    if held + instance.jobs()[first].profile().min_processors() > 8 {
                        break;
                    }
                    starts[first] = Some(now);
                }
            }
            let expected: Vec<_> = (0..25).map(|id| (id as u32, t(starts[id].unwrap()))).collect();
            let options = SimulationOptions::default();
            let found = run_starts(&format!("fcfs[{order}]"), &instance, &Actual::AsEstimated, &options).unwrap();
            assert_eq!(found, expected, "{order}, seed {seed}");
            // The first in the order is never delayed by those behind it: when it is what all others wait behind, it starts
            // as under fcfs.
            let first =
                (0..25).min_by_key(|&id| (instance.jobs()[id].release > Time::ZERO, key(&instance.jobs()[id]), id));
            for policy in ["easy", "conservative", "moldable-easy"] {
                let spec = format!("{policy}[{order}]");
                let starts = run_starts(&spec, &instance, &Actual::AsEstimated, &options).unwrap();
                assert_eq!(starts.len(), 25, "{spec}");
                let first = first.unwrap();
                if instance.jobs()[first].release == Time::ZERO {
                    assert_eq!(starts[first].1, Time::ZERO, "{spec}, seed {seed}");
                }
            }
        }
    }
}

/// A batch takes the jobs of the highest priority that wait when the batch before has ended.
#[test]
fn a_batch_takes_the_highest_priority() {
    let job = |(index, &(release, priority)): (usize, &(i64, i32))| {
        let profile = Profile::rigid(1, t(10)).unwrap();
        Job::new(index.to_string(), profile).with_release(t(release)).with_priority(priority)
    };
    let rows = [(0, 1), (0, 2), (0, 2), (5, 3), (5, 1)];
    let instance =
        Instance::new(Platform::flat(8).unwrap(), rows.iter().enumerate().map(job).collect(), vec![]).unwrap();
    let starts = |spec: &str| -> Vec<i64> {
        let options = SimulationOptions::default();
        let starts = run_starts(spec, &instance, &Actual::AsEstimated, &options).unwrap();
        starts.iter().map(|start| start.1.ticks()).collect()
    };
    assert_eq!(starts("batch[queues=priority]"), [20, 0, 0, 10, 20]);
    assert_eq!(starts("batch"), [0, 0, 0, 10, 10]);
}

#[test]
fn queues_refuse_times_on_machines() {
    let job = Job::new("a", Profile::on_machines(vec![t(5), Profile::CANNOT_RUN]).unwrap());
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), vec![job], vec![]).unwrap();
    for spec in SPECS {
        assert!(matches!(policy_for(spec, &instance, 1), Err(PolicyError::Unsupported { .. })), "{spec}");
    }
}
