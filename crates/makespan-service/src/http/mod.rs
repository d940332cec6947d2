//! The HTTP server of the service: a REST interface below `/api/v1`, a stream of events, and the web page at `/`.
//!
//! The module `server` accepts connections, and `guard` controls access. The modules `jobs`, `plan`, `people`, `logs`,
//! `events` and `monitor` contain the request handlers. The module `routes` maps paths to handlers, and builds the
//! `OpenAPI` document from the handlers.

mod app;
mod body;
mod connection;
mod connections;
mod events;
mod guard;
mod hub;
mod jobs;
mod limits;
mod logs;
mod monitor;
mod options;
mod people;
mod plan;
mod problem;
mod query;
mod routes;
mod server;

pub use events::Latest;
pub use jobs::{Changed, Receipts, Submissions};
pub use limits::RequestLimits;
pub use monitor::HealthAnswer;
pub use options::{ServerOptions, TlsFiles};
pub use problem::Problem;
pub use routes::openapi;
pub use server::{RunningServer, Server, ServerError, bind, check_listening};
