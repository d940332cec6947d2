//! Simulation of bags of tasks on a tree of machines under decentralised policies.

use dashu_ratio::RBig;
use makespan_algos::policy::tree::{Heuristic, NodeRates, SetupError};
use makespan_bounds::tree::{Precision, Throughput, throughput};
use makespan_core::network::{Network, NetworkError};
use makespan_core::tree::{Rates, TreeProblem, float_of};
use makespan_sim::network::{MeasuredThroughput, NetworkOptions, NetworkRun, Silent, SimulationDefect};
use thiserror::Error;

/// The input of simulations of a tree problem: the network, with all values as floats, and the optimal steady state.
#[derive(Clone, Debug)]
pub struct TreeScene {
    /// The machines and applications.
    pub network: Network,
    /// The network that the schedulers of the nodes assume. `None` if they assume `network`.
    pub believed: Option<Network>,
    /// The rates of each node in the proved steady state.
    pub rates: NodeRates,
    /// Upper bound on the fair throughput of any schedule in the long run, in weighted tasks per second.
    pub bound: f64,
    /// Weight of each application.
    pub weights: Vec<f64>,
}

/// A simulated run of one heuristic.
#[derive(Clone, Debug)]
pub struct TreeRun {
    /// The heuristic.
    pub heuristic: Heuristic,
    /// The simulated network. Its kinds are the kinds of pieces that the heuristic sends: single tasks, or macro-tasks,
    /// which contain several tasks.
    pub network: Network,
    /// The simulated run.
    pub run: NetworkRun,
    /// Throughput between a tenth and nine tenths of the time at which the first application was completed.
    pub measured: Option<MeasuredThroughput>,
}

/// The reason why bags on a tree cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeRunError {
    /// The problem cannot be converted to a network, for example because an application has too many tasks.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The bound differs from the value that its certificate proves, which is a defect of Makespan.
    #[error("the bound on the throughput is wrong, which is a defect of Makespan; please report it: {0}")]
    Bound(String),
    /// The heuristic does not support the tree.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The simulation failed, or its options are invalid.
    #[error(transparent)]
    Simulation(#[from] SimulationDefect),
}

/// Consider the time until the first application is completed. The measurement of the throughput skips this fraction of
/// the time at its beginning, and the same fraction at its end (Beaumont et al., IPDPS 2006, section 5.1.1).
const SKIPPED: f64 = 0.1;

impl TreeScene {
    /// Prepares simulations of `problem`. Computes the optimal steady state in floats, and verifies the bound on the
    /// throughput.
    ///
    /// # Errors
    /// [`TreeRunError`] if an application has too many tasks, or if the verification of the bound fails.
    pub fn of(problem: &TreeProblem) -> Result<Self, TreeRunError> {
        let best = throughput(problem, Precision::Float);
        match best.prices.fair_throughput(problem) {
            Ok(proved) if proved == best.bound => Ok(Self::new(problem, &best)?),
            Ok(_) => Err(TreeRunError::Bound("its certificate proves a value that differs from the bound".into())),
            Err(error) => Err(TreeRunError::Bound(error.to_string())),
        }
    }

    /// Prepares simulations of `problem`, if the optimal steady state `best` is already computed (by
    /// [`makespan_bounds::tree::throughput`]).
    ///
    /// # Errors
    /// [`NetworkError`] if an application has too many tasks.
    pub fn new(problem: &TreeProblem, best: &Throughput) -> Result<Self, NetworkError> {
        let network = Network::of(problem)?;
        let weights = network.kinds().iter().map(|kind| kind.weight).collect();
        let rates = NodeRates::from_origin(&network, &best.floats());
        Ok(Self { network, believed: None, rates, bound: float_of(&best.bound), weights })
    }

    /// Makes the schedulers of the nodes ignore latencies: they assume a network without latencies, and follow the
    /// optimal rates of that network (`best_without`). During the simulation, the schedulers can observe the real
    /// durations of transfers.
    #[must_use]
    pub fn unaware_of_latency(self, best_without: &Throughput) -> Self {
        let rates = NodeRates::from_origin(&self.network, &best_without.floats());
        Self { believed: Some(self.network.without_latency()), rates, ..self }
    }

    /// Returns the network that the schedulers assume.
    pub fn believed(&self) -> &Network {
        self.believed.as_ref().unwrap_or(&self.network)
    }

    /// Simulates a heuristic. The buffer size in the options is a number of tasks. If the heuristic sends macro-tasks,
    /// a buffer holds fewer macro-tasks than this number, because each macro-task contains several tasks.
    ///
    /// # Errors
    /// [`TreeRunError`] if the heuristic does not support the tree, or the options are invalid.
    pub fn play(&self, heuristic: Heuristic, options: &NetworkOptions) -> Result<TreeRun, TreeRunError> {
        let mut setup = heuristic.setup(self.believed(), options.buffer, Some(&self.rates))?;
        if self.believed.is_some() {
            setup.network = self.network.with_kinds(setup.network.kinds().to_vec())?;
        }
        let options = NetworkOptions { buffer: setup.buffer, lanes: setup.lanes, ..options.clone() };
        let run = makespan_sim::network::simulate(&setup.network, &mut setup.policies, &options, &mut Silent)?;
        let measured = run.measured(&self.weights, SKIPPED);
        Ok(TreeRun { heuristic, network: setup.network, run, measured })
    }
}

impl TreeRun {
    /// Returns, for each node of the problem and each application, the number of tasks that the node computed per
    /// second, averaged over the whole run.
    pub fn rates(&self, scene: &TreeScene, problem: &TreeProblem) -> Rates {
        let applications = problem.applications().len();
        let mut tasks = vec![RBig::ZERO; problem.nodes().len() * applications];
        for node in 0..self.network.nodes().len() {
            for (application, count) in self.computed(node).into_iter().enumerate() {
                let seconds = RBig::from(self.run.end.ticks().max(1)) / RBig::from(1_000_000_000);
                tasks[scene.network.origin(node) * applications + application] = RBig::from(count) / seconds;
            }
        }
        Rates::new(applications, tasks)
    }

    /// Returns, for each application, the number of its tasks that a node of the network computed.
    pub fn computed(&self, node: usize) -> Vec<u64> {
        let kinds = self.network.kinds();
        let mut computed = vec![0; self.run.tasks.len()];
        for (kind, count) in kinds.iter().zip(&self.run.computed[node * kinds.len()..]) {
            for &(application, tasks) in &kind.tasks {
                computed[application] += u64::from(tasks) * u64::from(*count);
            }
        }
        computed
    }

    /// Returns the measured fair throughput, or zero if no application was completed.
    pub fn fair(&self) -> f64 {
        self.measured.as_ref().map_or(0.0, |measured| measured.fair)
    }
}
