//! Reads the queue of Grid Engine (`qstat -xml`, `qconf`), and converts the queue to records in the format of Slurm's
//! commands.
//!
//! Each queue instance, such as `all.q@node1`, becomes a node with the slots of the instance, and each cluster queue
//! becomes a partition. Jobs are in the order of the priority that `qstat` prints. This priority includes tickets and
//! urgency. As in Grid Engine, a job that does not fit now delays no other job.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use makespan_core::{CycleRules, WaitKind, WaitReason};
use roxmltree::{Document, Node};

use super::read::changed;
use super::waits::JobNotes;
use super::{ClusterOutput, Queue, Texts};
use crate::command::{Commands, Program};

/// Name of the setting that marks a queue as read from Grid Engine.
pub(super) const SETTING: &str = "GridEngine";

/// The file with the output of `qstat -f -u '*' -xml -pri -r`.
const JOBS: &str = "qstat.xml";
/// The file with the output of `qconf -ssconf`.
const SCHEDULER: &str = "qconf.ssconf.txt";
/// The file with the outputs of `qconf -sp` for the parallel environments.
const ENVIRONMENTS: &str = "qconf.pe.txt";

/// Arguments of `qstat` that list all queue instances and all jobs with their requests.
const QSTAT: [&str; 6] = ["-f", "-u", "*", "-xml", "-pri", "-r"];

/// The beginnings of the reasons of jobs that cannot start by themselves. A name follows.
const IN_ERROR: &str = "JobHeldError:";
const NO_ENVIRONMENT: &str = "JobHeldEnvironment:";
const NO_QUEUE: &str = "JobHeldQueue:";

/// Requests that the forecast takes into account.
const KNOWN_REQUESTS: [&str; 2] = ["h_rt", "slots"];

/// The outputs of Grid Engine's commands.
#[derive(Debug, Default)]
struct GridTexts {
    jobs: String,
    scheduler: Option<String>,
    environments: Option<String>,
    /// The last change of the file with the jobs, in seconds since 1970.
    changed: Option<i64>,
}

impl Queue {
    /// Queries a running Grid Engine. Runs only commands that change nothing.
    ///
    /// # Errors
    /// A command failed, or printed something unknown. The message contains the command.
    pub fn read_grid_engine(commands: &Commands) -> Result<Self, String> {
        // Grid Engine prints local times without their zone.
        let commands = commands.clone().with_variable("TZ", "UTC").with_variable("LC_ALL", "C").sharing_limits();
        let run = |name: &'static str, arguments: &[&str]| {
            let printed = commands.run(Program::Named(name), arguments).map_err(|error| error.to_string())?;
            Ok::<String, String>(printed.out)
        };
        let jobs = run("qstat", &QSTAT)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let scheduler = run("qconf", &["-ssconf"]).ok();
        let names = run("qconf", &["-spl"]).unwrap_or_default();
        let shown: Option<Vec<String>> =
            names.split_whitespace().map(|name| run("qconf", &["-sp", name]).ok()).collect();
        let environments = shown.map(|all| all.concat());
        queue(&GridTexts { jobs, scheduler, environments, changed: None }, Some(now))
            .map_err(|error| format!("qstat -xml: {error}"))
    }

    /// Reads saved outputs of Grid Engine's commands from files in a folder.
    ///
    /// # Errors
    /// A file cannot be read or is invalid. The message names the file.
    pub fn grid_engine_from_folder(folder: &Path, now: Option<i64>) -> Result<Self, String> {
        let path = folder.join(JOBS);
        let jobs = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let optional = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let (scheduler, environments) = (optional(SCHEDULER), optional(ENVIRONMENTS));
        let texts = GridTexts { jobs, scheduler, environments, changed: changed(&path) };
        queue(&texts, now).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Returns true if a folder contains saved outputs of Grid Engine.
    pub fn is_of_grid_engine(folder: &Path) -> bool {
        folder.join(JOBS).is_file()
    }
}

