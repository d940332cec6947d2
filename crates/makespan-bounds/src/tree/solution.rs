//! The primal solution of a basis, or the change of this solution when a variable enters the basis.

use super::basis::{Basis, Share, Variable};
use super::factor::{Factor, SingularMatrix, port_time};
use super::field::Field;
use super::figures::Coefficients;
use super::root;

/// The values of all variables at a vertex, or their changes along a direction.
pub(super) struct VertexValues<F> {
    /// The number of entries of each node in `work`: one for the idle capacity, and one for each application.
    pub width: usize,
    /// The work units per second of each node and application, sorted by node. The first entry of a node is its idle
    /// capacity.
    pub work: Vec<F>,
    /// For each subtree and application, the work units per second that the subtree takes, sorted by node.
    pub takes: Vec<F>,
    /// The idle time of each port.
    pub idle: Vec<F>,
    pub throughput: F,
    /// For each application, the work that it gets in addition to its share of the throughput. Applications are
    /// numbered from 1.
    pub surplus: Vec<F>,
    /// For each busy port, the value of the share that the port determines if all other open shares are zero.
    pivots: Vec<F>,
}

impl<F: Field> VertexValues<F> {
    pub fn new(figures: &Coefficients<F>) -> Self {
        let (nodes, applications) = (figures.nodes(), figures.applications());
        Self {
            width: applications + 1,
            work: vec![F::zero(); nodes * (applications + 1)],
            takes: vec![F::zero(); nodes * applications],
            idle: vec![F::zero(); nodes],
            throughput: F::zero(),
            surplus: vec![F::zero(); applications + 1],
            pivots: vec![F::zero(); nodes],
        }
    }

    /// Computes the vertex of a basis. If `enters` is set, computes instead the change of all variables per unit of
    /// the entering variable.
    pub fn solve(
        &mut self,
        figures: &Coefficients<F>,
        basis: &Basis,
        factor: &Factor<F>,
        enters: Option<Variable>,
    ) -> Result<(), SingularMatrix> {
        let right = self.constants(figures, basis, factor, enters);
        let columns = root::matrix(figures, basis, factor)?;
        let solved = root::solve(&columns, &right, false)?;
        self.work.iter_mut().for_each(|work| *work = F::zero());
        self.surplus.iter_mut().for_each(|surplus| *surplus = F::zero());
        let mut solved = solved.into_iter();
        for (column, value) in factor.parts[0].open.iter().zip(solved.by_ref()) {
            self.set(column.share, value);
        }
        self.throughput = solved.next().unwrap_or_else(F::zero);
        let surplus = (1..self.width).filter(|&application| basis.surplus[application]);
        for (application, value) in surplus.zip(solved) {
            self.surplus[application] = value;
        }
        match enters {
            Some(Variable::Work(share)) => self.set(share, F::one()),
            Some(Variable::Surplus(application)) => self.surplus[application] = F::one(),
            Some(Variable::Port(_)) | None => {}
        }
        self.determine(figures, basis, factor, enters);
        self.sum_up(figures, basis, enters);
        Ok(())
    }

    /// Moves the vertex along a direction by `step`. Sets the variable `zero` to exactly zero.
    pub fn advance(&mut self, direction: &Self, step: &F, zero: Variable) {
        let parts = [
            (&mut self.work, &direction.work),
            (&mut self.idle, &direction.idle),
            (&mut self.surplus, &direction.surplus),
        ];
        for (values, changes) in parts {
            values.iter_mut().zip(changes).for_each(|(value, change)| value.add_product(change, step));
        }
        self.throughput.add_product(&direction.throughput, step);
        match zero {
            Variable::Work(share) => self.set(share, F::zero()),
            Variable::Port(node) => self.idle[node] = F::zero(),
            Variable::Surplus(application) => self.surplus[application] = F::zero(),
        }
    }

    pub fn work(&self, share: Share) -> &F {
        &self.work[share.node as usize * self.width + share.application as usize]
    }

    /// Returns the value of a variable other than the throughput.
    pub fn value(&self, variable: Variable) -> &F {
        match variable {
            Variable::Work(share) => self.work(share),
            Variable::Port(node) => &self.idle[node],
            Variable::Surplus(application) => &self.surplus[application],
        }
    }

    fn set(&mut self, share: Share, value: F) {
        self.work[share.node as usize * self.width + share.application as usize] = value;
    }

