//! The rational optimum, computed from a basis of the search in floating point.

use dashu_ratio::RBig;
use makespan_core::tree::{Optimum, Rates, TreeProblem};

use super::basis::{Basis, Share};
use super::figures::Coefficients;
use super::prices::{PriceGoal, Prices};
use super::simplex::{SimplexStop, Vertex};

/// Solves a basis in rationals, verifies the optimum, and returns it.
///
/// The search in floating point treats nearly equal numbers as equal, so it may stop at a basis that is not optimal.
/// Then this function makes more steps in rationals.
///
/// # Errors
/// Returns a [`SimplexStop`] if the vertex is not feasible in rationals, if more than `steps` steps are needed, or if
/// the verification fails.
pub(super) fn optimum(problem: &TreeProblem, basis: Basis, steps: usize) -> Result<Optimum, SimplexStop> {
    let figures: Coefficients<RBig> = Coefficients::new(problem, None);
    let mut vertex = Vertex::new(&figures, basis)?;
    if !vertex.is_feasible(&figures) {
        return Err(SimplexStop::Infeasible);
    }
    vertex.optimise(&figures, steps)?;
    let prices = Prices::new(&figures, &vertex.basis, &vertex.factor, PriceGoal::Throughput)?;
    let optimum = Optimum {
        throughput: vertex.solution.throughput.clone(),
        rates: rates(problem, &vertex),
        task_prices: problem
            .applications()
            .iter()
            .zip(&prices.worth[1..])
            .map(|(app, worth)| worth * &app.work)
            .collect(),
        port_prices: by_node(problem, &prices.port),
    };
    optimum.verify(problem).map_err(|_| SimplexStop::Unproved)?;
    Ok(optimum)
}

/// Returns the rates in tasks per second, in the order of the nodes in the platform.
fn rates(problem: &TreeProblem, vertex: &Vertex<RBig>) -> Rates {
    let applications = problem.applications();
    let mut tasks = vec![RBig::ZERO; problem.nodes().len() * applications.len()];
    for (position, &node) in problem.order().iter().enumerate() {
        for (at, app) in applications.iter().enumerate() {
            let share = Share { node: position as u32, application: at as u32 + 1 };
            tasks[node * applications.len() + at] = vertex.solution.work(share) / &app.work;
        }
    }
    Rates::new(applications.len(), tasks)
}

/// Reorders values from the order of positions in [`Coefficients`] to the order of the nodes in the platform.
pub(super) fn by_node<T: Clone>(problem: &TreeProblem, figures: &[T]) -> Vec<T> {
    let mut ordered = figures.to_vec();
    for (position, &node) in problem.order().iter().enumerate() {
        ordered[node] = figures[position].clone();
    }
    ordered
}
