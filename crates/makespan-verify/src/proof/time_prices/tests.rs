use super::*;
use makespan_core::{Objective, Platform, ProcSet, Profile, SpeedupLaw, Unavailable, Weight};

use crate::proof::{Bound, Proof};

/// Returns a job with times in ticks and its weight in millionths, so that values can be computed by hand.
fn job(name: &str, processors: u32, ticks: i64, weight: u64, release: i64) -> Job {
    Job::new(name, Profile::rigid(processors, Time::from_ticks(ticks)).unwrap())
        .with_weight(Weight::from_millionths(weight).unwrap())
        .with_release(Time::from_ticks(release))
}

fn instance(processors: u32, jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
}

fn prices(instants: &[i64], prices: &[i64]) -> TimePrices {
    let instants = instants.iter().map(|&ticks| Time::from_ticks(ticks)).collect();
    TimePrices { instants, prices: prices.to_vec(), scale: 0, horizon: None, widths: Vec::new() }
}

#[test]
fn one_machine_and_equal_jobs_are_proved_optimal() {
    let instance = instance(1, vec![job("a", 1, 10, 1, 0), job("b", 1, 10, 1, 0), job("c", 1, 10, 1, 0)]);
    // If a job starts later, its weighted end rises by as much as its payment falls. So each job costs 30 at any start.
    // The price of the open processors, 30, is subtracted.
    assert_eq!(prices(&[0, 10, 20, 30], &[2, 1, 0]).proves(&instance), Ok(60));
    // Without prices, every job ends at 10.
    assert_eq!(prices(&[0], &[]).proves(&instance), Ok(30));
    assert_eq!(prices(&[0, 30], &[0]).proves(&instance), Ok(30));
    // With high prices, all jobs would run after the last instant of the prices, so the bound is weak.
    assert_eq!(prices(&[0, 10, 20, 30], &[200, 100, 50]).proves(&instance), Ok(0));
}

#[test]
fn a_scale_divides_and_rounds_down() {
    let instance = instance(1, vec![job("a", 1, 10, 1, 0), job("b", 1, 10, 1, 0)]);
    let exact = TimePrices { scale: 2, ..prices(&[0, 10, 20], &[4, 0]) };
    assert_eq!(exact.proves(&instance), Ok(30));
    // A job that starts at 0 costs 10 + 7.5, which is the minimum for both jobs. The price of the open processors, 7.5,
    // is subtracted from the total of 35.
    let lower = TimePrices { scale: 2, ..prices(&[0, 10, 20], &[3, 0]) };
    assert_eq!(lower.proves(&instance), Ok(27));
}

#[test]
fn release_dates_hold_where_the_price_rises() {
    // Both jobs need the machine from 5 on. Before 5, the machine is free, but no job is released.
    let instance = instance(1, vec![job("a", 1, 10, 1, 5), job("b", 1, 10, 1, 5)]);
    assert_eq!(prices(&[5, 15, 25], &[1, 0]).proves(&instance), Ok(15 + 25));
    let apart = self::instance(1, vec![job("a", 1, 10, 1, 0), job("b", 1, 10, 1, 10)]);
    assert_eq!(prices(&[10, 20], &[1]).proves(&apart), Ok(10 + 20));
    // The price is positive between 3 and 6. A job that starts at 0 pays this price for the whole period, and a later
    // start is not cheaper. The price of the open processors is subtracted.
    assert_eq!(prices(&[3, 6], &[1]).proves(&apart), Ok(10 + 20));
    // The best start is neither the release date nor an instant of the prices: a job that starts at 4 ends at 14, when
    // the price rises, and costs 24. A job that starts at 0 costs 40; at 6, 116; and at 15, 25. For ten jobs, the
    // price of the open processors, 130, is subtracted.
    let ten = self::instance(1, (0..10).map(|index| job(&index.to_string(), 1, 10, 1, 0)).collect());
    assert_eq!(prices(&[0, 6, 14, 15], &[5, 0, 100]).proves(&ten), Ok(240 - 130));
}

#[test]
fn jobs_that_do_not_fit_beside_each_other_pay_for_what_they_leave_idle() {
    // Each of the two jobs needs two of the three processors, so they run one after the other. By area alone, the
    // second job could end at 10 + 10 / 3.
    let instance = instance(3, vec![job("a", 2, 10, 1, 0), job("b", 2, 10, 1, 0)]);
    let widths = |steps: &[(i64, u32)], own: &[i64]| {
        vec![WidthPrices { widths: Scale::Steps(steps.to_vec()), prices: own.to_vec() }]
    };
    let proves = |widths| TimePrices { widths, ..prices(&[0, 10, 20], &[0, 0]) }.proves(&instance);
    assert_eq!(proves(Vec::new()), Ok(20));
    assert_eq!(proves(widths(&[(2, 1)], &[1, 0])), Ok(30));
    // The function that is 1 for every width allows three jobs at the same time, so 30 is subtracted.
    assert_eq!(proves(widths(&[(1, 1)], &[1, 0])), Ok(10));
    for bad in [widths(&[(2, 1)], &[1]), widths(&[(2, 1)], &[1, -1]), widths(&[(2, 1), (1, 2)], &[1, 0])] {
        assert!(matches!(proves(bad), Err(CertificateError::Malformed(_))));
    }
}

