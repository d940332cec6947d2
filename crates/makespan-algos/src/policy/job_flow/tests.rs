use std::cmp::Ordering::{Equal, Greater, Less};

use makespan_core::{Cluster, Edge, Expansion, Graph, Instance, Job, JobId, Load, NamedTask, Node, Platform, Profile};
use makespan_core::{Time, Unavailable};
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
        walltimes in prop::collection::vec(prop::option::of(20_i64..400), 7),
        speeds in prop::collection::vec(1_u32..4, 1..4),
    ) -> Instance {
        let job = |(index, times): (usize, &Vec<i64>)| {
            let task = |(at, &time): (usize, &i64)| {
                NamedTask::new(at.to_string(), Profile::rigid(1, t(12 * time)).unwrap())
            };
            let count = times.len() as u32;
            let mut own: Vec<Edge> = edges.iter().filter(|(from, to, _)| from < to && *to < count)
                .map(|&(from, to, time)| Edge { from, to, load: Load::Fixed(t(12 * time)) }).collect();
            own.sort_by_key(|edge| (edge.from, edge.to));
            own.dedup_by_key(|edge| (edge.from, edge.to));
            let mut job = Job::compound(index.to_string(), Graph::new(times.iter().enumerate().map(task).collect(), own).unwrap());
            job.walltime = walltimes[index].map(|time| t(12 * time));
            job
        };
        let node = |(at, &speed): (usize, &u32)| Node {
            name: at.to_string(), processors: 1, speed: f64::from(speed), parent: None, link: None,
        };
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
        let expanded = Expansion::of(&instance).unwrap().instance;
        let clock = if handover { Clock::Handover } else { Clock::Arrival };
        let rules = JobFlowRules { clock, ..JobFlowRules::default() };
        let mut cluster = Cluster::new(&expanded);
        let submitted: Vec<Event> = expanded.ids().filter(|&job| cluster.submit(job)).map(Event::Submitted).collect();
        let ask = |cluster: &Cluster<'_>, told: &[LogEntry]| {
            let mut policy = JobFlow::new(rules);
            policy.recall(told);
            policy.on(&submitted, &cluster.view(), &mut Vec::new());
            policy.log()
        };
        let deadlines = |log: &[LogEntry]| -> Vec<(JobId, Time)> {
            let mut all: Vec<_> = log.iter().filter_map(|entry| Some((entry.job, entry.what.deadline()?))).collect();
            all.sort_unstable();
            all
        };
        let told = ask(&cluster, &[]);
        cluster.advance(t(500));
        let later = ask(&cluster, &told);
        prop_assert_eq!(deadlines(&told), deadlines(&later));
        prop_assert_eq!(deadlines(&told).len(), instance.jobs().len());
        let mut book = Book::default();
        told.iter().for_each(|entry| book.recall(whole_of(&expanded, entry.job), &entry.what));
        let wholes: Vec<usize> = (0..instance.jobs().len()).collect();
        for (&whole, alone) in wholes.iter().zip(&Alone::all(&wholes, &rules, &cluster.view())) {
            let first = told.iter().find(|entry| whole_of(&expanded, entry.job) == whole && entry.what.is_of_whole());
            let in_time = first.is_some_and(|entry| entry.what.finish() <= entry.what.deadline());
            prop_assert_eq!(Candidate::new(alone, &rules, &book).promised, in_time);
        }
    }

    #[test]
    fn planned_together_jobs_are_no_worse_off_than_one_by_one(instance in jobs(), reject in any::<bool>()) {
        let expanded = Expansion::of(&instance).unwrap().instance;
        let mut cluster = Cluster::new(&expanded);
        for job in expanded.ids() {
            cluster.submit(job);
        }
        let view = cluster.view();
        let wholes: Vec<usize> = (0..instance.jobs().len()).collect();
        for goal in GOALS {
            let late = if reject { Late::Reject } else { Late::Run };
            let rules = JobFlowRules { goal, late, ..JobFlowRules::default() };
            let alone = Alone::all(&wholes, &rules, &view);
            let book = Book::default();
            let candidates = alone.iter().map(|alone| Candidate::new(alone, &rules, &book)).collect();
            let free = Reservations::new(rules.starts).taken(&view);
            let table = Table { rules: &rules, candidates, calendars: calendars(expanded.processors(), &free) };
            let (one, all) = (table.in_turn(), table.collective());
            prop_assert!(all.value.compare(&one.value, goal).is_le(), "{:?} {:?}", all.value, one.value);
            prop_assert_eq!(all.value, table.value(&all.choices));
            // Nothing is used twice, and late is what ends after the deadline.
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
    let value = Value { late: 1, broken: 0, cost: 5, busy: 30, ends: 40, span: 20 };
    let order = |other: Value, goal| other.compare(&value, goal);
    for goal in GOALS {
        assert_eq!(order(Value { late: 0, cost: 9, busy: 1, ends: 90, ..value }, goal), Less);
        assert_eq!(order(Value { broken: 1, cost: 1, busy: 90, ends: 1, ..value }, goal), Greater);
        assert_eq!(order(value, goal), Equal);
    }
    // 31 of 20 and 45 of 30 against 30 of 20.
    assert_eq!(order(Value { busy: 31, ..value }, Goal::Utilisation), Less);
    assert_eq!(order(Value { busy: 45, span: 30, ..value }, Goal::Utilisation), Greater);
    assert_eq!(order(Value { cost: 4, span: 90, ..value }, Goal::Cost), Less);
    assert_eq!(order(Value { ends: 39, span: 90, cost: 9, ..value }, Goal::Finish), Less);
}

#[test]
fn a_task_of_a_job_that_was_given_up_is_cancelled_when_it_comes_later() {
    let mut policy = JobFlow::new(JobFlowRules { late: Late::Reject, ..JobFlowRules::default() });
    let task = |name| NamedTask::new(name, Profile::rigid(1, t(10)).unwrap());
    let mut job = Job::compound("j", Graph::new(vec![task("a"), task("b")], vec![]).unwrap());
    job.walltime = Some(t(5));
    let instance = Instance::new(Platform::flat(2).unwrap(), vec![job], vec![]).unwrap();
    let expanded = Expansion::of(&instance).unwrap().instance;
    let mut cluster = Cluster::new(&expanded);
    cluster.submit(JobId(0));
    cluster.submit(JobId(1));
    let mut decisions = Vec::new();
    policy.on(&[Event::Submitted(JobId(0)), Event::Submitted(JobId(1))], &cluster.view(), &mut decisions);
    assert_eq!(decisions, [Decision::Cancel(JobId(0)), Decision::Cancel(JobId(1))]);
    // As after a session in which it did not succeed.
    decisions.clear();
    policy.on(&[Event::Submitted(JobId(1))], &cluster.view(), &mut decisions);
    assert_eq!(decisions, [Decision::Cancel(JobId(1))]);
}
