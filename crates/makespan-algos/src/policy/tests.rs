//! Compares policies with slow reference implementations.

use std::cmp::Ordering;

use makespan_core::{
    Decision, Event, Instance, Job, JobId, Node, Placement, Platform, Policy, ProcSet, Profile, TaskId, Time,
    Unavailable, View, Weight,
};
use proptest::prelude::*;

use super::play::PolicySimulation;
use super::queue::Queue;
use super::*;
use crate::plan::Context;

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// A rigid task: its width, its estimate, its release, and its real run time in percent of the estimate.
type Row = (u32, i64, i64, i64);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..=100), 1..most)
}

/// Generates tasks, some of which exceed their estimates.
fn late_rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..250), 1..most)
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

/// In real time, the first events of a policy may submit several tasks, shortly after their releases.
#[test]
fn what_is_heard_of_late_starts_once() {
    let instance = flat(&[(2, 10, 0, 100); 3]);
    for spec in ["fcfs", "easy", "easy[passes=instant]", "conservative", "moldable-easy", "batch", "replan", "improve"]
    {
        let mut cluster = makespan_core::Cluster::new(&instance);
        assert!(instance.task_ids().all(|task| cluster.submit(task)));
        cluster.advance(t(1));
        let events: Vec<Event> = instance.task_ids().map(Event::Submitted).collect();
        let mut decisions = Vec::new();
        crate::policy::policy(spec, 1).unwrap().on(&events, &cluster.view(), &mut decisions);
        for decision in decisions {
            if let Decision::Start { task, processors } = decision {
                cluster.start(task, processors).unwrap_or_else(|defect| panic!("{spec}: {defect}"));
            }
        }
        assert_eq!(cluster.running().len(), 3, "{spec}");
    }
}

/// Returns the real run times of the tasks.
fn real(rows: &[Row]) -> impl Fn(TaskId, &ProcSet) -> Time + '_ {
    |task, _| {
        let (_, estimate, _, percent) = rows[task.index()];
        t((estimate * percent + 99) / 100)
    }
}

fn starts(played: &[Placement], tasks: usize) -> Vec<i64> {
    let mut starts = vec![-1; tasks];
    played.iter().for_each(|placement| starts[placement.task.index()] = placement.start.ticks());
    starts
}

/// The common part of the reference implementations: the tasks in the order of the queue, and the expected ends of
/// running tasks.
struct Naive<'a> {
    rows: &'a [Row],
    order: Vec<usize>,
    starts: Vec<i64>,
    /// The tasks in the order of their starts.
    started: Vec<usize>,
    /// The expected end of each running task.
    beliefs: Vec<i64>,
}

impl<'a> Naive<'a> {
    fn new(rows: &'a [Row], order: &[TaskId]) -> Self {
        let order = order.iter().map(|task| task.index()).collect();
        Self { rows, order, starts: vec![-1; rows.len()], started: vec![], beliefs: vec![0; rows.len()] }
    }

    fn end(&self, task: usize) -> i64 {
        self.starts[task] + real(self.rows)(TaskId::at(task), &ProcSet::new()).ticks()
    }

    fn start(&mut self, task: usize, now: i64) {
        (self.starts[task], self.beliefs[task]) = (now, now + self.rows[task].1);
        self.started.push(task);
    }

    fn ended(&self, now: i64) -> Vec<usize> {
        self.started.iter().copied().filter(|&task| self.end(task) == now).collect()
    }

    fn arrived(&self, now: i64) -> Vec<usize> {
        (0..self.rows.len()).filter(|&task| self.rows[task].2 == now).collect()
    }

    fn done(&self, now: i64) -> bool {
        self.starts.iter().all(|&start| start >= 0) && (0..self.rows.len()).all(|task| self.end(task) < now)
    }

