//! Failures of processors: a CSV table with the columns `processors` or `node`, `down`, `up` and `expected_up`.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::{Position, ReaderBuilder, StringRecord, Trim};
use makespan_core::{Failure, Platform, ProcSet, Time};

use crate::error::{FilePlace, FormatError};
use crate::input::open;
use crate::suggest::nearest;

const COLUMNS: [&str; 5] = ["processors", "node", "down", "up", "expected_up"];
/// Maximum size of the table after decompression, in bytes.
const LIMIT: u64 = 1 << 30;

/// Reads the failures of a platform from a file. The file may be compressed.
///
/// # Errors
/// [`FormatError`] with the line and the column of the error.
pub fn read_failures(path: &Path, platform: &Platform) -> Result<Vec<Failure>, FormatError> {
    let name = path.display().to_string();
    let raw = File::open(path).map_err(|error| FormatError::io(&name, "open it", error))?;
    let mut bytes = Vec::new();
    let read = open(raw, LIMIT).and_then(|mut input| input.read_to_end(&mut bytes));
    read.map_err(|error| FormatError::io(&name, "read it", error))?;
    parse_failures(&name, &bytes, platform)
}

/// Reads the failures of a platform from a decompressed table. `file` is the file name for errors.
///
/// ```
/// # use makespan_core::{Platform, Time};
/// let table = "node,down,up,expected_up\nn1,10,2h,1h\n";
/// let failures = makespan_formats::parse_failures("broken.csv", table.as_bytes(), &Platform::cluster(2, 4)?)?;
/// assert_eq!(failures[0].processors.to_string(), "4-7");
/// assert_eq!(failures[0].up, Time::from_seconds(7200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FormatError`] with the line and the column of the error.
pub fn parse_failures(file: &str, bytes: &[u8], platform: &Platform) -> Result<Vec<Failure>, FormatError> {
    let mut reader =
        ReaderBuilder::new().trim(Trim::All).flexible(true).comment(Some(b'#')).has_headers(false).from_reader(bytes);
    let mut record = StringRecord::new();
    let mut header: Option<Header> = None;
    let mut failures = Vec::new();
    loop {
        let more = reader.read_record(&mut record).map_err(|error| {
            let line = error.position().map_or(1, |position| position.line() as usize);
            FormatError::content(
                file,
                FilePlace::line(line),
                "the file is not UTF-8 text; a table of failures must be a CSV file",
            )
        })?;
        if !more {
            break;
        }
        let line = record.position().map_or(1, |position| line_of(bytes, position));
        match &header {
            None => header = Some(Header::read(file, line, &record)?),
            Some(header) => failures.push(Row { file, line, header, record: &record }.failure(platform)?),
        }
    }
    match header {
        Some(_) => Ok(failures),
        None => Err(FormatError::content(file, FilePlace::default(), format!("the file is empty; {}", wanted()))),
    }
}

/// Returns the line number of the record that the reader reads next. `position` may be before blank lines and comments
/// that precede this record.
fn line_of(bytes: &[u8], position: &Position) -> usize {
    let rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    let skipped = |line: &&[u8]| line.is_empty() || *line == b"\r" || line.starts_with(b"#");
    position.line() as usize + rest.split(|&byte| byte == b'\n').take_while(skipped).count()
}

fn wanted() -> &'static str {
    "the first line must name the columns: `down`, `up`, either `processors` (such as 0-3,8) or `node`, and \
     optionally `expected_up`"
}

/// Index of each column in the table, and the number of columns.
struct Header {
    at: [Option<usize>; COLUMNS.len()],
    columns: usize,
}

impl Header {
    fn read(file: &str, line: usize, record: &StringRecord) -> Result<Self, FormatError> {
        let wrong = |problem: String| Err(FormatError::content(file, FilePlace::line(line), problem));
        let mut at = [None; COLUMNS.len()];
        for (index, name) in record.iter().enumerate() {
            let Some(column) = COLUMNS.iter().position(|&column| column == name) else {
                let near = nearest(name, COLUMNS).map_or(String::new(), |near| format!("did you mean `{near}`? "));
                return wrong(format!("unknown column `{name}`; {near}{}", wanted()));
            };
            if at[column].replace(index).is_some() {
                return wrong(format!("the column `{name}` occurs twice; remove one of the two"));
            }
        }
        let [processors, node, down, up, _] = at.map(|index| index.is_some());
        match (processors, node, down && up) {
            (true, false, true) | (false, true, true) => Ok(Self { at, columns: record.len() }),
            (true, true, _) => {
                wrong("the columns `processors` and `node` exclude each other; remove one of the two".into())
            }
            _ => wrong(format!("a column is missing; {}", wanted())),
        }
    }
}

/// One line of the table.
struct Row<'a> {
    file: &'a str,
    line: usize,
    header: &'a Header,
    record: &'a StringRecord,
}

