//! Finds the columns of a dump, the output of sacct.

use crate::suggest::nearest;

/// Maximum number of columns. `sacct --format=ALL` prints far fewer.
const MAX_COLUMNS: usize = 1000;

/// Positions of the columns that are used. If several columns state a value, the first column with a value is used.
#[derive(Debug, Default)]
pub(super) struct SacctColumns {
    /// Total number of columns.
    pub count: usize,
    pub job: usize,
    pub submit: usize,
    pub start: Option<usize>,
    pub end: Option<usize>,
    /// Column of the run time in seconds.
    pub elapsed_raw: Option<usize>,
    pub elapsed: Option<usize>,
    /// Column of the time limit in minutes.
    pub limit_raw: Option<usize>,
    pub limit: Option<usize>,
    pub processors: Vec<usize>,
    pub user: Option<usize>,
    pub state: Option<usize>,
    /// Columns with lists of resources: first the allocated resources, then the requested resources.
    pub lists: Vec<usize>,
    /// Column of the requested memory.
    pub memory: Option<usize>,
    /// Column of the name of the job.
    pub name: Option<usize>,
    /// Column of the peak memory of the largest task of a step.
    pub peak: Option<usize>,
    /// Column of the number of tasks of a step.
    pub tasks: Option<usize>,
    pub nodes: Vec<usize>,
    /// Column of the instant from which the job could start.
    pub eligible: Option<usize>,
    pub account: Option<usize>,
    pub partition: Option<usize>,
    pub qos: Option<usize>,
    pub reservation: Option<usize>,
    pub constraints: Option<usize>,
    pub reason: Option<usize>,
    /// Column of the names of the nodes on which the job ran.
    pub node_list: Option<usize>,
    /// Positions of the columns with values that may contain a `|`: free text, and alternative features.
    pub free: Vec<usize>,
    /// True if lines end with a `|`.
    pub is_ended: bool,
    /// Names of the columns that the reader does not use.
    pub unused: Vec<String>,
}

/// Names of the columns with values that may contain a `|`: free text, and alternative features such as `a100|h100`.
const FREE: [&str; 9] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "Extra",
    "SubmitLine",
    "WorkDir",
    "Constraints",
    "Constraint",
];

/// Columns that need no warning: used columns, columns that repeat a used column in another form, and columns that
/// describe steps.
const USED: [&str; 30] = [
    "JobID",
    "JobIDRaw",
    "Submit",
    "Start",
    "End",
    "ElapsedRaw",
    "Elapsed",
    "TimelimitRaw",
    "Timelimit",
    "AllocCPUS",
    "NCPUS",
    "ReqCPUS",
    "User",
    "UID",
    "State",
    "AllocTRES",
    "ReqTRES",
    "ReqMem",
    "AllocNodes",
    "NNodes",
    "ReqNodes",
    "Eligible",
    "Account",
    "Partition",
    "QOS",
    "Reservation",
    "Constraints",
    "Constraint",
    "Reason",
    "NodeList",
];

impl SacctColumns {
    /// Reads the header line. If a column is missing, the error names `remedy`.
    pub(super) fn read(line: &str, remedy: &str) -> Result<Self, String> {
        let missing = |what: &str| format!("{what}; save {remedy}");
        let names: Vec<&str> = line.split('|').map(str::trim).collect();
        if names.len() > MAX_COLUMNS {
            return Err(format!("there are {} columns; sacct has about 130", names.len()));
        }
        let repeated = |(at, name): &(usize, &&str)| {
            !name.is_empty() && names[..*at].iter().any(|earlier| earlier.eq_ignore_ascii_case(name))
        };
        if let Some((_, name)) = names.iter().enumerate().find(repeated) {
            return Err(format!("the column `{name}` occurs twice; remove one of the two"));
        }
        let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let needed = |wanted: &str| {
            place(wanted).ok_or_else(|| {
                let near = nearest(wanted, names.iter().copied());
                let near = near.map_or_else(String::new, |near| format!("; the nearest is `{near}`"));
                missing(&format!("no column `{wanted}`{near}"))
            })
        };
        // `--parsable` ends every line with a separator. `--parsable2` does not.
        let is_ended = names.len() > 1 && names.last() == Some(&"");
        let columns = Self {
            count: names.len() - usize::from(is_ended),
            free: FREE.into_iter().filter_map(place).collect(),
            is_ended,
            job: place("JobID").or_else(|| place("JobIDRaw")).map_or_else(|| needed("JobID"), Ok)?,
            submit: needed("Submit")?,
            start: place("Start"),
            end: place("End"),
            elapsed_raw: place("ElapsedRaw"),
            elapsed: place("Elapsed"),
            limit_raw: place("TimelimitRaw"),
            limit: place("Timelimit"),
            processors: ["AllocCPUS", "NCPUS", "ReqCPUS"].into_iter().filter_map(place).collect(),
            user: place("User").or_else(|| place("UID")),
            state: place("State"),
            lists: ["AllocTRES", "ReqTRES"].into_iter().filter_map(place).collect(),
            memory: place("ReqMem"),
            name: place("JobName"),
            peak: place("MaxRSS"),
            tasks: place("NTasks"),
            nodes: ["AllocNodes", "NNodes", "ReqNodes"].into_iter().filter_map(place).collect(),
            eligible: place("Eligible"),
            account: place("Account"),
            partition: place("Partition"),
            qos: place("QOS"),
            reservation: place("Reservation"),
            constraints: place("Constraints").or_else(|| place("Constraint")),
            reason: place("Reason"),
            node_list: place("NodeList"),
            unused: names
                .iter()
                .filter(|name| !name.is_empty() && USED.iter().all(|used| !used.eq_ignore_ascii_case(name)))
                .map(|&name| name.to_owned())
                .collect(),
        };
        if columns.processors.is_empty() {
            return Err(missing("there is no column of processors (`AllocCPUS`, `NCPUS` or `ReqCPUS`)"));
        }
        let span = columns.start.is_some() && columns.end.is_some();
        if columns.elapsed_raw.or(columns.elapsed).is_none() && !span {
            return Err(missing("there is no column of run times (`Elapsed`, `ElapsedRaw`, or `Start` and `End`)"));
        }
        Ok(columns)
    }
}
