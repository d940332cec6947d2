//! Handlers that submit, list, show and change jobs.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::app::{App, RequestDuration};
use super::body::{MAX_SUBMISSION, bytes, parse};
use super::guard::RequestClient;
use super::problem::Problem;
use super::query::{Query, Segments};
use crate::words::{Filter, JobDetail, JobNumber, JobSummary, Page, Receipt, State as JobState, Submission};
use crate::{Service, words};

/// Default number of jobs on a page of the list.
const PART: usize = 100;
/// Maximum number of jobs on a page of the list.
const MAX_PART: usize = 1000;
/// Maximum length of an idempotency key, in characters.
const MAX_KEY: usize = 200;

/// Several submissions. The service accepts all submissions of a request or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submissions {
    /// The submissions.
    #[schema(min_items = 1, max_items = 100_000)]
    pub submissions: Vec<Submission>,
}

/// The receipts of several submissions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipts {
    /// The receipts, in the order of the submissions.
    pub receipts: Vec<Receipt>,
}

/// The state of a job after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changed {
    /// The number of the job.
    pub job: JobNumber,
    /// The state of the job.
    pub state: JobState,
}

/// One submission or several.
#[derive(ToSchema)]
#[schema(as = SubmissionOrSubmissions)]
#[serde(untagged)]
#[expect(dead_code, reason = "the body is parsed as one of the two types, so that errors contain their places")]
pub(super) enum SubmissionBody {
    One(Box<Submission>),
    Several(Submissions),
}

/// One receipt or several.
#[derive(ToSchema)]
#[schema(as = ReceiptOrReceipts)]
#[serde(untagged)]
#[expect(dead_code, reason = "one of the two is sent")]
pub(super) enum ReceiptBody {
    One(Receipt),
    Several(Receipts),
}

/// Submits one or several submissions. The service accepts all submissions of a request or none. Accepted submissions
/// are on disk before the response is sent.
#[utoipa::path(
    post,
    path = "/api/v1/jobs",
    tag = "jobs",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[!-~]+$", description = "A text that the client chooses. A repeated request with the same key and the same content has no further effect")),
    request_body(content = SubmissionBody),
    responses(
        (status = 201, description = "The submission was accepted", body = ReceiptBody, headers(("Location" = String, description = "The address of the job, if there is only one"))),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 408, description = "The body did not arrive in time", body = Problem),
        (status = 409, description = "The key was used for another submission", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The media type of the body is not JSON", body = Problem),
        (status = 422, description = "A job needs more resources than the platform has, or jobs wait for each other in a cycle", body = Problem),
        (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
    )
)]
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    headers: HeaderMap,
    query: Query,
    body: Body,
) -> Result<Response, Problem> {
    /// The field that distinguishes several submissions from one.
    #[derive(Deserialize)]
    struct SubmissionsField {
        submissions: Option<IgnoredAny>,
    }
    query.finish()?;
    let who = asker.may_change()?;
    let key = key(&headers)?;
    let bytes = bytes(&headers, body, MAX_SUBMISSION, (app.limits.body, &app.bodies)).await?;
    if parse::<SubmissionsField>(&bytes)?.submissions.is_some() {
        let Submissions { submissions } = parse(&bytes)?;
        if submissions.is_empty() {
            return Err(Problem::bad_input("there is no submission").at("submissions").remedy("send one or more"));
        }
        let receipts = app
            .ask(RequestDuration::Change, who, move |service, who| {
                service.submit_many(who, submissions, key.as_deref())
            })
            .await?;
        return Ok((StatusCode::CREATED, Json(Receipts { receipts })).into_response());
    }
    let submission: Submission = parse(&bytes)?;
    let receipt = app
        .ask(RequestDuration::Change, who, move |service, who| service.submit(who, submission, key.as_deref()))
        .await?;
    let location = match receipt.jobs[..] {
        [job] => HeaderValue::try_from(format!("/api/v1/jobs/{job}")).ok(),
        _ => None,
    };
    let mut response = (StatusCode::CREATED, Json(receipt)).into_response();
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Returns the idempotency key of a request, if it has one.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| {
        (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) && values.next().is_none()
    });
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        Problem::bad_input(format!("send at most one idempotency key, with 1 to {MAX_KEY} visible ASCII characters"))
            .at("header.idempotency-key")
    })
}

