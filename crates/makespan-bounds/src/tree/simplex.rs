//! The primal simplex method. It solves the equations of a basis by elimination (module `factor`).

use super::basis::{Basis, Share, Variable};
use super::factor::{Factor, SingularMatrix};
use super::field::Field;
use super::figures::Coefficients;
use super::prices::{PriceGoal, Prices};
use super::solution::VertexValues;

/// The reason why the simplex method stopped without an optimum.
#[derive(Debug)]
pub(super) enum SimplexStop {
    /// The basis is singular.
    Singular,
    /// No constraint limits the step in some direction. Only rounding errors can have this effect.
    Unbounded,
    /// The maximum number of steps was reached.
    Steps,
    /// A basic variable is negative.
    Infeasible,
    /// The verification of the solution failed.
    Unproved,
}

impl From<SingularMatrix> for SimplexStop {
    fn from(_: SingularMatrix) -> Self {
        Self::Singular
    }
}

/// A vertex with its basis, factorisation and solution.
pub(super) struct Vertex<F> {
    pub basis: Basis,
    pub factor: Factor<F>,
    pub solution: VertexValues<F>,
    pub steps: usize,
}

/// Minimum number of nodes in a block. One step flips all nodes of a block: each node gets another key application. If
/// there are fewer candidates, each step of the simplex method changes only one node.
const SMALLEST_BLOCK: usize = 16;
/// Maximum number of steps between two attempts to flip a block.
const LONGEST_WAIT: usize = 100;

/// Number of steps between two scans of all variables. Between scans, a step prices only the variables that had a
/// positive gain in the previous step.
const SCANNED: usize = 20;
/// Number of steps after which the basis is solved again to remove rounding errors.
const SOLVED: usize = 32;

/// A variable that may enter the basis.
struct Candidate {
    variable: Variable,
    /// The gain of the objective per unit of the variable, times `reach`.
    size: f64,
    /// An approximate upper bound on the value of the variable.
    reach: f64,
}

impl<F: Field> Vertex<F> {
    pub fn new(figures: &Coefficients<F>, basis: Basis) -> Result<Self, SimplexStop> {
        let factor = Factor::new(figures, &basis)?;
        let mut solution = VertexValues::new(figures);
        solution.solve(figures, &basis, &factor, None)?;
        Ok(Self { basis, factor, solution, steps: 0 })
    }

    /// Returns true if no basic variable is negative.
    pub fn is_feasible(&self, figures: &Coefficients<F>) -> bool {
        basics(figures, &self.basis).all(|variable| !self.solution.value(variable).less(&F::zero()))
    }

    /// Makes up to `most` steps, until the throughput is optimal. If there are several optima, finds one with the least
    /// communication.
    pub fn optimise(&mut self, figures: &Coefficients<F>, most: usize) -> Result<(), SimplexStop> {
        let mut direction = VertexValues::new(figures);
        // `wait` is the number of steps until the next attempt to flip a block. After each failed attempt, `wait`
        // doubles.
        let (mut wait, mut next_flip) = (0, 0);
        for goal in [PriceGoal::Throughput, PriceGoal::Communication] {
            let (mut candidates, mut next_scan) = (Vec::new(), self.steps);
            loop {
                let pricing = Pricing::new(figures, self, goal)?;
                candidates.retain_mut(|candidate| pricing.renews(figures, &self.basis, candidate));
                if candidates.is_empty() || self.steps >= next_scan {
                    candidates = pricing.scan(figures, &self.basis);
                    next_scan = self.steps + SCANNED;
                }
                let Some(enters) = best(&candidates) else { break };
                if self.steps == most {
                    return Err(SimplexStop::Steps);
                }
                self.steps += 1;
                if self.steps >= next_flip && candidates.len() >= SMALLEST_BLOCK {
                    let flipped = self.flip(figures, &mut candidates)?;
                    wait = if flipped { 0 } else { (2 * wait + 1).min(LONGEST_WAIT) };
                    next_flip = self.steps + wait;
                    if flipped {
                        candidates.clear();
                        continue;
                    }
                }
                direction.solve(figures, &self.basis, &self.factor, Some(enters))?;
                let (leaves, step) = self.leaving(figures, &direction).ok_or(SimplexStop::Unbounded)?;
                self.solution.advance(&direction, &step, leaves);
                self.exchange(figures, enters, leaves)?;
            }
        }
        Ok(())
    }

