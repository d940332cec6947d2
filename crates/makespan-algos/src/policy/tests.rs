//! The policies against references that do the same slowly.

use makespan_core::{
    Context, Decision, Event, Instance, Job, JobId, Node, Placement, Platform, Policy, ProcSet, Profile, Time,
    Unavailable, View,
};
use proptest::prelude::*;

use super::play::Play;
use super::*;

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// A rigid job: width, estimate, release and how long it really takes, in percent of the estimate.
type Row = (u32, i64, i64, i64);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..=100), 1..most)
}

fn instance_on(platform: Platform, rows: &[Row], closed: Vec<Unavailable>) -> Instance {
    let job = |(index, &(width, estimate, release, _)): (usize, &Row)| {
        Job::new(index.to_string(), Profile::rigid(width, t(estimate)).unwrap()).with_release(t(release))
    };
    Instance::new(platform, rows.iter().enumerate().map(job).collect(), closed).unwrap()
}

fn flat(rows: &[Row]) -> Instance {
    instance_on(Platform::flat(8).unwrap(), rows, vec![])
}

/// What the jobs really take.
fn real(rows: &[Row]) -> impl Fn(JobId, &ProcSet) -> Time + '_ {
    |job, _| {
        let (_, estimate, _, percent) = rows[job.index()];
        t((estimate * percent + 99) / 100)
    }
}

fn starts(played: &[Placement], jobs: usize) -> Vec<i64> {
    let mut starts = vec![-1; jobs];
    played.iter().for_each(|placement| starts[placement.job.index()] = placement.start.ticks());
    starts
}

/// Instant by instant, as the definition says it: `order` has the jobs as the queue has them.
fn naive_easy(rows: &[Row], order: &[JobId], backfilling: bool) -> Vec<i64> {
    let real = real(rows);
    let nothing = ProcSet::new();
    let mut starts = vec![-1_i64; rows.len()];
    let ends = |starts: &[i64], job: usize| starts[job] + real(JobId(job as u32), &nothing).ticks();
    for now in 0..10_000 {
        let free_at = |starts: &[i64], at: i64| -> i64 {
            // By estimates, of what runs now.
            let running = (0..rows.len()).filter(|&job| starts[job] >= 0 && now < ends(starts, job));
            8 - running.filter(|&job| at < starts[job] + rows[job].1).map(|job| i64::from(rows[job].0)).sum::<i64>()
        };
        let mut queue: Vec<usize> = order.iter().map(|job| job.index()).collect();
        queue.retain(|&job| starts[job] < 0 && rows[job].2 <= now);
        let mut queue = queue.into_iter();
        let Some(head) = queue.find(|&job| {
            let fits = i64::from(rows[job].0) <= free_at(&starts, now);
            if fits {
                starts[job] = now;
            }
            !fits
        }) else {
            continue;
        };
        if !backfilling {
            continue;
        }
        let width = i64::from(rows[head].0);
        let shadow = (now..).find(|&at| free_at(&starts, at) >= width).unwrap();
        for job in queue {
            let (wide, estimate) = (i64::from(rows[job].0), rows[job].1);
            let in_time = now + estimate <= shadow;
            if wide <= free_at(&starts, now) && (in_time || wide <= free_at(&starts, shadow) - width) {
                starts[job] = now;
            }
        }
    }
    starts
}

