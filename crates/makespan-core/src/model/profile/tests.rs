mod laws;

use proptest::prelude::*;

use super::*;

fn table(ticks: &[i64]) -> Profile {
    Profile::table(ticks.iter().map(|&t| Time::from_ticks(t)).collect()).unwrap()
}

#[test]
fn dominated_allotments_are_left_out() {
    let profile = table(&[10, 12, 8, 8, 5]);
    assert_eq!(profile.allotments().collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(profile.dominated(), 2);
    assert_eq!(profile.min_allotment(Time::from_ticks(9)), Some(3));
    assert_eq!(profile.min_allotment(Time::from_ticks(4)), None);
    assert_eq!((profile.fastest(), profile.shortest()), (5, Time::from_ticks(5)));
}

#[test]
fn least_work_looks_past_a_superlinear_step() {
    let profile = table(&[10, 9, 3]);
    assert_eq!(profile.thriftiest(Time::from_ticks(10)), Some(3));
    assert_eq!(profile.least_work(Time::from_ticks(10)), Some(9));
    assert!(!profile.is_monotone());
    assert!(table(&[10, 5, 4]).is_monotone());
}

#[test]
fn downey_follows_its_published_cases() {
    let speedup = |a, sigma, n| 1.0 / SpeedupLaw::Downey { parallelism: a, sigma }.time_fraction(n);
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} {y}");
    near(speedup(8.0, 0.0, 5), 5.0);
    near(speedup(8.0, 0.0, 20), 8.0);
    near(speedup(8.0, 0.5, 4), 8.0 * 4.0 / (8.0 + 0.5 * 3.0 / 2.0));
    near(speedup(8.0, 0.5, 10), 8.0 * 10.0 / (0.5 * 7.5 + 10.0 * 0.75));
    near(speedup(8.0, 0.5, 15), 8.0);
    near(speedup(8.0, 2.0, 10), 10.0 * 8.0 * 3.0 / (2.0 * 17.0 + 8.0));
    near(speedup(8.0, 2.0, 100), 8.0);
}

#[test]
fn refuses_figures_that_are_no_profile() {
    let second = Time::from_seconds(1);
    assert_eq!(Profile::table(vec![]), Err(ProfileError::Empty));
    assert!(matches!(Profile::table(vec![second, Time::ZERO]), Err(ProfileError::NotPositive { processors: 2, .. })));
    assert!(matches!(Profile::rigid(0, second), Err(ProfileError::Range { .. })));
    assert!(matches!(Profile::law(second, SpeedupLaw::Linear {}, 3, 2), Err(ProfileError::Range { .. })));
    for law in [SpeedupLaw::Amdahl { serial: f64::NAN }, SpeedupLaw::Power { exponent: 1.5 }] {
        assert!(matches!(Profile::law(second, law, 1, 2), Err(ProfileError::Law { .. })));
    }
}

fn laws() -> impl Strategy<Value = SpeedupLaw> {
    prop_oneof![
        Just(SpeedupLaw::Linear {}),
        (0.0..=1.0).prop_map(|serial| SpeedupLaw::Amdahl { serial }),
        (0.0..=1.0).prop_map(|exponent| SpeedupLaw::Power { exponent }),
        (1.0..300.0, 0.0..3.0).prop_map(|(parallelism, sigma)| SpeedupLaw::Downey { parallelism, sigma }),
    ]
}

proptest! {
    #[test]
    fn laws_are_monotone_and_their_least_work_is_a_bound(law in laws(), ticks in 1_i64..1_000_000_000_000, max in 1_u32..400,
                                                         share in 0.0..1.0) {
        let profile = Profile::law(Time::from_ticks(ticks), law, 1, max).unwrap();
        let deadline = Time::from_ticks((ticks as f64 * share) as i64);
        let fitting: Vec<u32> = (1..=max).filter(|&p| profile.time(p) <= deadline).collect();
        prop_assert!((1..max).all(|p| profile.time(p + 1) <= profile.time(p)));
        prop_assert_eq!(profile.min_allotment(deadline), fitting.first().copied());
        if let Some(least) = profile.least_work(deadline) {
            prop_assert!(fitting.iter().all(|&p| profile.work(p) >= least));
        }
        prop_assert_eq!(Some(profile.fastest()), (1..=max).find(|&p| profile.time(p) == profile.time(max)));
    }

    #[test]
    fn tables_answer_as_a_scan_would(ticks in proptest::collection::vec(1_i64..50, 1..12), deadline in 1_i64..60) {
        let profile = table(&ticks);
        let deadline = Time::from_ticks(deadline);
        let fitting: Vec<u32> = (1..=ticks.len() as u32).filter(|&p| profile.time(p) <= deadline).collect();
        prop_assert_eq!(profile.min_allotment(deadline), fitting.first().copied());
        prop_assert_eq!(profile.least_work(deadline), fitting.iter().map(|&p| profile.work(p)).min());
        prop_assert_eq!(profile.allotments().last(), Some(profile.fastest()));
        prop_assert_eq!(profile.shortest(), Time::from_ticks(*ticks.iter().min().unwrap()));
    }
}

#[test]
fn a_table_cut_to_one_processor_equals_one_of_a_single_time() {
    let times = [10, 6].map(Time::from_ticks).to_vec();
    let cut = Profile::table(times.clone()).unwrap().at_most(1).unwrap();
    assert_eq!(cut, Profile::table(times[..1].to_vec()).unwrap());
}

#[test]
fn times_along_a_law_never_rise_where_it_becomes_flat() {
    // Rounding must not make the time on three processors a tick less than the time on any larger number of
    // processors. Otherwise, bounds would be a tick too high.
    let tick = Time::from_ticks;
    for ticks in [10_000_000_000_000_000, 999_999_999_999_999_999] {
        for (parallelism, sigma) in
            (2..40).flat_map(|a| (0..300).map(move |s| (f64::from(a) / 2.0, f64::from(s) / 97.0)))
        {
            let law = SpeedupLaw::Downey { parallelism, sigma };
            let profile = Profile::law(tick(ticks), law, 1, 50).unwrap();
            let times: Vec<Time> = (1..=50).map(|processors| profile.time(processors)).collect();
            assert!(times.is_sorted_by(|a, b| a >= b), "{law:?}");
            assert_eq!(profile.shortest(), *times.last().unwrap());
        }
    }
}
