//! `makespan token`

use std::process::ExitCode;

use makespan_service::tokens::{self, TokenError};
use makespan_service::words::Role;
use miette::{Report, Result, miette};

use super::{known_store, now, span};
use crate::args::{TokenAction, TokenCommands};
use crate::output::{emit, table};

pub fn token(options: &TokenCommands) -> Result<ExitCode> {
    let store = known_store(options.store.as_ref())?;
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

#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
fn fail(error: TokenError) -> Report {
    miette!("{error}")
}
