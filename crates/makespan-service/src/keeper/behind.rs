//! For each waiting task of a plan, finds the running task that decides, by its end, when the waiting task starts.

use std::collections::BTreeMap;

use makespan_core::ProcSet;

use super::outlook::{ExpectedTask, Runs};
use crate::words::JobNumber;

/// Number of steps in a second. The start of a task and the end of the task before it may differ by a rounding error,
/// which is smaller than a step.
const STEPS: f64 = 1e5;

/// The end of a task. `behind` is the position of the running task that decides this end, if there is one.
#[derive(Clone, Copy)]
struct Cause {
    end: f64,
    behind: Option<usize>,
    is_unknown: bool,
}

impl Cause {
    /// Compares two causes, and returns the cause that decides a start. If exactly one cause has an unknown end, that
    /// cause decides. Otherwise, the cause with the later end decides.
    fn or(self, other: Self) -> Self {
        let is_other = other.is_unknown.cmp(&self.is_unknown).then(other.end.total_cmp(&self.end)).is_gt();
        if is_other { other } else { self }
    }
}

/// The latest ends of tasks, by processor, by job and by instant.
struct Causes {
    /// The end of the last task on each processor.
    processors: Vec<Option<Cause>>,
    jobs: BTreeMap<JobNumber, Cause>,
    /// Ends by instant, in steps.
    instants: BTreeMap<i64, Cause>,
}

fn step(instant: f64) -> i64 {
    (instant * STEPS).round() as i64
}

impl Causes {
    fn add(&mut self, job: JobNumber, processors: &ProcSet, cause: Cause) {
        for at in positions(processors) {
            if let Some(holder) = self.processors.get_mut(at) {
                *holder = Some(cause);
            }
        }
        self.jobs.entry(job).and_modify(|known| *known = known.or(cause)).or_insert(cause);
        self.instants.entry(step(cause.end)).and_modify(|known| *known = known.or(cause)).or_insert(cause);
    }

    /// Returns the end that decides the start of `task`. Candidates are the ends of tasks on the processors of `task`,
    /// and the ends of the jobs for which `task` waits. If another task ends at the start of `task`, this end is also
    /// a candidate, because a licence or a part of a user's quota may become free.
    fn of(&self, task: &ExpectedTask) -> Option<Cause> {
        let start = step(task.start);
        let processors = positions(&task.processors).filter_map(|at| self.processors.get(at).copied().flatten());
        let jobs = task.after.iter().filter_map(|job| self.jobs.get(job).copied());
        let instants = self.instants.range(start - 1..=start + 1).map(|(_, cause)| *cause);
        processors.chain(jobs).chain(instants).reduce(Cause::or)
    }
}

fn positions(processors: &ProcSet) -> impl Iterator<Item = usize> {
    processors.intervals().iter().flat_map(|&(first, last)| first as usize..=last as usize)
}

