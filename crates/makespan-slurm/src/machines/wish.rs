//! The options of `sbatch` that affect the choice of nodes for a plan.

use makespan_core::Resource;

use super::MachinesError;
use crate::text::{Gres, bytes, expand};
use crate::{Node, Partition};

/// Options of `sbatch` that a run sets itself. Each entry contains the long form, the short form, and a remedy for the
/// user.
const OWN: [(&str, &str, &str); 6] = [
    ("nodes", "N", "use --nodes or --pilots instead"),
    ("time", "t", "use --time or --pilots instead"),
    ("job-name", "J", "pilots have the name of the folder, so use another --folder instead"),
    ("output", "o", "remove the option, because the output of pilots is in the folder of the run"),
    ("array", "a", "use --pilots instead, such as --pilots 2x4nodes"),
    ("no-requeue", "", "remove the option, because pilots are never requeued"),
];

/// Options of `sbatch` that a run sets itself if each task is a job of its own, in the form of [`OWN`]. With another job
/// name, the run could not find its jobs. With another dependency, a task could start before its predecessors.
const OWN_OF_JOBS: [(&str, &str, &str); 10] = [
    ("nodes", "N", "state the processors of each job in the list or instance instead"),
    ("time", "t", "use --time or a `timeout` of the job instead"),
    ("job-name", "J", "remove the option, because the run finds its jobs by their names"),
    ("output", "o", "remove the option, because the output of jobs is in the folder of the run"),
    ("open-mode", "", "remove the option, because the output of jobs is in the folder of the run"),
    ("array", "a", "write a line for each job instead"),
    ("dependency", "d", "state the dependencies in the list or instance instead"),
    ("no-requeue", "", "remove the option, because jobs are never requeued"),
    ("test-only", "", "use --dry-run instead"),
    ("wrap", "", "write the command in the list instead"),
];

/// Options with which a job requests GPUs.
const GPU_OPTIONS: [(&str, &str); 6] = [
    ("gres", ""),
    ("gpus", "G"),
    ("gpus-per-node", ""),
    ("gpus-per-task", ""),
    ("gpus-per-socket", ""),
    ("tres-per-task", ""),
];

/// The nodes that options of `sbatch` allow, and the amounts that these options request on each node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeRequest {
    /// The nodes that the options name. If the list is empty, all nodes are allowed.
    pub only: Vec<String>,
    /// Excluded nodes.
    pub excluded: Vec<String>,
    /// Required features.
    features: Vec<String>,
    /// Minimum generic resources per node.
    gres: Vec<Gres>,
    cpus: u32,
    /// Memory per node in bytes. 0 means all memory.
    memory: Option<u64>,
    memory_per_cpu: Option<u64>,
    /// An option that only Slurm can interpret.
    pub unclear: Option<String>,
    /// True if an option requests GPUs.
    pub states_gpus: bool,
}

impl NodeRequest {
    pub fn of(options: &[String]) -> Result<Self, MachinesError> {
        refuse(options, &OWN)?;
        let hosts = |long: &str, short: &str| {
            let text = value(options, long, short).unwrap_or_default();
            let wrong = |problem: String| MachinesError::Option { option: format!("--{long}={text}"), problem };
            expand(&text).map_err(|error| wrong(error.to_string()))
        };
        let number = |long: &str, read: &dyn Fn(&str) -> Option<u64>| {
            let Some(text) = value(options, long, "") else { return Ok(None) };
            let wrong = || MachinesError::Option {
                option: format!("--{long}={text}"),
                problem: "the value is not an amount".into(),
            };
            read(&text).map(Some).ok_or_else(wrong)
        };
        let constraint = value(options, "constraint", "C").unwrap_or_default();
        let is_plain = |c: char| c.is_alphanumeric() || "_-.=&".contains(c);
        let unclear = (!constraint.chars().all(is_plain)).then(|| format!("--constraint={constraint}"));
        let features = constraint.split('&').filter(|word| !word.is_empty() && unclear.is_none()).map(str::to_owned);
        let gpus = value(options, "gpus-per-node", "").map(|text| format!("gpu:{text}"));
        let mut gres = Vec::new();
        for text in value(options, "gres", "").into_iter().chain(gpus) {
            let (read, strange) = Gres::list(&text);
            if let Some(part) = strange.first() {
                let problem = format!("`{part}` is not a resource such as gpu:2");
                return Err(MachinesError::Option { option: format!("--gres={text}"), problem });
            }
            gres.extend(read);
        }
        Ok(Self {
            only: hosts("nodelist", "w")?,
            excluded: hosts("exclude", "x")?,
            features: features.collect(),
            gres,
            cpus: number("mincpus", &|text| text.parse().ok())?.unwrap_or(0).min(u64::from(u32::MAX)) as u32,
            memory: number("mem", &bytes)?.filter(|&memory| memory > 0),
            memory_per_cpu: number("mem-per-cpu", &bytes)?,
            unclear,
            states_gpus: GPU_OPTIONS.iter().any(|&(long, short)| value(options, long, short).is_some()),
        })
    }

