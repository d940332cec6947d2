//! Tests of every campaign from the command line, with few runs.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn demt_makes_its_figures_and_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    let first = sandbox.lab("demt --runs 1 --output results").succeeds();
    assert!(first.contains("20 instances (0 from an earlier campaign)"), "{first}");
    let names: Vec<_> = fs::read_dir(sandbox.path("results")).unwrap().map(|e| e.unwrap().file_name()).collect();
    for name in ["results.csv", "summary.csv", "claims.md", "figure2.svg", "figure2.pdf", "figure3a.svg", "figure7.pdf"]
    {
        assert!(names.iter().any(|known| known == name), "{name} is missing in {names:?}");
    }
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
    let (results, claims) = (sandbox.read("results/results.csv"), sandbox.read("results/claims.md"));
    let second = sandbox.lab("demt --runs 1 --output results").succeeds();
    assert!(second.contains("20 instances (20 from an earlier campaign)"), "{second}");
    assert_eq!((results, claims), (sandbox.read("results/results.csv"), sandbox.read("results/claims.md")));
}

#[test]
fn demt_takes_families_sizes_processors_and_algorithms() {
    let sandbox = Sandbox::new();
    let line = "demt --runs 2 --families high --jobs 5,6 --processors 8 -a 'gang,demt[compaction=raw,shuffles=0]'";
    let said = sandbox.lab(&format!("{line} --output few")).succeeds();
    assert!(said.contains("4 instances (0 from an earlier campaign)"), "{said}");
    let results = sandbox.read("few/results.csv");
    assert_eq!(results.lines().count(), 1 + 4 * 2);
    assert_eq!(results.matches("demt[compaction=raw,shuffles=0]").count(), 4);
    assert!(sandbox.read("few/figure2.svg").contains("batches of doubling length"));
    sandbox.lab("demt --algorithms demt,,gang --output r").refused(&["does not name an algorithm"]);
    sandbox.lab("demt --jobs 0 --output r").refused(&["sizes", "positive"]);
}

#[test]
fn the_optimiser_is_measured() {
    let sandbox = Sandbox::new();
    let line = "optimiser --runs 2 --families weak,cirne --jobs 4,6 --limits steps=30 --output results";
    let first = sandbox.lab(line).succeeds();
    for part in ["makespan in 30 steps", "weighted completion in 30 steps", "one instance at a time", "For each family"]
    {
        assert!(first.contains(part), "{part} is missing in\n{first}");
    }
    assert!(first.contains("16 plans (0 from an earlier campaign)"), "{first}");
    let results = sandbox.read("results/results.csv");
    assert_eq!(results.lines().count(), 1 + 16);
    for name in ["summary.csv", "report.txt", "makespan-steps-30.svg", "weighted_completion-steps-30.svg"] {
        assert!(!sandbox.read(&format!("results/{name}")).is_empty());
    }
    let second = sandbox.lab(line).succeeds();
    assert!(second.contains("16 plans (16 from an earlier campaign)"), "{second}");
    assert_eq!(results, sandbox.read("results/results.csv"));
}

#[test]
fn hierarchical_checks_the_guarantee_and_draws_the_figures() {
    let sandbox = Sandbox::new();
    let line = "hierarchical --families weak,steps --processors-per-node 4 --nodes 2 --jobs-per-node 1 \
                --limits steps=20 --searches 1 --output results";
    let first = sandbox.lab(line).succeeds();
    assert!(first.contains("2 instances (0 from an earlier campaign)"), "{first}");
    assert!(first.contains("2 - 2/k") && first.contains("figure7.svg"), "{first}");
    for name in ["results.csv", "summary.csv", "guesses.csv", "figure2.svg", "figure9.svg", "ratio-families.svg"] {
        assert!(sandbox.path("results").join(name).exists(), "{name} is missing");
    }
    assert!(sandbox.lab(line).succeeds().contains("2 instances (2 from an earlier campaign)"));
}