    /// If the expected end of a running job has passed, adds a quarter to its expected run time until the expected end
    /// is in the future. Returns whether there was such a job. If a job ends now but the policy has not processed the
    /// end, its expected end does not change.
    fn notice(&mut self, now: i64) -> bool {
        let mut late = false;
        for &task in &self.started {
            let at = match self.end(task).cmp(&now) {
                Ordering::Less => continue,
                Ordering::Equal => now - 1,
                Ordering::Greater => now,
            };
            late |= self.end(task) > now && self.beliefs[task] <= now;
            while self.beliefs[task] <= at {
                self.beliefs[task] += ((self.beliefs[task] - self.starts[task]) / 4).max(1);
            }
        }
        late
    }

    /// Returns the number of free processors at the instant `at`. Running tasks and the tasks in `unheard` hold their
    /// processors until their expected ends.
    fn free_at(&self, now: i64, unheard: &[usize], at: i64) -> i64 {
        let runs = |task: &usize| self.end(*task) > now || unheard.contains(task);
        let running = self.started.iter().copied().filter(runs);
        8 - running.filter(|&task| at < self.beliefs[task]).map(|task| i64::from(self.rows[task].0)).sum::<i64>()
    }

    /// Visits the tasks `waiting` once, in the order of the queue.
    fn look(&mut self, now: i64, waiting: &[usize], unheard: &[usize], backfilling: bool) {
        let mut queue: Vec<usize> = self.order.clone();
        queue.retain(|task| self.starts[*task] < 0 && waiting.contains(task));
        let mut queue = queue.into_iter();
        let Some(head) = queue.find(|&task| {
            let fits = i64::from(self.rows[task].0) <= self.free_at(now, unheard, now);
            if fits {
                self.start(task, now);
            }
            !fits
        }) else {
            return;
        };
        if !backfilling {
            return;
        }
        let width = i64::from(self.rows[head].0);
        let shadow = (now..).find(|&at| self.free_at(now, unheard, at) >= width).unwrap();
        for task in queue {
            let (wide, estimate) = (i64::from(self.rows[task].0), self.rows[task].1);
            let in_time = now + estimate <= shadow;
            if wide <= self.free_at(now, unheard, now)
                && (in_time || wide <= self.free_at(now, unheard, shadow) - width)
            {
                self.start(task, now);
            }
        }
    }
}

/// Simulates EASY by its definition, from event to event.
fn naive_easy(rows: &[Row], order: &[TaskId], backfilling: bool, passes: Passes) -> Vec<i64> {
    let mut naive = Naive::new(rows, order);
    for now in 0.. {
        if naive.done(now) {
            break;
        }
        let (mut unheard, arrived) = (naive.ended(now), naive.arrived(now));
        if unheard.is_empty() && arrived.is_empty() {
            continue;
        }
        naive.notice(now);
        let mut waiting: Vec<usize> = (0..rows.len()).filter(|&task| rows[task].2 < now).collect();
        if passes == Passes::Instant {
            waiting.extend(arrived);
            naive.look(now, &waiting, &[], backfilling);
            continue;
        }
        for task in arrived {
            waiting.push(task);
            naive.look(now, &waiting, &unheard, backfilling);
        }
        while !unheard.is_empty() {
            unheard.remove(0);
            naive.look(now, &waiting, &unheard, backfilling);
        }
    }
    naive.starts
}

