//! `makespan service backup` and `makespan service restore`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use makespan_core::counted;
use makespan_service::backup;
use miette::{Result, miette};

use super::{instant, known_store};
use crate::output::{emit, shown};
use crate::summary::bytes;

pub fn back_up(store: Option<&PathBuf>, target: &Path) -> Result<ExitCode> {
    let made = backup::back_up(&known_store(store)?, target).map_err(|error| miette!("{error}"))?;
    emit(&format!(
        "{} ({} not ended), {}, {} in {}\n",
        counted(made.jobs, "job"),
        made.unfinished,
        counted(made.outputs, "output file"),
        bytes(made.bytes),
        shown(&made.folder.display().to_string())
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub fn restore(backup: &Path, target: &Path) -> Result<ExitCode> {
    let restored = backup::restore(backup, target).map_err(|error| miette!("{error}"))?;
    let folder = restored.folder.display().to_string();
    let again =
        restored.again().map_or_else(String::new, |jobs| format!("{jobs} had not ended, and will start again\n"));
    let tokens = match restored.tokens {
        0 => String::new(),
        count => format!(
            "{} valid, including any that were removed after the backup; `makespan token list` prints them\n",
            if count == 1 { "1 token is".to_owned() } else { format!("{count} tokens are") }
        ),
    };
    emit(&format!(
        "{} restored from {}\n{tokens}{again}next: makespan serve --store {}\n",
        counted(restored.jobs, "job"),
        instant(restored.made),
        shown(&folder)
    ))?;
    Ok(ExitCode::SUCCESS)
}
