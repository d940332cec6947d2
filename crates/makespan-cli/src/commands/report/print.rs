//! A report as text, JSON or CSV.

use makespan_core::{Time, counted};
use makespan_formats::CsvNames;
use serde_json::{Map, Value, json};

use super::Report;
use super::sections::Section;
use super::tally::{Figures, Tally};
use crate::output::{narrow, shortened, shown, table};

/// Width of a text in columns.
const WIDTH: usize = 80;
/// Minimum width of the column of names. If the figures are wide, a table is wider than [`WIDTH`].
const LEAST_NAME: usize = 8;
/// Default number of groups in a table of the text.
const SHOWN: usize = 20;
/// The name of a group of jobs for which the log states no name.
const NO_NAME: &str = "(none)";
/// The name of a section of jobs without a known date.
const NO_DATE: &str = "no date";

/// Meaning of the columns of the text.
const LEGEND: &str = "core h: processors times hours. wait, median, 95 %: mean and percentiles of the waits. util: core hours \
                      divided by those of the machine. died: jobs killed at their time limit. used: run times divided by time \
                      limits. failed: core hours of jobs without success";

impl Report {
    /// Formats the report as text in tables of 80 columns.
    pub fn text(&self, limit: Option<usize>) -> String {
        let mut text = format!("{}\n", self.head());
        let (last, months) = self.sections.split_last().expect("the last section is the whole log");
        if self.by.is_empty() {
            let rows = months.iter().map(|section| (title(section), self.figures(section, &section.total)));
            let total = ("total".to_owned(), self.figures(last, &last.total));
            text += &format!("\n{}", rows_of(if months.is_empty() { "" } else { "month" }, rows.chain([total])));
        }
        let limit = limit.unwrap_or(SHOWN);
        for section in self.sections.iter().filter(|_| !self.by.is_empty()) {
            let is_whole = std::ptr::eq(section, last);
            if !months.is_empty() {
                text += &format!("\n{}\n", if is_whole { "all months".to_owned() } else { title(section) });
            }
            for (by, groups) in self.by.iter().zip(&section.groups) {
                let row = |(name, tally): &(Option<String>, Tally)| {
                    let name = name.as_deref().unwrap_or(NO_NAME);
                    (shown(name).into_owned(), self.figures(section, tally))
                };
                let more = groups.get(limit..).unwrap_or_default();
                let others = (!more.is_empty()).then(|| {
                    let mut sum = Tally::default();
                    more.iter().for_each(|(_, tally)| sum.merge(tally));
                    (format!("{} more", more.len()), self.figures(section, &sum))
                });
                let total = ("total".to_owned(), self.figures(section, &section.total));
                let rows = groups.iter().take(limit).map(row).chain(others).chain([total]);
                text += &format!("\n{}", rows_of(by.word(), rows));
            }
        }
        text += &format!("\n{}", narrow("", 0, LEGEND));
        self.remarks.iter().for_each(|remark| text += &narrow("note: ", 6, remark));
        text
    }

    fn head(&self) -> String {
        let whole = self.sections.last().and_then(|section| section.period.as_ref());
        let date = |at: Time| self.clock.as_ref().map(|clock| clock.shows(at));
        let dates = whole.and_then(|whole| Some(format!(", {} .. {}", date(whole.begin)?, date(whole.end)?)));
        let machine = match self.processors {
            Some(processors) => format!(" on {}", counted(processors, "processor")),
            None => String::new(),
        };
        let jobs = self.sections.last().map_or(0, |section| section.total.jobs);
        format!("{} ended{machine}{}", counted(jobs, "job"), dates.unwrap_or_default())
    }

    fn figures(&self, section: &Section, tally: &Tally) -> Figures {
        let capacity = section.period.as_ref().filter(|_| self.is_dated).zip(self.processors);
        tally.figures(capacity.map(|(period, processors)| period.capacity(processors)))
    }

    /// Returns the report as JSON. `docs/report.md` describes the keys.
    pub fn json(&self) -> Value {
        let section = |section: &Section| {
            let date = |at: Time| self.clock.as_ref().map(|clock| clock.shows(at));
            let period = section.period.as_ref();
            let mut value = json!({
                "month": period.map_or_else(|| Some(NO_DATE), |period| period.month.as_deref()),
                "begin": period.and_then(|period| date(period.begin)),
                "end": period.and_then(|period| date(period.end)),
                "hours": period.map(|period| (period.end - period.begin).seconds() / 3600.0),
                "total": self.figures(section, &section.total).json(),
            });
            let groups = self.by.iter().zip(&section.groups).map(|(by, groups)| {
                let group = |(name, tally): &(Option<String>, Tally)| {
                    let mut group = self.figures(section, tally).json();
                    group["name"] = name.clone().into();
                    group
                };
                (by.word().to_owned(), groups.iter().map(group).collect::<Vec<_>>().into())
            });
            value["groups"] = Value::Object(groups.collect::<Map<_, _>>());
            value
        };
        json!({
            "log": self.log,
            "format": self.format.to_string(),
            "processors": self.processors,
            "sections": self.sections.iter().map(section).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }

    /// Returns the report as a CSV table with a row for each group of each section.
    pub fn csv(&self, names: CsvNames) -> Result<String, csv::Error> {
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record(["month", "by", "name"].into_iter().chain(Figures::COLUMNS))?;
        let guard = |name: &str| match names {
            CsvNames::Raw => name.to_owned(),
            CsvNames::Guarded => shown(&names.write(name)).into_owned(),
        };
        for section in &self.sections {
            let mut row = |by: &str, name: String, tally: &Tally| {
                let head = [title(section), by.to_owned(), name];
                out.write_record(head.into_iter().chain(self.figures(section, tally).csv()))
            };
            for (by, groups) in self.by.iter().zip(&section.groups) {
                for (name, tally) in groups {
                    row(by.word(), name.as_deref().map_or(String::new(), guard), tally)?;
                }
            }
            row("total", String::new(), &section.total)?;
        }
        out.into_inner()
            .map_err(|error| error.into_error().into())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the title of a section: its month, or an empty text for the whole log.
fn title(section: &Section) -> String {
    section.period.as_ref().map_or_else(|| NO_DATE.to_owned(), |period| period.month.clone().unwrap_or_default())
}

/// Formats a table in which names are cut so that the table fits into 80 columns.
fn rows_of(heading: &str, rows: impl Iterator<Item = (String, Figures)>) -> String {
    let rows: Vec<(String, [String; 9])> = rows.map(|(name, figures)| (name, figures.cells())).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.1[column].chars().count());
        cells.chain([Figures::HEADING[column].len()]).max().unwrap_or(0)
    };
    // Two spaces separate the columns.
    let figures: usize = (0..Figures::HEADING.len()).map(|column| width(column) + 2).sum();
    let left = WIDTH.saturating_sub(figures).max(LEAST_NAME);
    let headings: Vec<&str> = [heading].into_iter().chain(Figures::HEADING).collect();
    table(
        &headings,
        1,
        rows.into_iter().map(|(name, cells)| [shortened(&name, left)].into_iter().chain(cells).collect()),
    )
}
