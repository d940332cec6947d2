//! Rare failures of a cluster: programs that answer nonsense, nodes on which no agent starts, a full disk.

use super::cluster::Cluster;
use super::fakes::Fakes;
use super::workspace::Workspace;
use std::process::{Child, Command};

/// Starts a run. Its planner and the jobs that it submits find these programs before Slurm's own.
pub fn with(fakes: &Fakes, space: &Workspace<'_>, line: &str) -> Child {
    with_command(fakes, space, line).spawn().unwrap()
}

fn with_command(fakes: &Fakes, space: &Workspace<'_>, line: &str) -> Command {
    let path = format!("{}:{}", fakes.path().display(), std::env::var("PATH").unwrap());
    let mut command = space.command(line);
    command.env("PATH", path);
    command
}

/// Starts a command. Its standard error is written to the file `told` immediately.
pub fn told_to_file(mut command: Command, space: &Workspace<'_>) -> Child {
    command.stderr(std::fs::File::create(space.path("told")).unwrap()).spawn().unwrap()
}

/// Returns the path of the real program with this name.
pub fn real(name: &str) -> String {
    let path = std::env::var("PATH").unwrap() + ":/usr/sbin:/usr/local/sbin";
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap().display().to_string()
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_run_goes_on_when_slurm_answers_nonsense() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "nonsense");
    let mad = space.path("begun").display().to_string();
    let fake = |name: &str, nonsense: &str| {
        format!("if test -e {mad}; then {nonsense}; exit 0; fi\nexec {} \"$@\"", real(name))
    };
    let fakes = Fakes::new()
        .with("scontrol", &fake("scontrol", "head -c 3000 /dev/urandom; echo; echo JobId=x JobState= NodeName"))
        .with("squeue", &fake("squeue", "echo '{\"jobs\": [{]'; echo '| | |'"));
    space.write("list.txt", &"touch begun; sleep 0.4; echo x >>done\n".repeat(12));
    let said = space.said(with(&fakes, &space, "run list.txt --on slurm --no-history --folder run"));
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("done").lines().count(), 12);
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_submission_that_answers_nonsense_is_an_error() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "vague");
    space.write("list.txt", "true\n");
    let fakes = Fakes::new().with("sbatch", "cat >/dev/null; echo welcome to our cluster");
    let said = space.said(with(&fakes, &space, "run list.txt --on slurm --no-history --folder run"));
    assert_eq!(said.status, Some(255), "{said:#?}");
    said.holds(&["welcome to our cluster"]);
    assert!(!space.path("run/journal.jsonl").exists() || !space.path("run/pilot/pilots/1").exists());
}

/// Errors about missing rights, in the words of a cluster with accounts.
#[test]
fn rights_that_slurm_refuses_are_said_with_what_helps() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "rights");
    space.write("list.txt", "true\n");
    let failed = "Batch job submission failed";
    for (index, (said_by_slurm, remedy)) in [
        ("Invalid account or account/partition combination specified", "sacctmgr show assoc user=$USER"),
        ("Invalid qos specification", "--slurm=--qos=NAME"),
        (
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "sacctmgr show assoc",
        ),
        ("User's group not permitted to use this partition", "sinfo -s"),
        ("Access/permission denied", "ask the administrators"),
    ]
    .into_iter()
    .enumerate()
    {
        for on in ["slurm", "slurm:jobs"] {
            let text = format!("cat >/dev/null; echo \"sbatch: error: {failed}: {said_by_slurm}\" >&2; exit 1");
            let fakes = Fakes::new().with("sbatch", &text);
            let folder = format!("run-{index}-{}", on.len());
            let line = format!("run list.txt --on {on} --no-history --folder {folder}");
            let said = space.said(with(&fakes, &space, &line));
            // Without a pilot no run begins. Jobs that cannot be submitted were not run, and are counted.
            let status = if on == "slurm" { 255 } else { 1 };
            assert_eq!(said.status, Some(status), "{said:#?}");
            said.holds(&[said_by_slurm, remedy]);
        }
    }
}

