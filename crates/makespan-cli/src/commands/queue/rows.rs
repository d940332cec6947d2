//! The queue as a table as wide as the terminal.

use makespan_core::counted;
use makespan_slurm::JobState;
use makespan_slurm::forecast::ExpectedJob;
use makespan_slurm::queue::{Queue, QueueJob};

use super::{ForecastQueue, SelectedJobs};
use crate::output::shown;

/// Default number of pending jobs that are shown.
pub const SHOWN: usize = 1000;
/// Default number of running jobs that are shown.
pub const SHOWN_RUNNING: usize = 20;
/// Minimum and maximum width of the output, in character columns.
const WIDTH: (usize, usize) = (40, 240);
/// Minimum width, in character columns, at which the ranges and the reasons are in columns. In a narrower table, they
/// are below each job.
const WITH_REASONS: usize = 60;
/// Minimum width, in character columns, at which the table also shows names and requests of jobs.
const WIDE: usize = 120;
/// Maximum number of lines of a reason.
const MAX_LINES: usize = 2;

/// A column of the table: its heading, and its minimum and maximum width.
#[derive(Clone)]
struct Column(&'static str, usize, usize);

pub fn text(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>) -> String {
    let width = width();
    let mut text = head(seen);
    if chosen.waiting.is_empty() {
        let which = if chosen.which.is_empty() { String::new() } else { format!(" {}", shown(&chosen.which)) };
        text += &format!("\nno jobs{which} wait\n");
    } else {
        text.push('\n');
        let rows = table(&columns(width), chosen.shown().iter().map(|one| row(seen, one, width)).collect(), width);
        let below =
            chosen.shown().iter().map(|one| if width < WITH_REASONS { below(seen, one, width) } else { String::new() });
        let below = std::iter::once(String::new()).chain(below);
        rows.into_iter().zip(below).for_each(|(row, below)| text += &(row + &below));
        if chosen.more() > 0 {
            text += &format!("{} more waiting (--limit)\n", chosen.more());
        }
    }
    text += &running(seen, chosen, width);
    text += &remarks(seen, width);
    text
}

/// Returns the width of the output, in columns.
pub fn width() -> usize {
    crate::output::columns().clamp(WIDTH.0, WIDTH.1)
}

/// Returns the instant, and on another line the numbers of nodes, free processors and jobs.
pub fn head(seen: &ForecastQueue<'_>) -> String {
    let Queue { nodes, jobs, .. } = seen.queue;
    let away = nodes.iter().filter(|node| !node.state.takes_jobs()).count();
    let runs = jobs.iter().filter(|job| job.run.is_some()).count();
    let free: u64 = nodes.iter().filter(|node| node.state.takes_jobs()).map(free).sum();
    let away = if away == 0 { String::new() } else { format!(" ({away} away)") };
    let instant = seen.clock.full(seen.queue.now);
    let (of_nodes, of_free) = (counted(nodes.len() as u64, "node"), counted(free, "processor"));
    let waits = jobs.len() - runs;
    let suspended = jobs.iter().filter(|job| job.state == JobState::Suspended).count();
    let runs = runs - suspended;
    let run = format!("{} {}", counted(runs, "job"), if runs == 1 { "runs" } else { "run" });
    let suspended = match suspended {
        0 => String::new(),
        1 => ", 1 is suspended".to_owned(),
        count => format!(", {count} are suspended"),
    };
    let wait = if waits == 1 { "waits" } else { "wait" };
    let numbers = format!("{of_nodes}{away}, {of_free} free; {run}{suspended}, {waits} {wait}");
    format!("{instant}\n{}\n", folded(&numbers, width(), usize::MAX).join("\n"))
}

/// Returns the number of processors of a node that no job holds.
pub fn free(node: &makespan_slurm::Node) -> u64 {
    node.usable_cpus.saturating_sub(node.allocated_cpus).into()
}

fn columns(width: usize) -> Vec<Column> {
    let wide = [
        Column("job", 3, 14),
        Column("user", 4, 12),
        Column("partition", 9, 12),
        Column("name", 4, 18),
        Column("nodes", 5, 7),
        Column("limit", 5, 9),
        Column("starts", 6, 12),
        Column("between", 7, 27),
        Column("why not now", 20, usize::MAX),
    ];
    let narrow: &[&str] = match width {
        0..WITH_REASONS => &["job", "user", "starts"],
        _ => &["job", "user", "starts", "between", "why not now"],
    };
    wide.into_iter().filter(|column| width >= WIDE || narrow.contains(&column.0)).collect()
}

/// Returns the lines below a job in a narrow table: the range of its start, and the reason why it waits.
fn below(seen: &ForecastQueue<'_>, one: &ExpectedJob, width: usize) -> String {
    let (between, why) = (between(seen, one), shown(&one.why().brief));
    let text = if between == "-" { why.into_owned() } else { format!("{between}: {why}") };
    folded(&text, width - 2, MAX_LINES).iter().map(|line| format!("  {line}\n")).collect()
}

fn row(seen: &ForecastQueue<'_>, one: &ExpectedJob, width: usize) -> Vec<String> {
    let job = &seen.queue.jobs[one.job];
    let start = one.outlook.start.map_or("-".to_owned(), |at| seen.clock.words(at));
    let all = [
        ("job", job.shown.clone()),
        ("user", job.user.clone()),
        ("partition", job.partitions.join(",")),
        ("name", job.name.clone()),
        ("nodes", nodes(job)),
        ("limit", job.limit.map_or("none".to_owned(), clocked)),
        ("starts", start),
        ("between", between(seen, one)),
        ("why not now", one.why().brief.clone()),
    ];
    let columns = columns(width);
    all.into_iter().filter(|cell| columns.iter().any(|column| column.0 == cell.0)).map(|cell| cell.1).collect()
}

/// Returns the range of a start, or `-` if the start has no range.
pub fn between(seen: &ForecastQueue<'_>, one: &ExpectedJob) -> String {
    match (one.outlook.early, one.outlook.late) {
        (Some(early), Some(late)) if early != late => {
            let (early, late) = (seen.clock.words(early), seen.clock.words(late));
            // If both ends of the range are on the same date, the date is written once.
            let shared = early.rsplit_once(' ').zip(late.rsplit_once(' ')).filter(|(early, late)| early.0 == late.0);
            let late = shared.map_or(late.as_str(), |(_, late)| late.1);
            format!("{early}..{late}")
        }
        _ => "-".to_owned(),
    }
}

/// Formats the number of nodes of a job: `4`, `1-4` or `any`.
pub fn nodes(job: &QueueJob) -> String {
    if job.run.is_none() && job.request.is_for_any_nodes() {
        return "any".to_owned();
    }
    match job.request.max_nodes {
        Some(most) if most > job.request.min_nodes => format!("{}-{most}", job.request.min_nodes),
        _ => job.request.min_nodes.to_string(),
    }
}

/// Formats a duration as Slurm does: `1-02:03` or `2:03:04`.
pub fn clocked(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
        days => format!("{days}-{hours:02}:{minutes:02}"),
    }
}

