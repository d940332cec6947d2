//! A job that has not been submitted, for the question when it would start.

use std::collections::BTreeMap;

use crate::text::{Kind, moment, records, requested_time};
use crate::{Job, Partition};

use super::job::{JobContext, NEW};
use super::{Queue, QueueJob};

/// The request of a job that has not been submitted: options of `sbatch` by their long names.
///
/// ```
/// use makespan_slurm::queue::NewJob;
///
/// let (job, ignored) = NewJob::of_words("nodes=4 time=2:00:00 partition=p").unwrap();
/// let script = "#!/bin/sh\n#SBATCH -N 4 -t 2:00:00 # two hours\n  # a comment\n#SBATCH --partition=p\nsrun hostname\n#SBATCH -n 9\n";
/// assert_eq!(NewJob::of_script(script).unwrap(), (job, ignored));
/// assert!(NewJob::of_words("nods=4").unwrap_err().contains("nodes"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewJob {
    options: BTreeMap<&'static str, String>,
}

/// Options that the prediction uses: the long name, and the short name if there is one.
const USED: [(&str, &str); 28] = [
    ("account", "A"),
    ("array", "a"),
    ("begin", "b"),
    ("constraint", "C"),
    ("cpus-per-task", "c"),
    ("deadline", ""),
    ("dependency", "d"),
    ("exclude", "x"),
    ("exclusive", ""),
    ("gpus-per-node", ""),
    ("gres", ""),
    ("hold", "H"),
    ("job-name", "J"),
    ("licenses", "L"),
    ("mem", ""),
    ("mem-per-cpu", ""),
    ("mincpus", ""),
    ("nodelist", "w"),
    ("nodes", "N"),
    ("ntasks", "n"),
    ("ntasks-per-node", ""),
    ("partition", "p"),
    ("priority", ""),
    ("qos", "q"),
    ("reservation", ""),
    ("time", "t"),
    ("time-min", ""),
    ("user", ""),
];

/// Options of `sbatch` that do not change when a job starts: the long name, and the short name if there is one.
const WITHOUT_EFFECT: [(&str, &str); 22] = [
    ("acctg-freq", ""),
    ("chdir", "D"),
    ("comment", ""),
    ("error", "e"),
    ("export", ""),
    ("export-file", ""),
    ("get-user-env", ""),
    ("input", "i"),
    ("kill-on-invalid-dep", ""),
    ("mail-type", ""),
    ("mail-user", ""),
    ("no-requeue", ""),
    ("open-mode", ""),
    ("output", "o"),
    ("parsable", ""),
    ("profile", ""),
    ("propagate", ""),
    ("quiet", "Q"),
    ("requeue", ""),
    ("signal", ""),
    ("verbose", "v"),
    ("wckey", ""),
];

/// Options without a value.
const FLAGS: [&str; 8] = ["exclusive", "get-user-env", "hold", "no-requeue", "parsable", "quiet", "requeue", "verbose"];