/// Simulates conservative backfilling by its definition. After an unexpected end, all reservations move up in the
/// order of the queue, and then arrivals get their reservations in this order. If a task exceeds its expected time,
/// all reservations are made again.
fn naive_conservative(rows: &[Row], order: &[TaskId]) -> Vec<i64> {
    let mut naive = Naive::new(rows, order);
    // The reservations of waiting tasks.
    let mut reserved: Vec<Option<i64>> = vec![None; rows.len()];
    for now in 0.. {
        if naive.done(now) {
            break;
        }
        let (ended, arrived) = (naive.ended(now), naive.arrived(now));
        if ended.is_empty() && arrived.is_empty() && !reserved.contains(&Some(now)) {
            continue;
        }
        let fit = |naive: &Naive<'_>, reserved: &[Option<i64>], task: usize| -> i64 {
            let free = |at: i64| -> i64 {
                let holds = |other: &usize| {
                    let start = reserved[*other].filter(|_| *other != task);
                    start.is_some_and(|start| start <= at && at < start + rows[*other].1)
                };
                let held = (0..rows.len()).filter(holds).map(|other| i64::from(rows[other].0)).sum::<i64>();
                naive.free_at(now, &[], at) - held
            };
            let mut fits =
                (now..).filter(|&start| (start..start + rows[task].1).all(|at| free(at) >= i64::from(rows[task].0)));
            fits.next().unwrap()
        };
        let surprise = ended.iter().any(|&task| naive.beliefs[task] != now);
        if naive.notice(now) {
            reserved.fill(None);
        } else if surprise {
            for &task in &naive.order {
                if let Some(old) = reserved[task] {
                    let new = fit(&naive, &reserved, task);
                    assert!(new <= old, "compression delays no task");
                    reserved[task] = Some(new);
                }
            }
        }
        for &task in &naive.order {
            if rows[task].2 <= now && naive.starts[task] < 0 && reserved[task].is_none() {
                reserved[task] = Some(fit(&naive, &reserved, task));
            }
        }
        for task in naive.order.clone() {
            if reserved[task] == Some(now) {
                reserved[task] = None;
                naive.start(task, now);
            }
        }
    }
    naive.starts
}

fn queue_order(name: &str, instance: &Instance) -> Vec<TaskId> {
    let mut queue = Queue::new(instance, QueueReading { order: name.parse().unwrap(), ..QueueReading::default() });
    queue.reset(instance, &instance.task_ids().collect());
    queue.iter().map(|place| place.task).collect()
}

/// Job 0 runs longer than its estimate. The starts of jobs 0 and 1 must not change if another job arrives before job 0
/// ends.
#[test]
fn an_unrelated_event_does_not_change_a_schedule() {
    for passes in ["event", "instant"] {
        let begun = |rows: &[Row]| {
            let instance = flat(rows);
            let mut policy = policy(&format!("easy[passes={passes}]"), 1).unwrap();
            starts(&PolicySimulation::starts(&instance, policy.as_mut(), &real(rows)), rows.len())
        };
        let rows = [(4, 2, 0, 500), (8, 5, 1, 100), (1, 1, 10, 100)];
        let alone = begun(&rows);
        for at in 1..=10 {
            let with = [rows.as_slice(), &[(8, 29, at, 100)]].concat();
            assert_eq!(begun(&with)[..2], alone[..2], "{passes} {at}");
        }
    }
}

