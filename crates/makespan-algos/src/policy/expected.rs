//! Forecasts of the starts of waiting tasks.

use makespan_core::{Placement, Policy, ProcSet, TaskId, Time, View};

use super::play::PolicySimulation;

/// The expected start of a waiting task, and the tasks that this task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedStart {
    /// The task.
    pub task: TaskId,
    /// The expected start.
    pub start: Time,
    /// The expected processors.
    pub processors: ProcSet,
    /// In ascending order, the running tasks that hold some of the expected processors. The task waits until these
    /// tasks end.
    pub running: Vec<TaskId>,
    /// In ascending order, the waiting tasks that this task waits for. These tasks are of two kinds. A task of the
    /// first kind holds some of the expected processors before this task starts. A task of the second kind was
    /// submitted before this task, and starts later than now but no later than this task.
    pub waiting: Vec<TaskId>,
}

/// Returns the expected start of each waiting task of a view, sorted by start. The forecast assumes that all tasks end
/// as expected, no other task arrives and no processor fails. Tasks that would never start are omitted.
///
/// Tasks that wait for other tasks ([`makespan_core::Instance::incoming`]) are not forecast.
///
/// The policy must be new. A new policy knows only the past that the view shows. For example, a new policy does not
/// know the promises of an earlier policy. For a policy that is in use, call [`expected_starts_from`]. After the call,
/// the policy is in a future state and must not be used further. Users usually overestimate run times, so tasks tend
/// to start earlier than forecast. If the order of the queue is not first come, first served, tasks that arrive later
/// may delay the forecast tasks.
///
/// ```
/// use makespan_algos::policy::{expected_starts, policy};
/// use makespan_core::{EndedTasks, Instance, Job, TaskId, Platform, ProcSet, Profile, Running, Time, View};
///
/// let job = |name, width| Job::new(name, Profile::rigid(width, Time::from_seconds(10)).unwrap());
/// let instance = Instance::new(Platform::flat(4)?, vec![job("a", 3), job("b", 2)], vec![])?;
/// let running = [Running { task: TaskId(0), start: Time::ZERO, processors: ProcSet::first(3) }];
/// let (waiting, free) = ([TaskId(1)].into_iter().collect(), ProcSet::range(3, 3));
/// let now = Time::from_seconds(4);
/// let (ended, down) = (EndedTasks::default(), &[]);
/// let view = View { now, instance: &instance, waiting: &waiting, running: &running, free: &free, down, ended };
/// let expected = expected_starts(policy("easy", 1)?.as_mut(), &view);
/// assert_eq!((expected[0].start, &expected[0].running), (Time::from_seconds(10), &vec![TaskId(0)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expected_starts(policy: &mut dyn Policy, view: &View<'_>) -> Vec<ExpectedStart> {
    let mut play = PolicySimulation::from(view.instance, view);
    play.run(policy, &|task, processors| view.instance.time(task, processors), instants(view));
    expected(view, &play.started)
}

/// Returns the expected starts for a policy that is in use. The policy must have processed all events that led to the
/// view, and the view must show the state after the last decisions. `wake` is the wake-up that the policy has
/// requested.
pub fn expected_starts_from(policy: &mut dyn Policy, view: &View<'_>, wake: Option<Time>) -> Vec<ExpectedStart> {
    let mut play = PolicySimulation::from(view.instance, view);
    play.go_on(policy, &|task, processors| view.instance.time(task, processors), instants(view), wake);
    expected(view, &play.started)
}

/// Returns the maximum number of instants to simulate. Each task starts once and ends once. Each unavailable period
/// and each failure ends once. The number of these instants is doubled, because the policy may request a wake-up for
/// each of them.
fn instants(view: &View<'_>) -> usize {
    let happenings = view.running.len() + view.waiting.len() + view.instance.unavailable().len() + view.down.len();
    4 * happenings + 4
}

