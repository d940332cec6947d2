//! Compares the starts that the forecast of a queue predicts with the starts in a simulation of the policy `slurm`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use makespan_core::{Actual, Outcome, Profile, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{ClusterOutput, Queue, QueueJob, Texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn recorded(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("queue-{version}"))
}

/// Random numbers.
struct Draws(ChaCha8Rng);

impl Draws {
    fn below(&mut self, count: u64) -> u64 {
        self.0.random_range(0..count)
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

/// Number of rules in [`random`].
const RULES: u32 = 18;

/// Draws a random queue. The bits of `rules` state which rules occur in the queue. Bit 0: several processors per node.
/// Bit 1: memory. Bit 2: a second partition. Bit 3: features. Bit 4: weights of nodes. Bit 5: arrays. Bit 6:
/// dependencies. Bit 7: `--time-min`. Bit 8: deadlines. Bit 9: licences. Bit 10: limits of QOS. Bit 11: reservations.
/// Bit 12: ranges of nodes. Bit 13: whole nodes. Bit 14: GPUs. Bit 15: jobs that become eligible later. Bit 16:
/// excluded and required nodes. Bit 17: parameters of the scheduler.
struct RandomQueue {
    draws: Draws,
    rules: u32,
    nodes: u64,
    cores: u64,
    /// Number of nodes in the first partition. The second partition has all other nodes.
    split: u64,
    /// Number of free processors of each node.
    free: Vec<u64>,
}

pub(super) fn random(seed: u64, rules: u32) -> Queue {
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(seed));
    let nodes = 2 + draws.below(10);
    let cores = if rules & 1 == 1 { draws.of(&[2, 4, 8]) } else { 1 };
    let split = if rules & 4 == 4 { 1 + draws.below(nodes - 1) } else { nodes };
    RandomQueue { draws, rules, nodes, cores, split, free: vec![cores; nodes as usize] }.queue()
}

impl RandomQueue {
    fn has(&self, bit: u32) -> bool {
        self.rules >> bit & 1 == 1
    }

    fn queue(mut self) -> Queue {
        let jobs = self.running() + &self.pending();
        let nodes = self.node_records();
        let mut partitions = format!("PartitionName=p State=UP MaxTime=UNLIMITED Nodes=n[0-{}]\n", self.split - 1);
        if self.has(2) {
            let (first, last, tier) = (self.split, self.nodes - 1, self.draws.of(&[1, 2]));
            partitions +=
                &format!("PartitionName=q State=UP PriorityTier={tier} MaxTime=UNLIMITED Nodes=n[{first}-{last}]\n");
        }
        let configuration = self.configuration();
        let mut all = Texts::default()
            .with(ClusterOutput::Nodes, nodes)
            .with(ClusterOutput::Jobs, jobs)
            .with(ClusterOutput::Partitions, partitions)
            .with(ClusterOutput::Config, configuration);
        if self.has(9) {
            all = all.with(ClusterOutput::Licences, "LicenseName=tool Total=2 Used=0 Free=2 Reserved=0 Remote=no\n");
        }
        if self.has(10) {
            all = all.with(
                ClusterOutput::Limits,
                "QOS=normal(1) GrpJobs=N(0) MaxWallPJ= \n    User Limits\n\
                 QOS=few(2) GrpJobs=2(0) MaxWallPJ= \n    User Limits\n\
                 QOS=small(3) GrpJobs=N(0) GrpTRES=cpu=4(0) MaxWallPJ= \n    User Limits\n",
            );
        }
        if self.has(11) {
            all = all.with(ClusterOutput::Reservations, self.reservation());
        }
        all.queue(Some(NOW as i64)).unwrap()
    }

    fn qos(&mut self) -> &'static str {
        if self.has(10) { self.draws.of(&["normal", "few", "small"]) } else { "normal" }
    }

