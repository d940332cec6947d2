//! Writes output files completely or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::FormatError;

/// Writes a file atomically. `content` writes to a temporary file in the same folder. When the complete content is on
/// disk, the temporary file replaces `path`. After an error, `path` is unchanged. A target that is not a regular file,
/// such as `/dev/stdout`, is written directly.
///
/// # Errors
/// [`FormatError::Io`] for errors of the operating system, such as a missing folder or a full disk, and for errors of
/// `content`.
pub fn write_atomic(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FormatError> {
    let failed = |source: io::Error| FormatError::io(&path.display().to_string(), "write", source);
    // A symbolic link remains a link. The file to which the link points is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(metadata) if !metadata.is_file() => directly(&target, content).map_err(failed),
        _ => replace(&target, content).map_err(failed),
    }
}

fn directly(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    content(&mut writer)?;
    writer.flush()
}

fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    if !folder.is_dir() {
        let problem = format!("the folder `{}` does not exist", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    let temporary = builder().tempfile_in(&folder)?;
    let mut writer = BufWriter::with_capacity(1 << 16, temporary);
    content(&mut writer)?;
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns a builder of temporary files. On Unix, temporary files have the permissions of ordinary new files. On other
/// systems, only the user can read temporary files.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".makespan-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        write_atomic(&path, |writer| writer.write_all(b"old")).unwrap();
        let error = write_atomic(&path, |writer| {
            writer.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(error.unwrap_err().to_string().contains("out.json: cannot write"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomic(&path, |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(entries(folder.path()), ["out.json"]);
    }

    #[test]
    fn places_that_cannot_be_written_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing").join("out.json");
        let error = write_atomic(&missing, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("missing` does not exist"), "{error}");
        assert!(write_atomic(folder.path(), |_| Ok(())).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        let error = write_atomic(full, |writer| writer.write_all(b"x")).unwrap_err().to_string();
        assert!(error.contains("No space left"), "{error}");
        assert!(!fs::metadata(full).unwrap().is_file());
    }
}
