use makespan_core::{Platform, SpeedupLaw};
use proptest::prelude::*;

use super::*;
use crate::{Ending, RunRecord};

/// A temporary history with functions to query it.
struct Place {
    _folder: tempfile::TempDir,
    history: History,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let history = History::open(&folder.path().join("h.sqlite")).unwrap();
        Self { _folder: folder, history }
    }

    fn with(records: &[RunRecord]) -> Self {
        let mut place = Self::new();
        place.history.append_all(records).unwrap();
        place
    }

    fn ask(&self, line: &str, processors: RangeInclusive<u32>, inputs: Option<u64>) -> Option<LearnedTimes> {
        let question = Question { command: &command(line), processors, pinned: true, inputs };
        Estimator::new(&self.history, "here", "/work").unwrap().estimate(&question).unwrap()
    }
}

fn command(line: &str) -> Command {
    Command::new(["sh", "-c", line].map(str::to_owned).to_vec())
}

fn ran(line: &str, processors: u32, seconds: f64) -> RunRecord {
    RunRecord {
        folder: "/work".into(),
        host: "here".into(),
        processors,
        ..RunRecord::succeeded(command(line), Time::from_seconds_f64(seconds).unwrap())
    }
}

fn near(time: Time, seconds: f64, part: f64) -> bool {
    (time.seconds() / seconds - 1.0).abs() <= part
}

#[test]
fn the_command_itself_comes_before_its_template_and_nothing_before_neither() {
    let mut place =
        Place::with(&[ran("solve a.dat", 1, 10.0), ran("solve b.dat", 1, 30.0), ran("solve b.dat", 1, 32.0)]);
    let known = place.ask("solve a.dat", 1..=1, None).unwrap();
    assert_eq!(
        (known.profile.time(1), known.runs, known.spread, known.basis),
        (Time::from_seconds(10), 1, 0.0, Basis::Command)
    );
    let similar = place.ask("solve c.dat", 1..=1, None).unwrap();
    assert_eq!((similar.profile.time(1), similar.runs, similar.basis), (Time::from_seconds(30), 3, Basis::Template));
    assert!(similar.spread > 0.0);
    assert_eq!(place.ask("other a.dat", 1..=1, None), None);
    // Runs that failed give no information about run times.
    let failed = RunRecord { ending: Ending::Failed(1), ..ran("solve a.dat", 1, 0.1) };
    let ended = RunRecord { ending: Ending::TimedOut, ..ran("other a.dat", 1, 0.1) };
    place.history.append_all(&[failed, ended]).unwrap();
    assert_eq!(place.ask("solve a.dat", 1..=1, None).unwrap().profile.time(1), Time::from_seconds(10));
    assert_eq!(place.ask("other a.dat", 1..=1, None), None);
}

#[test]
fn runs_that_were_pinned_are_kept_apart_from_others() {
    let shared = |line: &str, seconds: f64| RunRecord { pinned: false, at_once: Some(2.0), ..ran(line, 1, seconds) };
    let place =
        Place::with(&[ran("both a", 1, 10.0), shared("both a", 15.0), ran("own a", 2, 4.0), shared("free a", 7.0)]);
    let ask = |line: &str, pinned: bool, most: u32| {
        let question = Question { command: &command(line), processors: 1..=most, pinned, inputs: None };
        let learned = Estimator::new(&place.history, "here", "/work").unwrap().estimate(&question).unwrap();
        learned.map(|learned| learned.profile.longest().seconds())
    };
    assert_eq!((ask("both a", true, 1), ask("both a", false, 1)), (Some(10.0), Some(15.0)));
    // A pinned task learns nothing from unpinned runs. An unpinned task uses pinned runs if there are no others.
    assert_eq!((ask("free a", true, 1), ask("free a", true, 4), ask("free a", false, 1)), (None, None, Some(7.0)));
    assert_eq!((ask("own a", true, 2), ask("own a", false, 1).is_some()), (Some(4.0), true));
}

#[test]
fn a_stated_template_is_known_again() {
    let of = |word: &str| command(&format!("convert {word} it")).from_template("convert {} it");
    let place = Place::with(&[RunRecord { command: of("red"), ..ran("", 1, 5.0) }]);
    let mut estimator = Estimator::new(&place.history, "here", "/work").unwrap();
    let mut time = |command: &Command| {
        let question = Question { command, processors: 1..=1, pinned: true, inputs: None };
        estimator.estimate(&question).unwrap().map(|learned| learned.profile.time(1))
    };
    assert_eq!(time(&of("blue")), Some(Time::from_seconds(5)));
    assert_eq!(time(&command("convert blue it")), None);
}

