//! Parses the output of `scontrol -o show`: one record per line, with fields `KEY=value`. Values are not quoted, and
//! some values are free text. So part of a value may look like a field. In this case, the record is marked as
//! doubtful.

use std::borrow::Cow;

/// The kind of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The output of `scontrol -o show nodes`.
    Node,
    /// The output of `scontrol -o show partitions`.
    Partition,
    /// The output of `scontrol -o show jobs`, with or without `-d`.
    Job,
    /// The output of `scontrol -o show reservations`.
    Reservation,
    /// The output of `scontrol -o show licenses`.
    License,
}

impl Kind {
    /// Returns the first key of each record.
    pub const fn head(self) -> &'static str {
        match self {
            Self::Node => "NodeName",
            Self::Partition => "PartitionName",
            Self::Job => "JobId",
            Self::Reservation => "ReservationName",
            Self::License => "LicenseName",
        }
    }

    /// Returns a key that every record contains. In output without `-o`, the key is not in the first line of a record.
    const fn below_head(self) -> &'static str {
        match self {
            Self::Job => " JobState=",
            Self::License => " Total=",
            Self::Node | Self::Partition | Self::Reservation => " State=",
        }
    }

    /// Returns the keys of the free texts in the middle of a record. Their values may contain spaces.
    const fn free_text(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["OS"],
            Self::Job => &["JobName", "Features"],
            _ => &[],
        }
    }

    /// Returns the keys of the free texts at the end of a record. The end begins at the first of these keys.
    const fn texts(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["Reason", "Comment", "Extra"],
            Self::Job => &["Command", "SubmitLine", "WorkDir", "Comment", "AdminComment", "SystemComment", "Extra"],
            _ => &[],
        }
    }

    /// Returns the keys that may follow a free text at the end of a record. A field with any other key is part of the
    /// text.
    const fn tail(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["ReservationName", "InstanceId", "InstanceType"],
            Self::Job => &TAIL,
            _ => &[],
        }
    }

    /// Returns true if a record contains the key once for each group of nodes.
    fn is_repeated(self, key: &str) -> bool {
        self == Self::Job && matches!(key, "Nodes" | "CPU_IDs" | "Mem" | "GRES")
    }

    /// Returns true if a field with this key may follow the name of a job. If not, the field is part of the name.
    fn may_follow_name(key: &str) -> bool {
        matches!(key, "UserId" | "HetJobIdSet" | "SLUID")
    }

    /// Returns true if a field with this key ends a free text. The keys occur in versions 22.05 to 26.05.
    fn knows(self, key: &str) -> bool {
        let keys: &[&str] = match self {
            Self::Node => &NODE_KEYS,
            Self::Job => &JOB_KEYS,
            _ => &[],
        };
        keys.contains(&key) || self.texts().contains(&key) || self.tail().contains(&key)
    }
}

const NODE_KEYS: [&str; 23] = [
    "RealMemory",
    "AllocMem",
    "FreeMem",
    "Sockets",
    "Boards",
    "MemSpecLimit",
    "CoreSpecCount",
    "CPUSpecList",
    "State",
    "ThreadsPerCore",
    "TmpDisk",
    "Weight",
    "Owner",
    "MCS_label",
    "NextState",
    "Partitions",
    "BootTime",
    "SlurmdStartTime",
    "LastBusyTime",
    "ResumeAfterTime",
    "CfgTRES",
    "AllocTRES",
    "CurrentWatts",
];

const JOB_KEYS: [&str; 26] = [
    "UserId",
    "GroupId",
    "MCS_label",
    "Priority",
    "Nice",
    "Account",
    "QOS",
    "JobState",
    "HetJobIdSet",
    "SLUID",
    "StartTime",
    "EndTime",
    "RunTime",
    "TimeLimit",
    "Partition",
    "NodeList",
    "NumNodes",
    "NumCPUs",
    "Dependency",
    "ExitCode",
    "DelayBoot",
    "Reservation",
    "OverSubscribe",
    "Contiguous",
    "Licenses",
    "SubmitTime",
];

