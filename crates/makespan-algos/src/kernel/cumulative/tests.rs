//! Compares both schemes with a reference implementation that counts tick by tick.

use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Payload, Platform, ProcSet, Profile, Resources, Time,
    Unavailable, Weight, validate,
};
use proptest::prelude::*;

use super::{CumulativeProblem, ParallelScheme, SerialScheme};
use crate::kernel::packing::Packing;

/// A task, given by four figures: its times on one, two, .. processors, the licences that it needs in total, the
/// licences for each processor, and the amount of the consumable.
#[derive(Clone, Debug)]
struct Task {
    times: Vec<i64>,
    licences: (u64, u64),
    used_up: u64,
}

/// A job, given by its release, its tasks, its edges and a count. If the count is more than one, the job is a bag of
/// copies of the first task.
type DrawnJob = (i64, Vec<Task>, Vec<(u32, u32)>, u64);

/// Draft of a small instance.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    processors: u32,
    licences: u64,
    jobs: Vec<DrawnJob>,
    /// Periods in which all processors are closed.
    nights: Vec<(i64, i64)>,
    /// Numbers of processors, each with the instant at which these processors open.
    opening: Vec<(u32, i64)>,
}

impl Draft {
    /// Returns the instance, with all times multiplied by `scale`. Returns `None` if a task never fits.
    pub(crate) fn instance(&self, scale: i64) -> Option<Instance> {
        let ticks = |at: i64| Time::from_ticks(at * scale);
        let all = ProcSet::range(0, self.processors - 1);
        let night = |&(from, until): &(i64, i64)| (all.clone(), from, from + until);
        let first = |&(id, until): &(u32, i64)| (ProcSet::range(0, id.min(self.processors - 1)), 0, until);
        let closed: Vec<_> = if self.opening.is_empty() {
            self.nights.iter().map(night).collect()
        } else {
            self.opening.iter().map(first).collect()
        };
        let closed = closed.into_iter().map(|(processors, from, until)| Unavailable {
            processors,
            start: ticks(from),
            end: ticks(until),
        });
        let platform = Platform::flat(self.processors).unwrap();
        let platform = platform.with_licences(Resources::new([("solver", self.licences)]).unwrap()).unwrap();
        let platform = platform.with_consumables(Resources::new([("budget", 12)]).unwrap()).unwrap();
        let profile = |task: &Task| Profile::table(task.times.iter().map(|&time| ticks(time)).collect()).unwrap();
        let needs = |task: &Task| {
            let solver = Need::Linear { whole: task.licences.0, per_processor: task.licences.1 };
            let all = [("solver", solver), ("budget", Need::whole(task.used_up))];
            Needs::new(all.into_iter().filter(|(_, need)| !need.is_nothing())).unwrap()
        };
        let job = |(at, (release, tasks, edges, count)): (usize, &DrawnJob)| {
            let named = |(at, task): (usize, &Task)| {
                let mut named = NamedTask::new(at.to_string(), profile(task));
                named.task.needs = needs(task);
                named
            };
            let job = if *count > 1 {
                let job = Job::new(at.to_string(), profile(&tasks[0])).with_needs(needs(&tasks[0]));
                job.with_count((*count).try_into().unwrap())
            } else {
                let size = tasks.len() as u32;
                let pairs = edges.iter().map(|&(a, b)| ((a % size).min(b % size), (a % size).max(b % size)));
                let mut pairs: Vec<(u32, u32)> = pairs.filter(|(a, b)| a != b).collect();
                pairs.sort_unstable();
                pairs.dedup();
                let edges = pairs.into_iter().map(|(from, to)| Edge { from, to, payload: Payload::Bytes(0) });
                let named = tasks.iter().enumerate().map(named).collect();
                Job::compound(at.to_string(), Graph::new(named, edges.collect()).unwrap())
            };
            let after = (at > 1).then(|| (at - 2).to_string());
            let job = job
                .with_release(ticks(*release))
                .with_after(after)
                .with_weight(Weight::from_millionths((1 + at as u64 % 3) * 1_000_000).unwrap());
            if at % 2 == 0 { job.with_deadline(ticks(release + 4)) } else { job }
        };
        Instance::new(platform, self.jobs.iter().enumerate().map(job).collect(), closed.collect()).ok()
    }
}

