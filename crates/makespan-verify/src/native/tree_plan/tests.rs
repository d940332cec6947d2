use makespan_core::tree::{decimal_of, decimal_text};
use makespan_core::{Instance, Objective};

use super::*;
use crate::Proof;
use crate::native::instance::read_json;
use crate::proof::TreePrices;

const TREE: &str = r#"{"version": 1, "platform": {"nodes": [{"name": "r<", "processors": 1, "speed": 3},
  {"name": "a", "processors": 2, "parent": "r<", "bandwidth": 4}, {"name": "s", "processors": 0, "parent": "r<", "bandwidth": 1}]},
 "jobs": [{"name": "x", "count": 200, "work": 3, "data": 2}, {"name": "y", "count": 20, "work": 1, "data": 1, "weight": 2}]}"#;

fn instance() -> (Instance, TreeProblem) {
    let instance = read_json("a.json", TREE.as_bytes(), None).unwrap();
    let problem = TreeProblem::new(&instance).unwrap();
    (instance, problem)
}

/// Returns the bound that these dual prices prove.
fn by(prices: TreePrices, instance: &Instance) -> Bound {
    Bound::proved_by(Objective::Throughput, Proof::TreePrices(prices), instance).unwrap()
}

/// Returns a steady state with these rates, without a period.
fn state(rates: Rates) -> SteadyState {
    let period = Err(makespan_core::tree::PeriodicError::TooLong);
    SteadyState { rates, throughput: RBig::ZERO, optimum: None, fairness: None, period }
}

/// Returns a file with rates that are chosen by hand: the root computes tasks of x, and node a computes tasks of y.
/// Only work has a dual price.
fn file(problem: &TreeProblem) -> TreePlanFile {
    let rates = [0.9, 0.0, 0.0, 1.8, 0.0, 0.0].map(decimal_of).to_vec();
    let prices = TreePrices { tasks: vec![3, 1], ports: vec![0, 0, 0], exponent: 0 };
    let bound = by(prices, &instance().0);
    assert_eq!(
        bound.value,
        RBig::ONE.into(),
        "5 work units a second, and 5 work units for each unit of fair throughput"
    );
    let mut file = TreePlanFile::new(problem, &state(Rates::new(2, rates)), &bound).unwrap();
    file.remarks.push("a \"remark\"".into());
    let period = Periodic { period: makespan_core::Time::from_seconds(10), tasks: vec![9, 0, 0, 18, 0, 0] };
    file.period = Some(StatedPeriod::new(problem, period));
    file
}