#[test]
fn a_bag_ends_with_its_last_round() {
    // Five tasks on two processors end at 10, 20 and 30. The bag ends at 30, although its tasks end at 18 on average.
    let bag = job("bag", 1, 10, 5, 0).with_count(5.try_into().unwrap());
    let instance = instance(2, vec![bag]);
    assert_eq!(prices(&[0], &[]).proves(&instance), Ok(150));
    let flow = prices(&[0], &[]).value(Objective::MeanFlow, &instance);
    assert_eq!(flow, Ok(Value::Integer(30_000)));
}

#[test]
fn prices_refute_a_deadline_between_closed_periods() {
    // There are 15 tasks of 8 ticks on 3 processors. A reservation closes all processors from 20 to 100. Before 20,
    // each processor has enough time for two tasks.
    let tasks = (0..15).map(|at| job(&at.to_string(), 1, 8, 1, 0)).collect();
    let closed =
        Unavailable { processors: ProcSet::range(0, 2), start: Time::from_ticks(20), end: Time::from_ticks(100) };
    let instance = Instance::new(Platform::flat(3).unwrap(), tasks, vec![closed]).unwrap();
    let refuted = |deadline: i64, instants: &[i64], prices: &[i64]| {
        let instants = instants.iter().map(|&ticks| Time::from_ticks(ticks)).collect();
        let deadline = Time::from_ticks(deadline);
        DeadlinePrices { deadline, instants, prices: prices.to_vec(), widths: Vec::new() }.proves(&instance)
    };
    // Each task pays for 8 ticks, and up to the deadline D, the processors are open for 60 + 3 (D - 100) ticks.
    assert_eq!(refuted(119, &[0, 119], &[1]), Ok(120));
    assert!(matches!(
        refuted(120, &[0, 120], &[1]),
        Err(CertificateError::NotRefuted { needed: 120, available: 120, .. })
    ));
    // Each run that ends by 20 contains one of two ticks that have a price. Each run between 100 and 123 also contains
    // one of two such ticks. Only 12 of the 15 tasks fit, so the bound is the optimum.
    let ticks = [7, 8, 15, 16, 107, 108, 115, 116];
    assert_eq!(refuted(123, &ticks, &[1, 0, 1, 0, 1, 0, 1]), Ok(124));
    assert!(refuted(124, &ticks, &[1, 0, 1, 0, 1, 0, 1]).is_err());
}

#[test]
fn an_outage_is_not_refunded() {
    let closed = Unavailable { processors: ProcSet::first(1), start: Time::from_ticks(0), end: Time::from_ticks(10) };
    let jobs = vec![job("a", 1, 10, 1, 0), job("b", 1, 10, 1, 0)];
    let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![closed]).unwrap();
    // The jobs end at 20 and 30. At prices 2 and 1, each job costs 30 if it starts at 0, 10 or 20. Only 10 is
    // subtracted, because the processor is closed for a part of the time.
    assert_eq!(prices(&[0, 10, 20], &[2, 1]).proves(&instance), Ok(50));
}

#[test]
fn the_best_of_many_allotments_is_found_by_groups_too() {
    let law = |max| Profile::law(Time::from_seconds(1000), SpeedupLaw::Amdahl { serial: 0.01 }, 1, max).unwrap();
    let jobs = |max: u32| -> Vec<Job> { (0..60).map(|index| Job::new(index.to_string(), law(max))).collect() };
    let grouped = instance(1000, jobs(1000));
    let times: Vec<Time> = (1..=1000).map(|processors| law(1000).time(processors)).collect();
    let table = Profile::table(times.clone()).unwrap();
    let tables = instance(1000, (0..60).map(|index| Job::new(index.to_string(), table.clone())).collect());
    let falling = |count: i64| {
        let instants = (0..=count).map(|at| Time::from_ticks(at * 10_000_000_000)).collect();
        let prices = (0..count).rev().map(|price| price * 4000).collect();
        TimePrices { instants, prices, scale: 0, horizon: None, widths: Vec::new() }
    };
    for certificate in [falling(12), falling(20), falling(40)] {
        // Computes the exact minimum by trying all allotments and all relevant starts.
        let least = |s: i128, k: usize| {
            let integral = |x: i128| -> i128 {
                let pairs = certificate.instants.windows(2).zip(&certificate.prices);
                pairs
                    .map(|(pair, &price)| {
                        let (from, until) = (i128::from(pair[0].ticks()), i128::from(pair[1].ticks()));
                        i128::from(price) * (x.clamp(from, until) - from)
                    })
                    .sum()
            };
            let end = s + i128::from(times[k - 1].ticks());
            end * 1_000_000 + k as i128 * (integral(end) - integral(s))
        };
        let starts = certificate.instants.iter().map(|instant| i128::from(instant.ticks()));
        let one = starts.flat_map(|s| (1..=1000).map(move |k| (s, k))).map(|(s, k)| least(s, k)).min().unwrap();
        let refund: i128 = certificate.prices.iter().map(|&price| i128::from(price) * 10_000_000_000 * 1000).sum();
        let exact = (60 * one - refund).max(0);
        for instance in [&grouped, &tables] {
            let proven = certificate.proves(instance).unwrap();
            assert!(proven <= exact, "{proven} {exact}");
            assert!(proven as f64 >= 0.97 * exact as f64, "{proven} {exact}");
        }
    }
}

