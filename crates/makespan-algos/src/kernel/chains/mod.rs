//! The critical jobs method: it ranks the chains of a compound job, plans them one by one, and resolves collisions.

pub mod affordable;
pub mod collisions;
pub mod criterion;
pub mod deadline;
pub mod draft;
pub mod explain;
pub mod frame;
pub mod method;
pub mod outline;
pub mod planning;
pub mod ranking;
pub mod reserve;
pub mod squeeze;
pub mod strategy;
pub mod tariff;
#[cfg(test)]
mod tests;
pub mod windows;
