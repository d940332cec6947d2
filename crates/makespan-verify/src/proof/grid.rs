//! The grid on which some optimal schedule lies, and the next possible value of an objective.

use super::{CertificateError, Value};
use makespan_core::{Instance, Objective, Payload, ProcSet, Route, TaskId, Time, mean};

/// Maximum number of allotments of a task. If a task has more, the grid is one tick.
const MAX_ALLOTMENTS: u32 = 4096;
/// Maximum number of nodes of a platform on which tasks send data. On platforms with more nodes, the time grid has a
/// step of one tick.
const MAX_NODES: usize = 64;
/// Maximum product of the number of edges and the number of distinct routes. If the product is larger, the grid is one
/// tick.
const MAX_TRANSFERS: usize = 1 << 20;

/// Returns the largest number of ticks that divides all times of an instance. These times are: release dates, ends of
/// closed periods, instants at which other work returns resources, run times of tasks on all allotments and at all
/// speeds, setup times, times of transfers, and time lags. If there are too many times to examine, returns 1.
///
/// Every valid schedule can be replaced by a valid schedule in which no task ends later. In the new schedule, all
/// starts and ends are multiples of this number. Proof: consider the valid schedules in which each task has the same
/// processors as in the given schedule and starts no later. Take one of these schedules with the minimum sum of
/// starts. Suppose that some starts are not multiples of this number, and let all these tasks start earlier by the same
/// small time. Then the sum would be less, so the schedule would not be valid. So one of these tasks, t, starts at one of
/// these instants, and this instant does not move with t:
///
/// * the release of the task;
/// * the end of a closed period of one of the task's processors, or the end of another task on one of these processors;
/// * the end of the previous task on a machine, plus the setup time between the two tasks;
/// * the end of a predecessor, plus the time of the transfer. This time depends only on the processors of both tasks,
///   because transfers do not slow each other down;
/// * the end of another task that returns an amount of a node or of a licence, or the instant at which work outside the
///   instance returns such an amount. Consumables never delay a start, because tasks use them up and never return them;
/// * the start of another task plus a time lag, which may be negative.
///
/// The speed of the processors, the walltime and the placement do not depend on the start of a task. An instant that does
/// not move is a multiple of this number, or depends on a task that starts at a multiple. So t starts at a multiple, which
/// is a contradiction. The proof is not valid for the cost, the throughput, or data that begin at the root of a tree.
///
/// Takes O(tasks * allotments * speeds + edges * routes), and less if the result is one tick.
pub fn time_grid(instance: &Instance) -> i64 {
    if instance.staged().is_some() {
        return 1;
    }
    let mut grid = Divisor(0);
    instance.jobs().iter().for_each(|job| grid.add(job.release));
    let closed = instance.availability().classes().iter().flat_map(|class| &class.closed);
    closed.for_each(|period| grid.add(period.1));
    instance.held().iter().for_each(|held| grid.add(held.until));
    instance.platform().setups().iter().for_each(|setup| grid.add(setup.time));
    let speeds = speeds(instance);
    for task in instance.different_task_ids() {
        if grid.0 == 1 {
            return 1;
        }
        instance.lags_to(task).for_each(|(_, least)| grid.add(least));
        add_task(instance, task, &speeds, &mut grid);
    }
    add_transfers(instance, &mut grid);
    grid.0.max(1)
}

/// Returns the largest number of ticks that divides all values of an objective on the grid ([`time_grid`]), apart from
/// weights: for a tardiness, the largest number that divides the grid and all deadlines, and otherwise the grid.
pub fn value_grid(instance: &Instance, objective: Objective) -> i64 {
    let mut grid = Divisor(time_grid(instance));
    let dues = instance.jobs().iter().filter_map(|job| job.deadline);
    dues.filter(|_| objective.is_tardiness()).for_each(|due| grid.add(due));
    grid.0
}

/// A greatest common divisor. The divisor is 0 until a time other than zero is added.
struct Divisor(i64);

impl Divisor {
    fn add(&mut self, time: Time) {
        self.0 = i64::try_from(divisor(self.0.unsigned_abs(), time.ticks().unsigned_abs())).unwrap_or(1);
    }
}

/// Returns the greatest common divisor of two numbers. If one of them is 0, returns the other one.
pub(super) fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn add_task(instance: &Instance, task: TaskId, speeds: &[ProcSet], grid: &mut Divisor) {
    let (profile, platform) = (instance.profile(task), instance.platform());
    if let Some(row) = profile.machine_times() {
        return (0..row.len()).filter_map(|node| platform.time_on(profile, node)).for_each(|time| grid.add(time));
    }
    let (first, last) = (profile.min_processors(), profile.max_processors());
    if last - first > MAX_ALLOTMENTS {
        return grid.add(Time::TICK);
    }
    for processors in first..=last {
        if grid.0 == 1 {
            return;
        }
        let time = profile.time(processors);
        speeds.iter().for_each(|speed| grid.add(platform.slowed(time, speed)));
    }
}