/// Generates instances in which usually every resource is one pool.
pub(crate) fn draft() -> impl Strategy<Value = Draft> {
    let times = proptest::collection::vec(1_i64..5, 1..4).prop_map(|steps| {
        let mut times: Vec<i64> = steps
            .iter()
            .scan(0, |sum, step| {
                *sum += step;
                Some(*sum)
            })
            .collect();
        times.reverse();
        times
    });
    let task = (times, (0_u64..5, 0_u64..2), prop_oneof![4 => Just(0_u64), 1 => 1_u64..4])
        .prop_map(|(times, licences, used_up)| Task { times, licences, used_up });
    let edges = proptest::collection::vec((0_u32..5, 0_u32..5), 0..6);
    let job = (0_i64..6, proptest::collection::vec(task, 1..6), edges, prop_oneof![2 => Just(1_u64), 1 => 1_u64..4]);
    let nights = proptest::collection::vec((0_i64..30, 1_i64..5), 0..3);
    let opening = proptest::collection::vec((0_u32..4, 1_i64..9), 0..3);
    (1_u32..6, 1_u64..7, proptest::collection::vec(job, 1..4), nights, opening)
        .prop_map(|(processors, licences, jobs, nights, opening)| Draft { processors, licences, jobs, nights, opening })
}

/// Returns a topological order and a mode for each task. The keys determine both.
fn list(problem: &CumulativeProblem<'_>, keys: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let key = |task: u32| keys[task as usize % keys.len()];
    let mut missing: Vec<usize> =
        problem.rows().map(|row| problem.before(row).iter().map(|&row| problem.tasks_of(row).len()).sum()).collect();
    let mut left: Vec<u32> = (0..problem.tasks() as u32).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let ready = |task: &u32| missing[problem.row_of(*task).index()] == 0;
        let next = left.iter().copied().filter(ready).min_by_key(|&task| (key(task), task)).unwrap();
        left.retain(|&task| task != next);
        order.push(next);
        problem.behind(problem.row_of(next)).iter().for_each(|row| missing[row.index()] -= 1);
    }
    let mode = |task: u32| {
        let modes = problem.modes_of(problem.row_of(task));
        modes.start + key(task) % modes.len() as u32
    };
    (order, (0..problem.tasks() as u32).map(mode).collect())
}

/// Returns the numbers of processors and of licences that exist at an instant.
fn there(draft: &Draft, at: i64) -> (u32, u64) {
    let closed = if draft.opening.is_empty() {
        let now = draft.nights.iter().any(|&(from, length)| from <= at && at < from + length);
        if now { draft.processors } else { 0 }
    } else {
        let open = |id: &u32| !draft.opening.iter().any(|&(last, until)| *id <= last && at < until);
        draft.processors - (0..draft.processors).filter(open).count() as u32
    };
    (draft.processors - closed, draft.licences)
}

/// A reference implementation that finds the first start of each task by counting.
struct Naive<'d> {
    draft: &'d Draft,
    held: Vec<(u32, u64)>,
}

impl Naive<'_> {
    fn fits(&self, start: i64, time: i64, need: (u32, u64)) -> bool {
        (start..start + time).all(|at| {
            let (processors, licences) = there(self.draft, at);
            let held = self.held.get(at as usize).copied().unwrap_or((0, 0));
            held.0 + need.0 <= processors && held.1 + need.1 <= licences
        })
    }

    fn hold(&mut self, start: i64, time: i64, need: (u32, u64)) {
        self.held.resize(self.held.len().max((start + time) as usize), (0, 0));
        for held in &mut self.held[start as usize..(start + time) as usize] {
            *held = (held.0 + need.0, held.1 + need.1);
        }
    }
}

/// Returns the need of each task in its mode.
fn needs(draft: &Draft, problem: &CumulativeProblem<'_>, modes: &[u32]) -> Vec<(u32, u64)> {
    let rows: Vec<&Task> =
        draft.jobs.iter().flat_map(|(_, tasks, _, count)| if *count > 1 { &tasks[..1] } else { &tasks[..] }).collect();
    let need = |(task, &mode): (u32, &u32)| {
        let (task, processors) = (rows[problem.row_of(task).index()], problem.mode(mode).processors);
        (processors, task.licences.0 + task.licences.1 * u64::from(processors))
    };
    (0..).zip(modes).map(need).collect()
}

