use makespan_core::{Profile, Time};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use super::*;

fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

fn problem(times: &[i64], ready: &[i64]) -> MappingProblem<'static> {
    let time = |&ticks: &i64| if ticks == 0 { Profile::CANNOT_RUN } else { Time::from_ticks(ticks) };
    MappingProblem::new(Times::flat(times.iter().map(time).collect(), ready.len()), ready.to_vec())
}

fn mappers() -> Vec<(&'static str, Box<dyn Mapper>)> {
    let short = Genetic { generations: 30, ..Genetic::default() };
    vec![
        ("olb", Box::new(OpportunisticLoadBalancing)),
        ("met", Box::new(MinimumExecution)),
        ("mct", Box::new(MinimumCompletion)),
        ("min-min", Box::new(MinMin)),
        ("max-min", Box::new(MaxMin)),
        ("duplex", Box::new(Duplex)),
        ("sufferage", Box::new(Sufferage { greedy: false })),
        ("greedy sufferage", Box::new(Sufferage { greedy: true })),
        ("balance", Box::new(short)),
        ("makespan", Box::new(Genetic { fitness: Fitness::Makespan, ..short })),
        ("braun", Box::new(BraunGenetic { population: 10, iterations: 10, patience: 5 })),
        ("descent", Box::new(Descent)),
    ]
}

#[test]
fn a_pile_that_no_time_holds_does_not_wrap_around() {
    let long = i64::MAX / 16;
    let times: Vec<i64> = (0..80).flat_map(|task| if task % 2 == 0 { [long, 1] } else { [1, long] }).collect();
    let problem = problem(&times, &[0, 0]);
    let mapping = OpportunisticLoadBalancing.map(&problem, &mut random());
    assert_eq!(problem.makespan(&mapping), i64::MAX);
    assert_eq!(problem.makespan(&MinimumCompletion.map(&problem, &mut random())), 40);
}

#[test]
fn the_rules_on_a_case_by_hand() {
    // Tasks a to d are mapped to the machines 0 and 1, which are ready at 0 and 1.
    let problem = problem(&[4, 8, 3, 9, 2, 2, 6, 5], &[0, 1]);
    let map = |mapper: &dyn Mapper| mapper.map(&problem, &mut random());
    // Task a runs on 0 until 4, b on 1 until 10, c on 0 until 6, and d on 0, which is ready before 1.
    assert_eq!(map(&OpportunisticLoadBalancing), [0, 1, 0, 0].map(MachineId));
    assert_eq!(map(&MinimumExecution), [0, 0, 0, 1].map(MachineId));
    // Task a runs on 0 until 4, b on 0 until 7, c on 1 until 3, and d on 1 until 8.
    assert_eq!(map(&MinimumCompletion), [0, 0, 1, 1].map(MachineId));
    // The tasks are mapped in this order: c to 0 (end 2), b to 0 (5), d to 1 (6), a to 0 (9).
    assert_eq!(map(&MinMin), [0, 0, 0, 1].map(MachineId));
    // The tasks are mapped in this order: d to 0 (end 6 on both machines), a to 1 (9), b to 0 (9), c to 0 (11 on both
    // machines).
    assert_eq!(map(&MaxMin), [1, 0, 0, 0].map(MachineId));
    assert_eq!(map(&Duplex), [0, 0, 0, 1].map(MachineId));
    // In pass 1, machine 0 is best for all tasks. The sufferages are 5 for a, 7 for b, 1 for c and 0 for d, so b gets
    // machine 0.
    assert_eq!(map(&Sufferage { greedy: false })[1], MachineId(0));
}

fn tables() -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    (1_usize..5).prop_flat_map(|machines| {
        let row = prop::collection::vec(prop_oneof![1 => Just(0_i64), 6 => 1_i64..30], machines)
            .prop_filter("some machine can run the task", |row| row.iter().any(|&time| time > 0));
        let times = prop::collection::vec(row, 1..9).prop_map(|rows| rows.concat());
        (times, prop::collection::vec(prop_oneof![2 => 0_i64..10, 1 => 0_i64..1000], machines))
    })
}

/// Returns a problem in which every second machine is busy until 0, or until long after the end of all tasks. The
/// times of the tasks follow from sizes and speeds, or are random.
fn busy(seed: u64) -> MappingProblem<'static> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (tasks, machines) = (random.random_range(1..=60), random.random_range(2..=12));
    let speeds: Vec<f64> = (0..machines).map(|_| f64::from(random.random_range(1..=10))).collect();
    let unrelated = random.random_bool(0.5);
    let times = (0..tasks).flat_map(|_| {
        let size = random.random_range(1e6..1e8);
        let own = |speed: &f64| {
            let factor = if unrelated { random.random_range(0.2..5.0) } else { 1.0 };
            Time::from_ticks((size * factor / speed) as i64)
        };
        speeds.iter().map(own).collect::<Vec<_>>()
    });
    let times = Times::flat(times.collect(), machines);
    let far = 10_f64.powf(random.random_range(7.0..12.0));
    let ready = (0..machines).map(|_| if random.random_bool(0.5) { random.random_range(0.0..far) as i64 } else { 0 });
    MappingProblem::new(times, ready.collect())
}

