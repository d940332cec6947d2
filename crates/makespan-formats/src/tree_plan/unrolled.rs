//! Writes a schedule on a tree, with its transfers, as CSV.

use std::io::Write;

use makespan_core::tree::NetworkSchedule;
use makespan_core::{Instance, Platform, Time};

use crate::names::CsvNames;

/// Columns of the file.
const COLUMNS: [&str; 8] = ["what", "job", "task", "node", "processor", "from", "start", "end"];

/// Writes transfers and computations, one on each line, in the order of their starts. Times are in seconds. A transfer
/// (`send`) states the node that sends, and no processor. A computation (`compute`) states its processor, and no
/// sender.
///
/// # Errors
/// Errors of the writer.
pub fn write_network_csv(
    instance: &Instance,
    network: &NetworkSchedule,
    names: CsvNames,
    writer: &mut dyn Write,
) -> csv::Result<()> {
    let platform = instance.platform();
    let sends = network.transfers.iter().map(|transfer| {
        let from = platform.nodes()[transfer.to].parent.map_or("", |parent| platform.nodes()[parent].name.as_str());
        Row {
            what: "send",
            job: &instance.job_of(transfer.task).name,
            task: instance.number(transfer.task),
            node: transfer.to,
            processor: None,
            from,
            times: (transfer.start, transfer.end),
        }
    });
    let computes = network.schedule.placements().iter().map(|placement| {
        let processor = placement.processors.intervals().first().map(|&(first, _)| first);
        let node = processor.map_or(0, |processor| platform.node_of(processor));
        let (job, task) = (&instance.job_of(placement.task).name, instance.number(placement.task));
        let times = (placement.start, placement.end);
        Row { what: "compute", job, task, node, processor, from: "", times }
    });
    let mut rows: Vec<Row<'_>> = sends.chain(computes).collect();
    rows.sort_by_key(|row| (row.times.0, row.node, row.processor, row.job, row.task));
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(COLUMNS)?;
    for row in rows {
        table.write_record(row.cells(platform, names))?;
    }
    table.flush()?;
    Ok(())
}

/// A line of the file.
struct Row<'a> {
    what: &'static str,
    job: &'a str,
    task: u32,
    node: usize,
    processor: Option<u32>,
    from: &'a str,
    times: (Time, Time),
}

impl Row<'_> {
    fn cells(&self, platform: &Platform, names: CsvNames) -> [String; 8] {
        [
            self.what.to_owned(),
            names.write(self.job).into_owned(),
            self.task.to_string(),
            names.write(&platform.nodes()[self.node].name).into_owned(),
            self.processor.map_or(String::new(), |processor| processor.to_string()),
            names.write(self.from).into_owned(),
            self.times.0.to_string(),
            self.times.1.to_string(),
        ]
    }
}
