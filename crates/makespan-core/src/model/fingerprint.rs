//! Hashes of the content of an instance.

use sha2::{Digest, Sha256};

use crate::model::{
    Estimate, Instance, Job, Need, Node, Payload, PenaltyForm, Platform, Profile, Resource, Resources, Rows,
    SpeedupLaw, TaskId, Time,
};

/// Returns the SHA-256 hash, in hexadecimal, of all data that the instance states, except learned and guessed times and
/// amounts of memory.
/// All machines compute the same hash, and so do all program versions with the same version of the journal.
pub fn fingerprint(instance: &Instance) -> String {
    let mut fields = Fields(Sha256::new());
    // The word is added only for compact platforms, so that the hashes of other platforms are the same as in earlier
    // versions.
    fields.text(if instance.platform().is_compact() { "makespan instance 1, compact" } else { "makespan instance 1" });
    fields.platform(instance.platform());
    fields.number(instance.tasks());
    for job in instance.jobs() {
        for task in job.task_ids() {
            fields.task(instance, job, task);
            // A field is added only for best-effort bags, so that the fingerprints of other jobs are the same as in
            // earlier versions.
            if job.is_best_effort() {
                fields.text("bag");
                fields.number(1);
            }
        }
    }
    fields.unavailable(instance);
    if instance.has_compound_jobs() || instance.has_edges_between_jobs() {
        fields.text("precedence");
        let different = instance.different_task_ids();
        for dependence in different.flat_map(|task| instance.incoming(task)) {
            fields.number(dependence.to.0);
            fields.number(dependence.from.0);
        }
    }
    fields.hex()
}

/// Returns the SHA-256 hash, in hexadecimal, of all data that can change a plan of the instance or its value. In contrast to
/// [`fingerprint`], the hash includes due dates, penalties and the data that tasks transfer, and takes O(distinct tasks + edges).
/// Learned and guessed times and amounts of memory are excluded.
pub fn instance_hash(instance: &Instance) -> String {
    let mut fields = Fields(Sha256::new());
    fields.text("makespan plan 1");
    fields.kinds(instance.platform());
    fields.number(instance.jobs().len() as u64);
    for job in instance.jobs() {
        fields.text(&job.name);
        fields.number(job.tasks());
        fields.number(u64::from(job.is_bag()));
        fields.number(u64::from(job.is_compound()));
        fields.time(job.deadline.unwrap_or(Time::MAX));
        if let Some(must_end_by) = job.must_end_by {
            fields.text("must_end_by");
            fields.time(must_end_by);
        }
        if let Some(penalty) = &job.penalty {
            fields.text(match penalty.form() {
                PenaltyForm::Steps => "steps",
                PenaltyForm::Linear => "linear",
            });
            fields.number(penalty.points().len() as u64);
            for &(at, value) in penalty.points() {
                fields.time(at);
                fields.number(value.millionths());
            }
        }
        for task in job.different_task_ids() {
            if job.is_compound() {
                fields.text(&instance.short_name(task));
            }
            fields.task_without_name(instance, job, task);
            if let Some(family) = &instance.task(task).family {
                fields.text("family");
                fields.text(family);
            }
            if let Some(gang) = &instance.task(task).gang {
                fields.text("gang");
                fields.text(gang);
            }
            for lag in &instance.task(task).lags {
                fields.text("lag");
                fields.number(u64::from(lag.from));
                fields.number(lag.least.ticks() as u64);
            }
        }
    }
    fields.unavailable(instance);
    for setup in instance.platform().setups() {
        fields.text(setup.on.as_deref().unwrap_or("setup"));
        fields.text(&setup.from);
        fields.text(&setup.to);
        fields.time(setup.time);
    }
    for dependence in instance.different_task_ids().flat_map(|task| instance.incoming(task)) {
        fields.number(dependence.to.0);
        fields.number(dependence.from.0);
        match dependence.payload {
            Payload::Bytes(bytes) => fields.number(bytes),
            Payload::Fixed(time) => {
                fields.text("fixed");
                fields.time(time);
            }
        }
    }
    fields.hex()
}