impl Row<'_> {
    fn failure(&self, platform: &Platform) -> Result<Failure, FormatError> {
        let (found, columns) = (self.record.len(), self.header.columns);
        if found != columns {
            let problem = format!(
                "the row has {found} values, but the header has {columns} columns; put a set of processors that contains a comma in quotes: \"0-3,8\""
            );
            return Err(FormatError::content(self.file, FilePlace::line(self.line), problem));
        }
        let processors = self.processors(platform)?;
        let time = |column: &str| {
            let text = self.text(column).unwrap_or_default();
            Time::parse(text).map_err(|error| self.wrong(column, &error))
        };
        let (down, up) = (time("down")?, time("up")?);
        if up <= down {
            return Err(self.wrong("up", &format!("`up` ({up} s) is not after `down` ({down} s)")));
        }
        let expected_up = match self.text("expected_up") {
            None | Some("") => None,
            Some(_) => Some(time("expected_up")?),
        };
        if expected_up.is_some_and(|expected| expected <= down) {
            return Err(self.wrong(
                "expected_up",
                &format!("`expected_up` is not after `down` ({down} s); leave the field empty if the time is unknown"),
            ));
        }
        Ok(Failure { processors, down, up, expected_up })
    }

    fn processors(&self, platform: &Platform) -> Result<ProcSet, FormatError> {
        if let Some(name) = self.text("node") {
            let nodes = platform.nodes();
            let Some(node) = nodes.iter().position(|node| node.name == name) else {
                let near = nearest(name, nodes.iter().map(|node| node.name.as_str()));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(self.wrong("node", &format!("the platform has no node `{name}`{near}")));
            };
            let processors = platform.processors_of(node);
            let switch = processors.is_empty();
            return if switch {
                Err(self.wrong("node", &format!("`{name}` has no processors")))
            } else {
                Ok(processors)
            };
        }
        let processors: ProcSet =
            self.text("processors").unwrap_or_default().parse().map_err(|error| self.wrong("processors", &error))?;
        let last = platform.processors() - 1;
        match processors.last() {
            None => Err(self.wrong("processors", &"state at least one processor")),
            Some(id) if id > last => Err(self.wrong(
                "processors",
                &format!("processor {id} does not exist; processors are numbered from 0 to {last}"),
            )),
            Some(_) => Ok(processors),
        }
    }

    /// Returns the text of a column, if the table has this column.
    fn text(&self, column: &str) -> Option<&str> {
        let at = COLUMNS.iter().position(|&known| known == column)?;
        self.record.get(self.header.at[at]?)
    }

    fn wrong(&self, column: &str, problem: &dyn Display) -> FormatError {
        FormatError::content(self.file, FilePlace::line(self.line).with_field(column), problem)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Vec<Failure>, String> {
        parse_failures("f.csv", text.as_bytes(), &Platform::cluster(3, 4).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_in_any_order_of_columns() {
        let text = "# what broke\ndown, up, expected_up, processors\n1.5,90s,1m,\"0-3,8\"\n\n10,20,,5\n";
        let failures = parse(text).unwrap();
        assert_eq!(failures[0].processors.to_string(), "0-3,8");
        assert_eq!((failures[0].down, failures[0].up), (Time::from_ticks(1_500_000_000), Time::from_seconds(90)));
        assert_eq!(failures[0].expected_up, Some(Time::from_seconds(60)));
        assert_eq!((failures[1].processors.to_string().as_str(), failures[1].expected_up), ("5", None));
        assert_eq!(parse("node,down,up\nn2,0,1").unwrap()[0].processors.to_string(), "8-11");
        assert!(parse("node,down,up\n").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let check = |text: &str, expected: &str| {
            let said = parse(text).unwrap_err();
            assert!(said.contains(expected), "{said}");
        };
        check("", "f.csv: the file is empty; the first line must name the columns");
        check("proc,down,up", "f.csv:1: unknown column `proc`; did you mean `processors`?");
        check("node,processors,down,up", "the columns `processors` and `node` exclude each other");
        check("node,down,down", "twice");
        check("node,down", "a column is missing");
        check("node,down,up\nn3,0,1", "f.csv:2: node: the platform has no node `n3`");
        check("processors,down,up\n0-3,8,0,1", "the row has 4 values, but the header has 3 columns");
        check(
            "processors,down,up\n12,0,1",
            "f.csv:2: processors: processor 12 does not exist; processors are numbered from 0 to 11",
        );
        check("processors,down,up\n3-1,0,1", "is not a set of processors");
        check("processors,down,up\n,0,1", "at least one");
        check("processors,down,up\n# so\n1,0,x", "f.csv:3: up: `x` is not a time");
        check("processors,down,up\n1,5,5", "up: `up` (5 s) is not after `down` (5 s)");
        check("processors,down,up,expected_up\n1,5,6,5", "leave the field empty");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200),
                                  text in "[a-z0-9,\"\n -]{0,80}") {
            let platform = Platform::cluster(3, 4).unwrap();
            let _ = parse_failures("f.csv", &bytes, &platform);
            let _ = parse_failures("f.csv", format!("processors,down,up,expected_up\n{text}").as_bytes(), &platform);
        }
    }
}