#[test]
fn the_mapping_benchmark_goes_on() {
    let sandbox = Sandbox::new();
    let line = "mapping --classes c_hihi,i_lolo --tasks 12 --machines 3 --time steps=30 --output results";
    let text = sandbox.lab(line).succeeds();
    for part in ["Skipped files of the benchmark: u_c_hihi.0", "no folder of files (--data)", "min-min", "not measured"]
    {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(text.contains("2 matrices (0 from an earlier campaign)"), "{text}");
    assert_eq!(sandbox.read("results/results.csv").lines().count(), 1 + 2 * 14);
    assert!(sandbox.lab(line).succeeds().contains("2 matrices (2 from an earlier campaign)"));
    sandbox.lab("mapping --data none --output r").refused(&["none", "name a folder"]);
    sandbox.lab("mapping --seeds 0 --output r").refused(&["seeds is 0"]);
    sandbox.lab("mapping --classes c --output r").misused(&["`c`", "such as c_hilo"]);
}

#[test]
fn ptfs_goes_on_where_it_stopped() {
    let sandbox = Sandbox::new();
    let line = "ptfs --output r --tasks 40 --sizes 5000 --rates 0.5,2 --swings 0.5 --runs 1 --threads 1";
    let text = sandbox.lab(line).succeeds();
    assert!(
        text.contains("Mean size 5000, swing 0.5: makespan over its bound, %") && text.contains("Claims"),
        "{text}"
    );
    assert!(text.contains("2 flows (0 from an earlier campaign)"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for name in ["results.csv", "report.txt", "figure10.svg", "figure12.svg"] {
        assert!(sandbox.read(&format!("r/{name}")).len() > 100, "{name}");
    }
    let again = sandbox.lab(line).succeeds();
    assert!(again.contains("2 flows (2 from an earlier campaign)"), "{again}");
    sandbox.lab("ptfs --output r --rates 0").refused(&["rates"]);
    sandbox.lab("ptfs --output r --threads 0").refused(&["threads"]);
}

#[test]
fn campaigns_refuse_what_is_none() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    sandbox.lab("demt --runs 0 --output r").refused(&["runs is 0", "at least 1"]);
    sandbox.lab("demt --runs 1 --threads 0 --output r").refused(&["threads is 0", "at least 1"]);
    sandbox.lab("demt --runs 1 --output file").refused(&["file"]);
    sandbox.lab("trees --trees 0").refused(&["trees is 0; it must be at least 1"]);
    let case = |options: &str, parts: &[&str]| {
        sandbox.lab(&format!("optimiser --output r {options}")).refused(parts);
    };
    case("--runs 0", &["runs is 0", "at least 1"]);
    case("--jobs 5,0", &["sizes is [5, 0]", "positive"]);
    case("--at-once 0", &["at once is 0", "at least 1"]);
    case("--searches 0", &["searches is 0", "at least 1"]);
    case("--limits 1s,1s", &["limits is `1s,1s`", "only once"]);
    for limit in ["0", "-1s", "soon", "steps=x"] {
        let line = format!("optimiser --output r --limits={limit}");
        sandbox.lab(&line).misused(&[limit, "a positive time such as 1s or 500ms, or steps=500"]);
    }
    sandbox.lab("optimiser --output r --families wek").misused(&["weak, high, mixed or cirne"]);
    let case = |options: &str, parts: &[&str]| {
        sandbox.lab(&format!("hierarchical --output r {options}")).refused(parts);
    };
    case("--runs 0", &["runs is 0", "at least 1"]);
    case("--processors-per-node 4,3", &["[4, 3]", "powers of two"]);
    case("--nodes 0", &["nodes is [0]", "from 1"]);
    case("--jobs-per-node 0", &["jobs per node", "positive"]);
    sandbox.lab("hierarchical --output r --families wek").misused(&["`wek`", "linear, flat, steps or caps"]);
    assert_eq!(sandbox.entries(), ["file"]);
}
