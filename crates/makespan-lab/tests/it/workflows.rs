//! Tests of published workflows and graphs, if their files exist. The tests read and plan the graphs, validate the
//! plans, and prove bounds.

use std::path::{Path, PathBuf};

use makespan_algos::Context;
use makespan_core::{Edge, Graph, Instance, Job, JobId, Objective, Work, validate};
use makespan_formats::{ReadOptions, read_instance};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

/// Returns the files of a folder. If the folder does not exist, the function prints a warning and returns no files.
fn files(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(DATA).join(folder);
    let Ok(entries) = std::fs::read_dir(&path) else {
        eprintln!("SKIPPED: {} does not exist, so its files are not tested", path.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    files
}

fn on(file: &Path, processors: u32, bandwidth: Option<f64>) -> Instance {
    let network = bandwidth.map(|bandwidth| makespan_core::Link { bandwidth, latency: makespan_core::Time::ZERO });
    let options = ReadOptions { processors: Some(processors), network, ..ReadOptions::default() };
    read_instance(file, &options).unwrap_or_else(|error| panic!("{error}")).instance
}

fn planned(instance: &Instance, spec: &str) -> i128 {
    let plan = makespan_algos::scheduler(spec).unwrap().schedule(instance, &mut Context::with_seed(1));
    let schedule = plan.unwrap_or_else(|error| panic!("{error}")).into_schedule().unwrap();
    assert_eq!(validate(instance, &schedule), Ok(()), "{spec}");
    Objective::Makespan.value(instance, &schedule)
}

/// Maximum number of tasks of a graph that is planned by `critical-jobs`. Larger graphs take a minute or more in the
/// test profile. Without this limit, all graphs were planned once, and every plan was valid.
const MAX_FOR_CHAINS: u64 = 400;

#[test]
fn every_published_graph_is_planned_and_bounded() {
    for file in ["workflows", "dag", "stg"].into_iter().flat_map(files) {
        let instance = on(&file, 16, Some(1e8));
        let bounds = makespan_bounds::standard(&instance).unwrap();
        for bound in &bounds {
            assert_eq!(bound.verify(&instance), Ok(()), "{}", file.display());
        }
        let mut specs = vec!["heft", "cpop", "peft", "optimise[objective=makespan,steps=400,searches=1]"];
        if instance.tasks() <= MAX_FOR_CHAINS {
            specs.push("critical-jobs");
        } else {
            eprintln!("LEFT OUT: critical-jobs on {}, {} tasks", file.display(), instance.tasks());
        }
        let values: Vec<(&str, i128)> = specs.into_iter().map(|spec| (spec, planned(&instance, spec))).collect();
        for (spec, value) in values.iter().copied() {
            assert!(value >= bounds[0].value.integer(), "{}: {spec} is below the bound", file.display());
        }
        let heft = values[0].1;
        assert!(values[3].1 <= heft, "{}: the optimiser begins with HEFT", file.display());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!(
            "{name}: bound {:.4}, optimise {:.4} of HEFT",
            bounds[0].value.integer() as f64 / heft as f64,
            values[3].1 as f64 / heft as f64
        );
    }
}

/// Four standard task graphs, each with its optimal makespans on 2, 4, 8 and 16 processors.
const OPTIMA: [(&str, [i128; 4]); 4] = [
    ("rand0000.stg", [131, 66, 55, 55]),
    ("rand0010.stg", [105, 53, 43, 43]),
    ("rand0020.stg", [138, 69, 45, 45]),
    ("rand0030.stg", [146, 73, 37, 33]),
];

#[test]
fn standard_graphs_are_planned_in_the_optimal_length() {
    let (mut optimal, mut all) = (0, 0);
    for file in files("stg") {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((_, optima)) = OPTIMA.iter().find(|(known, _)| *known == name) else { continue };
        for (processors, optimum) in [2, 4, 8, 16].into_iter().zip(optima) {
            let instance = on(&file, processors, None);
            let value = planned(&instance, "optimise[objective=makespan,steps=40000,searches=1]");
            let bound = makespan_bounds::best(&instance, Objective::Makespan).unwrap().value.integer();
            let optimum = optimum * 1_000_000_000;
            assert!(bound <= optimum && optimum <= value, "{name} on {processors}: {bound} {optimum} {value}");
            println!(
                "{name} on {processors}: {} of {}, bound {:.1}",
                value / 1_000_000_000,
                optimum / 1_000_000_000,
                bound as f64 / 1e9
            );
            all += 1;
            optimal += usize::from(value == optimum);
        }
    }
    assert!(10 * optimal >= 9 * all, "{optimal} of {all} are optimal");
}

#[test]
fn the_paper_of_heft_is_repeated() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/heft-paper.toml");
    let instance = read_instance(&example, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}")).instance;
    let seconds = |spec: &str| planned(&instance, spec) / 1_000_000_000;
    assert_eq!((seconds("heft"), seconds("cpop")), (80, 86));
    assert_eq!(planned(&instance, "optimise[objective=makespan,steps=20000,searches=2]"), 73_000_000_000);
    // The published file differs from the paper: it contains only the times on processor P1, and for the edge from n3
    // to n7, it states 20 instead of 23. With the table of times from the paper, the makespan is the makespan in the
    // paper.
    for file in files("dag").iter().filter(|file| file.ends_with("HEFT_paper.xml")) {
        let read = on(file, 3, Some(125.0));
        let [own, published] = [&instance, &read].map(|instance| match instance.submitted(JobId(0)).work {
            Work::Graph(graph) => graph,
            other => panic!("{other:?}"),
        });
        let edges = |graph: &Graph, instance: &Instance| {
            let time = |edge: &Edge| instance.platform().route(0, 1).time(edge.payload);
            let mut edges: Vec<_> = graph.edges().iter().map(|edge| (edge.from, edge.to, time(edge))).collect();
            edges.sort_unstable();
            edges
        };
        let (ours, theirs) = (edges(&own, &instance), edges(&published, &read));
        let differing: Vec<_> = ours.iter().zip(&theirs).filter(|(a, b)| a != b).collect();
        assert!(matches!(differing.as_slice(), [((2, 6, _), (2, 6, _))]), "{differing:?}");
        let joined = Graph::new(own.tasks().to_vec(), published.edges().to_vec()).unwrap();
        let both = Instance::new(read.platform().clone(), vec![Job::compound("both", joined)], vec![]).unwrap();
        assert_eq!(planned(&both, "heft"), 80_000_000_000);
        assert_eq!(planned(&both, "cpop"), 86_000_000_000);
    }
}
