use makespan_core::TaskId;

use super::*;

fn draw(options: ProjectOptions) -> Instance {
    project(&options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_project_has_the_figures_that_are_asked_for() {
    for (complexity, factor, seed) in [(1.5, 0.25, 1), (1.8, 0.5, 2), (2.1, 1.0, 3)] {
        let options = ProjectOptions { complexity, factor, seed, ..ProjectOptions::default() };
        let instance = draw(options);
        assert_eq!((instance.tasks(), instance.processors()), (30, 30));
        let ends = instance.task_ids().map(|task| {
            usize::from(instance.incoming(task).len() == 0) + usize::from(instance.outgoing(task).len() == 0)
        });
        let edges = instance.edges().len() + ends.sum::<usize>();
        assert!((edges as f64 / 32.0 - complexity).abs() < 0.05, "{edges} edges for {complexity}");
        let asked: usize = instance.task_ids().map(|task| instance.task(task).needs.iter().count()).sum();
        assert_eq!(asked, (factor * 120.0) as usize);
        assert_eq!(draw(options).all_submitted(), instance.all_submitted());
        assert_ne!(draw(ProjectOptions { seed: 9, ..options }).all_submitted(), instance.all_submitted());
    }
}

#[test]
fn strength_runs_from_what_is_needed_to_what_is_ever_held() {
    let of = |strength| {
        let instance = draw(ProjectOptions { strength, factor: 1.0, ..ProjectOptions::default() });
        let largest = |name: &str| {
            let needs =
                instance.task_ids().filter_map(|task| instance.task(task).needs.of(name).map(|need| need.total(1)));
            needs.max().unwrap_or(0)
        };
        let names = ["R1", "R2", "R3", "R4"];
        (names.map(|name| instance.platform().licences().amount(name)), names.map(largest))
    };
    let ((least, largest), (half, _), (most, _)) = (of(0.0), of(0.5), of(1.0));
    assert_eq!(least, largest);
    for at in 0..4 {
        assert!(least[at] < half[at] && half[at] < most[at], "{least:?} {half:?} {most:?}");
    }
}

#[test]
fn modes_are_faster_and_need_more() {
    let options =
        ProjectOptions { modes: 3, renewable: 2, nonrenewable: 2, strength: 0.0, ..ProjectOptions::default() };
    let instance = draw(options);
    let mut least = [0; 2];
    for task in instance.task_ids() {
        let (profile, needs) = (instance.profile(task), &instance.task(task).needs);
        assert!(profile.max_processors() <= 3 && profile.dominated() == 0);
        for (name, need) in needs.iter() {
            assert!((1..=3).all(|mode| need.total(mode) <= need.total(mode + 1)), "{name}");
        }
        for (least, name) in least.iter_mut().zip(["N1", "N2"]) {
            *least += needs.of(name).map_or(0, |need| need.total(1));
        }
    }
    assert_eq!(["N1", "N2"].map(|name| instance.platform().consumables().amount(name)), least);
    assert_eq!(instance.profile(TaskId(0)).min_processors(), 1);
}

#[test]
fn small_and_large_projects_are_drawn_and_others_refused() {
    for activities in [1, 2, 3, 4, 5, 7, 300] {
        for modes in [1, 10] {
            let options = ProjectOptions { activities, modes, complexity: 1.8, ..ProjectOptions::default() };
            assert_eq!(draw(options).tasks(), activities as u64);
        }
    }
    draw(ProjectOptions { renewable: 0, ..ProjectOptions::default() });
    let refused = |options: ProjectOptions| assert!(project(&options).is_err(), "{options:?}");
    let usual = ProjectOptions::default;
    refused(ProjectOptions { activities: 0, ..usual() });
    refused(ProjectOptions { activities: 1001, ..usual() });
    refused(ProjectOptions { modes: 11, ..usual() });
    refused(ProjectOptions { complexity: f64::NAN, ..usual() });
    refused(ProjectOptions { factor: 1.1, ..usual() });
    refused(ProjectOptions { strength: -0.1, ..usual() });
    refused(ProjectOptions { renewable: 99, nonrenewable: 2, ..usual() });
}