#[test]
fn this_machine_and_this_folder_are_preferred() {
    let there = RunRecord { host: "there".into(), ..ran("make", 1, 100.0) };
    let beside = RunRecord { folder: "/other".into(), ..ran("make", 1, 50.0) };
    let mut place = Place::with(&[there]);
    let check = |place: &Place, seconds: i64| {
        assert_eq!(place.ask("make", 1..=1, None).unwrap().profile.time(1), Time::from_seconds(seconds));
    };
    check(&place, 100);
    place.history.append(&beside).unwrap();
    check(&place, 50);
    place.history.append(&ran("make", 1, 7.0)).unwrap();
    check(&place, 7);
}

#[test]
fn a_program_that_became_slower_is_noticed() {
    let old = (0..50).map(|_| ran("solve", 1, 10.0));
    let new = (0..RECENT_OF_COMMAND).map(|_| ran("solve", 1, 40.0));
    let place = Place::with(&old.chain(new).collect::<Vec<_>>());
    assert_eq!(place.ask("solve", 1..=1, None).unwrap().profile.time(1), Time::from_seconds(40));
}

#[test]
fn time_on_processors_tells_the_speedup() {
    let busy = |cpu: f64| RunRecord { cpu: Some(Time::from_seconds_f64(cpu).unwrap()), ..ran("solve", 4, 10.0) };
    let check = |cpu: f64, alone: f64| {
        let profile = Place::with(&[busy(cpu)]).ask("solve", 1..=8, None).unwrap().profile;
        assert!(near(profile.time(1), alone, 0.001) && near(profile.time(4), 10.0, 0.001), "{profile:?}");
        assert_eq!(profile.max_processors(), 4, "times beyond the measured allotments are unknown");
    };
    check(40.0, 40.0);
    check(25.0, 25.0);
    // The process waited most of the time.
    check(2.0, 10.0);
    // Without a CPU time, the times on other allotments are unknown.
    let profile = Place::with(&[ran("solve", 4, 10.0)]).ask("solve", 1..=8, None).unwrap().profile;
    assert!(profile.is_rigid() && profile.time(4) == Time::from_seconds(10));
}

#[test]
fn a_command_speeds_up_as_others_of_its_template_do() {
    let law = SpeedupLaw::Amdahl { serial: 0.2 };
    let mut records: Vec<RunRecord> =
        [1, 2, 4].map(|processors| ran("solve 1", processors, 8.0 * law.time_fraction(processors))).to_vec();
    records.push(ran("solve 2", 2, 60.0));
    let profile = Place::with(&records).ask("solve 2", 1..=4, None).unwrap().profile;
    assert!(near(profile.time(1), 100.0, 0.01) && near(profile.time(4), 40.0, 0.01), "{profile:?}");
}

#[test]
fn absurd_records_are_survived() {
    let (longest, most) = (Time::from_seconds(9_000_000_000), Platform::MAX_PROCESSORS);
    let odd = [
        RunRecord { wall: Time::from_ticks(-5), ..ran("solve", 1, 1.0) },
        RunRecord { wall: Time::ZERO, ..ran("solve", 1, 1.0) },
        RunRecord { wall: longest, ..ran("solve", 1, 1.0) },
        RunRecord { processors: 0, ..ran("solve", 1, 1.0) },
        RunRecord { processors: u32::MAX, ..ran("solve", 1, 1.0) },
        RunRecord { ended: i64::MIN, cpu: Some(longest), inputs: Some(u64::MAX), ..ran("solve", 1, 3.0) },
        RunRecord { ended: i64::MAX, cpu: Some(Time::from_ticks(-1)), ..ran("solve", 1, 3.0) },
    ];
    let place = Place::with(&odd);
    let learned = place.ask("solve", 1..=most, Some(u64::MAX)).unwrap();
    assert_eq!((learned.profile.time(1), learned.runs), (Time::from_seconds(3), 2));
    let budget = Exploration::new(&place.history, "here", f64::INFINITY).unwrap();
    assert!(
        budget
            .choose(&[TrialCandidate { command: &command("solve"), learned: &learned, processors: 1..=most }])
            .is_empty()
    );
}

