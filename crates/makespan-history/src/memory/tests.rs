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

    /// A prediction suffices for 95 % of the runs. It is at most twice the largest need of a run, where a killed run
    /// needed at most twice its reservation. A peak above the prediction does not lower it.
    #[test]
    fn predictions_are_between_the_quantile_and_the_margin(seed in any::<u64>(), count in 1..80_usize, kind in 0..3, kills in 0..4_usize) {
        let peak = |at: usize| match kind {
            0 => GIB * (0.1 + 9.0 * noise(seed, at)),
            1 => GIB * if noise(seed, at) < noise(seed, 1000) { 1.0 } else { 1.0 + 9.0 * noise(seed, 1001) },
            _ => GIB * (6.0 * noise(seed, at) - 3.0).exp(),
        };
        let mut runs: Vec<MemoryRun> = (0..count).map(|at| run(peak(at), None)).collect();
        runs.iter_mut().take(kills).for_each(|run| run.is_killed = true);
        let mut known: Vec<f64> = runs.iter().map(|run| run.peak as f64).collect();
        known.sort_by(f64::total_cmp);
        let rank = (95 * (count + 1)).div_ceil(100).min(count);
        let most = runs.iter().map(|run| run.peak as f64 * if run.is_killed { 2.0 } else { 1.0 }).fold(0.0, f64::max);
        for excess in [ExcessRule::Kill, ExcessRule::Tolerate] {
            for basis in [MemoryBasis::SameCommand, MemoryBasis::LikeCommands] {
                let of = |runs: &[MemoryRun]| MemoryModel::of(runs, basis, excess).unwrap().predict(None) as f64;
                let predicted = of(&runs);
                prop_assert!(predicted >= known[rank - 1], "{predicted} below the peak {}", known[rank - 1]);
                let margin = (2.0 * basis.assumed_deviation() / (count as f64).sqrt()).exp();
                prop_assert!(predicted <= most * margin + STEP as f64, "{predicted} above {most} by more than {margin}");
                if count < 38 {
                    let more = [runs.as_slice(), &[run(predicted * (1.0 + noise(seed, 1002)), None)]].concat();
                    prop_assert!(of(&more) >= predicted, "{} after {predicted}", of(&more));
                }
            }
        }
    }

    /// If peaks depend on sizes, a prediction suffices for all runs of up to 38 runs at their own sizes.
    #[test]
    fn predictions_suffice_for_known_runs(seed in any::<u64>(), count in 1..39_usize, slope in 0.0..5.0_f64, noisy in 0.0..0.5_f64) {
        let size = |at: usize| 1e9 * noise(seed, 2 * at);
        let peak = |at: usize| (1e8 + slope * size(at)) * (1.0 + noisy * noise(seed, 2 * at + 1));
        let runs: Vec<MemoryRun> = (0..count).map(|at| run(peak(at), Some(size(at)))).collect();
        for excess in [ExcessRule::Kill, ExcessRule::Tolerate] {
            let model = MemoryModel::of(&runs, MemoryBasis::LikeCommands, excess).unwrap();
            for run in &runs {
                prop_assert!(model.predict(run.inputs) >= run.peak, "{run:?}, {model:?}");
            }
        }
    }

    /// Advice suffices for 95 % of the jobs, never exceeds the stated amount without a reason, and never costs memory
    /// without a kill.
    #[test]
    fn advice_stays_between_use_and_request(seed in any::<u64>(), count in 5..60_usize, stated in 1..20_u64, kills in 0..3_usize) {
        let job = |at: usize| {
            let (peak, held) = ((GIB * (0.1 + 9.0 * noise(seed, at))) as u64, stated << 30);
            let needs_more = at < kills;
            let needed = if needs_more { peak.max(held) } else { peak };
            MemoryUse { peak, needed, is_killed: needs_more, needs_more, ..used("fit", Some(held)) }
        };
        let uses: Vec<MemoryUse> = (0..count).map(job).collect();
        let advice = &advise(&uses).0[0];
        prop_assert!(advice.advised >= advice.used && advice.killed == kills.min(count), "{advice:?}");
        if kills == 0 && advice.used <= stated << 30 {
            prop_assert!(advice.advised <= stated << 30 && advice.saved >= 0.0, "{advice:?}");
            prop_assert_eq!(advice.is_unchanged, advice.advised == stated << 30);
        }
    }
}

