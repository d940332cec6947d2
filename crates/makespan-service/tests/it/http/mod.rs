//! The server, asked over real sockets, before a service that is kept in memory.

mod access;
mod bad_input;
mod client;
mod description;
mod events;
mod fake;
mod generated;
mod jobs;
mod site;
mod slow;
mod tls;
