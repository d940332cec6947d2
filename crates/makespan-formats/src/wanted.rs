//! The kinds of files that a caller reads, for advice in error messages.

use crate::format::Format;
use crate::format::head::WANTED;

/// Kinds of files with logs of jobs that ran.
pub(crate) const LOGS: &str = "a dump of sacct, an SWF log or a workload of Batsim";

/// Kinds of files with instances, except lists of commands and makefiles.
const INSTANCES: &str = "an instance in JSON or TOML, a workflow, a project, an SWF log or an ETC matrix";

/// Rule that decides whether a text is read as a list of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lists {
    /// A text is read as a list if nothing indicates another format.
    #[default]
    Detected,
    /// The user states that the file is a list.
    Stated,
    /// The caller does not read lists.
    Refused,
    /// The caller reads only logs of jobs that ran.
    OnlyLogs,
}

impl Lists {
    /// Returns the advice at the end of an error message about a file without content.
    pub(crate) fn wanted(self) -> String {
        match self {
            Self::Detected | Self::Stated => WANTED.to_owned(),
            Self::Refused => format!("use {INSTANCES}"),
            Self::OnlyLogs => format!("use {LOGS}"),
        }
    }

    /// Returns the names of the kinds of files that the caller reads, separated by commas.
    pub(crate) fn readable(self) -> String {
        match self {
            Self::Detected | Self::Stated => Format::readable(),
            Self::Refused => Format::titles(|format| format != Format::List),
            Self::OnlyLogs => LOGS.to_owned(),
        }
    }
}
