//! Tests of the parameters of the critical jobs method on small instances.

use makespan_algos::scheduler;
use makespan_algos::scheduler::CriticalJobs;
use makespan_algos::{Context, Plan};
use makespan_core::{
    Edge, Graph, Instance, Job, Link, Metrics, NamedTask, Node, Payload, Placement, Platform, Profile, Schedule,
    TaskId, Time, validate,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::draft::drafts;
use super::optimum::costs;

/// The volumes of tasks, and the edges between them.
type Tasks<'a> = (&'a [i64], &'a [(u32, u32, u64)]);

/// Returns jobs with tasks of these volumes in seconds, and with edges of these numbers of bytes. There is one
/// processor of each speed, with 1 byte a second between processors.
fn instance(jobs: &[Tasks], speeds: &[f64], deadline: i64) -> Instance {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("n{at}"), 1) };
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    let platform = platform.with_interconnect(Link { bandwidth: 1.0, latency: Time::ZERO }).unwrap();
    let task = |(at, &volume): (usize, &i64)| {
        NamedTask::new(format!("t{at}"), Profile::rigid(1, Time::from_seconds(volume)).unwrap())
    };
    let job = |(at, (volumes, edges)): (usize, &Tasks)| {
        let edge = |&(from, to, data): &(u32, u32, u64)| Edge { from, to, payload: Payload::Bytes(data) };
        let graph = Graph::new(volumes.iter().enumerate().map(task).collect(), edges.iter().map(edge).collect());
        let mut job = Job::compound(format!("j{at}"), graph.unwrap());
        job.deadline = Some(Time::from_seconds(deadline));
        job
    };
    Instance::new(platform, jobs.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

/// Returns the placements and the remarks.
fn plan(instance: &Instance, spec: &str) -> (Vec<Placement>, String) {
    let mut context = Context::with_seed(1);
    let schedule = scheduler(spec).unwrap().schedule(instance, &mut context).unwrap().into_schedule().unwrap();
    assert_eq!(validate(instance, &schedule), Ok(()));
    (schedule.placements().to_vec(), context.remarks.join("\n"))
}

#[test]
fn a_reserve_keeps_the_next_job_away() {
    let alone: Tasks = (&[10], &[]);
    let instance = instance(&[alone, alone, alone], &[1.0, 1.0], 30);
    let (run, _) = plan(&instance, "critical-jobs[criterion=utilisation]");
    assert!(run.iter().all(|placement| placement.end <= Time::from_seconds(30)), "{run:?}");
    let (held, remarks) = plan(&instance, "critical-jobs[criterion=utilisation,isolated=reserve]");
    // Each of the first two jobs reserves a processor for 30 s, so the third job is late.
    let starts: Vec<Time> = held.iter().map(|placement| placement.start).collect();
    assert_eq!(starts, [0, 0, 30].map(Time::from_seconds), "{remarks}");
    assert!(
        remarks.contains("`j0`: 1 tasks without edges keep") && remarks.contains("50.0 % of the processor time"),
        "{remarks}"
    );
    assert!(remarks.contains("`j2`: critical chains gave no plan that meets its deadline"), "{remarks}");
}

/// Compares the utilisation criterion with the cost criterion. With the utilisation criterion, either more jobs meet
/// their deadlines, or equally many jobs do and the utilisation (as defined by `Metrics`) is not lower.
#[test]
fn the_criterion_of_utilisation_never_lowers_it() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..60 {
        let instance = drafts().new_tree(&mut runner).unwrap().current().instance(1);
        if scheduler("critical-jobs").unwrap().supports(&instance).is_err() {
            continue;
        }
        let found = ["", "[criterion=utilisation]"].map(|criterion| {
            let placements = plan(&instance, &format!("critical-jobs{criterion}")).0;
            let schedule = Schedule::new(placements);
            (CriticalJobs::default().on_time(&instance, &schedule), Metrics::of(&instance, &schedule).utilisation)
        });
        let [(in_time, cheap), (as_many, used)] = found;
        assert!(as_many > in_time || as_many == in_time && used >= cheap - 1e-9, "{found:?} {instance:?}");
    }
}

