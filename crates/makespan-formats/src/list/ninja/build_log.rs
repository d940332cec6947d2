//! The log of finished commands of ninja, `.ninja_log`: its versions, hashes and lines.

use murmur2::murmur64a;
use rapidhash::v1::rapidhash_v1;
use rustc_hash::FxHashMap;

/// Seed of ninja for its hash of commands.
const SEED: u64 = 0xDECA_FBAD_DECA_FBAD;

/// Hash of a line that marks the outputs of a started command as out of date.
const NO_HASH: u64 = 0;

/// Version of the log of finished commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildLogVersion(u32);

impl BuildLogVersion {
    /// Returns the version that this version of ninja writes, such as `1.11.1`. Returns `None` for ninja before 1.11.
    pub fn of_ninja(version: &str) -> Option<Self> {
        let mut parts = version.trim().split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        match (parts.next()?, parts.next()?) {
            (1, 11) => Some(Self(5)),
            (1, 12) => Some(Self(6)),
            (1, 13..) | (2.., _) => Some(Self(7)),
            _ => None,
        }
    }

    /// Returns the version with this number, if its format is supported.
    pub fn of_number(number: u32) -> Option<Self> {
        (5..=7).contains(&number).then_some(Self(number))
    }

    /// Returns the number of the version in the text of a log. Returns `None` if the text begins like no log.
    pub fn stated(text: &str) -> Option<u32> {
        text.lines().next()?.strip_prefix("# ninja log v")?.trim().parse().ok()
    }

    /// Returns the number of the version.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the first line of a log.
    pub fn header(self) -> String {
        format!("# ninja log v{}\n", self.0)
    }

    /// Returns the modification time that ninja records for a finished command. `begun` is the start of the command, and
    /// `last` is the last modification of an output. Version 5 records `last`. Later versions record `begun`, so that an input
    /// that changes while the command runs makes the outputs out of date. For `restat` and `generator` rules
    /// (`has_restat`), later versions record the maximum.
    pub fn recorded_mtime(self, begun: i64, last: i64, has_restat: bool) -> i64 {
        match self.0 {
            5 => last,
            _ if has_restat => begun.max(last),
            _ => begun,
        }
    }

    /// Returns the hash of a command and of the content of its response file.
    pub fn hash(self, command: &str, rspfile_content: &str) -> u64 {
        let mut text = command.to_owned();
        if !rspfile_content.is_empty() {
            text += ";rspfile=";
            text += rspfile_content;
        }
        if self.0 < 7 { murmur64a(text.as_bytes(), SEED) } else { rapidhash_v1(text.as_bytes()) }
    }
}

/// Entry of the log for the outputs of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildLogEntry {
    /// Start and end of the command in milliseconds since the begin of the build.
    pub times: [u64; 2],
    /// Modification time that ninja compares with the inputs, in nanoseconds since 1970.
    pub mtime: i64,
    /// Hash of the command ([`BuildLogVersion::hash`]).
    pub hash: u64,
}

impl BuildLogEntry {
    /// Entry that makes the outputs of a command out of date. A killed command may leave outputs that are incomplete but
    /// newer than their inputs.
    pub const STARTED: Self = Self { times: [0, 0], mtime: 0, hash: NO_HASH };

    /// Returns the lines of the log for these outputs.
    pub fn lines(self, outputs: &[String]) -> String {
        let Self { times: [start, end], mtime, hash } = self;
        outputs.iter().map(|output| format!("{start}\t{end}\t{mtime}\t{output}\t{hash:x}\n")).collect()
    }
}

/// The run times in a log.
#[derive(Debug, Default)]
pub struct BuildLog<'a> {
    /// For each output, the milliseconds of the last finished command.
    milliseconds: FxHashMap<&'a str, u64>,
    lines: usize,
}

impl<'a> BuildLog<'a> {
    /// Reads a log. Skips lines that ninja skips.
    pub fn read(text: &'a str) -> Self {
        let mut log = Self::default();
        for line in text.lines().skip(1) {
            let mut fields = line.split('\t');
            let mut number = || fields.next()?.parse::<u64>().ok();
            let (Some(start), Some(end), Some(_), Some(output), Some(hash)) =
                (number(), number(), number(), fields.next(), fields.next())
            else {
                continue;
            };
            log.lines += 1;
            if u64::from_str_radix(hash, 16) != Ok(NO_HASH) {
                log.milliseconds.insert(output, end.saturating_sub(start));
            }
        }
        log
    }

    /// Returns the run time of the command that made a file, in milliseconds.
    pub fn milliseconds(&self, output: &str) -> Option<u64> {
        self.milliseconds.get(output).copied()
    }

    /// Returns true if most lines are replaced by later lines.
    pub fn is_long(&self) -> bool {
        self.lines > 1000 && self.lines > 6 * self.milliseconds.len()
    }
}
