//! A short job on some nodes: are their clocks the same, is the folder shared, and does a file move to one place only?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::command::{CommandError, Commands, Program};

use super::{Examination, Finding, split};

/// What each node does.
const SCRIPT: &str = include_str!("probe.sh");
/// Files that all nodes reach for.
const FILES: u32 = 40;
/// How long the job itself may take once it runs.
const RUNS: Duration = Duration::from_mins(1);
/// Clocks that differ by less can be ignored: a line takes some time from a node to here.
const CLOSE: f64 = 1.0;
/// Munge refuses credentials of another time.
const REFUSED: f64 = 300.0;

/// What one node said.
#[derive(Debug, Default)]
struct Said {
    /// Seconds that its clock is before ours, or behind it if negative, as far as each line tells: the line's way is part of it.
    ahead: Vec<f64>,
    has_program: Option<bool>,
    shared: Option<String>,
    met: Option<String>,
    taken: Option<u32>,
}

/// What all nodes said.
type Nodes = BTreeMap<String, Said>;

pub(super) fn examine(examination: &Examination, commands: &Commands) -> Vec<Finding> {
    const TOPIC: &str = "test job";
    if examination.nodes == 0 {
        return vec![Finding::unknown(TOPIC, "none was run", "leave --nodes 0 out to examine clocks and the folder")];
    }
    // As many nodes as there are, if fewer than were asked for; without an answer srun says what is wrong.
    let there = match examination.own_job {
        Some(job) => commands.allocation(job).map(|allocated| allocated.machines),
        None => commands.machines(examination.partition.as_deref()),
    };
    let there = there.map_or(examination.nodes, |machines| machines.platform.node_count() as u32);
    let asked_nodes = examination.nodes.min(there);
    match asked(examination, commands, asked_nodes) {
        Ok((nodes, problem)) if nodes.is_empty() => {
            let said = problem.unwrap_or_else(|| "the nodes said nothing".to_owned());
            let (said, remedy) = split(&said);
            vec![Finding::bad(TOPIC, said, remedy)]
        }
        Ok((nodes, problem)) => {
            let names: Vec<&str> = nodes.keys().map(String::as_str).collect();
            let ran = format!("ran on {}", names.join(", "));
            let job = match problem {
                None => Finding::good(TOPIC, ran),
                Some(problem) => {
                    let (said, remedy) = split(&problem);
                    Finding::doubtful(TOPIC, format!("{ran}; {said}"), remedy)
                }
            };
            vec![job, clocks(&nodes), program(&nodes), shared(&nodes, asked_nodes), renames(&nodes)]
        }
        Err(error) => vec![Finding::unknown(TOPIC, error.to_string(), "name a folder that can be written: --folder")],
    }
}

/// Runs the job. Besides what the nodes said, what went wrong.
fn asked(examination: &Examination, commands: &Commands, nodes: u32) -> io::Result<(Nodes, Option<String>)> {
    let place = tempfile::Builder::new().prefix(".makespan-doctor-").tempdir_in(&examination.folder)?;
    let folder = place.path().canonicalize()?;
    for name in ["here", "todo"] {
        fs::create_dir(folder.join(name))?;
    }
    for file in 0..FILES {
        fs::write(folder.join("todo").join(file.to_string()), file.to_string())?;
    }
    let token = folder.display().to_string();
    fs::write(folder.join("token"), &token)?;
    let program = std::env::current_exe().unwrap_or_default();
    let nodes = nodes.to_string();
    let mut step = commands.process(Program::Srun);
    step.args(["--nodes", &nodes, "--ntasks", &nodes, "--ntasks-per-node=1", "--cpus-per-task=1", "--wait=0"]);
    step.args(["--job-name=makespan-doctor", "--unbuffered", "--kill-on-bad-exit=0", "--chdir=/"]);
    match examination.own_job {
        Some(job) => {
            step.args(["--overlap", &format!("--jobid={job}")]);
        }
        None => {
            let wait = examination.patience.as_secs().max(1);
            step.args(["--time=2", "--mem=64", &format!("--immediate={wait}")]);
            if let Some(partition) = &examination.partition {
                step.args(["--partition", partition]);
            }
        }
    }
    step.args(["sh", "-c", SCRIPT, "makespan-doctor"]).arg(&folder).arg(&token).arg(&nodes).arg(&program);
    step.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let heard = match step.spawn() {
        Ok(child) => listen(child, examination.patience + RUNS),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let missing = CommandError::Missing { program: Program::Srun };
            return Ok((Nodes::new(), Some(missing.to_string())));
        }
        Err(error) => return Err(error),
    };
    // What a node has written is removed here: the folder goes with its value.
    Ok(heard)
}

