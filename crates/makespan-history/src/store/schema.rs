//! The tables of a history.

/// The application number in the file header, which identifies our databases: `Mksp`.
pub(super) const APPLICATION: i64 = 0x4d6b_7370;

/// The SQL statements that convert version `k` to version `k + 1`. Version 0 is an empty database. Existing steps must
/// not change: add each change as a new step at the end.
pub(super) const STEPS: [&str; 5] = [
    // Each command is stored once. Its words are a JSON array. Times are in nanoseconds, sizes in bytes, and `ended` is in
    // seconds since 1970. The reader (`estimate`) checks every value, so the tables have no constraints on values.
    "CREATE TABLE commands (
         id INTEGER PRIMARY KEY,
         words TEXT NOT NULL UNIQUE,
         line TEXT NOT NULL,
         template TEXT NOT NULL,
         arguments TEXT NOT NULL,
         stated TEXT
     ) STRICT;
     CREATE INDEX commands_by_template ON commands (template);
     CREATE INDEX commands_by_stated ON commands (stated) WHERE stated IS NOT NULL;
     CREATE TABLE runs (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         command INTEGER NOT NULL REFERENCES commands (id),
         folder TEXT NOT NULL,
         host TEXT NOT NULL,
         processors INTEGER NOT NULL,
         wall INTEGER NOT NULL,
         cpu INTEGER,
         memory INTEGER,
         ending TEXT NOT NULL,
         status INTEGER,
         ended INTEGER NOT NULL,
         inputs INTEGER,
         explored INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX runs_by_command ON runs (command);",
    // Before this step, every job was pinned.
    "ALTER TABLE runs ADD COLUMN pinned INTEGER NOT NULL DEFAULT 1;
     ALTER TABLE runs ADD COLUMN at_once REAL;",
    // Forecasts of starts on clusters. All instants are in seconds since 1970.
    "CREATE TABLE starts (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         cluster TEXT NOT NULL,
         percent INTEGER NOT NULL,
         job TEXT NOT NULL,
         made INTEGER NOT NULL,
         early INTEGER NOT NULL,
         start INTEGER NOT NULL,
         late INTEGER NOT NULL,
         range_early INTEGER,
         range_late INTEGER,
         started INTEGER,
         UNIQUE (cluster, percent, job)
     ) STRICT;
     CREATE INDEX starts_by_start ON starts (cluster, percent, started);
     CREATE INDEX starts_by_job ON starts (cluster, job);",
    // The reserved memory in bytes, and its source: the number of runs from which it was learned, 0 for a guess, or NULL
    // for a stated amount.
    "ALTER TABLE runs ADD COLUMN memory_kill INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE runs ADD COLUMN reserved INTEGER;
     ALTER TABLE runs ADD COLUMN learned_from INTEGER;",
    // The number of the attempt at a job, from 1. Before this step, the number was not recorded.
    "ALTER TABLE runs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;",
];