fn used(name: &str, stated: Option<u64>) -> MemoryUse {
    MemoryUse {
        user: None,
        name: name.into(),
        stated,
        peak: 1 << 30,
        needed: 1 << 30,
        seconds: 3600.0,
        is_killed: false,
        needs_more: false,
    }
}

/// Some jobs with small peaks do not lead to a reservation below all peaks, or to one far above the largest.
#[test]
fn two_levels_of_peaks_are_reserved_for_the_higher_one() {
    let levels = |low: usize, high: usize| [vec![run(GIB, None); low], vec![run(6.0 * GIB, None); high]].concat();
    for (low, high) in [(5, 4), (5, 1), (1, 5), (20, 3)] {
        for excess in [ExcessRule::Kill, ExcessRule::Tolerate] {
            let model = MemoryModel::of(&levels(low, high), MemoryBasis::LikeCommands, excess).unwrap();
            let reserved = model.predict(None) as f64 / GIB;
            assert!((6.0..9.0).contains(&reserved), "{reserved} for {low} and {high}");
        }
    }
}

/// A line through sizes that differ little is used for larger inputs if it explains the peaks.
#[test]
fn a_line_through_near_sizes_holds_for_larger_inputs() {
    let sizes = [10.5e6, 11e6, 11.5e6, 10.7e6, 11.3e6];
    let runs = sizes.map(|size| run(4e7 + 10.0 * size, Some(size)));
    assert!((4.4e8..7e8).contains(&predicted(&runs, Some(4e7))), "{}", predicted(&runs, Some(4e7)));
}

fn ran(line: &str, memory: u64) -> RunRecord {
    RunRecord {
        folder: "/work".into(),
        host: "here".into(),
        memory: Some(memory),
        ..RunRecord::succeeded(Command::new(["sh", "-c", line].map(str::to_owned).to_vec()), Time::from_seconds(3600))
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
    let fits = |at: u64| MemoryUse { peak: (8 << 30) + at, needed: (8 << 30) + at, ..used("fit", Some(32 << 30)) };
    let mut uses: Vec<MemoryUse> = (0..30).map(fits).collect();
    uses.extend((0..3).map(|_| MemoryUse {
        needed: 32 << 30,
        is_killed: true,
        needs_more: true,
        ..used("fit", Some(32 << 30))
    }));
    let (advice, _) = advise(&uses);
    assert_eq!((advice[0].killed, advice[0].used), (3, (8 << 30) + 28), "the killed jobs have small peaks");
    assert!(advice[0].advised > 32 << 30, "{advice:?}");
}

/// The attempts at a job are one job, with the amount that the user stated. Equal commands remain several jobs.
#[test]
fn attempts_at_one_job_are_one_job() {
    let gib = |count: u64| count << 30;
    let attempt = |number: u32, reserved: u64, peak: u64, memory_kill: bool| RunRecord {
        attempt: number,
        reserved: Some(MemoryRequest { bytes: gib(reserved), source: Estimate::Stated }),
        memory_kill,
        ending: if memory_kill { Ending::Failed(137) } else { Ending::Succeeded },
        ..ran("fit a.csv", gib(peak))
    };
    // Two jobs with one command, of which one is killed twice, and a job that never succeeds.
    let lost = RunRecord { folder: "/other".into(), ..attempt(1, 1, 1, true) };
    let (_folder, history) = history(&[
        attempt(1, 2, 1, true),
        attempt(1, 2, 2, false),
        lost,
        attempt(2, 4, 3, true),
        attempt(3, 8, 5, false),
    ]);
    let uses = history.memory_uses(&Filter::default()).unwrap();
    let of = |used: &MemoryUse| (used.stated, used.peak, used.needed, used.is_killed, used.needs_more);
    let expected = [
        (Some(gib(2)), gib(2), gib(2), false, false),
        (Some(gib(1)), gib(1), gib(1), true, true),
        (Some(gib(2)), gib(5), gib(5), true, false),
    ];
    assert_eq!(uses.iter().map(of).collect::<Vec<_>>(), expected);
}