proptest! {
    #[test]
    fn easy_and_fcfs_start_what_the_definition_starts(rows in late_rows(25)) {
        let instance = flat(&rows);
        for name in ["fcfs", "sjf", "laf", "widest"] {
            let order = queue_order(name, &instance);
            let reading = QueueReading { order: name.parse().unwrap(), ..QueueReading::default() };
            for passes in [Passes::Instant, Passes::Event] {
                let played = PolicySimulation::starts(&instance, &mut Easy::new(reading).looking(passes), &real(&rows));
                let expected = naive_easy(&rows, &order, true, passes);
                prop_assert_eq!(starts(&played, rows.len()), expected, "{} {:?}", name, passes);
            }
            let played = PolicySimulation::starts(&instance, &mut Fcfs::new(reading), &real(&rows));
            let expected = naive_easy(&rows, &order, false, Passes::Instant);
            prop_assert_eq!(starts(&played, rows.len()), expected, "{}", name);
        }
    }

    #[test]
    fn conservative_starts_what_the_definition_starts(rows in late_rows(18)) {
        let instance = flat(&rows);
        for name in ["fcfs", "sjf", "laf"] {
            let order = queue_order(name, &instance);
            let reading = QueueReading { order: name.parse().unwrap(), ..QueueReading::default() };
            let played = PolicySimulation::starts(&instance, &mut Conservative::new(reading), &real(&rows));
            prop_assert_eq!(starts(&played, rows.len()), naive_conservative(&rows, &order), "{}", name);
        }
    }

    /// Checks that the orders by weight and by priority are correct. Checks that several queues behave like one queue
    /// in which higher priorities come first.
    #[test]
    fn weights_and_priorities_order_as_defined(
        rows in late_rows(14), marks in prop::collection::vec((0_u64..4, -1_i32..3), 14),
    ) {
        let plain = flat(&rows);
        let mark = |(job, &(weight, priority)): (JobId, &(u64, i32))| {
            let weight = Weight::from_millionths(weight * 500_000).unwrap();
            plain.submitted(job).with_weight(weight).with_priority(priority)
        };
        let jobs = plain.ids().zip(&marks).map(mark).collect();
        let instance = Instance::new(Platform::flat(8).unwrap(), jobs, vec![]).unwrap();
        let by = |key: &dyn Fn(usize) -> (i64, i64)| {
            let mut order: Vec<TaskId> = instance.task_ids().collect();
            order.sort_by_key(|task| (key(task.index()), rows[task.index()].2, *task));
            order
        };
        let orders = [
            ("order=weight", by(&|task| (-(marks[task].0 as i64), 0))),
            ("order=priority", by(&|task| (-i64::from(marks[task].1), 0))),
            ("order=saf,queues=priority", by(&|task| (-i64::from(marks[task].1), i64::from(rows[task].0) * rows[task].1))),
        ];
        for (spec, order) in orders {
            let played = |name: &str| {
                let mut policy = policy(&format!("{name}[{spec}]"), 1).unwrap();
                starts(&PolicySimulation::starts(&instance, policy.as_mut(), &real(&rows)), rows.len())
            };
            prop_assert_eq!(played("fcfs"), naive_easy(&rows, &order, false, Passes::Instant), "{}", spec);
            prop_assert_eq!(played("easy"), naive_easy(&rows, &order, true, Passes::Event), "{}", spec);
            prop_assert_eq!(played("moldable-easy"), naive_easy(&rows, &order, true, Passes::Instant), "{}", spec);
            prop_assert_eq!(played("conservative"), naive_conservative(&rows, &order), "{}", spec);
        }
    }

    /// Checks that both kinds of passes start the same tasks if estimates are exact and the order is first come, first
    /// served. With other orders, the two kinds may differ. If two tasks arrive together, a pass after each event may
    /// start the first task before the policy knows the second task.
    #[test]
    fn with_exact_estimates_and_fcfs_the_passes_of_easy_are_one(rows in rows(25)) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, release, _)| (width, time, release, 100)).collect();
        let instance = flat(&rows);
        let [event, instant] = ["easy", "easy[passes=instant]"]
            .map(|spec| starts(&PolicySimulation::starts(&instance, policy(spec, 1).unwrap().as_mut(), &real(&rows)), rows.len()));
        prop_assert_eq!(event, instant);
    }

    /// Checks that a short task long before all other tasks does not change the starts of these tasks.
    #[test]
    fn the_first_instant_is_like_any_other(rows in late_rows(12), together in any::<bool>()) {
        let rows: Vec<Row> = rows.into_iter().map(|row: Row| if together { (row.0, row.1, 0, row.3) } else { row }).collect();
        let later = rows.iter().map(|&(width, time, release, percent)| (width, time, release + 500, percent));
        let later: Vec<Row> = later.chain([(1, 1, 0, 100)]).collect();
        for spec in ["fcfs[order=sjf]", "easy", "easy[order=sjf]", "easy[order=widest,passes=instant]", "conservative[order=laf]"] {
            let begun = |rows: &[Row]| {
                let instance = flat(rows);
                starts(&PolicySimulation::starts(&instance, policy(spec, 1).unwrap().as_mut(), &real(rows)), rows.len())
            };
            let mut after: Vec<i64> = begun(&later).iter().map(|start| start - 500).collect();
            after.pop();
            prop_assert_eq!(begun(&rows), after, "{}", spec);
        }
    }
}

