use proptest::prelude::*;

use super::steps::Steps;
use super::*;
use crate::model::{Platform, ProcSet, Unavailable};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

proptest! {
    #[test]
    fn steps_agree_with_an_array(
        changes in proptest::collection::vec((0_i64..60, 1_i64..20, -3_i64..4), 0..40),
        questions in proptest::collection::vec((0_i64..80, -4_i64..8, 1_i64..20), 20),
    ) {
        let mut steps = Steps::constant(5);
        let mut array = [5_i64; 100];
        for &(start, length, change) in &changes {
            steps.add(ticks(start), ticks(start + length), change);
            array[start as usize..(start + length) as usize].iter_mut().for_each(|value| *value += change);
        }
        let changing = (1..100).filter(|&t| array[t] != array[t - 1]).count();
        prop_assert_eq!(steps.breakpoints(), changing + 1);
        for &(after, level, length) in &questions {
            let first = |wanted: &dyn Fn(i64) -> bool| (after..100).find(|&t| wanted(array[t as usize])).map(ticks);
            prop_assert_eq!(steps.at(ticks(after)), array[after as usize]);
            prop_assert_eq!(steps.next_below(ticks(after), level), first(&|value| value < level));
            prop_assert_eq!(steps.next_reaching(ticks(after), level), first(&|value| value >= level));
            let inside = (after + 1..100).find(|&t| array[t as usize] != array[t as usize - 1]).map(ticks);
            prop_assert_eq!(steps.next_breakpoint(ticks(after)), inside);
            let mut visited = Vec::new();
            steps.each_from(ticks(after), &mut |at, value| visited.push((at.ticks(), value)));
            let changes = (after + 1..100).filter(|&t| array[t as usize] != array[t as usize - 1]);
            let expected: Vec<(i64, i64)> = [after].into_iter().chain(changes).map(|t| (t, array[t as usize])).collect();
            prop_assert_eq!(visited, expected);
            let least = array[after as usize..(after + length) as usize].iter().min().copied();
            prop_assert_eq!(Some(steps.min_within(ticks(after), ticks(after + length))), least);
        }
    }

    /// Places jobs one by one, and compares the earliest fit of each job with a search over every instant and every
    /// processor.
    #[test]
    fn earliest_fit_agrees_with_brute_force(
        periods in proptest::collection::vec((0_u32..5, 1_u32..3, 0_i64..25, 1_i64..8), 0..12),
        jobs in proptest::collection::vec((1_u32..6, 1_i64..9, 0_i64..20), 1..12),
    ) {
        let processors = 5_u32;
        let unavailable: Vec<Unavailable> = periods.iter().map(|&(first, count, start, length)| Unavailable {
            processors: ProcSet::range(first, (first + count - 1).min(processors - 1)),
            start: ticks(start),
            end: ticks(start + length),
        }).collect();
        let platform = Platform::flat(processors).unwrap();
        let instance = Instance::new(platform, vec![], unavailable.clone()).unwrap();
        let mut timeline = Timeline::new(&instance);
        for &(width, length, after) in &jobs {
            let start = timeline.earliest_fit(width, ticks(length), ticks(after));
            prop_assert!(timeline.fits(width, start, ticks(length)));
            if !timeline.classes.is_empty() {
                prop_assert_eq!(timeline.first_by_class(width, ticks(length), ticks(after)), start);
            }
            prop_assert!(start >= ticks(after));
            if start > ticks(after) {
                prop_assert!(!timeline.fits(width, start - Time::TICK, ticks(length)));
            }
            // As long as no jobs are placed, only closed periods matter, and the search over instants and processors is
            // exact.
            let closed = |p: u32, t: i64| unavailable.iter().any(|period| {
                period.processors.contains(p) && period.start <= ticks(t) && ticks(t) < period.end
            });
            let fits = |t: i64| (0..processors).filter(|&p| (t..t + length).all(|u| !closed(p, u))).count() >= width as usize;
            let alone = Timeline::new(&instance).earliest_fit(width, ticks(length), ticks(after));
            prop_assert_eq!(Some(alone), (after..).find(|&t| fits(t)).map(ticks));
            timeline.hold(width, start, start + ticks(length));
        }
    }
}

#[test]
fn the_same_processors_must_be_free_throughout() {
    let closed =
        |id, start, end| Unavailable { processors: ProcSet::range(id, id), start: ticks(start), end: ticks(end) };
    let platform = Platform::flat(2).unwrap();
    let instance = Instance::new(platform, vec![], vec![closed(0, 10, 20), closed(1, 0, 10)]).unwrap();
    let timeline = Timeline::new(&instance);
    assert_eq!(timeline.earliest_fit(1, ticks(10), Time::ZERO), Time::ZERO);
    assert_eq!(timeline.earliest_fit(1, ticks(11), Time::ZERO), ticks(10));
    assert_eq!(timeline.earliest_fit(2, ticks(1), Time::ZERO), ticks(20));
}

#[test]
fn a_released_reservation_leaves_no_trace() {
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![], vec![]).unwrap();
    let mut timeline = Timeline::new(&instance);
    let first = timeline.hold(3, ticks(0), ticks(10));
    let second = timeline.hold(2, ticks(10), ticks(12));
    assert_eq!(timeline.earliest_fit(2, ticks(3), Time::ZERO), ticks(10));
    assert_eq!((timeline.free_at(ticks(5)), timeline.next_change(Time::ZERO)), (1, Some(ticks(10))));
    timeline.release(&first);
    timeline.release(&second);
    assert_eq!(timeline.next_change(Time::ZERO), None);
}