/// Returns two hashes for each distinct task, except the first `count` distinct tasks. `known` returns the first hash
/// of each excepted task.
///
/// The first hash includes everything that can affect the result of the task: the command, the GPUs, the allotments if
/// the command contains them, and the first hashes of the tasks before it. The second hash includes everything that is
/// stated about the task. This includes data that only affect when and where the task runs: the estimated time, the
/// time limit, the weight and the memory.
pub fn task_digests<'a>(instance: &Instance, count: usize, known: impl Fn(usize) -> &'a str) -> Vec<(String, String)> {
    let mut digests: Vec<Option<(String, String)>> = vec![None; instance.different_tasks() - count];
    let mut open: Vec<TaskId> = instance.different_task_ids_from(count).collect();
    open.reverse();
    let before = |task: TaskId| instance.incoming(task).map(|edge| instance.different(edge.from));
    while let Some(&task) = open.last() {
        let is_missing = |from: &usize| *from >= count && digests[*from - count].is_none();
        let missing: Vec<TaskId> = instance
            .incoming(task)
            .filter(|edge| is_missing(&instance.different(edge.from)))
            .map(|edge| edge.from)
            .collect();
        let number = instance.different(task) - count;
        if digests[number].is_some() || missing.is_empty() {
            open.pop();
            let input = |from: usize| match from.checked_sub(count) {
                Some(new) => digests[new].as_ref().map(|(does, _)| does.as_str()),
                None => Some(known(from)),
            };
            let mut inputs: Vec<&str> = before(task).filter_map(input).collect();
            inputs.sort_unstable();
            let digest = digest(instance, task, &inputs);
            digests[number] = Some(digest);
        } else {
            open.extend(missing);
        }
    }
    digests.into_iter().map(Option::unwrap_or_default).collect()
}

fn digest(instance: &Instance, task: TaskId, inputs: &[&str]) -> (String, String) {
    // With this number of digits, accidental collisions are practically impossible.
    const DIGITS: usize = 32;
    let mut does = Fields(Sha256::new());
    let command = &instance.task(task).command;
    does.number(command.len() as u64);
    command.iter().for_each(|word| does.text(word));
    if command.iter().any(|word| word.contains("{processors}")) && is_stated(instance, task) {
        let profile = instance.profile(task);
        does.number(u64::from(profile.min_processors()));
        does.number(u64::from(profile.max_processors()));
    }
    does.needs(instance, task, |name| name == Resource::GPUS);
    inputs.iter().for_each(|input| does.text(input));
    let mut does = does.hex();
    does.truncate(DIGITS);
    let mut states = Fields(Sha256::new());
    // A job in a list of commands is renamed when its line moves, so the name is omitted.
    states.task_without_name(instance, instance.job_of(task), task);
    states.text(&does);
    let mut states = states.hex();
    states.truncate(DIGITS);
    (does, states)
}

/// Returns whether the times of a task are from its file. Learned and guessed times, and their allotments, do not
/// identify an instance, because they depend on when the file was read.
fn is_stated(instance: &Instance, task: TaskId) -> bool {
    instance.task(task).estimate == Estimate::Stated
}

/// Hashes a sequence of fields. The length of each field is included, so that different sequences never give the same
/// bytes.
struct Fields(Sha256);

