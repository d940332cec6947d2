use makespan_core::Instance;

use super::*;

fn draw(shape: Shape, tasks: usize, seed: u64) -> Instance {
    generate_graphs(&GraphOptions { shape, tasks, seed, jobs: 2, ..GraphOptions::default() }).unwrap()
}

#[test]
fn every_shape_has_about_the_tasks_that_are_asked_for() {
    for shape in Shape::ALL {
        for tasks in [20, 50, 100] {
            let instance = draw(shape, tasks, 3);
            let graph = instance.jobs()[0].graph.as_ref().unwrap();
            assert!((tasks - 5..=tasks + 1).contains(&graph.len()), "{shape}: {} of {tasks}", graph.len());
            assert!(graph.edges().len() + 1 >= graph.len(), "{shape} hangs together");
        }
        assert!(draw(shape, 1, 1).tasks() >= 2);
    }
}

#[test]
fn the_same_seed_draws_the_same_and_another_something_else() {
    let shape = Shape::Layers { width: 5, density: 0.4 };
    let (first, again, other) = (draw(shape, 40, 1), draw(shape, 40, 1), draw(shape, 40, 2));
    assert_eq!((first.jobs(), first.platform()), (again.jobs(), again.platform()));
    assert_ne!(first.jobs(), other.jobs());
    assert_ne!(first.jobs()[0].graph, first.jobs()[1].graph);
    let layered = first.jobs()[0].graph.as_ref().unwrap();
    assert!(layered.tasks().iter().all(|task| {
        let seconds = task.task.profile.shortest().seconds();
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
    refused(GraphOptions { bandwidth: 0.0, ..usual() });
    refused(GraphOptions { gap: Some(f64::NAN), ..usual() });
    refused(GraphOptions { shape: Shape::Layers { width: 0, density: 0.5 }, ..usual() });
    assert!("blob".parse::<Shape>().is_err());
}

#[test]
fn walltimes_are_multiples_of_what_a_job_takes_alone() {
    let shape = Shape::Layers { width: 5, density: 0.4 };
    let drawn = |walltime| {
        let options = GraphOptions { shape, tasks: 12, jobs: 3, gap: Some(20.0), walltime, ..GraphOptions::default() };
        generate_graphs(&options).unwrap()
    };
    let (without, once, twice) = (drawn(None), drawn(Some(1.0)), drawn(Some(2.0)));
    let heft = makespan_algos::scheduler("heft").unwrap();
    for ((plain, once), twice) in without.jobs().iter().zip(once.jobs()).zip(twice.jobs()) {
        assert_eq!((plain.walltime, &plain.graph, plain.release), (None, &once.graph, once.release));
        let alone = without.with_jobs(vec![plain.clone().with_release(Time::ZERO)]);
        let makespan =
            heft.schedule(&alone, &mut makespan_core::Context::default()).unwrap().into_schedule().unwrap().makespan();
        let walltime = once.walltime.unwrap();
        assert!(makespan <= walltime && walltime <= makespan + Time::from_ticks(1_000_000), "rounded up");
        assert!(2.0 * walltime.seconds() - twice.walltime.unwrap().seconds() < 0.0021);
    }
    for factor in [0.0, -1.0, f64::NAN] {
        assert!(generate_graphs(&GraphOptions { walltime: Some(factor), ..GraphOptions::default() }).is_err());
    }
}
