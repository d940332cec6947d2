//! Tests of the interruption of a campaign.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::sandbox::{Said, Sandbox};

#[test]
fn an_interrupted_campaign_says_where_it_goes_on() {
    let sandbox = Sandbox::new();
    let line = "demt --runs 100000 --families weak --jobs 4 --processors 4 --output results";
    let child = sandbox.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    let finished =
        || std::fs::read_to_string(sandbox.path("results/journal.jsonl")).map_or(0, |text| text.lines().count());
    while finished() < 3 && begin.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(10));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::new(line, &child.wait_with_output().unwrap());
    assert_eq!(said.status, Some(130), "{said:?}");
    assert!(said.err.contains("kept in results; run the same command again to continue"), "{said:?}");
    assert!(finished() >= 3);
}