/// Returns a table of running jobs, in the order of their predicted ends.
fn running(seen: &ForecastQueue<'_>, chosen: &SelectedJobs<'_>, width: usize) -> String {
    if chosen.running.is_empty() {
        return String::new();
    }
    let row = |&(job, end): &(usize, i64)| {
        let of = &seen.queue.jobs[job];
        let run = of.run.as_ref();
        let nodes = run.map_or(0, |run| run.holds.len()).to_string();
        let started = run.map_or("-".to_owned(), |run| seen.clock.words(run.started));
        let latest = run.and_then(|run| run.ends_by).map_or("-".to_owned(), |at| seen.clock.words(at));
        let end = if of.state == JobState::Suspended { "suspended".to_owned() } else { seen.clock.words(end) };
        vec![of.shown.clone(), of.user.clone(), nodes, started, end, latest, of.name.clone()]
    };
    let columns = [
        Column("runs", 4, 14),
        Column("user", 4, 12),
        Column("nodes", 5, 7),
        Column("since", 5, 12),
        Column("ends about", 10, 12),
        Column("at the latest", 13, 13),
        Column("name", 4, usize::MAX),
    ];
    let is_shown = |column: &Column| width >= WITH_REASONS || !["nodes", "since", "at the latest"].contains(&column.0);
    let kept = |row: Vec<String>| columns.iter().zip(row).filter(|cell| is_shown(cell.0)).map(|cell| cell.1).collect();
    let rows = chosen.shown_running().iter().map(row).map(kept).collect();
    let columns: Vec<Column> = columns.iter().filter(|column| is_shown(column)).cloned().collect();
    let mut text = format!("\n{}", table(&columns, rows, width).concat());
    if chosen.more_running() > 0 {
        text += &format!("{} more running (--limit)\n", chosen.more_running());
    }
    text
}

/// Returns the notes below the table.
pub fn remarks(seen: &ForecastQueue<'_>, width: usize) -> String {
    let all = seen.queue.remarks.iter().chain(&seen.forecast.remarks);
    let note = |remark: &String| format!("note: {}", folded(&shown(remark), width - 6, usize::MAX).join("\n      "));
    let text = all.take(20).map(note).collect::<Vec<_>>().join("\n");
    if text.is_empty() { text } else { format!("\n{text}\n") }
}

/// Columns of instants. Their cells are cut only if the terminal is too narrow for all other columns.
const INSTANTS: [&str; 5] = ["starts", "between", "since", "ends about", "at the latest"];

