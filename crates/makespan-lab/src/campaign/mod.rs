//! What every campaign is, and how all are played: instances drawn by key, runs on several threads with a journal of what is
//! finished, checks of plans and bounds, claims with verdicts, and the writing of tables and figures.

mod check;
mod claim;
mod experiment;
mod finish;
mod instances;
mod journal;
mod named;
mod output;
mod play;
mod progress;
mod search;
mod shard;

pub(crate) use claim::Answer;
pub use claim::{Claim, Verdict};
pub use experiment::{AnyCampaign, Campaign, Report, Size, Summary};
pub use instances::{Instances, Key};
pub use named::Named;
pub use play::reproduce;
pub use progress::{Progress, Silent};
pub use search::{Limit, Limits, Search, Setting};

pub(crate) use check::{at_least, failed, valid, verified};
pub(crate) use instances::stirred;
pub(crate) use output::{File, cores, figure, histogram, in_memory, table, text_table};
pub(crate) use play::{positive, refuse};

use claim::{claims_markdown, claims_text};
use finish::finish;
use output::{write, write_result};

#[cfg(test)]
pub(crate) mod tests;
