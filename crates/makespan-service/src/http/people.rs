//! Handlers for users and reservations.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use serde::de::DeserializeOwned;

use super::app::{App, RequestDuration};
use super::body::{MAX_OTHER, bytes, parse};
use super::guard::RequestClient;
use super::problem::Problem;
use super::query::{Query, Segments};
use crate::tokens::is_user;
use crate::words::{Reservation, Role, UserChange, UserSettings, UserSummary, Who};

/// Returns the client, or a problem if the client is not an admin.
fn admin(asker: &RequestClient) -> Result<&Who, Problem> {
    match asker.who.role {
        Role::Admin => Ok(&asker.who),
        Role::Reader | Role::Submitter => Err(Problem::forbidden("only an admin may do this")),
    }
}

/// Returns the content of a request.
async fn content<T: DeserializeOwned>(app: &App, headers: &HeaderMap, body: Body) -> Result<T, Problem> {
    parse(&bytes(headers, body, MAX_OTHER, (app.limits.body, &app.bodies)).await?)
}

/// Returns the user and the role of the token.
#[utoipa::path(
    get,
    path = "/api/v1/whoami",
    tag = "users",
    responses(
        (status = 200, description = "The user and the role", body = Who),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn whoami(Extension(asker): Extension<RequestClient>, query: Query) -> Result<Json<Who>, Problem> {
    query.finish()?;
    Ok(Json(asker.who))
}

/// Lists the users. A submitter receives only its own entry.
#[utoipa::path(
    get,
    path = "/api/v1/users",
    tag = "users",
    responses(
        (status = 200, description = "The users with their use and their limits", body = Vec<UserSummary>),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn users(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    query: Query,
) -> Result<Json<Vec<UserSummary>>, Problem> {
    query.finish()?;
    app.ask(RequestDuration::Quick, &asker.who, |service, who| service.users(who)).await.map(Json)
}

/// Replaces the settings of a user. Only an admin may do this.
#[utoipa::path(
    put,
    path = "/api/v1/users/{user}",
    tag = "users",
    params(("user" = String, Path, max_length = 64, pattern = "^[A-Za-z0-9_][A-Za-z0-9._+@-]*$", description = "The name of the user")),
    request_body = UserSettings,
    responses(
        (status = 200, description = "The use and the new limits of the user", body = UserSummary),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 404, description = "There is no such user", body = Problem),
        (status = 408, description = "The body did not arrive in time", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The media type of the body is not JSON", body = Problem),
        (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
    )
)]
pub(super) async fn set_user(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<UserSummary>, Problem> {
    query.finish()?;
    let (who, user) = (admin(&asker)?, named_user(&segments)?);
    let settings: UserSettings = content(&app, &headers, body).await?;
    app.ask(RequestDuration::Change, who, move |service, who| service.set_user(who, &user, &settings)).await.map(Json)
}

/// Changes some settings of a user, and keeps the other settings. Only an admin may do this.
#[utoipa::path(
    patch,
    path = "/api/v1/users/{user}",
    tag = "users",
    params(("user" = String, Path, max_length = 64, pattern = "^[A-Za-z0-9_][A-Za-z0-9._+@-]*$", description = "The name of the user")),
    request_body = UserChange,
    responses(
        (status = 200, description = "The use and the new limits of the user", body = UserSummary),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 404, description = "There is no such user", body = Problem),
        (status = 408, description = "The body did not arrive in time", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The media type of the body is not JSON", body = Problem),
        (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
    )
)]
pub(super) async fn change_user(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<UserSummary>, Problem> {
    query.finish()?;
    let (who, user) = (admin(&asker)?, named_user(&segments)?);
    let change: UserChange = content(&app, &headers, body).await?;
    app.ask(RequestDuration::Change, who, move |service, who| service.change_user(who, &user, &change)).await.map(Json)
}

/// Returns the name of the user in the path of a request, or a problem if no user can have this name.
fn named_user(segments: &Segments) -> Result<String, Problem> {
    let user = segments.text("user").to_owned();
    if is_user(&user) {
        return Ok(user);
    }
    Err(Problem::bad_input(format!("`{}` is not a name of a user", user.escape_debug()))
        .at("path.user")
        .remedy("write at most 64 letters, digits, and . _ - + @, of which the first is a letter, a digit or _"))
}

/// Lists the reservations that have not ended.
#[utoipa::path(
    get,
    path = "/api/v1/reservations",
    tag = "reservations",
    responses(
        (status = 200, description = "The reservations", body = Vec<Reservation>),
        (status = 400, description = "The request is invalid", body = Problem),
    )
)]
pub(super) async fn reservations(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    query: Query,
) -> Result<Json<Vec<Reservation>>, Problem> {
    query.finish()?;
    app.ask(RequestDuration::Quick, &asker.who, |service, who| service.reservations(who)).await.map(Json)
}

/// Creates a reservation. Only an admin may do this.
#[utoipa::path(
    post,
    path = "/api/v1/reservations",
    tag = "reservations",
    request_body = Reservation,
    responses(
        (status = 201, description = "The new reservation with its number", body = Reservation),
        (status = 400, description = "The request is invalid", body = Problem),
        (status = 408, description = "The body did not arrive in time", body = Problem),
        (status = 409, description = "The reservation conflicts with another one", body = Problem),
        (status = 413, description = "The body is too large", body = Problem),
        (status = 415, description = "The media type of the body is not JSON", body = Problem),
        (status = 422, description = "There are no such processors", body = Problem),
        (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
    )
)]
pub(super) async fn reserve(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    query: Query,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Reservation>), Problem> {
    query.finish()?;
    let who = admin(&asker)?;
    let reservation: Reservation = content(&app, &headers, body).await?;
    let made = app.ask(RequestDuration::Change, who, move |service, who| service.reserve(who, reservation)).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Cancels a reservation. Only an admin may do this.
#[utoipa::path(
    delete,
    path = "/api/v1/reservations/{number}",
    tag = "reservations",
    params(("number" = u64, Path, description = "The number of the reservation")),
    responses(
        (status = 204, description = "The reservation was cancelled"),
        (status = 400, description = "The number is invalid", body = Problem),
        (status = 404, description = "There is no such reservation", body = Problem),
        (status = 507, description = "The store cannot be written, for example because the disk is full", body = Problem),
    )
)]
pub(super) async fn unreserve(
    State(app): State<Arc<App>>,
    Extension(asker): Extension<RequestClient>,
    segments: Segments,
    query: Query,
) -> Result<StatusCode, Problem> {
    query.finish()?;
    let (who, number) = (admin(&asker)?, segments.number("number")?);
    app.ask(RequestDuration::Change, who, move |service, who| service.unreserve(who, number)).await?;
    Ok(StatusCode::NO_CONTENT)
}
