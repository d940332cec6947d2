//! Saved outputs of Slurm commands.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use thiserror::Error;

use super::ClusterOutput;
use crate::text::date;

/// Maximum size of a text in bytes. For comparison: the list of 100,000 jobs has 100 MB.
const MAX_BYTES: u64 = 1 << 30;

/// The reason why saved outputs cannot be combined into a queue.
#[derive(Debug, Error)]
pub enum SavedError {
    /// The folder or a file cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    Read {
        /// The folder, or a file in it.
        path: PathBuf,
        /// The error of the operating system.
        problem: io::Error,
    },
    /// A required file is missing.
    #[error(
        "{} has no {}: save the output of `{command}` as {}", folder.display(), part.name(), file(*part)
    )]
    Missing {
        /// The folder that was searched.
        folder: PathBuf,
        /// The missing part.
        part: ClusterOutput,
        /// The command that prints it.
        command: &'static str,
    },
    /// The content of a file is invalid.
    #[error("{}: {problem}", path.display())]
    Nonsense {
        /// The invalid file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A file was cut off or damaged, and no other file replaces it.
    #[error("{} was cut off or is damaged ({problem}){help}", path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// The problem.
        problem: String,
        /// The remedy.
        help: String,
    },
    /// The stated instant is before the instant of the outputs.
    #[error(
        "the stated instant, {}, is before the outputs in {}, which are from {} (UTC); remove the instant, or state a \
         later one",
        date(*stated), folder.display(), date(*told)
    )]
    Early {
        /// The folder of the outputs.
        folder: PathBuf,
        /// The stated instant in seconds since 1970.
        stated: i64,
        /// The instant of the outputs in seconds since 1970.
        told: i64,
    },
}

/// The file names of each part, in order of preference. Each name may be followed by `.gz`.
pub(super) const FILES: [(ClusterOutput, &str); 15] = [
    (ClusterOutput::Config, "scontrol.config.txt"),
    (ClusterOutput::Nodes, "scontrol.nodes-d.txt"),
    (ClusterOutput::Nodes, "scontrol.nodes.txt"),
    (ClusterOutput::NodesJson, "scontrol.nodes.json"),
    (ClusterOutput::NodesJson, "sinfo.json"),
    (ClusterOutput::Partitions, "scontrol.partitions.txt"),
    (ClusterOutput::Jobs, "scontrol.jobs-d.txt"),
    (ClusterOutput::Jobs, "scontrol.jobs.txt"),
    (ClusterOutput::JobsJson, "squeue.json"),
    (ClusterOutput::JobsJson, "scontrol.jobs.json"),
    (ClusterOutput::Reservations, "scontrol.reservations.txt"),
    (ClusterOutput::Licences, "scontrol.licenses.txt"),
    (ClusterOutput::Limits, "scontrol.assoc.txt"),
    (ClusterOutput::Qos, "sacctmgr.qos.txt"),
    (ClusterOutput::Past, "sacct.history.txt"),
];

/// Returns the name under which a part of the queue should be saved.
pub(super) fn file(part: ClusterOutput) -> &'static str {
    FILES.iter().find(|file| file.0 == part).map_or("", |file| file.1)
}

/// Returns the text of a file, if the file or its compressed form exists.
pub(super) fn saved(folder: &Path, name: &str) -> Result<Option<(PathBuf, String)>, SavedError> {
    for (path, compressed) in [(folder.join(name), false), (folder.join(format!("{name}.gz")), true)] {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => continue,
            Err(problem) => return Err(SavedError::Read { path, problem }),
        };
        let mut bytes = Vec::new();
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        let read = if compressed && !is_empty {
            MultiGzDecoder::new(file).take(MAX_BYTES + 1).read_to_end(&mut bytes)
        } else {
            file.take(MAX_BYTES + 1).read_to_end(&mut bytes)
        };
        let is_json = Path::new(name).extension().is_some_and(|extension| extension == "json");
        if let Err(problem) = read {
            use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
            if compressed && matches!(problem.kind(), InvalidData | InvalidInput | UnexpectedEof) {
                return Err(SavedError::Damaged { path, problem: problem.to_string(), help: String::new() });
            }
            return Err(SavedError::Read { path, problem });
        }
        if bytes.len() as u64 > MAX_BYTES {
            return Err(SavedError::Nonsense { path, problem: "the file is larger than 1 GiB".into() });
        }
        // If a command failed, its file is empty.
        if bytes.iter().all(u8::is_ascii_whitespace) && is_json {
            continue;
        }
        // The file begins as a JSON document. If the end of the document is missing, the file was cut off.
        let end = bytes.trim_ascii();
        if is_json && end.first() == Some(&b'{') && end.last() != Some(&b'}') {
            let problem = "the JSON document is incomplete".to_owned();
            return Err(SavedError::Damaged { path, problem, help: String::new() });
        }
        // A name may have any encoding, but a text never contains a zero byte.
        if bytes.contains(&0) {
            return Err(SavedError::Nonsense { path, problem: "the file is not text".into() });
        }
        return Ok(Some((path, String::from_utf8_lossy(&bytes).into_owned())));
    }
    Ok(None)
}
