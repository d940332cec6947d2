//! The server through which the service is asked over HTTP: REST below `/api/v1`, a stream of events, and the page at `/`.
//!
//! Each file holds one part of it: `server` accepts connections, `guard` decides who may go on, `jobs`, `plan`, `people`, `logs`, `events`
//! and `monitor` answer, and `routes` says which path is answered by what, from which the `OpenAPI` document is made.

mod app;
mod body;
mod connection;
mod events;
mod guard;
mod hub;
mod jobs;
mod limits;
mod logs;
mod monitor;
mod people;
mod plan;
mod problem;
mod query;
mod routes;
mod server;
mod strangers;

pub use events::Latest;
pub use jobs::{Changed, Receipts, Submissions};
pub use limits::Limits;
pub use monitor::HealthAnswer;
pub use problem::Problem;
pub use routes::openapi;
pub use server::{RunningServer, Server, ServerError, ServerOptions, TlsFiles, bind};
