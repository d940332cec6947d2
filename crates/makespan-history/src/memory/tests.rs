use makespan_core::{Estimate, Time};
use proptest::prelude::*;

use super::*;
use crate::{Command, Ending, Filter, History, MemoryRequest, RunRecord};

const GIB: f64 = (1_u64 << 30) as f64;

fn run(peak: f64, inputs: Option<f64>) -> MemoryRun {
    MemoryRun { peak: peak as u64, inputs: inputs.map(|bytes| bytes as u64), is_killed: false }
}

fn predicted(runs: &[MemoryRun], inputs: Option<f64>) -> f64 {
    let model = MemoryModel::of(runs, MemoryBasis::LikeCommands, ExcessRule::Kill).unwrap();
    model.predict(inputs.map(|bytes| bytes as u64)) as f64
}

/// Returns a number between 0 and 1 that depends on `seed` and `at`.
fn noise(seed: u64, at: usize) -> f64 {
    let mut state = seed ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn equal_peaks_need_a_small_margin_and_few_runs_a_larger_one() {
    let margin = |count: usize| predicted(&vec![run(GIB, None); count], None) / GIB;
    assert!((1.0..1.15).contains(&margin(40)), "{}", margin(40));
    assert!((1.3..2.5).contains(&margin(1)), "{}", margin(1));
    assert!(margin(1) > margin(5) && margin(5) > margin(40));
    let same = MemoryModel::of(&[run(GIB, None)], MemoryBasis::SameCommand, ExcessRule::Kill).unwrap();
    assert!(
        (1.05..1.3).contains(&(same.predict(None) as f64 / GIB)),
        "a repeated command needs nearly the same memory"
    );
    for runs in [&[][..], &[run(0.0, None)]] {
        assert_eq!(MemoryModel::of(runs, MemoryBasis::LikeCommands, ExcessRule::Kill), None);
    }
}

#[test]
fn input_sizes_explain_peaks_if_they_do() {
    let sizes = (1..=30).map(|at| f64::from(at) * 1e8);
    let rising: Vec<MemoryRun> =
        sizes.clone().enumerate().map(|(at, x)| run((1e9 + 2.0 * x) * (0.98 + 0.04 * noise(3, at)), Some(x))).collect();
    for x in [1e8, 1e9, 6e9] {
        let ratio = predicted(&rising, Some(x)) / (1e9 + 2.0 * x);
        assert!((1.0..1.35).contains(&ratio) || x < 2e8, "{x}: {ratio}");
    }
    assert!(predicted(&rising, None) >= 7e9, "an unknown size is assumed to be large");
    let unrelated: Vec<MemoryRun> =
        sizes.enumerate().map(|(at, x)| run(4e9 * (0.95 + 0.1 * noise(5, at)), Some(x))).collect();
    let of = |x: f64| predicted(&unrelated, Some(x));
    assert!((of(1e8) - of(3e9)).abs() < 1.0, "the size does not matter: {} {}", of(1e8), of(3e9));
}

#[test]
fn a_killed_run_needs_more_than_its_peak() {
    let killed = MemoryRun { is_killed: true, ..run(4.0 * GIB, None) };
    assert!(predicted(&[killed], None) >= 8.0 * GIB);
    let some = vec![run(GIB, None); 10];
    let with = [some.clone(), vec![killed; 6]].concat();
    assert!(predicted(&with, None) > 4.0 * GIB && predicted(&some, None) < 1.3 * GIB);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No figures of a history make a prediction panic, or give an amount that no platform can state.
    #[test]
    fn predictions_are_bounded(
        figures in prop::collection::vec((any::<u64>(), any::<Option<u64>>(), any::<bool>()), 1..60), inputs in any::<Option<u64>>(),
    ) {
        let runs: Vec<MemoryRun> =
            figures.iter().map(|&(peak, inputs, is_killed)| MemoryRun { peak, inputs, is_killed }).collect();
        let rules = [ExcessRule::Kill, ExcessRule::Tolerate];
        for (basis, excess) in [MemoryBasis::SameCommand, MemoryBasis::LikeCommands].into_iter().zip(rules) {
            let Some(model) = MemoryModel::of(&runs, basis, excess) else { continue };
            let bytes = model.predict(inputs);
            prop_assert!(bytes >= LEAST as u64 && i64::try_from(bytes).is_ok() && bytes.is_multiple_of(STEP));
            prop_assert!(model.spread.is_finite() && model.spread >= 0.0 && model.runs > 0);
        }
    }

    /// The unit of memory does not matter: peaks that are `scale` times as large give a prediction that is `scale` times
    /// as large.
    #[test]
    fn predictions_are_proportional_to_peaks(seed in any::<u64>(), count in 1..40_usize, scale in 2.0..50.0_f64) {
        let runs = |scale: f64| (0..count).map(|at| run(scale * GIB * (0.5 + noise(seed, at)), None)).collect::<Vec<_>>();
        let quotient = predicted(&runs(scale), None) / predicted(&runs(1.0), None);
        prop_assert!((quotient / scale - 1.0).abs() < 0.01, "{quotient} instead of {scale}");
    }

    /// Among later runs of the same distribution, few are killed.
    #[test]
    fn few_later_runs_exceed_the_prediction(seed in any::<u64>(), wide in 0.05..0.6_f64) {
        let peak = |at: usize| {
            let normal = (0..12).map(|part| noise(seed, 12 * at + part)).sum::<f64>() - 6.0;
            2e9 * (wide * normal).exp()
        };
        let runs: Vec<MemoryRun> = (0..40).map(|at| run(peak(at), None)).collect();
        let reserved = predicted(&runs, None);
        let killed = (40..1040).filter(|&at| peak(at) > reserved).count();
        prop_assert!(killed < 130, "{killed} of 1000 exceed {reserved}");
        let tolerated = MemoryModel::of(&runs, MemoryBasis::LikeCommands, ExcessRule::Tolerate).unwrap().predict(None);
        prop_assert!(tolerated as f64 <= reserved, "{tolerated} without limits, {reserved} with limits");
    }
}

fn ran(line: &str, memory: u64) -> RunRecord {
    RunRecord {
        command: Command::new(["sh", "-c", line].map(str::to_owned).to_vec()),
        folder: "/work".into(),
        host: "here".into(),
        processors: 1,
        wall: Time::from_seconds(3600),
        cpu: None,
        memory: Some(memory),
        reserved: None,
        memory_kill: false,
        ending: Ending::Succeeded,
        ended: 0,
        inputs: None,
        pinned: true,
        at_once: None,
        explored: false,
    }
}

fn history(records: &[RunRecord]) -> (tempfile::TempDir, History) {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(&folder.path().join("h.sqlite")).unwrap();
    history.append_all(records).unwrap();
    (folder, history)
}

#[test]
fn the_command_itself_comes_before_like_commands() {
    let gib = |count: u64| count << 30;
    let failed = RunRecord { ending: Ending::Failed(1), ..ran("fit a.csv", gib(9)) };
    let killed = RunRecord {
        ending: Ending::Failed(137),
        memory_kill: true,
        reserved: Some(MemoryRequest { bytes: gib(5), source: Estimate::Stated }),
        ..ran("fit d.csv", gib(3))
    };
    let (_folder, history) =
        history(&[ran("fit a.csv", gib(1)), failed, ran("fit b.csv", gib(4)), ran("fit c.csv", gib(4)), killed]);
    let mut predictor = MemoryPredictor::new(&history, "/work", ExcessRule::Kill).unwrap();
    let mut predict = |line: &str| {
        let command = Command::new(["sh", "-c", line].map(str::to_owned).to_vec());
        predictor.predict(&command, None).unwrap()
    };
    let own = predict("fit a.csv").unwrap();
    assert_eq!((own.runs, own.basis), (1, MemoryBasis::SameCommand));
    assert!((gib(1)..gib(2)).contains(&own.bytes), "{own:?}");
    let like = predict("fit z.csv").unwrap();
    assert_eq!((like.runs, like.basis), (4, MemoryBasis::LikeCommands));
    assert!(like.bytes > gib(4), "{like:?}");
    // The killed run held 5 GiB.
    assert!(predict("fit d.csv").unwrap().bytes >= gib(10));
    assert_eq!(predict("other a.csv"), None);
}

#[test]
fn advice_compares_stated_with_used_memory() {
    let stated = |bytes: u64| Some(MemoryRequest { bytes, source: Estimate::Stated });
    let guessed = Some(MemoryRequest { bytes: 1 << 40, source: Estimate::Guessed });
    let mut records: Vec<RunRecord> = (1..=20)
        .map(|at| RunRecord { reserved: stated(64 << 30), ..ran(&format!("fit {at}.csv"), at << 27) })
        .collect();
    records.push(RunRecord { reserved: guessed, ..ran("fit 21.csv", 1 << 27) });
    records.extend((0..4).map(|at| ran(&format!("rare {at}"), 1 << 30)));
    let (_folder, history) = history(&records);
    let uses = history.memory_uses(&Filter::default()).unwrap();
    let (advice, few) = advise(&uses);
    assert_eq!((advice.len(), few), (1, 4));
    let advice = &advice[0];
    // The peak of rank 20 = ⌈0.95 21⌉ is the second largest peak.
    assert_eq!((advice.jobs, advice.stated, advice.used), (21, Some(64 << 30), 19 << 27));
    assert!((advice.reserved - 20.0 * 64.0).abs() < 1e-6);
    let fitting = (1..=20_u64).filter(|at| at << 27 <= advice.advised).count() as f64;
    let advised = advice.advised as f64 / GIB;
    let saved = fitting * (64.0 - advised) - (20.0 - fitting) * advised;
    assert!((advice.saved - saved).abs() < 1e-6, "{advice:?}, {saved}");
}

/// Jobs that were killed with all their stated memory need more than this amount, so no smaller amount is advised if
/// more than 5 % of the jobs were killed.
#[test]
fn advice_suffices_for_the_stated_share_of_jobs() {
    let job = |peak: u64, is_killed: bool| MemoryUse {
        user: Some("ann".into()),
        name: "fit".into(),
        stated: Some(32 << 30),
        peak,
        seconds: 3600.0,
        is_killed,
    };
    let mut uses: Vec<MemoryUse> = (0..30).map(|at| job((8 << 30) + (at << 20), false)).collect();
    uses.extend((0..3).map(|_| job(32 << 30, true)));
    let (advice, _) = advise(&uses);
    assert_eq!((advice[0].killed, advice[0].used), (3, 32 << 30));
    assert!(advice[0].advised >= 32 << 30, "{advice:?}");
}