/// Reads what nodes say as they say it, with the time at which it comes.
fn listen(mut child: Child, limit: Duration) -> (Nodes, Option<String>) {
    let deadline = Instant::now() + limit;
    let (sender, lines) = channel();
    let streams = [
        child.stdout.take().map(|stream| (true, Box::new(stream) as Box<dyn io::Read + Send>)),
        child.stderr.take().map(|stream| (false, Box::new(stream) as Box<dyn io::Read + Send>)),
    ];
    for (is_out, stream) in streams.into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
                if sender.send((is_out, String::from_utf8_lossy(&line).into_owned(), now)).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let (mut nodes, mut errors) = (Nodes::new(), Vec::new());
    let late = loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((true, line, now)) => hear(&mut nodes, &line, now),
            Ok((false, line, _)) => errors.push(line),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if late {
        let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    }
    let failed = child.wait().map_or(true, |status| !status.success());
    let said = errors.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && line.contains("error"));
    let said = said.map(|line| line.trim_start_matches("srun: ").trim_start_matches("error: ")).take(3);
    let said: Vec<&str> = said.collect();
    let problem = match (late, failed) {
        (true, _) => Some(format!("it did not end within {} s; look at `squeue --me`", limit.as_secs())),
        (false, true) => {
            let said = if said.is_empty() { "srun failed and said nothing".to_owned() } else { said.join(" / ") };
            let busy = "; the nodes are busy: wait longer (--wait 10m), ask for fewer (--nodes 1), or run it inside an allocation";
            let remedy = if said.to_lowercase().contains("immediate") || said.contains("temporarily") {
                busy.to_owned()
            } else {
                format!("; {}", crate::Refusal::of(&said).remedy())
            };
            Some(said + &remedy)
        }
        (false, false) => None,
    };
    (nodes, problem)
}

/// One line of a node.
fn hear(nodes: &mut Nodes, line: &str, now: f64) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["makespan-doctor", name, what, value] = words[..] else { return };
    let said = nodes.entry(name.to_owned()).or_default();
    match what {
        "time" => said.ahead.extend(value.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9 - now)),
        "program" => said.has_program = Some(value == "yes"),
        "shared" => said.shared = Some(value.to_owned()),
        "met" => said.met = Some(value.to_owned()),
        "taken" => said.taken = value.parse().ok(),
        _ => {}
    }
}

/// A line comes later than it was written: the largest of several differences has the shortest way.
fn clocks(nodes: &Nodes) -> Finding {
    const TOPIC: &str = "clocks";
    let ahead = |said: &Said| said.ahead.iter().copied().reduce(f64::max);
    let known: Vec<(&str, f64)> = nodes.iter().filter_map(|(name, said)| Some((name.as_str(), ahead(said)?))).collect();
    let Some(&(name, most)) = known.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
        return Finding::unknown(TOPIC, "the nodes did not say their time", "check that `date +%s%N` works there");
    };
    let direction = if most > 0.0 { "ahead of" } else { "behind" };
    let found = format!("{name} is {:.1} s {direction} this machine", most.abs());
    let remedy =
        "ask the administrators to synchronise the clocks (chrony); files of one node seem older or newer to others";
    match most.abs() {
        close if close <= CLOSE => {
            Finding::good(TOPIC, format!("nodes and this machine differ by at most {:.1} s", close.max(0.1)))
        }
        apart if apart < REFUSED => Finding::doubtful(TOPIC, found, remedy),
        _ => Finding::bad(TOPIC, found, format!("{remedy}; munge refuses what is older than 5 min")),
    }
}

fn program(nodes: &Nodes) -> Finding {
    const TOPIC: &str = "program";
    let path = std::env::current_exe().unwrap_or_default();
    let without: Vec<&str> =
        nodes.iter().filter(|(_, said)| said.has_program == Some(false)).map(|(name, _)| name.as_str()).collect();
    if without.is_empty() {
        return Finding::good(TOPIC, format!("{} is on the nodes", path.display()));
    }
    let found = format!("{} is not on {}", path.display(), without.join(", "));
    Finding::bad(TOPIC, found, "install it where all nodes see it, and start it from there")
}

