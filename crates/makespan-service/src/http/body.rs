//! Reads request bodies: JSON of limited size that must arrive within a time limit.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::problem::Problem;

/// Maximum size of the body of a submission, in bytes.
pub(super) const MAX_SUBMISSION: usize = 16 << 20;
/// Maximum size of any other body, in bytes.
pub(super) const MAX_OTHER: usize = 64 << 10;
/// Maximum time for which the rest of a refused body is read. A client may read the response only after it has sent
/// the whole body.
const PATIENCE: Duration = Duration::from_secs(5);

/// Size of each unit of [`room`], in bytes.
const UNIT: usize = 64 << 10;
/// Maximum total size of the bodies that arrive at the same time, in bytes. The first [`UNIT`] bytes of each body are
/// not counted.
const MAX_TOGETHER: usize = 256 << 20;

/// Returns the semaphore that limits the memory of bodies that arrive at the same time. Without this limit, a large
/// number of slow clients could exhaust the memory.
pub(super) fn room() -> Semaphore {
    Semaphore::new(MAX_TOGETHER / UNIT)
}

/// Reads a JSON body of up to `most` bytes.
pub(super) async fn bytes(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    (patience, room): (Duration, &Semaphore),
) -> Result<Bytes, Problem> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_json(content_type) {
        let said =
            if content_type.is_empty() { "none is stated".into() } else { format!("`{content_type}` is stated") };
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "media_type", "The media type is not supported", said)
            .at("header.content-type")
            .remedy("send JSON in UTF-8, with the header Content-Type: application/json"));
    }
    let announced = body.size_hint().lower();
    if announced > most as u64 {
        if !headers.contains_key(header::EXPECT) {
            drain(body).await;
        }
        return Err(too_large(most));
    }
    match tokio::time::timeout(patience, gathered(body, most, room)).await {
        Ok(read) => read,
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "The request took too long",
            format!("the body did not arrive within {} s", patience.as_secs_f64()),
        )),
    }
}

async fn gathered(body: Body, most: usize, room: &Semaphore) -> Result<Bytes, Problem> {
    let mut stream = body.into_data_stream();
    let mut all = Vec::new();
    let mut taken: Vec<SemaphorePermit<'_>> = Vec::new();
    while let Some(part) = stream.next().await {
        let part = part.map_err(|_| Problem::bad_input("the body is incomplete").at("body"))?;
        if all.len() + part.len() > most {
            drain(Body::from_stream(stream)).await;
            return Err(too_large(most));
        }
        while all.len() + part.len() > UNIT * (taken.len() + 1) {
            taken.push(room.try_acquire().map_err(|_| Problem::busy())?);
        }
        all.extend_from_slice(&part);
    }
    Ok(all.into())
}

/// Reads and discards the rest of a body, because many clients read the response only after they have sent the whole
/// body.
async fn drain(body: Body) {
    let all = async {
        let mut stream = body.into_data_stream();
        while let Some(Ok(_)) = stream.next().await {}
    };
    let _ = tokio::time::timeout(PATIENCE, all).await;
}

fn too_large(most: usize) -> Problem {
    let detail = format!("the body has more than {most} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "Too large", detail)
        .at("body")
        .remedy("send the content in parts")
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    is_json && parts.all(|part| part.is_empty() || part.replace('"', "").eq_ignore_ascii_case("charset=utf-8"))
}

/// Parses a JSON object. An error states the place of the problem.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // The parser would also accept a list of the object's fields in their declared order.
    if bytes.trim_ascii_start().first().is_some_and(|&first| first != b'{') {
        return Err(Problem::bad_input("the body is not a JSON object, which begins with {").at("body"));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        // A question mark in a path denotes a part without a known name.
        let path = error.path().to_string();
        let place = match path.trim_end_matches('?').trim_end_matches('.') {
            "" => "body".to_owned(),
            place => place.to_owned(),
        };
        Problem::bad_input(error.inner().to_string()).at(place)
    })?;
    reader.end().map_err(|error| Problem::bad_input(error.to_string()).at("body"))?;
    Ok(value)
}
