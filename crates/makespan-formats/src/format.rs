//! The formats of instance files.

use std::fmt;

/// The formats of instance files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Native, JSON.
    Json,
    /// Native, TOML.
    Toml,
    /// A log in the Standard Workload Format.
    Swf,
    /// A published set of moldable jobs.
    MoldableSet,
    /// A matrix of times on machines.
    Etc,
    /// A workload of Batsim.
    Batsim,
    /// What `sacct --parsable2` of Slurm prints.
    Sacct,
    /// A workflow in `WfFormat`, the JSON of `WfCommons`.
    WfFormat,
    /// A DAX of Pegasus.
    Dax,
    /// A graph of the Standard Task Graph Set.
    Stg,
    /// A graph in DOT.
    Dot,
    /// Compound jobs in XML.
    CompoundXml,
    /// A project of PSPLIB as `ProGen` writes it, of one or several modes.
    ProGen,
    /// A project in the form of Patterson.
    Patterson,
    /// A list of shell commands.
    List,
}

impl Format {
    /// Whether it holds graphs of tasks without machines.
    pub const fn is_workflow(self) -> bool {
        matches!(self, Self::WfFormat | Self::Dax | Self::Stg | Self::Dot | Self::CompoundXml)
    }

    /// Whether it holds a project, with the resources that its activities share.
    pub const fn is_project(self) -> bool {
        matches!(self, Self::ProGen | Self::Patterson)
    }

    /// Whether it holds the jobs that a machine ran, so that they are replayed, and can be made moldable.
    pub const fn is_log(self) -> bool {
        matches!(self, Self::Swf | Self::Batsim | Self::Sacct)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "native JSON",
            Self::Toml => "native TOML",
            Self::Swf => "SWF",
            Self::MoldableSet => "moldable set",
            Self::Etc => "ETC matrix",
            Self::Batsim => "a Batsim workload",
            Self::Sacct => "a dump of sacct",
            Self::WfFormat => "WfFormat",
            Self::Dax => "a DAX",
            Self::Stg => "a standard task graph",
            Self::Dot => "DOT",
            Self::CompoundXml => "XML of compound jobs",
            Self::ProGen => "a project of PSPLIB",
            Self::Patterson => "a project in Patterson's form",
            Self::List => "a list of commands",
        })
    }
}
