use makespan_core::{Platform, Time};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn hours(hours: i64) -> Time {
    Time::from_seconds(3600 * hours)
}

#[test]
fn durations_have_the_mean_and_the_spread_of_their_law() {
    for (shape, deviation) in [(1.0, 1.0), (0.7, 1.4624), (2.0, 0.5227)] {
        let lifetime = Lifetime::weibull(hours(10), shape).unwrap();
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| lifetime.draw(random).seconds() / 36_000.0).collect();
        let mean = drawn.iter().sum::<f64>() / 1e5;
        let spread = (drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1e5).sqrt();
        assert!((mean - 1.0).abs() < 0.015, "{shape}: {mean}");
        assert!((spread - deviation).abs() < 0.03, "{shape}: {spread}");
    }
}

#[test]
fn a_model_is_read_from_a_line() {
    let model = FailureModel::parse("mtbf=30d, mttr=4h,shape=0.7,processors=16", 5).unwrap();
    assert_eq!((model.up.mean(), model.up.shape()), (hours(720), 0.7));
    assert_eq!((model.repair, model.seed), (Lifetime::exponential(hours(4)).unwrap(), 5));
    assert_eq!(model.unit, FailureUnit::Processors(16));
    assert_eq!(FailureModel::parse("mttr=4h,mtbf=1d", 1).unwrap().unit, FailureUnit::Node);
    let said = |text: &str| FailureModel::parse(text, 1).unwrap_err().to_string();
    assert!(said("mtbf=1d").starts_with("`mttr` is missing; write mtbf=30d,mttr=4h"));
    assert!(said("mtbf=1d,mttr=1h,mtbf=2d").contains("`mtbf=2d` is given twice"));
    assert!(said("mtbf=1d,mttr=1h,form=2").contains("`form=2` is not known"));
    assert!(said("mtbf").contains("is not a key with a value"));
    assert!(said("mtbf=1x,mttr=1h").contains("mtbf: `1x` is not a time"));
    assert!(said("mtbf=0,mttr=1h").contains("must be positive"));
    assert!(said("mtbf=1d,mttr=1h,shape=0").contains("from 0.1 to 100"));
    assert!(said("mtbf=1d,mttr=1h,shape=x").contains("shape: `x` is not a number"));
    assert!(said("mtbf=1d,mttr=1h,processors=0").contains("at least 1"));
}

#[test]
fn units_fail_alike_and_each_by_itself() {
    let model = FailureModel::parse("mtbf=10h,mttr=1h", 3).unwrap();
    let draw = |nodes: u32| model.draw(&Platform::cluster(nodes, 4).unwrap(), hours(100), hours(1100));
    let (two, three) = (draw(2), draw(3));
    // There are 3 nodes. Each node fails every 11 h on average, so in 1000 h there are about 273 failures.
    assert!((220..330).contains(&three.len()), "{}", three.len());
    assert!(three.is_sorted_by_key(|failure| failure.down));
    assert!(three.iter().all(|failure| hours(100) < failure.down && failure.down < failure.up));
    assert!(three.iter().all(|failure| failure.expected_up == Some(failure.down + hours(1))));
    let of_two: Vec<_> = three.into_iter().filter(|failure| failure.processors.last() < Some(8)).collect();
    assert_eq!(of_two, two);
    let units = FailureModel { unit: FailureUnit::Processors(3), ..model }.units(&Platform::flat(8).unwrap());
    assert_eq!(units.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0-2", "3-5", "6-7"]);
}
