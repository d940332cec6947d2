//! Reads the answers of the nodes of a test job.

use std::io::{self, BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::Nodes;

/// Reads the lines of the nodes, and records when each line arrives.
pub(super) fn listen(mut child: Child, limit: Duration) -> (Nodes, Option<String>) {
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
        (true, _) => Some(format!("the test job did not end within {} s; check `squeue --me`", limit.as_secs())),
        (false, true) => {
            let said = if said.is_empty() { "srun failed and printed no message".to_owned() } else { said.join(" / ") };
            let busy = "; the nodes are busy: wait longer (--wait 10m), test fewer nodes (--nodes 1), or run the test \
                        in an allocation";
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

/// Parses one line of a node.
pub(super) fn hear(nodes: &mut Nodes, line: &str, now: f64) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["makespan-doctor", name, what, value] = words[..] else { return };
    let said = nodes.entry(name.to_owned()).or_default();
    match what {
        "time" => said.ahead.extend(value.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9 - now)),
        "program" => said.has_program = Some(value == "yes"),
        "sum" => said.sum = Some(value.to_owned()),
        "shared" => said.shared = Some(value.to_owned()),
        "met" => said.met = Some(value.to_owned()),
        "taken" => said.taken = value.parse().ok(),
        _ => {}
    }
}
