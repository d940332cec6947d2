//! Checks the folder of a store without changing it.

use std::path::Path;

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::fault::{check_database, database_fault, journal_fault, missing_outputs};
use super::hand::Round;
use super::read::Reader;
use super::snapshot::{check_version, version};
use super::{DATABASE, compare, database_size, is_served, is_store, open, refuse, schema};

/// Number of free bytes below which the disk of a store is nearly full.
const LITTLE: u64 = 1 << 30;
/// Number of free bytes below which a store cannot be written.
const NONE: u64 = 1 << 20;

/// The state of the folder of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// A service can use the folder. The text describes it.
    Usable(String),
    /// A service can use the folder, but something needs attention.
    Doubtful(String),
    /// A service cannot use the folder.
    Unusable(String),
}

/// Returns the state of the folder of a store, of its database and of its disk. The folder need not exist.
pub fn examine(folder: &Path) -> Vec<(&'static str, StoreState)> {
    if !folder.exists() {
        let parent = folder.ancestors().skip(1).find(|parent| parent.exists()).unwrap_or(Path::new("/"));
        let state = match access(parent, AccessFlags::W_OK | AccessFlags::X_OK) {
            Ok(()) => StoreState::Usable(format!("{}: the service will create it", folder.display())),
            Err(error) => StoreState::Unusable(format!(
                "{}: cannot create a folder in this folder: {error}; name another --store",
                parent.display()
            )),
        };
        return vec![("store", state), ("disk", disk(parent))];
    }
    let mut found = vec![("store", state_of(folder))];
    if is_store(folder) {
        found.push(("database", database(folder)));
        found.extend(journal(folder).map(|state| ("journal", state)));
        found.extend(outputs(folder).map(|state| ("outputs", state)));
    }
    found.push(("disk", disk(folder)));
    found
}

fn state_of(folder: &Path) -> StoreState {
    if !folder.is_dir() {
        return StoreState::Unusable(format!("{}: this path is not a folder; name another --store", folder.display()));
    }
    if let Err(error) = access(folder, AccessFlags::R_OK | AccessFlags::W_OK | AccessFlags::X_OK) {
        let remedy = "run the service as the owner of the folder, or name another --store";
        return StoreState::Unusable(format!("{}: the folder cannot be written: {error}; {remedy}", folder.display()));
    }
    if let Err(error) = refuse(folder) {
        return StoreState::Unusable(error);
    }
    if is_served(folder) {
        let why = "another service uses this store; stop that service, or name another --store";
        return StoreState::Unusable(format!("{}: {why}", folder.display()));
    }
    StoreState::Usable(folder.display().to_string())
}

fn database(folder: &Path) -> StoreState {
    let path = folder.join(DATABASE);
    let examined = check_version(folder).and_then(|()| {
        let connection = open(&path, false).map_err(|error| database_fault(&path, &error))?;
        check_database(&path, &connection)?;
        compare(folder, &connection)?;
        let found = version(folder)?;
        let reader = Reader(connection);
        // The service reads these rows when it starts. An older database has other tables.
        let read = || {
            let round = reader.round()?;
            round.map_or(Ok(Vec::new()), |round| reader.handed(&round, 0))?;
            reader.counts()?;
            reader.limits().map(drop)
        };
        if found == schema::STEPS.len() as i64 {
            read().map_err(|error| database_fault(&path, &error))?;
        }
        Ok(found)
    });
    let newest = schema::STEPS.len() as i64;
    match examined {
        Err(error) => StoreState::Unusable(error),
        Ok(found) if found < newest => StoreState::Doubtful(format!(
            "the tables have version {found}; the service will convert them to version {newest}, and they cannot be \
             converted back; so make a backup first"
        )),
        Ok(found) => StoreState::Usable(format!("version {found}, {} KiB, undamaged", database_size(folder) >> 10)),
    }
}

/// Returns the state of the journal of the current round, if there is a round and the database can be read.
fn journal(folder: &Path) -> Option<StoreState> {
    let connection = open(&folder.join(DATABASE), false).ok()?;
    let round = Round::latest(&connection).ok()??;
    Some(match journal_fault(folder, &round, &Reader(connection)) {
        Ok(None) => StoreState::Usable(format!("round {}, undamaged", round.number)),
        Ok(Some(fault)) => StoreState::Unusable(fault.text()),
        Err(error) => StoreState::Unusable(error),
    })
}

/// Returns a warning if outputs of jobs are missing.
fn outputs(folder: &Path) -> Option<StoreState> {
    let connection = open(&folder.join(DATABASE), false).ok()?;
    missing_outputs(folder, &Reader(connection)).map(StoreState::Doubtful)
}

fn disk(folder: &Path) -> StoreState {
    match statvfs(folder).map(|disk| disk.blocks_available() * disk.fragment_size()) {
        Ok(free) if free < NONE => {
            StoreState::Unusable(format!("{}: the disk is full; free space, or name another --store", folder.display()))
        }
        Ok(free) if free < LITTLE => StoreState::Doubtful(format!("{} MiB are free; free space", free >> 20)),
        Ok(free) => StoreState::Usable(format!("{} GiB are free", free >> 30)),
        Err(error) => {
            StoreState::Doubtful(format!("{}: the free space of this disk is unknown: {error}", folder.display()))
        }
    }
}