/// For each planned task, returns the position in `running` of the running task that decides the planned start by its
/// end, if there is one. `planned` must be sorted by start. The time of this function is proportional to the total
/// number of processors of the planned tasks.
pub(super) fn behind(planned: &[ExpectedTask], running: &[Runs], processors: u32) -> Vec<Option<usize>> {
    let mut causes =
        Causes { processors: vec![None; processors as usize], jobs: BTreeMap::new(), instants: BTreeMap::new() };
    for (at, runs) in running.iter().enumerate() {
        let cause = Cause { end: runs.end, behind: Some(at), is_unknown: runs.longer_than.is_some() };
        causes.add(runs.job, &runs.place, cause);
    }
    let one = |task: &ExpectedTask| {
        let cause = causes.of(task);
        let (behind, is_unknown) = cause.map_or((None, false), |cause| (cause.behind, cause.is_unknown));
        causes.add(task.job, &task.processors, Cause { end: task.end, behind, is_unknown });
        behind
    };
    planned.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use makespan_core::Platform;
    use proptest::prelude::*;

    use super::super::outlook::{Outlook, PlanState};
    use super::*;

    fn runs(job: u64, place: (u32, u32), end: f64, longer_than: Option<f64>) -> Runs {
        let place = ProcSet::from_intervals(vec![place]);
        let processors = place.len();
        let job = JobNumber(job);
        Runs {
            job,
            user: "ann".into(),
            task: 0,
            processors,
            place,
            resources: Vec::new(),
            start: 0.0,
            end,
            longer_than,
            latest: None,
            spread: 0.3,
        }
    }

    /// Job 1 ends at 10 s. The end of job 2 is unknown, and the plan assumes that job 2 ends at 12.5 s.
    #[test]
    fn a_task_is_behind_the_end_that_decides_its_start() {
        let running = [runs(1, (0, 1), 10.0, None), runs(2, (2, 2), 12.5, Some(1.0))];
        let set = |first: u32, last: u32| ProcSet::from_intervals(vec![(first, last)]);
        let (one, two, free, both) = (set(0, 0), set(2, 2), set(3, 3), set(0, 2));
        let [none, of_two, of_six]: [&[JobNumber]; 3] = [&[], &[JobNumber(2)], &[JobNumber(6)]];
        let plan = [
            (3, 0.0, 5.0, &free, none, None, "a processor that is free"),
            (4, 5.0, 8.0, &free, none, None, "waits for a task that starts now"),
            (5, 10.0, 14.0, &one, none, Some(0), "waits for job 1"),
            (6, 12.5, 13.5, &two, none, Some(1), "waits for job 2"),
            (7, 13.5, 15.0, &two, none, Some(1), "waits for job 6, which waits for job 2"),
            (8, 20.0, 21.0, &free, of_two, Some(1), "after job 2"),
            (9, 22.0, 23.0, &free, of_six, Some(1), "after job 6"),
            (10, 30.0, 31.0, &both, none, Some(1), "waits for job 5, and for job 7 with an unknown end"),
        ];
        let task = |job, start, end, processors: &ProcSet, after: &[JobNumber]| ExpectedTask {
            after: after.to_vec(),
            ..ExpectedTask::of_job(job, "bob", (start, end), processors.clone())
        };
        let planned =
            plan.iter().map(|&(job, start, end, processors, after, ..)| task(job, start, end, processors, after));
        let found = behind(&planned.collect::<Vec<_>>(), &running, 4);
        for ((.., expect, what), found) in plan.iter().zip(found) {
            assert_eq!(found, *expect, "{what}");
        }
        // This task runs on other processors than job 2, but waits for a licence or a quota that job 2 uses. So the
        // task starts at the assumed end of job 2.
        assert_eq!(behind(&[task(3, 12.5, 13.0, &free, none)], &running, 4), [Some(1)]);
    }

    /// Plans tasks with one processor each, in the order of their numbers. Each task starts as soon as its processor
    /// is free.
    fn outlook(running: Vec<Runs>, lengths: &[(u32, f64)]) -> Outlook {
        let platform = Platform::flat(4).unwrap();
        let mut free = [0.0_f64; 4];
        for runs in &running {
            positions(&runs.place).for_each(|at| free[at] = runs.end);
        }
        let one = |(number, &(processor, length)): (usize, &(u32, f64))| {
            let start = free[processor as usize];
            free[processor as usize] = start + length;
            let place = ProcSet::from_intervals(vec![(processor, processor)]);
            let one = ExpectedTask::of_job(100 + number as u64 / 2, "bob", (start, start + length), place);
            ExpectedTask { task: number as u64 % 2, spread: 0.1, ..one }
        };
        let mut expected: Vec<ExpectedTask> = lengths.iter().enumerate().map(one).collect();
        expected.sort_by(|one, other| one.start.total_cmp(&other.start));
        let causes = behind(&expected, &running, 4);
        expected.iter_mut().zip(causes).for_each(|(one, cause)| one.behind = cause);
        Outlook::of_tasks(PlanState::of_running(platform, running), expected)
    }

    proptest! {
        /// Checks that expected starts and ends are never in the past, and that the result names the task with an
        /// unknown end exactly if the start or the end of a job depends on such a task.
        #[test]
        fn nothing_behind_an_unknown_end_is_expected(
            ends in proptest::collection::vec((1_u32..20, proptest::bool::ANY), 0..4),
            lengths in proptest::collection::vec((0_u32..4, 1_u32..9), 1..12),
            now in 0_u32..30,
        ) {
            let running: Vec<Runs> = ends.iter().enumerate().map(|(at, &(end, is_unknown))| {
                // These offsets make all ends different.
                let end = f64::from(end) + (at + 1) as f64 / 100.0;
                runs(at as u64 + 1, (at as u32, at as u32), end, is_unknown.then_some(1.0))
            }).collect();
            let lengths: Vec<(u32, f64)> = lengths.into_iter().map(|(processor, length)| (processor, f64::from(length))).collect();
            let (outlook, now) = (outlook(running, &lengths), f64::from(now));
            let is_unknown = |processor: u32| {
                outlook.running.get(processor as usize).is_some_and(|runs| runs.longer_than.is_some())
            };
            for &job in outlook.jobs.keys() {
                let found = outlook.of_waiting(job, now).unwrap();
                let own: Vec<&ExpectedTask> = outlook.expected.iter().filter(|one| one.job == job).collect();
                let unknown = own.iter().filter(|one| is_unknown(one.processors.iter().next().unwrap())).count();
                prop_assert_eq!(found.behind.is_some(), found.start.is_none() || found.end.is_none());
                prop_assert!(unknown == 0 || found.end.is_none(), "{:?}", found);
                prop_assert!(unknown < own.len() || found.start.is_none(), "{:?}", found);
                for instant in found.start.into_iter().chain(found.end) {
                    prop_assert!(instant >= now);
                }
                if let Some(runs) = found.behind {
                    prop_assert!(runs.longer_than.is_some() || runs.end < now);
                }
            }
            for runs in &outlook.running {
                let found = outlook.of_running(runs.job, Some(runs.start), now);
                prop_assert_eq!(found.end.is_none(), found.longer_than.is_some());
                prop_assert!(found.end.is_none_or(|end| end >= now));
            }
        }
    }
}
