//! `makespan token`

use std::path::PathBuf;
use std::process::ExitCode;

use makespan_service::client::default_store;
use makespan_service::tokens::{self, TokenError};
use makespan_service::words::Role;
use miette::{Report, Result, miette};

use super::{now, span};
use crate::args::{TokenAction, TokenCommands};
use crate::output::{emit, table};

pub fn token(options: &TokenCommands) -> Result<ExitCode> {
    let store = store(options)?;
    match &options.action {
        TokenAction::Add { user, role, name } => {
            let token = tokens::add(&store, user, (*role).into(), name.as_deref()).map_err(fail)?;
            emit(&format!("{token}\n"))?;
        }
        TokenAction::List => {
            let now = now();
            let rows = tokens::list(&store).map_err(fail)?.into_iter().map(|token| {
                let role = match token.role {
                    Role::Reader => "reader",
                    Role::Submitter => "submitter",
                    Role::Admin => "admin",
                };
                let age = span(now - token.created as f64);
                vec![token.id, token.user, role.into(), age, token.name.unwrap_or_default()]
            });
            emit(&table(&["token", "user", "role", "age", ""], 3, rows))?;
        }
        TokenAction::Remove { id } => {
            let removed = tokens::remove(&store, id).map_err(fail)?;
            emit(&format!("the token `{id}` of `{}` is removed\n", removed.user))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of the store. A missing folder is an error, so that a mistyped name does not create a second
/// store.
fn store(options: &TokenCommands) -> Result<PathBuf> {
    let store = options.store.clone().or_else(default_store);
    let store = store.ok_or_else(|| miette!("no store is known; name it with --store or MAKESPAN_STORE"))?;
    if !store.is_dir() {
        return Err(miette!("{}: there is no store; `makespan serve --store FOLDER` makes it", store.display()));
    }
    Ok(store)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn fail(error: TokenError) -> Report {
    miette!("{error}")
}