/// `met` and `olb` are not tested. By definition, they ignore completions, so they also use machines that are busy for
/// long.
#[test]
fn no_mapper_is_worse_than_three_times_min_min_whatever_the_machines_have_to_do() {
    let mappers = mappers().into_iter().filter(|(name, _)| !["met", "olb"].contains(name)).collect::<Vec<_>>();
    for seed in 0..60 {
        let problem = busy(seed);
        let least = problem.makespan(&MinMin.map(&problem, &mut random()));
        for (name, mapper) in &mappers {
            let makespan = problem.makespan(&mapper.map(&problem, &mut random()));
            assert!(makespan <= 3 * least, "{seed}, {name}: {makespan} is more than 3 times {least}");
        }
    }
}

/// Adds a machine that is busy until long after the end of all tasks. Checks that this increases the makespan by at
/// most a tenth.
#[test]
fn what_cannot_take_part_changes_no_mapping_of_the_genetic_algorithms() {
    for seed in 0..20 {
        let free = busy(seed);
        let ready: Vec<i64> = (0..free.machines()).map(|machine| i64::from(machine == 0) * (1 << 42)).collect();
        let rows = |from: usize| (0..free.tasks()).flat_map(|task| free.row(task)[from..].to_vec()).collect();
        let with = MappingProblem::new(Times::flat(rows(0), free.machines()), ready.clone());
        let without = MappingProblem::new(Times::flat(rows(1), free.machines() - 1), ready[1..].to_vec());
        for fitness in [Fitness::Balance, Fitness::Makespan] {
            let genetic = Genetic { fitness, generations: 200, ..Genetic::default() };
            let found = genetic.map(&without, &mut random());
            let more: Vec<MachineId> = found.into_iter().map(|machine| MachineId(machine.0 + 1)).collect();
            let makespan = with.makespan(&genetic.map(&with, &mut random()));
            assert!(makespan <= with.makespan(&more) * 11 / 10, "{seed}: {makespan}");
        }
    }
}

/// A reference implementation of Min-min (or Max-min if `latest`) that follows the definition and sorts nothing.
fn plain(problem: &MappingProblem<'_>, latest: bool) -> Vec<MachineId> {
    let mut ready = problem.ready().to_vec();
    let mut mapping = vec![None; problem.tasks()];
    for _ in 0..problem.tasks() {
        let waiting = (0..problem.tasks()).filter(|&task| mapping[task].is_none());
        let best = waiting
            .map(|task| (problem.earliest(task, &ready), task))
            .min_by_key(|&((_, completion), task)| (if latest { -completion } else { completion }, task));
        let ((machine, completion), task) = best.unwrap();
        mapping[task] = Some(machine);
        ready[machine.index()] = completion;
    }
    mapping.into_iter().map(Option::unwrap).collect()
}

proptest! {
    #[test]
    fn every_mapper_keeps_to_machines_that_can((times, ready) in tables(), seed in any::<u64>()) {
        let problem = problem(&times, &ready);
        for (name, mapper) in mappers() {
            let mapping = mapper.map(&problem, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert_eq!(mapping.len(), problem.tasks());
            let able = |(task, &machine): (usize, &MachineId)| problem.can_run(task, machine);
            prop_assert!(mapping.iter().enumerate().all(able), "{}: {:?}", name, mapping);
            prop_assert_eq!(mapping, mapper.map(&problem, &mut ChaCha8Rng::seed_from_u64(seed)), "{}", name);
        }
    }

    #[test]
    fn sorted_tasks_and_kept_completions_change_nothing((times, ready) in tables()) {
        let problem = problem(&times, &ready);
        prop_assert_eq!(MinMin.map(&problem, &mut random()), plain(&problem, false));
        prop_assert_eq!(MaxMin.map(&problem, &mut random()), plain(&problem, true));
    }

    /// Checks the property of the ideal completion that the paper states for uniform machines: a mapping is "never to
    /// reach it".
    #[test]
    fn no_mapping_ends_before_the_ideal((times, ready) in tables()) {
        let problem = problem(&times, &ready);
        let ideal = super::genetic::ideal(&problem);
        for (name, mapper) in mappers() {
            let end = problem.makespan(&mapper.map(&problem, &mut random()));
            prop_assert!(ideal <= end as f64 * (1.0 + 1e-12), "{}: {} before {}", name, end, ideal);
        }
    }

    #[test]
    fn a_descent_stops_before_it_looks_at_too_many((times, ready) in tables(), looks in 0_usize..200) {
        let problem = problem(&times, &ready);
        let mut loads = Loads::new(&problem, MinMin.map(&problem, &mut random()));
        let ended = Descent::improve(&problem, &mut loads, looks);
        let whole = Descent.map(&problem, &mut random());
        let (some, all) = (problem.makespan(loads.mapping()), problem.makespan(&whole));
        prop_assert!(some <= problem.makespan(&MinMin.map(&problem, &mut random())) && some >= all);
        prop_assert!(!ended || loads.mapping() == whole);
    }

    #[test]
    fn searches_are_no_worse_than_where_they_start((times, ready) in tables()) {
        let problem = problem(&times, &ready);
        let of = |mapper: &dyn Mapper| problem.makespan(&mapper.map(&problem, &mut random()));
        prop_assert!(of(&Descent) <= of(&MinMin));
        prop_assert!(of(&BraunGenetic::default()) <= of(&MinMin));
        prop_assert!(of(&Duplex) <= of(&MinMin).min(of(&MaxMin)));
    }
}
