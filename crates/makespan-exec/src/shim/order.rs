//! What a shim is told of its job before it may run: one line on its input. A shim may have been started before anybody knew
//! the job.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::Staging;
use crate::storage::writable;

/// A job as its shim needs to know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Where the exit status goes, from the folder of the run on.
    pub status: String,
    /// Most bytes of memory, where they are to be limited.
    pub memory: Option<u64>,
    /// The cores that it is pinned to. `None` stands for the cores of the shim.
    pub cores: Option<Vec<usize>>,
    /// The files in that folder for its output and its errors, which are there and empty.
    pub outputs: [String; 2],
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What its environment has beside that of the shim.
    pub environment: Vec<(String, String)>,
    /// What is copied to this node and back, where it runs in a folder of its own.
    pub staging: Option<Staging>,
    /// Whether it is killed as soon as whoever started its shim is gone.
    pub is_tied: bool,
}

impl Order {
    /// The next line of the input; `None` when the session is gone, or has no job.
    pub fn read() -> Option<Self> {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).ok()?;
        serde_json::from_str(line.strip_suffix('\n')?).ok()
    }

    /// Opens the outputs in the folder of the run.
    pub fn open(&self, folder: &Path) -> io::Result<[File; 2]> {
        let [out, err] = &self.outputs;
        Ok([writable(&folder.join(out))?, writable(&folder.join(err))?])
    }
}