/// Lists the jobs that wait, run or have ended, in the order of their numbers, page by page.
#[utoipa::path(
    get,
    path = "/api/v1/jobs",
    tag = "jobs",
    params(
        ("state" = Option<Vec<words::State>>, Query, description = "The states of the jobs. The parameter may occur several times, or contain several states separated by commas", style = Form, explode),
        ("user" = Option<String>, Query, description = "The user of the jobs"),
        ("text" = Option<String>, Query, description = "Text that the names of the jobs contain"),
        ("newest" = Option<bool>, Query, description = "List the newest jobs first"),
        ("after" = Option<u64>, Query, description = "The value of `next` on the previous page"),
        ("limit" = Option<usize>, Query, minimum = 1, maximum = 1000, description = "The maximum number of jobs on the page, 1 to 1000; 100 by default"),
    ),
    responses(
        (status = 200, description = "A page of the list", body = Page<JobSummary>, headers(("Link" = String, description = "The address of the next page, as rel=\"next\""))),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    mut query: Query,
) -> Result<Response, Problem> {
    let filter = filter(&mut query)?;
    let after: Option<u64> = query.value("after")?;
    let limit: Option<usize> = query.value("limit")?;
    query.finish()?;
    let limit = limit.unwrap_or(PART);
    if !(1..=MAX_PART).contains(&limit) {
        return Err(Problem::bad_input(format!("`limit` is not between 1 and {MAX_PART}")).at("query.limit"));
    }
    let asked = filter.clone();
    let page = app
        .ask(RequestDuration::Quick, &asker.who, move |service, who| service.jobs(who, &asked, after, limit))
        .await?;
    let link = page.next.and_then(|next| HeaderValue::try_from(next_part(&filter, next, limit)).ok());
    let mut response = Json(page).into_response();
    if let Some(link) = link {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

fn filter(query: &mut Query) -> Result<Filter, Problem> {
    let mut state = Vec::new();
    for name in query.all("state").iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()) {
        state.push(JobState::of_name(name).ok_or_else(|| {
            let known: Vec<&str> = JobState::ALL.iter().map(|state| state.name()).collect();
            Problem::bad_input(format!("`{name}` is not a state of jobs"))
                .at("query.state")
                .remedy(format!("known states: {}", known.join(", ")))
        })?);
    }
    Ok(Filter {
        state,
        user: query.text("user")?,
        text: query.text("text")?,
        newest: query.value("newest")?.unwrap_or_default(),
    })
}

/// Returns the value of the header `Link` for the next page of a list.
fn next_part(filter: &Filter, next: u64, limit: usize) -> String {
    let mut words = form_urlencoded::Serializer::new(String::new());
    for state in &filter.state {
        words.append_pair("state", state.name());
    }
    for (name, value) in [("user", &filter.user), ("text", &filter.text)] {
        if let Some(value) = value {
            words.append_pair(name, value);
        }
    }
    if filter.newest {
        words.append_pair("newest", "true");
    }
    words.append_pair("after", &next.to_string()).append_pair("limit", &limit.to_string());
    format!("</api/v1/jobs?{}>; rel=\"next\"", words.finish())
}

/// Returns the details of a job.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{job}",
    tag = "jobs",
    params(("job" = u64, Path, description = "The number of the job")),
    responses(
        (status = 200, description = "The details of the job", body = JobDetail),
        (status = 400, description = "The number is invalid", body = Problem),
        (status = 404, description = "There is no such job, or the client may not see it", body = Problem),
    )
)]
pub(super) async fn one(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    query: Query,
) -> Result<Json<JobDetail>, Problem> {
    query.finish()?;
    let job = segments.job()?;
    app.ask(RequestDuration::Quick, &asker.who, move |service, who| service.job(who, job)).await.map(Json)
}

/// Executes an operation of the service that changes a job.
async fn change(
    app: &Arc<App>,
    asker: &RequestClient,
    segments: &Segments,
    query: Query,
    change: fn(&dyn Service, &words::Who, JobNumber) -> Result<JobState, words::Refusal>,
) -> Result<Json<Changed>, Problem> {
    query.finish()?;
    let (who, job) = (asker.may_change()?, segments.job()?);
    let state = app.ask(RequestDuration::Change, who, move |service, who| change(service, who, job)).await?;
    Ok(Json(Changed { job, state }))
}

macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident: $method:ident $path:literal $change:ident;)*) => {$(
        $(#[$doc])*
        #[utoipa::path(
            $method,
            path = $path,
            tag = "jobs",
            params(("job" = u64, Path, description = "The number of the job")),
            responses(
                (status = 200, description = "The state of the job after the change", body = Changed),
                (status = 400, description = "The number is invalid", body = Problem),
                (status = 404, description = "There is no such job, or the client may not see it", body = Problem),
                (status = 409, description = "The state of the job does not allow this change", body = Problem),
                (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
            )
        )]
        pub(super) async fn $name(
            State(app): State<Arc<App>>,
            Extension(asker): Extension<RequestClient>,
            segments: Segments,
            query: Query,
        ) -> Result<Json<Changed>, Problem> {
            change(&app, &asker, &segments, query, |service, who, job| service.$change(who, job)).await
        }
    )*};
}

changes! {
    /// Cancels a job: a waiting job does not start, and a running job is ended.
    cancel: post "/api/v1/jobs/{job}/cancel" cancel;
    /// Cancels a job: a waiting job does not start, and a running job is ended.
    delete: delete "/api/v1/jobs/{job}" cancel;
    /// Holds a waiting job until it is released.
    hold: post "/api/v1/jobs/{job}/hold" hold;
    /// Releases a held job.
    release: post "/api/v1/jobs/{job}/release" release;
}