proptest! {
    /// Compares every representation with the reference implementation. Also checks double justification: no task
    /// starts earlier in the backward pass, or later in the forward pass.
    #[test]
    fn tasks_are_inserted_where_counting_has_them(
        draft in draft(), keys in proptest::collection::vec(0_u32..100, 5..20), scale in prop_oneof![Just(1_i64), Just(1_000)],
    ) {
        let Some(instance) = draft.instance(scale) else { return Ok(()) };
        let Ok(packing) = Packing::new(&instance) else { return Ok(()) };
        let Some(problem) = CumulativeProblem::new(&packing) else { return Ok(()) };
        let (order, modes) = list(&problem, &keys);
        let needs = needs(&draft, &problem, &modes);
        let time = |task: u32| problem.mode(modes[task as usize]).time * problem.unit / scale;
        let at = |instant: i64| problem.ticks(instant) / scale;
        // Compare forward passes, beginning at the instant 0 of the problem.
        let mut naive = Naive { draft: &draft, held: Vec::new() };
        let mut expected = vec![0; order.len()];
        for &task in &order {
            let row = problem.row_of(task);
            let before = problem.before(row).iter().flat_map(|&row| problem.tasks_of(row));
            let from = before.map(|other| expected[other as usize] + time(other)).max().unwrap_or(0);
            let from = from.max(at(problem.release(row)));
            let start = (from..).find(|&start| naive.fits(start, time(task), needs[task as usize])).unwrap();
            naive.hold(start, time(task), needs[task as usize]);
            expected[task as usize] = start;
        }
        let forms = [
            SerialScheme::new(&problem), SerialScheme::in_wide_slots(&problem),
            SerialScheme::in_steps(&problem, false), SerialScheme::in_steps(&problem, true),
        ];
        for mut scheme in forms {
            prop_assert!(scheme.forward(&order, &modes, |_, _| true));
            let found: Vec<i64> = scheme.starts().iter().map(|&start| at(start)).collect();
            prop_assert_eq!(&found, &expected, "{:?}", scheme);
            prop_assert_eq!(validate_all(&instance, &problem, scheme.starts(), &modes), Ok(()));
            // Compare backward passes by decreasing ends.
            let (starts, ends) = (scheme.starts().to_vec(), scheme.ends().to_vec());
            let last = *ends.iter().max().unwrap();
            let mut by_end = order.clone();
            by_end.sort_by_key(|&task| std::cmp::Reverse(ends[task as usize]));
            prop_assert!(scheme.backward(&by_end, &modes, &vec![last; problem.rows().len()]));
            let mut naive = Naive { draft: &draft, held: Vec::new() };
            let mut latest = vec![at(last); problem.rows().len()];
            for &task in &by_end {
                let row = problem.row_of(task);
                let until = latest[row.index()] - time(task);
                let start = (0..=until).rev().find(|&start| naive.fits(start, time(task), needs[task as usize])).unwrap();
                naive.hold(start, time(task), needs[task as usize]);
                for &before in problem.before(row) {
                    latest[before.index()] = latest[before.index()].min(start);
                }
                prop_assert_eq!(at(scheme.starts()[task as usize]), start);
            }
            let right = scheme.starts().to_vec();
            prop_assert!(right.iter().zip(&starts).all(|(right, left)| right >= left));
            let mut by_start = order.clone();
            by_start.sort_by_key(|&task| right[task as usize]);
            prop_assert!(scheme.forward(&by_start, &modes, |_, _| true));
            prop_assert!(scheme.starts().iter().zip(&right).all(|(left, right)| left <= right));
            prop_assert_eq!(validate_all(&instance, &problem, scheme.starts(), &modes), Ok(()));
            // A pass that was stopped has no effect on the next one.
            let mut placed = 0;
            let stopped = scheme.forward(&order, &modes, |_, _| { placed += 1; placed < 2 });
            prop_assert_eq!(stopped, order.len() < 2);
            prop_assert!(scheme.forward(&order, &modes, |_, _| true));
            let again: Vec<i64> = scheme.starts().iter().map(|&start| at(start)).collect();
            prop_assert_eq!(again, expected.clone());
        }
    }

    /// Checks that no waiting task fits together with the running tasks and the tasks before it in the order.
    #[test]
    fn nothing_waits_in_the_parallel_scheme_that_could_start(
        draft in draft(), keys in proptest::collection::vec(0_u32..100, 5..20),
    ) {
        let Some(instance) = draft.instance(1) else { return Ok(()) };
        let Ok(packing) = Packing::new(&instance) else { return Ok(()) };
        let Some(problem) = CumulativeProblem::new(&packing) else { return Ok(()) };
        let (order, modes) = list(&problem, &keys);
        let needs = needs(&draft, &problem, &modes);
        let mut scheme = ParallelScheme::new(&problem);
        prop_assert!(scheme.forward(&order, &modes, |_, _| true));
        prop_assert_eq!(validate_all(&instance, &problem, scheme.starts(), &modes), Ok(()));
        let at = |instant: i64| problem.ticks(instant);
        let (starts, ends): (Vec<i64>, Vec<i64>) =
            scheme.starts().iter().zip(scheme.ends()).map(|(&start, &end)| (at(start), at(end))).unzip();
        for (place, &task) in order.iter().enumerate() {
            let row = problem.row_of(task);
            let before = problem.before(row).iter().flat_map(|&row| problem.tasks_of(row));
            let from = before.map(|other| ends[other as usize]).max().unwrap_or(0).max(at(problem.release(row)));
            for now in from..starts[task as usize] {
                let mut naive = Naive { draft: &draft, held: Vec::new() };
                for (other_place, &other) in order.iter().enumerate() {
                    let (start, end) = (starts[other as usize], ends[other as usize]);
                    if start < now || (start == now && other_place < place) {
                        naive.hold(start, end - start, needs[other as usize]);
                    }
                }
                prop_assert!(!naive.fits(now, ends[task as usize] - starts[task as usize], needs[task as usize]));
            }
        }
    }
}