fn text(file: &TreePlanFile, instance: &Instance) -> String {
    let mut bytes = Vec::new();
    file.write(instance, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_plan_reads_back_as_it_was_written_and_has_no_problems() {
    let (instance, problem) = instance();
    let file = file(&problem);
    assert_eq!(
        (decimal_text(&file.fair_throughput), file.bound.value.decimal(Objective::Throughput)),
        ("0.9".into(), "1".into())
    );
    let text = text(&file, &instance);
    assert!(is_tree_plan(text.as_bytes()) && !is_tree_plan(b"{\"version\": 1}"));
    let again = TreePlanFile::read("p.json", text.as_bytes(), &instance).unwrap();
    assert_eq!(again, file);
    assert_eq!(again.problems(&instance, &problem), Vec::<String>::new());
}

#[test]
fn a_proof_of_fairness_reads_back_and_every_change_of_it_is_found() {
    let (instance, problem) = instance();
    // With alpha 1, a task of x has the value 1 / 0.9, and a task of y has the value 2 / 1.8. A unit of work costs at most
    // as much as it earns with y: 2 / 1.8. So 5 units cost 5.56, and the rates earn 3: 0.85 times more is the proof.
    let rates = Rates::new(2, [0.9, 0.0, 0.0, 1.8, 0.0, 0.0].map(decimal_of).to_vec());
    let prices = TreePrices { tasks: vec![1, 1], ports: vec![0, 0, 0], exponent: 0 };
    let fairness = Fairness { alpha: 1, prices };
    let bound = file(&problem).bound;
    let file = TreePlanFile::new(&problem, &SteadyState { fairness: Some(fairness), ..state(rates) }, &bound).unwrap();
    let text = text(&file, &instance);
    let again = TreePlanFile::read("p.json", text.as_bytes(), &instance).unwrap();
    assert_eq!((&again, again.problems(&instance, &problem)), (&file, vec![]));
    assert!(text.contains("\"excess\": 0.851851851851852, "), "{text}");
    let changed = |from: &str, to: &str, expect: &str| {
        assert!(text.contains(from), "{text}");
        let file = TreePlanFile::read("p.json", text.replacen(from, to, 1).as_bytes(), &instance);
        let problems = file.map_or_else(|error| vec![error.to_string()], |file| file.problems(&instance, &problem));
        assert!(problems.iter().any(|problem| problem.contains(expect)), "{problems:?} lacks {expect}");
    };
    changed("\"excess\": 0.85", "\"excess\": 0.84", "the prices prove 0.85");
    changed("\"tasks\":[1,1]", "\"tasks\":[1,0]", "no bag has tasks with a positive price");
    changed("\"tasks\":[1,1]", "\"tasks\":[1]", "not exactly one price");
    changed("\"alpha\": 1,", "\"alpha\": 2,", "this proof is for steady-state[alpha=2]");
    changed("\"a\": 1.8", "\"a\": 0", "`y` has no rate");
    let from = text.find(" \"fairness\"").unwrap();
    let until = from + text[from..].find('\n').unwrap();
    changed(&text[from..=until], "", "has no `fairness`");
}

#[test]
fn everything_that_is_changed_is_found() {
    let (instance, problem) = instance();
    let text = text(&file(&problem), &instance);
    let changed = |from: &str, to: &str, expect: &str| {
        assert!(text.contains(from), "{text}");
        let file = TreePlanFile::read("p.json", text.replacen(from, to, 1).as_bytes(), &instance);
        let problems = file.map_or_else(|error| vec![error.to_string()], |file| file.problems(&instance, &problem));
        assert!(problems.iter().any(|problem| problem.contains(expect)), "{problems:?} lacks {expect}");
    };
    changed("\"fair_throughput\": 0.9", "\"fair_throughput\": 0.91", "the rates have 0.9");
    changed("\"r<\": 0.9", "\"r<\": 0.8", "the rates have 0.8");
    changed("\"r<\": 0.9", "\"r<\": 1.01", "`r<` would compute 1.01");
    changed("\"a\": 1.8", "\"s\": 1.8", "the rates require node `r<` to send for 1.8");
    changed("\"a\": 1.8", "\"a\": -1.8", "a negative rate");
    changed("\"value\": 1,", "\"value\": 0.999,", "the certificate proves 1");
    changed("\"value\": 1,", "\"value\": 1.1,", "the certificate proves 1");
    changed("\"ports\":[0,0,0]", "\"ports\":[0,0]", "every node");
    changed("\"ports\":[0,0,0]", "\"ports\":[1,0,0]", "proves 1.13333333333334");
    changed("\"a\": 18", "\"a\": 21", "period: node `a` would compute");
    changed("\"seconds\": 10", "\"seconds\": 0", "longer than 0 s");
    changed("\"seconds\": 10", "\"seconds\": 20", "the tasks in 20 s have 0.45");
    changed("\"r<\": 9}", "\"r<\": 8}", "the tasks in 10 s have 0.8");
    changed("\"a\": 18", "\"a\": 19", "are not the rates times 10 s");
    changed("\"a\": 1.8", "\"a\": 1.95", "are not the rates times 10 s");
    changed("\"a\": 18", "\"a\": 1099511627777", "0 to 1099511627776");
    changed("\"a\": 18", "\"a\": 17.5", "is not a number of tasks");
    changed("\"a\": 1.8", "\"b\": 1.8", "no node `b`");
    changed("\"y\": {", "\"z\": {", "no job `z`");
    changed("tree_prices", "rejection", "not a kind of certificate for a fair throughput");
}

/// Returns the ranges of all numbers in a JSON text, except for digits inside quotation marks.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut quoted, mut at) = (false, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => quoted = !quoted,
            byte if !quoted && byte.is_ascii_digit() => {
                let end =
                    text[at..].find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | '-')).unwrap_or(text.len() - at);
                found.push(at..at + end);
                at += end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns a plan for a random tree with random rates. All applications have the same dual price, and all ports have
/// the same dual price.
fn drawn(rng: &mut rand_chacha::ChaCha8Rng) -> (Instance, TreeProblem, TreePlanFile) {
    use rand::RngExt;
    let nodes: Vec<String> = (0..rng.random_range(2..6))
        .map(|at: usize| {
            let (processors, speed) = (rng.random_range(1..4), rng.random_range(1..30));
            let parent = match at {
                0 => String::new(),
                _ => format!(r#", "parent": "n{}", "bandwidth": {}"#, rng.random_range(0..at), rng.random_range(1..9)),
            };
            format!(r#"{{"name": "n{at}", "processors": {processors}, "speed": {}{parent}}}"#, f64::from(speed) / 8.0)
        })
        .collect();
    let jobs: Vec<String> = (0..rng.random_range(1..4))
        .map(|at: usize| {
            let (work, data, weight) = (rng.random_range(1..9), rng.random_range(1..9), rng.random_range(1..4));
            format!(r#"{{"name": "j{at}", "count": 900, "work": {work}, "data": {data}, "weight": {weight}}}"#)
        })
        .collect();
    let tree =
        format!(r#"{{"version": 1, "platform": {{"nodes": [{}]}}, "jobs": [{}]}}"#, nodes.join(","), jobs.join(","));
    let instance = read_json("a.json", tree.as_bytes(), None).unwrap();
    let problem = TreeProblem::new(&instance).unwrap();
    let (count, applications) = (problem.nodes().len(), problem.applications().len());
    let mut rates = vec![RBig::ZERO; count * applications];
    for (at, rate) in rates.iter_mut().enumerate() {
        if at < applications || rng.random_range(0..3) > 0 {
            *rate = RBig::from(rng.random_range(1..1000_u32)) / RBig::from(rng.random_range(1..1000_u32));
        }
    }
    // The rates are scaled such that the busiest port or processor is busy all the time.
    let flows = Rates::new(applications, rates.clone()).flows(&problem);
    let busiest = (0..count).map(|node| {
        let computing = Rates::new(applications, rates.clone()).processor_load(&problem, node);
        computing.max(makespan_core::tree::port_load(&problem, &flows, node))
    });
    let busiest = busiest.max().unwrap();
    let rates = Rates::new(applications, rates.into_iter().map(|rate| rate / &busiest).collect());
    let prices = TreePrices { tasks: vec![3; applications], ports: vec![1; count], exponent: -2 };
    let mut file = TreePlanFile::new(&problem, &state(rates.clone()), &by(prices, &instance)).unwrap();
    let length = makespan_core::Time::from_ticks(rng.random_range(1_000_000_000_000..9_000_000_000_000));
    let Ok(period) = Periodic::rounded(&problem, &rates, length) else { return drawn(rng) };
    file.period = Some(StatedPeriod::new(&problem, period));
    (instance, problem, file)
}

/// Checks that each change of a number in a plan either makes the plan invalid, or leaves both throughputs and the
/// bound unchanged.
#[test]
fn every_number_that_is_changed_is_refused_or_changes_no_claim() {
    use rand::SeedableRng;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(64);
    let claims = |file: &TreePlanFile| {
        let period = file.period.as_ref().map(|period| period.fair_throughput.clone());
        (file.fair_throughput.clone(), file.bound.clone(), period)
    };
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..40 {
        let (instance, problem, file) = drawn(&mut rng);
        assert_eq!(file.problems(&instance, &problem), Vec::<String>::new());
        let text = text(&file, &instance);
        let again = TreePlanFile::read("p.json", text.as_bytes(), &instance).unwrap();
        assert_eq!((&again, again.problems(&instance, &problem)), (&file, Vec::new()));
        for place in numbers(&text) {
            let number: f64 = text[place.clone()].parse().unwrap();
            for new in [0.0, number * 2.0, number / 2.0, number + 1.0, number - 1.0, number * 1.0001, number * 0.9999] {
                let changed = format!("{}{new}{}", &text[..place.start], &text[place.end..]);
                match TreePlanFile::read("p.json", changed.as_bytes(), &instance) {
                    Ok(found) if found.problems(&instance, &problem).is_empty() => {
                        accepted += 1;
                        assert_eq!(claims(&found), claims(&file), "{} becomes {new} in {text}", &text[place.clone()]);
                        let (now, then) = (found.period.unwrap().periodic, file.period.clone().unwrap().periodic);
                        assert_eq!(now.period, then.period, "{text}");
                        let other = now.tasks.iter().zip(&then.tasks).all(|(now, then)| now.abs_diff(*then) <= 1);
                        assert!(other, "{} becomes {new} in {text}", &text[place.clone()]);
                    }
                    _ => refused += 1,
                }
            }
        }
    }
    assert!(refused > 5000 && accepted < refused / 4, "{refused} refused, {accepted} accepted");
}
