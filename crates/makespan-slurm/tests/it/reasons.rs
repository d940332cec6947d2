//! Tests that the reason of a pending job names what delays the job, and a remedy that would help.

use makespan_core::WaitReason;
use makespan_slurm::forecast::{ExpectedJob, ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{ClusterOutput, NewJob, Texts};
use proptest::prelude::*;

const NOW: i64 = 10_000;

fn clock(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn node(at: usize, state: &str, allocated: u32) -> String {
    format!("NodeName=n{at} CPUTot=4 CPUAlloc={allocated} RealMemory=8000 State={state} Partitions=p\n")
}

fn held(id: usize, state: &str, ran: i64, cpus: u32, more: &str) -> String {
    format!(
        "JobId={id} JobName=r UserId=u(1) Priority=1 JobState={state} StartTime={} RunTime={} TimeLimit=01:00:00 Partition=p \
         NodeList=n0 NumNodes=1 NumCPUs={cpus} {more}\n",
        NOW - ran,
        clock(ran)
    )
}

fn pending(id: usize, nodes: u32, cpus: u32, more: &str) -> String {
    format!(
        "JobId={id} JobName=w UserId=u(1) Priority={} JobState=PENDING SubmitTime=10 TimeLimit=00:10:00 Partition=p \
         NumNodes={nodes}-{nodes} NumCPUs={cpus} {more}\n",
        1000 - id
    )
}

/// Returns the predictions for the pending jobs if every job runs until its limit.
fn expected(nodes: &str, jobs: &str, more: &[(ClusterOutput, &str)]) -> Vec<ExpectedJob> {
    let texts = Texts::default().with(ClusterOutput::Nodes, nodes).with(ClusterOutput::Jobs, jobs);
    let texts = more.iter().fold(texts, |texts, &(part, text)| texts.with(part, text));
    let queue = texts.queue(Some(NOW)).unwrap();
    let options = ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() };
    let expected = forecast(&queue, &options).expected;
    for WaitReason { brief, text, .. } in expected.iter().map(ExpectedJob::why) {
        assert!(!brief.is_empty() && brief.len() <= text.len() && !brief.contains("asks for"), "{brief} | {text}");
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// `after:J+5` is a delay after the start of job J, not a wait for the end of a job, and also holds after the end of
    /// job J.
    #[test]
    fn a_delay_after_a_start_is_named(ran in 0_i64..1200, minutes in 0_i64..30, has_ended in any::<bool>()) {
        let dependency = format!("Dependency=after:1+{minutes}(unfulfilled)");
        let (state, end) = if has_ended { ("COMPLETED", format!("EndTime={NOW}")) } else { ("RUNNING", String::new()) };
        let jobs = held(1, state, ran, 1, &end) + &pending(2, 1, 1, &dependency);
        let nodes = if has_ended { node(0, "IDLE", 0) } else { node(0, "MIXED", 1) };
        let found = expected(&nodes, &jobs, &[]).remove(0);
        let start = (NOW - ran + 60 * minutes).max(NOW);
        prop_assert_eq!(found.outlook.start, Some(start));
        if start > NOW {
            prop_assert_eq!(found.why().kind.name(), "dependency");
            prop_assert!(found.why().text.contains("after the start of job 1") && found.why().text.ends_with(&start.to_string()), "{}", found.why().text);
            prop_assert_eq!(&found.why().remedy, &None);
        } else {
            prop_assert_eq!(found.why().kind.name(), "next");
        }
    }

    /// A job that is not submitted may depend on ended jobs. No remedy names the id that another job will get.
    #[test]
    fn a_new_job_may_depend_on_ended_jobs(
        condition in prop::sample::select(vec!["afterok", "afterany", "afternotok", "after"]),
        other in prop::sample::select(vec![1, 2, 7]),
        later in any::<bool>(),
    ) {
        let end = format!("EndTime={NOW}");
        let jobs = held(1, "COMPLETED", 60, 1, &end) + &held(2, "FAILED", 60, 1, &end);
        let texts = Texts::default().with(ClusterOutput::Nodes, node(0, "IDLE", 0)).with(ClusterOutput::Jobs, jobs);
        let begin = if later { " begin=2030-01-01T00:00:00" } else { "" };
        let words = format!("nodes=1 time=5 partition=p dependency={condition}:{other}{begin}");
        let (queue, _, remarks) =
            texts.queue(Some(NOW)).unwrap().with_new_job(&NewJob::of_words(&words).unwrap().0).unwrap();
        let found = forecast(&queue, &ForecastOptions::default()).expected.remove(0);
        let never = matches!((condition, other), ("afterok", 2) | ("afternotok", 1));
        prop_assert_eq!(found.outlook.start.is_none(), never, "{:?}", found.why());
        prop_assert!(never || later || found.outlook.start == Some(NOW));
        prop_assert_eq!(remarks.iter().any(|remark| remark.starts_with("job 7, on which the new job depends")), other == 7);
        prop_assert!(found.why().remedy.as_ref().is_none_or(|remedy| !remedy.contains("JobId=")), "{:?}", found.why());
    }

    /// The last of several dependencies on ended jobs decides, but the first possible one of several alternatives.
    #[test]
    fn all_or_one_of_several_ended_jobs(
        ran in 0_i64..1200,
        any in any::<bool>(),
        parts in prop::collection::vec((prop::sample::select(vec!["afterok", "afternotok", "after"]), 1_usize..3, 0_i64..30), 1..4),
    ) {
        let end = format!("EndTime={NOW}");
        let ended = held(1, "COMPLETED", ran, 1, &end) + &held(2, "FAILED", ran, 1, &end);
        let part = |&(condition, other, minutes): &(&str, usize, i64)| match condition {
            "after" => format!("after:{other}+{minutes}(unfulfilled)"),
            _ => format!("{condition}:{other}(unfulfilled)"),
        };
        let text: Vec<String> = parts.iter().map(part).collect();
        let dependency = format!("Dependency={}", text.join(if any { "?" } else { "," }));
        let instant = |&(condition, other, minutes): &(&str, usize, i64)| match (condition, other) {
            ("after", _) => Some(NOW - ran + 60 * minutes),
            ("afterok", 1) | ("afternotok", 2) => Some(NOW),
            _ => None,
        };
        let instants: Vec<Option<i64>> = parts.iter().map(instant).collect();
        // A list with one part has no separator, so it does not state alternatives.
        let start = if any && parts.len() > 1 {
            instants.into_iter().flatten().min()
        } else {
            instants.into_iter().collect::<Option<Vec<i64>>>().and_then(|all| all.into_iter().max())
        };
        let found = expected(&node(0, "IDLE", 0), &(ended + &pending(3, 1, 1, &dependency)), &[]).remove(0);
        prop_assert_eq!(found.outlook.start, start.map(|start| start.max(NOW)), "{}: {:?}", dependency, found.why());
    }

    /// The return of nodes is a remedy only if the partition then has enough nodes.
    #[test]
    fn nodes_that_are_away_help_only_if_they_are_enough(states in prop::collection::vec(any::<bool>(), 1..6), asked in 1_u32..10) {
        let all = states.len() as u32;
        let there = states.iter().filter(|&&up| up).count() as u32;
        let nodes: String = states.iter().enumerate().map(|(at, up)| node(at, if *up { "IDLE" } else { "DOWN" }, 0)).collect();
        let found = expected(&nodes, &pending(1, asked, asked, ""), &[]).remove(0);
        prop_assert_eq!(found.outlook.start.is_some(), asked <= there);
        if asked > there {
            let remedy = found.why().remedy.clone().unwrap();
            prop_assert_eq!(found.why().kind.name(), "nodes");
            prop_assert_eq!(remedy.contains("come back"), asked <= all, "{}: {}", found.why().text, remedy);
            prop_assert!(asked <= all || found.why().text.contains(&format!("has only {all} such node")), "{}", found.why().text);
        }
    }

    /// A node that is away is no remedy if it is too small for the job. Memory is too small even if it is not allocated.
    #[test]
    fn nodes_that_are_too_small_never_help(states in prop::collection::vec(any::<bool>(), 1..6), kind in 0_usize..5, is_named in any::<bool>()) {
        let is_named = is_named && kind < 4;
        let nodes: String = states.iter().enumerate().map(|(at, up)| node(at, if *up { "IDLE" } else { "IDLE+DRAIN" }, 0)).collect();
        let more = ["MinCPUsNode=5", "MinMemoryNode=8001M", "MinCPUsNode=4 MinMemoryCPU=2001M", "TresPerNode=gres:gpu:1", ""][kind];
        let cpus = [5, 1, 4, 1, 5][kind];
        let name = if is_named { " ReqNodeList=n0" } else { "" };
        let jobs = pending(1, 1, cpus, &(more.to_owned() + name)).replace("1-1", if is_named { "1-2" } else { "1-1" });
        for settings in ["CR_CPU", "CR_CPU_MEMORY"] {
            let config = format!("SelectTypeParameters = {settings}\n");
            let found = expected(&nodes, &jobs, &[(ClusterOutput::Config, &config)]).remove(0);
            let WaitReason { kind: reason, text, remedy, .. } = found.why();
            prop_assert_eq!((found.outlook.start, reason.name()), (None, "nodes"));
            prop_assert!(text.ends_with(if is_named { "n0 in p cannot run it" } else { "p has no such node" }), "{}", text);
            prop_assert!(!remedy.as_ref().unwrap().contains("come back"), "{:?}", remedy);
            let amount = ["5 processors", "7.9 GiB", "2.0 GiB a processor", "1 gpu", "5 processors"][kind];
            prop_assert!(text.contains(amount), "{}", text);
        }
    }

    /// A suspended job holds only the processors that its node reports as allocated.
    #[test]
    fn processors_of_suspended_jobs_are_free_if_the_node_reports_so(runs in 0_u32..3, sleeps in 1_u32..3, keeps in any::<bool>()) {
        let allocated = runs + if keeps { sleeps } else { 0 };
        let mut jobs = held(1, "SUSPENDED", 100, sleeps, "");
        if runs > 0 {
            jobs += &held(2, "RUNNING", 100, runs, "");
        }
        let state = if allocated == 0 { "IDLE" } else { "MIXED" };
        if allocated < 4 {
            let all = jobs.clone() + &pending(3, 1, 4 - allocated, "");
            let fits = expected(&node(0, state, allocated), &all, &[]).remove(0);
            prop_assert_eq!(fits.outlook.start, Some(NOW));
        }
        if allocated > 0 {
            let waits = expected(&node(0, state, allocated), &(jobs + &pending(3, 1, 5 - allocated, "")), &[]).remove(0);
            prop_assert!(waits.outlook.start > Some(NOW));
        }
    }

    /// Licences of jobs that have just ended are free again.
    #[test]
    fn licences_without_holders_are_returned(total in 1_u64..4, visible in 0_u64..4, used in 0_u64..5, asked in 1_u64..4) {
        prop_assume!(visible <= total && used <= total && asked <= total);
        let licences = format!("LicenseName=tool Total={total} Used={used} Free={} Reserved=0 Remote=no\n", total - used);
        let mut jobs = pending(2, 1, 1, &format!("Licenses=tool:{asked}"));
        if visible > 0 {
            jobs += &held(1, "RUNNING", 100, 1, &format!("Licenses=tool:{visible}"));
        }
        let allocated = u32::from(visible > 0);
        let state = if visible > 0 { "MIXED" } else { "IDLE" };
        let found = expected(&node(0, state, allocated), &jobs, &[(ClusterOutput::Licences, &licences)]).remove(0);
        let start = match asked {
            _ if asked + visible.max(used) <= total => NOW,
            _ if asked + visible <= total => NOW + 1,
            _ => NOW + 3500,
        };
        prop_assert_eq!(found.outlook.start, Some(start));
        prop_assert_eq!(found.why().kind.name(), if start == NOW { "next" } else { "limit" });
    }
}

/// If only the sum of the processors is too small, the reason states this sum, also if nodes are away.
#[test]
fn too_few_processors_on_enough_nodes_are_the_reason() {
    for states in [["IDLE", "IDLE"], ["IDLE", "IDLE+DRAIN"], ["IDLE+DRAIN", "IDLE+DRAIN"]] {
        let nodes = node(0, states[0], 0) + &node(1, states[1], 0);
        let found = expected(&nodes, &pending(1, 2, 9, ""), &[]).remove(0);
        let WaitReason { text, remedy, .. } = found.why();
        assert!(text.ends_with("but 2 such nodes have only 8 processors in p"), "{text}");
        assert!(!remedy.as_ref().unwrap().contains("come back"), "{remedy:?}");
    }
}

/// A job that starts when a reservation ends waits for the reservation, not for jobs that ended before.
#[test]
fn the_end_of_a_reservation_is_the_reason() {
    let reservation =
        format!("ReservationName=r StartTime={} EndTime={} Nodes=n0 Users=nobody State=ACTIVE\n", NOW - 50, NOW + 4000);
    let jobs = held(1, "RUNNING", 100, 4, "") + &pending(2, 1, 4, "");
    let found = expected(&node(0, "ALLOCATED", 4), &jobs, &[(ClusterOutput::Reservations, &reservation)]).remove(0);
    assert_eq!(
        (found.outlook.start, found.why().kind.name()),
        (Some(NOW + 4000), "reservation"),
        "{}",
        found.why().text
    );
    assert!(found.why().text.starts_with("it waits for the end of reservation r, because "), "{}", found.why().text);
}
