use std::num::NonZeroU64;

use super::*;
use crate::model::{Link, Node, Platform, Profile, Unavailable, Weight};

fn node(name: &str, parent: Option<usize>, bandwidth: Option<f64>) -> Node {
    let link = bandwidth.map(|bandwidth| Link { bandwidth, latency: Time::from_ticks(5) });
    Node { speed: 0.1, parent, link, ..Node::new(name, 2) }
}

fn bag(name: &str) -> Job {
    let job = Job::new(name, Profile::rigid(1, Time::parse("2.5").unwrap()).unwrap());
    job.with_count(NonZeroU64::new(7).unwrap()).with_data(1000)
}

fn tree(jobs: Vec<Job>) -> Result<TreeProblem, TreeError> {
    let nodes = vec![node("leaf", Some(2), Some(0.3)), node("root", None, None), node("middle", Some(1), Some(8.0))];
    TreeProblem::new(&Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap())
}

#[test]
fn figures_are_exact_and_parents_come_first() {
    let problem = tree(vec![bag("a")]).unwrap();
    let ratio = |numerator: i64, denominator: u64| RBig::from_parts(numerator.into(), denominator.into());
    assert_eq!((problem.order(), problem.children(2)), (&[1, 2, 0][..], &[0][..]));
    assert_eq!((problem.nodes()[0].bandwidth.clone(), problem.capacity(0)), (ratio(3, 10), ratio(1, 5)));
    let application = &problem.applications()[0];
    assert_eq!((application.work.clone(), application.ratio()), (ratio(5, 2), RBig::from(400)));
    assert_eq!((application.weight.clone(), application.count), (RBig::ONE, 7));
}

#[test]
fn every_other_instance_is_refused_with_a_remedy() {
    assert_eq!(tree(vec![]).unwrap_err(), TreeError::NoApplications);
    assert_eq!(tree(vec![bag("a").with_weight(Weight::ZERO)]).unwrap_err(), TreeError::NoWeight("a".into()));
    assert_eq!(
        tree(vec![Job::new("a", Profile::rigid(1, Time::TICK).unwrap())]).unwrap_err(),
        TreeError::NotABag("a".into())
    );
    assert_eq!(tree(vec![bag("a").with_release(Time::TICK)]).unwrap_err(), TreeError::Released("a".into()));
    let wide = Job::new("w", Profile::rigid(2, Time::TICK).unwrap()).with_count(NonZeroU64::MIN);
    assert_eq!(tree(vec![wide]).unwrap_err(), TreeError::Parallel("w".into()));
    let walltime = Some(Time::from_seconds(1000));
    assert_eq!(tree(vec![Job { walltime, ..bag("a") }]).unwrap_err(), TreeError::Walltime("a".into()));
    let waiting = bag("b").with_after(["a"]);
    assert_eq!(tree(vec![bag("a"), waiting]).unwrap_err(), TreeError::After("b".into(), "a".into()));
    let resources = |amount| crate::model::Resources::new([("memory", amount)]).unwrap();
    let roomy = vec![Node { resources: resources(4), ..node("a", None, None) }];
    let needs = crate::model::Needs::new([("memory", crate::model::Need::whole(1))]).unwrap();
    let needy = Instance::new(Platform::new(roomy).unwrap(), vec![bag("a").with_needs(needs)], vec![]).unwrap();
    assert_eq!(TreeProblem::new(&needy).unwrap_err(), TreeError::Needs("a".into(), "memory".into()));
    let on = |nodes: Vec<Node>, unavailable| {
        TreeProblem::new(&Instance::new(Platform::new(nodes).unwrap(), vec![bag("a")], unavailable).unwrap())
    };
    let no_link = vec![node("root", None, None), node("leaf", Some(0), None)];
    assert_eq!(on(no_link, vec![]).unwrap_err(), TreeError::NoBandwidth("leaf".into()));
    let apart = vec![node("a", None, None), node("b", None, None)];
    assert_eq!(on(apart, vec![]).unwrap_err(), TreeError::NoTree("b".into()));
    let period = Unavailable { processors: crate::model::ProcSet::first(1), start: Time::ZERO, end: Time::TICK };
    assert_eq!(on(vec![node("a", None, None)], vec![period]).unwrap_err(), TreeError::Unavailable);
    assert!(on(vec![node("a", None, None)], vec![]).is_ok(), "one node is a tree");
}

#[test]
fn decimals_of_floats_are_those_that_were_written() {
    let of = |value: f64| decimal_of(value).to_string();
    assert_eq!(
        (of(0.1), of(-2.5), of(875_000.0), of(0.0)),
        ("1/10".into(), "-5/2".into(), "875000".into(), "0".into())
    );
    assert_eq!(of(1e20), "100000000000000000000");
    for value in [22.151, 171.667, 1e-9, 6.25e300, 4.9e-324, f64::MAX, 0.1 + 0.2] {
        assert_eq!(float_of(&decimal_of(value)).to_bits(), value.to_bits(), "{value}");
    }
}

#[test]
fn decimals_are_written_and_read_exactly() {
    let third = RBig::from_parts(1.into(), 3_u8.into());
    let (below, above) = (short_decimal(&third, false), short_decimal(&third, true));
    assert_eq!((decimal_text(&below), decimal_text(&above)), ("0.333333333333333".into(), "0.333333333333334".into()));
    assert!(below < third && third < above);
    for text in ["0", "12.5", "-0.001", "123456789", "1.5e-40", "1e300", "2.25e-7"] {
        let value = parse_decimal(text).unwrap();
        assert_eq!(parse_decimal(&decimal_text(&value)), Some(value.clone()), "{text}");
        assert_eq!(short_decimal(&value, true), value, "{text}");
    }
    for bad in ["", "x", "1.2.3", "1e9999", "--1", "NaN", "1/3"] {
        assert_eq!(parse_decimal(bad), None, "{bad}");
    }
    assert_eq!(decimal_text(&decimal_of(0.000_000_225)), "0.000000225");
}
