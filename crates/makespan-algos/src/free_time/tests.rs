use std::fmt::Debug;

use makespan_core::{FreeTime, Instance, Platform, ProcSet, Time, Timeline, Unavailable};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Calendar, Period, Skyline, Strips};

/// A simple reference implementation: the number of free processors at each tick, for each class of processors that
/// are available at the same times.
struct Plain(Vec<Vec<u32>>);

/// A tick after all ticks that the tests use.
const END: usize = 10_000;

impl Plain {
    fn new(instance: &Instance) -> Self {
        let of = |class: &makespan_core::availability::Class| {
            let mut free = vec![class.processors.len(); END];
            closed(class).for_each(|(start, end)| free[start as usize..end as usize].fill(0));
            free
        };
        Self(instance.availability().classes().iter().map(of).collect())
    }

    fn throughout(&self, start: i64, end: i64) -> impl Iterator<Item = u32> {
        self.0.iter().map(move |free| *free[start as usize..end as usize].iter().min().unwrap())
    }

    fn change(&mut self, (start, end, parts): &(i64, i64, Vec<u32>), by: impl Fn(u32, u32) -> u32) {
        for (free, &part) in self.0.iter_mut().zip(parts) {
            free[*start as usize..*end as usize].iter_mut().for_each(|free| *free = by(*free, part));
        }
    }
}

impl FreeTime for Plain {
    type Instant = i64;
    type Held = (i64, i64, Vec<u32>);

    fn earliest_fit(&self, width: u32, duration: i64, after: i64) -> i64 {
        (after..).find(|&at| self.throughout(at, at + duration).sum::<u32>() >= width).unwrap()
    }

    fn hold(&mut self, mut width: u32, start: i64, end: i64) -> (i64, i64, Vec<u32>) {
        let part = |free: u32| {
            let part = free.min(width);
            width -= part;
            part
        };
        let held = (start, end, self.throughout(start, end).map(part).collect());
        self.change(&held, |free, part| free - part);
        held
    }

    fn release(&mut self, held: &(i64, i64, Vec<u32>)) {
        self.change(held, |free, part| free + part);
    }
}

/// A query for the earliest fit from the instant `after` on. Before the query, the test may release processors. After
/// the query, the test holds processors at the earliest fit from `later` on.
#[derive(Clone, Debug)]
struct Question {
    width: u32,
    duration: i64,
    after: i64,
    later: i64,
    back: Option<Index>,
}

fn questions() -> impl Strategy<Value = Vec<Question>> {
    let question = (0_u32..1000, 1_i64..30, 0_i64..600, prop_oneof![Just(0), 0_i64..60], any::<Option<Index>>());
    let question = question.prop_map(|(width, duration, after, later, back)| {
        // Most tasks are narrow, so that there are many steps.
        Question { width: width % (1 + width % 17), duration, after, later: after + later, back }
    });
    prop::collection::vec(question, 1..250)
}

fn on(processors: u32, periods: &[(u32, u32, i64, i64)]) -> Instance {
    let period = |&(first, count, start, length): &(u32, u32, i64, i64)| Unavailable {
        processors: ProcSet::range(first.min(processors - 1), (first + count).min(processors - 1)),
        start: Time::from_ticks(start),
        end: Time::from_ticks(start + length),
    };
    Instance::new(Platform::flat(processors).unwrap(), vec![], periods.iter().map(period).collect()).unwrap()
}

fn closed(class: &makespan_core::availability::Class) -> impl Iterator<Item = (i64, i64)> {
    class.closed.iter().map(|(start, end)| (start.ticks(), end.ticks()))
}