fn closed(processors: &str, start: i64, end: i64) -> Unavailable {
    Unavailable { processors: processors.parse().unwrap(), start: t(start), end: t(end) }
}

/// Returns instances for which the choice of processors matters.
fn particular(rows: &[Row], periods: &[(u32, i64, i64)]) -> Vec<Instance> {
    let node = |(name, speed): (&str, f64)| Node { speed, ..Node::new(name, 4) };
    let periods: Vec<Unavailable> = periods
        .iter()
        .map(|&(first, start, length)| closed(&format!("{first}-{}", first + 2), start, start + length))
        .collect();
    let compact = Platform::cluster(4, 2).unwrap().requiring_compact();
    let speeds = Platform::new([("a", 1.0), ("b", 2.5)].map(node).to_vec()).unwrap();
    let sizes = [("a", 3), ("b", 1), ("c", 4)].map(|(name, processors)| Node::new(name, processors)).to_vec();
    let uneven = Platform::new(sizes).unwrap().requiring_compact();
    let platforms = [Platform::flat(8).unwrap(), compact, uneven, speeds];
    platforms.into_iter().map(|platform| instance_on(platform, rows, periods.clone())).collect()
}

const PARTICULAR: [&str; 12] = [
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
    "improve[steps=60]",
    "improve[steps=60,keep=none]",
];

