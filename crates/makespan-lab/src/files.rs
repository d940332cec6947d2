//! Whole files, written so that a reader never sees half of one.

use std::io::Write;
use std::path::Path;

use crate::LabError;

/// Writes to a temporary file in the same folder, then renames it.
pub(crate) fn write_whole(path: &Path, contents: &[u8]) -> Result<(), LabError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".makespan-").tempfile_in(folder).map_err(LabError::file(path))?;
    file.write_all(contents).map_err(LabError::file(path))?;
    file.as_file().sync_all().map_err(LabError::file(path))?;
    file.persist(path).map_err(|error| LabError::file(path)(error.error))?;
    Ok(())
}
