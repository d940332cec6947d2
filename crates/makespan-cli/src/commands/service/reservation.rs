//! `makespan service reservation`

use std::process::ExitCode;

use makespan_core::{ProcSet, Time};
use makespan_service::words::Reservation;
use miette::{Result, miette};

use super::super::queue::clock;
use super::{connect, emit_list, fail, instant, now, seconds};
use crate::args::{ReservationAction, ReservationAddOptions, ReservationCommands, ReservationEndOptions};
use crate::output::{emit, table};

pub fn reservation(commands: &ReservationCommands) -> Result<ExitCode> {
    let client = connect(&commands.connection)?;
    match &commands.action {
        ReservationAction::List { format } => {
            let all: Vec<Reservation> = client.get("reservations").map_err(fail)?;
            emit_list(*format, &all, "no reservations", listed)?;
        }
        ReservationAction::Add(options) => {
            let made = client.reserve(&requested(options)?).map_err(fail)?;
            let Reservation { number, start, end, .. } = made;
            let processors = ProcSet::from_intervals(made.processors);
            let (start, end) = (instant(start), instant(end));
            emit(&format!("reservation {number}: processors {processors} from {start} to {end}\n"))?;
        }
        ReservationAction::Remove { number } => {
            client.unreserve(*number).map_err(|error| match error {
                makespan_service::client::ClientError::Refused(problem) if problem.status == 404 => {
                    miette!("there is no reservation {number}; `makespan service reservation list` prints the numbers")
                }
                error => fail(error),
            })?;
            emit(&format!("reservation {number} is removed\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(all: &[Reservation]) -> String {
    let row = |one: &Reservation| {
        let processors = ProcSet::from_intervals(one.processors.clone()).to_string();
        vec![one.number.to_string(), instant(one.start), instant(one.end), processors, one.name.clone()]
    };
    table(&["number", "start", "end", "processors", "name"], 5, all.iter().map(row))
}

fn requested(options: &ReservationAddOptions) -> Result<Reservation> {
    let ReservationAddOptions { name, processors, start, end: ReservationEndOptions { end, duration } } = options;
    let set: ProcSet = processors.parse().map_err(|error| miette!("--processors {processors}: {error}"))?;
    let now = now();
    let start = start.as_ref().map_or(Ok(now), |text| parsed("--start", text, now))?;
    let end = match (end, duration) {
        (Some(text), _) => parsed("--end", text, now)?,
        (None, Some(text)) => match seconds("for", text)? {
            length if length > 0.0 => start + length,
            _ => {
                return Err(miette!(
                    "--for {text}: the reservation would have no length; state a time above 0, such as 2h"
                ));
            }
        },
        (None, None) => start,
    };
    Ok(Reservation { number: 0, name: name.clone(), start, end, processors: set.intervals().to_vec() })
}

/// Parses a duration from `now`, or an instant. Returns seconds after 1970.
fn parsed(option: &str, text: &str, now: f64) -> Result<f64> {
    // A number without a unit is an instant.
    let duration = Time::parse(text).ok().filter(|_| text.parse::<f64>().is_err());
    match duration {
        Some(duration) => Ok(now + duration.seconds()),
        None => clock::instant(text)
            .map(|seconds| seconds as f64)
            .map_err(|error| miette!("{option}: {error}, or a time from now, such as 2h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_durations_or_dates() {
        for (text, now, instant) in [
            ("90min", 1e9, 1_000_005_400.0),
            ("2026-12-01T09:00Z", 0.0, 1_796_115_600.0),
            ("1796115600", 1e9, 1_796_115_600.0),
        ] {
            assert!((parsed("--start", text, now).unwrap() - instant).abs() < 1e-3, "{text}");
        }
        let error = parsed("--end", "tomorrow", 0.0).unwrap_err().to_string();
        assert!(error.starts_with("--end: `tomorrow` is not an instant") && error.contains("2h"), "{error}");
    }
}