/// Instant by instant: early ends, then arrivals, in the order given.
fn naive_conservative(rows: &[Row], order: &[JobId]) -> Vec<i64> {
    let (real, nothing) = (real(rows), ProcSet::new());
    let end = |starts: &[i64], job: usize| starts[job] + real(JobId(job as u32), &nothing).ticks();
    let mut starts = vec![-1_i64; rows.len()];
    // Reservations of those that wait.
    let mut reserved: Vec<Option<i64>> = vec![None; rows.len()];
    for now in 0..4000 {
        let fit = |starts: &[i64], reserved: &[Option<i64>], job: usize| -> i64 {
            let free = |at: i64| -> i64 {
                let holds = |other: usize| match reserved[other] {
                    Some(start) => other != job && start <= at && at < start + rows[other].1,
                    None => starts[other] >= 0 && now < end(starts, other) && at < starts[other] + rows[other].1,
                };
                8 - (0..rows.len()).filter(|&other| holds(other)).map(|other| i64::from(rows[other].0)).sum::<i64>()
            };
            let mut fits =
                (now..).filter(|&start| (start..start + rows[job].1).all(|at| free(at) >= i64::from(rows[job].0)));
            fits.next().unwrap()
        };
        let queue: Vec<usize> = order.iter().map(|job| job.index()).collect();
        if (0..rows.len()).any(|job| starts[job] >= 0 && end(&starts, job) == now && starts[job] + rows[job].1 > now) {
            for &job in &queue {
                if let Some(old) = reserved[job] {
                    let new = fit(&starts, &reserved, job);
                    assert!(new <= old, "compression delays nobody");
                    reserved[job] = Some(new);
                }
            }
        }
        for &job in queue.iter().filter(|&&job| rows[job].2 == now) {
            reserved[job] = Some(fit(&starts, &reserved, job));
        }
        for job in 0..rows.len() {
            if reserved[job] == Some(now) {
                (starts[job], reserved[job]) = (now, None);
            }
        }
        if starts.iter().all(|&start| start >= 0) {
            break;
        }
    }
    starts
}

fn queue_order(name: &str, instance: &Instance) -> Vec<JobId> {
    let widths: Vec<u32> = instance.jobs().iter().map(|job| job.profile().min_processors()).collect();
    name.parse::<QueueOrder>().unwrap().sorted(instance, &widths)
}

proptest! {
    #[test]
    fn easy_and_fcfs_start_what_the_definition_starts(rows in rows(25)) {
        let instance = flat(&rows);
        for name in ["fcfs", "sjf", "laf", "widest"] {
            let order = queue_order(name, &instance);
            let reading = Reading { order: name.parse().unwrap(), ..Reading::default() };
            let played = Play::starts(&instance, &mut Easy::new(reading).looking(Passes::Instant), &real(&rows));
            prop_assert_eq!(starts(&played, rows.len()), naive_easy(&rows, &order, true), "{}", name);
            let played = Play::starts(&instance, &mut Fcfs::new(reading), &real(&rows));
            prop_assert_eq!(starts(&played, rows.len()), naive_easy(&rows, &order, false), "{}", name);
        }
    }

    #[test]
    fn conservative_starts_what_the_definition_starts(rows in rows(18)) {
        let instance = flat(&rows);
        for name in ["fcfs", "sjf", "laf"] {
            let order = queue_order(name, &instance);
            let reading = Reading { order: name.parse().unwrap(), ..Reading::default() };
            let played = Play::starts(&instance, &mut Conservative::new(reading), &real(&rows));
            prop_assert_eq!(starts(&played, rows.len()), naive_conservative(&rows, &order), "{}", name);
        }
    }

    /// The way by sets of processors does what the way by counts does where counts suffice.
    #[test]
    fn sets_and_counts_agree(rows in rows(25)) {
        let counted = flat(&rows);
        // A period long past makes processors differ, and nothing else.
        let past = Unavailable { processors: ProcSet::range(1, 2), start: t(-9), end: t(-8) };
        let by_sets = instance_on(Platform::flat(8).unwrap(), &rows, vec![past]);
        prop_assert!(!super::held::counts_suffice(&by_sets));
        for spec in ["fcfs", "easy[passes=instant]", "easy[order=sjf, passes=instant]"] {
            let a = Play::starts(&counted, policy(spec, 1).unwrap().as_mut(), &real(&rows));
            let b = Play::starts(&by_sets, policy(spec, 1).unwrap().as_mut(), &real(&rows));
            prop_assert_eq!(starts(&a, rows.len()), starts(&b, rows.len()), "{}", spec);
        }
    }
}

