//! Errors as problem details (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::{Refusal, RefusalKind};

/// Why something was not done: problem details as of RFC 9457.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind of problem it is: `urn:makespan:` and a word, such as `bad_input`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// Where: a field such as `content.argv`, or a line of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub place: Option<Box<str>>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub remedy: Option<Box<str>>,
    /// After how many seconds it may be tried again; also in the header `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

impl Problem {
    /// A problem of a kind, such as `bad_input`.
    pub fn new(status: StatusCode, kind: &str, title: &str, detail: impl Into<String>) -> Self {
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

    /// With where it is.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into().into());
        self
    }

    /// With what to do.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into().into());
        self
    }

    /// With when to try again, in seconds.
    #[must_use]
    pub fn retry(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// What was sent is not right.
    pub fn bad_input(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_input", "What was sent is not right", detail)
    }

    /// There is nothing at this path.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown", "There is no such thing", detail)
    }

    /// The asker may not do that.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    /// The service did not do what it should; nothing of it is the asker's fault.
    pub fn internal() -> Self {
        let detail = "the service could not answer; its own messages say why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "An error of the service", detail)
    }

    /// More is asked than can be answered now.
    pub fn busy() -> Self {
        let detail = "too many questions are being answered";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Busy", detail).retry(2)
    }
}

impl From<Refusal> for Problem {
    fn from(Refusal { kind, message, place, remedy }: Refusal) -> Self {
        let (status, word, title) = match kind {
            RefusalKind::BadInput => (StatusCode::BAD_REQUEST, "bad_input", "What was sent is not right"),
            RefusalKind::FitsNowhere => {
                (StatusCode::UNPROCESSABLE_ENTITY, "fits_nowhere", "It needs more than there is")
            }
            RefusalKind::Cycle => (StatusCode::UNPROCESSABLE_ENTITY, "cycle", "Jobs wait for each other in a circle"),
            RefusalKind::Unknown => (StatusCode::NOT_FOUND, "unknown", "There is no such thing"),
            RefusalKind::Forbidden => (StatusCode::FORBIDDEN, "forbidden", "Not allowed"),
            RefusalKind::Conflict => (StatusCode::CONFLICT, "conflict", "It contradicts what is"),
            RefusalKind::Full => (StatusCode::INSUFFICIENT_STORAGE, "full", "The disk is full"),
            RefusalKind::Quota => (StatusCode::TOO_MANY_REQUESTS, "quota", "The user has as much as is allowed"),
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
