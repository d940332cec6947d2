//! Reads the queue of Grid Engine (`qstat -xml`, `qhost -xml`, `qconf`), and converts the queue to records in the format of Slurm's
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

use roxmltree::{Document, Node};

use super::read::changed;
use super::sge_site::{
    GridHosts, IN_ERROR, NO_ENVIRONMENT, NO_QUEUE, amount, config, environments, grid_hosts, seconds,
};
use super::waits::JobNotes;
use super::{ClusterOutput, Queue, Texts};
use crate::command::{Commands, Program};

/// The file with the output of `qstat -f -u '*' -xml -pri -r`.
const JOBS: &str = "qstat.xml";
/// The file with the output of `qhost -xml`.
const HOSTS: &str = "qhost.xml";
/// The file with the output of `qconf -ssconf`.
const SCHEDULER: &str = "qconf.ssconf.txt";
/// The file with the outputs of `qconf -sp` for the parallel environments.
const ENVIRONMENTS: &str = "qconf.pe.txt";

/// Arguments of `qstat` that list all queue instances and all jobs with their requests.
const QSTAT: [&str; 6] = ["-f", "-u", "*", "-xml", "-pri", "-r"];

/// Requests that the forecast compares with the total memory of hosts, because the free memory changes.
const MEMORY_REQUESTS: [&str; 2] = ["mem_free", "mem_total"];
/// Other requests that the forecast takes into account.
const KNOWN_REQUESTS: [&str; 2] = ["h_rt", "slots"];

/// The outputs of Grid Engine's commands.
#[derive(Debug, Default)]
struct GridTexts {
    jobs: String,
    hosts: Option<String>,
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
        let hosts = run("qhost", &["-xml"]).ok();
        let scheduler = run("qconf", &["-ssconf"]).ok();
        let names = run("qconf", &["-spl"]).unwrap_or_default();
        let shown: Option<Vec<String>> =
            names.split_whitespace().map(|name| run("qconf", &["-sp", name]).ok()).collect();
        let environments = shown.map(|all| all.concat());
        queue(&GridTexts { jobs, hosts, scheduler, environments, changed: None }, Some(now))
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
        let texts = GridTexts { jobs, hosts: optional(HOSTS), scheduler, environments, changed: changed(&path) };
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
    let (mut remarks, hosts) = (Vec::new(), texts.hosts.as_deref().map(grid_hosts));
    match &hosts {
        Some(Ok(_)) => {}
        Some(Err(error)) => remarks.push(format!("{HOSTS} is ignored: {error}")),
        None => remarks.push(format!(
            "{HOSTS} is missing: the memory of hosts is unknown, and requests for memory are ignored; save the output of \
             `qhost -xml`"
        )),
    }
    let (environments, hosts) = (environments(texts.environments.as_deref()), hosts.and_then(Result::ok));
    let mut reader = Reader {
        remarks,
        notes: JobNotes::default(),
        environments,
        hosts,
        of_unknown_memory: BTreeSet::new(),
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
    let (nodes, partitions) = reader.instances(&document);
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

/// Returns true if a name in a request is a pattern, such as `mpi*`.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '!', '|', '&'])
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
    /// The hosts, if known.
    hosts: Option<GridHosts>,
    /// The hosts with queue instances for which `qhost` states no memory.
    of_unknown_memory: BTreeSet<String>,
    /// The number of slots that the jobs read so far hold in each queue instance.
    taken: HashMap<String, u64>,
}

/// The queue instances of each cluster queue.
type Partitions = Vec<(String, Vec<String>)>;

impl Reader {
    /// Returns the queue instances as records of nodes, and the cluster queues.
    fn instances(&mut self, document: &Document<'_>) -> (String, Partitions) {
        let (mut nodes, mut partitions) = (String::new(), BTreeMap::<String, Vec<String>>::new());
        let mut shared = BTreeSet::new();
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
            let (queue, host) = name.split_once('@').unwrap_or((name, name));
            let own = self.hosts.as_ref().and_then(|hosts| hosts.get(host));
            let away = if state.contains('u') || own.is_some_and(|own| !own.is_heard) {
                "+DOWN"
            } else if state.contains(['d', 'D', 'E', 'C', 's', 'S']) {
                "+DRAIN"
            } else {
                ""
            };
            let reason = if away.is_empty() { String::new() } else { format!(" Reason=state_{}", word(state)) };
            let memory = own.and_then(|own| own.memory);
            if memory.is_none() {
                self.of_unknown_memory.insert(host.to_owned());
            }
            let memory = memory.map(|memory| format!(" RealMemory={}", memory >> 20));
            let memory = memory.unwrap_or_default();
            let _ =
                writeln!(nodes, "NodeName={name} CPUTot={slots} CPUAlloc={used}{memory} State={base}{away}{reason}");
            if partitions.values().flatten().any(|other| other.split_once('@').is_some_and(|(_, at)| at == host)) {
                shared.insert(host);
            }
            partitions.entry(queue.to_owned()).or_default().push(name.to_owned());
        }
        if let Some(first) = shared.first() {
            let others = if shared.len() > 1 { format!(" and {} others", shared.len() - 1) } else { String::new() };
            self.remarks.push(format!(
                "host {first}{others} is in several queues: the forecast counts the slots of each queue separately"
            ));
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
        let memory = MEMORY_REQUESTS.into_iter().filter_map(|name| request(job, name).and_then(amount)).max();
        if let Some(memory) = memory.filter(|_| self.hosts.is_some()) {
            let _ = write!(line, " MinMemoryNode={}M", memory.div_ceil(1 << 20));
        }
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
        let is_memory = |name: &&str| MEMORY_REQUESTS.contains(name) && self.hosts.is_some();
        let memory: Vec<&str> = names.iter().copied().filter(|name| is_memory(name)).collect();
        if !memory.is_empty() {
            let names = memory.join(", ");
            self.remarks.push(format!("the requests {names} of jobs are compared with the total memory of each host"));
            let unknown: Vec<&str> = self.of_unknown_memory.iter().map(String::as_str).collect();
            if !unknown.is_empty() {
                let (count, named) = (unknown.len(), unknown[..unknown.len().min(5)].join(", "));
                let more = if count > 5 { format!(" and {} more", count - 5) } else { String::new() };
                self.remarks.push(format!(
                    "qhost states no memory for {named}{more}: the forecast assumes that every request for memory fits there"
                ));
            }
        }
        let names: Vec<&str> =
            names.into_iter().filter(|name| !KNOWN_REQUESTS.contains(name) && !is_memory(name)).collect();
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
