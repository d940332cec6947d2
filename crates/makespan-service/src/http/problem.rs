//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::redact;
use crate::words::{Refusal, RefusalKind};

/// An error response in the format of RFC 9457 (problem details).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// The kind of the problem: `urn:makespan:` and a word, such as `bad_input`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A short title of the kind.
    pub title: String,
    /// The HTTP status of the response.
    pub status: u16,
    /// One sentence that states the problem.
    pub detail: String,
    /// The place of the problem: a field such as `content.argv`, or a line of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub place: Option<Box<str>>,
    /// A sentence that suggests a remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub remedy: Option<Box<str>>,
    /// The number of seconds after which the client may try again. The header `Retry-After` contains the same number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

/// The part of a problem that contains no text of a user, as an extension of its response. The guard writes this part
/// to the log.
#[derive(Clone, Debug)]
pub(super) struct LoggedProblem(pub(super) String);

impl Problem {
    /// Creates a problem of the given kind, such as `bad_input`.
    /// The log contains the title, so the title is a constant.
    pub fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:makespan:{kind}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            place: None,
            remedy: None,
            retry_after: None,
        }
    }

    /// Sets the place of the problem.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into().into());
        self
    }

    /// Sets the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into().into());
        self
    }

    /// Sets the number of seconds after which the client may try again.
    #[must_use]
    pub fn retry(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Creates a problem for an invalid request.
    pub fn bad_input(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_input", "The request is invalid", detail)
    }

    /// Creates a problem for a path that does not exist.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown", "Not found", detail)
    }

    /// Creates a problem for a client that lacks a permission.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    /// Creates a problem for an internal error of the service.
    pub fn internal() -> Self {
        let detail = "the service could not answer; see its own messages for the reason";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "An error of the service", detail)
    }

    /// Creates a problem for a request that the busy service cannot handle now.
    pub fn busy() -> Self {
        let detail = "too many requests are being processed";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Busy", detail).retry(2)
    }
}

impl From<Refusal> for Problem {
    fn from(Refusal { kind, message, place, remedy }: Refusal) -> Self {
        let (status, word, title) = match kind {
            RefusalKind::BadInput => (StatusCode::BAD_REQUEST, "bad_input", "The request is invalid"),
            RefusalKind::FitsNowhere => {
                (StatusCode::UNPROCESSABLE_ENTITY, "fits_nowhere", "A job needs more resources than the platform has")
            }
            RefusalKind::Cycle => (StatusCode::UNPROCESSABLE_ENTITY, "cycle", "Jobs wait for each other in a cycle"),
            RefusalKind::Unknown => (StatusCode::NOT_FOUND, "unknown", "Not found"),
            RefusalKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "Not allowed"),
            RefusalKind::Conflict => (StatusCode::CONFLICT, "conflict", "The request contradicts the present state"),
            RefusalKind::Full => (StatusCode::INSUFFICIENT_STORAGE, "full", "The disk is full"),
            RefusalKind::Quota => (StatusCode::TOO_MANY_REQUESTS, "quota", "A limit is exceeded"),
            RefusalKind::Closing => (StatusCode::SERVICE_UNAVAILABLE, "closing", "The service is not ready"),
        };
        let retry_after = match kind {
            RefusalKind::Quota => Some(60),
            RefusalKind::Full => Some(30),
            RefusalKind::Closing => Some(5),
            _ => None,
        };
        let (place, remedy) = (place.map(Into::into), remedy.map(Into::into));
        Self { place, remedy, retry_after, ..Self::new(status, word, title, message) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let place = self.place.as_deref().and_then(redact::place);
        let place = place.map_or_else(String::new, |place| format!(", at {place}"));
        response.extensions_mut().insert(LoggedProblem(format!("{}{place}", self.title)));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"makespan\""));
        }
        response
    }
}