#[test]
fn the_typical_time_is_the_median() {
    let times = |seconds: &[i64]| seconds.iter().copied().map(Time::from_seconds).collect::<Vec<_>>();
    assert_eq!(typical(&times(&[5, 1, 9])), Some(Time::from_seconds(5)));
    assert_eq!(typical(&times(&[0, -1])), None);
}

/// Returns pseudo-random factors with a median of 1. Every tenth factor is an outlier. If outliers were at random
/// positions, they could by chance be the majority of the relevant factors.
fn noise(seed: u64, count: usize, amount: f64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count)
        .map(|at| {
            let wrong = at % 10 == (seed % 10) as usize;
            let factor = ((uniform() - 0.5) * 2.0 * amount).exp();
            if wrong { factor * 20.0 } else { factor }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// One run in ten takes twenty times as long. The other times vary by 20 %.
    #[test]
    fn estimates_converge(seed in any::<u64>(), seconds in 0.01..1e6_f64) {
        let records = |line: &dyn Fn(usize) -> String, count: usize| -> Vec<RunRecord> {
            noise(seed, count, 0.2).iter().enumerate().map(|(at, factor)| ran(&line(at), 1, seconds * factor)).collect()
        };
        let place = Place::with(&records(&|at| format!("solve {at}"), 50));
        let learned = place.ask("solve 99", 1..=1, None).unwrap();
        prop_assert!(near(learned.profile.time(1), seconds, 0.15), "{:?} for {}", learned, seconds);
        prop_assert!(learned.spread < 0.5 && learned.runs == 50);
        let place = Place::with(&records(&|_| "solve".into(), 50));
        let learned = place.ask("solve", 1..=1, None).unwrap();
        prop_assert!(near(learned.profile.time(1), seconds, 0.35), "{:?} for {}", learned, seconds);
    }

    #[test]
    fn laws_are_found_behind_noise(seed in any::<u64>(), serial in 0.0..0.6_f64, seconds in 1.0..1000.0_f64) {
        let law = SpeedupLaw::Amdahl { serial };
        let records: Vec<RunRecord> = noise(seed, 100, 0.1).iter().enumerate().map(|(at, factor)| {
            let processors = [1, 2, 4, 8][at % 4];
            ran("solve", processors, seconds * law.time_fraction(processors) * factor)
        }).collect();
        let profile = Place::with(&records).ask("solve", 1..=16, None).unwrap().profile;
        prop_assert_eq!(profile.max_processors(), 8);
        for processors in 1..=8 {
            let truth = seconds * law.time_fraction(processors);
            prop_assert!(near(profile.time(processors), truth, 0.25), "{:?} {}", profile.time(processors), truth);
        }
    }

    /// Times that grow with the input size are estimated from the size, for sequential and for parallel commands.
    /// Times that do not depend on the size are estimated without the size.
    #[test]
    fn sizes_count_where_they_say_something(seed in any::<u64>(), start in 0.0..20.0_f64, parallel in any::<bool>()) {
        let law = SpeedupLaw::Amdahl { serial: 0.1 };
        let allotment = |at: usize| if parallel { [1, 2, 4][at % 3] } else { 1 };
        let sized = |seconds: &dyn Fn(f64) -> f64| -> Vec<RunRecord> {
            noise(seed, 60, 0.05).iter().enumerate().map(|(at, factor)| {
                let size = ((at * 37) % 60 + 1) as f64;
                let time = seconds(size) * law.time_fraction(allotment(at)) * factor;
                RunRecord { inputs: Some((size * 1e6) as u64), ..ran(&format!("solve {at}"), allotment(at), time) }
            }).collect()
        };
        let truth = |size: f64| start + 2.0 * size;
        let place = Place::with(&sized(&truth));
        for size in [30.0, 60.0, 120.0] {
            let learned = place.ask("solve new", 1..=4, None);
            prop_assert_eq!(learned, None, "another template");
            let learned = place.ask("solve 777", 1..=4, Some((size * 1e6) as u64)).unwrap();
            let time = learned.profile.time(1);
            prop_assert!(near(time, truth(size), 0.2), "{:?} for {}", time, truth(size));
        }
        let place = Place::with(&sized(&|_| 50.0));
        let huge = place.ask("solve 777", 1..=4, Some(u64::MAX)).unwrap().profile.time(1);
        prop_assert!(near(huge, 50.0, 0.2), "{:?}", huge);
    }

    /// Checks that for any records, an estimate is a time that plans support.
    #[test]
    fn estimates_are_positive_and_bounded(
        figures in proptest::collection::vec((1..=i64::MAX, 1..=70_000_u32, any::<Option<i64>>(), any::<Option<u64>>()), 1..40),
        low in 1..100_u32,
        more in 0..1000_u32,
        inputs in any::<Option<u64>>(),
    ) {
        let record = |&(wall, processors, cpu, inputs): &(i64, u32, Option<i64>, Option<u64>)| RunRecord {
            wall: Time::from_ticks(wall),
            cpu: cpu.map(Time::from_ticks),
            inputs,
            ..ran("solve 1", processors, 1.0)
        };
        let place = Place::with(&figures.iter().map(record).collect::<Vec<_>>());
        for line in ["solve 1", "solve 2"] {
            let Some(learned) = place.ask(line, low..=low + more, inputs) else { continue };
            let profile = &learned.profile;
            prop_assert!(profile.shortest() >= Time::TICK && profile.slowest() <= Time::from_ticks(crate::store::LONGEST));
            prop_assert!(profile.min_processors() >= low && profile.max_processors() <= low + more);
            prop_assert!(learned.spread.is_finite() && learned.spread >= 0.0 && learned.runs > 0);
            let candidate = TrialCandidate { command: &command(line), learned: &learned, processors: low..=low + more };
            for trial in Exploration::new(&place.history, "here", 1e12).unwrap().choose(&[candidate]) {
                let processors = trial.profile.max_processors();
                prop_assert!((low..=low + more).contains(&processors) && trial.profile.time(processors) > Time::ZERO);
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Checks, over many runs of a list, that the work of trials does not exceed its share of all work. Also checks
    /// that the speed-up is learned.
    #[test]
    fn exploration_is_bounded_and_ends(serial in 0.0..0.5_f64, tasks in 1..20_usize, most in 2..16_u32) {
        let law = SpeedupLaw::Amdahl { serial };
        let mut place = Place::new();
        let line = |task: usize| format!("solve {task}");
        let seconds = |task: usize, processors: u32| (10.0 + task as f64) * law.time_fraction(processors);
        place.history.append_all(&(0..tasks).map(|task| ran(&line(task), 1, seconds(task, 1))).collect::<Vec<_>>()).unwrap();
        for _ in 0..80 {
            let commands: Vec<Command> = (0..tasks).map(|task| command(&line(task))).collect();
            let mut estimator = Estimator::new(&place.history, "here", "/work").unwrap();
            let question = |command| Question { command, processors: 1..=most, pinned: true, inputs: None };
            let learned: Vec<LearnedTimes> =
                commands.iter().map(|command| estimator.estimate(&question(command)).unwrap().unwrap()).collect();
            drop(estimator);
            let work = |learned: &LearnedTimes| learned.profile.least_work(Time::MAX).unwrap() as f64 / 1e9;
            let candidate = |(command, learned)| TrialCandidate { command, learned, processors: 1..=most };
            let candidates: Vec<TrialCandidate> = commands.iter().zip(&learned).map(candidate).collect();
            let exploration = Exploration::new(&place.history, "here", learned.iter().map(work).sum()).unwrap();
            let trials = exploration.choose(&candidates);
            let mut records: Vec<RunRecord> =
                learned.iter().enumerate().map(|(task, learned)| {
                    let processors = learned.profile.min_processors();
                    ran(&line(task), processors, seconds(task, processors))
                }).collect();
            for trial in trials {
                let processors = trial.profile.max_processors();
                let time = seconds(trial.candidate, processors);
                prop_assert!(trial.profile.time(processors).seconds() >= time - 1e-6, "no trial takes longer than expected");
                records[trial.candidate] = RunRecord { explored: true, ..ran(&line(trial.candidate), processors, time) };
            }
            place.history.append_all(&records).unwrap();
            let (all, explored) = place.history.work("here").unwrap();
            prop_assert!(explored <= SHARE * all * 1.000_001, "{explored} of {all}");
        }
        let profile = place.ask(&line(0), 1..=most, None).unwrap().profile;
        for processors in 1..=profile.max_processors() {
            prop_assert!(near(profile.time(processors), seconds(0, processors), 0.1), "{:?} {}", profile, serial);
        }
        prop_assert!(profile.max_processors() >= 2);
    }
}
