use makespan_core::{SpeedupLaw, Time};
use proptest::prelude::*;

use super::*;

/// Returns the times of a law, each multiplied by a factor.
fn synthetic(sequential: f64, law: SpeedupLaw, points: &[(u32, f64)]) -> Vec<Sample> {
    let sample = |&(processors, factor): &(u32, f64)| Sample {
        processors,
        time: Time::from_seconds_f64(sequential * law.time_fraction(processors) * factor).unwrap(),
    };
    points.iter().map(sample).collect()
}

fn exact(sequential: f64, law: SpeedupLaw) -> Vec<Sample> {
    synthetic(sequential, law, &[1, 2, 4, 8, 12, 16].map(|processors| (processors, 1.0)))
}

fn fit_named<'a>(fits: &'a [Fit], name: &str) -> &'a Fit {
    fits.iter().find(|fit| fit.name() == name).unwrap()
}

proptest! {
    // Each case performs a search of some milliseconds.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn parameters_are_recovered_from_exact_times(sequential in 0.1..1000.0, serial in 0.0..=1.0, exponent in 0.0..=1.0) {
        let fits = fit(&exact(sequential, SpeedupLaw::Amdahl { serial }));
        let found = fit_named(&fits, "amdahl");
        prop_assert!(matches!(found.law, SpeedupLaw::Amdahl { serial: s } if (s - serial).abs() < 1e-6), "{:?}", found);
        prop_assert!((found.sequential.seconds() / sequential - 1.0).abs() < 1e-6 && found.error < 1e-6);
        let fits = fit(&exact(sequential, SpeedupLaw::Power { exponent }));
        let found = fit_named(&fits, "power");
        prop_assert!(matches!(found.law, SpeedupLaw::Power { exponent: e } if (e - exponent).abs() < 1e-5), "{:?}", found);
        prop_assert!((found.sequential.seconds() / sequential - 1.0).abs() < 1e-5 && found.error < 1e-5);
    }

    /// Downey's parameters are not always unique, because the parallelism may exceed the measured allotments. The times are
    /// unique.
    #[test]
    fn downeys_times_are_recovered(parallelism in 1.0..40.0, sigma in 0.0..4.0, sequential in 0.1..1000.0) {
        let law = SpeedupLaw::Downey { parallelism, sigma };
        let fits = fit(&exact(sequential, law));
        let found = fit_named(&fits, "downey");
        prop_assert!(found.error < 2e-3, "{:?} for {:?}", found, law);
    }

    #[test]
    fn noise_moves_the_parameters_little(serial in 0.02..0.5, noise in proptest::collection::vec(0.98..1.02_f64, 6)) {
        let points: Vec<(u32, f64)> = [1, 2, 4, 8, 12, 16].into_iter().zip(noise).collect();
        let fits = fit(&synthetic(10.0, SpeedupLaw::Amdahl { serial }, &points));
        let found = fit_named(&fits, "amdahl");
        prop_assert!(matches!(found.law, SpeedupLaw::Amdahl { serial: s } if (s - serial).abs() < 0.03), "{:?}", found);
        prop_assert!(found.error <= 0.02, "the error of the true law is at most 2 %");
        prop_assert!((found.sequential.seconds() / 10.0 - 1.0).abs() < 0.05);
        for fit in &fits {
            prop_assert!(fit.law.check().is_ok());
            let squares: f64 = fit.residuals.iter().map(|residual| residual.relative.powi(2)).sum();
            prop_assert!((fit.error - (squares / 6.0).sqrt()).abs() < 1e-12);
        }
    }
}

#[test]
fn the_law_behind_the_times_comes_first() {
    for law in [
        SpeedupLaw::Amdahl { serial: 0.1 },
        SpeedupLaw::Power { exponent: 0.7 },
        SpeedupLaw::Downey { parallelism: 6.0, sigma: 0.5 },
    ] {
        let fits = fit(&exact(20.0, law));
        assert_eq!(fits.len(), 3);
        assert_eq!(std::mem::discriminant(&fits[0].law), std::mem::discriminant(&law), "{fits:?}");
    }
}

#[test]
fn a_speed_up_above_linear_or_below_one_stays_in_range() {
    let times = |seconds: [f64; 4]| -> Vec<Sample> {
        let time = |seconds: f64| Time::from_seconds_f64(seconds).unwrap();
        [1, 2, 4, 8].into_iter().zip(seconds).map(|(processors, s)| Sample { processors, time: time(s) }).collect()
    };
    for seconds in [[10.0, 4.0, 1.5, 0.5], [1.0, 2.0, 3.0, 4.0]] {
        let fits = fit(&times(seconds));
        assert!(fits.len() == 3 && fits.iter().all(|fit| fit.law.check().is_ok() && fit.error.is_finite()), "{fits:?}");
    }
}

#[test]
fn few_points_fit_what_they_can() {
    let all = exact(10.0, SpeedupLaw::Amdahl { serial: 0.2 });
    assert!(fit(&all[..0]).is_empty() && fit(&all[..1]).is_empty());
    assert!(advice(&all[..1]).unwrap().contains("only one number of processors"));
    let two = fit(&all[..2]);
    assert_eq!(two.len(), 2);
    assert!(two.iter().all(|fit| fit.error < 1e-6 && fit.parameters == 2));
    assert!(advice(&all[..2]).unwrap().contains("two numbers of processors"));
    assert_eq!(fit(&all[..3]).len(), 3);
    assert_eq!(advice(&all), None);
    // Two times on the same allotment are one point. The shorter time is used.
    assert!(fit(&[all[0], all[0]]).is_empty());
}

#[test]
fn the_best_law_alone_is_the_first_unless_a_simpler_one_is_within_the_noise() {
    let downey = exact(20.0, SpeedupLaw::Downey { parallelism: 6.0, sigma: 0.5 });
    assert_eq!(best(&downey, 0.0).as_ref(), fit(&downey).first());
    let simple = best(&downey, 0.5).unwrap();
    assert!(simple.parameters == 2 && simple.error < 0.5, "{simple:?}");
    assert_eq!(best(&downey[..2], 0.0).as_ref(), fit(&downey[..2]).first());
    assert_eq!(best(&downey[..1], 1.0), None);
}