/// Checks that a schedule is valid. Consumables may be exceeded, because the test draws the modes at random.
fn validate_all(
    instance: &Instance,
    problem: &CumulativeProblem<'_>,
    starts: &[i64],
    modes: &[u32],
) -> Result<(), String> {
    let mut used = vec![0; problem.stocks().len()];
    for &mode in modes {
        used.iter_mut().zip(problem.used_up(mode)).for_each(|(all, own)| *all += own);
    }
    let schedule = problem.schedule(starts, modes);
    if used.iter().zip(problem.stocks()).any(|(used, stock)| used > stock) {
        return Ok(());
    }
    validate(instance, &schedule).map_err(|wrong| format!("{wrong:?}"))
}

#[test]
fn modes_that_are_of_no_use_are_left_out() {
    let amounts = |amounts: &[u64]| Need::ByAllotment(amounts.into());
    let times = [9, 6, 5, 5].map(Time::from_seconds).to_vec();
    // The second mode of `a` leaves too little budget for `b`. The last mode needs more solvers but is no faster.
    let a = Needs::new([("budget", amounts(&[1, 9, 2, 2])), ("solver", amounts(&[1, 1, 2, 3]))]).unwrap();
    let b = Needs::new([("budget", Need::whole(2)), ("solver", Need::whole(2))]).unwrap();
    let platform = Platform::flat(8).unwrap().with_licences(Resources::new([("solver", 3)]).unwrap()).unwrap();
    let platform = platform.with_consumables(Resources::new([("budget", 10)]).unwrap()).unwrap();
    let slow = Profile::table([Time::from_seconds(6)].to_vec()).unwrap();
    let jobs = vec![Job::new("a", Profile::table(times).unwrap()).with_needs(a), Job::new("b", slow).with_needs(b)];
    let instance = Instance::new(platform, jobs, vec![]).unwrap();
    let packing = Packing::new(&instance).unwrap();
    let problem = CumulativeProblem::new(&packing).unwrap();
    let kept: Vec<u32> =
        problem.modes_of(crate::kernel::packing::Row(0)).map(|mode| problem.mode(mode).processors).collect();
    assert_eq!(kept, [1, 3]);
    assert_eq!((problem.unit, problem.stocks().len()), (1_000_000_000, 0));
    // There are more processors than all tasks together hold.
    assert_eq!(problem.fields.len(), 1);
}
