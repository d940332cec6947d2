use std::path::Path;

use makespan_core::proof::Alone;
use makespan_core::{JobId, Objective, Proof, Schedule};

use super::*;
use crate::campaign::{Instances, Silent};
use crate::generate::Family;

fn small(folder: &Path) -> Options {
    Options {
        instances: Instances {
            families: vec![Family::Weak, Family::Cirne],
            sizes: vec![4, 7],
            processors: 6,
            ..Instances::paper(3)
        },
        limits: vec![Limit::Steps(20), Limit::Steps(200)],
        searches: 1,
        ..Options::record(folder)
    }
}

/// A planner that is no optimiser: what is tested is the measuring.
fn plain(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, String> {
    let algorithm = if spec.contains("objective=makespan") { "sweep[steps=20]" } else { "list[order=smith]" };
    makespan::plan(instance, algorithm, seed).map_err(|error| error.to_string())
}

/// The results without their last column, the times.
fn results(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n").collect()
}

#[test]
fn a_campaign_measures_every_setting_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small(folder.path());
    let summary = reproduce_with(&options, &plain, &mut Silent).unwrap();
    assert_eq!((summary.runs, summary.reused, summary.points.len()), (36, 0, 12));
    let first = results(folder.path());
    assert_eq!(first.lines().count(), 1 + 36);
    for point in &summary.points {
        assert_eq!(point.runs, 3);
        assert!(1.0 <= point.min && point.min <= point.mean && point.mean <= point.max, "{point:?}");
        assert!(point.demt >= 1.0 && point.longest >= point.seconds && point.seconds > 0.0, "{point:?}");
    }
    for setting in options.settings() {
        assert!(summary.text.contains(&setting.spec(1)), "{setting} in\n{}", summary.text);
    }
    let names = ["makespan-steps-20.svg", "weighted_completion-steps-20.svg", "weighted_completion-steps-200.svg"];
    for name in names {
        let svg = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(svg.contains("weak") && svg.contains("cirne"), "{name}");
    }
    let refusing: &Planner<'_> = &|_, _, _| Err("nothing is left to plan".into());
    let again = reproduce_with(&options, refusing, &mut Silent).unwrap();
    assert_eq!((again.runs, again.reused, again.points), (36, 36, summary.points));
    let other = Options { searches: 2, ..options };
    let error = reproduce_with(&other, refusing, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("nothing is left to plan"), "plans of other options are not reused: {error}");
}

#[test]
fn the_same_seed_gives_the_same_results_however_many_at_once() {
    let [one, many] = [1, 3].map(|at_once| {
        let folder = tempfile::tempdir().unwrap();
        reproduce_with(&Options { at_once, ..small(folder.path()) }, &plain, &mut Silent).unwrap();
        results(folder.path())
    });
    assert_eq!(one, many);
}

#[test]
fn the_optimiser_of_the_catalogue_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { limits: vec![Limit::Steps(30)], searches: 2, ..small(folder.path()) };
    let summary = reproduce(&options, &mut Silent).unwrap();
    assert_eq!(summary.runs, 24);
    let first = results(folder.path());
    let again = tempfile::tempdir().unwrap();
    reproduce(&Options { output: again.path().into(), ..options }, &mut Silent).unwrap();
    assert_eq!(first, results(again.path()), "steps give the same plans each time");
}

#[test]
fn a_wrong_plan_stops_the_campaign_and_its_instance_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |plan: &Planner<'_>, part: &str| {
        let error = reproduce_with(&small(folder.path()), plan, &mut Silent).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("family weak, 4 jobs, run 0"), "{error}");
    };
    let good = |instance: &Instance| plain(instance, "", 1);
    refused(&|instance, _, _| Ok(Planned { plan: Schedule::default().into(), ..good(instance)? }), "is invalid");
    refused(&|instance, _, _| Ok(Planned { bounds: vec![], ..good(instance)? }), "no bound on the");
    refused(
        &|instance, _, _| {
            let mut planned = good(instance)?;
            planned.bounds.iter_mut().for_each(|bound| bound.value = (bound.value.integer() + 1).into());
            Ok(planned)
        },
        "is not proved",
    );
    refused(
        &|instance, _, _| {
            let mut planned = good(instance)?;
            planned.bounds[1].proof = Proof::Alone(Alone { job: JobId(0) });
            Ok(planned)
        },
        "says nothing of the weighted completion",
    );
}

fn point(objective: Objective, limit: &str, jobs: usize, mean: f64, max: f64) -> Point {
    let setting = Setting { objective, limit: limit.parse().unwrap() };
    let (family, runs, seconds) = (Family::High, 10, 1.0);
    Point { setting, family, jobs, runs, min: 1.0, mean, max, demt: 1.5, seconds, longest: seconds }
}

#[test]
fn verdicts_follow_from_the_targets() {
    let points = [
        point(Objective::WeightedCompletion, "1s", 25, 1.06, 1.2),
        point(Objective::WeightedCompletion, "1s", 50, 1.02, 1.2),
        point(Objective::WeightedCompletion, "10s", 25, 1.02, 1.2),
        point(Objective::Makespan, "1s", 25, 1.031, 1.05),
        point(Objective::Makespan, "2s", 25, 1.0, 1.0),
    ];
    let said: Vec<String> = targets::verdicts(&points).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "1.0400; at most 1.05: holds",
            "1.0600 at n = 25; at most 1.05: missed by 0.0100",
            "1.0200; at most 1.03: holds",
            "1.0200 at n = 25; at most 1.03: holds",
            "1.0310; at most 1.03: missed by 0.0010",
            "1.0500 at n = 25; at most 1.05: holds",
            "1.0000",
            "1.0000 at n = 25",
        ]
    );
}

#[test]
fn limits_are_read_as_they_are_written() {
    for text in ["1s", "0.05s", "steps=500"] {
        assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
    }
    assert_eq!("500ms".parse::<Limit>().unwrap().to_string(), "0.5s");
    for text in ["0", "-1s", "soon", "steps=many", "steps=-3", ""] {
        let error = text.parse::<Limit>().unwrap_err().to_string();
        assert!(error.contains("1s or 500ms, or steps=500"), "{text}: {error}");
    }
}

#[test]
fn unusable_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = small(folder.path());
    let refused = |options: Options, part: &str| {
        let error = reproduce(&options, &mut Silent).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(Options { at_once: 0, ..base.clone() }, "at once is 0");
    refused(Options { searches: 0, ..base.clone() }, "searches is 0");
    refused(Options { limits: vec![], ..base.clone() }, "limits is ``");
    refused(Options { limits: vec![Limit::Steps(1), Limit::Steps(1)], ..base.clone() }, "only once");
    refused(Options { instances: Instances { runs: 0, ..base.instances.clone() }, ..base }, "runs is 0");
}
