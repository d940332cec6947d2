//! Parts of the output of tasks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::super::Keeper;
use crate::prepare::refusal;
use crate::store::round_folder;
use crate::words::{JobNumber, LogPart, Refusal, RefusalKind, State, Stream, Who};

/// Maximum size of a part of the output of a task, in bytes.
const MAX_BYTES: usize = 1 << 20;

impl Keeper {
    /// Returns a part of the output of a task: up to `most` bytes, starting at byte `from`.
    pub(super) fn output(
        &self,
        who: &Who,
        job: JobNumber,
        task: u64,
        stream: Stream,
        from: u64,
        most: usize,
    ) -> Result<LogPart, Refusal> {
        let row = self.row(who, job)?;
        if task >= row.summary.tasks {
            let message = format!("job {job} has {} tasks, numbered from 0", row.summary.tasks);
            return Err(refusal(RefusalKind::Unknown, "", message, ""));
        }
        let kept = self.read(|reader| reader.tasks(job, Some(task), 1))?.into_iter().next();
        let Some(kept) = kept else {
            return Ok(LogPart { bytes: Vec::new(), size: 0, ended: row.summary.state.is_final() });
        };
        let ended = kept.state.is_final();
        let round = self.read(|reader| reader.round_of(job))?.unwrap_or(1);
        let ending = match stream {
            Stream::Out => "out",
            Stream::Err => "err",
        };
        let Some(name) = kept.output.filter(|name| !name.contains('/')) else {
            return Ok(LogPart { bytes: Vec::new(), size: 0, ended });
        };
        let path = round_folder(&self.folder, round).join(format!("{name}.{ending}"));
        let part = part_of(&path, from, most.min(MAX_BYTES))
            .map_err(|error| refusal(RefusalKind::Unknown, "", format!("the output cannot be read: {error}"), ""))?;
        match part {
            Some((bytes, size)) => Ok(LogPart { bytes, size, ended }),
            // The file of a task that has just started, or that never started, need not exist.
            None if kept.state != State::Succeeded => Ok(LogPart { bytes: Vec::new(), size: 0, ended }),
            None => {
                let message = format!("the output of job {job} is missing: its file was deleted after the job ended");
                Err(refusal(RefusalKind::Unknown, "", message, "look for the output in a backup of the service"))
            }
        }
    }
}

/// Reads up to `most` bytes of a file, starting at byte `from`. Returns the bytes and the size of the whole file, or
/// `None` if the file does not exist.
fn part_of(path: &Path, from: u64, most: usize) -> std::io::Result<Option<(Vec<u8>, u64)>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.min(size)))?;
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(Some((bytes, size)))
}