#[test]
fn a_horizon_forbids_what_ends_later() {
    let instance = instance(1, vec![job("a", 1, 10, 1, 0), job("b", 1, 10, 1, 0)]);
    let until = |horizon, prices: TimePrices| TimePrices { horizon: Some(Time::from_ticks(horizon)), ..prices };
    // A job that starts at 0 pays 5 for each of 4 ticks, and a job that starts at 4 or later pays nothing. So without a
    // horizon, a job would start at 4. But with the horizon, it must end by 13.
    let dear = prices(&[0, 4], &[5]);
    assert_eq!(dear.proves(&instance), Ok(28 - 20));
    assert_eq!(until(14, dear.clone()).proves(&instance), Ok(28 - 20));
    // A job that starts as late as possible, at 3, pays for one tick. At this start, the price neither falls nor rises.
    assert_eq!(until(13, dear.clone()).proves(&instance), Ok(2 * (13 + 5) - 20));
    assert_eq!(until(10, dear.clone()).proves(&instance), Ok(2 * (10 + 20) - 20));
    let short = until(9, dear);
    let refused = CertificateError::HorizonTooShort { horizon: Time::from_ticks(9), job: makespan_core::JobId(0) };
    assert_eq!(short.proves(&instance), Err(refused));
    // No schedule of two jobs of 10 ticks ends by 19, so the proven bound grows without limit as the price rises.
    let wanted = |price| until(19, prices(&[9, 10], &[price])).proves(&instance);
    assert_eq!((wanted(0), wanted(1000)), (Ok(20), Ok(20 + 1000)));
}

#[test]
fn flow_counts_from_the_release_and_without_weights() {
    let instance = instance(1, vec![job("a", 1, 10, 7, 5), job("b", 1, 10, 0, 5), job("c", 1, 10, 1, 5)]);
    let one = 1_000_000;
    // The completion times are 15, 25 and 35. The mean flow is 20 ticks, which the check returns in thousandths of a
    // tick.
    assert_eq!(
        prices(&[5, 15, 25, 35], &[2 * one, one, 0]).value(Objective::MeanFlow, &instance),
        Ok(Value::Integer(20_000))
    );
    // A sum of completion times is a whole number, so a proven sum of 45.5 is rounded up to 46. Minus the sum of the
    // release dates, this is a total flow of 31 ticks.
    assert_eq!(prices(&[5, 6], &[one / 4]).value(Objective::MeanFlow, &instance), Ok(Value::Integer(31_000 / 3)));
    let proof = Proof::TimePrices(prices(&[5], &[]));
    let bound = Bound::proved_by(Objective::MeanFlow, proof, &instance).unwrap();
    assert_eq!((bound.objective, bound.value.integer()), (Objective::MeanFlow, 10_000));
    assert_eq!(bound.objective.decimal(bound.value.integer()), "0.00000001");
}

#[test]
fn malformed_prices_prove_nothing() {
    let instance = instance(1, vec![job("a", 1, 10, 1, 0)]);
    for bad in [
        prices(&[], &[]),
        prices(&[0, 10], &[]),
        prices(&[0, 10], &[1, 2]),
        prices(&[10, 0], &[1]),
        prices(&[5, 5], &[1]),
        prices(&[-1, 5], &[1]),
        prices(&[0, 5], &[-1]),
        TimePrices { scale: 65, ..prices(&[0, 5], &[1]) },
    ] {
        assert!(matches!(bad.proves(&instance), Err(CertificateError::Malformed(_))), "{bad:?}");
    }
}

#[test]
fn figures_beyond_128_bits_are_refused() {
    let heavy = Job::new("a", Profile::rigid(1, Time::from_seconds(100_000_000)).unwrap());
    let heavy = heavy.with_weight(Weight::parse("1000000000").unwrap());
    let instance = instance(1, vec![heavy]);
    let fine = TimePrices { scale: 64, ..prices(&[0, 5], &[1]) };
    assert_eq!(fine.proves(&instance), Err(CertificateError::Overflow));
    let wide = self::instance(1 << 20, vec![job("a", 1 << 20, 10, 1, 0)]);
    let dear = prices(&[0, i64::MAX], &[i64::MAX]);
    assert_eq!(dear.proves(&wide), Err(CertificateError::Overflow));
}