const TAIL: [&str; 21] = [
    "StdErr",
    "StdIn",
    "StdOut",
    "BatchFeatures",
    "Container",
    "ContainerID",
    "BurstBuffer",
    "BurstBufferState",
    "Power",
    "TresPerJob",
    "TresPerNode",
    "TresPerSocket",
    "TresPerTask",
    "CpusPerTres",
    "MemPerTres",
    "TresBind",
    "TresFreq",
    "MailUser",
    "MailType",
    "NtasksPerTRES",
    "StepMgrEnabled",
];

/// The fields of one record. All fields are in their original order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    fields: Vec<(String, String)>,
    /// Number of fields before the free text at the end.
    before_tail: usize,
    doubtful: bool,
    /// True if the record has fields of two records.
    of_two: bool,
}

impl Record {
    /// Creates a record that is not doubtful.
    pub fn of(fields: Vec<(String, String)>) -> Self {
        Self { before_tail: fields.len(), fields, ..Self::default() }
    }

    /// Returns the unchanged keys and values.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Returns true if the fields may be wrong: part of a value may have been parsed as a field, or a field as part of
    /// a value.
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Returns true if the record has fields of two records. In this case, this record and all earlier records may be
    /// part of a job's name.
    pub fn is_of_two(&self) -> bool {
        self.of_two
    }

    /// Returns the unchanged value of a key. If the key occurs twice before the free text at the end, returns the last
    /// value, because the first value may be part of the job name.
    pub fn raw(&self, key: &str) -> Option<&str> {
        let (head, tail) = self.fields.split_at(self.before_tail);
        let found = head.iter().rfind(|field| field.0 == key).or_else(|| tail.iter().find(|field| field.0 == key));
        found.map(|field| field.1.as_str())
    }

    /// Returns the value of a key, or `None` if the value means "none".
    pub fn get(&self, key: &str) -> Option<&str> {
        self.raw(key).and_then(super::present)
    }

    /// Parses one line.
    fn parse(kind: Kind, line: &str) -> Self {
        let mut record = Self::default();
        let mut in_tail = false;
        let mut start: Option<(usize, &str)> = None;
        for (at, key) in candidates(line) {
            let inside = start.map_or("", |(_, key)| key);
            let free = kind.free_text().contains(&inside);
            let begins = match in_tail {
                true => kind.texts().contains(&key) || kind.tail().contains(&key),
                false if free => kind.knows(key),
                false => key.starts_with(|first: char| first.is_ascii_uppercase()) || inside.is_empty(),
            };
            if !begins {
                continue;
            }
            if let Some((from, key)) = start {
                record.push(key, &line[from..at]);
            }
            if !in_tail && kind.texts().contains(&key) {
                in_tail = true;
                record.before_tail = record.fields.len();
            }
            record.doubtful |= inside == "JobName" && !Kind::may_follow_name(key);
            start = Some((at + key.len() + 1, key));
        }
        if let Some((from, key)) = start {
            record.push(key, &line[from..]);
        }
        if !in_tail {
            record.before_tail = record.fields.len();
        }
        record.of_two = record.has_twice(kind) || record.swallows(kind);
        record.doubtful |= record.of_two;
        record
    }

    /// Returns true if a free text at the end contains the fields that normally follow a job's name. This happens if
    /// the name contains a line break and a text that looks like a record. In this case, the last field of that text
    /// includes the real fields after the name.
    fn swallows(&self, kind: Kind) -> bool {
        let tail = self.fields[self.before_tail..].iter();
        kind == Kind::Job
            && tail.map(|field| &field.1).any(|text| text.contains(" GroupId=") && text.contains(" JobState="))
    }

    /// Returns true if a field that every job has is missing at the end of the record, for example because the job's
    /// name contains a line break.
    fn is_broken(&self, kind: Kind) -> bool {
        kind == Kind::Job && self.raw("JobState").is_none()
    }

