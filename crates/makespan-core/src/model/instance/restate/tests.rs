//! Checks that an instance with replaced times equals an instance that is created from the new times.

use proptest::prelude::*;

use super::*;
use crate::model::{Job, Need, Needs, Node, Platform, ProcSet, Resources, SpeedupLaw, Time};

/// The case of one job: minimum number of processors, time, walltime, true if it needs memory, source of the time, new
/// time, and true if the new time is a table.
type Row = (u32, i64, Option<i64>, bool, u8, i64, bool);

fn job((index, &(min, time, walltime, needs, known, _, _)): (usize, &Row)) -> Job {
    let profile = Profile::law(Time::from_ticks(time), SpeedupLaw::Amdahl { serial: 0.2 }, min, 4).unwrap();
    let estimate = match known {
        0 => Estimate::Stated,
        1 => Estimate::Guessed,
        _ => Estimate::Learned { runs: 2, spread: 0.0 },
    };
    let needs = Needs::new(needs.then(|| ("memory".to_owned(), Need::per_processor(2)))).unwrap();
    let mut job = Job::new(index.to_string(), profile).with_estimate(estimate).with_needs(needs);
    job.walltime = walltime.map(Time::from_ticks);
    job
}

fn platform(speed: f64) -> Platform {
    let node = |(name, speed, memory): (&str, f64, u64)| Node {
        speed,
        resources: Resources::new([("memory", memory)]).unwrap(),
        ..Node::new(name, 2)
    };
    Platform::new([("slow", 1.0, 6), ("fast", speed, 3)].map(node).to_vec()).unwrap()
}

proptest! {
    /// After a replacement, the instance equals one that was created with the new times. Times that cannot be replaced
    /// stay, and nothing else changes.
    #[test]
    fn nothing_but_times_changes(
        rows in prop::collection::vec(
            (1_u32..4, 1_i64..1000, prop::option::of(1_i64..2000), any::<bool>(), 0_u8..3, 1_i64..1500, any::<bool>()), 1..8,
        ),
        speed in prop::sample::select(vec![1.0, 2.5]),
    ) {
        let jobs: Vec<Job> = rows.iter().enumerate().map(job).collect();
        let Ok(before) = Instance::new(platform(speed), jobs, vec![]) else { return Ok(()) };
        let restated = |task: TaskId| {
            let (.., longest, table) = rows[task.index()];
            let (own, longest) = (before.profile(task).clone(), Time::from_ticks(longest));
            let most = own.max_processors() as usize;
            let profile = if table { Profile::table(vec![longest; most]).unwrap() } else { own.lasting(longest) };
            NewTimes { task, profile, estimate: Estimate::Guessed }
        };
        let mut after = before.clone();
        let changed = after.restate(before.task_ids().map(restated).collect());
        for task in before.task_ids() {
            let (old, new) = (before.profile(task), after.profile(task));
            prop_assert_eq!(old != new, changed.contains(&task));
            prop_assert!(old == new || *new == restated(task).profile && rows[task.index()].4 > 0);
            for (first, last) in (0..4).flat_map(|first| (first..4).map(move |last| (first, last))) {
                let on = ProcSet::range(first, last);
                prop_assert_eq!(before.accepts(task, &on), after.accepts(task, &on), "{:?} on {}", rows[task.index()], on);
            }
        }
        let again = Instance::new(platform(speed), after.all_submitted(), vec![]).unwrap();
        prop_assert!(again.task_ids().all(|task| again.task(task) == after.task(task)));
        prop_assert_eq!(again.guesses(), after.guesses());
    }
}

/// Schedules may use only half the range of `Time`, so a replacement by longer times is rejected.
#[test]
fn no_time_is_longer_than_schedules_may_be() {
    let job = |name: &str| {
        let profile = Profile::rigid(1, Time::from_ticks(1)).unwrap();
        Job::new(name, profile).with_estimate(Estimate::Guessed)
    };
    let mut instance = Instance::new(Platform::flat(1).unwrap(), vec![job("a"), job("b")], vec![]).unwrap();
    let restated = |task: u64, ticks: i64| NewTimes {
        task: TaskId(task),
        profile: Profile::rigid(1, Time::from_ticks(ticks)).unwrap(),
        estimate: Estimate::Guessed,
    };
    let most = i64::MAX / 2 - 10;
    assert!(instance.restate(vec![restated(0, most), restated(1, 20)]).is_empty());
    assert_eq!(instance.profile(TaskId(0)).longest(), Time::from_ticks(1));
    // Times can be replaced repeatedly, because the horizon excludes times that were replaced.
    for ticks in [most, 7, most, 8, most] {
        assert_eq!(instance.restate(vec![restated(0, ticks)]), [TaskId(0)]);
    }
    instance.append(vec![]).unwrap();
    assert!(instance.append(vec![job("c")]).is_ok());
}
