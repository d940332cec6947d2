//! Priorities that change with the usage of users.

use makespan_slurm::Config;
use makespan_slurm::forecast::{ForecastOptions, RunTimes, forecast};
use makespan_slurm::queue::{ClusterOutput, Queue, Texts};

use super::one_future::starts;
use super::random_queue::random;

/// Returns the output of `scontrol show assoc_mgr` for users of the account `a`, with their usage and their factor.
fn associations(users: &[(&str, u64, &str)]) -> String {
    let one = |(user, usage, factor): &(&str, u64, &str)| {
        let user = if user.is_empty() { String::new() } else { format!("{user}(1)") };
        format!(
            "ClusterName=c Account=a UserName={user} Partition= SharesRaw/Norm/Level/Factor=1/0.5/2/{factor} \
             UsageRaw/Norm/Efctv={usage}.00/0.1/0.1 ParentAccount=\n"
        )
    };
    one(&("", 0, "0.00")) + &users.iter().map(one).collect::<String>()
}

fn configuration(flags: &str) -> String {
    format!(
        "PriorityType = priority/multifactor\nPriorityWeightFairShare = 10000\nPriorityDecayHalfLife = 01:00:00\n\
         PriorityCalcPeriod = 00:01:00\nPriorityFlags = {flags}\nSchedulerParameters = bf_interval=30\n"
    )
}

/// A user with little usage has two jobs after four jobs of a user who has just used slightly less. As soon as the first of
/// these four jobs has run for a minute, the light user comes first. A record of a real Slurm with this weight showed
/// that jobs of a light user started 160 to 235 s earlier than predicted without the fair share.
#[test]
fn jobs_of_a_light_user_come_first_when_the_other_has_used_more() {
    let job = |id: u32, user: &str, priority: u32, more: &str| {
        format!(
            "JobId={id} JobName=j UserId={user}(1) Account=a Priority={priority} SubmitTime=900 TimeLimit=00:01:20 Partition=p \
             NumNodes=1-1 NumCPUs=4 {more}\n"
        )
    };
    let mut jobs = job(1, "heavy", 1, "JobState=RUNNING StartTime=940 RunTime=00:01:00 NodeList=n0");
    (2..6).for_each(|id| jobs += &job(id, "heavy", 10_000, "JobState=PENDING"));
    (6..8).for_each(|id| jobs += &job(id, "light", 5000, "JobState=PENDING"));
    let start = |assoc: &str| {
        let texts = Texts::default()
            .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 CPUAlloc=4 State=ALLOCATED Partitions=p\n")
            .with(ClusterOutput::Jobs, jobs.as_str())
            .with(ClusterOutput::Config, configuration(""))
            .with(ClusterOutput::Limits, assoc);
        let queue = texts.queue(Some(1000)).unwrap();
        let options = ForecastOptions { times: RunTimes::Limits, ..ForecastOptions::default() };
        let found = forecast(&queue, &options).expected;
        let notes = queue.remarks.iter().filter(|note| note.contains("PriorityWeightFairShare")).count();
        (found.iter().map(|one| one.outlook.start.unwrap() - 1000).collect::<Vec<_>>(), notes)
    };
    let (fixed, note) = start("");
    assert_eq!((&fixed[..], note), (&[20, 100, 180, 260, 340, 420][..], 1));
    let (moving, note) = start(&associations(&[("heavy", 900, "1.00"), ("light", 1000, "0.50")]));
    assert_eq!(note, 0);
    let earlier: Vec<i64> = [4, 5].iter().map(|&at| fixed[at] - moving[at]).collect();
    assert!(earlier.iter().all(|seconds| (160..=240).contains(seconds)), "{earlier:?}");
}

/// Returns a random queue in which the fair share is part of the priorities.
fn queue(seed: u64, rules: u32) -> Queue {
    let mut queue = random(seed, rules);
    let flags = if seed.is_multiple_of(2) { "" } else { "NO_FAIR_TREE" };
    let users = [("u0", 90_000 * (seed % 5), "0.33"), ("u1", 40_000, "0.67"), ("u2", 20_000 * (seed % 7), "1.00")];
    let texts = Texts::default()
        .with(ClusterOutput::Nodes, "NodeName=n0 CPUTot=4 State=IDLE Partitions=p\n")
        .with(ClusterOutput::Jobs, "")
        .with(ClusterOutput::Limits, associations(&users));
    queue.associations = texts.queue(Some(queue.now)).unwrap().associations;
    let own: String = queue.config.settings().iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    queue.config = Config::parse(&(configuration(flags) + &own.replace("priority/basic", "priority/multifactor")));
    for job in &mut queue.jobs {
        job.account = Some("a".into());
        job.priority %= 12_000;
    }
    queue
}

#[test]
fn the_simulation_changes_priorities_as_the_forecast_does() {
    let mut changed = 0;
    for rules in [0, 1, 1 | 1 << 5, 1 | 1 << 12] {
        for seed in 0..30 {
            let mut queue = queue(seed, rules);
            let own = starts(&queue, RunTimes::Usual, &queue.policy_spec(&[]));
            queue.separate_fair_share().unwrap();
            for (one, before) in starts(&queue, RunTimes::Usual, &queue.policy_spec(&[])).iter().zip(own) {
                assert_eq!(one.1, one.2, "rules {rules:#b}, seed {seed}: {one:?}");
                // Separating the fair share does not change the forecast. The fixed priorities give other starts.
                assert_eq!(one.1, before.1, "rules {rules:#b}, seed {seed}: {one:?}");
                changed += usize::from(before.1 != before.2);
            }
        }
    }
    assert!(changed > 50, "{changed} starts depend on the fair share");
}
