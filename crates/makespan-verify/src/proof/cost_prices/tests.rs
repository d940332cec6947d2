use super::*;
use makespan_core::{
    Edge, Graph, Job, NamedTask, Node, Objective, Payload, Platform, ProcSet, Profile, SpeedupLaw, Unavailable,
};

use crate::proof::{Bound, Proof};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn platform(speeds: &[f64]) -> Platform {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(at.to_string(), 1) };
    Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap()
}

fn compound(times: &[i64], pairs: &[(u32, u32)]) -> Job {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Bytes(7) };
    let graph = Graph::new(times.iter().enumerate().map(task).collect(), pairs.iter().map(edge).collect()).unwrap();
    Job::compound("job", graph)
}

/// Returns three tasks of 12 ticks one after the other, on two processors of speeds 1 and 2.
fn chain() -> Instance {
    Instance::new(platform(&[1.0, 2.0]), vec![compound(&[12, 12, 12], &[(0, 1), (1, 2)])], vec![]).unwrap()
}

fn within(horizon: i64, edges: &[i64], scale: u32) -> CostPrices {
    CostPrices { horizon: Some(ticks(horizon)), edges: edges.to_vec(), scale, ..CostPrices::default() }
}

#[test]
fn every_task_counts_with_its_least_cost() {
    let proves = |instance: &Instance| CostPrices::default().proves(instance);
    assert_eq!(proves(&chain()), Ok(3000));
    let jobs = vec![
        Job::new("odd", Profile::rigid(1, ticks(10)).unwrap()),
        // On two processors, the task takes longer than on one, but costs less.
        Job::new("table", Profile::table([10, 12, 6].map(ticks).to_vec()).unwrap()),
        Job::new("law", Profile::law(ticks(100), SpeedupLaw::Linear {}, 1, 3).unwrap())
            .with_count(5.try_into().unwrap()),
    ];
    let instance = Instance::new(platform(&[1.5, 2.0, 4.0]), jobs, vec![]).unwrap();
    // The costs are 10 / 7, 10 / 8, and 5 times 100 / 67. Each is rounded up to thousandths.
    assert_eq!(proves(&instance), Ok(1429 + 1250 + 5 * 1493));
    let none = Instance::new(platform(&[1.0]), vec![], vec![]).unwrap();
    assert_eq!(proves(&none), Ok(0));
}

#[test]
fn a_path_that_must_end_costs_more() {
    let instance = chain();
    // The three tasks of 12 must end by 24, so two of them run on the fast processor. Each tick by which the chain
    // becomes shorter costs 1000 / 6.
    let proves = |horizon: i64, price| within(horizon, &[price, price], 0).proves(&instance);
    assert_eq!(proves(24, 0), Ok(3000));
    // The price 166 proves 3000 + (36 - 24) * 166. The price 167 is too high: all tasks then use the fast processor,
    // and the value is 3 * (2000 + 6 * 167) - 24 * 167.
    assert_eq!(proves(24, 166), Ok(3000 + 12 * 166));
    assert_eq!(proves(24, 167), Ok(6000 + 18 * 167 - 24 * 167));
    // In units of 1/16, 2666 means 166.63. The bound is a fraction, so the bound is rounded up to the next thousandth.
    assert_eq!(within(24, &[2666, 2666], 4).proves(&instance), Ok(5000));
    // To end before 24, no task may run on the slow processor. If the horizon is before 18, the tasks do not fit at
    // all.
    assert_eq!(proves(23, 0), Ok(6000));
    assert_eq!(proves(18, 0), Ok(6000));
    assert_eq!(proves(17, 0), Err(CertificateError::HorizonTooShort { horizon: ticks(17), job: JobId(0) }));
    // If the edge into a task and the edge out of the task have different prices, the task starts where it pays least.
    assert_eq!(within(24, &[166, 0], 0).proves(&instance), Ok(3996));
}