    fn push(&mut self, key: &str, value: &str) {
        // Remove spaces between two fields. Spaces at the end of a free text cannot be distinguished from these
        // spaces.
        self.fields.push((key.to_owned(), value.trim_end_matches(' ').to_owned()));
    }

    fn has_twice(&self, kind: Kind) -> bool {
        let mut keys: Vec<&str> =
            self.fields.iter().map(|field| field.0.as_str()).filter(|key| !kind.is_repeated(key)).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Returns the positions in a line at which fields may begin: after a space, a key and `=`.
fn candidates(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let of_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b':' | b'.' | b'-');
    let bytes = line.as_bytes();
    let starts =
        (0..bytes.len()).filter(move |&at| bytes[at].is_ascii_alphabetic() && (at == 0 || bytes[at - 1] == b' '));
    starts.filter_map(move |at| {
        let length = bytes[at..].iter().take_while(|byte| of_key(byte)).count();
        (bytes.get(at + length) == Some(&b'=')).then(|| (at, &line[at..at + length]))
    })
}

/// Indentation of the second and later lines of a record, in the output of `scontrol` without `-o`.
const INDENT: &str = "   ";

/// Returns the nonblank lines of a text. Appends an indented line to the first line of its record, unless the first
/// line already contains the whole record.
fn lines(kind: Kind, text: &str) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.trim().is_empty()) {
        match lines.last_mut() {
            Some(record) if is_open && line.starts_with(INDENT) => {
                let record = record.to_mut();
                record.push(' ');
                record.push_str(line.trim());
            }
            _ => {
                is_open = begins(kind, line) && !line.contains(kind.below_head());
                lines.push(Cow::Borrowed(line));
            }
        }
    }
    lines
}

/// Returns true if a line begins a record.
fn begins(kind: Kind, line: &str) -> bool {
    line.split_once('=').is_some_and(|(key, _)| key == kind.head())
}

