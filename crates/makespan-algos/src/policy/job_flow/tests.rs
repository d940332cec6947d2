use std::cmp::Ordering::{Equal, Greater, Less};

use makespan_core::{Actual, ProcSet, Time, Unavailable, Weight};
use makespan_core::{Cluster, Edge, Graph, Instance, Job, JobId, NamedTask, Node, Payload, Platform, Profile};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

use super::rules::Value;
use super::*;
use crate::policy::policy;

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

prop_compose! {
    fn jobs()(
        tasks in prop::collection::vec(prop::collection::vec(1_i64..60, 1..6), 1..7),
        edges in prop::collection::vec((0_u32..6, 0_u32..6, 0_i64..20), 0..9),
        deadlines in prop::collection::vec(prop::option::of(20_i64..400), 7),
        speeds in prop::collection::vec(1_u32..4, 1..4),
    ) -> Instance {
        let job = |(index, times): (usize, &Vec<i64>)| {
            let task = |(at, &time): (usize, &i64)| {
                NamedTask::new(at.to_string(), Profile::rigid(1, t(12 * time)).unwrap())
            };
            let count = times.len() as u32;
            let mut own: Vec<Edge> = edges.iter().filter(|(from, to, _)| from < to && *to < count)
                .map(|&(from, to, time)| Edge { from, to, payload: Payload::Fixed(t(12 * time)) }).collect();
            own.sort_by_key(|edge| (edge.from, edge.to));
            own.dedup_by_key(|edge| (edge.from, edge.to));
            let mut job = Job::compound(index.to_string(), Graph::new(times.iter().enumerate().map(task).collect(), own).unwrap());
            job.deadline = deadlines[index].map(|time| t(12 * time));
            job
        };
        let node = |(at, &speed): (usize, &u32)| Node { speed: f64::from(speed), ..Node::new(at.to_string(), 1) };
        let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
        let closed = Unavailable { processors: ProcSet::range(0, 0), start: t(200), end: t(300) };
        Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![closed]).unwrap()
    }
}

const GOALS: [Goal; 3] = [Goal::Utilisation, Goal::Cost, Goal::Finish];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_policy_that_goes_on_elsewhere_keeps_deadlines_and_promises(instance in jobs(), handover in any::<bool>()) {
        let clock = if handover { Clock::Handover } else { Clock::Arrival };
        let rules = JobFlowRules { clock, ..JobFlowRules::default() };
        let mut cluster = Cluster::new(&instance);
        let submitted: Vec<Event> = instance.task_ids().filter(|&task| cluster.submit(task)).map(Event::Submitted).collect();
        let ask = |cluster: &Cluster<'_>, told: &[LogEntry]| {
            let mut policy = JobFlow::new(rules);
            policy.recall(told);
            policy.on(&submitted, &cluster.view(), &mut Vec::new());
            policy.log()
        };
        let deadlines = |log: &[LogEntry]| -> Vec<(TaskId, Time)> {
            let mut all: Vec<_> = log.iter().filter_map(|entry| Some((entry.task, entry.what.deadline()?))).collect();
            all.sort_unstable();
            all
        };
        let told = ask(&cluster, &[]);
        cluster.advance(t(500));
        let later = ask(&cluster, &told);
        prop_assert_eq!(deadlines(&told), deadlines(&later));
        prop_assert_eq!(deadlines(&told).len(), instance.jobs().len());
        let mut records = JobRecords::default();
        told.iter().for_each(|entry| records.recall(instance.job_id(entry.task), &entry.what));
        let jobs: Vec<JobId> = instance.ids().collect();
        for (&job, alone) in jobs.iter().zip(&Alone::all(&jobs, &rules, &cluster.view())) {
            let first = told.iter().find(|entry| instance.job_id(entry.task) == job && entry.what.is_of_job());
            let in_time = first.is_some_and(|entry| entry.what.finish() <= entry.what.deadline());
            prop_assert_eq!(FlowCandidate::new(alone, &rules, &records, false, None).promised, in_time);
        }
    }

    #[test]
    fn planned_together_jobs_are_no_worse_off_than_one_by_one(instance in jobs(), reject in any::<bool>()) {
        let mut cluster = Cluster::new(&instance);
        for task in instance.task_ids() {
            cluster.submit(task);
        }
        let view = cluster.view();
        let jobs: Vec<JobId> = instance.ids().collect();
        for goal in GOALS {
            let late = if reject { Late::Reject } else { Late::Run };
            let rules = JobFlowRules { goal, late, ..JobFlowRules::default() };
            let alone = Alone::all(&jobs, &rules, &view);
            let records = JobRecords::default();
            let candidates = alone.iter().map(|alone| FlowCandidate::new(alone, &rules, &records, false, None)).collect();
            let free = PlanKeeper::new(rules.starts).taken(&view);
            let table = FlowTable { rules: &rules, candidates, calendars: calendars(instance.processors(), &free) };
            let (one, all) = (table.in_turn(), table.collective());
            prop_assert!(all.value.compare(&one.value, goal).is_le(), "{:?} {:?}", all.value, one.value);
            prop_assert_eq!(all.value, table.value(&all.choices));
            // Check that no processor is used twice, and that a job is late exactly if it ends after its deadline.
            let mut calendars = table.calendars.clone();
            for (candidate, choice) in table.candidates.iter().zip(&all.choices) {
                prop_assert!(choice.given_up || choice.fits(&calendars, 0));
                choice.occupy(&mut calendars);
                prop_assert_eq!(choice.in_time, choice.offer.finish <= candidate.deadline);
                prop_assert!(choice.variants.iter().all(|offer| offer.finish <= candidate.deadline));
                prop_assert_eq!(choice.given_up, reject && !choice.in_time);
            }
        }
    }
}

