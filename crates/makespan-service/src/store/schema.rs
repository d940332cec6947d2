//! The tables of a store.

use std::path::Path;

use makespan_history::tables::{self, DatabaseKind};
use rusqlite::Connection;

use super::fault::database_fault;

/// The application number `Mksv` in the header of the database, which marks a database of this program.
pub(super) const APPLICATION: i64 = 0x4d6b_7376;

/// SQL statements that change a database of version `k` to version `k + 1`. Version 0 is an empty database. A released
/// step must never change. To change the tables, append a step.
///
/// Two programs used different tables under the number 1. The earlier program created the tables in three steps, and
/// the later program created the tables of version 3 in one step. Therefore steps 2 and 3 change only what is missing.
pub(super) const STEPS: [&str; 3] = [
    // Instants are seconds since 1970. `spec` is the native file of the job alone, and `environment` is a JSON object.
    // In a job, the columns `running` to `not_started` are numbers of tasks in each state. The table `handed` lists
    // the jobs that the engine has received, in this order. `total` is the sum of the lengths of a job and of all
    // earlier jobs in the same round (run of the engine). The table `counts` stores the number of jobs for each user
    // and state, so that the service need not count a long queue. The indexes speed up the history of jobs and the
    // search for names.
    "CREATE TABLE jobs (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         user TEXT NOT NULL,
         name TEXT NOT NULL,
         state TEXT NOT NULL,
         submitted REAL NOT NULL,
         weight REAL NOT NULL,
         priority INTEGER NOT NULL,
         deadline REAL,
         begin REAL,
         directory TEXT,
         environment TEXT NOT NULL,
         spec TEXT NOT NULL,
         processors INTEGER NOT NULL,
         length INTEGER NOT NULL,
         tasks INTEGER NOT NULL,
         held INTEGER NOT NULL,
         cancelled INTEGER NOT NULL DEFAULT 0,
         running INTEGER NOT NULL DEFAULT 0,
         succeeded INTEGER NOT NULL DEFAULT 0,
         failed INTEGER NOT NULL DEFAULT 0,
         timed_out INTEGER NOT NULL DEFAULT 0,
         not_started INTEGER NOT NULL DEFAULT 0,
         started REAL,
         ended REAL,
         reason TEXT
     ) STRICT;
     CREATE INDEX jobs_by_state ON jobs (state, number, user, name);
     CREATE INDEX jobs_by_user ON jobs (user, state, number);
     CREATE INDEX jobs_by_submission ON jobs (submitted, user);
     CREATE INDEX jobs_by_start ON jobs (started, submitted, user) WHERE started IS NOT NULL;
     CREATE INDEX jobs_by_end ON jobs (ended, state, user) WHERE ended IS NOT NULL;
     CREATE TABLE waits (
         job INTEGER NOT NULL REFERENCES jobs (number),
         before INTEGER NOT NULL REFERENCES jobs (number),
         PRIMARY KEY (job, before)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX waits_by_before ON waits (before);
     CREATE TABLE rounds (
         round INTEGER PRIMARY KEY,
         began REAL NOT NULL,
         platform TEXT NOT NULL
     ) STRICT;
     CREATE TABLE handed (
         position INTEGER PRIMARY KEY AUTOINCREMENT,
         round INTEGER NOT NULL REFERENCES rounds (round),
         job INTEGER NOT NULL REFERENCES jobs (number),
         name TEXT NOT NULL,
         tasks INTEGER NOT NULL,
         total INTEGER NOT NULL,
         weight INTEGER NOT NULL,
         release INTEGER NOT NULL,
         deadline INTEGER,
         after TEXT NOT NULL,
         withdrawn INTEGER NOT NULL DEFAULT 0
     ) STRICT;
     CREATE INDEX handed_by_job ON handed (job);
     CREATE TABLE tasks (
         job INTEGER NOT NULL REFERENCES jobs (number),
         task INTEGER NOT NULL,
         state TEXT NOT NULL,
         started REAL,
         ended REAL,
         processors TEXT,
         width INTEGER,
         nodes TEXT,
         output TEXT,
         attempts INTEGER NOT NULL DEFAULT 0,
         exit INTEGER,
         memory INTEGER,
         reason TEXT,
         PRIMARY KEY (job, task)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX tasks_by_state ON tasks (state);
     CREATE INDEX tasks_by_end ON tasks (ended, started, width) WHERE ended IS NOT NULL;
     CREATE TABLE happenings (
         sequence INTEGER PRIMARY KEY,
         at REAL NOT NULL,
         job INTEGER NOT NULL,
         user TEXT NOT NULL,
         task INTEGER,
         kind TEXT NOT NULL,
         state TEXT NOT NULL
     ) STRICT;
     CREATE TABLE users (
         user TEXT PRIMARY KEY,
         weight REAL NOT NULL DEFAULT 1,
         most_waiting INTEGER,
         most_processors INTEGER,
         used REAL NOT NULL DEFAULT 0,
         recent REAL NOT NULL DEFAULT 0,
         recent_at REAL NOT NULL DEFAULT 0
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE keys (
         user TEXT NOT NULL,
         key TEXT NOT NULL,
         digest TEXT NOT NULL,
         receipts TEXT NOT NULL,
         at REAL NOT NULL,
         PRIMARY KEY (user, key)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE reservations (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         name TEXT NOT NULL,
         start REAL NOT NULL,
         stop REAL NOT NULL,
         processors TEXT NOT NULL
     ) STRICT;
     CREATE TABLE counts (
         user TEXT NOT NULL,
         state TEXT NOT NULL,
         jobs INTEGER NOT NULL,
         PRIMARY KEY (user, state)
     ) STRICT, WITHOUT ROWID;
     CREATE TRIGGER counts_of_new AFTER INSERT ON jobs BEGIN
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
     CREATE TRIGGER counts_of_changed AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
     CREATE TRIGGER counts_of_forgotten AFTER DELETE ON jobs BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
     END;
     CREATE INDEX keys_by_time ON keys (at);
     CREATE INDEX handed_by_round ON handed (round);",
    // The earlier program added the table `counts`, and the columns in the indexes.
    "CREATE TABLE IF NOT EXISTS counts (
         user TEXT NOT NULL,
         state TEXT NOT NULL,
         jobs INTEGER NOT NULL,
         PRIMARY KEY (user, state)
     ) STRICT, WITHOUT ROWID;
     INSERT OR IGNORE INTO counts SELECT user, state, count(*) FROM jobs GROUP BY user, state;
     CREATE TRIGGER IF NOT EXISTS counts_of_new AFTER INSERT ON jobs BEGIN
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
     CREATE TRIGGER IF NOT EXISTS counts_of_changed AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
         INSERT INTO counts VALUES (new.user, new.state, 1) ON CONFLICT (user, state) DO UPDATE SET jobs = jobs + 1;
     END;
     DROP INDEX jobs_by_state;
     DROP INDEX jobs_by_submission;
     DROP INDEX jobs_by_start;
     DROP INDEX jobs_by_end;
     DROP INDEX tasks_by_end;
     CREATE INDEX jobs_by_state ON jobs (state, number, user, name);
     CREATE INDEX jobs_by_submission ON jobs (submitted, user);
     CREATE INDEX jobs_by_start ON jobs (started, submitted, user) WHERE started IS NOT NULL;
     CREATE INDEX jobs_by_end ON jobs (ended, state, user) WHERE ended IS NOT NULL;
     CREATE INDEX tasks_by_end ON tasks (ended, started, width) WHERE ended IS NOT NULL;
     CREATE INDEX IF NOT EXISTS keys_by_time ON keys (at);",
    // The earlier program added the deletion of old jobs.
    "CREATE TRIGGER IF NOT EXISTS counts_of_forgotten AFTER DELETE ON jobs BEGIN
         UPDATE counts SET jobs = jobs - 1 WHERE user = old.user AND state = old.state;
     END;
     CREATE INDEX IF NOT EXISTS handed_by_round ON handed (round);",
];

/// Migrates a database to the newest version, and returns the version before the migration.
///
/// # Errors
/// A message, if the database belongs to another program, has a later version, or cannot be read.
pub(super) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<i64, String> {
    let known = steps.len() as i64;
    match tables::migrate(connection, APPLICATION, steps).map_err(|error| database_fault(path, &error))? {
        DatabaseKind::Foreign => {
            Err(format!("{}: this is the database of another program; choose another folder", path.display()))
        }
        DatabaseKind::Ours(version) if version > known => Err(format!(
            "{}: a later version of makespan made this database (its tables have version {version}; this program \
             supports versions up to {known}); use that version",
            path.display()
        )),
        DatabaseKind::Ours(version) => Ok(version),
    }
}
