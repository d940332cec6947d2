use makespan_core::{Instance, JobId};

use super::*;

fn draw(shape: Shape, tasks: usize, seed: u64) -> Instance {
    generate_graphs(&GraphOptions { shape, tasks, seed, jobs: 2, ..GraphOptions::default() }).unwrap()
}

#[test]
fn every_shape_has_about_the_tasks_that_are_asked_for() {
    for shape in Shape::ALL {
        for tasks in [20, 50, 100] {
            let instance = draw(shape, tasks, 3);
            let (drawn, edges) = (instance.jobs()[0].tasks() as usize, instance.edges_of(JobId(0)).len());
            assert!((tasks - 5..=tasks + 1).contains(&drawn), "{shape}: {drawn} of {tasks}");
            assert!(edges + 1 >= drawn, "{shape} hangs together");
        }
        assert!(draw(shape, 1, 1).tasks() >= 2);
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_something_else() {
    let shape = Shape::Layers { width: 5, density: 0.4 };
    let (first, again, other) = (draw(shape, 40, 1), draw(shape, 40, 1), draw(shape, 40, 2));
    assert_eq!((first.all_submitted(), first.platform()), (again.all_submitted(), again.platform()));
    assert_ne!(first.all_submitted(), other.all_submitted());
    assert_ne!(first.submitted(JobId(0)).work, first.submitted(JobId(1)).work);
    assert!(first.jobs()[0].task_ids().all(|task| {
        let seconds = first.profile(task).shortest().seconds();
        (10.0..=100.0).contains(&seconds)
    }));
}

#[test]
fn figures_out_of_range_are_refused() {
    let refused = |options: GraphOptions| assert!(generate_graphs(&options).is_err(), "{options:?}");
    let usual = GraphOptions::default;
    refused(GraphOptions { tasks: 0, ..usual() });
    refused(GraphOptions { processors: 0, ..usual() });
    refused(GraphOptions { volume: (5.0, 1.0), ..usual() });
    refused(GraphOptions { fastest: 0.5, ..usual() });
    refused(GraphOptions { cores: 0, ..usual() });
    refused(GraphOptions { parallel: 0, ..usual() });
    refused(GraphOptions { parallel: 10_001, ..usual() });
    refused(GraphOptions { bandwidth: 0.0, ..usual() });
    refused(GraphOptions { gap: Some(f64::NAN), ..usual() });
    refused(GraphOptions { shape: Shape::Layers { width: 0, density: 0.5 }, ..usual() });
    assert!("blob".parse::<Shape>().is_err());
}

#[test]
fn deadlines_are_multiples_of_what_a_job_takes_alone() {
    let shape = Shape::Layers { width: 5, density: 0.4 };
    let drawn = |deadline| {
        let options = GraphOptions { shape, tasks: 12, jobs: 3, gap: Some(20.0), deadline, ..GraphOptions::default() };
        generate_graphs(&options).unwrap()
    };
    let (without, once, twice) = (drawn(None), drawn(Some(1.0)), drawn(Some(2.0)));
    let heft = makespan_algos::scheduler("heft").unwrap();
    for ((plain, once), twice) in without.all_submitted().into_iter().zip(once.all_submitted()).zip(twice.jobs()) {
        assert_eq!((plain.deadline, &plain.work, plain.release), (None, &once.work, once.release));
        let alone = without.with_jobs(vec![plain.with_release(Time::ZERO)]);
        let makespan =
            heft.schedule(&alone, &mut makespan_core::Context::default()).unwrap().into_schedule().unwrap().makespan();
        let deadline = once.deadline.unwrap() - once.release;
        assert!(makespan <= deadline && deadline <= makespan + Time::from_ticks(1_000_000), "rounded up");
        assert!(2.0 * deadline.seconds() - (twice.deadline.unwrap() - twice.release).seconds() < 0.0021);
    }
    for factor in [0.0, -1.0, f64::NAN] {
        assert!(generate_graphs(&GraphOptions { deadline: Some(factor), ..GraphOptions::default() }).is_err());
    }
}

#[test]
fn tasks_may_be_parallel_on_nodes_of_several_cores() {
    let options = GraphOptions { parallel: 16, cores: 8, processors: 4, tasks: 400, ..GraphOptions::default() };
    let instance = generate_graphs(&options).unwrap();
    assert_eq!((instance.processors(), instance.platform().node_count()), (32, 4));
    let most = instance.task_ids().map(|task| instance.profile(task).max_processors()).max();
    assert_eq!(most, Some(16));
    let speedups: Vec<f64> = instance
        .task_ids()
        .map(|task| instance.profile(task).time(1).seconds() / instance.profile(task).time(16).seconds())
        .collect();
    assert!(speedups.iter().all(|speedup| (1.0..16.1).contains(speedup)));
    assert!(speedups.iter().any(|&speedup| speedup > 10.0) && speedups.iter().any(|&speedup| speedup < 1.5));
    let plain = generate_graphs(&GraphOptions { parallel: 1, ..options }).unwrap();
    assert!(plain.task_ids().all(|task| plain.profile(task).is_sequential()));
}
