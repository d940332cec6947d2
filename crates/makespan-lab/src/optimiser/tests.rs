use makespan_core::{JobId, Schedule};
use makespan_verify::Proof;
use makespan_verify::proof::Alone;

use super::*;
use crate::campaign::tests::{played, refused, without_times};
use crate::campaign::{SearchLimit, SearchLimits, Verdict};

fn small() -> OptimiserOptions {
    let families = vec![Family::Weak, Family::Cirne];
    let instances = Instances { families, sizes: vec![4, 7], processors: 6, runs: 3, seed: 1 };
    let limits = SearchLimits(vec![SearchLimit::Steps(20), SearchLimit::Steps(200)]);
    OptimiserOptions { instances, search: SearchOptions { limits, searches: 1, at_once: 1 }, plan: plain }
}

/// Plans with a simple algorithm instead of `optimise`, because these tests check only the measurement.
fn plain(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, String> {
    let algorithm = if spec.contains("objective=makespan") { "sweep[steps=20]" } else { "list[order=smith]" };
    Planner::new().algorithm(algorithm).seed(seed).plan(instance).map_err(|error| error.to_string())
}

fn good(instance: &Instance) -> Result<Planned, String> {
    plain(instance, "", 1)
}

#[test]
fn a_campaign_measures_every_setting_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (summary, runs) = played(&options, folder.path());
    let points = points(&runs);
    assert_eq!((summary.runs, summary.reused, points.len()), (36, 0, 12));
    let first = without_times(folder.path(), "results.csv");
    assert_eq!(first.lines().count(), 1 + 36);
    for point in &points {
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
    let refusing = OptimiserOptions { plan: |_, _, _| Err("nothing is left to plan".into()), ..options };
    let (again, reused) = played(&refusing, folder.path());
    assert_eq!((again.runs, again.reused, reused), (36, 36, runs));
    // If the options change, plans in the journal are not reused.
    let other = OptimiserOptions { search: SearchOptions { searches: 2, ..refusing.search.clone() }, ..refusing };
    refused(&other, folder.path(), "nothing is left to plan");
}

#[test]
fn the_same_seed_gives_the_same_results_however_many_at_once() {
    let [one, many] = [1, 3].map(|at_once| {
        let folder = tempfile::tempdir().unwrap();
        let search = SearchOptions { at_once, ..small().search };
        played(&OptimiserOptions { search, ..small() }, folder.path());
        without_times(folder.path(), "results.csv")
    });
    assert_eq!(one, many);
}

#[test]
fn the_optimiser_of_the_catalogue_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(30)]), searches: 2, at_once: 1 };
    let options = OptimiserOptions { search, plan: OptimiserOptions::usual().plan, ..small() };
    assert_eq!(played(&options, folder.path()).0.runs, 24);
    let first = without_times(folder.path(), "results.csv");
    let again = tempfile::tempdir().unwrap();
    played(&options, again.path());
    assert_eq!(first, without_times(again.path(), "results.csv"), "steps give the same plans each time");
}

#[test]
fn a_wrong_plan_stops_the_campaign_and_its_instance_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = |plan: PlanOf, part: &str| {
        let wrong = OptimiserOptions { plan, ..small() };
        refused(&wrong, folder.path(), part);
        refused(&wrong, folder.path(), "family weak, 4 jobs, run 0");
    };
    stopped(|instance, _, _| Ok(Planned { plan: Schedule::default().into(), ..good(instance)? }), "is invalid");
    stopped(|instance, _, _| Ok(Planned { bounds: vec![], ..good(instance)? }), "no bound on the");
    stopped(
        |instance, _, _| {
            let mut planned = good(instance)?;
            planned.bounds.iter_mut().for_each(|bound| bound.value = (bound.value.integer() + 1).into());
            Ok(planned)
        },
        "proves less than it claims",
    );
    stopped(
        |instance, _, _| {
            let mut planned = good(instance)?;
            planned.bounds[1].proof = Proof::Alone(Alone { job: JobId(0) });
            Ok(planned)
        },
        "does not bound the weighted completion",
    );
}

fn point(objective: Objective, limit: &str, jobs: usize, mean: f64, max: f64) -> Point {
    let setting = SearchSetting { objective, limit: limit.parse().unwrap() };
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
    let claims = targets::claims(&points);
    let said: Vec<(&str, Verdict)> = claims.iter().map(|claim| (claim.measured.as_str(), claim.verdict)).collect();
    assert_eq!(
        said,
        [
            ("high 1.0400", Verdict::Holds),
            ("high 1.0600 at n = 25", Verdict::DoesNotHold),
            ("high 1.0200", Verdict::Holds),
            ("high 1.0200 at n = 25", Verdict::Holds),
            ("high 1.0310", Verdict::DoesNotHold),
            ("high 1.0500 at n = 25", Verdict::Holds),
        ]
    );
    // There are no targets for a limit of 2 s.
    assert!(targets::claims(&points[4..]).iter().all(|claim| claim.verdict == Verdict::NotMeasured));
}

#[test]
fn unusable_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = small();
    let search = SearchOptions { limits: SearchLimits(vec![]), ..base.search.clone() };
    refused(&OptimiserOptions { search, ..base.clone() }, folder.path(), "limits is empty");
    let search = SearchOptions { searches: 0, ..base.search.clone() };
    refused(&OptimiserOptions { search, ..base.clone() }, folder.path(), "searches is 0");
    let instances = Instances { runs: 0, ..base.instances.clone() };
    refused(&OptimiserOptions { instances, ..base.clone() }, folder.path(), "runs is 0");
}