/// The chains of a strategy contain all edges, are sorted by length, and give each task exactly one window. Each task
/// of the chosen variant runs in its window.
#[test]
fn a_strategy_reports_its_chains() {
    let mut runner = TestRunner::deterministic();
    let (mut planned, mut moved) = (0, 0);
    for _ in 0..60 {
        let instance = drafts().new_tree(&mut runner).unwrap().current().instance(1);
        for spec in ["critical-jobs", "critical-jobs[start=empty,cpus=types]"] {
            let scheduler = scheduler(spec).unwrap();
            if scheduler.supports(&instance).is_err() {
                continue;
            }
            let plan = scheduler.schedule(&instance, &mut Context::with_seed(1)).unwrap();
            let Plan::Strategy(strategy) = plan else { continue };
            let (report, chosen) = (strategy.chains(), &strategy.variants()[strategy.chosen()].schedule);
            assert_eq!(report.problems(&instance, chosen), Vec::<String>::new(), "{spec} {instance:?}");
            let compound = || instance.jobs().iter().filter(|job| job.is_compound());
            let windows = report.chains.iter().map(|chain| chain.windows.len()).sum::<usize>();
            assert_eq!(windows as u64, compound().map(Job::tasks).sum::<u64>(), "{spec} {instance:?}");
            for task in compound().flat_map(Job::task_ids) {
                for edge in instance.incoming(task).filter(|edge| !edge.is_between_jobs(&instance)) {
                    let has_edge = |pair: &[TaskId]| pair == [edge.from, edge.to];
                    assert!(report.chains.iter().any(|chain| chain.tasks.windows(2).any(has_edge)), "{spec}");
                }
            }
            for pair in report.chains.windows(2).filter(|pair| pair[1].rank > 1) {
                let alone = pair[1].tasks.len() == 1;
                assert!(pair[1].rank == pair[0].rank + 1 && (alone || pair[1].length <= pair[0].length), "{spec}");
            }
            planned += report.chains.iter().filter(|chain| chain.variants.is_some()).count();
            moved += report.collisions.len();
        }
    }
    assert!(planned > 0 && moved > 0, "{planned} chains were planned into an empty schedule, {moved} tasks moved");
}

#[test]
fn transfers_on_one_processor_are_paid_if_asked_for() {
    let pair: Tasks = (&[10, 10], &[(0, 1, 7)]);
    let instance = instance(&[pair], &[1.0], 40);
    let gap = |spec: &str| {
        let (placements, _) = plan(&instance, spec);
        placements[1].start - placements[0].end
    };
    assert_eq!(gap("critical-jobs[deadline=1]"), Time::ZERO);
    assert!(gap("critical-jobs[same-cpu-transfer=paid]") >= Time::from_seconds(7));
    assert!(gap("critical-jobs[same-cpu-transfer=paid,start=empty]") >= Time::from_seconds(7));
}

#[test]
fn plans_on_types_of_processors_fit_wide_graphs() {
    // One task is followed by twelve parallel tasks, and these by one task. There are two slow and two fast processors.
    // All twelve tasks are planned on the slow type.
    let volumes: Vec<i64> = (0..14).map(|task| 10 + task).collect();
    let edges: Vec<(u32, u32, u64)> = (1..13).flat_map(|task| [(0, task, 2), (task, 13, 2)]).collect();
    let mut job = instance(&[(&volumes, &edges)], &[1.0, 1.0, 2.0, 2.0], 100);
    let heft =
        scheduler("heft").unwrap().schedule(&job, &mut Context::default()).unwrap().into_schedule().unwrap().makespan();
    job = instance(&[(&volumes, &edges)], &[1.0, 1.0, 2.0, 2.0], heft.ticks() / Time::TICKS_PER_SECOND * 3 / 2);
    let (placements, remarks) = plan(&job, "critical-jobs[start=empty,cpus=types]");
    assert!(!remarks.contains("HEFT's plan is used") && remarks.contains("collided"), "{remarks}");
    assert!(placements.iter().all(|placement| placement.end.ticks() <= heft.ticks() / 2 * 3));
}

/// Returns the cost of a plan in thousandths, its end and its remarks.
fn figures(instance: &Instance, spec: &str) -> (i128, Time, String) {
    let mut context = Context::with_seed(1);
    let schedule = scheduler(spec).unwrap().schedule(instance, &mut context).unwrap().into_schedule().unwrap();
    assert_eq!(validate(instance, &schedule), Ok(()));
    (makespan_core::cost(instance, &schedule), schedule.makespan(), context.remarks.join("\n"))
}

#[test]
fn tasks_that_share_a_processor_need_no_time_for_their_data() {
    let fork: Tasks = (&[20, 20, 20], &[(0, 1, 40), (0, 2, 40)]);
    for spec in ["critical-jobs", "critical-jobs[start=empty]", "critical-jobs[start=empty,cpus=types]"] {
        // The tasks run one after the other on the slow processor.
        let (cost, end, remarks) = figures(&instance(&[fork], &[1.0, 2.0], 60), spec);
        assert_eq!((cost, end), (3000, Time::from_seconds(60)), "{spec}: {remarks}");
        // Only the fast processor is fast enough.
        let (cost, end, remarks) = figures(&instance(&[fork], &[1.0, 2.0], 35), spec);
        assert_eq!(cost, 6000, "{spec}: {remarks}");
        assert!(end <= Time::from_seconds(35) && remarks.is_empty(), "{spec}: {remarks}");
    }
}

