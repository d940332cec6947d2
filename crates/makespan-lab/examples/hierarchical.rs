//! Clusters of SMPs: how far `shelves` and the general lists are from the proven bound, and whether the construction
//! keeps its height for every guess that is not refuted.
//! `cargo run --release -p makespan-lab --example hierarchical [seeds [algorithm ..]]`; 5 seeds by default.
//!
//! Families x k = 2, 4, 8, 16 x m = 4, 16, 64 x 1/2, 2 and 8 jobs a node; every plan is validated with best placement,
//! every bound verified. Twenty guesses from 0.9 to 2 times the proven bound are attempted on each instance.

use std::collections::BTreeMap;
use std::time::Instant;

use makespan::{
    Bound, Certificate, Context, Instance, Job, JobId, Objective, Placement, Platform, Profile, Schedule, Time,
};
use makespan_algos::kernel::hierarchical::{Cluster, Partition, build, partition};
use makespan_lab::generate::{Family, MoldableOptions, generate};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const FAMILIES: [Family; 4] = [Family::Weak, Family::High, Family::Mixed, Family::Cirne];
const PLANNERS: [&str; 4] = ["shelves", "list[order=shelf]", "sweep[steps=0]", "sweep[steps=2000]"];

/// Ratios and the longest planning time of one algorithm.
#[derive(Default)]
struct Figures {
    sum: f64,
    largest: f64,
    count: u32,
    seconds: f64,
}

/// What became of the attempted guesses.
#[derive(Default)]
struct Guesses {
    refuted: u32,
    met: u32,
    undecided: u32,
}

fn instance(family: Family, cluster: Cluster, jobs: usize, seed: u64) -> Outcome<Instance> {
    let options = MoldableOptions { family, jobs, processors: cluster.processors(), seed, arrival_rate: None };
    let platform = Platform::cluster(cluster.nodes, cluster.each)?.requiring_compact();
    Ok(Instance::new(platform, generate(&options)?.jobs().to_vec(), vec![])?)
}

fn measure(instance: &Instance, bound: &Bound, spec: &str, figures: &mut Figures) -> Outcome<()> {
    let scheduler = makespan::scheduler(spec)?;
    let clock = Instant::now();
    let schedule = scheduler.schedule(instance, &mut Context::with_seed(1))?.into_schedule();
    figures.seconds = figures.seconds.max(clock.elapsed().as_secs_f64());
    makespan::validate(instance, &schedule).map_err(|violations| format!("{spec}: {violations:?}"))?;
    if let Some(guarantee) = scheduler.guarantee(instance, Objective::Makespan) {
        let value = Objective::Makespan.value(instance, &schedule);
        // The bound may be better than the guess of the search, so the guarantee is about it, too.
        assert!(guarantee.holds(value, bound.value), "{spec}: {value} is above {guarantee} times {}", bound.value);
    }
    let ratio = makespan::ratio(instance, &schedule, bound).unwrap_or(1.0);
    figures.sum += ratio;
    figures.largest = figures.largest.max(ratio);
    figures.count += 1;
    Ok(())
}

/// Builds for guesses around the bound; fails unless each is refuted with proof or met.
fn attempt(instance: &Instance, cluster: Cluster, bound: &Bound, guesses: &mut Guesses) -> Outcome<()> {
    let profiles: Vec<&Profile> = instance.jobs().iter().map(Job::profile).collect();
    for twentieths in 18..=37 {
        let guess = Time::from_ticks(i64::try_from(bound.value * twentieths / 20)?.max(1));
        let first_shelf = match partition(&profiles, cluster, guess) {
            Partition::Refuted(rejection) => {
                Bound::proved_by(Certificate::Rejection(rejection), instance)?.verify(instance)?;
                guesses.refuted += 1;
                continue;
            }
            Partition::Undecided(_) => {
                guesses.undecided += 1;
                continue;
            }
            Partition::Chosen(first_shelf) => first_shelf,
        };
        let placed = build(&profiles, cluster, &first_shelf, guess);
        let place = placed.into_iter().map(|placed| Placement {
            job: JobId(placed.job as u32),
            task: 0,
            start: placed.start,
            end: placed.end,
            processors: placed.processors,
        });
        let schedule = Schedule::new(place.collect());
        makespan::validate(instance, &schedule).map_err(|violations| format!("{violations:?}"))?;
        let height = cluster.height(guess);
        if schedule.makespan() > height {
            return Err(format!("{cluster:?}, guess {guess}: {} is above {height}", schedule.makespan()).into());
        }
        guesses.met += 1;
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let seeds = std::env::args().nth(1).map_or(Ok(5), |text| text.parse::<u64>())?;
    let mut planners: Vec<String> = std::env::args().skip(2).collect();
    if planners.is_empty() {
        planners.extend(PLANNERS.map(String::from));
    }
    let mut figures: BTreeMap<(u32, usize), Figures> = BTreeMap::new();
    let mut guesses = Guesses::default();
    for each in [2, 4, 8, 16] {
        for nodes in [4, 16, 64] {
            let cluster = Cluster { nodes, each };
            for (family, jobs) in FAMILIES.into_iter().flat_map(|family| [1, 4, 16].map(|jobs| (family, jobs))) {
                for seed in 1..=seeds {
                    let instance = instance(family, cluster, nodes as usize * jobs / 2, seed)?;
                    let bound = makespan_bounds::makespan(&instance);
                    bound.verify(&instance)?;
                    for (at, spec) in planners.iter().enumerate() {
                        measure(&instance, &bound, spec, figures.entry((each, at)).or_default())?;
                    }
                    attempt(&instance, cluster, &bound, &mut guesses)?;
                }
            }
        }
    }
    println!("| k | algorithm | mean ratio | largest | longest, s | instances |\n|---|---|---|---|---|---|");
    for ((each, at), Figures { sum, largest, count, seconds }) in figures {
        let (spec, mean) = (&planners[at], sum / f64::from(count));
        println!("| {each} | {spec} | {mean:.3} | {largest:.3} | {seconds:.3} | {count} |");
    }
    let Guesses { refuted, met, undecided } = guesses;
    println!("\n{met} guesses are met, {refuted} are refuted with proof, {undecided} are beyond the knapsack's table.");
    Ok(())
}