/// Queries, holds and releases processors, and checks all answers. Returns the processors that are held at the end.
fn agrees<F: FreeTime>(
    mut free: F,
    instance: &Instance,
    questions: &[Question],
    at: impl Fn(i64) -> F::Instant,
) -> Result<Vec<F::Held>, TestCaseError>
where
    F::Instant: Debug,
{
    let (mut plain, mut held) = (Plain::new(instance), Vec::new());
    for &Question { width, duration, after, later, back } in questions {
        if let Some(back) = back.filter(|_| !held.is_empty()) {
            let (plainly, other) = held.swap_remove(back.index(held.len()));
            plain.release(&plainly);
            free.release(&other);
        }
        let width = 1 + width % instance.processors();
        let start = plain.earliest_fit(width, duration, after);
        prop_assert_eq!(free.earliest_fit(width, at(duration), at(after)), at(start));
        prop_assert_eq!(free.fits(width, at(after), at(duration)), start == after);
        let start = plain.earliest_fit(width, duration, later);
        prop_assert!(free.fits(width, at(start), at(duration)));
        let end = start + duration;
        held.push((plain.hold(width, start, end), free.hold(width, at(start), at(end))));
    }
    Ok(held.into_iter().map(|(_, other)| other).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Compares all data structures for free processors over time with an array that stores the numbers at each tick.
    #[test]
    fn all_agree_with_counts_at_each_tick(
        processors in prop_oneof![Just(1_u32), 2_u32..17],
        mut periods in prop::collection::vec((0_u32..16, 0_u32..16, 0_i64..500, 1_i64..40), 0..8),
        alike: bool,
        questions in questions(),
    ) {
        if alike {
            periods.iter_mut().for_each(|period| (period.0, period.1) = (0, processors));
        }
        let instance = on(processors, &periods);
        let by_timeline = agrees(Timeline::new(&instance), &instance, &questions, Time::from_ticks)?;
        // Also compare the numbers of processors of each class.
        prop_assert_eq!(agrees(Skyline::new(&instance), &instance, &questions, |ticks| ticks)?, by_timeline);
        if let [class] = instance.availability().classes() {
            let mut strips = Strips::constant(processors);
            for (start, end) in closed(class) {
                strips.hold(processors, Time::from_ticks(start), Time::from_ticks(end));
            }
            agrees(strips, &instance, &questions, Time::from_ticks)?;
            if processors == 1 {
                let periods: Vec<(i64, i64)> = closed(class).collect();
                agrees(Calendar::new(&periods), &instance, &questions, |ticks| ticks)?;
            }
        }
    }

    /// Tests the queries that only strips support. These queries are limited to a period, treat the processors of an
    /// owner as free, or come after past steps were removed.
    #[test]
    fn strips_agree_with_counts_while_time_passes(processors in 1_u32..17, questions in questions()) {
        let instance = on(processors, &[]);
        let (mut plain, mut strips, mut held) = (Plain::new(&instance), Strips::constant(processors), Vec::new());
        let (at, mut now) = (Time::from_ticks, 0);
        for (index, &Question { width, duration, after, later, back }) in questions.iter().enumerate() {
            let (width, after) = (1 + width % processors, after.max(now));
            if let Some(back) = back.filter(|_| !held.is_empty()) {
                let (plainly, other) = held.swap_remove(back.index(held.len()));
                plain.release(&plainly);
                strips.release(&other);
            }
            let before = later.max(after) + 1;
            let period = Period { from: at(after), until: at(before) };
            let first = |own: i64| {
                // From the instant `own` on, the query treats the processors of the owner as free.
                let fits = |start: i64| plain.throughout(start, (start + duration).min(own)).sum::<u32>() >= width;
                (after..before).find(|&start| fits(start)).map(at)
            };
            prop_assert_eq!(strips.earliest_fit_in(width, at(duration), period), first(i64::MAX));
            for own in [before, before + duration / 2] {
                let found = strips.earliest_fit_of_owner(width, at(duration), period, at(own));
                prop_assert_eq!(found, first(own));
            }
            let free = |tick: i64| plain.throughout(tick, tick + 1).sum::<u32>();
            prop_assert_eq!(strips.free_at(at(after)), free(after));
            let mut from = after;
            for (until, count) in strips.steps(at(after)).take(20) {
                let until = until.ticks().min(END as i64);
                prop_assert!((from..until).all(|tick| free(tick) == count));
                from = until;
            }
            let start = plain.earliest_fit(width, duration, after);
            held.push((plain.hold(width, start, start + duration), strips.hold(width, at(start), at(start + duration))));
            if index % 25 == 24 {
                now += 20;
                strips.forget(at(now));
            }
        }
    }
}