fn closed(processors: &str, start: i64, end: i64) -> Unavailable {
    Unavailable { processors: processors.parse().unwrap(), start: t(start), end: t(end) }
}

/// Platforms on which it matters which processors a job gets.
fn particular(rows: &[Row], periods: &[(u32, i64, i64)]) -> Vec<Instance> {
    let node = |(name, speed): (&str, f64)| Node { name: name.into(), processors: 4, speed, parent: None, link: None };
    let periods: Vec<Unavailable> = periods
        .iter()
        .map(|&(first, start, length)| closed(&format!("{first}-{}", first + 2), start, start + length))
        .collect();
    let compact = Platform::cluster(4, 2).unwrap().requiring_compact();
    let speeds = Platform::new([("a", 1.0), ("b", 2.5)].map(node).to_vec()).unwrap();
    let platforms = [Platform::flat(8).unwrap(), compact, speeds];
    platforms.into_iter().map(|platform| instance_on(platform, rows, periods.clone())).collect()
}

const PARTICULAR: [&str; 10] = [
    "fcfs",
    "fcfs[order=laf]",
    "easy",
    "easy[order=sjf]",
    "conservative",
    "conservative[order=widest]",
    "moldable-easy",
    "batch[scheduler=demt[shuffles=2]]",
    "doubling",
    "replan",
];

proptest! {
    #[test]
    fn every_job_runs_and_nothing_runs_where_it_must_not(
        rows in rows(20), periods in prop::collection::vec((0_u32..6, 0_i64..80, 1_i64..40), 0..4),
    ) {
        for instance in particular(&rows, &periods) {
            for spec in PARTICULAR {
                // Some are for equal speeds only.
                let Ok(mut policy) = policy_for(spec, &instance, 1) else { continue };
                let played = Play::starts(&instance, policy.as_mut(), &|job, on| instance.time(job, on));
                prop_assert_eq!(played.len(), rows.len(), "{}", spec);
                sound(&instance, &played)?;
            }
        }
    }

    /// With rigid jobs there is nothing to choose.
    #[test]
    fn moldable_easy_is_easy_for_rigid_jobs(rows in rows(25)) {
        let instance = flat(&rows);
        let easy = Play::starts(&instance, policy("easy[passes=instant]", 1).unwrap().as_mut(), &real(&rows));
        let moldable = Play::starts(&instance, policy("moldable-easy", 1).unwrap().as_mut(), &real(&rows));
        prop_assert_eq!(starts(&moldable, rows.len()), starts(&easy, rows.len()));
    }

    /// A batch begins when the one before has ended; with exact estimates its jobs start as planned.
    #[test]
    fn nothing_starts_before_the_batch_before_has_ended(rows in rows(25)) {
        let instance = flat(&rows);
        for spec in ["batch", "batch[scheduler=demt[shuffles=2]]", "doubling"] {
            let played = Play::starts(&instance, policy(spec, 1).unwrap().as_mut(), &real(&rows));
            prop_assert_eq!(played.len(), rows.len());
            sound(&instance, &played)?;
            if !spec.starts_with("batch") {
                continue;
            }
            // Jobs released after the first start of a batch start after its last end.
            let mut rest: Vec<&Placement> = played.iter().collect();
            while let Some(first) = rest.first().map(|placement| placement.start) {
                let released = |placement: &&Placement| instance.job(placement.job).release <= first;
                let (batch, later): (Vec<&Placement>, Vec<&Placement>) = rest.into_iter().partition(released);
                let end = batch.iter().map(|placement| placement.end).max();
                prop_assert!(later.iter().all(|placement| Some(placement.start) >= end), "{}", spec);
                rest = later;
            }
        }
    }

    #[test]
    fn a_batch_with_exact_estimates_is_the_plan(rows in rows(20)) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, _, _)| (width, time, 0, 100)).collect();
        let instance = flat(&rows);
        for scheduler in ["list", "demt[shuffles=2]", "gang"] {
            let plan = crate::scheduler(scheduler).unwrap().schedule(&instance, &mut Context::with_seed(1)).unwrap();
            let mut played = Play::starts(&instance, policy(&format!("batch[scheduler={scheduler}]"), 1).unwrap().as_mut(), &real(&rows));
            played.sort_by_key(|placement| (placement.start, placement.job));
            let planned = plan.into_schedule();
            prop_assert_eq!(played.as_slice(), planned.placements(), "{}", scheduler);
        }
    }

    /// What was believed of the head is kept: when run times are at most the estimates, it starts no later.
    #[test]
    fn the_head_of_easy_starts_no_later_than_it_was_first_reserved(rows in rows(25)) {
        let instance = flat(&rows);
        for passes in [Passes::Instant, Passes::Event] {
            let policy = Easy::default().looking(passes);
            let mut watched = Watched { policy, reserved: vec![None; rows.len()] };
            let played = Play::starts(&instance, &mut watched, &real(&rows));
            for placement in &played {
                if let Some(reserved) = watched.reserved[placement.job.index()] {
                    prop_assert!(placement.start <= reserved);
                }
            }
        }
    }
}

