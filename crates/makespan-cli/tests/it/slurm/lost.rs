//! Pilots that are lost with tasks in them.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::{Cluster, NodeSpec};
use super::processes::{Process, agents, heads};
use super::workspace::Workspace;

fn send(signal: Signal, processes: &[Process]) {
    assert!(!processes.is_empty());
    for process in processes {
        let sent = kill(Pid::from_raw(process.pid), signal);
        // Slurm may have killed the process already.
        assert!(sent.is_ok() || (signal == Signal::SIGKILL && sent == Err(Errno::ESRCH)), "{sent:?}");
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn what_had_ended_when_its_pilot_was_lost_is_not_repeated() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "lost");
    // One job succeeds and one fails while neither can be reported. The third is ended with the pilot.
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
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}{}", space.logs());
    said.holds(&["exit status 3"]);
    let logs = [0, 1, 2].map(|index| space.read(&format!("log.{index}")));
    assert_eq!(logs[..2], ["begun\ndone\n", "begun\ndone\n"], "{said:#?}{}", space.logs());
    assert!(logs[2].ends_with("done\n"), "{logs:?}{said:#?}");
}

/// Job that waits for a file.
const WAITING: &str = "echo begun >>log.{i}; until test -e stop; do sleep 0.05; done; echo done >>log.{i}\n";

fn waiting(count: usize) -> String {
    (0..count).map(|index| WAITING.replace("{i}", &index.to_string())).collect()
}

fn have_begun(space: &Workspace, count: usize) -> bool {
    (0..count).all(|index| space.path(&format!("log.{index}")).exists())
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_node_that_was_down_and_is_back_gives_up_its_jobs() {
    let Some(cluster) = Cluster::start_with(&[NodeSpec::new("n0", 2), NodeSpec::new("n1", 2)], "") else { return };
    let space = Workspace::new(&cluster, "back");
    space.write("list.txt", &waiting(4));
    let planner = space.command("run list.txt --on slurm --nodes 2 --no-history --folder run").spawn().unwrap();
    space.wait("all begin", || have_begun(&space, 4));
    let pilot = std::fs::read_dir(space.path("run/pilot/pilots")).unwrap().next().unwrap().unwrap().file_name();
    // The node is back at once, so its state does not show that it was down.
    cluster.ask("scontrol", &["update", "nodename=n1", "state=down", "reason=fan"]);
    let nodes = || cluster.ask("squeue", &["-h", "-j", pilot.to_str().unwrap(), "-o", "%N"]);
    space.wait("the pilot goes on without it", || nodes() == "n0");
    space.wait("two begin again or end", || {
        space.write("stop", "");
        (0..4).all(|index| space.read(&format!("log.{index}")).ends_with("done\n"))
    });
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    for index in 0..4 {
        assert_eq!(space.read(&format!("log.{index}")).matches("done").count(), 1, "{said:#?}{}", space.logs());
    }
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_stop_does_not_wait_for_ever_for_those_that_do_not_answer() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "silent");
    space.write("list.txt", &waiting(2));
    let planner = space.command("run list.txt --on slurm --no-history --folder run").spawn().unwrap();
    space.wait("all begin", || have_begun(&space, 2));
    let run = space.path("run");
    let silent: Vec<Process> = heads(&run).into_iter().chain(agents(&run)).collect();
    send(Signal::SIGSTOP, &silent);
    kill(Pid::from_raw(planner.id() as i32), Signal::SIGINT).unwrap();
    let said = space.said(planner);
    assert_eq!(said.status, Some(130), "{said:#?}{}", space.logs());
    said.holds(&["2 jobs may still be running", "resume the run"]);
    send(Signal::SIGCONT, &silent);
    space.write("stop", "");
    let said = space.makespan("run list.txt --on slurm --no-history --folder run --resume");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    for index in 0..2 {
        assert_eq!(space.read(&format!("log.{index}")).matches("done").count(), 1, "{said:#?}{}", space.logs());
    }
}

/// Slurm reports a frozen pilot as running.
#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_of_which_nothing_is_heard_is_lost_though_slurm_says_that_it_runs() {
    let Some(cluster) = Cluster::start(&NodeSpec::equal(2, 2)) else { return };
    let space = Workspace::new(&cluster, "deaf");
    space.write("list.txt", &waiting(3));
    let line = "run list.txt --on slurm --nodes 2 --no-history --folder run";
    let planner = super::strange::told_to_file(space.command(line), &space);
    space.wait("all begin", || have_begun(&space, 3));
    let run = space.path("run");
    let frozen: Vec<Process> = heads(&run).into_iter().chain(agents(&run)).collect();
    send(Signal::SIGSTOP, &frozen);
    space.wait("the message", || space.read("told").contains("its agents did not report"));
    // The next pilot gets the nodes when all processes of this one have ended.
    let again = |index: u32| space.read(&format!("log.{index}")).matches("begun").count() == 2;
    space.wait("all begin again", || (0..3).all(again));
    space.write("stop", "");
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}{}", space.read("told"), space.logs());
    for index in 0..3 {
        assert_eq!(space.read(&format!("log.{index}")).matches("done").count(), 1, "{}", space.read("told"));
    }
}