proptest! {
    #[test]
    fn every_job_runs_and_nothing_runs_where_it_must_not(
        rows in rows(20), periods in prop::collection::vec((0_u32..6, 0_i64..80, 1_i64..40), 0..4),
    ) {
        for instance in particular(&rows, &periods) {
            for spec in PARTICULAR {
                // Some policies support only processors of equal speed.
                let Ok(mut policy) = policy_for(spec, &instance, 1) else { continue };
                let played = PolicySimulation::starts(&instance, policy.as_mut(), &|task, on| instance.time(task, on));
                prop_assert_eq!(played.len(), rows.len(), "{}", spec);
                sound(&instance, &played)?;
            }
        }
    }

    /// Checks that `moldable-easy` starts the same tasks as `easy` if all tasks are rigid. In this case, no task has a
    /// choice of widths.
    #[test]
    fn moldable_easy_is_easy_for_rigid_jobs(rows in rows(25)) {
        let instance = flat(&rows);
        let easy = PolicySimulation::starts(&instance, policy("easy[passes=instant]", 1).unwrap().as_mut(), &real(&rows));
        let moldable = PolicySimulation::starts(&instance, policy("moldable-easy", 1).unwrap().as_mut(), &real(&rows));
        prop_assert_eq!(starts(&moldable, rows.len()), starts(&easy, rows.len()));
    }

    /// Checks that a batch begins when the previous batch has ended, and that its tasks start as planned if estimates
    /// are exact.
    #[test]
    fn nothing_starts_before_the_batch_before_has_ended(rows in rows(25)) {
        let instance = flat(&rows);
        for spec in ["batch", "batch[scheduler=demt[shuffles=2]]", "doubling"] {
            let played = PolicySimulation::starts(&instance, policy(spec, 1).unwrap().as_mut(), &real(&rows));
            prop_assert_eq!(played.len(), rows.len());
            sound(&instance, &played)?;
            if !spec.starts_with("batch") {
                continue;
            }
            // A task that is released after the first start of a batch must start after the last end of the batch.
            let mut rest: Vec<&Placement> = played.iter().collect();
            while let Some(first) = rest.first().map(|placement| placement.start) {
                let released = |placement: &&Placement| instance.release(placement.task) <= first;
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
            let mut played = PolicySimulation::starts(&instance, policy(&format!("batch[scheduler={scheduler}]"), 1).unwrap().as_mut(), &real(&rows));
            played.sort_by_key(|placement| (placement.start, placement.task));
            let planned = plan.into_schedule().unwrap();
            prop_assert_eq!(played.as_slice(), planned.placements(), "{}", scheduler);
        }
    }

    /// Checks that the reservation of the head is kept. If no run time exceeds its estimate, the head must start no
    /// later than reserved.
    #[test]
    fn the_head_of_easy_starts_no_later_than_it_was_first_reserved(rows in rows(25)) {
        let instance = flat(&rows);
        for passes in [Passes::Instant, Passes::Event] {
            let policy = Easy::default().looking(passes);
            let mut watched = Watched { policy, reserved: vec![None; rows.len()] };
            let played = PolicySimulation::starts(&instance, &mut watched, &real(&rows));
            for placement in &played {
                if let Some(reserved) = watched.reserved[placement.task.index()] {
                    prop_assert!(placement.start <= reserved);
                }
            }
        }
    }
}

/// Checks the placements of a simulated run. Two tasks must not use a processor at the same time, and no task may use a
/// closed processor. If best placement is required, each placement must be a best placement. No task may start before
/// its release.
fn sound(instance: &Instance, played: &[Placement]) -> Result<(), TestCaseError> {
    for (index, one) in played.iter().enumerate() {
        prop_assert!(one.start >= instance.release(one.task));
        prop_assert!(!instance.platform().is_compact() || instance.platform().is_best_placement(&one.processors));
        let periods = instance.unavailable().iter().filter(|period| period.start < one.end && one.start < period.end);
        let others = played[..index].iter().filter(|other| other.start < one.end && one.start < other.end);
        let taken = periods.map(|period| &period.processors).chain(others.map(|other| &other.processors));
        for taken in taken {
            prop_assert!(taken.is_disjoint(&one.processors), "{:?}", one);
        }
    }
    Ok(())
}

/// An EASY policy. The policy records the first reservation of each task that was the head of its queue.
struct Watched {
    policy: Easy,
    reserved: Vec<Option<Time>>,
}

impl Policy for Watched {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.policy.on(events, view, decisions);
        if let Some((task, start)) = self.policy.reservation() {
            self.reserved[task.index()].get_or_insert(start);
        }
    }
}

#[test]
fn walltimes_are_kept_on_processors_of_several_speeds() {
    let node = |name: &str, processors, speed| Node { speed, ..Node::new(name, processors) };
    let platform = Platform::new(vec![node("fast", 2, 2.0), node("slow", 4, 1.0)]).unwrap();
    let job = |name: &str, times: &[i64], walltime: i64| {
        let job = Job::new(name, Profile::table(times.iter().copied().map(t).collect()).unwrap());
        job.with_walltime(t(walltime))
    };
    // `hold` takes both fast processors until 5. On slow processors, `narrow` takes 10 ticks, more than its walltime
    // of 6, and `wide` takes at least 10 ticks, more than its walltime of 9. On the two fast processors, `wide` takes
    // 6 ticks.
    let hold = Job::new("hold", Profile::rigid(2, t(10)).unwrap());
    let jobs = vec![hold, job("narrow", &[10], 6), job("wide", &[20, 12, 10], 9)];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    for spec in ["fcfs", "easy", "conservative", "easy[request=fewest]", "conservative[request=fastest]"] {
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let played =
            PolicySimulation::starts(&instance, policy.as_mut(), &|task, processors| instance.time(task, processors));
        assert_eq!(starts(&played, 3), [0, 5, 10], "{spec}");
        assert!(played.iter().all(|placement| instance.accepts(placement.task, &placement.processors)), "{spec}");
    }
}