impl NewJob {
    /// Parses words such as `nodes=4 time=2h exclusive`. The result has no ignored options.
    ///
    /// # Errors
    /// A sentence with a remedy.
    pub fn of_words(text: &str) -> Result<(Self, Vec<String>), String> {
        let mut job = Self::default();
        for word in text.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let name = name.trim_start_matches('-');
            let Some(known) = USED.iter().find(|used| used.0 == name) else {
                let names: Vec<&str> = USED.iter().map(|used| used.0).collect();
                return Err(format!("`{word}` is not an option of a job; the options are {}", names.join(", ")));
            };
            job.set(known.0, value)?;
        }
        if job.options.is_empty() {
            return Err(
                "the text states no job; write options such as nodes=4 time=2h partition=p, or the path of a job script"
                    .into(),
            );
        }
        Ok((job, Vec::new()))
    }

    /// Parses the lines `#SBATCH` of a job script, up to its first command. Also returns the options that are ignored
    /// although they may change when the job starts.
    ///
    /// # Errors
    /// A sentence with a remedy.
    pub fn of_script(text: &str) -> Result<(Self, Vec<String>), String> {
        let (mut job, mut ignored) = (Self::default(), Vec::new());
        let head = text.lines().take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        for line in head.filter_map(|line| line.strip_prefix("#SBATCH")) {
            let line = line.split(" #").next().unwrap_or_default();
            let mut words = line.split_whitespace().peekable();
            while let Some(word) = words.next() {
                let (name, mut value) =
                    parts(word).ok_or_else(|| format!("`#SBATCH{line}`: `{word}` is not an option"))?;
                let of = |all: &[(&'static str, &str)]| {
                    all.iter().find(|one| one.0 == name || !one.1.is_empty() && one.1 == name).map(|one| one.0)
                };
                let used = of(&USED);
                let known = used.or_else(|| of(&WITHOUT_EFFECT)).unwrap_or(name);
                if value.is_none() && !FLAGS.contains(&known) {
                    value = words.next_if(|next| !next.starts_with('-'));
                }
                let value = value.unwrap_or_default().trim_matches(['"', '\'']);
                match used {
                    Some(used) => job.set(used, value).map_err(|problem| format!("`#SBATCH{line}`: {problem}"))?,
                    None if of(&WITHOUT_EFFECT).is_none() => ignored.push(word.to_owned()),
                    None => {}
                }
            }
        }
        Ok((job, ignored))
    }

    /// Sets the user, unless the options state one.
    #[must_use]
    pub fn of_user(mut self, user: &str) -> Self {
        self.options.entry("user").or_insert_with(|| user.to_owned());
        self
    }

    /// Sets the name, unless the options state one. `sbatch` names a job after the file of its script.
    #[must_use]
    pub fn of_name(mut self, name: &str) -> Self {
        self.options.entry("job-name").or_insert_with(|| name.to_owned());
        self
    }

    /// Checks a value and stores it.
    fn set(&mut self, name: &'static str, value: &str) -> Result<(), String> {
        if value.is_empty() && !FLAGS.contains(&name) {
            return Err(format!("`{name}` has no value; write {name}=VALUE"));
        }
        if value.contains(char::is_whitespace) {
            return Err(format!("`{name}={value}` contains a space"));
        }
        let is_count = |text: &str| text.parse::<u32>().is_ok_and(|count| count > 0);
        let wrong = match name {
            "nodes" => {
                let (least, most) = value.split_once('-').unwrap_or((value, value));
                let is_range = is_count(least) && is_count(most) && least.parse::<u32>().ok() <= most.parse().ok();
                (!is_range).then_some("a number of nodes, such as 4 or 1-4")
            }
            "ntasks" | "ntasks-per-node" | "cpus-per-task" | "mincpus" | "priority" => {
                (!is_count(value)).then_some("a positive number")
            }
            "time" | "time-min" => requested_time(value).is_none().then_some("a time, such as 2h, 90min or 1-12:00:00"),
            "mem" | "mem-per-cpu" => {
                crate::text::bytes(&in_megabytes(value)).is_none().then_some("an amount of memory, such as 4G")
            }
            "hold" => (!value.is_empty()).then_some("the option hold, which has no value"),
            _ => None,
        };
        if let Some(form) = wrong {
            return Err(format!("`{name}={value}` is not {form}"));
        }
        self.options.insert(name, value.to_owned());
        Ok(())
    }

    /// Returns the value of an option, by its long name, if the job states it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Replaces the earliest start and the deadline by their numbers of seconds since 1970, which `parse` returns.
    ///
    /// # Errors
    /// The error of `parse`.
    pub fn with_instants(mut self, parse: impl Fn(&str) -> Result<i64, String>) -> Result<Self, String> {
        for name in ["begin", "deadline"] {
            if let Some(text) = self.options.get_mut(name) {
                *text = parse(text).map_err(|problem| format!("{name}: {problem}"))?.to_string();
            }
        }
        Ok(self)
    }

    /// Returns the instant of an option, in seconds since 1970.
    fn instant(&self, name: &str) -> Result<Option<i64>, String> {
        let wrong = || format!("`{name}` is not an instant; write {name}=2026-11-22T08:00:00");
        self.get(name).map(|text| moment(text).ok_or_else(wrong)).transpose()
    }

    /// Replaces the number of nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u32) -> Self {
        self.options.insert("nodes", nodes.to_string());
        self
    }

    /// Returns the minimum number of nodes. Without a stated number, the tasks on a node limit it from below.
    pub fn min_nodes(&self) -> u64 {
        match self.get("nodes") {
            Some(text) => text.split('-').next().and_then(|least| least.parse().ok()).unwrap_or(1),
            None => {
                let per_node = self.count("ntasks-per-node");
                let tasks = self.count("ntasks").or(per_node).unwrap_or(1);
                tasks.div_ceil(per_node.unwrap_or(tasks).max(1)).max(1)
            }
        }
    }

    /// Returns true if the job accepts a number of nodes. A job that states no number of nodes accepts any number.
    pub fn accepts(&self, nodes: u32) -> bool {
        let most = self.get("nodes").map(|text| text.split_once('-').map_or(text, |range| range.1));
        let is_few_enough = most.and_then(|text| text.parse::<u64>().ok()).is_none_or(|most| u64::from(nodes) <= most);
        most.is_none() || is_few_enough && u64::from(nodes) >= self.min_nodes()
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Returns the record that `scontrol show job` would print.
    fn record(&self, id: u64, queue: &Queue, partition: &Partition) -> String {
        let most = self.get("nodes").map(|text| text.split_once('-').map_or(text, |range| range.1));
        let least = self.min_nodes();
        let per_node = self.count("ntasks-per-node");
        let tasks = self.count("ntasks").unwrap_or_else(|| least * per_node.unwrap_or(1));
        let each = self.count("cpus-per-task").unwrap_or(1);
        let on_node = (per_node.unwrap_or(1) * each).max(self.count("mincpus").unwrap_or(1));
        let nodes = most.map_or_else(|| least.to_string(), |most| format!("{least}-{most}"));
        let mut record = format!(
            "JobId={id} JobName=new UserId={}(0) Priority=1 JobState=PENDING Reason=None Partition={} NumNodes={nodes} NumCPUs={} MinCPUsNode={on_node}",
            self.get("user").unwrap_or_default(),
            partition.name,
            tasks * each,
        );
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                record += &format!(" {key}={value}");
            }
        };
        let own = |name: &str| self.get(name).map(str::to_owned);
        add("MinMemoryCPU", own("mem-per-cpu").map(|text| in_megabytes(&text)));
        add("MinMemoryNode", own("mem").map(|text| in_megabytes(&text)));
        if self.get("mem").or(self.get("mem-per-cpu")).is_none() {
            let default = |key: &str| {
                let stated = partition.record.get(key).or_else(|| queue.config.get(key))?;
                stated.parse::<u64>().ok().filter(|&size| size > 0).map(|size| format!("{size}M"))
            };
            add("MinMemoryCPU", default("DefMemPerCPU"));
            add("MinMemoryNode", default("DefMemPerNode"));
        }
        for (key, name) in [
            ("Account", "account"),
            ("QOS", "qos"),
            ("Features", "constraint"),
            ("ReqNodeList", "nodelist"),
            ("ExcNodeList", "exclude"),
            ("Licenses", "licenses"),
            ("Reservation", "reservation"),
            ("Dependency", "dependency"),
            ("ArrayTaskId", "array"),
        ] {
            add(key, own(name));
        }
        add("ArrayJobId", self.get("array").map(|_| id.to_string()));
        add("TresPerNode", own("gpus-per-node").map(|text| format!("gres:gpu:{text}")).or_else(|| own("gres")));
        add("OverSubscribe", self.get("exclusive").map(|_| "NO".to_owned()));
        record
    }
}