/// Returns, for each distinct speed, one processor with this speed.
fn speeds(instance: &Instance) -> Vec<ProcSet> {
    let platform = instance.platform();
    if platform.has_unit_speed() {
        return vec![ProcSet::first(1)];
    }
    let mut speeds: Vec<(u64, ProcSet)> = Vec::new();
    for (node, of) in platform.nodes().iter().enumerate().filter(|(_, of)| of.processors > 0) {
        if speeds.iter().all(|(speed, _)| *speed != of.speed.to_bits()) {
            let id = platform.processors_of(node).iter().next().unwrap_or_default();
            speeds.push((of.speed.to_bits(), ProcSet::range(id, id)));
        }
    }
    speeds.into_iter().map(|(_, processor)| processor).collect()
}

fn add_transfers(instance: &Instance, grid: &mut Divisor) {
    if grid.0 == 1 || !instance.has_transfers() {
        return;
    }
    let platform = instance.platform();
    if platform.node_count() > MAX_NODES {
        return grid.add(Time::TICK);
    }
    let computing = |node: &usize| platform.nodes()[*node].processors > 0;
    let nodes: Vec<usize> = (0..platform.node_count()).filter(computing).collect();
    let mut routes: Vec<Route> = Vec::new();
    for route in nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| platform.route(from, to))) {
        if !routes.contains(&route) {
            routes.push(route);
        }
    }
    if instance.edges().len().saturating_mul(routes.len()) > MAX_TRANSFERS {
        return grid.add(Time::TICK);
    }
    let payloads = instance.edges().iter().map(|edge| edge.payload);
    let carried = payloads.filter(|payload| *payload != Payload::Fixed(Time::ZERO));
    carried.flat_map(|payload| routes.iter().map(move |route| route.time(payload))).for_each(|time| grid.add(time));
}

/// Rounds a lower bound on an objective up to the next value that a schedule on the grid ([`time_grid`]) can have. This
/// value is a multiple of [`value_grid`]. If the objective is a sum over jobs, it is a multiple of [`value_grid`] times
/// the greatest common divisor of the weights.
pub(super) fn rounded(objective: Objective, value: Value, instance: &Instance) -> Result<Value, CertificateError> {
    let (Value::Integer(least), Some(shape)) = (&value, objective.shape()) else { return Ok(value) };
    // Penalties between two points of the grid may have any value.
    if *least <= 0 || shape.is_penalty() {
        return Ok(value);
    }
    let weights = instance.jobs().iter().map(|job| shape.cost(job).weight);
    let step = i128::from(value_grid(instance, objective)) * i128::from(weights.fold(0, divisor));
    if step <= 1 {
        return Ok(value);
    }
    let up = |least: i128| next_multiple(least, step).ok_or(CertificateError::Overflow);
    if !objective.is_mean() {
        return up(*least).map(Value::Integer);
    }
    // The mean is rounded down to thousandths of a tick, and the sum is a whole number of ticks.
    let jobs = instance.jobs().len();
    let sum =
        least.checked_mul(jobs as i128).and_then(|sum| next_multiple(sum, 1000)).ok_or(CertificateError::Overflow)?;
    let sum = up(sum / 1000)?;
    sum.checked_mul(1000).ok_or(CertificateError::Overflow)?;
    Ok(Value::Integer(mean(sum, jobs)))
}

