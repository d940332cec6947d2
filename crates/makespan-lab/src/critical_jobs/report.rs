//! Tables and claims about costs and deadlines.

use super::example::{Example, WayResult};
use super::{
    CriticalJobsKey, CriticalJobsOptions, CriticalJobsOutcome, DEADLINES, GAPS, Run, SHAPES, algorithms, costs,
    with_deadline,
};
use crate::campaign::{AnyRun, Claim, aligned, shown};
use crate::statistics::mean;

/// Returns a mean over the graphs of a shape: `figure` of the algorithm's plan, divided by `figure` of HEFT's plan.
fn ratio(runs: &[Run], shape: usize, algorithm: &str, figure: fn(&CriticalJobsOutcome) -> f64) -> Option<f64> {
    let own = runs.iter().filter(|run| matches!(run.key, CriticalJobsKey::Graph(own, _) if own as usize == shape));
    let each = own.filter_map(|run| Some(figure(run.of(algorithm)?) / figure(run.of("heft")?)));
    mean(&each.collect::<Vec<f64>>())
}

/// Returns the number of graphs of a shape for which the algorithm found no plan, and the number of all graphs of this
/// shape.
fn fallbacks(runs: &[Run], shape: usize, algorithm: &str) -> (usize, usize) {
    let own = runs.iter().filter(|run| matches!(run.key, CriticalJobsKey::Graph(own, _) if own as usize == shape));
    let each = own.filter_map(|run| run.of(algorithm));
    each.fold((0, 0), |(failed, all), outcome| (failed + outcome.fallbacks, all + 1))
}

/// Returns the mean number of jobs that meet their deadline. The mean is over the flows with this gap between jobs.
fn on_time(runs: &[Run], gap: u32, algorithm: &str) -> Option<f64> {
    let own = runs.iter().filter(|run| matches!(run.key, CriticalJobsKey::Flow(own, _) if own == gap));
    mean(&own.filter_map(|run| Some(run.of(algorithm)?.on_time as f64)).collect::<Vec<f64>>())
}

pub(super) fn claims(runs: &[Run], example: &Example) -> Vec<Claim> {
    let (one, both) = (&example.consecutive, &example.collective);
    let until = one.end();
    let cost = |algorithm: &str| ratio(runs, 0, algorithm, |outcome| outcome.cost);
    let falling: Vec<f64> = DEADLINES.iter().filter_map(|factor| cost(&with_deadline(factor))).collect();
    vec![
        Claim::new(
            "Section 4, figure 2",
            "If the jobs are planned one after the other, both end by their deadlines; the last task ends after 140 s and by 250 s",
            format!(
                "the second starts at {:.1} s, the last task ends at {until:.1} s, {} of 2 in time",
                one.second_starts(),
                one.in_time
            ),
            &[until <= 250.0 && until > 140.0 && one.in_time == 2],
        ),
        Claim::new(
            "Section 4, figure 3",
            "If the jobs are planned together, both end by their deadlines; the last task ends by 140 s",
            format!("the last task ends at {:.1} s, {} of 2 in time", both.end(), both.in_time),
            &[both.end() <= 140.0 && both.in_time == 2],
        ),
        Claim::new(
            "Section 4",
            "The utilisation is higher if the two jobs are planned together than if they are planned one after the other",
            format!("{:.3} against {:.3}", both.utilisation, one.utilisation),
            &[both.utilisation > one.utilisation],
        ),
        Claim::one(
            "aim",
            "If the deadline is 1.5 times HEFT's makespan, the mean cost of layered graphs is at most 0.70 of HEFT's cost",
            cost(&with_deadline("1.5")).map(|ratio| (format!("{ratio:.3}"), ratio <= 0.70)),
        ),
        costs::claim(cost),
        Claim::new(
            "Section 2",
            "The later the deadline, the lower the cost",
            falling.iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<_>>().join(", "),
            &falling.windows(2).map(|pair| pair[1] <= pair[0]).collect::<Vec<_>>(),
        ),
    ]
}

/// Formats all tables except the tables of flows under policies.
pub(super) fn text(options: &CriticalJobsOptions, runs: &[Run], example: &Example) -> String {
    let (one, both) = (&example.consecutive, &example.collective);
    let cost = |way: &WayResult| way.cost as f64 / 1e3;
    let mut text = format!(
        "Two jobs, deadlines 110 and 140, 8 processors: one after the other {:.1} s at cost {:.3}, together {:.1} s at cost \
         {:.3}.\n\n{} graphs for each shape, 20 to 100 tasks, 8 processors; seed {}. Mean ratios to HEFT's values. In \
         brackets:\nthe number of graphs for which the method found no plan and uses HEFT's plan.\n",
        one.end(),
        cost(one),
        both.end(),
        cost(both),
        options.graphs,
        options.seed
    );
    for (shape, (name, _)) in SHAPES.iter().enumerate() {
        text += &format!("\n{}", aligned(&[-44, 10], [name, "makespan", "cost"]));
        for algorithm in algorithms().iter().skip(1) {
            let of = |figure: fn(&CriticalJobsOutcome) -> f64| shown(ratio(runs, shape, algorithm, figure), 3);
            let (failed, all) = fallbacks(runs, shape, algorithm);
            let (makespan, cost) = (of(|outcome| outcome.makespan), of(|outcome| outcome.cost));
            let failed = format!("  ({failed} of {all})");
            text += &aligned(&[-44, 10, 10, 0], [algorithm, &makespan, &cost, &failed]);
        }
        text += &costs::table(|algorithm| ratio(runs, shape, algorithm, |outcome| outcome.cost));
    }
    text += &format!(
        "\nMean number of the {} jobs of a flow that meet their deadline, which is twice HEFT's makespan of the job alone.\n\
         Each job is planned at its arrival. Columns: mean seconds between two jobs (0: all at once)\n",
        options.jobs
    );
    let line = |name: &str, cells: [String; 4]| aligned(&[-44, 8], std::iter::once(name.to_owned()).chain(cells));
    text += &line("", GAPS.map(|gap| gap.to_string()));
    for algorithm in ["heft", "critical-jobs[deadline=2,start=empty]", "critical-jobs[deadline=2]"] {
        text += &line(algorithm, GAPS.map(|gap| shown(on_time(runs, gap, algorithm), 3)));
    }
    text + "\n"
}
