//! Tests of laws with parameters at the limits of their ranges. The expected times are computed in exact arithmetic.

use dashu_int::UBig;
use dashu_ratio::RBig;
use proptest::prelude::*;

use super::super::*;

/// Generates values from almost 0 to `most`, with every order of magnitude.
fn magnitude(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(most),
        (-1074.0..0.0).prop_map(move |exponent: f64| (most * exponent.exp2()).min(most)),
        (-60.0..0.0).prop_map(move |exponent: f64| most * exponent.exp2()),
        (0.0..=most),
    ]
}

/// Generates values in [0, 1], including values close to 1.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![magnitude(1.0), magnitude(1.0).prop_map(|rest| 1.0 - rest)]
}

fn laws() -> impl Strategy<Value = SpeedupLaw> {
    let sigma = prop_oneof![magnitude(1e9), share(), magnitude(1.0).prop_map(|more| 1.0 + more)];
    let parallelism = prop_oneof![
        magnitude(1e9).prop_map(|a| a.max(1.0)),
        magnitude(1.0).prop_map(|more| 1.0 + more),
        (1_u32..40).prop_map(f64::from),
    ];
    prop_oneof![
        Just(SpeedupLaw::Linear {}),
        share().prop_map(|serial| SpeedupLaw::Amdahl { serial }),
        share().prop_map(|exponent| SpeedupLaw::Power { exponent }),
        (parallelism, sigma).prop_map(|(parallelism, sigma)| SpeedupLaw::Downey { parallelism, sigma }),
    ]
}

fn ticks() -> impl Strategy<Value = i64> {
    prop_oneof![
        1_i64..100,
        (0_u32..63, any::<i64>()).prop_map(|(bits, any)| (any & ((1 << bits) - 1)).max(1)),
        Just(i64::MAX)
    ]
}

fn width() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..70, (0_u32..32, any::<u32>()).prop_map(|(bits, any)| (any >> bits).max(1)), Just(u32::MAX)]
}

/// Returns the time on n processors divided by the time on one, as an exact rational, or `None` for a power law.
fn exact(law: SpeedupLaw, n: u32) -> Option<RBig> {
    let of = |value: f64| RBig::try_from(value).unwrap();
    let (one, two, n) = (RBig::ONE, of(2.0), RBig::from(n));
    Some(match law {
        SpeedupLaw::Linear {} => one / n,
        SpeedupLaw::Amdahl { serial } => of(serial) + (one - of(serial)) / n,
        SpeedupLaw::Power { .. } => return None,
        SpeedupLaw::Downey { parallelism, sigma } => {
            let (a, s) = (of(parallelism), of(sigma));
            let speedup = if s <= one {
                if n <= a {
                    &a * &n / (&a + &s * (&n - &one) / &two)
                } else if n <= &two * &a - &one {
                    &a * &n / (&s * (&a - &one / &two) + &n * (&one - &s / &two))
                } else {
                    a
                }
            } else if n <= &a + &a * &s - &s {
                &n * &a * (&s + &one) / (&s * (&n + &a - &one) + &a)
            } else {
                a
            };
            one / speedup
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn times_never_rise_and_work_never_falls(law in laws(), ticks in ticks(), max in width(), at in width(), further in width()) {
        let profile = Profile::law(Time::from_ticks(ticks), law, 1, max).unwrap();
        let low = at.min(max);
        let next = low.saturating_add(1).min(max);
        let high = low.saturating_add(further).min(max);
        for more in [next, high] {
            prop_assert!(profile.time(more) <= profile.time(low));
            let (least, work) = (profile.least_work(profile.time(low)).unwrap(), profile.work(more));
            prop_assert!(least <= work, "{least} {work}");
            prop_assert!(work <= profile.most_work());
        }
        prop_assert_eq!(profile.time(1), Time::from_ticks(ticks));
        prop_assert!(profile.shortest() <= profile.time(low) && profile.time(low) <= profile.longest());
    }

    #[test]
    fn allotments_are_the_fewest_and_their_work_the_least(law in laws(), ticks in ticks(), max in width(), at in width(),
                                                         more in 0_i64..3, beside in width()) {
        let profile = Profile::law(Time::from_ticks(ticks), law, 1, max).unwrap();
        let deadline = profile.time(at.min(max)) + Time::from_ticks(more - 1);
        let fewest = profile.min_allotment(deadline);
        prop_assert_eq!(fewest.is_none(), profile.shortest() > deadline);
        let Some(fewest) = fewest else { return Ok(()) };
        prop_assert!(profile.time(fewest) <= deadline);
        prop_assert!(fewest == 1 || profile.time(fewest - 1) > deadline);
        let least = profile.least_work(deadline).unwrap();
        for processors in [fewest, fewest.saturating_add(beside).min(max), max] {
            prop_assert!(profile.work(processors) >= least);
        }
        // The lower bound on work is no lower than the rounding of times makes necessary.
        prop_assert!(least >= (profile.work(fewest) - Area::from(fewest) - Area::from(max >> 24) - profile.work(fewest) / (1 << 48) - 1).max(1));
    }

    #[test]
    fn times_are_those_of_the_law(law in laws(), ticks in ticks(), n in width()) {
        let Some(fraction) = exact(law, n) else { return Ok(()) };
        let time = RBig::from(Profile::law(Time::from_ticks(ticks), law, 1, n).unwrap().time(n).ticks());
        let exact = fraction * RBig::from(ticks);
        let slack = RBig::from(2) + &exact / RBig::from(1_u64 << 50);
        prop_assert!(time >= &exact - &slack && time <= &exact + &slack, "{law:?}: {time} for {exact}");
    }

    #[test]
    fn powers_are_rounded_up_but_for_a_trace(quarters in 1_usize..4, ticks in ticks(), n in width()) {
        // The expected time is the smallest integer t with t >= T n^-(q/4), that is, with t^4 n^q >= T^4.
        let law = SpeedupLaw::Power { exponent: quarters as f64 / 4.0 };
        let time = Profile::law(Time::from_ticks(ticks), law, 1, n).unwrap().time(n).ticks();
        // The powers are in units of 2^-24 of a tick, because a time may be too low by this amount.
        let fourth = |ticks: i64, more: u32| ((UBig::from(ticks.unsigned_abs()) << 24) + more).pow(4);
        let covers = |time: i64, more| fourth(time, more) * UBig::from(n).pow(quarters) >= fourth(ticks, 0);
        prop_assert!(covers(time, 1), "{time}");
        prop_assert!(time == 1 || !covers(time - 1, 0), "{time}");
    }
}

/// Rounding must not make the proven makespan on 8 processors too high.
#[test]
fn the_shortest_time_is_no_longer_than_any() {
    let law = SpeedupLaw::Downey { parallelism: 7.0, sigma: 9.713_588_690_420_28e-16 };
    let profile = Profile::law(Time::from_seconds(1_000_000_000), law, 1, 8).unwrap();
    assert!((1..=8).all(|processors| profile.shortest() <= profile.time(processors)));
}
