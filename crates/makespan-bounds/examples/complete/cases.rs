//! The instances for which the complete search is measured: generated instances, the instance of the first plan in
//! README.md, and projects of PSPLIB.

use std::path::Path;

use makespan_core::{Instance, Job, Need, Needs, Objective, Platform, Profile, Resources, SpeedupLaw, Time, Weight};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const BOTH: &[Objective] = &[Objective::Makespan, Objective::WeightedCompletion];
/// Instances, each with the objectives to minimise.
type Cases = Vec<(Case, &'static [Objective])>;
const MAKESPAN: &[Objective] = &[Objective::Makespan];

/// An instance in plain numbers.
pub struct Case {
    pub name: String,
    pub kind: String,
    /// The length of the unit of time, in ticks.
    pub unit: i64,
    /// The number of processors, then the amount of each other resource.
    pub supplies: Vec<u64>,
    pub jobs: Vec<CaseJob>,
    /// Pairs of jobs. The second job of a pair waits for the first one.
    pub edges: Vec<(usize, usize)>,
}

pub struct CaseJob {
    pub release: i64,
    /// Weight in millionths.
    pub weight: u64,
    pub modes: Vec<CaseMode>,
    profile: Profile,
}

pub struct CaseMode {
    pub time: i64,
    /// The amount of each supply.
    pub amounts: Vec<u64>,
}

/// Returns a value in ticks as a text in seconds.
pub fn seconds(ticks: i128) -> String {
    let value = ticks as f64 / Time::TICKS_PER_SECOND as f64;
    format!("{value:.3}")
}

fn rigid(width: u32, time: i64, needs: &[u64]) -> CaseJob {
    let profile = Profile::rigid(width, Time::from_seconds(time)).expect("the time is positive");
    let amounts = std::iter::once(u64::from(width)).chain(needs.iter().copied()).collect();
    CaseJob { release: 0, weight: 1_000_000, modes: vec![CaseMode { time, amounts }], profile }
}

/// Returns a job with these times on 1, 2, .. processors.
fn moldable(times: &[i64], unit: i64) -> CaseJob {
    let profile = Profile::table(times.iter().map(|&time| Time::from_ticks(time * unit)).collect());
    let profile = profile.expect("the times are positive");
    let modes = profile.allotments().map(|width| {
        let time = profile.time(width).ticks() / unit;
        CaseMode { time, amounts: vec![u64::from(width)] }
    });
    CaseJob { release: 0, weight: 1_000_000, modes: modes.collect(), profile: profile.clone() }
}

/// Returns a job with times by Amdahl's law, rounded to whole seconds.
fn by_law(rng: &mut ChaCha8Rng, processors: u32) -> CaseJob {
    let (sequential, serial) = (rng.random_range(5..=60_i64), [0.02, 0.1, 0.3][rng.random_range(0..3)]);
    let time = |width: u32| (sequential as f64 * (serial + (1.0 - serial) / f64::from(width))).round().max(1.0) as i64;
    let mut times: Vec<i64> = (1..=processors).map(time).collect();
    (1..times.len()).for_each(|at| times[at] = times[at].min(times[at - 1]));
    moldable(&times, Time::TICKS_PER_SECOND)
}

fn generated(kind: &str, count: usize, processors: u32, seed: u64) -> Case {
    let salt = u64::from(processors) << 8 | count as u64;
    let mut rng = ChaCha8Rng::seed_from_u64(seed << 32 | salt << 8 | kind.len() as u64);
    let mut jobs = Vec::new();
    for _ in 0..count {
        let mut job = match kind {
            "seq" => rigid(1, rng.random_range(5..=100), &[]),
            "rigid" => rigid(rng.random_range(1..=processors), rng.random_range(5..=60), &[]),
            _ => by_law(&mut rng, processors),
        };
        job.weight = rng.random_range(1..=10) * 1_000_000;
        job.release = if kind == "release" { rng.random_range(0..=40) } else { 0 };
        jobs.push(job);
    }
    let mut edges = Vec::new();
    if kind == "graph" {
        for to in 1..count {
            edges.extend((0..to).filter(|_| rng.random_bool(2.0 / count as f64)).map(|from| (from, to)));
        }
    }
    let name = format!("{kind}-{count}-{processors}-{seed}");
    let kind = format!("{kind} {count} {processors}");
    Case { name, kind, unit: Time::TICKS_PER_SECOND, supplies: vec![processors.into()], jobs, edges }
}

/// Returns the instance of the first plan in README.md. The times of one job follow Amdahl's law, so these times are
/// not multiples of 10 ms.
fn readme() -> Case {
    let unit = Time::TICKS_PER_SECOND / 100;
    let table = |one: i64, two: i64| moldable(&[one, two], unit);
    let law = Profile::law(Time::from_ticks(202 * unit), SpeedupLaw::Amdahl { serial: 0.01 }, 1, 2);
    let profile = law.expect("the law is valid");
    let modes = (1..=2_u32).map(|width| {
        let time = -(-profile.time(width).ticks()).div_euclid(unit);
        CaseMode { time, amounts: vec![width.into()] }
    });
    let by_law = CaseJob { release: 0, weight: 1_000_000, modes: modes.collect(), profile: profile.clone() };
    let profile = Profile::rigid(2, Time::from_ticks(59 * unit)).expect("the time is positive");
    let wide = CaseJob { profile, modes: vec![CaseMode { time: 59, amounts: vec![2] }], ..table(1, 1) };
    let jobs = vec![
        (2.0, 0, table(314, 158)),
        (3.0, 0, table(82, 46)),
        (1.0, 0, table(205, 103)),
        (2.0, 0, table(63, 32)),
        (1.0, 0, by_law),
        (1.5, 0, moldable(&[101], unit)),
        (4.0, 0, wide),
        (5.0, 100, table(121, 61)),
    ];
    let job = |(weight, release, job)| CaseJob { release, weight: (weight * 1e6) as u64, ..job };
    let jobs = jobs.into_iter().map(job).collect();
    Case { name: "readme".into(), kind: "readme".into(), unit, supplies: vec![2], jobs, edges: vec![] }
}

/// Reads a project in Patterson's format. Only the activities at the beginning and at the end of the project may have
/// no duration.
fn project(path: &Path, kind: &str) -> Result<Case, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next().ok_or("the file ends early")?.map_err(|error| error.to_string());
    let (count, resources) = (next()? as usize, next()? as usize);
    let mut supplies = vec![count as u64];
    for _ in 0..resources {
        supplies.push(next()?);
    }
    let (mut jobs, mut edges) = (Vec::new(), Vec::new());
    for number in 0..count {
        let time = next()? as i64;
        let needs = (0..resources).map(|_| next()).collect::<Result<Vec<u64>, _>>()?;
        let successors = next()? as usize;
        for _ in 0..successors {
            edges.push((number, next()? as usize - 1));
        }
        jobs.push((time, needs));
    }
    let is_dummy = |number: usize| jobs[number].0 == 0;
    if (1..count - 1).any(is_dummy) {
        return Err("an activity within the project has no duration".into());
    }
    let edges = edges.into_iter().filter(|&(from, to)| !is_dummy(from) && !is_dummy(to));
    let edges = edges.map(|(from, to)| (from - 1, to - 1)).collect();
    let jobs = jobs[1..count - 1].iter().map(|(time, needs)| rigid(1, *time, needs)).collect();
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Case { name, kind: kind.into(), unit: Time::TICKS_PER_SECOND, supplies, jobs, edges })
}