    /// Flips nodes: gives the whole capacity of a node to an application with a positive gain on this node. Begins with
    /// the best candidates. Flips blocks of nodes for which the vertex stays feasible. Returns true if some node was
    /// flipped.
    ///
    /// Flips only nodes without extras. The keys of these nodes are in no other equation of the basis, so the prices do
    /// not change.
    fn flip(&mut self, figures: &Coefficients<F>, candidates: &mut [Candidate]) -> Result<bool, SimplexStop> {
        candidates.sort_by(|a, b| b.size.total_cmp(&a.size));
        let whole = |candidate: &&Candidate| match candidate.variable {
            Variable::Work(share) => self.basis.extras[share.node as usize].is_empty(),
            _ => false,
        };
        let mut seen = vec![false; figures.nodes()];
        let mut flips: Vec<Share> = Vec::new();
        for candidate in candidates.iter().filter(whole) {
            if let Variable::Work(share) = candidate.variable
                && !std::mem::replace(&mut seen[share.node as usize], true)
            {
                flips.push(share);
            }
        }
        let (mut done, mut size, mut flipped) = (0, flips.len(), false);
        while size >= SMALLEST_BLOCK && done < flips.len() {
            let block = &flips[done..flips.len().min(done + size)];
            let before: Vec<u32> = block.iter().map(|share| self.basis.key[share.node as usize]).collect();
            block.iter().for_each(|share| self.basis.key[share.node as usize] = share.application);
            self.solution.solve(figures, &self.basis, &self.factor, None)?;
            if self.is_feasible(figures) {
                done += block.len();
                flipped = true;
                continue;
            }
            block.iter().zip(before).for_each(|(share, key)| self.basis.key[share.node as usize] = key);
            size /= 2;
        }
        if flips.len() >= SMALLEST_BLOCK {
            self.solution.solve(figures, &self.basis, &self.factor, None)?;
        }
        Ok(flipped)
    }

    fn exchange(&mut self, figures: &Coefficients<F>, enters: Variable, leaves: Variable) -> Result<(), SimplexStop> {
        let Self { basis, factor, solution, .. } = self;
        // Make the largest extra the key, so that the other extras are relatively small.
        let largest = |node: u32, extras: &[u32]| {
            let of = |&application: &u32| solution.work(Share { node, application }).float();
            extras.iter().copied().max_by(|a, b| of(a).total_cmp(&of(b)).then(b.cmp(a))).unwrap_or(0)
        };
        basis.exchange(enters, leaves, largest);
        for variable in [enters, leaves] {
            if !matches!(variable, Variable::Surplus(_)) {
                factor.refresh(figures, basis, variable.node())?;
            }
        }
        // Each step adds rounding errors. Solve the basis again to remove these errors.
        if self.steps.is_multiple_of(SOLVED) {
            solution.solve(figures, basis, factor, None)?;
        }
        Ok(())
    }

    /// Returns the basic variable that reaches zero first along a direction, and the length of the step to this point.
    /// Returns `None` if no basic variable falls.
    fn leaving(&self, figures: &Coefficients<F>, direction: &VertexValues<F>) -> Option<(Variable, F)> {
        let mut first: Option<(Variable, F)> = None;
        for variable in basics(figures, &self.basis) {
            let slope = direction.value(variable);
            if !slope.falls() {
                continue;
            }
            let value = self.solution.value(variable);
            let step = if value.less(&F::zero()) { F::zero() } else { value.over(&slope.negated()) };
            if first.as_ref().is_none_or(|(_, least)| step.less(least)) {
                first = Some((variable, step));
            }
        }
        first
    }
}

/// The prices for one goal of the search. For the goal of least communication, the prices for the throughput are also
/// necessary.
struct Pricing<F> {
    throughput: Prices<F>,
    communication: Option<Prices<F>>,
}

