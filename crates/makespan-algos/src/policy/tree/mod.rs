//! Decentralised schedulers for bags of tasks on trees: one policy a node.

mod back_pressure;
mod balance;
mod balanced;
mod bandwidth_centric;
mod fcfs;
mod rates;

pub use back_pressure::BackPressure;
pub use balanced::Balanced;
pub use bandwidth_centric::BandwidthCentric;
pub use fcfs::Fcfs;
pub use rates::NodeRates;
