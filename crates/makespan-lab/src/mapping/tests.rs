use super::*;
use crate::campaign::tests::{played, refused, refuses_a_file};
use crate::campaign::{SearchLimit, SearchLimits, SearchOptions, Verdict};

fn small() -> MappingOptions {
    let search = SearchOptions { limits: SearchLimits(vec![SearchLimit::Steps(50)]), searches: 1, at_once: 2 };
    MappingOptions { tasks: 12, machines: 3, seeds: 2, search, ..MappingOptions::usual() }
}

#[test]
fn a_campaign_measures_every_algorithm_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let options = small();
    let (first, runs) = played(&options, folder.path());
    let gaps = |runs: &[Run]| -> Vec<(f64, f64)> {
        cells(runs, groups).iter().map(|cell| (cell.mean(gap), cell.range(gap).1)).collect()
    };
    let measured = gaps(&runs);
    assert_eq!((first.runs, first.reused, measured.len()), (24, 0, 4 * 14));
    assert!(measured.iter().all(|(mean, max)| *mean >= 0.0 && max >= mean), "{measured:?}");
    assert!(first.text.contains("Skipped files of the benchmark: u_c_hihi.0, u_c_lolo.0"), "{}", first.text);
    let unmeasured = first.claims.iter().filter(|claim| claim.verdict == Verdict::NotMeasured).count();
    assert_eq!(unmeasured, 3 + 3, "the claims about files and about seconds have no verdict");
    let lines = std::fs::read_to_string(folder.path().join("results.csv")).unwrap().lines().count();
    assert_eq!(lines, 1 + 24 * 14);
    let (again, reused) = played(&options, folder.path());
    assert_eq!((again.runs, again.reused, reused), (24, 24, runs));
    let fresh = tempfile::tempdir().unwrap();
    let search = SearchOptions { at_once: 1, ..options.search.clone() };
    let (_, fresh) = played(&MappingOptions { search, ..options }, fresh.path());
    assert_eq!(gaps(&fresh), measured, "a limit in steps gives the same plans for any number of instances at once");
}

#[test]
fn files_are_read_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("u_c_lolo.0"), "4 2 0\n1 2\n2 4\n3 6\n4 8\n").unwrap();
    let data = Some(folder.path().to_owned());
    let options = MappingOptions { data, classes: Some(vec![]), ..small() };
    let (summary, runs) = played(&options, &folder.path().join("results"));
    assert_eq!(summary.runs, 1);
    // Every task takes twice as long on the second machine as on the first machine. The times on the first machine add
    // up to 10. The dual prices 2/3 and 1/3 prove a bound of 20/3. All times are whole numbers, so this bound is
    // rounded up to 7, which is the optimum.
    let minimum = cells(&runs, groups).iter().map(|cell| cell.mean(gap)).fold(f64::INFINITY, f64::min);
    assert!(minimum.abs() < 0.1, "the optimum is 7: {minimum}");
    assert!(summary.text.contains("u_c_lolo.0") && !summary.text.contains("u_c_lolo.0, u_i"), "{}", summary.text);
    let verdict = |part: &str| summary.claims.iter().find(|claim| claim.statement.contains(part)).unwrap().verdict;
    assert_eq!(verdict("No bound is above"), Verdict::Holds);
    assert_eq!(verdict("is at most 10^-5"), Verdict::DoesNotHold, "this is not the matrix of that name");
}

#[test]
fn classes_are_read_as_they_are_written() {
    let all = MatrixClass::all();
    assert_eq!(all.len(), 12);
    for class in all {
        assert_eq!(class.to_string().parse::<MatrixClass>().unwrap(), class);
    }
    assert!("x_hihi".parse::<MatrixClass>().unwrap_err().to_string().contains("c_hilo"));
}

#[test]
fn unusable_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let base = small();
    refuses_a_file(&base, folder.path());
    let refused = |options: MappingOptions, part: &str| refused(&options, folder.path(), part);
    refused(MappingOptions { classes: Some(vec![]), ..base.clone() }, "classes is empty");
    refused(MappingOptions { tasks: 0, ..base.clone() }, "tasks is 0");
    refused(MappingOptions { data: Some(folder.path().join("none")), ..base.clone() }, "name a folder");
    refused(
        MappingOptions { search: SearchOptions { searches: 0, ..base.search.clone() }, ..base.clone() },
        "searches is 0",
    );
}