impl<F: Field> Pricing<F> {
    fn new(figures: &Coefficients<F>, vertex: &Vertex<F>, goal: PriceGoal) -> Result<Self, SimplexStop> {
        let of = |goal| Prices::new(figures, &vertex.basis, &vertex.factor, goal);
        let communication = if goal == PriceGoal::Communication { Some(of(goal)?) } else { None };
        Ok(Self { throughput: of(PriceGoal::Throughput)?, communication })
    }

    /// Returns the gain of a variable if it is positive. For the goal of least communication, returns `None` for a
    /// variable that reduces the throughput.
    fn gain(&self, figures: &Coefficients<F>, basis: &Basis, variable: Variable) -> Option<F> {
        let gain = self.throughput.gain(figures, basis, variable);
        let gain = match &self.communication {
            None => gain,
            Some(_) if gain.negated().is_gain() => return None,
            Some(prices) => prices.gain(figures, basis, variable),
        };
        gain.is_gain().then_some(gain)
    }

    /// Returns all variables with positive gains as candidates.
    fn scan(&self, figures: &Coefficients<F>, basis: &Basis) -> Vec<Candidate> {
        let candidate = |(variable, reach): (Variable, f64)| {
            let gain = self.gain(figures, basis, variable)?;
            Some(Candidate { variable, size: gain.float() * reach, reach })
        };
        nonbasics(figures, basis).filter_map(candidate).collect()
    }

    /// Updates the size of a candidate to the current prices. Returns true if the candidate is not basic and its gain
    /// is positive.
    fn renews(&self, figures: &Coefficients<F>, basis: &Basis, candidate: &mut Candidate) -> bool {
        let basic = match candidate.variable {
            Variable::Work(share) => basis.holds(share),
            Variable::Port(node) => !basis.busy[node],
            Variable::Surplus(application) => basis.surplus[application],
        };
        let gain = if basic { None } else { self.gain(figures, basis, candidate.variable) };
        candidate.size = gain.as_ref().map_or(0.0, Field::float) * candidate.reach;
        gain.is_some()
    }
}

/// Returns the variable with the largest size, or the first of several equally large ones.
fn best(candidates: &[Candidate]) -> Option<Variable> {
    let better = |best: Option<&Candidate>, size: f64| best.is_none_or(|best| size > best.size);
    let most = candidates.iter().fold(None, |best, one| if better(best, one.size) { Some(one) } else { best });
    most.map(|candidate| candidate.variable)
}

fn computes<F: Field>(figures: &Coefficients<F>, node: usize) -> bool {
    !figures.capacity[node].is_zero()
}

/// Returns all basic variables except the throughput, which never leaves the basis.
fn basics<'a, F: Field>(figures: &'a Coefficients<F>, basis: &'a Basis) -> impl Iterator<Item = Variable> + 'a {
    let works = (0..figures.nodes()).filter(|&node| computes(figures, node)).flat_map(|node| {
        let held = std::iter::once(basis.key[node]).chain(basis.extras[node].iter().copied());
        held.map(move |application| Variable::Work(Share { node: node as u32, application }))
    });
    let ports = (0..figures.nodes()).filter(|&node| !basis.busy[node] && !figures.children[node].is_empty());
    let surpluses = (1..basis.surplus.len()).filter(|&application| basis.surplus[application]);
    works.chain(ports.map(Variable::Port)).chain(surpluses.map(Variable::Surplus))
}

/// Returns all variables that may enter the basis, each with an approximate upper bound on its value.
fn nonbasics<'a, F: Field>(
    figures: &'a Coefficients<F>,
    basis: &'a Basis,
) -> impl Iterator<Item = (Variable, f64)> + 'a {
    let works = (0..figures.nodes()).filter(|&node| computes(figures, node)).flat_map(move |node| {
        let share = move |application| Share { node: node as u32, application };
        let absent = (0..=figures.applications() as u32).map(share).filter(|&share| !basis.holds(share));
        let reach = figures.capacity[node].float();
        absent.map(move |share| (Variable::Work(share), reach))
    });
    let ports = (0..figures.nodes()).filter(|&node| basis.busy[node]).map(|node| (Variable::Port(node), 1.0));
    let surpluses = (1..basis.surplus.len()).filter(|&application| !basis.surplus[application]);
    works.chain(ports).chain(surpluses.map(|application| (Variable::Surplus(application), 1.0)))
}
