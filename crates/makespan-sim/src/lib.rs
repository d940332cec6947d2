//! Plays policies forward in virtual time.

#![warn(missing_docs)]

pub mod network;
