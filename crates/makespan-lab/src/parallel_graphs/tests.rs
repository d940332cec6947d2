use super::*;
use crate::campaign::tests::{played, refused};
use crate::campaign::{SearchLimit, SearchLimits, SearchOptions, Verdict};

fn small() -> ParallelGraphsOptions {
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(50)]), searches: 1, at_once: 2 };
    let families = vec![Family(0), Family(3), Family(9)];
    ParallelGraphsOptions {
        families,
        tasks: vec![14],
        processors: vec![4, 8],
        search,
        ..ParallelGraphsOptions::usual()
    }
}

#[test]
fn a_campaign_measures_every_algorithm_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (first, runs) = played(&options, folder.path());
    assert_eq!((first.runs, first.reused), (12, 0));
    // There are nine groups: all graphs, two platforms, three families, two laws and one size.
    let cells = cells(&runs, groups);
    assert_eq!(cells.len(), 9 * (ALGORITHMS.len() + 1));
    for cell in &cells {
        let figures @ [geometric, mean, least, largest, over_baselines, _] = measures(cell);
        assert!(1.0 <= least && least <= geometric && geometric <= mean, "{figures:?}");
        assert!(mean <= largest && over_baselines > 0.3, "{figures:?}");
    }
    let best = find(&cells, &GraphGroup::All, "lp-rounding").unwrap();
    assert!(best.mean(over_baselines) >= 1.0);
    assert_eq!(first.claims.iter().filter(|claim| claim.verdict == Verdict::NotMeasured).count(), 3, "seconds");
    for name in ["ratios.svg", "distribution.svg"] {
        let svg = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(svg.contains("mcpa") && svg.contains("50 steps"), "{name}");
    }
    let results = std::fs::read_to_string(folder.path().join("results.csv")).unwrap();
    assert_eq!(results.lines().count(), 1 + 12 * (ALGORITHMS.len() + 1));
    let (again, reused) = played(&options, folder.path());
    assert_eq!((again.runs, again.reused, &reused), (12, 12, &runs));
}

#[test]
fn a_graph_is_the_same_on_each_number_of_processors() {
    let options = ParallelGraphsOptions::usual();
    let key = |processors| ParallelGraphsKey { processors, family: Family(2), law: Law::Downey, tasks: 40, run: 0 };
    let [few, many] = [4, 16].map(|processors| options.instance(key(processors)).unwrap());
    assert_eq!((few.processors(), many.processors(), few.has_transfers()), (4, 16, false));
    assert_eq!(few.edges(), many.edges());
    for family in (0..10).map(Family) {
        assert_eq!(family.to_string().parse::<Family>().unwrap(), family);
    }
}

#[test]
fn what_measures_nothing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(&ParallelGraphsOptions { families: vec![], ..small() }, folder.path(), "families");
    refused(&ParallelGraphsOptions { processors: vec![0], ..small() }, folder.path(), "processors");
    refused(&ParallelGraphsOptions { runs: 0, ..small() }, folder.path(), "runs");
}
