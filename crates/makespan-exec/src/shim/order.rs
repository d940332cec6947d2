//! The description of a job. The shim receives the description as one line on its input, because the shim may start
//! before its job is known.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::Staging;
use crate::jobserver::JobserverOrder;
use crate::storage::writable;

/// A job as its shim receives it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShimOrder {
    /// Path of the status file, relative to the folder of the run.
    pub status: String,
    /// Memory limit in bytes, if memory is limited.
    pub memory: Option<u64>,
    /// The cores to which the job is pinned. If `None`, the job has the cores of the shim.
    pub cores: Option<Vec<usize>>,
    /// Existing empty files for the job's standard output and standard error, relative to the folder of the run.
    pub outputs: [String; 2],
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Environment variables in addition to the environment of the shim.
    pub environment: Vec<(String, String)>,
    /// The files to copy to this node and back, if the job runs in a separate folder.
    pub staging: Option<Staging>,
    /// True if the job is killed when the process that started the shim ends.
    pub is_tied: bool,
    /// The jobserver of the job, if there is one.
    pub jobserver: Option<JobserverOrder>,
}

/// The open files of a job.
#[derive(Debug)]
pub(crate) struct JobFiles {
    /// Standard output and standard error.
    pub outputs: [File; 2],
    /// The FIFOs of the jobserver from which the job reads and to which it writes.
    pub tokens: Vec<File>,
}

impl ShimOrder {
    /// Reads the next line of the input. Returns `None` if the session has ended or has no job.
    pub fn read() -> Option<Self> {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).ok()?;
        serde_json::from_str(line.strip_suffix('\n')?).ok()
    }

    /// Opens the output files and the FIFOs of the job in the folder of the run.
    pub fn open(&self, folder: &Path) -> io::Result<JobFiles> {
        let [out, err] = &self.outputs;
        let outputs = [writable(&folder.join(out))?, writable(&folder.join(err))?];
        let fifos = self.jobserver.iter().flat_map(|jobserver| &jobserver.fifos);
        // A FIFO that is opened for reading and writing never waits for its other end, which may already be closed.
        let open = |fifo: &String| File::options().read(true).write(true).open(folder.join(fifo));
        Ok(JobFiles { outputs, tokens: fifos.map(open).collect::<io::Result<_>>()? })
    }
}