#[test]
fn specs_say_what_they_do_not_use() {
    let refused = |spec: &str, part: &str| {
        let message = policy(spec, 1).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{spec}: {message}");
    };
    refused("job-flow[serve=replan,buffer=20s]", "buffer must be left out with serve=replan");
    refused("job-flow[serve=arrival,flow=cost]", "flow must be left out with serve=arrival");
    refused("job-flow[serve=sometimes]", "one of arrival, consecutive, buffer, replan");
    refused("job-flow[buffer=0]", "a positive time");
    refused("job-flow[penalty-cost=-1]", "a whole number");
    refused("job-flow[late=drop]", "one of run, reject");
    assert!(policy("job-flow[serve=buffer,buffer=1m,flow=cost,clock=handover,late=reject,starts=early]", 1).is_ok());
}

#[test]
fn flows_are_compared_by_late_jobs_first() {
    let late = |high: (i128, usize), low: (i128, usize)| vec![high, low];
    let value = Value { late: late((0, 0), (4, 1)), broken: 0, shortfall: 3, cost: 5, busy: 30, ends: 40, span: 20 };
    let order = |other: Value, goal| other.compare(&value, goal);
    let like = || value.clone();
    for goal in GOALS {
        let worse = Value { cost: 9, busy: 1, ends: 90, ..like() };
        let better = Value { cost: 1, busy: 90, ends: 1, ..like() };
        assert_eq!(order(Value { late: late((0, 0), (3, 2)), ..worse.clone() }, goal), Less, "less weight, more jobs");
        assert_eq!(order(Value { late: late((1, 1), (0, 0)), ..better.clone() }, goal), Greater, "of higher priority");
        assert_eq!(order(Value { broken: 1, shortfall: 0, ..better.clone() }, goal), Greater);
        assert_eq!(order(Value { shortfall: 4, ..better }, goal), Greater);
        assert_eq!(order(like(), goal), Equal);
    }
    // 31 / 20 is more than 30 / 20. 45 / 30 is equal to 30 / 20, although the span is longer.
    assert_eq!(order(Value { busy: 31, ..like() }, Goal::Utilisation), Less);
    assert_eq!(order(Value { busy: 45, span: 30, ..like() }, Goal::Utilisation), Greater);
    assert_eq!(order(Value { cost: 4, span: 90, ..like() }, Goal::Cost), Less);
    assert_eq!(order(Value { ends: 39, span: 90, cost: 9, ..like() }, Goal::Finish), Less);
}

