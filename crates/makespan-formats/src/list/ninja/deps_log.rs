//! The log of dependencies that compilers report, `.ninja_deps`.
//!
//! The log consists of records. The record of a path gives the path the next number. The record of an output contains
//! the number of the output, its modification time, and the numbers of the files on which the output depends.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// Begin of a log, with the version 4.
const HEADER: [u8; 16] = *b"# ninjadeps\n\x04\0\0\0";

/// Bit in the length of a record that distinguishes outputs from paths.
const IS_OUTPUT: u32 = 1 << 31;

/// Maximum length of a record in bytes, as in ninja.
const MAX_RECORD: usize = (1 << 19) - 1;

/// The log of dependencies. A log borrows from the bytes of the file. Each command of a build reads the log, and copies
/// of all paths would be slow.
#[derive(Debug, Default)]
pub struct DepsLog<'a> {
    numbers: FxHashMap<Cow<'a, [u8]>, u32>,
    paths: Vec<Cow<'a, [u8]>>,
    /// For each output, its modification time, and the numbers of its dependencies with four bytes each.
    outputs: FxHashMap<u32, (i64, &'a [u8])>,
    /// Length of the complete records in bytes.
    complete: usize,
}

impl<'a> DepsLog<'a> {
    /// Reads a log. An incomplete record at the end, which a killed process leaves, is ignored. Returns an error if the
    /// log is of another version.
    ///
    /// # Errors
    /// The problem, as a text.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        Self::check_version(bytes)?;
        let mut log = Self::default();
        if bytes.is_empty() {
            return Ok(log);
        }
        log.complete = HEADER.len();
        while let Some(size) = number(&bytes[log.complete..]) {
            let (is_output, size) = (size & IS_OUTPUT != 0, (size & !IS_OUTPUT) as usize);
            let begin = log.complete + 4;
            let Some(record) = bytes.get(begin..begin + size).filter(|_| size <= MAX_RECORD) else { break };
            let is_valid = if is_output { log.add_output(record) } else { log.add_path(record) };
            if !is_valid {
                break;
            }
            log.complete = begin + size;
        }
        Ok(log)
    }

    /// Checks the version of a log. An empty log has every version.
    ///
    /// # Errors
    /// The problem, as a text.
    pub fn check_version(bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() || bytes.starts_with(&HEADER) {
            return Ok(());
        }
        let version = bytes.strip_prefix(&HEADER[..12]).and_then(number);
        let found = version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
        Err(format!("the log has {found}, but only version 4 is supported; run `ninja` instead"))
    }

    fn add_path(&mut self, record: &'a [u8]) -> bool {
        let number_of_path = self.paths.len() as u32;
        let Some((path, check)) = record.split_last_chunk::<4>() else { return false };
        let padding = path.iter().rev().take(3).take_while(|&&byte| byte == 0).count();
        let path = &path[..path.len() - padding];
        let is_new = !path.is_empty()
            && u32::from_le_bytes(*check) == !number_of_path
            && self.numbers.insert(path.into(), number_of_path).is_none();
        if is_new {
            self.paths.push(path.into());
        }
        is_new
    }

    fn add_output(&mut self, record: &'a [u8]) -> bool {
        let mut words = record.chunks_exact(4).filter_map(number);
        let (Some(output), Some(low), Some(high)) = (words.next(), words.next(), words.next()) else { return false };
        if !record.len().is_multiple_of(4) || words.chain([output]).any(|number| number as usize >= self.paths.len()) {
            return false;
        }
        let mtime = (u64::from(high) << 32 | u64::from(low)).cast_signed();
        self.outputs.insert(output, (mtime, &record[12..]));
        true
    }

    /// Returns the length of the complete records in bytes. The rest of the file must be removed before records are
    /// added.
    pub const fn complete(&self) -> usize {
        self.complete
    }

    /// Returns the modification time of an output when its dependencies were recorded, and the dependencies.
    pub fn inputs(&self, output: &str) -> Option<(i64, impl Iterator<Item = &[u8]>)> {
        let (mtime, inputs) = self.outputs.get(self.numbers.get(output.as_bytes())?)?;
        let paths = inputs.chunks_exact(4).filter_map(number).map(|input| &*self.paths[input as usize]);
        Some((*mtime, paths))
    }

    /// Returns the bytes that record the dependencies of an output. `mtime` is in nanoseconds since 1970.
    ///
    /// # Errors
    /// The problem, as a text, if the record would be too long.
    pub fn record(&mut self, output: &str, mtime: i64, inputs: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        let mut bytes = if self.complete == 0 { HEADER.to_vec() } else { Vec::new() };
        let mut words = vec![self.number_of(output.as_bytes(), &mut bytes)?];
        let mtime = mtime.cast_unsigned();
        words.extend([mtime as u32, (mtime >> 32) as u32]);
        for input in inputs {
            words.push(self.number_of(input, &mut bytes)?);
        }
        let size = checked(4 * words.len(), output.as_bytes())?;
        bytes.extend((size | IS_OUTPUT).to_le_bytes());
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        self.complete += bytes.len();
        Ok(bytes)
    }

    /// Returns the number of a path. Adds a record to `bytes` if the path has no number.
    fn number_of(&mut self, path: &[u8], bytes: &mut Vec<u8>) -> Result<u32, String> {
        if let Some(number) = self.numbers.get(path) {
            return Ok(*number);
        }
        let padding = (4 - path.len() % 4) % 4;
        let (size, number) = (checked(path.len() + padding + 4, path)?, self.paths.len() as u32);
        bytes.extend(size.to_le_bytes());
        bytes.extend(path);
        bytes.extend(&[0; 3][..padding]);
        bytes.extend((!number).to_le_bytes());
        self.numbers.insert(path.to_vec().into(), number);
        self.paths.push(path.to_vec().into());
        Ok(number)
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn checked(size: usize, path: &[u8]) -> Result<u32, String> {
    let shown = String::from_utf8_lossy(path);
    if size > MAX_RECORD {
        return Err(format!("{shown}: the record of the dependencies would be longer than {MAX_RECORD} bytes"));
    }
    Ok(size as u32)
}
