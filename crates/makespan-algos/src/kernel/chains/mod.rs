//! The critical jobs method: chains of a compound job ranked, planned one by one, and collisions resolved.

pub mod collisions;
pub mod criterion;
pub mod deadline;
pub mod draft;
pub mod frame;
pub mod method;
pub mod outline;
pub mod planning;
pub mod ranking;
pub mod reserve;
pub mod squeeze;
pub mod strategy;
#[cfg(test)]
mod tests;
pub mod windows;
