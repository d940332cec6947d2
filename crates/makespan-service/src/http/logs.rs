//! Handler that sends the output of tasks.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;

use super::app::{App, RequestDuration};
use super::guard::RequestClient;
use super::problem::Problem;
use super::query::{Query, Segments};
use crate::words::{JobNumber, LogPart, Stream};

/// Default maximum size of a part of the output, in bytes.
const PART: usize = 64 << 10;
/// Largest possible size of a part of the output, in bytes.
const MAX_PART: usize = 1 << 20;
/// Interval at which a followed file is checked for new output.
const LOOK: Duration = Duration::from_millis(300);

/// Returns a part of the output of a task, or follows the output until the task ends.
#[utoipa::path(
    get,
    path = "/api/v1/jobs/{job}/logs/{task}/{stream}",
    tag = "jobs",
    params(
        ("job" = u64, Path, description = "The number of the job"),
        ("task" = u64, Path, description = "The number of the task in the job, from 0"),
        ("stream" = Stream, Path, description = "Standard output or standard error"),
        ("from" = Option<u64>, Query, description = "The first byte; 0 by default"),
        ("most" = Option<usize>, Query, minimum = 1, maximum = 1_048_576, description = "The maximum number of bytes, 1 to 1048576; 65536 by default"),
        ("follow" = Option<bool>, Query, description = "Send all output from there on until the task ends"),
    ),
    responses(
        (status = 200, description = "The output of the task, unchanged", content_type = "text/plain; charset=utf-8", body = String, headers(
            ("Makespan-Log-Size" = u64, description = "The size of the whole output in bytes. Absent with `follow`"),
            ("Makespan-Log-Ended" = bool, description = "True if the task has ended. Then no more output follows. Absent with `follow`"),
        )),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 404, description = "There is no such job or task, or the client may not see it", body = Problem),
        (status = 409, description = "The task has not started", body = Problem),
    )
)]
pub(super) async fn log(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    mut query: Query,
) -> Result<Response, Problem> {
    let (job, task) = (segments.job()?, segments.number("task")?);
    let stream = match segments.text("stream") {
        "out" => Stream::Out,
        "err" => Stream::Err,
        other => {
            return Err(
                Problem::bad_input(format!("`{}` is neither out nor err", other.escape_debug())).at("path.stream")
            );
        }
    };
    let from = query.value("from")?.unwrap_or(0);
    let most = query.value("most")?.unwrap_or(PART);
    let follow = query.value("follow")?.unwrap_or(false);
    query.finish()?;
    if !(1..=MAX_PART).contains(&most) {
        return Err(Problem::bad_input(format!("`most` is not between 1 and {MAX_PART}")).at("query.most"));
    }
    let closing = app.closing.clone();
    let mut reader = Reader { app, asker, job, task, stream, from, closing, ready: None, ended: false };
    let part = reader.read(most).await?;
    let (size, ended) = (part.size, part.ended);
    let mut response = if follow {
        reader.keep(part);
        let body = stream::unfold(reader, |mut reader| async move {
            reader.next().await.map(|bytes| (Ok::<Bytes, std::convert::Infallible>(bytes), reader))
        });
        Body::from_stream(body).into_response()
    } else {
        part.bytes.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if follow {
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    } else {
        headers.insert("makespan-log-size", HeaderValue::from(size));
        headers.insert("makespan-log-ended", HeaderValue::from_static(if ended { "true" } else { "false" }));
    }
    Ok(response)
}

/// Reads the output of a task, part by part.
struct Reader {
    app: Arc<App>,
    asker: RequestClient,
    job: JobNumber,
    task: u64,
    stream: Stream,
    from: u64,
    closing: watch::Receiver<bool>,
    ready: Option<Bytes>,
    ended: bool,
}

impl Reader {
    async fn read(&self, most: usize) -> Result<LogPart, Problem> {
        let &Self { job, task, stream, from, .. } = self;
        self.app
            .ask(RequestDuration::Quick, &self.asker.who, move |service, who| {
                service.log(who, job, task, stream, from, most)
            })
            .await
    }

    /// Stores the part that is sent next.
    fn keep(&mut self, part: LogPart) {
        self.from += part.bytes.len() as u64;
        self.ended = part.ended && self.from >= part.size;
        if !part.bytes.is_empty() {
            self.ready = Some(part.bytes.into());
        }
    }

    /// Returns the next bytes, or `None` if the task has ended, the server stops, or the token has been removed.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.ready.take() {
                return Some(bytes);
            }
            if self.ended || *self.closing.borrow() || !self.app.tokens.holds(&self.asker.token) {
                return None;
            }
            let part = self.read(PART).await.ok()?;
            let is_empty = part.bytes.is_empty();
            self.keep(part);
            if is_empty && !self.ended {
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    _ = self.closing.changed() => return None,
                }
            }
        }
    }
}
