//! A reference implementation that finds the minimum cost of a job by trying every cell.

use proptest::prelude::*;

use super::closed::ClosedPeriods;
use super::least::CostMinimiser;
use super::wide::WidthPayments;
use makespan_core::{Instance, Job, Platform, ProcSet, Profile, SpeedupLaw, Time, Unavailable, Weight};

use crate::proof::choices::{self, Choice};
use crate::proof::prefix::PriceIntegral;

/// Returns the number of processors that are open from `start` to `end` without interruption. Examines each class of
/// processors.
fn open_throughout(instance: &Instance, start: i64, end: i64) -> i128 {
    let meets = |period: &(Time, Time)| period.0.ticks() < end && start < period.1.ticks();
    let classes = instance.availability().classes().iter().filter(|class| !class.closed.iter().any(meets));
    classes.map(|class| i128::from(class.processors.len())).sum()
}

fn plain(prefix: &PriceIntegral, instance: &Instance, horizon: Option<i64>, job: &Job, weight: i128) -> i128 {
    let release = job.release.ticks();
    let closed = || instance.availability().classes().iter().flat_map(|class| &class.closed);
    let mut choices = Vec::new();
    choices::of(&job.work.task().unwrap().profile, prefix.rises_after(release).is_empty(), &mut choices);
    let mut least = i128::MAX;
    for &Choice { processors, paid, time } in &choices {
        let (time, paid) = (time as i64, paid as i64);
        let latest = horizon.map_or(i64::MAX, |horizon| horizon - time);
        let falls = prefix.falls_after(release).iter().map(|fall| fall.0);
        let rises = prefix.rises_after(release + paid).iter().map(|rise| rise.0 - paid);
        let last = horizon.map(|_| latest).filter(|&latest| latest >= release);
        let opens = closed().map(|period| period.1.ticks()).filter(|&start| start > release);
        let closes = closed().map(|period| period.0.ticks() - time).filter(|&start| start > release);
        let starts = [release].into_iter().chain(falls).chain(rises).chain(last).chain(opens).chain(closes);
        for start in starts.filter(|&start| start <= latest) {
            if open_throughout(instance, start, start + time) < processors {
                continue;
            }
            let price = prefix.at(start + paid) - prefix.at(start);
            least = least.min(weight * i128::from(start + time) + processors * price);
        }
    }
    least
}

fn profile() -> impl Strategy<Value = Profile> {
    let ticks = Time::from_ticks;
    let law = prop_oneof![
        Just(SpeedupLaw::Linear {}),
        (0.0..=1.0).prop_map(|serial| SpeedupLaw::Amdahl { serial }),
        (0.0..=1.0).prop_map(|exponent| SpeedupLaw::Power { exponent }),
        (1.0..500.0, 0.0..2.0).prop_map(|(parallelism, sigma)| SpeedupLaw::Downey { parallelism, sigma }),
    ];
    let times = prop_oneof![1_i64..300, 1_i64..100_000];
    prop_oneof![
        (1_u32..9, times.clone()).prop_map(move |(k, time)| Profile::rigid(k, ticks(time)).unwrap()),
        prop::collection::vec(times.clone(), 1..12)
            .prop_map(move |times| Profile::table(times.into_iter().map(ticks).collect()).unwrap()),
        prop::collection::vec(times.clone(), 300..400)
            .prop_map(move |times| Profile::table(times.into_iter().map(ticks).collect()).unwrap()),
        (times, law, 1_u32..4, 4_u32..3000).prop_map(move |(time, law, min, max)| Profile::law(
            ticks(time),
            law,
            min,
            max
        )
        .unwrap()),
    ]
}

/// Profile, weight and release date of each job.
type Jobs = Vec<(Profile, u64, i64)>;

fn jobs() -> impl Strategy<Value = Jobs> {
    prop::collection::vec((profile(), 0_u64..2000, prop_oneof![Just(0_i64), 0_i64..2000]), 1..6)
}

/// Generates the lengths of the periods between instants, and the prices in these periods. The prices are arbitrary, or
/// never rise, or rise only once.
fn prices() -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    let lengths = prop::collection::vec(prop_oneof![1_i64..40, 1_i64..5000], 40);
    let values = prop::collection::vec(prop_oneof![0_i64..4, 0_i64..3000], 0..40);
    (0_i64..50, lengths, values, 0..3, any::<prop::sample::Index>()).prop_map(
        |(origin, lengths, mut prices, kind, at)| {
            if kind > 0 {
                prices.sort_unstable_by(|a, b| b.cmp(a));
            }
            if kind > 1 && !prices.is_empty() {
                let at = at.index(prices.len());
                prices[at] += 7;
            }
            let mut instants = vec![origin * i64::from(origin > 25)];
            instants.extend(lengths[..prices.len()].iter().scan(instants[0], |sum, length| {
                *sum += length;
                Some(*sum)
            }));
            (instants, prices)
        },
    )
}

/// Generates unavailable periods of a platform of [`PROCESSORS`]: first and last processor, start and length.
fn closed() -> impl Strategy<Value = Vec<(u32, u32, i64, i64)>> {
    let first = prop_oneof![0_u32..12, 0_u32..PROCESSORS];
    let period = (first, prop_oneof![Just(0_u32), Just(PROCESSORS)], 0_i64..4000, prop_oneof![1_i64..50, 1_i64..4000]);
    prop_oneof![Just(Vec::new()), prop::collection::vec(period, 1..4)]
}

/// Number of processors of the platform, which is more than any profile accepts.
const PROCESSORS: u32 = 3000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn what_is_skipped_is_no_less_than_the_least(
        jobs in jobs(),
        (instants, prices) in prices(),
        late in prop_oneof![Just(None), (0_i64..3000).prop_map(Some)],
        closed in closed(),
    ) {
        let period = |(first, more, start, length): (u32, u32, i64, i64)| Unavailable {
            processors: ProcSet::range(first, (first + more).min(PROCESSORS - 1)),
            start: Time::from_ticks(start),
            end: Time::from_ticks(start + length),
        };
        let closed = closed.into_iter().map(period).collect();
        let instance = Instance::new(Platform::flat(PROCESSORS).unwrap(), Vec::new(), closed).unwrap();
        let instants: Vec<Time> = instants.into_iter().map(Time::from_ticks).collect();
        let prefix = PriceIntegral::new(&instants, &prices).unwrap();
        let ends = jobs.iter().map(|(profile, _, release)| release + profile.shortest().ticks());
        let horizon = late.map(|late| ends.max().unwrap() + late);
        let mut least = CostMinimiser::new(&prefix, ClosedPeriods::of(&instance, &prefix), horizon.map(Time::from_ticks));
        let mut wide = WidthPayments::new(&instants, &prices, &[], ClosedPeriods::of(&instance, &prefix), horizon.map(Time::from_ticks));
        for (profile, weight, release) in jobs {
            let each = profile.max_processors() - profile.min_processors() < 256;
            let job = Job::new("a", profile).with_release(Time::from_ticks(release));
            let job = job.with_weight(Weight::from_millionths(weight).unwrap());
            let weight = i128::from(weight) * 100;
            let profile = job.work.task().map(|task| &task.profile).unwrap();
            let expected = plain(&prefix, &instance, horizon, &job, weight);
            prop_assert_eq!(least.cost(profile, job.release, weight), Some(expected));
            if each {
                prop_assert_eq!(wide.cost(profile, job.release, weight), Some(expected));
            }
        }
    }
}