/// Combines the outputs into a queue.
fn queue(texts: &GridTexts, now: Option<i64>) -> Result<Queue, String> {
    let document = Document::parse(&texts.jobs).map_err(|error| format!("this is not the XML of qstat: {error}"))?;
    let mut reader = Reader {
        remarks: Vec::new(),
        notes: JobNotes::default(),
        environments: environments(texts),
        taken: HashMap::new(),
    };
    if texts.environments.is_none() {
        reader.remarks.push(format!(
            "{ENVIRONMENTS} is missing: parallel jobs are assumed to need all slots on one host; save the output of \
             `qconf -sp NAME` for each parallel environment"
        ));
    }
    if texts.scheduler.is_none() {
        reader.remarks.push(format!(
            "{SCHEDULER} is missing: the scheduler is assumed to run every 15 s; save the output of `qconf -ssconf`"
        ));
    }
    let (nodes, partitions) = Reader::instances(&document);
    if nodes.is_empty() {
        return Err("it contains no queue instance; save the output of `qstat -f -u '*' -xml -pri -r`".into());
    }
    let mut jobs = String::new();
    let all: Vec<&str> = partitions.iter().map(|(name, _)| name.as_str()).collect();
    for job in document.descendants().filter(|node| node.has_tag_name("job_list")) {
        jobs += &reader.job(job, &all.join(","))?;
    }
    if jobs.is_empty() {
        jobs = "No jobs in the system\n".into();
    }
    reader.unknown_requests(&document);
    reader.remarks.extend(reader.notes.remarks());
    let mut lines = String::new();
    for (name, own) in &partitions {
        let _ = writeln!(lines, "PartitionName={name} State=UP MaxTime=UNLIMITED Nodes={}", own.join(","));
    }
    let texts_changed = texts.changed;
    let mut texts = Texts::default()
        .with(ClusterOutput::Config, config(texts.scheduler.as_deref().unwrap_or_default()))
        .with(ClusterOutput::Nodes, nodes)
        .with(ClusterOutput::Partitions, lines)
        .with(ClusterOutput::Jobs, jobs);
    (texts.remarks, texts.changed) = (reader.remarks, texts_changed);
    texts.queue(now).map_err(|(_, problem)| problem)
}

/// Returns settings with which Slurm's scheduler decides as Grid Engine's scheduler does: it examines the jobs by
/// priority, starts each job that fits now, and reserves nodes for no job.
fn config(scheduler: &str) -> String {
    let value = |name: &str| {
        let mut words = scheduler.lines().map(str::split_whitespace);
        words.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()).flatten())
    };
    let interval = value("schedule_interval").and_then(seconds).unwrap_or(15).max(1);
    format!(
        "{SETTING} = yes\nSchedulerType = sched/backfill\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CPU\n\
         PriorityType = priority/basic\nSchedulerParameters = bf_interval={interval},bf_resolution=1,\
         bf_max_job_test=1000000,default_queue_depth=1000000,sched_interval=-1,bf_min_prio_reserve={}\n",
        CycleRules::NO_RESERVATION
    )
}

/// Parses a time such as `0:10:0` or `600`.
fn seconds(text: &str) -> Option<u64> {
    text.split(':').try_fold(0_u64, |all, part| all.checked_mul(60)?.checked_add(part.parse().ok()?))
}

/// Returns the parallel environments, each with true if it needs all slots of a job on one host. `None` if the
/// environments are unknown.
fn environments(texts: &GridTexts) -> Option<BTreeMap<String, bool>> {
    let (mut name, mut found) = ("", BTreeMap::new());
    for line in texts.environments.as_deref()?.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["pe_name", own] => {
                name = own;
                found.insert(name.to_owned(), false);
            }
            ["allocation_rule", "$pe_slots"] => _ = found.insert(name.to_owned(), true),
            _ => {}
        }
    }
    Some(found)
}

/// Returns true if a name in a request is a pattern, such as `mpi*`.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '!', '|', '&'])
}

/// Returns the reason for a job of Grid Engine that cannot start by itself.
pub(crate) fn permanent(id: u64, reason: &str) -> Option<WaitReason> {
    if let Some(state) = reason.strip_prefix(IN_ERROR) {
        let remedy = format!("qmod -cj {id}");
        let brief = format!("error state {state}: {remedy}");
        return Some(WaitReason::new(WaitKind::Held, brief, format!("it is in the error state {state}")).with(remedy));
    }
    let (kind, name, change) = match (reason.strip_prefix(NO_ENVIRONMENT), reason.strip_prefix(NO_QUEUE)) {
        (Some(name), _) => ("parallel environment", name, format!("qalter -pe NAME SLOTS {id}")),
        (None, Some(name)) => ("queue with slots", name, format!("qalter -q NAME {id}")),
        (None, None) => return None,
    };
    let text = format!("it asks for {name}, but there is no such {kind}");
    Some(WaitReason::new(WaitKind::Partition, format!("no {kind} {name}"), text).with(change))
}

/// Returns the text of a child element.
fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let child = node.children().find(|child| child.has_tag_name(name))?;
    child.text().map(str::trim).filter(|text| !text.is_empty())
}

/// Replaces characters that separate fields, so that a text cannot be read as several fields of a record.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() || matches!(c, '=' | ',') { '_' } else { c }).collect()
}