/// Returns the forecast that follows from simulated placements, sorted by start.
fn expected(view: &View<'_>, started: &[Placement]) -> Vec<ExpectedStart> {
    let instance = view.instance;
    let submitted = |task: TaskId| (instance.release(task), task);
    let expected = |(index, placement): (usize, &Placement)| {
        let Placement { task, start, ref processors, .. } = *placement;
        let waits = start > view.now;
        let running = view.running.iter().filter(|running| !running.processors.is_disjoint(processors));
        let mut running: Vec<TaskId> = running.map(|running| running.task).filter(|_| waits).collect();
        let before = started[..index].iter().filter(|other| {
            let holds = other.end <= start && !other.processors.is_disjoint(processors);
            let leads = other.start > view.now && submitted(other.task) < submitted(task);
            waits && (holds || leads)
        });
        let mut waiting: Vec<TaskId> = before.map(|other| other.task).collect();
        running.sort_unstable();
        waiting.sort_unstable();
        ExpectedStart { task, start, processors: processors.clone(), running, waiting }
    };
    started.iter().enumerate().map(expected).collect()
}

#[cfg(test)]
mod tests {
    use makespan_core::{EndedTasks, Instance, Job, Platform, Profile, Running, TaskSet, Unavailable};

    use super::*;
    use crate::policy::policy;

    fn t(ticks: i64) -> Time {
        Time::from_ticks(ticks)
    }

    /// Returns the forecast at the instant 4. Task 0 holds 3 of 4 processors until 10. Three tasks wait: task 1 (4
    /// processors, time 5), task 2 (1 processor, time 6) and task 3 (1 processor, time 20).
    fn expected_of(spec: &str, closed: Vec<Unavailable>) -> Vec<ExpectedStart> {
        let task = |(index, &(width, time, release)): (usize, &(u32, i64, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, t(time)).unwrap()).with_release(t(release))
        };
        let tasks = [(3, 10, 0), (4, 5, 1), (1, 6, 2), (1, 20, 3)].iter().enumerate().map(task).collect();
        let instance = Instance::new(Platform::flat(4).unwrap(), tasks, closed).unwrap();
        let running = [Running { task: TaskId(0), start: t(0), processors: ProcSet::first(3) }];
        let waiting: TaskSet = (1..4).map(TaskId).collect();
        let free = ProcSet::range(3, 3);
        let (now, instance, ended) = (t(4), &instance, EndedTasks::default());
        let view = View { now, instance, waiting: &waiting, running: &running, free: &free, down: &[], ended };
        expected_starts(policy(spec, 1).unwrap().as_mut(), &view)
    }

    fn summary(expected: &[ExpectedStart]) -> Vec<(u64, i64, Vec<u64>, Vec<u64>)> {
        let ids = |tasks: &[TaskId]| tasks.iter().map(|task| task.0).collect();
        let row = |one: &ExpectedStart| (one.task.0, one.start.ticks(), ids(&one.running), ids(&one.waiting));
        expected.iter().map(row).collect()
    }

    #[test]
    fn a_job_waits_for_what_runs_and_for_what_is_ahead() {
        let easy = summary(&expected_of("easy", vec![]));
        assert_eq!(easy, [(2, 4, vec![], vec![]), (1, 10, vec![0], vec![2]), (3, 15, vec![0], vec![1])]);
        let fcfs = summary(&expected_of("fcfs", vec![]));
        let behind = vec![(1, 10, vec![0], vec![]), (2, 15, vec![0], vec![1]), (3, 15, vec![0], vec![1, 2])];
        assert_eq!(fcfs, behind);
    }

    #[test]
    fn unavailable_periods_are_waited_for() {
        let period = Unavailable { processors: ProcSet::range(0, 0), start: t(12), end: t(30) };
        let easy = summary(&expected_of("easy", vec![period]));
        assert_eq!(easy.iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(), [(2, 4), (3, 10), (1, 30)]);
    }
}