    fn running(&mut self) -> String {
        let mut jobs = String::new();
        for id in 1..=self.draws.below(self.nodes * 2) {
            let node = self.draws.below(self.nodes);
            let cpus = 1 + self.draws.below(self.cores);
            let ran = self.draws.below(3000);
            let limit = 60 * (1 + ran / 60 + self.draws.below(90));
            let quality = self.qos();
            if self.free[node as usize] < cpus {
                continue;
            }
            self.free[node as usize] -= cpus;
            let partition = if node < self.split { "p" } else { "q" };
            jobs += &format!(
                "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={quality} Priority=1 JobState=RUNNING StartTime={} RunTime={} \
                 TimeLimit={} Partition={partition} NodeList=n{node} NumNodes=1 NumCPUs={cpus} MinMemoryCPU=1000M \
                 ReqTRES=cpu={cpus},node=1,billing={cpus}\n",
                self.draws.below(4),
                self.draws.below(3),
                NOW - ran,
                clock(ran),
                clock(limit),
            );
        }
        jobs
    }

    fn pending(&mut self) -> String {
        (100..101 + self.draws.below(20)).map(|id| self.pending_job(id)).collect()
    }

    fn pending_job(&mut self, id: u64) -> String {
        let partition = if self.has(2) { self.draws.of(&["p", "q", "p,q"]) } else { "p" };
        let there = match partition {
            "p" => self.split,
            "q" => self.nodes - self.split,
            _ => self.split.min(self.nodes - self.split),
        };
        let least = 1 + if self.draws.one_in(2) { 0 } else { self.draws.below(there.min(4)) };
        let most = if self.has(12) && self.draws.one_in(3) { least + self.draws.below(3) } else { least };
        // With one processor and a range of nodes, Slurm gives a processor on each node, and the simulation does not.
        let cpus = (least * (1 + self.draws.below(self.cores))).max(1 + u64::from(most > least));
        let limit = 60 * (1 + self.draws.below(120));
        let mut more = self.conditions(id, limit);
        // The simulation divides the GPUs of a job in proportion to its processors. Slurm gives each node an equal
        // number.
        if self.has(14) && most == 1 && self.draws.one_in(3) {
            more += " TresPerNode=gres:gpu:1";
        }
        let memory = if self.has(1) { self.draws.of(&[500, 1000, 2000]) } else { 100 };
        let quality = self.qos();
        format!(
            "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={quality} Priority={} JobState=PENDING SubmitTime=10 TimeLimit={} \
             Partition={partition} NumNodes={least}-{most} NumCPUs={cpus} MinCPUsNode=1 MinMemoryCPU={memory}M \
             ReqTRES=cpu={cpus},node={least},billing={cpus}{more}\n",
            self.draws.below(4),
            self.draws.below(3),
            // Priorities differ, because ties are broken by different times.
            (1 + self.draws.below(1000)) * 100 + id % 100,
            clock(limit),
        )
    }

    fn conditions(&mut self, id: u64, limit: u64) -> String {
        let mut more = String::new();
        if self.has(3) && self.draws.one_in(3) {
            more += self.draws.of(&[" Features=a", " Features=b", " Features=a|b"]);
        }
        if self.has(5) && self.draws.one_in(4) {
            more += &format!(" ArrayJobId={id} ArrayTaskId=0-{}%{}", self.draws.of(&[3, 30]), 1 + self.draws.below(3));
        }
        if self.has(6) && id > 100 && self.draws.one_in(4) {
            // In a simulation, a job never starts if it waits for a cancelled job. So if deadlines cancel jobs, jobs
            // wait only for the success of other jobs.
            let condition = if self.has(8) { "ok" } else { self.draws.of(&["any", "ok"]) };
            more += &format!(" Dependency=after{condition}:{}(unfulfilled)", 100 + self.draws.below(id - 100));
        }
        if self.has(7) && self.draws.one_in(4) {
            more += &format!(" TimeMin={}", clock(60 * (1 + self.draws.below(limit / 60))));
        }
        if self.has(8) && self.draws.one_in(4) {
            more += &format!(" Deadline={}", NOW + limit + self.draws.below(7200));
        }
        if self.has(9) && self.draws.one_in(3) {
            more += &format!(" Licenses=tool:{}", 1 + self.draws.below(2));
        }
        if self.has(11) && self.draws.one_in(5) {
            more += " Reservation=mine";
        }
        if self.has(13) && self.draws.one_in(4) {
            more += " OverSubscribe=NO";
        }
        if self.has(15) && self.draws.one_in(3) {
            more += &format!(" EligibleTime={}", NOW + self.draws.below(3600));
        }
        if self.has(16) && self.draws.one_in(4) {
            more += &format!(" ExcNodeList=n{}", self.draws.below(self.nodes));
        }
        more
    }