/// Parses the output of `scontrol`: with `-o`, one line for each record, or without, several lines. Returns the
/// records, and the lines that belong to no record. If a line neither begins nor continues a record, marks the
/// previous record as doubtful, because a name in it may contain a line break.
pub fn records(kind: Kind, text: &str) -> (Vec<Record>, Vec<String>) {
    let (mut records, mut strange) = (Vec::<Record>::new(), Vec::new());
    for line in &lines(kind, text) {
        let begins = begins(kind, line);
        match records.last_mut() {
            last if begins => {
                let mut record = Record::parse(kind, line);
                if let Some(last) = last {
                    last.doubtful |= record.of_two;
                    record.doubtful |= last.is_broken(kind);
                }
                records.push(record);
            }
            Some(last) => {
                last.doubtful = true;
                strange.push(line.to_string());
            }
            None => strange.push(line.to_string()),
        }
    }
    (records, strange)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: &str) -> Record {
        let (mut records, strange) = records(Kind::Job, line);
        assert!(strange.is_empty() && records.len() == 1, "{line}");
        records.remove(0)
    }

    /// Checks that the outputs of `scontrol` with and without `-o` give equal fields.
    #[test]
    fn records_of_several_lines_are_read() {
        for (kind, text, count, strange) in [
            (
                Kind::Node,
                "NodeName=a Arch=x86_64 \n   CPUTot=4\n   OS=Linux 6 #1 SMP \n   RealMemory=7\n   State=IDLE\n   \nNodeName=b \n   CPUTot=2\n",
                2,
                0,
            ),
            (
                Kind::Job,
                "JobId=7 JobName=a b\r\n   UserId=u(1) GroupId=u(1)\r\n   JobState=RUNNING\r\n     Nodes=n1 CPU_IDs=0\r\n   Command=x y\r\n",
                1,
                0,
            ),
            (Kind::Reservation, "ReservationName=r StartTime=1\n   Nodes=c[1-4] Flags=MAINT\n   State=ACTIVE\n", 1, 0),
            (Kind::License, "LicenseName=l\n    Total=3 Used=1\nLicenseName=m Total=1\n", 2, 0),
            (Kind::Partition, "PartitionName=p State=UP\n   Nodes=x\n", 1, 1),
            (Kind::Node, "   CPUTot=4\nNodeName=a\n CPUTot=4\n", 1, 2),
        ] {
            let (found, rest) = records(kind, text);
            assert_eq!((found.len(), rest.len()), (count, strange), "{text}");
            let fields = |records: &[Record]| records.iter().map(|record| record.fields().to_vec()).collect::<Vec<_>>();
            if strange == 0 {
                let one = text
                    .replace('\r', "")
                    .replace(" \n", "\n")
                    .replace("\n     ", " ")
                    .replace("\n    ", " ")
                    .replace("\n   ", " ");
                assert_eq!(fields(&found), fields(&records(kind, &one).0), "{text}");
                assert!(!found.iter().any(Record::is_doubtful), "{text}");
            }
        }
        let forged =
            "JobId=7 JobName=x\n   UserId=root(0) JobState=RUNNING UserId=u(1) GroupId=u(1) JobState=PENDING\n";
        assert!(records(Kind::Job, forged).0[0].is_doubtful());
    }

    #[test]
    fn nothing_is_left_out() {
        let line = "JobId=7 JobName=a b UserId=u(1) CPUs/Task=2 ReqB:S:C:T=0:0:*:* JobState=RUNNING New=x NodeList= Command=sleep 5";
        let record = job(line);
        let again: Vec<String> = record.fields().iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(again.join(" "), line);
        assert!(!record.is_doubtful());
        assert_eq!(
            (record.get("JobName"), record.get("NodeList"), record.raw("NodeList")),
            (Some("a b"), None, Some(""))
        );
        assert_eq!((record.get("New"), record.get("Command")), (Some("x"), Some("sleep 5")));
    }

    #[test]
    fn a_name_that_looks_like_fields_makes_the_record_doubtful() {
        let record = job("JobId=7 JobName=x JobState=COMPLETED UserId=u(1) JobState=RUNNING Command=c");
        assert!(record.is_doubtful());
        assert_eq!(record.get("JobState"), Some("RUNNING"));
        assert!(job("JobId=7 JobName=x Reservation=r UserId=u(1) JobState=RUNNING").is_doubtful());
        let record = job("JobId=7 JobName=x a=b UserId=u(1) JobState=RUNNING");
        assert_eq!((record.get("JobName"), record.is_doubtful()), (Some("x a=b"), false));
    }

    #[test]
    fn texts_at_the_end_hold_whatever_they_hold() {
        let record =
            job("JobId=7 JobName=x UserId=u(1) JobState=RUNNING SubmitLine=sbatch JobState=FAILED WorkDir=/a b");
        assert_eq!((record.get("JobState"), record.get("WorkDir")), (Some("RUNNING"), Some("/a b")));
        assert_eq!(record.get("SubmitLine"), Some("sbatch JobState=FAILED"));
        assert!(!record.is_doubtful());
    }

    #[test]
    fn a_line_break_in_a_name_is_noticed() {
        let (records, strange) = records(Kind::Job, "JobId=7 JobName=x\ny UserId=u(1) JobState=RUNNING\n\n");
        assert_eq!((records.len(), records[0].is_doubtful()), (1, true));
        assert_eq!(strange, ["y UserId=u(1) JobState=RUNNING"]);
    }

    #[test]
    fn the_groups_of_a_job_stay_in_order() {
        let record = job(
            "JobId=7 JobName=x UserId=u(1) JOB_GRES=(null)   Nodes=a CPU_IDs=0-1 Mem=5 GRES= Nodes=b CPU_IDs=3 Mem=5 GRES=",
        );
        let nodes: Vec<&str> =
            record.fields().iter().filter(|field| field.0 == "Nodes").map(|field| field.1.as_str()).collect();
        assert_eq!((nodes, record.is_doubtful()), (vec!["a", "b"], false));
    }
}