/// Formats a table with two spaces between the columns. Cells are cut to the width of their column. The cells of the
/// last column continue on further lines. Returns the heading and the rows, each with its line breaks.
fn table(columns: &[Column], rows: Vec<Vec<String>>, width: usize) -> Vec<String> {
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.iter().map(|cell| shown(cell).into_owned()).collect()).collect();
    let widest = |at: usize| rows.iter().map(|row| columns_of(&row[at])).max().unwrap_or(0);
    let mut widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| widest(at).clamp(column.0.len().max(column.1), column.2.max(column.0.len())))
        .collect();
    let last = widths.len() - 1;
    // The last column takes the rest of the width. If the rest is too small, the other columns shrink, and columns of
    // instants shrink last.
    let mut others: usize = widths[..last].iter().map(|width| width + 2).sum();
    for (shrinks_instants, least) in [(false, columns[last].1), (true, columns[last].0.len())] {
        for (at, column) in columns.iter().enumerate().take(last) {
            if INSTANTS.contains(&column.0) == shrinks_instants {
                let missing = (others + least).saturating_sub(width);
                let less = missing.min(widths[at] - column.1.max(column.0.len()));
                widths[at] -= less;
                others -= less;
            }
        }
    }
    widths[last] = widths[last].min(width.saturating_sub(others)).max(columns[last].0.len().min(width));
    let heading: Vec<String> = columns.iter().map(|column| column.0.to_owned()).collect();
    let below = " ".repeat(widths[..last].iter().map(|width| width + 2).sum());
    let line = |cells: &Vec<String>| {
        let first = cells[..last].iter().zip(&widths).map(|(cell, &width)| padded(&cut(cell, width), width) + "  ");
        let text =
            first.collect::<String>() + &folded(&cells[last], widths[last], MAX_LINES).join(&format!("\n{below}"));
        format!("{}\n", text.trim_end())
    };
    std::iter::once(&heading).chain(&rows).map(line).collect()
}

/// Breaks a text between words into up to `most` lines of at most `width` columns. Text after these lines is cut.
fn folded(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let full = lines.len() == most;
        let line = lines.last_mut().expect("there is one");
        let room = width.saturating_sub(columns_of(line) + usize::from(!line.is_empty()));
        if columns_of(word) > room && !line.is_empty() && !full {
            lines.push(cut(word, width));
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        *line += word;
        if columns_of(line) > width
            || (full && words.peek().is_some_and(|next| columns_of(line) + 1 + columns_of(next) > width))
        {
            *line = cut(&(line.clone() + " \u{2026}"), width);
            if full {
                break;
            }
        }
    }
    lines
}

fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |character: &char| {
        let own = columns_of_character(*character);
        let fits = own <= left;
        left = left.saturating_sub(own);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns_of(text))))
}

fn columns_of(text: &str) -> usize {
    text.chars().map(columns_of_character).sum()
}

/// Returns the number of columns that a character takes. East Asian characters and emoji take two columns (Unicode
/// Standard Annex 11).
fn columns_of_character(character: char) -> usize {
    let wide = matches!(u32::from(character),
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD);
    if wide { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_never_wider_than_the_terminal() {
        let long = "a very long text, 日本語の名前 and so on, that goes on and on and on and on and on and on and on";
        for width in [40, 59, 60, 80, 119, 120, 160, 240] {
            let columns = columns(width);
            let rows = vec![columns.iter().map(|_| long.to_owned()).collect(); 3];
            let text = table(&columns, rows, width).concat();
            assert!((4..=1 + 3 * MAX_LINES).contains(&text.lines().count()), "{text}");
            assert!(text.lines().all(|line| columns_of(line) <= width), "{width}\n{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn instants_are_whole_at_any_width(width in 60_usize..130, start in 1_usize..13, name in 1_usize..40) {
            let columns = columns(width);
            let cell = |column: &Column| match column.0 {
                "starts" => "8".repeat(start),
                "between" => "8".repeat(start) + ".." + &"8".repeat(start.min(5)),
                _ => "x".repeat(name),
            };
            let text = table(&columns, vec![columns.iter().map(cell).collect()], width).concat();
            let whole = format!("  {0}  {1}", padded(&"8".repeat(start), start.max(6)), "8".repeat(start) + ".." + &"8".repeat(start.min(5)));
            proptest::prop_assert!(text.contains(&whole), "{}", text);
        }

        #[test]
        fn lines_have_all_words_or_say_that_there_are_more(words in proptest::collection::vec("[a-z日]{1,12}", 0..20), width in 13_usize..60, most in 1_usize..5) {
            let text = words.join(" ");
            let lines = folded(&text, width, most);
            proptest::prop_assert!(lines.len() <= most && lines.iter().all(|line| columns_of(line) <= width), "{lines:?}");
            let whole = lines.join(" ") == text;
            proptest::prop_assert!(whole || lines.iter().any(|line| line.contains('…')), "{lines:?}");
        }
    }

    #[test]
    fn spans_are_as_slurm_writes_them() {
        assert_eq!(
            (clocked(59), clocked(3661), clocked(90_000)),
            ("0:00:59".into(), "1:01:01".into(), "1-01:00".into())
        );
    }
}
