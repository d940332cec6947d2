//! Tests that compare medians with their definition.

use makespan_core::{Job, Outcome, Platform, ProcSet, SpeedupLaw};
use proptest::prelude::*;

use super::*;

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// The numbers that define a task: its kind, its command within the kind, the source of its expected time, and its
/// actual run time in ticks.
type Row = (u8, u8, u8, i64);

fn instance(rows: &[Row]) -> Instance {
    let job = |(index, &(kind, _, known, _)): (usize, &Row)| {
        let law = SpeedupLaw::Amdahl { serial: 0.5 };
        let profile = if kind == 0 { Profile::law(t(1000), law, 1, 2) } else { Profile::rigid(2, t(1000)) };
        let estimate = match known {
            0 | 1 => Estimate::Guessed,
            2 => Estimate::Learned { runs: 3, spread: 0.0 },
            _ => Estimate::Stated,
        };
        Job::new(index.to_string(), profile.unwrap()).with_estimate(estimate)
    };
    Instance::new(Platform::flat(2).unwrap(), rows.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

fn kinds(rows: &[Row]) -> impl Fn(TaskId) -> Vec<String> {
    let rows = rows.to_vec();
    move |task| {
        let (kind, command, ..) = rows[task.index()];
        vec![format!("{kind} {command}"), kind.to_string()]
    }
}

/// Returns a run that took `took` on two processors. If the task can run on one processor, it takes 4/3 of `took`
/// there.
fn run(task: usize, took: i64) -> Run {
    let (start, processors, outcome) = (Time::ZERO, ProcSet::first(2), Outcome::Succeeded);
    Run { task: TaskId(task as u64), start, end: t(took), processors, outcome, accounting: None }
}

fn median(mut figures: Vec<i64>) -> Option<i64> {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied()
}

/// Three jobs with an expected time of 1 s took 80 s, a ratio of 80. This ratio must not change an estimate that was
/// made after these jobs ended. The ratio must change an estimate that was made before these jobs ended.
#[test]
fn ratios_apply_to_estimates_that_are_older_than_the_ends() {
    let second = Time::TICKS_PER_SECOND;
    let job = |name: String, seconds: i64| {
        let profile = Profile::rigid(1, t(seconds * second)).unwrap();
        Job::new(name, profile).with_estimate(Estimate::Learned { runs: 3, spread: 0.0 })
    };
    let of = |jobs: Vec<Job>| Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
    let first: Vec<Job> = (0..4).map(|number| job(number.to_string(), 1)).collect();
    let all: Vec<Job> = first.iter().cloned().chain((4..7).map(|number| job(number.to_string(), 80))).collect();
    let kind = |_: TaskId| vec!["sleep".to_owned()];
    let end = |task: u64, start: i64| Run {
        task: TaskId(task),
        start: t(start * second),
        end: t((start + 80) * second),
        processors: ProcSet::first(1),
        outcome: Outcome::Succeeded,
        accounting: None,
    };
    let mut medians = Medians::default();
    medians.grow(&of(first), kind, |_| Time::ZERO);
    let instance = of(all);
    for task in 0..3 {
        medians.ended(&instance, &end(task, task as i64 * 80));
    }
    let restated = medians.grow(&instance, kind, |_| t(240 * second));
    assert!(restated.is_empty(), "{restated:?}");
    let restated = medians.ended(&instance, &end(4, 240));
    let long: Vec<_> =
        restated.iter().filter(|one| one.task.0 > 3 && one.profile.longest() > t(100 * second)).collect();
    assert!(long.is_empty(), "{long:?}");
    // A resumed session first adds all jobs. Then it reads the ends of jobs from the journal.
    let mut again = Medians::default();
    again.grow(&instance, kind, |task| if task.0 < 4 { Time::ZERO } else { t(240 * second) });
    let said = (0..3).flat_map(|task| again.ended(&instance, &end(task, task as i64 * 80)));
    let said: Vec<NewTimes> = said.collect();
    assert!(said.iter().all(|one| one.task.0 <= 3) && !said.is_empty(), "{said:?}");
}

proptest! {
    /// Let K be the most specific kind of a task that has at least one ended task. Checks after each end that every
    /// guessed time is within a tenth of the median of K. Also checks that stated times and the times of ended tasks do
    /// not change.
    #[test]
    fn guesses_are_medians(rows in prop::collection::vec((0_u8..3, 0_u8..3, 0_u8..4, 1_i64..5000), 1..40)) {
        let mut instance = instance(&rows);
        let mut medians = Medians::new(&instance, kinds(&rows));
        for at in 0..rows.len() {
            let restated = medians.ended(&instance, &run(at, rows[at].3));
            prop_assert!(restated.iter().all(|restated| restated.task.index() > at && rows[restated.task.index()].2 < 3));
            instance.restate(restated);
            for later in at + 1..rows.len() {
                let (kind, command, known, _) = rows[later];
                let alone = |row: &Row| if row.0 == 0 { row.3 * 1000 / 750 } else { row.3 };
                let of = |which: &dyn Fn(&Row) -> bool| rows[..=at].iter().filter(|row| which(row)).map(alone).collect::<Vec<i64>>();
                let same = of(&|row| (row.0, row.1) == (kind, command));
                let alike = of(&|row| row.0 == kind);
                let time = instance.profile(TaskId(later as u64)).longest().ticks();
                if known < 2 {
                    let expected = median(same).or(median(alike)).or(median(of(&|_| true))).unwrap();
                    prop_assert!((time - expected).abs() <= time.max(10) / 10 + 1, "{}: {} and {}", later, time, expected);
                    let first = rows[..=at].iter().any(|row| row.0 == kind);
                    let estimate = instance.task(TaskId(later as u64)).estimate;
                    prop_assert_eq!(estimate == Estimate::Guessed, !first);
                } else if known == 3 {
                    prop_assert_eq!(time, 1000);
                }
            }
        }
    }

    /// Checks that an estimate that was learned from three runs is kept until more tasks of the kind contradict it.
    #[test]
    fn what_was_learned_is_refined(factor in 2_i64..9, count in 1_usize..12) {
        let rows: Vec<Row> = (0..=count).map(|_| (1, 0, 2, 1000 * factor)).collect();
        let mut instance = instance(&rows);
        let mut medians = Medians::new(&instance, kinds(&rows));
        for (at, row) in rows.iter().enumerate().take(count) {
            let restated = medians.ended(&instance, &run(at, row.3));
            instance.restate(restated);
        }
        let expected = if count < 3 { 1000 } else { 1000 * factor };
        prop_assert_eq!(instance.profile(TaskId(count as u64)).longest().ticks(), expected);
    }

    /// Checks that the median with a prior equals the median of a list that contains the copies of the prior.
    #[test]
    fn a_prior_counts_as_figures(figures in prop::collection::vec(1_i64..9, 0..20), prior in 1_i64..9, times in 0_usize..9) {
        let mut group = EstimateGroup::default();
        figures.iter().for_each(|&figure| _ = group.add(figure, None));
        let all = figures.iter().copied().chain(std::iter::repeat_n(prior, times)).collect();
        prop_assert_eq!(group.times.median(prior, times), median(all));
    }
}

/// Checks that only the last fifty ends are used, so that the estimates follow a program that became slower.
#[test]
fn what_is_long_ago_is_forgotten() {
    let mut group = EstimateGroup::default();
    (0..500).for_each(|_| _ = group.add(10, None));
    let told: Vec<bool> = (0..50).map(|_| group.add(100, None)).collect();
    assert_eq!(told.iter().filter(|told| **told).count(), 1, "members are told when the median has moved");
    assert_eq!((group.times.median(0, 0), group.times.len()), (Some(100), 50));
}

/// Checks that no estimate is longer than the walltime, because a task is ended at its walltime.
#[test]
fn walltimes_are_kept() {
    let job = |name: &str| Job::new(name, Profile::rigid(1, t(50)).unwrap()).with_estimate(Estimate::Guessed);
    let jobs = vec![job("a"), job("b").with_walltime(t(70))];
    let mut instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let mut medians = Medians::new(&instance, |_| Vec::new());
    let run = Run { processors: ProcSet::first(1), ..run(0, 900) };
    let restated = medians.ended(&instance, &run);
    assert_eq!(instance.restate(restated), [TaskId(1)]);
    assert_eq!(instance.profile(TaskId(1)).longest(), t(70));
}

/// Checks that a task that is released much later gets its estimate at its release, from the run times measured by
/// then.
#[test]
fn tasks_are_told_when_they_come() {
    let profile = Profile::rigid(1, t(50)).unwrap();
    let job = |index: i64| {
        let job = Job::new(index.to_string(), profile.clone()).with_estimate(Estimate::Guessed);
        job.with_release(t(1000 * index))
    };
    let instance = Instance::new(Platform::flat(1).unwrap(), (0..2000).map(job).collect(), vec![]).unwrap();
    let mut medians = Medians::new(&instance, |_| Vec::new());
    let at = |task: u64, end: i64| Run {
        start: t(end - 7),
        end: t(end),
        processors: ProcSet::first(1),
        ..run(task as usize, 0)
    };
    let told = |restated: &[NewTimes]| restated.iter().map(|restated| restated.task.0).collect::<Vec<u64>>();
    let first = medians.ended(&instance, &at(0, 500));
    assert_eq!(told(&first), (1..=AHEAD as u64).collect::<Vec<u64>>());
    let second = medians.ended(&instance, &at(1, 1500));
    assert_eq!(told(&second), [AHEAD as u64 + 1]);
    assert_eq!(second[0].profile.longest(), t(7));
}
