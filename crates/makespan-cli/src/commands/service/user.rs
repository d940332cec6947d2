//! `makespan service user`

use std::process::ExitCode;

use makespan_core::counted;
use makespan_service::tokens::{TokenError, is_user};
use makespan_service::words::{UserChange, UserSettings, UserSummary};
use miette::{Result, miette};

use super::{connect, emit_list, fail};
use crate::args::{Quota, UserAction, UserCommands, UserSetOptions};
use crate::output::{complain, emit, table};

pub fn user(commands: &UserCommands) -> Result<ExitCode> {
    let client = connect(&commands.connection)?;
    match &commands.action {
        UserAction::List { format } => {
            let users: Vec<UserSummary> = client.get("users").map_err(fail)?;
            emit_list(*format, &users, "no users", listed)?;
        }
        UserAction::Set(UserSetOptions { user, settings }) => {
            let user = checked(user)?;
            let users: Vec<UserSummary> = client.get("users").map_err(fail)?;
            let is_new = users.iter().all(|one| one.user != *user);
            // The option `--most-processors` accepts only numbers that fit.
            let quota = |Quota(quota)| quota.and_then(|number| u32::try_from(number).ok());
            let change = UserChange {
                weight: settings.weight.map(Some),
                most_waiting: settings.most_waiting.map(|Quota(quota)| quota),
                most_processors: settings.most_processors.map(quota),
            };
            emit(&described(&client.change_user(user, &change).map_err(fail)?))?;
            if is_new {
                complain(&format!(
                    "note: {user} has not submitted a job yet; check the name with `makespan token list`"
                ));
            }
        }
        UserAction::Remove { user } => {
            let users: Vec<UserSummary> = client.get("users").map_err(fail)?;
            if users.iter().all(|one| one.user != *user) {
                return Err(miette!("there is no user `{user}`; `makespan service user list` prints the users"));
            }
            emit(&described(&client.set_user(checked(user)?, &UserSettings::default()).map_err(fail)?))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a user, or an error if no user can have this name.
fn checked(user: &str) -> Result<&str> {
    if is_user(user) { Ok(user) } else { Err(miette!("{}", TokenError::User(user.to_owned()))) }
}

fn listed(users: &[UserSummary]) -> String {
    let quota = |quota: Option<u64>| quota.map_or_else(|| "-".to_owned(), |quota| quota.to_string());
    let row = |one: &UserSummary| {
        vec![
            one.user.clone(),
            one.weight.to_string(),
            quota(one.most_waiting),
            quota(one.most_processors.map(u64::from)),
            one.waiting.to_string(),
            one.running.to_string(),
            one.ended.to_string(),
            format!("{:.0} %", one.share * 100.0),
        ]
    };
    let heading = ["user", "weight", "most waiting", "most processors", "waiting", "running", "ended", "share"];
    table(&heading, 1, users.iter().map(row))
}

fn described(user: &UserSummary) -> String {
    let waiting = user.most_waiting.map_or_else(
        || "any number of waiting jobs".to_owned(),
        |most| format!("at most {}", counted(most, "waiting job")),
    );
    let processors = user.most_processors.map_or_else(
        || "any number of processors".to_owned(),
        |most| format!("at most {} at once", counted(most, "processor")),
    );
    format!("{}: weight {}, {waiting}, {processors}\n", user.user, user.weight)
}
