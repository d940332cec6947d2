//! Creates the tables of a database, and migrates tables of older versions.

use rusqlite::{Connection, Error, TransactionBehavior};

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A database of this application, and the version of its tables. An empty database has version 0.
    Ours(i64),
    /// A database of another program.
    Foreign,
}

/// Returns the kind of a database. `application` is the number in the file header that identifies this program.
///
/// # Errors
/// Any error of the database.
pub fn kind(connection: &Connection, application: i64) -> Result<DatabaseKind, Error> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (stated, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match stated {
        stated if stated == application => DatabaseKind::Ours(version),
        0 if version == 0 && tables == 0 => DatabaseKind::Ours(0),
        _ => DatabaseKind::Foreign,
    })
}

/// Applies the missing migration steps in one transaction, and returns the kind of the database before the migration.
/// Step `k` converts version `k` to version `k + 1`. This function does not change a database of another program or of
/// a later version. If two processes migrate a database at the same time, the second process waits for the first one
/// and then has nothing to do.
///
/// # Errors
/// Any error of the database.
pub fn migrate(connection: &mut Connection, application: i64, steps: &[&str]) -> Result<DatabaseKind, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = kind(&transaction, application)?;
    if let DatabaseKind::Ours(version) = found {
        for step in steps.iter().skip(usize::try_from(version).unwrap_or(0)) {
            transaction.execute_batch(step)?;
        }
        if version < steps.len() as i64 {
            transaction.pragma_update(None, "application_id", application)?;
            transaction.pragma_update(None, "user_version", steps.len() as i64)?;
        }
    }
    transaction.commit()?;
    Ok(found)
}
