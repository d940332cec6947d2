//! Tests that every failure of Slurm's programs is reported with the command and a remedy.

use crate::fakes;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fakes::Fakes;
use makespan_slurm::{CommandError, Commands, Program, Refusal};

#[test]
fn a_missing_program_is_named() {
    let error = Fakes::new().commands().run(Program::Sinfo, ["-s"]).unwrap_err();
    assert_eq!(error, CommandError::Missing { program: Program::Sinfo });
    assert!(error.to_string().contains("cannot run `sinfo`"), "{error}");
    assert!(error.to_string().contains("login node"), "{error}");
}

#[test]
fn what_is_printed_is_returned_with_warnings() {
    let fakes = Fakes::new().with("scontrol", "echo \"$@\"; echo careful >&2");
    let printed = fakes.commands().run(Program::Scontrol, ["-o", "show", "nodes"]).unwrap();
    assert_eq!((printed.out.as_str(), printed.warnings.as_str()), ("-o show nodes\n", "careful\n"));
}

#[test]
fn another_cluster_is_named_to_every_program_but_sacctmgr() {
    let fakes = Fakes::new().with("squeue", "echo CLUSTER: b; echo \"$@\"").with("sacctmgr", "echo \"$@\"");
    let commands = fakes.commands().with_cluster("b");
    assert_eq!(commands.run(Program::Squeue, ["--me"]).unwrap().out, "-M b --me\n");
    assert_eq!(commands.run(Program::Sacctmgr, ["-P", "show", "qos"]).unwrap().out, "-P show qos\n");
}

#[test]
fn messages_name_the_cluster() {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let teller = |text: &str| TOLD.lock().unwrap().push(text.to_owned());
    let said = "echo 'error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    let (fast, slow) =
        (Fakes::new().with("scontrol", said), Fakes::new().with("scontrol", &format!("/bin/sleep 5.5; {said}")));
    let patient =
        |fakes: &Fakes, seconds| fakes.commands().with_patience(Duration::from_secs(seconds)).with_teller(teller);
    let ask = |commands: Commands| commands.run(Program::Scontrol, ["show", "config"]).unwrap_err().to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(ask(patient(&slow, 0).with_cluster("b")).contains("`scontrol -M b show config`")));
        scope.spawn(|| ask(patient(&slow, 0).with_variable("SLURM_CONF", "/c/slurm.conf")));
        scope.spawn(|| ask(patient(&fast, 1).with_cluster("d")));
    });
    let told = TOLD.lock().unwrap();
    for text in [
        "`scontrol -M b show config` has not answered for 5 s; waiting for up to 55 s more",
        "`SLURM_CONF=/c/slurm.conf scontrol show config` has not answered for 5 s; waiting for up to 55 s more",
        "Slurm's controller of cluster d does not answer scontrol; repeating the request for 1 s",
    ] {
        assert!(told.iter().any(|one| one == text), "{text}: {told:?}");
    }
}

#[test]
fn output_of_any_size_is_read_while_the_program_runs() {
    let fakes =
        Fakes::new().with("scontrol", "/usr/bin/head -c 3000000 /dev/zero; /usr/bin/head -c 300000 /dev/zero >&2");
    let printed = fakes.commands().run(Program::Scontrol, ["show"]).unwrap();
    assert_eq!((printed.out.len(), printed.warnings.len()), (3_000_000, 300_000));
}

#[test]
fn a_program_that_hangs_is_killed_with_its_children() {
    let fakes = Fakes::new().with("squeue", "echo waiting >&2; /bin/sleep 60 & wait");
    let begun = Instant::now();
    let error = fakes.commands().with_limit(Duration::from_millis(300)).with_patience(Duration::ZERO);
    let error = error.run(Program::Squeue, ["--me"]).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(matches!(error, CommandError::TimedOut { .. }), "{error:?}");
    assert!(error.is_passing() && error.is_ambiguous());
    assert!(error.to_string().starts_with("`squeue --me` did not end within 0.3 s"), "{error}");
}

#[test]
fn a_controller_that_is_away_for_a_while_is_asked_again() {
    static TOLD: AtomicU32 = AtomicU32::new(0);
    let text = "cd \"${0%/*}\"; echo x >> asked; read a < asked
        [ \"$(/usr/bin/wc -l < asked)\" -ge 3 ] && { echo fine; exit 0; }
        echo 'slurm_load_node error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    let fakes = Fakes::new().with("scontrol", text);
    let teller = |text: &str| {
        assert_eq!(text, "Slurm's controller does not answer scontrol; repeating the request for 30 s");
        TOLD.fetch_add(1, Ordering::Relaxed);
    };
    let printed = fakes.commands().with_teller(teller).run(Program::Scontrol, ["-o", "show", "nodes"]).unwrap();
    assert_eq!((printed.out.as_str(), TOLD.load(Ordering::Relaxed)), ("fine\n", 1));
    assert_eq!(fs::read_to_string(fakes.path().join("asked")).unwrap().lines().count(), 3);
}

#[test]
fn a_controller_that_stays_away_is_given_up_with_a_remedy() {
    let said = "echo 'slurm_load_node error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    let fakes = Fakes::new().with("scontrol", said);
    let commands = fakes.commands().with_patience(Duration::from_millis(1500));
    let error = commands.run(Program::Scontrol, ["-o", "show", "nodes"]).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Unreachable));
    let text = error.to_string();
    assert!(text.contains("`scontrol -o show nodes`: slurm_load_node error: Unable to contact"), "{text}");
    assert!(text.contains("(for 1 s)") && text.contains("scontrol ping"), "{text}");
}

