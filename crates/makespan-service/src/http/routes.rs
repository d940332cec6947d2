//! The routes from paths to handlers, and the `OpenAPI` document of the interface.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AdditionalProperties, Schema};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described, ResponseBuilder, SecurityRequirement};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::guard::guard;
use super::problem::Problem;
use super::{events, jobs, logs, monitor, people, plan};
use crate::page::ASSETS;
use crate::words::Happening;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "makespan serve",
        description = "A service that runs jobs for several users, shows its plan, and proves bounds on how good the plan is. \
                       Instants are seconds since 1970, durations are seconds, sizes are bytes. Commands run as the user who started the service.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    servers((url = "/")),
    components(schemas(Problem, Happening, events::Latest, crate::words::Stream)),
    tags(
        (name = "jobs", description = "Submit, list, show and change jobs"),
        (name = "plan", description = "The plan, its bounds, explanations and predictions"),
        (name = "users", description = "The user of the token, and the limits of users"),
        (name = "reservations", description = "Periods in which processors are kept free"),
        (name = "events", description = "Events of jobs and plans"),
        (name = "service", description = "The health and the metrics of the service"),
    )
)]
struct Document;

fn interface() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(jobs::submit, jobs::list))
        .routes(routes!(jobs::one, jobs::delete))
        .routes(routes!(jobs::cancel))
        .routes(routes!(jobs::hold))
        .routes(routes!(jobs::release))
        .routes(routes!(logs::log))
        .routes(routes!(plan::explain))
        .routes(routes!(plan::what_if))
        .routes(routes!(plan::plan))
        .routes(routes!(plan::bounds))
        .routes(routes!(plan::history))
        .routes(routes!(people::users))
        .routes(routes!(people::set_user, people::change_user))
        .routes(routes!(people::reservations, people::reserve))
        .routes(routes!(people::unreserve))
        .routes(routes!(people::whoami))
        .routes(routes!(events::events))
        .routes(routes!(monitor::metrics))
        .routes(routes!(monitor::health))
        .routes(routes!(description))
}

/// Returns the router with all routes, including the files of the web page.
pub(super) fn router(app: Arc<App>) -> Router {
    let (mut router, _) = interface().split_for_parts();
    for asset in ASSETS {
        let answer = || async {
            let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
            let cache = (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            ([content_type, cache], Bytes::from_static(asset.bytes)).into_response()
        };
        router = router.route(asset.path, get(answer));
    }
    router
        .fallback(unknown)
        .method_not_allowed_fallback(not_so)
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn unknown(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at `{}`", uri.path().escape_debug()))
        .at("path")
        .remedy("the interface is described at /api/v1/openapi.json")
}

async fn not_so(method: Method, uri: Uri) -> Problem {
    let detail = format!(
        "{method} is not allowed at `{}`; the header Allow lists the allowed methods",
        uri.path().escape_debug()
    );
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "Another method is needed", detail).at("method")
}

/// Returns this description of the interface. This request needs no token.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "service",
    security((), ("token" = [])),
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
async fn description() -> Response {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    let text = TEXT.get_or_init(|| openapi().to_json().unwrap_or_default().into());
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text.clone()).into_response()
}

/// Returns the `OpenAPI` document of the interface, which is generated from the code.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = interface().into_openapi();
    document.info.version = env!("CARGO_PKG_VERSION").into();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components.schemas.get_mut("Content").into_iter().for_each(close);
    document.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
    for item in document.paths.paths.values_mut() {
        for operation in
            [&mut item.get, &mut item.put, &mut item.patch, &mut item.post, &mut item.delete].into_iter().flatten()
        {
            complete(operation);
        }
    }
    document
}

/// Forbids unknown properties in an object schema, in the schemas of its properties, and in all alternatives
/// (`oneOf`), recursively.
fn close(schema: &mut RefOr<Schema>) {
    match schema {
        RefOr::T(Schema::OneOf(choices)) => choices.items.iter_mut().for_each(close),
        RefOr::T(Schema::Object(object)) if !object.properties.is_empty() => {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            object.properties.values_mut().for_each(close);
        }
        _ => {}
    }
}

/// Adds the error responses that every operation may return, and the media type of problems.
fn complete(operation: &mut Operation) {
    const ANY: [(&str, &str); 8] = [
        ("400", "The request is invalid"),
        ("401", "There is no token, or the token is unknown"),
        ("403", "The client lacks the permission, or the request comes from a page of another origin"),
        ("414", "The address is too long"),
        ("421", "The request is addressed to another host"),
        ("429", "Too many requests, or a limit of the user is exceeded; `Retry-After` is the wait in seconds"),
        ("500", "An error of the service"),
        ("503", "The service is not ready or busy; `Retry-After` is the wait in seconds"),
    ];
    let problem = || ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let responses = &mut operation.responses.responses;
    for (status, description) in ANY {
        let described = ResponseBuilder::new().description(description).content("application/problem+json", problem());
        match responses.get_mut(status) {
            None => {
                responses.insert(status.to_owned(), RefOr::T(described.build()));
            }
            // The operation documents a body for this status. The response may also be a problem, so both are
            // documented.
            Some(RefOr::T(known)) if status == "503" => {
                known.content.insert("application/problem+json".into(), problem());
            }
            Some(_) => {}
        }
    }
    for (status, response) in responses.iter_mut() {
        let RefOr::T(Described { content, .. }) = response else { continue };
        if status.starts_with(['4', '5'])
            && status != "503"
            && let Some(json) = content.shift_remove("application/json")
        {
            content.insert("application/problem+json".into(), json);
        }
    }
}
