//! The description of a batch system, a TOML file.

use std::path::Path;

use regex_lite::Regex;
use serde::Deserialize;

/// The commands of a batch system and the format of their output. In each word of a command, a name in braces is
/// replaced by its value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BatchDescription {
    /// The name of the batch system, for messages.
    pub name: String,
    /// True if the description was never tested on a real system.
    #[serde(default)]
    pub is_untested: bool,
    /// Shell expression that yields the number of the job in the script of the job. Empty for Slurm, which needs none.
    #[serde(default)]
    pub job_id: String,
    /// The submission of a job. The command receives the script on its standard input.
    pub submit: SubmitWords,
    /// The list of the user's jobs.
    pub list: ListWords,
    /// The cancellation of jobs.
    pub cancel: CancelWords,
    /// The nodes of a job. Needed for pilots with several nodes.
    #[serde(default)]
    pub nodes: Option<NodeWords>,
    /// Shell expression that yields the number of the task in the script of a job array. Needed for job arrays.
    #[serde(default)]
    pub task_id: String,
    /// The names of states. If the state of a job is in none of these lists, the job is treated as running. In the
    /// description of Slurm, such a state is read as a state of Slurm.
    #[serde(default)]
    pub states: StateNames,
}

/// The words of the command that submits a job.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SubmitWords {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Arguments for the size of each pilot.
    #[serde(default)]
    pub size: Vec<String>,
    /// Arguments for a pilot with more than one core on one node.
    #[serde(default)]
    pub cores: Vec<String>,
    /// Arguments for the memory of a pilot.
    #[serde(default)]
    pub memory: Vec<String>,
    /// Arguments for a pilot with more than one node. They replace the arguments for cores.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Arguments for `{count}` equal pilots that are submitted as one job array.
    #[serde(default)]
    pub array: Vec<String>,
    /// Arguments for a time limit.
    #[serde(default)]
    pub time: Vec<String>,
    /// Arguments for the log file of the job. If empty, the script of the job opens the log file.
    #[serde(default)]
    pub log: Vec<String>,
    /// Placeholder of the batch system for the number of the job, in the path `{log}`.
    #[serde(default)]
    pub log_name: String,
    /// Arguments for `--account`.
    #[serde(default)]
    pub account: Vec<String>,
    /// Arguments for `--partition`.
    #[serde(default)]
    pub partition: Vec<String>,
    /// Regular expression that finds the number of the job (the group `job`) in the output.
    pub id: String,
}

/// The command that lists the user's jobs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListWords {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Regular expression that matches each job in the output. It has the groups `job`, `state` and `name`. The groups
    /// `reason` and `nodes` are optional.
    pub job: String,
}

/// The command that cancels jobs. The numbers of the jobs are appended to the command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelWords {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The name of a task of a job array, with `{job}` and `{task}`. Needed for job arrays.
    #[serde(default)]
    pub task: String,
}

/// The nodes of a job, as the script of the job sees them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeWords {
    /// Shell expression that yields the names of the nodes.
    pub names: String,
    /// The program and its arguments that run a command on a node. `{node}` is its name, and `{index}` its position from 0.
    /// The words of the command follow.
    pub launch: Vec<String>,
}

/// Names of states, as the list of jobs prints them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StateNames {
    /// The job is pending and will start by itself.
    pub waiting: Vec<String>,
    /// The job is pending and does not start by itself.
    pub held: Vec<String>,
    /// Advice to the user about such a job. `{job}` is replaced by the number of the job.
    pub advice: Option<String>,
    /// The job is suspended.
    pub suspended: Vec<String>,
    /// The job has ended.
    pub ended: Vec<String>,
}

/// The descriptions that are built into this program, by the name that a user writes.
const BUILT_IN: [(&str, &str); 3] =
    [("slurm", include_str!("slurm.toml")), ("sge", include_str!("sge.toml")), ("pbs", include_str!("pbs.toml"))];

/// The names in braces that words may contain. `memory` (bytes) and `megabytes` (MiB) state the memory of one node.
const PLACEHOLDERS: [&str; 11] =
    ["name", "cores", "nodes", "memory", "megabytes", "count", "seconds", "time", "log", "account", "partition"];