/// A quiet run prints only the reason why it cannot continue.
#[test]
fn a_quiet_run_still_says_that_its_pilot_cannot_start() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "quiet");
    space.write("list.txt", "true\n");
    // Slurm accepts the pilot, but never starts it.
    let line = "run list.txt --on slurm --quiet --slurm=--hold --no-history --folder run";
    let planner = told_to_file(space.command(line), &space);
    space.wait("a word", || space.read("told").contains("waits in the queue"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(planner.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
    let said = space.said(planner);
    assert_eq!(said.status, Some(130), "{said:#?}");
    let told = space.read("told");
    assert!(told.lines().count() == 2 && told.lines().last().unwrap().starts_with("result: "), "{told}");
}

#[test]
fn a_submission_whose_answer_is_lost_is_found_and_not_repeated() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "unheard");
    space.write("list.txt", "echo $SLURM_JOB_ID >>jobs\nsleep 1\n");
    let text = format!("echo x >>{}; {} \"$@\" >/dev/null; kill -9 $$", space.path("asked").display(), real("sbatch"));
    let fakes = Fakes::new().with("sbatch", &text);
    let said = space.said(with(&fakes, &space, "run list.txt --on slurm --no-history --folder run"));
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!((space.read("asked").lines().count(), space.read("jobs").lines().count()), (1, 1));
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_pilot_without_agents_says_what_its_log_says() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "mute");
    space.write("list.txt", "true\n");
    // The job inherits the path.
    let fakes = Fakes::new().with("srun", "echo 'srun: error: no rights at all' >&2; exit 1");
    let planner =
        told_to_file(with_command(&fakes, &space, "run list.txt --on slurm --no-history --folder run"), &space);
    space.wait("a word of it", || space.read("told").contains("none of its agents has reported"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(planner.id() as i32), nix::sys::signal::Signal::SIGINT).unwrap();
    let said = space.said(planner);
    assert_eq!(said.status, Some(130), "{said:#?}");
    let told = space.read("told");
    assert!(told.contains("--resume") && told.contains("srun: error: no rights at all"), "{told}");
    let said = space.makespan("run list.txt --on slurm --no-history --folder run --resume");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
}

/// The script of a pilot fails at once, as on nodes that do not share the folder.
#[test]
#[ignore = "long: a real Slurm"]
fn pilots_that_fail_at_once_are_given_up_with_a_word() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "unshared");
    space.write("list.txt", "true\n");
    let text = format!("{} --parsable --output=/dev/null --job-name=makespan-unshared --wrap 'exit 1'", real("sbatch"));
    let fakes = Fakes::new().with("sbatch", &format!("cat >/dev/null; exec {text}"));
    let said = space.said(with(&fakes, &space, "run list.txt --on slurm --no-history --folder run"));
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}");
    said.holds(&[
        "before any of its agents had reported",
        "may not share the folder",
        "slurm doctor",
        "all pilots have ended",
    ]);
    assert_eq!(said.err.matches("jobs remain").count(), 2, "{said:#?}");
}

#[test]
#[ignore = "long: a real Slurm"]
fn jobs_that_fail_before_they_begin_are_given_up_with_a_word() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "jobs-unshared");
    space.write("list.txt", &"true\n".repeat(12));
    let text = format!(
        "for word; do case $word in --job-name=*) name=$word;; esac; done; cat >/dev/null; \
         exec {} --parsable --output=/dev/null \"$name\" --wrap 'exit 1'",
        real("sbatch")
    );
    let fakes = Fakes::new().with("sbatch", &text);
    let said = space.said(with(&fakes, &space, "run list.txt --on slurm:jobs --no-history --folder run"));
    assert!(matches!(said.status, Some(1..=100)), "{said:#?}");
    said.holds(&[
        "8 Slurm jobs of this run ended without starting their task",
        "may not share the folder",
        "slurm doctor",
    ]);
    let said = space.makespan("run list.txt --on slurm:jobs --no-history --folder run --resume");
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
}

#[test]
#[ignore = "long: a real Slurm"]
fn a_full_disk_is_waited_for() {
    let Some(cluster) = Cluster::shared() else { return };
    let space = Workspace::new(cluster, "full");
    let disk = space.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("\nSKIPPED: a full disk under a run on Slurm; only root may mount one");
        return;
    }
    // The disk is unmounted even if this test fails.
    let _gone = Unmount(&disk);
    space.write("list.txt", &"sleep 0.3; echo x >>done\n".repeat(60));
    let planner = told_to_file(space.command("run list.txt --on slurm --no-history --folder disk/run"), &space);
    space.wait("some end", || space.path("done").exists() && space.read("done").lines().count() >= 8);
    // The rest of the disk is filled, and freed later.
    let fill = "dd if=/dev/zero of=\"$0\" bs=64k 2>/dev/null; dd if=/dev/zero of=\"$0.b\" bs=512 2>/dev/null; true";
    assert!(Command::new("sh").args(["-c", fill]).arg(disk.join("filler")).status().unwrap().success());
    let told = || space.read("told");
    // Either the journal or a file of a job runs out of space first.
    let goes_on = ["trying again", "until the journal can be written"];
    let is_told = || told().contains("No space left on device") && goes_on.iter().any(|word| told().contains(word));
    space.wait(&format!("a word of it, after {} ends", space.read("done").lines().count()), is_told);
    let before = space.read("done").lines().count();
    for name in ["filler", "filler.b"] {
        std::fs::remove_file(disk.join(name)).unwrap();
    }
    let said = space.said(planner);
    assert_eq!(said.status, Some(0), "{said:#?}{}", space.logs());
    assert_eq!(space.read("done").lines().count(), 60, "{before} before the disk had room again");
}

struct Unmount<'a>(&'a std::path::Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
