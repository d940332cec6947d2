//! What every campaign needs: instances drawn by key, runs on several threads with a journal of what is finished, checks
//! of plans and bounds, and the writing of tables and figures.

mod build;
mod check;
mod claim;
mod finish;
mod instances;
mod journal;
mod output;
mod progress;
mod summary;

pub use claim::{Claim, Verdict};
pub use instances::{Instances, Key};
pub use progress::{Progress, Silent};
pub use summary::Summary;

pub(crate) use build::build;
pub(crate) use check::{at_least, failed, valid, verified};
pub(crate) use claim::{claims_markdown, claims_text};
pub(crate) use finish::{Finished, Work, finish};
pub(crate) use instances::stirred;
pub(crate) use journal::Record;
pub(crate) use output::{csv_table, figure, markdown_table, text_table, write};
