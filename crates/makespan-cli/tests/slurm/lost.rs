//! A pilot is lost with tasks in it that had ended.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::Cluster;
use super::processes::{Process, agents, heads};
use super::workspace::Workspace;

fn send(signal: Signal, processes: &[Process]) {
    assert!(!processes.is_empty());
    processes.iter().for_each(|process| kill(Pid::from_raw(process.pid), signal).unwrap());
}

#[test]
fn what_had_ended_when_its_pilot_was_lost_is_not_repeated() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "lost");
    // One succeeds and one fails while nobody could say so; the third is ended with the pilot.
    let job = |index: u32, end: &str| {
        format!(
            "echo begun >>log.{index}; until test -e stop.{index}; do sleep 0.05; done; echo done >>log.{index}; {end}\n"
        )
    };
    space.write("list.txt", &[job(0, "true"), job(1, "exit 3"), job(2, "true")].concat());
    let planner = space.command("run list.txt --on slurm --no-history --folder run").spawn().unwrap();
    let run = space.path("run");
    space.wait("all begin", || (0..3).all(|index| space.path(&format!("log.{index}")).exists()));
    let (heads, agents) = (heads(&run), agents(&run));
    send(Signal::SIGSTOP, &heads);
    send(Signal::SIGSTOP, &agents);
    space.write("stop.0", "");
    space.write("stop.1", "");
    let left = |name: &std::ffi::OsString| !name.to_string_lossy().ends_with(".tmp");
    let names = || std::fs::read_dir(run.join("status")).unwrap().flatten().map(|entry| entry.file_name());
    space.wait("two leave their status", || names().filter(left).count() == 2);
    send(Signal::SIGKILL, &agents);
    let pilot = std::fs::read_dir(run.join("pilot/pilots")).unwrap().next().unwrap().unwrap().file_name();
    cluster.ask("scancel", &["--full", pilot.to_str().unwrap()]);
    send(Signal::SIGKILL, &heads);
    space.write("stop.2", "");
    let said = space.said(planner);
    assert_eq!(said.status, Some(1), "{said:#?}{}", space.logs());
    said.holds(&["exit status 3"]);
    let logs = [0, 1, 2].map(|index| space.read(&format!("log.{index}")));
    assert_eq!(logs[..2], ["begun\ndone\n", "begun\ndone\n"], "{said:#?}{}", space.logs());
    assert!(logs[2].ends_with("done\n"), "{logs:?}{said:#?}");
}
