//! Description of a job that a shim receives as one line on its input. A shim may have been started before the job was
//! known.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::Staging;
use crate::storage::writable;

/// Description of a job for its shim.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Path of the status file, relative to the folder of the run.
    pub status: String,
    /// Memory limit in bytes, if memory is limited.
    pub memory: Option<u64>,
    /// Cores to which the job is pinned. `None` means the cores of the shim.
    pub cores: Option<Vec<usize>>,
    /// Existing empty files for standard output and standard error, relative to the folder of the run.
    pub outputs: [String; 2],
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Environment variables in addition to those of the shim.
    pub environment: Vec<(String, String)>,
    /// Files that are copied to this node and back, if the job runs in a separate folder.
    pub staging: Option<Staging>,
    /// True if the job is killed as soon as the process that started its shim has ended.
    pub is_tied: bool,
}

impl Order {
    /// Reads the next line of the input. Returns `None` if the session has ended or has no job.
    pub fn read() -> Option<Self> {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).ok()?;
        serde_json::from_str(line.strip_suffix('\n')?).ok()
    }

    /// Opens the output files in the folder of the run.
    pub fn open(&self, folder: &Path) -> io::Result<[File; 2]> {
        let [out, err] = &self.outputs;
        Ok([writable(&folder.join(out))?, writable(&folder.join(err))?])
    }
}
