//! Tests of the HTTP server over real sockets, mostly with a service that stores jobs in memory.

mod access;
mod bad_input;
mod client;
mod description;
mod events;
mod fake;
mod generated;
mod jobs;
mod secrets;
mod site;
mod slow;
mod tls;