    fn node_records(&mut self) -> String {
        let mut texts = String::new();
        for at in 0..self.nodes {
            let partition = if at < self.split { "p" } else { "q" };
            let features = if self.has(3) { self.draws.of(&["a", "b", "a,b", "c"]) } else { "c" };
            let weight = if self.has(4) { 1 + self.draws.below(4) } else { 1 };
            let (cores, alloc) = (self.cores, self.cores - self.free[at as usize]);
            let gres = if self.has(14) { " Gres=gpu:2" } else { "" };
            texts += &format!(
                "NodeName=n{at} CPUTot={cores} CPUAlloc={alloc} RealMemory={} State={} ActiveFeatures={features} Weight={weight} \
                 Partitions={partition}{gres}\n",
                cores * 1500,
                if alloc == 0 { "IDLE" } else { "MIXED" },
            );
        }
        texts
    }

    fn configuration(&mut self) -> String {
        let parameters = if self.has(17) {
            format!(
                "bf_interval={},bf_max_job_test={},default_queue_depth={},bf_window={},bf_min_prio_reserve={}",
                self.draws.of(&[1, 30, 60]),
                self.draws.of(&[3, 10, 1000]),
                self.draws.of(&[2, 5, 100]),
                self.draws.of(&[10, 60, 1440]),
                self.draws.of(&[0, 30_000])
            )
        } else {
            "bf_interval=30".into()
        };
        let memory = if self.has(1) { "_MEMORY" } else { "" };
        format!(
            "SelectType = select/cons_tres\nSelectTypeParameters = CR_CPU{memory}\nSchedulerType = sched/backfill\n\
             SchedulerParameters = {parameters}\nPriorityType = priority/basic\n"
        )
    }

    fn reservation(&mut self) -> String {
        let from = NOW + self.draws.below(3600);
        let (name, until) = (self.draws.of(&["mine", "other"]), from + 1800 + self.draws.below(7200));
        let last = self.draws.below(self.nodes);
        format!(
            "ReservationName={name} StartTime={from} EndTime={until} Nodes=n[0-{last}] Users=u0,u1,u2 State=INACTIVE\n"
        )
    }
}

/// Returns the starts of the pending jobs by both engines, in seconds after the instant of the queue.
pub(super) fn starts(queue: &Queue, times: RunTimes, spec: &str) -> Vec<(String, Option<i64>, Option<i64>)> {
    let options = ForecastOptions { draws: 0, times, ..ForecastOptions::default() };
    let told = forecast(queue, &options);
    let present = queue.present().unwrap();
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
        (name, one.outlook.start.map(|start| start - queue.now), began.get(&one.job).copied())
    });
    found.collect()
}

/// Differences between the starts of both engines over random queues.
#[derive(Default)]
struct Comparison {
    compared: usize,
    different: usize,
    started_by_one: usize,
    /// Sum of the absolute differences, and the maximum, in seconds.
    sum: i64,
    most: i64,
    /// The first difference: seed, job, start by the forecast, start by the simulation.
    first: Option<(u64, String, Option<i64>, Option<i64>)>,
}

impl Comparison {
    fn of(rules: u32, rounds: u64) -> Self {
        let mut all = Self::default();
        for seed in 0..rounds {
            let queue = random(seed * 7919 + 13, rules);
            for one in starts(&queue, RunTimes::Usual, &queue.policy_spec(&[])) {
                all.add(seed, one);
            }
        }
        all
    }

    fn add(&mut self, seed: u64, (name, told, simulated): (String, Option<i64>, Option<i64>)) {
        match (told, simulated) {
            (Some(one), Some(two)) => {
                self.compared += 1;
                self.different += usize::from(one != two);
                self.sum += (one - two).abs();
                self.most = self.most.max((one - two).abs());
            }
            (None, None) => {}
            _ => self.started_by_one += 1,
        }
        if told != simulated {
            self.first.get_or_insert((seed, name, told, simulated));
        }
    }
}