/// Splits a word of a line `#SBATCH` into the name of an option and its value: `--nodes=4`, `--nodes`, `-N4` or `-N`.
fn parts(word: &str) -> Option<(&str, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        return Some(long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))));
    }
    let short = word.strip_prefix('-')?;
    let end = short.chars().next()?.len_utf8();
    let (name, value) = short.split_at(end);
    Some((name, Some(value.trim_start_matches('=')).filter(|value| !value.is_empty())))
}

/// Adds the unit that `sbatch` assumes.
fn in_megabytes(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}M") } else { text.to_owned() }
}

impl Queue {
    /// Adds a job that is submitted now. Returns the new queue, the indices of the job (of its tasks, if it is an
    /// array), and notes about assumptions. The user, the account, the QOS, the partition and the time limit are
    /// defaults of the cluster if the job does not state them. If the job states no priority, its priority follows from
    /// the factors of the cluster, or is the lowest priority of similar pending jobs.
    ///
    /// # Errors
    /// A sentence with a remedy.
    pub fn with_new_job(&self, job: &NewJob) -> Result<(Self, Vec<usize>, Vec<String>), String> {
        let (mut job, mut remarks) = (job.clone(), Vec::new());
        let named: Vec<&str> = job.get("partition").map_or_else(Vec::new, |text| text.split(',').collect());
        let all = || self.partitions.iter().map(|own| own.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(unknown) = named.iter().find(|name| self.partition(name).is_none()) {
            return Err(format!("there is no partition {unknown}; the partitions are {}", all()));
        }
        let default = || self.partitions.iter().find(|own| own.is_default).or(self.partitions.first());
        let partition =
            named.first().map_or_else(default, |name| self.partition(name)).ok_or("the cluster has no partition")?;
        let partitions = if named.is_empty() {
            vec![partition.name.clone()]
        } else {
            named.iter().map(|&name| name.to_owned()).collect()
        };
        self.complete(&mut job, &mut remarks);
        if let Some(qos) =
            job.get("qos").filter(|name| !self.qos.is_empty() && self.qos.iter().all(|qos| qos.name != **name))
        {
            let names: Vec<&str> = self.qos.iter().map(|qos| qos.name.as_str()).collect();
            return Err(format!("there is no QOS {qos}; the cluster has {}", names.join(", ")));
        }
        let id = self.jobs.iter().map(|job| job.id).max().unwrap_or(0).saturating_add(1);
        let (found, strange) = records(Kind::Job, &job.record(id, self, partition));
        let record =
            found.into_iter().next().filter(|_| strange.is_empty()).ok_or("the options do not describe a job")?;
        let read = Job::of(record)?;
        let nodes = self.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        let mut context =
            JobContext { now: self.now, nodes, partitions: &self.partitions, room: MAX_TASKS, remarks: Vec::new() };
        let mut entries = context.entries(&read);
        if let Some(problem) = context.remarks.first() {
            return Err(problem.replace(&format!("job {id}: "), ""));
        }
        if let Some(unknown) = entries.iter().find_map(|entry| self.missing_licence(entry)) {
            let names: Vec<&str> = self.licences.iter().map(|licence| licence.name.as_str()).collect();
            let there = if names.is_empty() { "has none".to_owned() } else { format!("has {}", names.join(", ")) };
            return Err(format!("there is no licence {unknown}; the cluster {there}"));
        }
        let limit = job.get("time").and_then(requested_time).or_else(|| {
            let stated = partition.default_time.unwrap_or(partition.max_time).value();
            remarks.push(match stated {
                Some(_) => format!("the time limit is the default of partition {}", partition.name),
                None => "the job has no time limit; to set a limit, write for example time=2h".to_owned(),
            });
            stated
        });
        let (begin, deadline) = (job.instant("begin")?, job.instant("deadline")?);
        let priority = job.count("priority").unwrap_or_else(|| self.priority_of_new(&entries, &mut remarks));
        for entry in &mut entries {
            entry.shown = entry.array.map_or_else(|| NEW.to_owned(), |member| format!("{NEW}_{}", member.task));
            job.get("job-name").unwrap_or("not submitted").clone_into(&mut entry.name);
            entry.partitions.clone_from(&partitions);
            entry.limit = limit;
            entry.request.min_time = job.get("time-min").and_then(requested_time);
            (entry.submitted, entry.eligible) = (Some(self.now), Some(begin.unwrap_or(self.now)));
            entry.priority = priority;
            entry.deadline = deadline;
            entry.is_held = job.get("hold").is_some();
        }
        let mut queue = self.clone();
        let first = queue.jobs.len();
        queue.jobs.extend(entries);
        let own = first..queue.jobs.len();
        queue.settle_dependencies(own.clone());
        for unknown in queue.drop_unknown_dependencies(own.clone()) {
            remarks.push(format!(
                "job {unknown}, on which the new job depends, is not in the queue; the answer assumes that it has ended \
                 as required"
            ));
        }
        Ok((queue, own.collect(), remarks))
    }

    /// Adds the account and the QOS that the cluster assumes for a user.
    fn complete(&self, job: &mut NewJob, remarks: &mut Vec<String>) {
        let user = job.get("user").unwrap_or_default().to_owned();
        let of_user: Vec<&str> = self
            .associations
            .iter()
            .filter(|one| one.user.as_deref() == Some(user.as_str()))
            .map(|one| one.account.as_str())
            .collect();
        if job.get("account").is_none() && !self.associations.is_empty() {
            match of_user.first() {
                Some(&account) => {
                    job.options.insert("account", account.to_owned());
                    if of_user.len() > 1 {
                        remarks.push(format!("the account is {account}; to use another account, write account=NAME"));
                    }
                }
                None if !super::limits::are_enforced(&self.config) => {}
                None => remarks.push(format!(
                    "user `{user}` has no account here, so no limits of accounts apply; to use another user, write \
                     user=NAME"
                )),
            }
        }
        if job.get("qos").is_none() && self.qos.iter().any(|qos| qos.name == "normal") {
            job.options.insert("qos", "normal".to_owned());
        }
    }

    /// Returns the priority of a new job. With `priority/basic`, Slurm counts priorities down in the order of submission,
    /// so the priority is below the lowest one. Otherwise, it follows from the factors of the cluster. If a factor is
    /// unknown, returns the lowest priority of the pending jobs of its user in its QOS, otherwise of all pending jobs in
    /// its QOS, otherwise of all pending jobs.
    fn priority_of_new(&self, entries: &[QueueJob], remarks: &mut Vec<String>) -> u64 {
        let Some(new) = entries.first() else { return 1 };
        if self.has_priority("basic")
            && let Some(last) = self.jobs.iter().map(|job| job.priority).filter(|&priority| priority > 1).min()
        {
            let priority = last - 1;
            remarks.push(format!(
                "the priority is {priority}, the next one, because this cluster orders jobs by their submission \
                 (PriorityType=priority/basic)"
            ));
            return priority;
        }
        if let Some(priority) = self.priority_by_factors(new) {
            remarks.push(format!(
                "the priority is {priority}, by the weights of the cluster and the priority of a similar pending job"
            ));
            return priority;
        }
        let waits = || self.jobs.iter().filter(|job| job.run.is_none() && !job.is_held);
        let lowest = |keep: &dyn Fn(&QueueJob) -> bool| waits().filter(|job| keep(job)).map(|job| job.priority).min();
        let qos = |job: &QueueJob| job.qos == new.qos;
        let found = lowest(&|job| qos(job) && job.user == new.user)
            .map(|lowest| (lowest, "of this user and QOS"))
            .or_else(|| lowest(&qos).map(|lowest| (lowest, "of this QOS")))
            .or_else(|| lowest(&|_| true).map(|lowest| (lowest, "of all pending jobs")));
        let Some((priority, whose)) = found else { return 1 };
        remarks.push(format!(
            "the assumed priority is {priority}, the lowest {whose}; to use another priority, write priority=N \
             (in a script: #SBATCH --priority=N)"
        ));
        priority
    }
}

/// Maximum number of tasks of an array.
const MAX_TASKS: usize = 10_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bad_words_are_refused_with_a_remedy() {
        for (text, part) in [
            ("", "nodes=4 time=2h"),
            ("nods=4", "the options are account"),
            ("output=x", "the options are"),
            ("nodes", "nodes=VALUE"),
            ("nodes=0", "such as 4 or 1-4"),
            ("nodes=4-2", "such as 4 or 1-4"),
            ("ntasks=x", "a positive number"),
            ("time=soon", "such as 2h"),
            ("mem=much", "such as 4G"),
        ] {
            let error = NewJob::of_words(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = NewJob::of_script("#SBATCH -N four\n").unwrap_err();
        assert!(error.contains("`#SBATCH -N four`: `nodes=four` is not"), "{error}");
        let (job, ignored) =
            NewJob::of_script("#SBATCH -o out.txt --mail-type ALL --spread-job -n2 --exclusive -pp\n").unwrap();
        assert_eq!(ignored, ["--spread-job"]);
        assert_eq!(job, NewJob::of_words("ntasks=2 exclusive partition=p").unwrap().0);
    }

    proptest! {
        /// A script and the same options as words are the same job.
        #[test]
        fn scripts_and_words_agree(chosen in proptest::collection::btree_set(0_usize..8, 1..8), short in any::<bool>(), split in any::<bool>()) {
            let options = [
                ("nodes", "N", "2-4"), ("ntasks", "n", "8"), ("cpus-per-task", "c", "2"), ("time", "t", "1:00:00"),
                ("partition", "p", "a,b"), ("account", "A", "x"), ("mem", "", "4G"), ("constraint", "C", "big&ib"),
            ];
            let words: Vec<String> = chosen.iter().map(|&at| format!("{}={}", options[at].0, options[at].2)).collect();
            let line = |&at: &usize| {
                let (long, name, value) = options[at];
                match (short && !name.is_empty(), split) {
                    (true, true) => format!("-{name} {value}"),
                    (true, false) => format!("-{name}{value}"),
                    (false, true) => format!("--{long} {value}"),
                    (false, false) => format!("--{long}={value}"),
                }
            };
            let script: String = chosen.iter().map(|at| format!("#SBATCH {}\n", line(at))).collect();
            prop_assert_eq!(NewJob::of_script(&script), NewJob::of_words(&words.join(" ")));
        }
    }
}
