//! Decentralised schedulers for bags of tasks on trees, with a separate policy for each node.
//!
//! A [`Heuristic`] is such a scheduler, with a spec such as `back-pressure`. [`Heuristic::setup`] creates the policies
//! of all nodes of a [`makespan_core::network::Network`].

mod appetite;
mod back_pressure;
mod balance;
mod balanced;
mod bandwidth_centric;
mod data_centric;
mod fcfs;
mod heuristic;
mod rates;

pub use back_pressure::BackPressure;
pub use balanced::Balanced;
pub use bandwidth_centric::BandwidthCentric;
pub use data_centric::{DataCentric, data_centric_rates};
pub use fcfs::Fcfs;
pub use heuristic::{Heuristic, OfHeuristic, Setup, SetupError, TreePolicy, heuristics};
pub use rates::NodeRates;

#[cfg(test)]
mod tests;
