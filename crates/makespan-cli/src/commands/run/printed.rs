//! The file in the folder of a run that records the printed outputs.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::own::{PRINTED, own};

/// Sizes in bytes of the output files of each job (standard output, standard error). The key is the stem of the file
/// names.
pub type PrintedSizes = BTreeMap<String, [u64; 2]>;

/// The file that records printed outputs. Each line is about the output files of a job: the stem of their names, and
/// their sizes. If the user suppresses an output, the output is recorded as printed.
pub struct PrintedOutputs {
    path: PathBuf,
    file: File,
}

impl PrintedOutputs {
    /// Opens the record in the folder of a run.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = own(folder, PRINTED).map_err(|error| io::Error::other(error.to_string()))?;
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(Self { path, file })
    }

    /// Reads the record of a folder. Returns `None` if the folder has no record.
    pub fn read(folder: &Path) -> Option<PrintedSizes> {
        let text = fs::read_to_string(folder.join(PRINTED)).ok()?;
        let entry = |line: &str| {
            let mut words = line.split(' ');
            let (stem, out, err) = (words.next()?, words.next()?, words.next()?);
            Some((stem.to_owned(), [out.parse().ok()?, err.parse().ok()?]))
        };
        Some(text.lines().filter_map(entry).collect())
    }

    /// Replaces the content of the file. Outputs that `sizes` does not contain are then recorded as not printed.
    pub fn replace(&mut self, sizes: &PrintedSizes) -> io::Result<()> {
        let text: String = sizes.iter().map(|(stem, sizes)| line(stem, *sizes)).collect();
        let mut new = self.path.clone().into_os_string();
        new.push(".tmp");
        fs::write(&new, text)?;
        fs::rename(&new, &self.path)?;
        self.file = OpenOptions::new().append(true).open(&self.path)?;
        Ok(())
    }

    /// Adds an output. If the write fails, a resumed run prints the output again.
    pub fn add(&mut self, stem: &str, sizes: [u64; 2]) {
        let _ = self.file.write_all(line(stem, sizes).as_bytes());
    }
}

fn line(stem: &str, [out, err]: [u64; 2]) -> String {
    format!("{stem} {out} {err}\n")
}
