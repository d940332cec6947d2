//! Submissions and their receipts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};

use super::JobNumber;

/// A submission: one job, or all jobs of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The command, list or instance file to run.
    pub content: Content,
    /// The name of the job, or for a file, the prefix of the names of its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: Option<String>,
    /// The working directory of the commands, as an absolute path. By default, commands run in the working directory
    /// of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = r"^/[^\x00]*$")]
    pub directory: Option<String>,
    /// Environment variables of the commands, in addition to the environment of the service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(schema_with = variables)]
    pub environment: BTreeMap<String, String>,
    /// The weight of the jobs; 1 by default. This weight is multiplied by the weights of the jobs in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.000_001, maximum = 1_000_000)]
    pub weight: Option<f64>,
    /// The priority, from -10 to 10. Each step multiplies the weight by 8. Only an admin may state a priority above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -10, maximum = 10)]
    pub priority: Option<i32>,
    /// The deadline of the jobs, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_700_000_000_i64)]
    pub deadline: Option<f64>,
    /// The earliest start of the jobs, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_700_000_000_i64)]
    pub begin: Option<f64>,
    /// Whether the jobs are held until a user releases them.
    #[serde(default)]
    pub hold: bool,
    /// The jobs that must succeed before the submitted jobs start.
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
        .description(Some("Environment variables of the commands, in addition to the environment of the service."))
        .property_names(Some(name))
        .additional_properties(Some(Schema::from(text().build())))
        .build()
}

/// The content of a submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// One command with its needs.
    Command {
        /// The program and its arguments, which are run without a shell.
        #[schema(min_items = 1)]
        argv: Vec<String>,
        /// The resources and times of the command.
        #[serde(default)]
        needs: Needs,
    },
    /// A list of commands in the format of `makespan run LIST`, one command a line. `sh -c` runs each line.
    List {
        /// The text of the list.
        #[schema(min_length = 1)]
        text: String,
    },
    /// An instance file with commands, in any format that `makespan run FILE` reads.
    Instance {
        /// The text of the file.
        #[schema(min_length = 1)]
        text: String,
        /// The name of the file. The extension determines the format if the content does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

/// The resources and times of one command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// The number of processors; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub processors: Option<u32>,
    /// The expected run time in seconds. By default, the run time is predicted from earlier runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0, maximum = 31_622_400)]
    pub time: Option<f64>,
    /// The walltime in seconds, after which the command is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0, maximum = 31_622_400)]
    pub walltime: Option<f64>,
    /// The total amount of each other resource, by name: `memory` in bytes, `gpus`, licences.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
}

/// The response to an accepted submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The numbers of the jobs, in the order of the file.
    pub jobs: Vec<JobNumber>,
    /// The instant of submission.
    pub submitted: f64,
    /// Warnings about parts of the file that were ignored or may have a different meaning than intended.
    #[serde(default)]
    pub remarks: Vec<String>,
}
