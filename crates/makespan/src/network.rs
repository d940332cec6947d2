//! Bags of tasks on a tree of machines, played under decentralised policies.

use dashu_ratio::RBig;
use makespan_algos::policy::tree::{Heuristic, NodeRates, SetupError};
use makespan_bounds::tree::{Precision, Throughput, throughput};
use makespan_core::network::{Network, NetworkError};
use makespan_core::tree::{Rates, TreeProblem, float_of};
use makespan_sim::network::{Measured, NetworkOptions, NetworkRun, Silent, SimulationDefect};
use thiserror::Error;

/// A tree problem ready to be played: the network in floats, and the best steady state.
#[derive(Clone, Debug)]
pub struct TreeScene {
    /// Machines and applications.
    pub network: Network,
    /// What the schedulers take for the network, where that differs.
    pub believed: Option<Network>,
    /// What the steady state proved gives each node.
    pub rates: NodeRates,
    /// No schedule has a larger fair throughput in the long run, in weighted tasks a second.
    pub bound: f64,
    /// Importance of each application.
    pub weights: Vec<f64>,
}

/// A run of one heuristic.
#[derive(Clone, Debug)]
pub struct TreeRun {
    /// Which.
    pub heuristic: Heuristic,
    /// The network as the heuristic sent its tasks through it; its kinds may be macro-tasks.
    pub network: Network,
    /// What happened.
    pub run: NetworkRun,
    /// Throughput between a tenth and nine tenths of the time at which the first application was done.
    pub measured: Option<Measured>,
}

/// Why a tree is not played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeRunError {
    /// The problem makes no network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The bound is not what its prices prove: a defect of Makespan.
    #[error("the bound on the throughput is wrong, which is a defect of Makespan; please report it: {0}")]
    Bound(String),
    /// The heuristic cannot play it.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The run went wrong, or its options are wrong.
    #[error(transparent)]
    Simulation(#[from] SimulationDefect),
}

/// The share of the time at the beginning and at the end that is not measured, as in section 5.1.1 of the paper.
const SKIPPED: f64 = 0.1;

impl TreeScene {
    /// A problem with its best steady state, which is searched for in floats; the bound is verified.
    ///
    /// # Errors
    /// [`TreeRunError`] when there are more tasks than are counted, or the bound does not survive its check.
    pub fn of(problem: &TreeProblem) -> Result<Self, TreeRunError> {
        let best = throughput(problem, Precision::Float);
        match best.prices.proves(problem) {
            Ok(proved) if proved == best.bound => Ok(Self::new(problem, &best)?),
            Ok(_) => Err(TreeRunError::Bound("its prices prove another figure".into())),
            Err(error) => Err(TreeRunError::Bound(error.to_string())),
        }
    }

    /// A problem with its best steady state, of [`makespan_bounds::tree::throughput`].
    ///
    /// # Errors
    /// [`NetworkError`] when there are more tasks than are counted.
    pub fn new(problem: &TreeProblem, best: &Throughput) -> Result<Self, NetworkError> {
        let network = Network::of(problem)?;
        let weights = network.kinds().iter().map(|kind| kind.weight).collect();
        let rates = NodeRates::from_origin(&network, &best.floats());
        Ok(Self { network, believed: None, rates, bound: float_of(&best.bound), weights })
    }

    /// The same scene, whose schedulers are set up as if no link had latency and follow the best rates of that case; they see
    /// the times of hops as they play, if they look at them.
    #[must_use]
    pub fn unaware_of_latency(self, best_without: &Throughput) -> Self {
        let rates = NodeRates::from_origin(&self.network, &best_without.floats());
        Self { believed: Some(self.network.without_latency()), rates, ..self }
    }

    /// What the schedulers take for the network.
    pub fn believed(&self) -> &Network {
        self.believed.as_ref().unwrap_or(&self.network)
    }

    /// Plays a heuristic. The buffer of the options is in tasks; where a heuristic sends macro-tasks it holds fewer.
    ///
    /// # Errors
    /// [`TreeRunError`] when the heuristic cannot play the tree, or the options do not fit.
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
    /// Tasks a second of each application that each node of the problem computed, on average from the beginning to the end of the
    /// run.
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

    /// Tasks of each application that a node of the network computed.
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

    /// Measured fair throughput; zero where no application was done.
    pub fn fair(&self) -> f64 {
        self.measured.as_ref().map_or(0.0, |measured| measured.fair)
    }
}
