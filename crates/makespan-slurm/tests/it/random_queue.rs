//! Random queues of a cluster.

use makespan_slurm::queue::{ClusterOutput, Queue, Texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// The instant of the queues.
const NOW: u64 = 1_000_000;

/// Number of rules in [`random`] that the simulation has too.
pub(super) const RULES: u32 = 18;
/// The rule of limits on the remaining minutes of running jobs.
const MINUTES: u32 = 22;
/// The rule of nodes with different amounts of memory.
pub(super) const MEMORIES: u32 = 23;
/// Number of all rules in [`random`].
pub(super) const ALL_RULES: u32 = 24;

/// Draws a random queue. The bits of `rules` state which rules occur in the queue. Bit 0: several processors per node.
/// Bit 1: memory. Bit 2: a second partition. Bit 3: features. Bit 4: weights of nodes. Bit 5: arrays. Bit 6:
/// dependencies. Bit 7: `--time-min`. Bit 8: deadlines. Bit 9: licences. Bit 10: limits of QOS. Bit 11: reservations.
/// Bit 12: ranges of nodes. Bit 13: whole nodes. Bit 14: GPUs. Bit 15: jobs that become eligible later. Bit 16:
/// excluded and required nodes. Bit 17: parameters of the scheduler. Bit 18: held jobs. Bit 19: suspended jobs. Bit 20:
/// drained nodes. Bit 21: several dependencies, also on starts. Bit 22: limits on the remaining minutes of running jobs.
/// Bit 23: nodes with different amounts of memory, which without bit 1 the cluster does not allocate.
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
        if self.has(MINUTES) {
            all = all.with(
                ClusterOutput::Limits,
                "QOS=normal(1) GrpJobs=N(0) MaxWallPJ= \n    User Limits\n\
                 QOS=few(2) GrpJobs=3(0) MaxWallPJ= \n    User Limits\n\
                 QOS=small(3) GrpJobs=N(0) GrpTRESRunMins=cpu=200(0) MaxWallPJ= \n    User Limits\n",
            );
        } else if self.has(10) {
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
        if self.has(10) || self.has(MINUTES) { self.draws.of(&["normal", "few", "small"]) } else { "normal" }
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
            let state = if self.has(19) && self.draws.one_in(4) { "SUSPENDED" } else { "RUNNING" };
            jobs += &format!(
                "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={quality} Priority=1 JobState={state} StartTime={} RunTime={} \
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
        if self.has(16) && self.draws.one_in(4) {
            let (first, count) = (self.draws.below(self.nodes), 1 + self.draws.below(least));
            let names: Vec<String> = (first..first + count).map(|at| format!("n{}", at % self.nodes)).collect();
            more += &format!(" ReqNodeList={}", names.join(","));
        }
        let memory = if self.has(1) { self.draws.of(&[500, 1000, 2000]) } else { 100 };
        let memory = if self.has(MEMORIES) && !self.has(1) {
            format!("MinMemoryNode={}M", self.draws.of(&[1000, 2000, 5000, 20_000]))
        } else {
            format!("MinMemoryCPU={memory}M")
        };
        let quality = self.qos();
        format!(
            "JobId={id} JobName=r{} UserId=u{}(1) Account=a QOS={quality} Priority={} JobState=PENDING SubmitTime=10 TimeLimit={} \
             Partition={partition} NumNodes={least}-{most} NumCPUs={cpus} MinCPUsNode=1 {memory} \
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
            let condition = if self.has(8) { "ok" } else { self.draws.of(&["any", "ok", "singleton"]) };
            let other = 100 + self.draws.below(id - 100);
            more += &match condition {
                "singleton" => " Dependency=singleton(unfulfilled)".to_owned(),
                after => format!(" Dependency=after{after}:{other}(unfulfilled)"),
            };
        } else if self.has(21) && id > 100 && self.draws.one_in(3) {
            let of = |draws: &mut Draws| {
                let job = if draws.one_in(3) { 1 + draws.below(4) } else { 100 + draws.below(id - 100) };
                match draws.below(4) {
                    0 => format!("after:{job}+{}(unfulfilled)", draws.below(30)),
                    1 => format!("afterok:{job}(unfulfilled)"),
                    2 => format!("afterany:{job}(unfulfilled)"),
                    _ => "singleton(unfulfilled)".to_owned(),
                }
            };
            let all: Vec<String> = (0..=self.draws.below(3)).map(|_| of(&mut self.draws)).collect();
            more += &format!(" Dependency={}", all.join(self.draws.of(&[",", "?"])));
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
        if self.has(18) && self.draws.one_in(6) {
            more += self.draws.of(&[" Reason=JobHeldUser", " Reason=JobHeldAdmin"]);
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
            let memory = cores * if self.has(MEMORIES) { self.draws.of(&[500, 1500]) } else { 1500 };
            let gres = if self.has(14) { " Gres=gpu:2" } else { "" };
            let base = if alloc == 0 { "IDLE" } else { "MIXED" };
            let (flag, reason) =
                if self.has(20) && self.draws.one_in(4) { ("+DRAIN", " Reason=disk") } else { ("", "") };
            texts += &format!(
                "NodeName=n{at} CPUTot={cores} CPUAlloc={alloc} RealMemory={memory} State={base}{flag} ActiveFeatures={features} Weight={weight} \
                 Partitions={partition}{gres}{reason}\n",
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