    /// Returns true if a job with these options may use `node`.
    pub fn allows(&self, node: &Node) -> bool {
        let has = |wanted: &Gres| {
            let of_kind =
                |gres: &&Gres| gres.name == wanted.name && (wanted.kind.is_empty() || gres.kind == wanted.kind);
            node.gres.iter().filter(of_kind).map(|gres| gres.count).sum::<u64>() >= wanted.count
        };
        (self.only.is_empty() || self.only.contains(&node.name))
            && !self.excluded.contains(&node.name)
            && self.features.iter().all(|feature| node.features.contains(feature))
            && self.gres.iter().all(has)
            && node.usable_cpus >= self.cpus
            && node.memory.is_none_or(|memory| memory >= self.memory.unwrap_or(0))
    }

    /// Returns the memory that a job with these options may use on a node, in bytes. Returns `None` if the options do
    /// not limit the memory.
    pub fn memory_of(&self, node: &Node) -> Option<u64> {
        let each = self.memory_per_cpu.map(|bytes| bytes.saturating_mul(u64::from(node.usable_cpus)));
        self.memory.or(each)
    }

    /// Returns the amount of a generic resource that a job with these options holds on each node. Returns `None` if
    /// the options do not state the amount. `name` is the name of the resource in the plan.
    pub fn held_of(&self, name: &str) -> Option<u64> {
        let name = if name == Resource::GPUS { Gres::GPU } else { name.strip_prefix("gres/").unwrap_or(name) };
        let mut own = self.gres.iter().filter(|gres| gres.name == name).map(|gres| gres.count).peekable();
        own.peek()?;
        Some(own.fold(0, u64::saturating_add))
    }

    pub fn states_memory(&self) -> bool {
        self.memory.is_some() || self.memory_per_cpu.is_some()
    }
}

/// Returns the partition that the options of `sbatch` name.
pub(super) fn partition_of(options: &[String]) -> Option<String> {
    value(options, "partition", "p")
}

/// Returns an error if the user's options of `sbatch` contain an option that a run with one job for each task sets
/// itself.
///
/// # Errors
///
/// [`MachinesError::OwnOption`] with a remedy.
pub fn check_job_options(options: &[String]) -> Result<(), MachinesError> {
    refuse(options, &OWN_OF_JOBS)
}

fn refuse(options: &[String], own: &[(&str, &str, &str)]) -> Result<(), MachinesError> {
    let is_stated = |long: &str, short: &str| {
        value(options, long, short).is_some() || options.iter().any(|option| *option == format!("--{long}"))
    };
    match own.iter().find(|(long, short, _)| is_stated(long, short)) {
        Some(&(long, _, instead)) => {
            Err(MachinesError::OwnOption { option: format!("--{long}"), instead: instead.to_owned() })
        }
        None => Ok(()),
    }
}