/// Returns sets of rules: none, several processors per node, each other rule with several processors per node, limits
/// with whole nodes, and all rules.
fn rule_sets() -> impl Iterator<Item = u32> {
    [0, 1].into_iter().chain((1..RULES).map(|bit| 1 | 1 << bit)).chain([1 | 1 << 10 | 1 << 13, (1 << RULES) - 1])
}

fn agree(rounds: u64) {
    for rules in rule_sets() {
        let found = Comparison::of(rules, rounds);
        assert!(found.first.is_none(), "rules {rules:#b}: {:?}", found.first);
    }
}

#[test]
fn the_forecast_and_the_simulation_start_jobs_at_the_same_instants() {
    agree(20);
}

#[test]
#[ignore = "long: it compares many random queues"]
fn the_forecast_and_the_simulation_agree_on_many_queues() {
    agree(1000);
}

#[test]
fn the_forecast_and_the_simulation_agree_on_recorded_queues() {
    for version in ["22.05", "24.11", "26.05"] {
        let mut queue = Queue::from_folder(&recorded(version), None).unwrap();
        // The simulation starts the components of a heterogeneous job one by one, and treats a range of nodes for one
        // processor as one node.
        let has_range = |job: &QueueJob| job.request.max_nodes.is_some_and(|most| most > job.request.min_nodes);
        let is_left_out = |job: &QueueJob| job.run.is_none() && (job.together.is_some() || has_range(job));
        let gone: Vec<u64> = queue.jobs.iter().filter(|job| is_left_out(job)).map(|job| job.id).collect();
        queue.jobs.retain(|job| !is_left_out(job));
        queue.jobs.iter_mut().for_each(|job| job.waits_for.retain(|other| !gone.contains(&other.job)));
        let found = starts(&queue, RunTimes::Learned, &queue.policy_spec(&[]));
        let different: Vec<_> = found.iter().filter(|one| one.1 != one.2).collect();
        assert!(different.is_empty(), "{version}: {different:?}");
    }
}

/// Prints the share of starts that differ, for each set of rules. The environment variable `ROUNDS` is the number of
/// queues, `RULES` selects one set, and `SHOW` prints the queue with this seed.
#[test]
#[ignore = "long: it is a measurement"]
fn measure() {
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let sets = match variable("RULES") {
        Some(only) => vec![only as u32],
        None => rule_sets().collect(),
    };
    for rules in sets {
        if let Some(seed) = variable("SHOW") {
            show(&random(seed * 7919 + 13, rules));
            continue;
        }
        let Comparison { compared, different, started_by_one, sum, most, first } =
            Comparison::of(rules, variable("ROUNDS").unwrap_or(100));
        println!(
            "rules {rules:#020b}: {different} of {compared} starts differ ({:.1} %), mean {:.1} s, maximum {most} s, started by one engine \
             only {started_by_one}, first {first:?}",
            100.0 * different as f64 / compared.max(1) as f64,
            sum as f64 / compared.max(1) as f64
        );
    }
}

fn show(queue: &Queue) {
    println!("{} {:?}", queue.policy_spec(&[]), queue.present().unwrap().remarks);
    queue.nodes.iter().for_each(|node| println!("{} {:?} {}", node.name, node.features, node.weight));
    for kept in &queue.reservations {
        println!("{} {} {} {:?}", kept.name, kept.start - queue.now, kept.end - queue.now, kept.nodes);
    }
    for job in &queue.jobs {
        println!("{} {} {:?} {:?} {:?}", job.shown, job.priority, job.limit, job.partitions, job.request);
        println!("  {:?} {:?} {:?} {:?} {:?}", job.waits_for, job.qos, job.deadline, job.eligible, job.run);
    }
    for (name, told, simulated) in starts(queue, RunTimes::Usual, &queue.policy_spec(&[])) {
        println!("{name} {told:?} {simulated:?}");
    }
}