/// Returns the least weight and the least number of late jobs for each priority, beginning with the highest. Tries all
/// orders of single tasks on one processor. Tasks that would be late come last.
fn naive(jobs: &[(i64, i64, u64, i32)]) -> Vec<(i128, usize)> {
    let mut priorities: Vec<i32> = jobs.iter().map(|job| -job.3).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let mut best: Option<Vec<(i128, usize)>> = None;
    let mut orders = vec![vec![]];
    for _ in 0..jobs.len() {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let next = (0..jobs.len()).filter(move |next| !order.contains(next));
            next.collect::<Vec<usize>>()
        };
        orders = orders
            .iter()
            .flat_map(|order| longer(order).into_iter().map(|next| [&order[..], &[next]].concat()))
            .collect();
    }
    for order in orders {
        let (mut now, mut late) = (0, vec![(0, 0); priorities.len()]);
        for at in order {
            let (time, deadline, weight, priority) = jobs[at];
            if now + time <= deadline {
                now += time;
            } else {
                let own = &mut late[priorities.iter().position(|&other| other == -priority).unwrap()];
                *own = (own.0 + i128::from(weight) * 1_000_000, own.1 + 1);
            }
        }
        if best.as_ref().is_none_or(|best| late < *best) {
            best = Some(late);
        }
    }
    best.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_least_weight_of_jobs_is_late(
        jobs in prop::collection::vec((1_i64..20, 1_i64..60, 0_u64..5, 0_i32..3), 1..=4),
        (reject, goal) in (any::<bool>(), 0_usize..3),
    ) {
        let job = |(at, &(time, deadline, weight, priority)): (usize, &(i64, i64, u64, i32))| {
            let job = Job::new(at.to_string(), Profile::rigid(1, t(12 * time)).unwrap()).with_priority(priority);
            let weight = Weight::from_millionths(weight * 1_000_000).unwrap();
            job.with_weight(weight).with_deadline(t(12 * deadline))
        };
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs.iter().enumerate().map(job).collect(), vec![]).unwrap();
        let mut cluster = Cluster::new(&instance);
        for task in instance.task_ids() {
            cluster.submit(task);
        }
        let view = cluster.view();
        let late = if reject { Late::Reject } else { Late::Run };
        let rules = JobFlowRules { goal: GOALS[goal], late, ..JobFlowRules::default() };
        let alone = Alone::all(&instance.ids().collect::<Vec<JobId>>(), &rules, &view);
        let records = JobRecords::default();
        let candidates = alone.iter().map(|alone| FlowCandidate::new(alone, &rules, &records, false, None)).collect();
        let free = PlanKeeper::new(rules.starts).taken(&view);
        let table = FlowTable { rules: &rules, candidates, calendars: calendars(1, &free) };
        let found = table.collective().value.late;
        prop_assert_eq!(found, naive(&jobs));
    }

    /// Checks that after a job has ended, the job with the highest priority runs. Among equal priorities, the job with
    /// the highest weight runs, and among equal weights, the job that arrived first.
    #[test]
    fn the_most_urgent_of_a_buffer_is_served_next(
        jobs in prop::collection::vec((1_i64..20, 0_i64..60, 1_u64..4, 0_i32..3), 1..8),
    ) {
        let job = |(at, &(time, release, weight, priority)): (usize, &(i64, i64, u64, i32))| {
            let job = Job::new(at.to_string(), Profile::rigid(1, t(time)).unwrap()).with_priority(priority);
            job.with_weight(Weight::from_millionths(weight * 1_000_000).unwrap()).with_release(t(release))
        };
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs.iter().enumerate().map(job).collect(), vec![]).unwrap();
        let mut policy = policy("job-flow[serve=consecutive,deadline=1]", 1).unwrap();
        let options = SimulationOptions::default();
        let played = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        let mut runs = played.trace.runs;
        runs.sort_by_key(|run| run.start);
        let order: Vec<usize> = runs.iter().map(|run| run.task.index()).collect();
        let (mut now, mut left, mut expected) = (0, (0..jobs.len()).collect::<Vec<usize>>(), Vec::new());
        while !left.is_empty() {
            now = now.max(left.iter().map(|&at| jobs[at].1).min().unwrap());
            let came = left.iter().copied().filter(|&at| jobs[at].1 <= now);
            let next = came.min_by_key(|&at| (Reverse(jobs[at].3), Reverse(jobs[at].2), jobs[at].1, at)).unwrap();
            left.retain(|&other| other != next);
            now += jobs[next].0;
            expected.push(next);
        }
        prop_assert_eq!(order, expected);
    }
}

#[test]
fn a_task_of_a_job_that_was_given_up_is_cancelled_when_it_comes_later() {
    let mut policy = JobFlow::new(JobFlowRules { late: Late::Reject, ..JobFlowRules::default() });
    let task = |name| NamedTask::new(name, Profile::rigid(1, t(10)).unwrap());
    let mut job = Job::compound("j", Graph::new(vec![task("a"), task("b")], vec![]).unwrap());
    job.deadline = Some(t(5));
    let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap();
    let mut cluster = Cluster::new(&instance);
    cluster.submit(TaskId(0));
    cluster.submit(TaskId(1));
    let mut decisions = Vec::new();
    policy.on(&[Event::Submitted(TaskId(0)), Event::Submitted(TaskId(1))], &cluster.view(), &mut decisions);
    assert_eq!(decisions, [Decision::Cancel(TaskId(0)), Decision::Cancel(TaskId(1))]);
    // The policy may see this state after a session in which the cancellation did not succeed.
    decisions.clear();
    policy.on(&[Event::Submitted(TaskId(1))], &cluster.view(), &mut decisions);
    assert_eq!(decisions, [Decision::Cancel(TaskId(1))]);
}