/// No processor twice, none closed, best placement, none before its release.
fn sound(instance: &Instance, played: &[Placement]) -> Result<(), TestCaseError> {
    for (index, one) in played.iter().enumerate() {
        prop_assert!(one.start >= instance.job(one.job).release);
        prop_assert!(!instance.platform().is_compact() || instance.platform().held_in_part(&one.processors).len() < 2);
        let periods = instance.unavailable().iter().filter(|period| period.start < one.end && one.start < period.end);
        let others = played[..index].iter().filter(|other| other.start < one.end && one.start < other.end);
        let taken = periods.map(|period| &period.processors).chain(others.map(|other| &other.processors));
        for taken in taken {
            prop_assert!(taken.is_disjoint(&one.processors), "{:?}", one);
        }
    }
    Ok(())
}

/// EASY, and when it first reserved each job that was the head of its queue.
struct Watched {
    policy: Easy,
    reserved: Vec<Option<Time>>,
}

impl Policy for Watched {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.policy.on(events, view, decisions);
        if let Some((job, start)) = self.policy.reservation() {
            self.reserved[job.index()].get_or_insert(start);
        }
    }
}

#[test]
fn walltimes_are_kept_on_processors_of_several_speeds() {
    let node = |name: &str, processors, speed| Node { name: name.into(), processors, speed, parent: None, link: None };
    let platform = Platform::new(vec![node("fast", 2, 2.0), node("slow", 4, 1.0)]).unwrap();
    let job = |name: &str, times: &[i64], walltime: i64| {
        let mut job = Job::new(name, Profile::table(times.iter().copied().map(t).collect()).unwrap());
        job.walltime = Some(t(walltime));
        job
    };
    // `hold` takes both fast processors until 5, `narrow` needs one of them, and `wide` would ask for the slow ones: on
    // three processors it takes 10, and on two fast ones 6.
    let hold = Job::new("hold", Profile::rigid(2, t(10)).unwrap());
    let jobs = vec![hold, job("narrow", &[10], 6), job("wide", &[20, 12, 10], 9)];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    for spec in ["fcfs", "easy", "conservative", "easy[request=fewest]", "conservative[request=fastest]"] {
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let played = Play::starts(&instance, policy.as_mut(), &|job, processors| instance.time(job, processors));
        assert_eq!(starts(&played, 3), [0, 5, 10], "{spec}");
        assert!(played.iter().all(|placement| instance.accepts(placement.job, &placement.processors)), "{spec}");
    }
}