fn next_multiple(value: i128, step: i128) -> Option<i128> {
    let rest = value.rem_euclid(step);
    if rest == 0 { Some(value) } else { value.checked_add(step - rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{
        Edge, Graph, HeldAmount, Job, Link, NamedTask, Node, Platform, Profile, Resources, SpeedupLaw, Unavailable,
        Weight,
    };

    fn ticks(ticks: i64) -> Time {
        Time::from_ticks(ticks)
    }

    fn job(name: &str, time: i64) -> Job {
        Job::new(name, Profile::rigid(1, ticks(time)).unwrap())
    }

    fn instance(jobs: Vec<Job>) -> Instance {
        Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
    }

    #[test]
    fn the_grid_divides_every_time_at_which_a_task_can_start() {
        let jobs = || vec![job("a", 60).with_release(ticks(90)), job("b", 120).with_deadline(ticks(151))];
        assert_eq!(time_grid(&instance(jobs())), 30);
        assert_eq!(time_grid(&instance(vec![])), 1);
        let closed = Unavailable { processors: ProcSet::first(1), start: ticks(7), end: ticks(70) };
        assert_eq!(time_grid(&Instance::new(Platform::flat(2).unwrap(), jobs(), vec![closed]).unwrap()), 10);
        let licences = Resources::new([("solver", 2)]).unwrap();
        let platform = Platform::flat(2).unwrap().with_licences(licences).unwrap();
        let resource = platform.resource("solver").unwrap();
        let held = vec![HeldAmount { node: None, resource, amount: 1, until: ticks(45) }];
        assert_eq!(time_grid(&Instance::new(platform, jobs(), vec![]).unwrap().holding(held)), 15);
        let fast = vec![Node { speed: 4.0, ..Node::new("a", 1) }, Node::new("b", 1)];
        assert_eq!(time_grid(&Instance::new(Platform::new(fast).unwrap(), jobs(), vec![]).unwrap()), 15);
        let table = Profile::table([60, 60, 50].map(ticks).to_vec()).unwrap();
        assert_eq!(time_grid(&instance(vec![Job::new("a", table)])), 60, "the platform has only two processors");
        let law = Profile::law(ticks(600), SpeedupLaw::Amdahl { serial: 0.25 }, 1, 8000).unwrap();
        let platform = Platform::flat(8000).unwrap();
        assert_eq!(time_grid(&Instance::new(platform, vec![Job::new("a", law)], vec![]).unwrap()), 1);
        let machines = Profile::on_machines([Profile::CANNOT_RUN, ticks(12), ticks(18)]).unwrap();
        let platform = Platform::cluster(3, 1).unwrap();
        assert_eq!(time_grid(&Instance::new(platform, vec![Job::new("a", machines)], vec![]).unwrap()), 6);
    }

    #[test]
    fn the_grid_divides_transfers() {
        let task = |name: &str| NamedTask::new(name, Profile::rigid(1, ticks(60)).unwrap());
        let of = |platform: Platform, payload| {
            let graph = Graph::new(vec![task("a"), task("b")], vec![Edge { from: 0, to: 1, payload }]).unwrap();
            time_grid(&Instance::new(platform, vec![Job::compound("j", graph)], vec![]).unwrap())
        };
        let two = || Platform::cluster(2, 1).unwrap();
        assert_eq!(of(two(), Payload::Fixed(ticks(40))), 20);
        assert_eq!(of(Platform::flat(2).unwrap(), Payload::Fixed(ticks(40))), 60);
        // A byte takes 4 ticks, after a latency of 2 ticks.
        let link = Link { bandwidth: 250_000_000.0, latency: ticks(2) };
        assert_eq!(of(two().with_interconnect(link).unwrap(), Payload::Bytes(7)), 30);
        assert_eq!(of(Platform::cluster(65, 1).unwrap().with_interconnect(link).unwrap(), Payload::Bytes(7)), 1);
    }

    #[test]
    fn bounds_are_rounded_to_possible_values() {
        let weight = |weight| Weight::from_millionths(weight).unwrap();
        let jobs = vec![
            job("a", 60).with_weight(weight(600_000)).with_deadline(ticks(75)),
            job("b", 90).with_weight(weight(900_000)),
            job("c", 60).with_weight(weight(0)).with_deadline(ticks(80)),
        ];
        let instance = instance(jobs);
        let round = |objective, value: i128| rounded(objective, value.into(), &instance).unwrap().integer();
        assert_eq!([1, 30, 31, 0, -5].map(|value| round(Objective::Makespan, value)), [30, 30, 60, 0, -5]);
        assert_eq!(round(Objective::WeightedCompletion, 1), 30 * 300_000);
        assert_eq!(round(Objective::MaxTardiness, 6), 10, "a multiple of 5");
        // The greatest common divisor of the grid (30) and the deadlines (75 and 80) is 5. Only job a has both a
        // weight and a deadline.
        assert_eq!(round(Objective::WeightedTardiness, 3_000_001), 6_000_000);
        // If the mean is at least 50.001 ticks, the sum is at least 150.003 ticks. The next multiple of the grid is
        // 180 ticks.
        assert_eq!([50_000, 50_001, 1].map(|value| round(Objective::MeanFlow, value)), [50_000, 60_000, 10_000]);
        assert_eq!([round(Objective::Cost, 7), round(Objective::Throughput, 7)], [7, 7]);
        assert!(rounded(Objective::Makespan, (i128::MAX).into(), &instance).is_err());
    }
}