/// Reads projects of PSPLIB with a known optimum. From j30, reads all of these projects. From j60 and from j120, reads
/// up to 30 projects, and skips projects if the optimum equals the length of the critical path.
fn projects(group: &str, data: &Path) -> Result<Vec<Case>, Box<dyn std::error::Error>> {
    let table = data.join("best.csv");
    let table = std::fs::read_to_string(&table)
        .map_err(|error| format!("{}: {error}; name the folder of PSPLIB with --data", table.display()))?;
    let mut names = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let is_hard = group == "j30" || fields[1] != fields[3];
        let path = data.join(group).join(format!("{}.rcp", fields[0]));
        if fields[0].starts_with(&format!("{group}_")) && fields[2] == fields[3] && is_hard && path.exists() {
            names.push(path);
        }
    }
    let step = if group == "j30" { 1 } else { names.len().div_ceil(30).max(1) };
    names.iter().step_by(step).map(|path| project(path, group)).collect()
}

/// Returns the instances of a group, each with the objectives to minimise.
pub fn of_group(group: &str, seeds: &std::ops::Range<u64>, data: &Path) -> Result<Cases, Box<dyn std::error::Error>> {
    let kinds = ["seq", "rigid", "moldable", "release"];
    let mut cases: Cases = Vec::new();
    match group {
        "small" => {
            for kind in kinds {
                for (count, processors) in [(6, 4), (10, 4), (10, 16), (12, 8)] {
                    cases.extend(seeds.clone().map(|seed| (generated(kind, count, processors, seed), BOTH)));
                }
            }
        }
        "twenty" => {
            for kind in kinds {
                cases.extend(seeds.clone().map(|seed| (generated(kind, 20, 8, seed), BOTH)));
            }
        }
        "graphs" => {
            for count in [8, 10, 12, 15] {
                for processors in [4, 8] {
                    cases.extend(seeds.clone().map(|seed| (generated("graph", count, processors, seed), MAKESPAN)));
                }
            }
        }
        "readme" => cases.push((readme(), BOTH)),
        "j30" | "j60" | "j120" => cases.extend(projects(group, data)?.into_iter().map(|case| (case, MAKESPAN))),
        _ => return Err(format!("unknown group {group}").into()),
    }
    Ok(cases)
}

impl Case {
    pub fn instance(&self) -> Instance {
        let names: Vec<String> = (1..self.supplies.len()).map(|number| format!("r{number}")).collect();
        let amounts = names.iter().map(String::as_str).zip(self.supplies[1..].iter().copied());
        let licences = Resources::new(amounts).expect("the names differ");
        let processors = self.supplies[0] as u32;
        let platform = Platform::flat(processors).and_then(|platform| platform.with_licences(licences));
        let job = |(number, job): (usize, &CaseJob)| {
            let before = self.edges.iter().filter(|edge| edge.1 == number).map(|edge| edge.0.to_string());
            let needs = names.iter().map(String::as_str).zip(&job.modes[0].amounts[1..]);
            let needs = Needs::new(needs.map(|(name, &amount)| (name, Need::whole(amount)))).expect("the names differ");
            let weight = Weight::from_millionths(job.weight).expect("the weight is small");
            let own = Job::new(number.to_string(), job.profile.clone()).with_needs(needs).with_weight(weight);
            own.with_release(Time::from_ticks(job.release * self.unit)).with_after(before)
        };
        let jobs = self.jobs.iter().enumerate().map(job).collect();
        Instance::new(platform.expect("the platform is valid"), jobs, vec![]).expect("the instance is valid")
    }
}