    /// Computes the amounts that subtrees take if all open shares are zero. Returns the right side of the system of
    /// equations at the root.
    fn constants(
        &mut self,
        figures: &Coefficients<F>,
        basis: &Basis,
        factor: &Factor<F>,
        enters: Option<Variable>,
    ) -> Vec<F> {
        let applications = figures.applications();
        self.takes.iter_mut().for_each(|take| *take = F::zero());
        self.pivots.iter_mut().for_each(|pivot| *pivot = F::zero());
        // If a variable enters, only the nodes from the node of this variable up to the root change.
        let mut on_the_way = enters.map(Variable::node);
        for node in (0..figures.nodes()).rev() {
            if enters.is_some() && on_the_way != Some(node) {
                continue;
            }
            on_the_way = Some(figures.parent[node] as usize);
            let own = node * applications;
            let mut time = match enters {
                None => figures.port[node].clone(),
                Some(Variable::Port(port)) if port == node => F::one().negated(),
                Some(_) => F::zero(),
            };
            for child in figures.children[node].clone() {
                let (above, below) = self.takes.split_at_mut(child * applications);
                let below = &below[..applications];
                if basis.busy[node] || enters == Some(Variable::Port(node)) {
                    time.subtract_product(&port_time(figures, child, below), &F::one());
                }
                for (sum, take) in above[own..own + applications].iter_mut().zip(below) {
                    sum.add(take);
                }
            }
            if let Some(pivot) = &factor.parts[node].pivot {
                let constant = time.over(&pivot.coefficient);
                for (sum, take) in self.takes[own..own + applications].iter_mut().zip(&pivot.column.takes) {
                    sum.add_product(take, &constant);
                }
                self.pivots[node] = constant;
            }
            let key = basis.key[node] as usize;
            let mut add = |application: usize, amount: &F| {
                if application > 0 {
                    self.takes[own + application - 1].add(amount);
                }
            };
            match enters {
                None => add(key, &figures.capacity[node]),
                Some(Variable::Work(share)) if share.node as usize == node => {
                    add(share.application as usize, &F::one());
                    add(key, &F::one().negated());
                }
                Some(_) => {}
            }
        }
        self.rest(figures, enters)
    }

    /// Returns the right side of the system of equations at the root, from the amounts that the whole tree takes.
    fn rest(&self, figures: &Coefficients<F>, enters: Option<Variable>) -> Vec<F> {
        let applications = figures.applications();
        (1..=applications)
            .map(|application| {
                let mut rest = self.takes[application - 1].negated();
                match enters {
                    None => rest.subtract_product(&figures.slack[application], &F::one()),
                    Some(Variable::Surplus(surplus)) if surplus == application => rest.add(&F::one()),
                    Some(_) => {}
                }
                rest
            })
            .collect()
    }

    /// Computes the shares that busy ports determine, from the root downwards. Then computes the shares of the keys.
    fn determine(&mut self, figures: &Coefficients<F>, basis: &Basis, factor: &Factor<F>, enters: Option<Variable>) {
        for node in 0..figures.nodes() {
            if let Some(pivot) = &factor.parts[node].pivot {
                let mut value = self.pivots[node].clone();
                for (share, by) in &pivot.others {
                    value.subtract_product(by, self.work(*share));
                }
                self.set(pivot.column.share, value);
            }
        }
        for node in 0..figures.nodes() {
            let mut left = if enters.is_none() { figures.capacity[node].clone() } else { F::zero() };
            let at = node * self.width;
            for application in 0..self.width {
                if application != basis.key[node] as usize {
                    left.subtract_product(&self.work[at + application], &F::one());
                }
            }
            self.work[at + basis.key[node] as usize] = left;
        }
    }

    /// Computes the amounts that subtrees take and the idle times of ports from the work on all nodes.
    fn sum_up(&mut self, figures: &Coefficients<F>, basis: &Basis, enters: Option<Variable>) {
        let applications = figures.applications();
        self.takes.iter_mut().for_each(|take| *take = F::zero());
        for node in (0..figures.nodes()).rev() {
            let own = node * applications;
            let mut idle = if enters.is_none() { figures.port[node].clone() } else { F::zero() };
            for child in figures.children[node].clone() {
                let (above, below) = self.takes.split_at_mut(child * applications);
                if !basis.busy[node] {
                    idle.subtract_product(&port_time(figures, child, &below[..applications]), &F::one());
                }
                for (sum, take) in above[own..own + applications].iter_mut().zip(&*below) {
                    sum.add(take);
                }
            }
            self.idle[node] = if basis.busy[node] { F::zero() } else { idle };
            for application in 0..applications {
                self.takes[own + application].add(&self.work[node * self.width + application + 1]);
            }
        }
        if let Some(Variable::Port(node)) = enters {
            self.idle[node] = F::one();
        }
    }
}
