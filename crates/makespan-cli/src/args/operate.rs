//! The options of `makespan service`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::service::finite;
use super::{ConnectionOptions, Format};

#[derive(Args)]
pub struct ServiceCommands {
    #[command(subcommand)]
    pub action: ServiceAction,
}

#[derive(Subcommand)]
pub enum ServiceAction {
    /// Copy the store, with the output of ended jobs, to a new folder; the service may run meanwhile
    Backup {
        /// New folder for the backup
        backup: PathBuf,
        /// The store of the service [default: `MAKESPAN_STORE`, or ~/.local/share/makespan/service]
        #[arg(long, value_name = "FOLDER")]
        store: Option<PathBuf>,
    },
    /// Make a new store from a backup; jobs that had not ended start again
    Restore {
        /// Folder of the backup
        backup: PathBuf,
        /// New folder for the store
        store: PathBuf,
    },
    /// List users, and set or remove their weights and quotas
    User(UserCommands),
    /// List, add and remove reservations of processors
    Reservation(ReservationCommands),
}

#[derive(Args)]
pub struct UserCommands {
    #[command(subcommand)]
    pub action: UserAction,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

#[derive(Subcommand)]
pub enum UserAction {
    /// List the users with their weights, quotas and use
    List {
        /// Output format
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Set the weight or the quotas of a user; other settings stay as they are
    Set(UserSetOptions),
    /// Remove the settings of a user: weight 1, no quotas
    Remove {
        /// Name of the user
        user: String,
    },
}

#[derive(Args)]
#[group(required = true, multiple = true)]
pub struct UserSettingOptions {
    /// Fair-share weight, from 0.001 to 1000: a user is entitled to processor time in proportion to the weight
    #[arg(long, value_name = "WEIGHT", value_parser = weight, allow_negative_numbers = true)]
    pub weight: Option<f64>,
    /// Maximum number of waiting and held jobs, or none for no limit
    #[arg(long, value_name = "N", value_parser = quota)]
    pub most_waiting: Option<Quota>,
    /// Maximum number of processors in use at once, or none for no limit
    #[arg(long, value_name = "N", value_parser = processors)]
    pub most_processors: Option<Quota>,
}

#[derive(Args)]
pub struct UserSetOptions {
    /// Name of the user
    pub user: String,
    #[command(flatten)]
    pub settings: UserSettingOptions,
}

/// A maximum number, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota(pub Option<u64>);

fn weight(text: &str) -> Result<f64, String> {
    let weight = finite(text).ok().filter(|weight| (0.001..=1000.0).contains(weight));
    weight.ok_or_else(|| "write a number from 0.001 to 1000".to_owned())
}

fn quota(text: &str) -> Result<Quota, String> {
    if text == "none" {
        return Ok(Quota(None));
    }
    text.parse().map(|number| Quota(Some(number))).map_err(|_| "write a whole number, or `none` (no limit)".to_owned())
}

fn processors(text: &str) -> Result<Quota, String> {
    match quota(text) {
        Ok(Quota(Some(number))) if !(1..=u64::from(u32::MAX)).contains(&number) => {
            Err("write a number from 1 to 4294967295, or `none` (no limit)".to_owned())
        }
        quota => quota,
    }
}

#[derive(Args)]
pub struct ReservationCommands {
    #[command(subcommand)]
    pub action: ReservationAction,
    #[command(flatten)]
    pub connection: ConnectionOptions,
}

#[derive(Subcommand)]
pub enum ReservationAction {
    /// List the reservations that have not ended
    List {
        /// Output format
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Reserve processors for some time; jobs that are expected to run into this time do not start on these processors
    Add(ReservationAddOptions),
    /// Remove a reservation
    Remove {
        /// Number of the reservation, as `list` prints it
        number: u64,
    },
}

#[derive(Args)]
pub struct ReservationAddOptions {
    /// Purpose of the reservation
    pub name: String,
    /// The reserved processors, as numbers and ranges such as 0-3,6
    #[arg(long, value_name = "LIST")]
    pub processors: String,
    /// Start: a time from now such as 2h, or a date such as 2026-12-01T09:00 [default: now]
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    #[command(flatten)]
    pub end: ReservationEndOptions,
}

/// The end or the length of a reservation.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct ReservationEndOptions {
    /// End: a time from now such as 4h, or a date such as 2026-12-01T11:00
    #[arg(long, value_name = "TIME")]
    pub end: Option<String>,
    /// Length of the reservation, such as 90min
    #[arg(long = "for", id = "duration", value_name = "TIME")]
    pub duration: Option<String>,
}