#[test]
fn tasks_with_a_node_each_do_not_wait_for_each_other() {
    // Four tasks take 10 s, and each of them can run only on a node of its own. The last task takes 1 s on the first
    // node and 5 s on the second one.
    let nodes = (0..4).map(|at| Node::new(at.to_string(), 1));
    let only = |times: &[(usize, i64)]| {
        let mut all = vec![Profile::CANNOT_RUN; 4];
        times.iter().for_each(|&(node, time)| all[node] = Time::from_seconds(time));
        Profile::on_machines(all).unwrap()
    };
    let mut tasks: Vec<NamedTask> = (0..4).map(|at| NamedTask::new(format!("t{at}"), only(&[(at, 10)]))).collect();
    tasks.push(NamedTask::new("z", only(&[(0, 1), (1, 5)])));
    let edges = (0..4).map(|from| Edge { from, to: 4, payload: Payload::Fixed(Time::ZERO) }).collect();
    let mut job = Job::compound("j", Graph::new(tasks, edges).unwrap());
    job.deadline = Some(Time::from_seconds(20));
    let instance = Instance::new(Platform::new(nodes.collect()).unwrap(), vec![job], vec![]).unwrap();
    for spec in ["critical-jobs", "critical-jobs[start=empty]"] {
        let (cost, end, remarks) = figures(&instance, spec);
        assert_eq!(cost, 4200, "{spec}: {remarks}");
        assert!(end <= Time::from_seconds(20) && remarks.is_empty(), "{spec}: {remarks}");
    }
}

/// Returns the instance with this deadline for each job.
fn within(instance: &Instance, deadline: Time) -> Instance {
    let jobs = instance.ids().map(|id| instance.submitted(id).with_deadline(deadline)).collect();
    Instance::new(instance.platform().clone(), jobs, instance.unavailable().to_vec()).unwrap()
}

/// Checks small jobs, each with the earliest deadline that can be met, and with a quarter more time.
#[test]
fn no_feasible_deadline_is_missed() {
    let mut runner = TestRunner::deterministic();
    let (mut looked, mut missed) = (0, Vec::new());
    while looked < 300 {
        let draft = drafts().new_tree(&mut runner).unwrap().current();
        let instance = draft.instance(1);
        let [job] = instance.jobs() else { continue };
        if job.different_tasks() > 4 || !job.is_compound() {
            continue;
        }
        looked += 1;
        let (release, shortest) = (job.release, costs(&instance)[0].0);
        for quarters in [4, 5] {
            let deadline = release + Time::from_ticks((shortest - release).ticks() * quarters / 4);
            let instance = within(&instance, deadline);
            for spec in ["critical-jobs", "critical-jobs[start=empty]", "optimise[objective=cost,steps=300,searches=1]"]
            {
                let mut context = Context::with_seed(1);
                let plan = scheduler(spec).unwrap().schedule(&instance, &mut context).unwrap();
                // No variant is late if one of them meets the deadline.
                let schedules: Vec<Schedule> = match plan {
                    Plan::Strategy(strategy) => strategy.variants().iter().map(|one| one.schedule.clone()).collect(),
                    other => vec![other.into_schedule().unwrap()],
                };
                for schedule in schedules {
                    assert_eq!(validate(&instance, &schedule), Ok(()), "{spec}");
                    if schedule.makespan() > deadline {
                        missed.push((spec, quarters, draft.clone()));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} misses, such as {:?}", missed.len(), missed[0]);
}

/// Checks larger jobs. When the exhaustive search has ended, the order and the processors are annealed.
#[test]
fn larger_jobs_are_squeezed_into_their_deadlines() {
    let mut found = 0;
    for seed in 0..6_i64 {
        // Each instance has three layers of eight tasks on four processors.
        let volumes: Vec<i64> = (0..24).map(|task| 10 + (task * (7 + seed) * 13 + seed) % 40).collect();
        let edge = |to: u32| [(to - 8, to, 5), (((to * 5 + seed as u32) % 8) + (to / 8 - 1) * 8, to, 9)];
        let mut edges: Vec<(u32, u32, u64)> = (8..24).flat_map(edge).collect();
        edges.sort_unstable();
        edges.dedup_by_key(|edge| (edge.0, edge.1));
        let own = instance(&[(&volumes, &edges)], &[1.0, 1.5, 2.0, 3.0], 100_000);
        let heft = scheduler("heft").unwrap().schedule(&own, &mut Context::default()).unwrap().into_schedule().unwrap();
        let best = scheduler("optimise[steps=20000,searches=1]").unwrap();
        let best = best.schedule(&own, &mut Context::with_seed(7)).unwrap().into_schedule().unwrap().makespan();
        let deadline = Time::from_ticks(i64::midpoint(best.ticks(), heft.makespan().ticks()));
        if deadline >= heft.makespan() {
            continue;
        }
        let own = within(&own, deadline);
        let (_, end, remarks) = figures(&own, "critical-jobs");
        assert!(end <= deadline, "{seed}: {remarks}");
        found += 1;
    }
    assert!(found >= 3, "{found}");
}