fn shared(nodes: &Nodes, asked: u32) -> Finding {
    const TOPIC: &str = "shared folder";
    let with = |answer: &str| -> Vec<&str> {
        nodes.iter().filter(|(_, said)| said.shared.as_deref() == Some(answer)).map(|(name, _)| name.as_str()).collect()
    };
    let remedy = "name a folder on a file system that all nodes share, such as your home or scratch: --folder";
    let (unseen, closed) = (with("no"), with("readonly"));
    if !unseen.is_empty() {
        return Finding::bad(TOPIC, format!("{} does not see it", unseen.join(", ")), remedy);
    }
    if !closed.is_empty() {
        return Finding::bad(TOPIC, format!("{} cannot write to it", closed.join(", ")), remedy);
    }
    if nodes.len() < asked as usize {
        return Finding::unknown(
            TOPIC,
            format!("{} of {asked} nodes answered", nodes.len()),
            "look at the test job above",
        );
    }
    let rounds: Vec<Option<u32>> =
        nodes.values().map(|said| said.met.as_deref().and_then(|met| met.parse().ok())).collect();
    if rounds.iter().any(Option::is_none) {
        return Finding::bad(TOPIC, "nodes do not see each other's files within 30 s", remedy);
    }
    let most = rounds.into_iter().flatten().max().unwrap_or(0);
    if asked == 1 {
        return Finding::good(TOPIC, "a node sees what this machine writes; 1 node cannot say more");
    }
    // They also wait for each other to begin.
    Finding::good(TOPIC, format!("all see each other's files within {:.1} s", f64::from(most + 1) / 10.0))
}

fn renames(nodes: &Nodes) -> Finding {
    const TOPIC: &str = "rename";
    let counts: Vec<u32> = nodes.values().filter_map(|said| said.taken).collect();
    if counts.len() < nodes.len() {
        return Finding::unknown(TOPIC, "not every node moved files", "mend the shared folder first");
    }
    let taken: u32 = counts.iter().sum();
    let distinct: BTreeSet<u32> = counts.iter().copied().collect();
    let between = format!("{} nodes", nodes.len());
    if taken == FILES {
        let alone = if nodes.len() > 1 && distinct.contains(&FILES) { ", one of them all" } else { "" };
        return Finding::good(TOPIC, format!("atomic: {between} moved {FILES} files, each once{alone}"));
    }
    let found = format!("not atomic: {between} moved {FILES} files {taken} times");
    Finding::bad(TOPIC, found, "runs could repeat or lose tasks there; choose another file system: --folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(lines: &[&str]) -> Nodes {
        let mut nodes = Nodes::new();
        lines.iter().for_each(|line| hear(&mut nodes, line, 1000.0));
        nodes
    }

    #[test]
    fn the_script_reaches_for_all_files() {
        let files: Vec<String> = (0..FILES).map(|file| file.to_string()).collect();
        assert!(SCRIPT.contains(&format!("in {}; do", files.join(" "))));
    }

    #[test]
    fn the_shortest_way_of_a_line_says_how_clocks_differ() {
        use super::super::Verdict;
        let verdict = |time: &str| {
            clocks(&nodes(&[&format!("makespan-doctor n0 time {time}"), "makespan-doctor n0 time 990000000000"]))
                .verdict
        };
        assert_eq!(verdict("999800000000"), Verdict::Good);
        assert_eq!(verdict("1030000000000"), Verdict::Doubtful);
        assert_eq!(verdict("2000000000000"), Verdict::Bad);
        assert_eq!(verdict("x"), Verdict::Doubtful);
    }

    #[test]
    fn files_that_move_twice_are_noticed() {
        use super::super::Verdict;
        let lines = |a: u32, b: u32| {
            nodes(&[&format!("makespan-doctor n0 taken {a}"), &format!("makespan-doctor n1 taken {b}")])
        };
        assert_eq!(renames(&lines(15, 25)).verdict, Verdict::Good);
        assert_eq!(renames(&lines(25, 25)).verdict, Verdict::Bad);
        assert_eq!(renames(&lines(15, 15)).verdict, Verdict::Bad);
    }
}
