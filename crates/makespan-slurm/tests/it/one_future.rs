//! Compares the starts that the forecast of a queue predicts with the starts in a simulation of the policy `slurm`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use makespan_core::{Actual, Outcome, Profile, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{ClusterOutput, Queue, Texts};

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("queue-{version}"))
}

/// A random generator with one word of state (`SplitMix64`; Steele, Lea and Flood, OOPSLA 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

fn clock(seconds: u64) -> String {
    format!("{}-{:02}:{:02}:{:02}", seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

const NOW: u64 = 1_000_000;

/// The rules that occur in a random queue, as bits. Bit 0: several processors per node. Bit 1: memory. Bit 2: a second
/// partition. Bit 3: features. Bit 4: weights of nodes. Bit 5: arrays. Bit 6: dependencies. Bit 7: `--time-min`. Bit
/// 8: deadlines. Bit 9: licences. Bit 10: limits of QOS. Bit 11: reservations. Bit 12: ranges of nodes. Bit 13: whole
/// nodes. Bit 14: GPUs. Bit 15: jobs that become eligible later. Bit 16: excluded and required nodes. Bit 17:
/// parameters of the scheduler.
fn random(seed: u64, rules: u32) -> Queue {
    let mut draws = Draws(seed);
    let has = |bit: u32| rules >> bit & 1 == 1;
    let nodes = 2 + draws.below(10);
    let cores = if has(0) { draws.of(&[2, 4, 8]) } else { 1 };
    let split = if has(2) { 1 + draws.below(nodes - 1) } else { nodes };
    let mut free: Vec<u64> = vec![cores; nodes as usize];
    let mut jobs = String::new();
    let qos = |draws: &mut Draws| if has(10) { draws.of(&["normal", "few", "small"]) } else { "normal" };
    for id in 1..=draws.below(nodes * 2) {
        let node = draws.below(nodes);
        let cpus = 1 + draws.below(cores);
        let ran = draws.below(3000);
        let limit = 60 * (1 + ran / 60 + draws.below(90));
        let quality = qos(&mut draws);
        if free[node as usize] < cpus {
            continue;
        }
        free[node as usize] -= cpus;
        let partition = if node < split { "p" } else { "q" };
        jobs += &format!(
            "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={quality} Priority=1 JobState=RUNNING StartTime={} RunTime={} \
             TimeLimit={} Partition={partition} NodeList=n{node} NumNodes=1 NumCPUs={cpus} MinMemoryCPU=1000M \
             ReqTRES=cpu={cpus},node=1,billing={cpus}\n",
            draws.below(4),
            draws.below(3),
            NOW - ran,
            clock(ran),
            clock(limit),
        );
    }
    for id in 100..101 + draws.below(20) {
        let partition = if has(2) { draws.of(&["p", "q", "p,q"]) } else { "p" };
        let there = match partition {
            "p" => split,
            "q" => nodes - split,
            _ => split.min(nodes - split),
        };
        let least = 1 + if draws.one_in(2) { 0 } else { draws.below(there.min(4)) };
        let most = if has(12) && draws.one_in(3) { least + draws.below(3) } else { least };
        let cpus = least * (1 + draws.below(cores));
        let limit = 60 * (1 + draws.below(120));
        let mut more = String::new();
        if has(3) && draws.one_in(3) {
            more += draws.of(&[" Features=a", " Features=b", " Features=a|b"]);
        }
        if has(5) && draws.one_in(4) {
            more += &format!(" ArrayJobId={id} ArrayTaskId=0-3%{}", 1 + draws.below(3));
        }
        if has(6) && id > 100 && draws.one_in(4) {
            more +=
                &format!(" Dependency=after{}:{}(unfulfilled)", draws.of(&["any", "ok"]), 100 + draws.below(id - 100));
        }
        if has(7) && draws.one_in(4) {
            more += &format!(" TimeMin={}", clock(60 * (1 + draws.below(limit / 60))));
        }
        if has(8) && draws.one_in(4) {
            more += &format!(" Deadline={}", NOW + limit + draws.below(7200));
        }
        if has(9) && draws.one_in(3) {
            more += &format!(" Licenses=tool:{}", 1 + draws.below(2));
        }
        if has(11) && draws.one_in(5) {
            more += " Reservation=mine";
        }
        if has(13) && draws.one_in(4) {
            more += " OverSubscribe=NO";
        }
        if has(14) && draws.one_in(3) {
            more += " TresPerNode=gres:gpu:1";
        }
        if has(15) && draws.one_in(3) {
            more += &format!(" EligibleTime={}", NOW + draws.below(3600));
        }
        if has(16) && draws.one_in(4) {
            more += &format!(" ExcNodeList=n{}", draws.below(nodes));
        }
        let memory = if has(1) { draws.of(&[500, 1000, 2000]) } else { 100 };
        jobs += &format!(
            "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={} Priority={} JobState=PENDING SubmitTime=10 TimeLimit={} \
             Partition={partition} NumNodes={least}-{most} NumCPUs={cpus} MinCPUsNode=1 MinMemoryCPU={memory}M \
             ReqTRES=cpu={cpus},node={least},billing={cpus}{more}\n",
            draws.below(4),
            draws.below(3),
            qos(&mut draws),
            // Priorities differ, because ties are broken by different times.
            (1 + draws.below(1000)) * 100 + id % 100,
            clock(limit),
        );
    }
    let mut texts = String::new();
    for at in 0..nodes {
        let partition = if at < split { "p" } else { "q" };
        let features = if has(3) { draws.of(&["a", "b", "a,b", "c"]) } else { "c" };
        let weight = if has(4) { 1 + draws.below(4) } else { 1 };
        let alloc = cores - free[at as usize];
        let gres = if has(14) { " Gres=gpu:2" } else { "" };
        texts += &format!(
            "NodeName=n{at} CPUTot={cores} CPUAlloc={alloc} RealMemory={} State={} ActiveFeatures={features} Weight={weight} \
             Partitions={partition}{gres}\n",
            cores * 1500,
            if alloc == 0 { "IDLE" } else { "MIXED" },
        );
    }
    let mut partitions = format!("PartitionName=p State=UP MaxTime=UNLIMITED Nodes=n[0-{}]\n", split - 1);
    if has(2) {
        partitions += &format!("PartitionName=q State=UP MaxTime=UNLIMITED Nodes=n[{split}-{}]\n", nodes - 1);
    }
    let parameters = if has(17) {
        format!(
            "bf_interval={},bf_max_job_test={},default_queue_depth={},bf_window={}",
            draws.of(&[1, 30, 60]),
            draws.of(&[3, 10, 1000]),
            draws.of(&[2, 5, 100]),
            draws.of(&[10, 60, 1440])
        )
    } else {
        "bf_interval=30".into()
    };
    let memory = if has(1) { "_MEMORY" } else { "" };
    let configuration = format!(
        "SelectType = select/cons_tres\nSelectTypeParameters = CR_CPU{memory}\nSchedulerType = sched/backfill\n\
         SchedulerParameters = {parameters}\nPriorityType = priority/basic\n"
    );
    let mut all = Texts::default()
        .with(ClusterOutput::Nodes, texts)
        .with(ClusterOutput::Jobs, jobs)
        .with(ClusterOutput::Partitions, partitions)
        .with(ClusterOutput::Config, configuration);
    if has(9) {
        all = all.with(ClusterOutput::Licences, "LicenseName=tool Total=2 Used=0 Free=2 Reserved=0 Remote=no\n");
    }
    if has(10) {
        all = all.with(
            ClusterOutput::Limits,
            "QOS=normal(1) GrpJobs=N(0) MaxWallPJ= \n    User Limits\n\
             QOS=few(2) GrpJobs=2(0) MaxWallPJ= \n    User Limits\n\
             QOS=small(3) GrpJobs=N(0) GrpTRES=cpu=4(0) MaxWallPJ= \n    User Limits\n",
        );
    }
    if has(11) {
        let from = NOW + draws.below(3600);
        let name = draws.of(&["mine", "other"]);
        let reservations = format!(
            "ReservationName={name} StartTime={from} EndTime={} Nodes=n[0-{}] Users=u0,u1,u2 State=INACTIVE\n",
            from + 1800 + draws.below(7200),
            draws.below(nodes)
        );
        all = all.with(ClusterOutput::Reservations, reservations);
    }
    all.queue(Some(NOW as i64)).unwrap()
}

/// The starts of the pending jobs by both engines, in seconds after the instant of the queue.
fn starts(queue: &Queue, times: RunTimes, spec: &str) -> Option<Vec<(String, Option<i64>, Option<i64>)>> {
    let options = ForecastOptions { draws: 0, times, ..ForecastOptions::default() };
    let told = forecast(queue, &options);
    let present = queue.present().ok()?;
    let mut lasts: HashMap<usize, i64> = told.expected.iter().map(|one| (one.job, one.lasts)).collect();
    lasts.extend(told.ends.iter().map(|&(job, end)| (job, end - queue.now)));
    let instance = &present.instance;
    let real = |(task, job): (_, &usize)| {
        let width = instance.profile(task).min_processors();
        Profile::rigid(width, Time::from_seconds(lasts[job].max(1))).unwrap()
    };
    let actual = Actual::Profiles(instance.task_ids().zip(&present.jobs).map(real).collect());
    let mut policy = makespan_algos::policy::policy(spec, 1).unwrap();
    let options = SimulationOptions { running: present.running.clone(), ..SimulationOptions::default() };
    let simulation = simulate(instance, &actual, policy.as_mut(), &options, &mut Silent).unwrap();
    let began: HashMap<usize, i64> = simulation
        .trace
        .runs
        .iter()
        .filter(|run| run.outcome != Outcome::NotStarted)
        .map(|run| (present.jobs[run.task.0 as usize], run.start.seconds() as i64))
        .collect();
    let found = told.expected.iter().map(|one| {
        let name = queue.jobs[one.job].shown.clone();
        (name, one.start.map(|start| start - queue.now), began.get(&one.job).copied())
    });
    Some(found.collect())
}

#[test]
#[ignore = "measurement"]
fn measure() {
    let rounds: u64 = std::env::var("ROUNDS").map_or(200, |text| text.parse().unwrap());
    let only: Option<u32> = std::env::var("RULES").ok().map(|text| text.parse().unwrap());
    let verbose = std::env::var("SHOW").is_ok();
    let mut sets: Vec<u32> = vec![0, 1];
    sets.extend((1..18).map(|bit| 1 | 1 << bit));
    sets.push((1 << 18) - 1);
    if let Some(only) = only {
        sets = vec![only];
    }
    for rules in sets {
        let (mut all, mut other, mut sum, mut most, mut one_only, mut queues, mut refused) = (0, 0, 0, 0, 0, 0, 0);
        for seed in 0..rounds {
            let queue = random(seed * 7919 + 13, rules);
            let Some(found) = starts(&queue, RunTimes::Usual, &queue.policy_spec(&[])) else {
                refused += 1;
                continue;
            };
            if std::env::var("ONE").is_ok_and(|one| one == seed.to_string()) {
                for kept in &queue.reservations {
                    println!("prio {} {} {} {:?}", kept.name, kept.start - queue.now, kept.end - queue.now, kept.nodes);
                }
                for (at, job) in queue.jobs.iter().enumerate() {
                    let found = found.iter().find(|one| one.0 == job.shown).map(|one| (one.1, one.2));
                    let run = job.run.as_ref().map(|run| (run.started - queue.now, &run.holds));
                    println!(
                        "{at} {} prio {} limit {:?} nodes {}-{:?} cpus {} {:?} {run:?} -> {found:?}",
                        job.shown,
                        job.priority,
                        job.limit,
                        job.request.min_nodes,
                        job.request.max_nodes,
                        job.request.cpus,
                        job.partitions
                    );
                }
            }
            let mut differs = false;
            for (name, told, simulated) in &found {
                match (told, simulated) {
                    (Some(one), Some(two)) => {
                        all += 1;
                        other += usize::from(one != two);
                        sum += (one - two).abs();
                        most = most.max((one - two).abs());
                    }
                    (None, None) => {}
                    _ => one_only += 1,
                }
                if told != simulated && !differs {
                    differs = true;
                    if verbose {
                        println!("seed {seed}: {name} {told:?} {simulated:?} of {:?}", found.len());
                    }
                }
            }
            queues += usize::from(differs);
        }
        println!(
            "rules {rules:6} ({:2}): {other}/{all} starts differ ({:.1} %), mean {:.1} s, most {most} s, started by one only {one_only}, queues {queues}/{rounds}, refused {refused}",
            (rules >> 1).trailing_zeros() + 1,
            100.0 * other as f64 / all.max(1) as f64,
            sum as f64 / all.max(1) as f64
        );
    }
    for version in ["22.05", "24.11", "26.05"] {
        let queue = Queue::from_folder(&recorded(version), None).unwrap();
        let found = starts(&queue, RunTimes::Learned, &queue.policy_spec(&[])).unwrap();
        let differing = found.iter().filter(|one| one.1 != one.2).count();
        println!("{version}: {differing}/{}", found.len());
    }
}