/// Returns an error if a pilot has more nodes than a job of the partition may have.
pub(super) fn check_sizes(partition: &Partition, sizes: &[usize]) -> Result<(), MachinesError> {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    match partition.max_nodes.value().filter(|&most| (largest as u64) > most) {
        Some(most) => Err(MachinesError::MaxNodes { partition: partition.name.clone(), asked: largest, most }),
        None => Ok(()),
    }
}

/// Returns the last value of an option: `--long=value`, `--long value`, `-lvalue` or `-l value`.
fn value(options: &[String], long: &str, short: &str) -> Option<String> {
    let (long, mut last) = (format!("--{long}"), None);
    for (index, option) in options.iter().enumerate() {
        let behind = || options.get(index + 1).cloned();
        if let Some(value) = option.strip_prefix(&long) {
            last = if value.is_empty() { behind() } else { value.strip_prefix('=').map(str::to_owned) }.or(last);
        } else if !short.is_empty()
            && let Some(value) = option.strip_prefix('-').and_then(|option| option.strip_prefix(short))
        {
            last = if value.is_empty() { behind() } else { Some(value.trim_start_matches('=').to_owned()) };
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Kind, records};

    fn node(line: &str) -> Node {
        Node::of(records(Kind::Node, line).0.remove(0)).unwrap()
    }

    fn wish(line: &str) -> Result<NodeRequest, MachinesError> {
        NodeRequest::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_allow_nodes() {
        let big = node("NodeName=g1 CPUTot=8 RealMemory=4096 State=IDLE Gres=gpu:a100:2 ActiveFeatures=fast,new");
        let small = node("NodeName=n1 CPUTot=4 RealMemory=1024 State=IDLE ActiveFeatures=new");
        let allowed = |line: &str| {
            let wish = wish(line).unwrap();
            (wish.allows(&big), wish.allows(&small))
        };
        assert_eq!(allowed(""), (true, true));
        for line in ["--gres=gpu:2", "--gpus-per-node a100:1", "-C fast&new", "-Cfast", "--mincpus=5", "--mem=2G"] {
            assert_eq!(allowed(line), (true, false), "{line}");
        }
        for line in ["--nodelist=n[0-9]", "-w n1", "--exclude=g1", "-xg[0-1]", "--mem 1G --exclude=g1"] {
            assert_eq!(allowed(line), (false, true), "{line}");
        }
        assert_eq!(allowed("--gpus-per-node=v100:1"), (false, false));
        assert!(wish("-C fast|new").unwrap().unclear.is_some() && wish("-C fast").unwrap().unclear.is_none());
        assert_eq!(wish("--mem=2G").unwrap().memory_of(&big), Some(2 << 30));
        assert_eq!(wish("--mem-per-cpu=256").unwrap().memory_of(&big), Some(2 << 30));
        assert_eq!(wish("--mem=0").unwrap().memory_of(&big), None);
        let held = |line: &str| wish(line).unwrap().held_of("gpus");
        assert_eq!(
            (held("--gres=gpu:1"), held("--gpus-per-node=a100:2"), held("--gres=fpga:1")),
            (Some(1), Some(2), None)
        );
        assert_eq!(partition_of(&["-p".into(), "long".into()]), Some("long".into()));
    }

    #[test]
    fn options_that_a_run_gives_itself_and_nonsense_are_refused() {
        for (line, part) in [
            ("--nodes=4", "--nodes or --pilots"),
            ("-N4", "--nodes or --pilots"),
            ("--time 3", "--time"),
            ("--nodelist=n[1", "--nodelist=n[1"),
            ("--mem=much", "--mem=much"),
        ] {
            let error = wish(line).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn options_that_a_job_sets_itself_are_refused() {
        let check = |line: &str| {
            let options: Vec<String> = line.split(' ').map(str::to_owned).collect();
            super::check_job_options(&options).map_err(|error| error.to_string())
        };
        for line in ["--job-name=mine", "-J mine", "--dependency=after:1", "--array=1-2", "--wrap=true", "--test-only"]
        {
            let error = check(line).unwrap_err();
            assert!(error.contains("the run itself sets"), "{line}: {error}");
        }
        assert_eq!(check("--qos=high --mem=2G -w n1"), Ok(()));
    }
}
