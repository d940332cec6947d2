//! The stream of server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use utoipa::ToSchema;

use super::app::{App, Counting, RequestDuration};
use super::guard::RequestClient;
use super::hub::{Progress, written};
use super::problem::Problem;
use super::query::Query;

/// Maximum number of events that are sent together.
const BATCH: usize = 256;
/// Pause before the next attempt after events could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// The data of `begin`, the first event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Latest {
    /// The number of an event. The stream sends the events with higher numbers.
    pub latest: u64,
}

/// Streams the events after a number, or all future events.
///
/// An event without a name contains a `Happening`, and the `id` of the event is the number of the happening. The first
/// event is `begin`. The data of `begin`, such as `{"latest": 12}`, state the event number after which the stream
/// begins. The event `plan` announces a new plan with its version, such as `{"version": 7}`. If there is no event for
/// 15 seconds, the server sends a comment.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "events",
    params(
        ("after" = Option<u64>, Query, description = "The number of an event after which the stream begins. Without this parameter and the header, the stream contains only future events"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The number of an event, as in `after`. The header takes precedence over `after`"),
    ),
    responses(
        (status = 200, description = "The stream of events", content_type = "text/event-stream", body = String),
        (status = 400, description = "The number is invalid", body = Problem),
    )
)]
pub(super) async fn events(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    headers: HeaderMap,
    mut query: Query,
) -> Result<Response, Problem> {
    let stated: Option<u64> = query.value("after")?;
    query.finish()?;
    let last = match headers.get("last-event-id") {
        None => None,
        Some(value) if value.is_empty() => None,
        Some(value) => Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Problem::bad_input("Last-Event-ID is not the number of an event").at("header.last-event-id")
        })?),
    };
    let progress = app.hub.watch();
    let now = *progress.borrow();
    let latest = app.ask(RequestDuration::Quick, &asker.who, |service, _| Ok(service.latest())).await?;
    // A number above the latest number comes from another store, so the latest number is used instead.
    let after = last.or(stated).unwrap_or(latest).min(latest);
    let following = Following {
        _counting: Counting::new(app.clone(), |counts| &counts.streams),
        closing: app.closing.clone(),
        app,
        asker,
        progress,
        after,
        plan: now.plan,
        begun: false,
    };
    let body = Body::from_stream(stream::unfold(following, |mut following| async move {
        following.next().await.map(|bytes| (Ok::<Bytes, std::convert::Infallible>(bytes), following))
    }));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// A stream of events. The stream produces further events only after the client has received the earlier events, so a
/// slow client costs no memory.
struct Following {
    /// Counts this stream until it is dropped.
    _counting: Counting,
    app: Arc<App>,
    asker: RequestClient,
    progress: watch::Receiver<Progress>,
    closing: watch::Receiver<bool>,
    after: u64,
    plan: u64,
    begun: bool,
}

impl Following {
    /// Returns the next bytes, or `None` if the server stops or the token has been removed.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.begun {
            self.begun = true;
            let after = self.after;
            return Some(format!("retry: 2000\nid: {after}\nevent: begin\ndata: {{\"latest\":{after}}}\n\n").into());
        }
        let alive = tokio::time::Instant::now() + self.app.limits.alive;
        loop {
            if *self.closing.borrow() || !self.app.tokens.holds(&self.asker.token) {
                return None;
            }
            let now = *self.progress.borrow_and_update();
            if self.after < now.latest {
                let text = self.batch(now.latest).await;
                if !text.is_empty() {
                    return Some(text.into());
                }
                if self.after < now.latest {
                    continue;
                }
            }
            if self.plan != now.plan {
                self.plan = now.plan;
                return Some(format!("event: plan\ndata: {{\"version\":{}}}\n\n", now.plan).into());
            }
            tokio::select! {
                changed = self.progress.changed() => if changed.is_err() { return None },
                _ = self.closing.changed() => return None,
                () = tokio::time::sleep_until(alive) => return Some(Bytes::from_static(b": alive\n\n")),
            }
        }
    }

    /// Returns the text of the next events that the client may see, or an empty text if there are none.
    async fn batch(&mut self, latest: u64) -> String {
        if let Some((text, reached)) = self.app.hub.after(&self.asker.who, self.after, BATCH) {
            self.after = reached;
            return text;
        }
        let after = self.after;
        let asked = self
            .app
            .ask(RequestDuration::Quick, &self.asker.who, move |service, who| service.happenings(who, after, BATCH));
        let Ok(happenings) = asked.await else {
            tokio::time::sleep(AGAIN).await;
            return String::new();
        };
        // Fewer events than requested mean that there are no more events up to `latest`.
        self.after = match happenings.last() {
            Some(last) if happenings.len() == BATCH => last.sequence,
            last => last.map_or(latest, |last| last.sequence.max(latest)),
        };
        happenings.iter().filter_map(written).collect()
    }
}
