//! Handlers for the plan, its bounds, explanations, predictions and the history.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use sha2::{Digest, Sha256};

use super::app::{App, RequestDuration};
use super::body::{MAX_SUBMISSION, bytes, parse};
use super::guard::RequestClient;
use super::problem::Problem;
use super::query::{Query, Segments};
use crate::words::{BoundPicture, Explanation, Picture, Role, Span, Submission, WhatIf};

/// Maximum number of spans of a history.
const MAX_SPANS: usize = 1000;
/// Default number of spans of a history.
const SPANS: usize = 48;
/// Default length of a history, in seconds.
const WEEK: f64 = 604_800.0;

/// Returns the past, running and planned tasks for a chart. If the request contains the entity tag of an earlier
/// response, the plan is sent only if it has changed.
#[utoipa::path(
    get,
    path = "/api/v1/plan",
    tag = "plan",
    params(("If-None-Match" = Option<String>, Header, description = "The entity tag of the plan that the client has")),
    responses(
        (status = 200, description = "The plan", body = Picture, headers(("ETag" = String, description = "The entity tag of this version of the plan"))),
        (status = 304, description = "The client has the latest plan"),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn plan(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Problem> {
    query.finish()?;
    let picture = app.ask(RequestDuration::Quick, &asker.who, |service, who| Ok(service.picture(who))).await?;
    let tag = tag(&app, &asker, picture.version);
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known.flat_map(|tags| tags.split(',')).any(|known| known.trim().trim_start_matches("W/") == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let written = app.clone();
        let sees_all = asker.who.role != Role::Submitter;
        let bytes = tokio::task::spawn_blocking(move || {
            let write = || serde_json::to_vec(&*picture).map(Bytes::from).unwrap_or_default();
            if sees_all { written.plan_of_all(picture.version, write) } else { write() }
        });
        let bytes = bytes.await.map_err(|_| Problem::internal())?;
        ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Returns the entity tag of a version of the plan. The tag depends on the client and on the server process.
fn tag(app: &App, asker: &RequestClient, version: u64) -> String {
    let seen_by = match asker.who.role {
        Role::Submitter => asker.who.user.as_str(),
        Role::Reader | Role::Admin => "",
    };
    let digest = Sha256::digest(format!("{}\0{version}\0{seen_by}", app.life));
    let digits: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{version}-{digits}\"")
}

/// Returns the value of the plan and its lower bound, for each objective.
#[utoipa::path(
    get,
    path = "/api/v1/bounds",
    tag = "plan",
    responses(
        (status = 200, description = "The bounds with their proofs", body = Vec<BoundPicture>),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn bounds(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    query: Query,
) -> Result<Json<Vec<BoundPicture>>, Problem> {
    query.finish()?;
    app.ask(RequestDuration::Quick, &asker.who, |service, who| Ok(service.picture(who).bounds.clone())).await.map(Json)
}

/// Explains why a job does not run now, and predicts its start.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{job}/explain",
    tag = "plan",
    params(("job" = u64, Path, description = "The number of the job")),
    responses(
        (status = 200, description = "The explanation", body = Explanation),
        (status = 400, description = "The number is invalid", body = Problem),
        (status = 404, description = "There is no such job, or the client may not see it", body = Problem),
    )
)]
pub(super) async fn explain(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    query: Query,
) -> Result<Json<Explanation>, Problem> {
    query.finish()?;
    let job = segments.job()?;
    app.ask(RequestDuration::Slow, &asker.who, move |service, who| service.explain(who, job)).await.map(Json)
}

/// Predicts the effect of a submission without accepting it.
#[utoipa::path(
    post,
    path = "/api/v1/what-if",
    tag = "plan",
    request_body = Submission,
    responses(
        (status = 200, description = "The starts and ends of the jobs, the delays of other jobs, and the bounds of the plan", body = WhatIf),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 404, description = "The submission waits for an unknown job", body = Problem),
        (status = 408, description = "The body did not arrive in time", body = Problem),
        (status = 409, description = "The submission contradicts the present state", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The media type of the body is not JSON", body = Problem),
        (status = 422, description = "A job needs more resources than the platform has, or jobs wait for each other in a cycle", body = Problem),
    )
)]
pub(super) async fn what_if(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    headers: HeaderMap,
    query: Query,
    body: Body,
) -> Result<Json<WhatIf>, Problem> {
    query.finish()?;
    let bytes = bytes(&headers, body, MAX_SUBMISSION, (app.limits.body, &app.bodies)).await?;
    let submission: Submission = parse(&bytes)?;
    app.ask(RequestDuration::Slow, &asker.who, move |service, who| service.what_if(who, submission)).await.map(Json)
}

/// Returns statistics of equal spans of time, by default of the last week.
#[utoipa::path(
    get,
    path = "/api/v1/history",
    tag = "plan",
    params(
        ("start" = Option<f64>, Query, description = "The start, in seconds since 1970; a week before the end by default"),
        ("end" = Option<f64>, Query, description = "The end, in seconds since 1970; now by default"),
        ("spans" = Option<usize>, Query, minimum = 1, maximum = 1000, description = "The number of equal periods into which the time is divided, 1 to 1000; 48 by default"),
    ),
    responses(
        (status = 200, description = "The spans", body = Vec<Span>),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn history(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    mut query: Query,
) -> Result<Json<Vec<Span>>, Problem> {
    let (start, end) = (query.seconds("start")?, query.seconds("end")?);
    let spans: Option<usize> = query.value("spans")?;
    query.finish()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let end = end.unwrap_or(now);
    let start = start.unwrap_or(end - WEEK);
    let spans = spans.unwrap_or(SPANS);
    if start >= end {
        return Err(Problem::bad_input("the history ends before it begins").at("query.end"));
    }
    if !(1..=MAX_SPANS).contains(&spans) {
        return Err(Problem::bad_input(format!("`spans` is not between 1 and {MAX_SPANS}")).at("query.spans"));
    }
    app.ask(RequestDuration::Quick, &asker.who, move |service, who| service.history(who, start, end, spans))
        .await
        .map(Json)
}