#[test]
fn processors_have_a_price_while_they_are_open() {
    let single = |at: usize| Job::new(at.to_string(), Profile::rigid(1, ticks(12)).unwrap());
    let jobs = || (0..3).map(single).collect::<Vec<Job>>();
    let priced = |from: i64, until: i64, price: i64| CostPrices {
        horizon: Some(ticks(24)),
        instants: vec![ticks(from), ticks(until)],
        prices: vec![vec![price], vec![0]],
        ..CostPrices::default()
    };
    // By 24, the slow processor has room for two of the three tasks. At a price of 83 per tick, the slow processor is
    // as expensive as the fast one.
    let open = Instance::new(platform(&[1.0, 2.0]), jobs(), vec![]).unwrap();
    assert_eq!(priced(0, 24, 83).proves(&open), Ok(3 * 1996 - 24 * 83));
    assert_eq!(priced(0, 24, 84).proves(&open), Ok(6000 - 24 * 84));
    // The prices end at 10, so each task can run when no processor has a price.
    assert_eq!(priced(0, 10, 83).proves(&open), Ok(3000 - 10 * 83));
    let closed = Unavailable { processors: ProcSet::range(0, 0), start: ticks(20), end: ticks(40) };
    let narrow = Instance::new(platform(&[1.0, 2.0]), jobs(), vec![closed]).unwrap();
    assert_eq!(priced(0, 24, 83).proves(&narrow), Ok(3 * 1996 - 20 * 83));
}

#[test]
fn malformed_prices_prove_nothing() {
    let instance = chain();
    let good = CostPrices {
        horizon: Some(ticks(24)),
        instants: vec![ticks(0), ticks(12), ticks(24)],
        prices: vec![vec![5, 0], vec![0, 7]],
        edges: vec![3, 4],
        scale: 3,
    };
    assert!(good.proves(&instance).is_ok());
    let changes: [fn(&mut CostPrices); 11] = [
        |prices| prices.horizon = None,
        |prices| prices.instants.truncate(2),
        |prices| prices.instants[0] = ticks(-1),
        |prices| prices.instants[1] = ticks(24),
        |prices| prices.prices.truncate(1),
        |prices| prices.prices[1].push(0),
        |prices| prices.prices[0][0] = -1,
        |prices| prices.edges.truncate(1),
        |prices| prices.edges[1] = -1,
        |prices| prices.scale = 65,
        |prices| *prices = CostPrices { instants: vec![ticks(0)], ..CostPrices::default() },
    ];
    for change in changes {
        let mut prices = good.clone();
        change(&mut prices);
        assert!(matches!(prices.proves(&instance), Err(CertificateError::Malformed(_))), "{prices:?}");
    }
}

#[test]
fn what_is_too_large_is_an_error() {
    let long = i64::MAX / 16;
    let job = compound(&[long, long], &[(0, 1)]);
    let instance = Instance::new(platform(&[1.0, 2.0, 2.0]), vec![job], vec![]).unwrap();
    let most = |edge: i64, price: i64, scale| CostPrices {
        horizon: Some(ticks(i64::MAX)),
        instants: vec![ticks(0), ticks(i64::MAX)],
        prices: vec![vec![price]; 3],
        edges: vec![edge],
        scale,
    };
    assert!(most(1, 1, 64).proves(&instance).is_ok());
    assert_eq!(most(0, i64::MAX, 0).proves(&instance), Err(CertificateError::Overflow));
    assert_eq!(most(i64::MAX, i64::MAX, 64).proves(&instance), Err(CertificateError::Overflow));
}

#[test]
fn a_bound_states_its_horizon() {
    let instance = chain();
    let proof = Proof::CostPrices(within(24, &[166, 166], 0));
    let bound = Bound::proved_by(Objective::Cost, proof, &instance).unwrap();
    assert_eq!((bound.objective, bound.value.integer()), (Objective::Cost, 4992));
    assert_eq!(bound.makespan_at_most, Some(ticks(24)));
    assert_eq!(bound.verify(&instance), Ok(()));
    let more = Bound { value: 4993.into(), ..bound.clone() };
    let refused = more.verify(&instance).unwrap_err().to_string();
    assert!(refused.contains("4.993") && refused.contains("4.992"), "{refused}");
    for most in [None, Some(ticks(25))] {
        assert!(Bound { makespan_at_most: most, ..bound.clone() }.verify(&instance).is_err());
    }
    let all = Bound::proved_by(Objective::Cost, Proof::CostPrices(CostPrices::default()), &instance).unwrap();
    assert_eq!((all.value.integer(), all.makespan_at_most, all.verify(&instance)), (3000, None, Ok(())));
}
