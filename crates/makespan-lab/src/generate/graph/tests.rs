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
