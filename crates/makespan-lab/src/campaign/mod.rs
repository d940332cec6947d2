//! The framework of campaigns. It generates a random instance for each key, executes runs on several threads, keeps a
//! journal of finished runs, checks plans and bounds, decides claims, and writes tables and figures.

mod check;
mod claim;
mod experiment;
mod finish;
mod grid;
mod instances;
mod journal;
mod named;
mod output;
mod plan;
mod play;
mod refusal;
mod search;
mod shard;

pub use experiment::{AnyCampaign, CampaignSize, Progress, Summary};
pub use named::NamedCampaign;

pub(crate) use check::{at_least, failed, valid, verified};
pub(crate) use claim::{Claim, ClaimAnswer, Verdict};
#[cfg(test)]
pub(crate) use experiment::Silent;
pub(crate) use experiment::{Campaign, CampaignReport};
pub(crate) use grid::{AnyRun, GridCell, GridRow, GridRun, cells, find, rows};
pub(crate) use instances::{InstanceKey, Instances, stirred};
pub(crate) use output::{
    File, aligned, cores, distribution, figure, in_memory, markdown_table, plot, record, series, shown, table,
    text_table, texts, write,
};
pub(crate) use plan::{MeasuredPlan, is_infeasible, plans, scheduled, uses_up_too_much};
pub(crate) use play::parsed;
#[cfg(test)]
pub(crate) use play::reproduce;
pub(crate) use refusal::{positive, refuse};
#[cfg(test)]
pub(crate) use search::SearchLimits;
pub(crate) use search::{SearchLimit, SearchOptions, SearchSetting};

use claim::{claims_markdown, claims_text};
use finish::finish;
use output::write_result;

#[cfg(test)]
pub(crate) mod tests;
