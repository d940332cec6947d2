use makespan_generate::Law;

use super::*;
use crate::campaign::tests::refused;
use crate::campaign::{Limit, Limits, Search, Silent, Verdict, reproduce};

fn small() -> Options {
    let search = Search { limits: Limits(vec![Limit::Steps(50)]), searches: 1, at_once: 2 };
    let families = vec![Family::Layers, Family::Cholesky, Family::SoyKb];
    Options { families, tasks: vec![14], processors: vec![4, 8], search, ..Options::usual() }
}

#[test]
fn a_campaign_measures_every_algorithm_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let first = reproduce(&options, folder.path(), &mut Silent).unwrap();
    assert_eq!((first.runs, first.reused), (12, 0));
    // All, two platforms, three families, two laws and one size.
    assert_eq!(first.points.len(), 9 * (ALGORITHMS.len() + 1));
    for point in &first.points {
        let (least, largest) = point.range;
        assert!(1.0 <= least && least <= point.geometric && point.geometric <= point.mean, "{point:?}");
        assert!(point.mean <= largest && point.over_baselines > 0.3, "{point:?}");
    }
    let best = first.points.iter().filter(|point| point.group == Group::All && point.algorithm == "lp-rounding");
    assert!(best.clone().count() == 1 && best.clone().all(|point| point.over_baselines >= 1.0));
    assert_eq!(first.claims.iter().filter(|claim| claim.verdict == Verdict::NotMeasured).count(), 3, "seconds");
    for name in ["ratios.svg", "distribution.svg"] {
        let svg = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(svg.contains("mcpa") && svg.contains("50 steps"), "{name}");
    }
    let results = std::fs::read_to_string(folder.path().join("results.csv")).unwrap();
    assert_eq!(results.lines().count(), 1 + 12 * (ALGORITHMS.len() + 1));
    let again = reproduce(&options, folder.path(), &mut Silent).unwrap();
    assert_eq!((again.runs, again.reused, again.points), (12, 12, first.points));
}

#[test]
fn a_graph_is_the_same_on_each_number_of_processors() {
    let options = Options::usual();
    let key = |processors| Key { processors, family: Family::Stages, law: Law::Downey, tasks: 40, run: 0 };
    let [few, many] = [4, 16].map(|processors| options.instance(key(processors)).unwrap());
    assert_eq!((few.processors(), many.processors(), few.has_transfers()), (4, 16, false));
    assert_eq!(few.edges(), many.edges());
    for family in Family::ALL {
        assert_eq!(family.to_string().parse::<Family>().unwrap(), family);
    }
}

#[test]
fn what_measures_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(&Options { families: vec![], ..small() }, folder.path(), "families");
    refused(&Options { processors: vec![0], ..small() }, folder.path(), "processors");
    refused(&Options { runs: 0, ..small() }, folder.path(), "runs");
}