impl Fields {
    fn hex(self) -> String {
        let digits =
            |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
        self.0.finalize().iter().flat_map(digits).collect()
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn float(&mut self, value: f64) {
        self.number(value.to_bits());
    }

    fn time(&mut self, time: Time) {
        self.number(time.ticks() as u64);
    }

    fn platform(&mut self, platform: &Platform) {
        self.number(platform.nodes().len() as u64);
        platform.nodes().iter().for_each(|node| self.node(node));
        self.resources("licences", platform.licences());
        self.resources("consumables", platform.consumables());
    }

    /// Adds a platform without visiting each node of a cluster, because a cluster may have millions of nodes.
    fn kinds(&mut self, platform: &Platform) {
        self.number(u64::from(platform.is_compact()));
        self.number(u64::from(platform.has_local_transfers()));
        for (node, count) in platform.kinds() {
            self.number(count as u64);
            self.node(node);
        }
        if let Some(link) = platform.interconnect() {
            self.text("interconnect");
            self.float(link.bandwidth);
            self.time(link.latency);
        }
        self.resources("licences", platform.licences());
        self.resources("consumables", platform.consumables());
    }

    fn unavailable(&mut self, instance: &Instance) {
        for period in instance.unavailable() {
            self.text(&period.processors.to_string());
            self.time(period.start);
            self.time(period.end);
        }
    }

    fn node(&mut self, node: &Node) {
        self.text(&node.name);
        self.number(u64::from(node.processors));
        self.float(node.speed);
        self.number(node.parent.map_or(0, |parent| parent as u64 + 1));
        if let Some(link) = node.link {
            self.float(link.bandwidth);
            self.time(link.latency);
        }
        self.resources("resources", &node.resources);
    }

    /// Adds resources. Adds nothing if there are none, so that the hashes of instances without resources are the same
    /// as in earlier versions.
    fn resources(&mut self, what: &str, resources: &Resources) {
        if resources.is_empty() {
            return;
        }
        self.text(what);
        self.number(resources.iter().len() as u64);
        for (name, amount) in resources.iter() {
            self.text(name);
            self.number(amount);
        }
    }

    /// Adds the needs of a task for all resources for which `of` returns true. The argument of `of` is the name of the
    /// resource.
    fn needs(&mut self, instance: &Instance, task: TaskId, of: impl Fn(&str) -> bool) {
        for demand in instance.demands(task) {
            let name = &instance.platform().resource_of(demand.resource).name;
            if !of(name) {
                continue;
            }
            self.text("needs");
            self.text(name);
            match &demand.need {
                Need::Linear { whole, per_processor } => {
                    self.number(*whole);
                    self.number(*per_processor);
                }
                Need::ByAllotment(amounts) => {
                    self.text("list");
                    self.number(amounts.len() as u64);
                    amounts.iter().for_each(|&amount| self.number(amount));
                }
            }
        }
    }

    fn task(&mut self, instance: &Instance, job: &Job<Rows>, task: TaskId) {
        self.text(&instance.name(task));
        self.task_without_name(instance, job, task);
    }

    /// Adds everything that is stated about a task except its name.
    fn task_without_name(&mut self, instance: &Instance, job: &Job<Rows>, task: TaskId) {
        self.number(job.task_weight().millionths());
        self.time(job.release);
        self.time(instance.walltime(task).unwrap_or(Time::MAX));
        if is_stated(instance, task) {
            self.profile(instance.profile(task));
        } else {
            self.text("unknown time");
        }
        let command = instance.command(task);
        self.number(command.len() as u64);
        for part in command.iter() {
            self.text(part);
        }
        // Like a learned time, a learned amount depends on when the history was read.
        let has_unknown_memory = instance.task(task).memory_estimate != Estimate::Stated;
        if has_unknown_memory {
            self.text("unknown memory");
        }
        self.needs(instance, task, |name| !has_unknown_memory || name != Resource::MEMORY);
    }

    fn profile(&mut self, profile: &Profile) {
        self.number(u64::from(profile.min_processors()));
        self.number(u64::from(profile.max_processors()));
        if let Some((sequential, law)) = profile.speedup() {
            self.time(sequential);
            let (name, parameters) = match law {
                SpeedupLaw::Linear {} => ("linear", [0.0, 0.0]),
                SpeedupLaw::Amdahl { serial } => ("amdahl", [serial, 0.0]),
                SpeedupLaw::Power { exponent } => ("power", [exponent, 0.0]),
                SpeedupLaw::Downey { parallelism, sigma } => ("downey", [parallelism, sigma]),
            };
            self.text(name);
            for value in parameters {
                self.float(value);
            }
        } else if let Some(times) = profile.times() {
            self.text("table");
            for &time in times {
                self.time(time);
            }
        } else if let Some(row) = profile.machine_times() {
            self.text("machines");
            row.iter().for_each(|&time| self.time(time));
        } else {
            self.text("rigid");
            self.time(profile.shortest());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Needs};

    fn instance(command: &[&str]) -> Instance {
        let job = Job::new("a", Profile::rigid(1, Time::from_seconds(1)).unwrap());
        let job = job.with_command(command.iter().map(ToString::to_string).collect());
        Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap()
    }

    #[test]
    fn a_placement_rule_is_content() {
        let instance = |platform| Instance::new(platform, vec![], vec![]).unwrap();
        let nodes = || Platform::cluster(2, 2).unwrap();
        assert_ne!(fingerprint(&instance(nodes())), fingerprint(&instance(nodes().requiring_compact())));
    }

    #[test]
    fn the_hash_of_a_plan_includes_deadlines() {
        let due = |deadline| {
            let job = Job::new("a", Profile::rigid(1, Time::from_seconds(1)).unwrap());
            let jobs = vec![Job { deadline, ..job }];
            Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
        };
        let [none, late] = [None, Some(Time::from_seconds(9))].map(due);
        assert_eq!(fingerprint(&none), fingerprint(&late));
        assert_ne!(instance_hash(&none), instance_hash(&late));
        assert_eq!(instance_hash(&late), instance_hash(&late.clone()));
    }

    #[test]
    fn resources_needs_and_order_are_content() {
        let amounts = |name: &str, amount| Resources::new([(name, amount)]).unwrap();
        let platform = |memory| Platform::flat(2).unwrap().with_node_resources(&amounts("memory", memory)).unwrap();
        let with = |platform: Platform, need: Option<Need>, after: &[&str]| {
            let job = |name: &str| Job::new(name, Profile::rigid(1, Time::from_seconds(1)).unwrap());
            let mut second = job("b").with_needs(Needs::new(need.map(|need| ("memory", need))).unwrap());
            second.after = after.iter().map(|&name| name.into()).collect();
            fingerprint(&Instance::new(platform, vec![job("a"), second], vec![]).unwrap())
        };
        let all = [
            with(Platform::flat(2).unwrap(), None, &[]),
            with(platform(8), None, &[]),
            with(platform(9), None, &[]),
            with(platform(8), None, &["a"]),
            with(platform(8), Some(Need::whole(2)), &[]),
            with(platform(8), Some(Need::per_processor(2)), &[]),
            with(platform(8), Some(Need::ByAllotment([2].into())), &[]),
            with(Platform::flat(2).unwrap().with_licences(amounts("memory", 8)).unwrap(), None, &[]),
            with(Platform::flat(2).unwrap().with_consumables(amounts("memory", 8)).unwrap(), None, &[]),
        ];
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    /// Checks that a learned or guessed amount of memory does not identify an instance, and a stated amount does.
    #[test]
    fn learned_memory_is_not_content() {
        let with = |amount, memory_estimate| {
            let resources = Resources::new([("memory", 100)]).unwrap();
            let platform = Platform::flat(2).unwrap().with_node_resources(&resources).unwrap();
            let mut job = Job::new("a", Profile::rigid(1, Time::from_seconds(1)).unwrap());
            job = job.with_needs(Needs::new([("memory", Need::whole(amount))]).unwrap());
            job.work.tasks_mut().for_each(|task| task.memory_estimate = memory_estimate);
            let instance = Instance::new(platform, vec![job], vec![]).unwrap();
            (fingerprint(&instance), task_digests(&instance, 0, |_| ""))
        };
        let learned = |amount, runs| with(amount, Estimate::Learned { runs, spread: 0.0 });
        assert_eq!(learned(5, 1), learned(6, 2));
        assert_eq!(learned(5, 1), with(9, Estimate::Guessed));
        assert_ne!(learned(5, 1).0, with(5, Estimate::Stated).0);
        assert_ne!(with(5, Estimate::Stated).0, with(6, Estimate::Stated).0);
    }

    #[test]
    fn follows_the_content_and_nothing_else() {
        assert_eq!(fingerprint(&instance(&["a", "bc"])), fingerprint(&instance(&["a", "bc"])));
        assert_ne!(fingerprint(&instance(&["a", "bc"])), fingerprint(&instance(&["ab", "c"])));
        assert_eq!(fingerprint(&instance(&[])).len(), 64);
        let bag = instance(&[]).submitted(JobId(0)).with_count(1.try_into().unwrap());
        assert_ne!(fingerprint(&instance(&[])), fingerprint(&instance(&[]).with_jobs(vec![bag])));
    }
}
