//! Files of attempts on a host that does not share the folder of the run.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::hosts::frame::FilePart;
use crate::hosts::paths::make_private;
use crate::order::{AttemptOrder, attempt_id};
use crate::shim::check_name;

/// Names of the folders in the folder of the agent: a folder of the run, and the input and output files of attempts.
const FOLDERS: [&str; 2] = ["run", "files"];

/// The files of attempts in the folder of the agent.
#[derive(Debug)]
pub(super) struct OwnFiles {
    run: PathBuf,
    files: PathBuf,
}

impl OwnFiles {
    /// Creates the folders.
    pub fn make(folder: &Path) -> Result<Self, String> {
        let [run, files] = FOLDERS.map(|name| folder.join(name));
        make_private(&run.join("status"))?;
        make_private(&files)?;
        Ok(Self { run, files })
    }

    /// Removes the folders.
    pub fn remove_all(folder: &Path) {
        FOLDERS.iter().for_each(|name| drop(fs::remove_dir_all(folder.join(name))));
    }

    /// Returns the folder that stands for the folder of the run on this host.
    pub fn run(&self) -> &Path {
        &self.run
    }

    fn of(&self, id: &str) -> Option<PathBuf> {
        check_name(id).is_ok().then(|| self.files.join(id))
    }

    /// Appends a part of an input file. If this fails, the file is missing when the attempt starts.
    pub fn receive(&self, part: &FilePart) {
        let Some(folder) = self.of(&part.id) else { return };
        let path = folder.join(format!("in.{}", part.file));
        let mut options = OpenOptions::new();
        let stored = match part.mode {
            Some(mode) => {
                let _ = fs::create_dir_all(&folder);
                let _ = fs::remove_file(&path);
                options.write(true).create_new(true).mode(mode | 0o600).open(&path)
            }
            None => options.append(true).open(&path),
        };
        if stored.and_then(|mut file| file.write_all(&part.bytes)).is_err() {
            let _ = fs::remove_file(&path);
        }
    }

    /// Gives the input files of an attempt their names, and lets the attempt use them.
    ///
    /// # Errors
    /// A file is missing.
    pub fn place(&self, id: &str, order: &mut AttemptOrder) -> Result<(), String> {
        let Some(staging) = &mut order.files.staging else { return Ok(()) };
        let folder = self.of(id).ok_or_else(|| format!("`{id}` is not the name of an attempt"))?;
        let home = folder.join("home");
        make_private(&home)?;
        for (at, name) in staging.reads.iter().enumerate() {
            check_name(name)?;
            let to = home.join(name);
            let made = to.parent().map_or(Ok(()), fs::create_dir_all);
            // A delayed start has already given the files their names.
            let moved =
                made.and_then(|()| if to.exists() { Ok(()) } else { fs::rename(folder.join(format!("in.{at}")), &to) });
            moved.map_err(|error| {
                format!("the input file `{name}` did not arrive on the host ({error}); free space there")
            })?;
        }
        staging.home = home.into_os_string().into_string().map_err(|_| "the home folder is not UTF-8".to_owned())?;
        Ok(())
    }

    /// Returns the files that an ended attempt has written. Output files of the workflow exist only after a success.
    pub fn written(&self, order: &AttemptOrder, succeeded: bool) -> Vec<PathBuf> {
        let [out, err] = &order.files.outputs;
        let own = [out, err, &order.files.status].map(|name| self.run.join(name));
        let staging = order.files.staging.iter().filter(|_| succeeded);
        let written = staging.flat_map(|staging| staging.writes.iter().map(|name| Path::new(&staging.home).join(name)));
        own.into_iter().chain(written).collect()
    }

    /// Removes the files of an attempt that the planner has recorded.
    pub fn forget(&self, written: &[PathBuf], id: &str) {
        written.iter().take(3).for_each(|path| drop(fs::remove_file(path)));
        self.of(id).map(fs::remove_dir_all);
    }
}

/// Returns the id of the attempt of an order.
pub(super) fn id_of(order: &AttemptOrder) -> String {
    attempt_id(&order.files.status)
}