impl BatchDescription {
    /// Returns the built-in description with this name, such as `sge`.
    pub fn built_in(name: &str) -> Option<Self> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        toml::from_str(text).ok()
    }

    /// Reads a description.
    ///
    /// # Errors
    /// The file cannot be read or is not a valid description. The message names the file and the key.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Parses a description.
    ///
    /// # Errors
    /// The text is not a valid description.
    pub fn parse(text: &str) -> Result<Self, String> {
        let own: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if own.job_id.trim().is_empty() {
            return Err("job-id is missing; write the shell's expression for the number of the job, such as \
                        job-id = \"$JOB_ID\""
                .into());
        }
        own.check()?;
        Ok(own)
    }

    fn check(&self) -> Result<(), String> {
        let SubmitWords { command, size, cores, memory, nodes, array, time, log, log_name, account, partition, id } =
            &self.submit;
        let lists = [
            ("submit.command", command),
            ("submit.size", size),
            ("submit.cores", cores),
            ("submit.memory", memory),
            ("submit.nodes", nodes),
            ("submit.array", array),
            ("submit.time", time),
            ("submit.log", log),
            ("submit.account", account),
            ("submit.partition", partition),
            ("list.command", &self.list.command),
            ("cancel.command", &self.cancel.command),
        ];
        for (key, words) in lists {
            if key.ends_with("command") && words.first().is_none_or(String::is_empty) {
                return Err(format!("{key} is empty; write the program and its arguments, such as [\"qsub\"]"));
            }
            if let Some(unknown) = words.iter().flat_map(|word| placeholders(word)).find(|name| !is_known(name)) {
                return Err(format!(
                    "{key}: `{{{unknown}}}` has no value; the names with values are {}",
                    PLACEHOLDERS.join(", ")
                ));
            }
        }
        if !command.iter().any(|word| word.contains("{name}")) {
            return Err("submit.command does not contain `{name}`; pass the name of the job, because a resumed run \
                        finds its jobs by name"
                .into());
        }
        if log.is_empty() != log_name.is_empty() {
            return Err("submit.log and submit.log-name belong together; write both or none".into());
        }
        if nodes.is_empty() != self.nodes.is_none() {
            return Err("submit.nodes and the section [nodes] belong together; write both or none".into());
        }
        if let Some(own) = &self.nodes
            && (own.names.is_empty() || own.launch.is_empty() || own.launch.iter().any(|word| word.contains(' ')))
        {
            return Err("nodes.names or nodes.launch is empty, or a word of nodes.launch contains a space".into());
        }
        groups("submit.id", id, &["job"])?;
        groups("list.job", &self.list.job, &["job", "state", "name"])?;
        if !array.is_empty() && !array.iter().any(|word| word.contains("{count}")) {
            return Err("submit.array does not contain `{count}`, the number of pilots".into());
        }
        let [has_job, has_task] = ["{job}", "{task}"].map(|part| self.cancel.task.contains(part));
        match (array.is_empty(), self.task_id.is_empty(), has_job && has_task) {
            (true, true, false) if self.cancel.task.is_empty() => Ok(()),
            (false, false, true) => groups("list.job", &self.list.job, &["task"]),
            _ => {
                Err("submit.array, task-id and cancel.task (with {job} and {task}) belong together; write all or none"
                    .into())
            }
        }
    }
}

fn is_known(name: &str) -> bool {
    PLACEHOLDERS.contains(&name)
}

/// Returns the lower-case names in braces in a word. Braces after `$` belong to the shell.
fn placeholders(word: &str) -> Vec<&str> {
    let open = word.match_indices('{').filter(|(at, _)| !word[..*at].ends_with('$'));
    let name = |(at, _): (usize, &str)| word[at + 1..].split_once('}').map(|(name, _)| name);
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
    open.filter_map(name).filter(is_name).collect()
}

/// Returns an error if an expression is invalid or lacks one of the groups.
fn groups(key: &str, expression: &str, needed: &[&str]) -> Result<(), String> {
    let read = Regex::new(expression).map_err(|error| format!("{key}: {error}"))?;
    let missing = needed.iter().find(|name| !read.capture_names().flatten().any(|known| known == **name));
    missing.map_or(Ok(()), |name| {
        Err(format!("{key}: the expression has no group `{name}`; mark this part with (?<{name}>..)"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_descriptions_inside_the_program_are_valid() {
        for (name, text) in BUILT_IN {
            let own: BatchDescription = toml::from_str(text).unwrap();
            own.check().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(own.job_id.is_empty(), name == "slurm");
        }
        assert!(BatchDescription::built_in("lsf").is_none());
    }

    #[test]
    fn wrong_descriptions_are_refused() {
        let good = include_str!("sge.toml");
        BatchDescription::parse(good).unwrap();
        let cases = [
            ("{count}", "5", "submit.array does not contain `{count}`"),
            ("job-id = \"$JOB_ID\"", "", "job-id is missing"),
            ("[cancel]\ncommand = [\"qdel\"]", "[cancel]\ncommand = []", "cancel.command is empty"),
            ("{cores}", "{core}", "submit.cores: `{core}` has no value"),
            ("(?<state>", "(", "list.job: the expression has no group `state`"),
            ("'(?<job>\\d+)(\\.\\d+-\\d+:\\d+)?\\s*\\z'", "'('", "submit.id: "),
            ("\"-N\", \"{name}\", ", "", "submit.command does not contain `{name}`"),
            ("partition =", "queue =", "unknown field `queue`"),
            ("{job}.{task}", "{job}", "submit.array, task-id and cancel.task"),
            ("task-id = \"$SGE_TASK_ID\"", "", "submit.array, task-id and cancel.task"),
            ("(?<task>", "(", "list.job: the expression has no group `task`"),
            ("[list]", "nodes = [\"-pe\", \"mpi\", \"{nodes}\"]\n[list]", "submit.nodes and the section [nodes]"),
        ];
        for (from, to, expected) in cases {
            assert!(good.contains(from), "{from}");
            let said = BatchDescription::parse(&good.replace(from, to)).unwrap_err();
            assert!(said.contains(expected), "{said}");
        }
    }
}