#[test]
fn a_submission_that_may_have_arrived_is_not_repeated() {
    let text = "cd \"${0%/*}\"; echo x >> asked
        echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1";
    let fakes = Fakes::new().with("sbatch", text);
    let error = fakes.submit(&["-N1"]).unwrap_err();
    assert!(error.is_ambiguous(), "{error:?}");
    assert_eq!(fs::read_to_string(fakes.path().join("asked")).unwrap(), "x\n");
    assert!(error.to_string().contains("squeue --me"), "{error}");
}

#[test]
fn a_submission_that_never_left_is_repeated() {
    let text = "cd \"${0%/*}\"; echo x >> asked
        [ \"$(/usr/bin/wc -l < asked)\" -ge 2 ] && { echo '17;east'; exit 0; }
        echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    assert_eq!(Fakes::new().with("sbatch", text).submit(&["-N1"]), Ok(17));
}

#[test]
fn what_makes_no_sense_is_shown() {
    let error = Fakes::new().with("sbatch", "echo welcome").submit(&["-N1"]).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CommandError::Nonsense { .. }), "{error:?}");
    assert!(text.contains("`sbatch --parsable --job-name=a --no-requeue -N1`") && text.contains("welcome"), "{text}");
}

#[test]
fn lines_that_a_site_prints_before_the_number_do_no_harm() {
    let fakes = Fakes::new().with("sbatch", "/bin/cat > \"${0%/*}/script\"; echo '== our cluster =='; echo 23; echo");
    assert_eq!(fakes.submit(&["-N1"]), Ok(23));
    assert_eq!(fs::read_to_string(fakes.path().join("script")).unwrap(), "#!/bin/sh\nexec true\n");
}

#[test]
fn a_refusal_says_what_helps() {
    let said = "echo 'sbatch: error: invalid partition specified: nope
sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1";
    let error = Fakes::new().with("sbatch", said).submit(&["-p", "nope"]).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Partition));
    assert_eq!(
        error.to_string(),
        "`sbatch --parsable --job-name=a --no-requeue -p nope`: invalid partition specified: nope / Batch job \
         submission failed: Invalid partition name specified; `sinfo -s` lists the partitions and their limits; choose a partition: --partition \
         NAME"
    );
}

#[test]
fn a_field_that_is_unknown_is_no_success() {
    let said = "echo 'squeue: error: Invalid job format specification: nope' >&2; echo; exit 0";
    let error = Fakes::new().with("squeue", said).commands().run(Program::Squeue, ["-O", "nope"]).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Option));
}

#[test]
fn cancelling_what_has_ended_is_no_error() {
    let said = "echo 'scancel: error: Kill job error on job id 3: Invalid job id specified' >&2; exit 1";
    Fakes::new().with("scancel", said).slurm().cancel(&[3]).unwrap();
    let said = "echo 'scancel: error: Kill job error on job id 3: Access/permission denied' >&2; exit 1";
    let error = Fakes::new().with("scancel", said).slurm().cancel(&[3]).unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::NoRights));
}

#[test]
fn a_program_that_says_nothing_or_dies_is_told() {
    let error = Fakes::new().with("sinfo", "exit 3").commands().run(Program::Sinfo, ["-h"]).unwrap_err();
    assert!(error.to_string().contains("status 3 and printed no message"), "{error}");
    let error = Fakes::new().with("sinfo", "kill -9 $$").commands().run(Program::Sinfo, ["-h"]).unwrap_err();
    assert!(error.to_string().contains("ended by signal 9"), "{error}");
    // A submission may have succeeded although its program died or printed something else.
    for text in ["kill -9 $$", "echo welcome", "echo 17; kill $$"] {
        let error = Fakes::new().with("sbatch", text).submit(&["-N1"]).unwrap_err();
        assert!(error.is_ambiguous(), "{error:?}");
    }
}

#[test]
fn reading_is_independent_of_habits_and_jobs_inherit_the_environment() {
    let show = "echo \"$TZ $SLURM_TIME_FORMAT ${SQUEUE_FORMAT-none}\"";
    let fakes = Fakes::new().with("squeue", show).with("srun", show);
    let commands = fakes.commands().with_variable("TZ_OF_TEST", "x");
    assert_eq!(commands.run(Program::Squeue, ["-h"]).unwrap().out, "UTC standard none\n");
    let untouched = std::env::var("TZ").unwrap_or_default();
    assert_eq!(commands.run(Program::Srun, ["true"]).unwrap().out, format!("{untouched}  none\n"));
}