struct Reader {
    remarks: Vec<String>,
    notes: JobNotes,
    /// The parallel environments, each with true if it needs all slots of a job on one host.
    environments: Option<BTreeMap<String, bool>>,
    /// The number of slots that the jobs read so far hold in each queue instance.
    taken: HashMap<String, u64>,
}

/// The queue instances of each cluster queue.
type Partitions = Vec<(String, Vec<String>)>;

impl Reader {
    /// Returns the queue instances as records of nodes, and the cluster queues.
    fn instances(document: &Document<'_>) -> (String, Partitions) {
        let (mut nodes, mut partitions) = (String::new(), BTreeMap::<String, Vec<String>>::new());
        for instance in document.descendants().filter(|node| node.has_tag_name("Queue-List")) {
            let Some(name) = text(instance, "name") else { continue };
            let count = |key| text(instance, key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            let (slots, used) = (count("slots_total"), count("slots_used"));
            if slots == 0 {
                continue;
            }
            let state = text(instance, "state").unwrap_or_default();
            let base = if used == 0 {
                "IDLE"
            } else if used < slots {
                "MIXED"
            } else {
                "ALLOCATED"
            };
            // u: the host does not answer. d, D, E, C, s, S: disabled, in error, suspended.
            let away = if state.contains('u') {
                "+DOWN"
            } else if state.contains(['d', 'D', 'E', 'C', 's', 'S']) {
                "+DRAIN"
            } else {
                ""
            };
            let reason = if away.is_empty() { String::new() } else { format!(" Reason=state_{}", word(state)) };
            let _ = writeln!(nodes, "NodeName={name} CPUTot={slots} CPUAlloc={used} State={base}{away}{reason}");
            let queue = name.split_once('@').map_or(name, |(queue, _)| queue);
            partitions.entry(queue.to_owned()).or_default().push(name.to_owned());
        }
        (nodes, partitions.into_iter().collect())
    }

    /// Returns the record of a job. A job on several hosts has a record for each host.
    fn job(&mut self, job: Node<'_, '_>, all: &str) -> Result<String, String> {
        let id: u64 = text(job, "JB_job_number")
            .and_then(|text| text.parse().ok())
            .ok_or("a job has no JB_job_number; save the output of `qstat -f -u '*' -xml -pri -r`")?;
        let state = text(job, "state").unwrap_or_default();
        let slots = self.number(job, id, "slots", 1, |&slots: &u64| slots > 0);
        let priority = self.number(job, id, "JAT_prio", 0.0, |priority: &f64| priority.is_finite());
        let task = text(job, "tasks").map(|tasks| tasks.strip_suffix(":1").unwrap_or(tasks).to_owned());
        let instance =
            job.parent().filter(|parent| parent.has_tag_name("Queue-List")).and_then(|own| text(own, "name"));
        // Slurm gives each task of an array an id of its own.
        let own_id = match task.as_ref().and_then(|task| task.parse::<u64>().ok()) {
            Some(task) if instance.is_some() => id.saturating_mul(10_000_000).saturating_add(task),
            _ => id,
        };
        let mut line = format!("JobId={own_id}");
        if let Some(task) = &task {
            let _ = write!(line, " ArrayJobId={id} ArrayTaskId={task}");
        }
        let name = word(text(job, "full_job_name").or_else(|| text(job, "JB_name")).unwrap_or("job"));
        let user = word(text(job, "JB_owner").unwrap_or("unknown"));
        let limit = request(job, "h_rt").and_then(seconds);
        let limit = limit.map_or("UNLIMITED".to_owned(), |limit| {
            format!("{}:{:02}:{:02}", limit / 3600, limit / 60 % 60, limit % 60)
        });
        // Slurm treats priority 0 as a hold.
        let number = ((priority * 100_000.0).round() as u64).max(1);
        let _ = write!(line, " JobName={name} UserId={user}(0) Priority={number} TimeLimit={limit} NumCPUs={slots}");
        if let Some(at) = text(job, "JB_submission_time") {
            let _ = write!(line, " SubmitTime={at}");
        }
        match instance {
            Some(instance) => self.running(&mut line, job, instance, state, slots),
            None => self.pending(&mut line, job, id, state, all),
        }
        Ok(line + "\n")
    }

    /// Returns the number in an element of a job. If it is invalid, adds a warning and returns `otherwise`.
    fn number<T: FromStr + Display>(
        &mut self,
        job: Node<'_, '_>,
        id: u64,
        name: &str,
        otherwise: T,
        is_valid: impl Fn(&T) -> bool,
    ) -> T {
        let Some(stated) = text(job, name) else { return otherwise };
        stated.parse().ok().filter(is_valid).unwrap_or_else(|| {
            self.notes.add_named(&id.to_string(), format!("{name} is `{stated}`; {otherwise} is assumed"));
            otherwise
        })
    }

    fn running(&mut self, line: &mut String, job: Node<'_, '_>, instance: &str, state: &str, slots: u64) {
        let queue = instance.split_once('@').map_or(instance, |(queue, _)| queue);
        let word = if state.contains(['s', 'S', 'T']) { "SUSPENDED" } else { "RUNNING" };
        let first = *self.taken.get(instance).unwrap_or(&0);
        self.taken.insert(instance.to_owned(), first + slots);
        let start = text(job, "JAT_start_time").unwrap_or("Unknown");
        let _ = write!(
            line,
            " JobState={word} Partition={queue} StartTime={start} NumNodes=1 NodeList={instance} Nodes={instance} \
             CPU_IDs={first}-{} Mem=0 GRES=",
            (first + slots).saturating_sub(1)
        );
    }

    fn pending(&mut self, line: &mut String, job: Node<'_, '_>, id: u64, state: &str, all: &str) {
        let asked: Vec<&str> = job
            .children()
            .filter(|child| child.has_tag_name("hard_req_queue"))
            .filter_map(|child| child.text().map(str::trim))
            .collect();
        let queues: BTreeSet<&str> =
            asked.iter().map(|own| own.split_once('@').map_or(*own, |(queue, _)| queue)).collect();
        let known: Vec<&str> = queues.iter().copied().filter(|name| all.split(',').any(|own| own == *name)).collect();
        let has_pattern = queues.iter().any(|name| is_pattern(name));
        let is_nowhere = !queues.is_empty() && known.is_empty() && !has_pattern;
        if has_pattern {
            self.notes.add_named(&id.to_string(), format!("the queue request {} is ignored", asked.join(",")));
        }
        let partitions = if known.is_empty() || has_pattern { all.to_owned() } else { known.join(",") };
        let environment = job.children().find(|child| child.has_tag_name("requested_pe"));
        let environment = environment.and_then(|node| node.attribute("name"));
        let rule = self.environments.as_ref().zip(environment).map(|(all, name)| all.get(name).copied());
        let is_on_one_host =
            rule.map_or(self.environments.is_none() || environment.is_none(), |rule| rule == Some(true));
        // Without any known environment, the list may be incomplete.
        let lists_any = self.environments.as_ref().is_some_and(|all| !all.is_empty());
        let lacking = environment.filter(|name| rule == Some(None) && lists_any && !is_pattern(name));
        let nodes = if is_on_one_host { "1-1" } else { "1" };
        let _ = write!(line, " JobState=PENDING Partition={partitions} NumNodes={nodes}");
        if let [instance] = asked[..]
            && !is_nowhere
            && instance.contains('@')
            && !instance.contains("@@")
            && !is_pattern(instance)
        {
            let _ = write!(line, " ReqNodeList={instance}");
        }
        let before: Vec<&str> = job
            .children()
            .filter(|child| child.has_tag_name("predecessor_jobs"))
            .filter_map(|child| child.text().map(str::trim))
            .collect();
        if state.contains('E') {
            let _ = write!(line, " Reason={IN_ERROR}{}", word(state));
        } else if let Some(name) = lacking {
            let _ = write!(line, " Reason={NO_ENVIRONMENT}{}", word(name));
        } else if is_nowhere {
            let _ = write!(line, " Reason={NO_QUEUE}{}", word(&asked.join("+")));
        } else if !before.is_empty() {
            let _ = write!(line, " Reason=Dependency Dependency=afterany:{}", before.join(":"));
        } else if state.contains('h') {
            line.push_str(" Reason=JobHeldUser");
        } else {
            line.push_str(" Reason=Resources");
        }
    }

    /// Adds a warning about requests that the forecast ignores.
    fn unknown_requests(&mut self, document: &Document<'_>) {
        let requests = document.descendants().filter(|node| node.has_tag_name("hard_request"));
        let names: BTreeSet<&str> = requests.filter_map(|node| node.attribute("name")).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| !KNOWN_REQUESTS.contains(name)).collect();
        if !names.is_empty() {
            self.remarks
                .push(format!("the requests {} of jobs are ignored: only slots and queues count", names.join(", ")));
        }
    }
}

/// Returns the value of a hard request of a job.
fn request<'a>(job: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let is_it = |child: &Node<'_, '_>| child.has_tag_name("hard_request") && child.attribute("name") == Some(name);
    job.children().find(is_it)?.text().map(str::trim)
}
