//! Conversion of a vertex in floats to rates that are feasible in exact arithmetic, and of its prices to integers.

use dashu_ratio::RBig;
use makespan_core::tree::{Rates, TreeProblem, float_of};
use makespan_verify::proof::TreePrices;

use super::Throughput;
use super::basis::Share;
use super::exact::by_node;
use super::figures::Scale;
use super::prices::Prices;
use super::simplex::Vertex;

/// Relative decreases of the rates, tried in this order until the rates are feasible.
const SHRINK: [f64; 6] = [1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-4];

/// Converts the rates of a vertex to exact feasible rates, and its prices to integers. Rates are rounded down, and the
/// bound is rounded up.
pub(super) fn rounded(problem: &TreeProblem, vertex: &Vertex<f64>, prices: &Prices<f64>, scale: &Scale) -> Throughput {
    let tree_prices = integer_prices(problem, prices, scale);
    let bound = tree_prices.fair_throughput(problem).ok();
    let feasible = SHRINK.into_iter().find_map(|shrink| {
        let rates = shrunk(problem, vertex, scale, 1.0 - shrink);
        rates.fair_throughput(problem).ok().map(|value| (rates, value))
    });
    let (Some(bound), Some((rates, value))) = (bound, feasible) else { return nothing(problem) };
    Throughput { rates, value, bound, prices: tree_prices, optimum: None, steps: 0 }
}

/// Returns rates of zero, with a bound from the speeds of the nodes that ignores communication. This is the result if
/// all searches fail.
pub(super) fn nothing(problem: &TreeProblem) -> Throughput {
    let applications = problem.applications().len();
    let nodes = problem.nodes().len();
    let rates = Rates::new(applications, vec![RBig::ZERO; nodes * applications]);
    // The worth of a task is proportional to its work, and ports have the price zero.
    let works: Vec<f64> = problem.applications().iter().map(|app| float_of(&app.work)).collect();
    let prices = TreePrices { tasks: integers(&works).0, ports: vec![0; nodes], exponent: 0 };
    let bound = prices.fair_throughput(problem).unwrap_or(RBig::ZERO);
    Throughput { rates, value: RBig::ZERO, bound, prices, optimum: None, steps: 0 }
}

/// Returns the rates of a vertex multiplied by `factor`. Replaces negative rates by zero.
fn shrunk(problem: &TreeProblem, vertex: &Vertex<f64>, scale: &Scale, factor: f64) -> Rates {
    let applications = problem.applications();
    let mut tasks = vec![RBig::ZERO; problem.nodes().len() * applications.len()];
    for (position, &node) in problem.order().iter().enumerate() {
        for (at, app) in applications.iter().enumerate() {
            let work = vertex.solution.work(Share { node: position as u32, application: at as u32 + 1 });
            let rate = work * factor * float_of(&(&scale.work / &app.work));
            tasks[node * applications.len() + at] = dyadic(rate.max(0.0));
        }
    }
    Rates::new(applications.len(), tasks)
}

/// Converts a float to a rational without rounding.
fn dyadic(value: f64) -> RBig {
    RBig::try_from(value).unwrap_or(RBig::ZERO)
}

/// Converts prices of the scaled programme to integers in units of the problem.
fn integer_prices(problem: &TreeProblem, prices: &Prices<f64>, scale: &Scale) -> TreePrices {
    let work = float_of(&scale.work);
    let apps = problem.applications().iter();
    let tasks: Vec<f64> =
        apps.zip(&prices.worth[1..]).map(|(app, worth)| worth.max(0.0) * float_of(&app.work)).collect();
    let ports: Vec<f64> = prices.port.iter().map(|port| port.max(0.0) * work).collect();
    let (tasks, unit_of_tasks) = integers(&tasks);
    let (ports, unit_of_ports) = integers(&by_node(problem, &ports));
    TreePrices { tasks, ports, exponent: unit_of_ports - unit_of_tasks }
}

/// Converts floats to integers of at most 62 bits. Also returns the binary exponent of the unit of these integers.
pub(super) fn integers(values: &[f64]) -> (Vec<u64>, i32) {
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return (vec![0; values.len()], 0);
    }
    let exponent = largest.log2().ceil() as i32 - 61;
    let unit = 2.0_f64.powi(exponent);
    (values.iter().map(|value| (value / unit).round() as u64).collect(), exponent)
}
