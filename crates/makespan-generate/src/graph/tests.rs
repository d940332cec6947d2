use makespan_core::{Instance, JobId, SpeedupLaw};

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
            let next = match shape {
                // Graphs of these shapes exist only for some numbers of tasks, because the number of tiles determines
                // the number of tasks, and each sample has a fixed number of tasks.
                Shape::Cholesky | Shape::Lu => tasks / 2,
                Shape::SoyKb | Shape::Genomes => tasks - 16,
                _ => tasks - 5,
            };
            assert!((next..=tasks + 1).contains(&drawn), "{shape}: {drawn} of {tasks}");
            assert!(edges + 1 >= drawn, "{shape} is connected");
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

/// Compares the numbers of tasks with the numbers in the papers. The longest path contains three kernels of each step
/// of the factorisation except the last step, and one kernel of the last step.
#[test]
fn factorisations_have_the_tasks_and_paths_of_their_kernels() {
    for (shape, sizes) in [(Shape::Cholesky, [(4, 20), (6, 56)]), (Shape::Lu, [(4, 30), (6, 91)])] {
        for (tiles, tasks) in sizes {
            let options = GraphOptions { shape, tasks: tasks + 1, ..GraphOptions::default() };
            let instance = generate_graphs(&options).unwrap();
            assert_eq!(instance.tasks(), tasks as u64, "{shape}");
            let mut depths = vec![1; tasks];
            for task in instance.in_order() {
                let before = instance.incoming(task).map(|edge| depths[edge.from.index()] + 1);
                depths[task.index()] = before.max().unwrap_or(1);
            }
            assert_eq!(depths.into_iter().max(), Some(3 * (tiles - 1) + 1), "{shape}");
        }
    }
}

#[test]
fn laws_are_those_that_are_asked_for() {
    let drawn = |law| {
        let options =
            GraphOptions { parallel: 16, cores: 16, processors: 1, tasks: 200, law, ..GraphOptions::default() };
        let instance = generate_graphs(&options).unwrap();
        instance.task_ids().filter_map(|task| instance.profile(task).speedup()).map(|law| law.1).collect::<Vec<_>>()
    };
    let serial = |law: &SpeedupLaw| match *law {
        SpeedupLaw::Amdahl { serial } => serial,
        _ => f64::NAN,
    };
    let (amdahl, downey) = (drawn(Law::Amdahl), drawn(Law::Downey));
    assert!(amdahl.iter().all(|law| (0.0..=0.25).contains(&serial(law))) && amdahl.len() == 200);
    assert!(amdahl.iter().any(|law| serial(law) > 0.2) && amdahl.iter().any(|law| serial(law) < 0.05));
    assert!(downey.iter().all(|law| matches!(law, SpeedupLaw::Downey { .. })));
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
            heft.schedule(&alone, &mut makespan_algos::Context::default()).unwrap().into_schedule().unwrap().makespan();
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
