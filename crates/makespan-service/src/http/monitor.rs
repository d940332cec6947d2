//! Handlers for the health and the metrics of the service.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use makespan_formats::prometheus::metrics_text;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::app::{App, RequestDuration};
use super::guard::RequestClient;
use super::problem::Problem;
use super::query::Query;
use crate::words::{Health, Role, Who};

/// The health of the service. Without a token, the response contains only the first two fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthAnswer {
    /// Whether the service accepts submissions.
    pub accepts: bool,
    /// Whether the service starts jobs.
    pub runs: bool,
    /// Descriptions of the present problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Vec<String>>,
    /// The instant at which the service started, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// The version of makespan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The system user as which commands run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_as: Option<String>,
}

/// Returns the health of the service. This request needs no token.
#[utoipa::path(
    get,
    path = "/api/v1/health",
    tag = "service",
    security((), ("token" = [])),
    responses(
        (status = 200, description = "The service accepts submissions", body = HealthAnswer),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 503, description = "The service does not accept submissions", body = HealthAnswer),
    )
)]
pub(super) async fn health(
    State(app): State<Arc<App>>,
    asker: Option<Extension<RequestClient>>,
    query: Query,
) -> Result<Response, Problem> {
    query.finish()?;
    let nobody = Who { user: String::new(), role: Role::Reader };
    let Health { accepts, runs, trouble, since, version, runs_as } =
        app.ask(RequestDuration::Quick, &nobody, |service, _| Ok(service.health())).await?;
    let status = if accepts { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = if asker.is_some() {
        HealthAnswer {
            accepts,
            runs,
            trouble: Some(trouble),
            since: Some(since),
            version: Some(version),
            runs_as: Some(runs_as),
        }
    } else {
        HealthAnswer { accepts, runs, trouble: None, since: None, version: None, runs_as: None }
    };
    Ok((status, Json(answer)).into_response())
}

/// Returns metrics in the text format of Prometheus. Only readers and admins may request metrics.
#[utoipa::path(
    get,
    path = "/api/v1/metrics",
    tag = "service",
    responses(
        (status = 200, description = "The text format of Prometheus, version 0.0.4", content_type = "text/plain; version=0.0.4", body = String),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    query: Query,
) -> Result<Response, Problem> {
    query.finish()?;
    if asker.who.role == Role::Submitter {
        return Err(Problem::forbidden("the metrics are about all users").remedy("use the token of a reader"));
    }
    let mut metrics = app.ask(RequestDuration::Quick, &asker.who, |service, _| Ok(service.metrics())).await?;
    metrics.extend(app.counts.metrics());
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, content_type)], metrics_text(&metrics)).into_response())
}
