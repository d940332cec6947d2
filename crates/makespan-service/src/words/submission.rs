//! What is submitted, and what becomes of that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};

use super::JobNumber;

/// What is submitted: one job, or all those of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What is to be done.
    pub content: Content,
    /// What the job is called; of a file, what goes before the names of its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: Option<String>,
    /// Where its commands run, an absolute path; without it in the folder of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = r"^/[^\x00]*$")]
    pub directory: Option<String>,
    /// What their environment has besides that of the service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(schema_with = variables)]
    pub environment: BTreeMap<String, String>,
    /// How much the jobs matter beside others; 1 where nothing is stated. Of a file, its weights are multiplied by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.000_001, maximum = 1_000_000)]
    pub weight: Option<f64>,
    /// Each step multiplies the weight by 8; between -10 and 10. Only an admin may state more than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -10, maximum = 10)]
    pub priority: Option<i32>,
    /// When the jobs should have ended, seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_700_000_000_i64)]
    pub deadline: Option<f64>,
    /// They do not start before this instant, seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_700_000_000_i64)]
    pub begin: Option<f64>,
    /// They wait until they are released.
    #[serde(default)]
    pub hold: bool,
    /// They start when these have ended with success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 10_000)]
    pub after: Vec<JobNumber>,
}

/// Returns the schema for environment variables by name.
fn variables() -> Object {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let name = text().pattern(Some("^[A-Za-z_][A-Za-z0-9_]*$")).build();
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Variables of their environment, in addition to those of the service."))
        .property_names(Some(name))
        .additional_properties(Some(Schema::from(text().build())))
        .build()
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// One command with what it needs.
    Command {
        /// The program and its arguments. No shell is between.
        #[schema(min_items = 1)]
        argv: Vec<String>,
        /// What it needs.
        #[serde(default)]
        needs: Needs,
    },
    /// A list of commands, one a line, as `makespan run LIST` reads it. Its lines are run by `sh -c`, as they are there.
    List {
        /// The lines.
        #[schema(min_length = 1)]
        text: String,
    },
    /// An instance file of any format that has commands, as `makespan run FILE` reads it.
    Instance {
        /// The file.
        #[schema(min_length = 1)]
        text: String,
        /// What it is called, whose ending tells the format where its content does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

/// What one command needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Processors; 1 where nothing is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub processors: Option<u32>,
    /// For how long it is expected to run, in seconds; without it what earlier runs took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0, maximum = 31_622_400)]
    pub time: Option<f64>,
    /// After how long it is ended, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0, maximum = 31_622_400)]
    pub walltime: Option<f64>,
    /// Other resources by name, in all: `memory` in bytes, `gpus`, licences.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
}

/// What a submission became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The jobs, in the order of the file.
    pub jobs: Vec<JobNumber>,
    /// When.
    pub submitted: f64,
    /// What of a file was left out, or taken otherwise than it may have been meant.
    #[serde(default)]
    pub remarks: Vec<String>,
}
