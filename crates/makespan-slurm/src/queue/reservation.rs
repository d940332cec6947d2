//! Reservations of nodes, and licences.

use crate::text::{Record, expand, moment};

/// A reservation of nodes or licences for certain users during a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmReservation {
    /// The name of the reservation.
    pub name: String,
    /// Start in seconds since 1970.
    pub start: i64,
    /// End in seconds since 1970.
    pub end: i64,
    /// Names of the reserved nodes.
    pub nodes: Vec<String>,
    /// True if only some cores of the nodes are reserved.
    pub is_partial: bool,
    /// Flags such as `MAINT`, `IGNORE_JOBS` and `DAILY`.
    pub flags: Vec<String>,
    /// Users who may use the reservation. If neither users nor accounts are stated, all users may use it.
    pub users: Vec<String>,
    /// Accounts with permission to use the reservation.
    pub accounts: Vec<String>,
    /// Reserved licences.
    pub licences: Vec<(String, u64)>,
}

impl SlurmReservation {
    /// Parses a record.
    ///
    /// # Errors
    /// A message that names the missing or invalid field.
    pub fn of(record: &Record) -> Result<Self, String> {
        let name = record.get("ReservationName").ok_or("a reservation has no name")?.to_owned();
        let time = |key: &str| {
            let text = record.raw(key).unwrap_or_default();
            moment(text).ok_or_else(|| format!("reservation `{name}`: {key}={text} is not a time"))
        };
        let list = |key: &str| -> Vec<String> {
            let words = record.get(key).unwrap_or_default().split(',').map(str::trim);
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let nodes = record.get("Nodes").unwrap_or_default();
        let nodes = expand(nodes).map_err(|error| format!("reservation `{name}`: {error}"))?;
        let (start, end) = (time("StartTime")?, time("EndTime")?);
        // Slurm lists the cores of a node only if some cores are not reserved.
        let is_partial = record.fields().iter().any(|(key, _)| key == "CoreIDs");
        Ok(Self {
            start,
            end,
            nodes,
            is_partial,
            flags: list("Flags"),
            users: list("Users"),
            accounts: list("Accounts"),
            licences: licences(record.get("Licenses").unwrap_or_default()),
            name,
        })
    }

    /// Returns true if the reservation moves with time (`TIME_FLOAT`): its start is always as far ahead as now.
    pub fn floats(&self) -> bool {
        self.flags.iter().any(|flag| flag == "TIME_FLOAT")
    }

    /// Returns true if a job of `user` and `account` may use the reservation.
    pub fn admits(&self, user: &str, account: Option<&str>) -> bool {
        let allows = |list: &[String], name: &str| {
            let denied = list.iter().any(|entry| entry.strip_prefix('-') == Some(name));
            let allowed = list.iter().filter(|entry| !entry.starts_with('-')).collect::<Vec<_>>();
            !denied && (allowed.is_empty() || allowed.iter().any(|entry| *entry == name))
        };
        allows(&self.users, user) && allows(&self.accounts, account.unwrap_or_default())
    }
}

/// A licence that the cluster counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Licence {
    /// The name of the licence.
    pub name: String,
    /// Total number of this licence.
    pub total: u64,
    /// Number of this licence that is in use, by jobs and outside Slurm.
    pub used: u64,
    /// Number of this licence that is reserved.
    pub reserved: u64,
}

impl Licence {
    /// Parses a record.
    ///
    /// # Errors
    /// A message that names the missing or invalid field.
    pub fn of(record: &Record) -> Result<Self, String> {
        let name = record.get("LicenseName").ok_or("a licence has no name")?.to_owned();
        let number = |key: &str| match record.get(key) {
            None => Ok(0),
            Some(text) => text.parse().map_err(|_| format!("licence `{name}`: {key}={text} is not a number")),
        };
        Ok(Self { total: number("Total")?, used: number("Used")?, reserved: number("Reserved")?, name })
    }
}

/// Parses names with numbers, such as `matlab:2,ansys`.
pub(super) fn licences(text: &str) -> Vec<(String, u64)> {
    let parts = text.split([',', ';', '|']).map(str::trim).filter(|part| !part.is_empty());
    let one = |part: &str| match part.rsplit_once([':', '*', '=']) {
        Some((name, count)) if count.parse::<u64>().is_ok() => (name.to_owned(), count.parse().unwrap_or(1)),
        _ => (part.to_owned(), 1),
    };
    parts.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Kind, records};

    #[test]
    fn reservations_say_who_may_use_them() {
        let text = "ReservationName=class StartTime=2026-11-22T01:45:08 EndTime=2026-11-22T03:45:08 Nodes=n[5-6] Flags=MAINT,SPEC_NODES \
                    Users=(null) Accounts=lab Licenses=matlab:2 State=ACTIVE";
        let record = records(Kind::Reservation, text).0.remove(0);
        let read = SlurmReservation::of(&record).unwrap();
        assert_eq!((read.end - read.start, read.nodes.len(), read.licences.len()), (7200, 2, 1));
        assert!(read.admits("anybody", Some("lab")) && !read.admits("anybody", Some("other")));
        let denied = SlurmReservation { users: vec!["-eve".into()], accounts: vec![], ..read };
        assert!(denied.admits("bob", None) && !denied.admits("eve", None));
    }

    #[test]
    fn licences_have_numbers() {
        let named = |name: &str, count| (name.to_owned(), count);
        assert_eq!(licences("matlab:2,ansys@flex:3,x"), [named("matlab", 2), named("ansys@flex", 3), named("x", 1)]);
        assert_eq!(licences(""), []);
    }
}
