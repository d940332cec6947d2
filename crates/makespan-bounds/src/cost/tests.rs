use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Node, Payload, Platform, ProcSet, Profile, Time, Unavailable,
};
use makespan_verify::Bound;

use super::{CostSearch, cheapest, within};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn platform(speeds: &[f64]) -> Platform {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(at.to_string(), 1) };
    Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap()
}

fn compound(name: &str, times: &[i64], pairs: &[(u32, u32)]) -> Job {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Bytes(7) };
    let graph = Graph::new(times.iter().enumerate().map(task).collect(), pairs.iter().map(edge).collect()).unwrap();
    Job::compound(name, graph)
}

fn singles(count: usize) -> Vec<Job> {
    (0..count).map(|at| Job::new(at.to_string(), Profile::rigid(1, ticks(1200)).unwrap())).collect()
}

/// Returns the bound under a horizon on two processors, of speeds 1 and 2.
fn proved(jobs: Vec<Job>, closed: Vec<Unavailable>, horizon: i64) -> Option<i128> {
    let instance = Instance::new(platform(&[1.0, 2.0]), jobs, closed).unwrap();
    let bound: Bound = within(&instance, ticks(horizon), 300)?;
    assert_eq!((bound.verify(&instance), bound.makespan_at_most), (Ok(()), Some(ticks(horizon))));
    assert!(bound.value >= cheapest(&instance).value);
    Some(bound.value.integer())
}

#[test]
fn a_path_and_a_crowd_cost_what_they_must() {
    let chain = || vec![compound("chain", &[1200, 1200, 1200], &[(0, 1), (1, 2)])];
    assert_eq!(proved(chain(), vec![], 1799), None);
    assert_eq!(proved(chain(), vec![], 1800), Some(6000));
    // The expected value is the optimum of the linear programme, which may split tasks between nodes.
    let near = |value: Option<i128>, best: i128| value.is_some_and(|value| value <= best && value >= best - best / 400);
    assert!(near(proved(chain(), vec![], 2400), 5000));
    assert!(near(proved(chain(), vec![], 2700), 4500));
    assert!(near(proved(chain(), vec![], 4000), 3000));
    assert!(near(proved(singles(3), vec![], 2400), 4000));
    assert!(near(proved(singles(3), vec![], 3600), 3000));
    let closed = Unavailable { processors: ProcSet::range(0, 0), start: ticks(0), end: ticks(1200) };
    assert!(near(proved(singles(3), vec![closed], 2400), 5000));
    assert_eq!(proved(vec![], vec![], 2400), None);
}

#[test]
fn jobs_released_later_have_less_time() {
    let late = compound("late", &[1200, 1200], &[(0, 1)]).with_release(ticks(1200));
    // By the instant 3000, the slow processor can run two and a half of the four tasks. The fast processor must run
    // the remaining one and a half.
    let both = proved(vec![compound("chain", &[1200, 1200], &[(0, 1)]), late.clone()], vec![], 3000).unwrap();
    assert!((5900..=6000).contains(&both), "{both}");
    let wide = Job::new("wide", Profile::table(vec![ticks(1200), ticks(900)]).unwrap());
    let with = proved(vec![wide, late], vec![], 3000).unwrap();
    assert!((3990..=4000).contains(&with), "{with}");
}

#[test]
fn choices_are_those_of_the_prices() {
    let instance = Instance::new(platform(&[1.0, 2.0]), singles(2), vec![]).unwrap();
    let search = CostSearch::new(&instance, ticks(2400)).unwrap();
    let nodes: Vec<Option<usize>> = search.choices().iter().map(|choice| choice.node).collect();
    assert_eq!(nodes, [Some(0), Some(0)], "nothing has a price yet");
    assert!(CostSearch::new(&instance, ticks(599)).is_none());
}

#[test]
fn the_cost_of_many_tasks_is_bounded() {
    let times: Vec<i64> = (0..10_000).map(|at| 1_000_000 + at * 7919 % 5_000_011).collect();
    let pairs: Vec<(u32, u32)> = (100..10_000).map(|at| (at - 100 + at % 7, at)).collect();
    let speeds: Vec<f64> = (0..16).map(|at| 1.0 + f64::from(at % 5)).collect();
    let instance = Instance::new(platform(&speeds), vec![compound("layers", &times, &pairs)], vec![]).unwrap();
    let bound = within(&instance, ticks(1_500_000_000), 50).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    assert!(bound.value.integer() > 10_000_000, "{}", bound.value.integer());
}
