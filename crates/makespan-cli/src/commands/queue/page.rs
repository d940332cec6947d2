//! The queue as one HTML page: the table, and when everything runs as a picture.

use std::fmt::Write;

use makespan_slurm::forecast::Expected;

use super::Seen;
use super::rows::{between, clocked, head, nodes};

const STYLE: &str = "body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}\
td.t{white-space:nowrap;font-variant-numeric:tabular-nums}td.bar{min-width:16rem;position:relative}\
i{position:absolute;top:.55rem;height:.9rem;border-radius:2px}i.s{background:#9bb8d9}i.r{background:#2f6db5}i.w{background:#d98b2f}\
small{color:#666}@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}th,td{border-color:#333}small{color:#999}}";

pub fn html(seen: &Seen<'_>, waiting: &[&Expected], from: &str) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Queue of {from}</title><style>{STYLE}</style><h1>Queue of {from}</h1><p>{}</p>",
        escaped(head(seen).trim()),
        from = escaped(from)
    );
    let span = span(seen, waiting);
    let ends = format!("{} to {}", seen.clock.words(span.0), seen.clock.words(span.1));
    page += &format!(
        "<h2>What waits</h2><p><small>Bars: {ends}. Orange: between early and late starts; blue: the expected run.</small></p>"
    );
    page +=
        "<table><tr><th>job<th>user<th>name<th>partition<th>nodes<th>limit<th>starts<th>between<th>when<th>why not now";
    for one in waiting {
        row(&mut page, seen, one, span);
    }
    page += "</table><h2>What runs</h2><table><tr><th>job<th>user<th>name<th>partition<th>nodes<th>since<th>ends about<th>when";
    let mut running = seen.forecast.ends.clone();
    running.sort_by_key(|&(job, end)| (end, job));
    for (job, end) in running {
        let of = &seen.queue.jobs[job];
        let Some(run) = &of.run else { continue };
        let bar = bar("r", span, run.started, end);
        let cells = [&of.shown, &of.user, &of.name, &of.partitions.join(","), &run.holds.len().to_string()];
        cells.iter().for_each(|cell| {
            page += &format!("{}{}", if *cell == cells[0] { "<tr><td>" } else { "<td>" }, escaped(cell))
        });
        let (since, end) = (seen.clock.words(run.started), seen.clock.words(end));
        let _ = write!(page, "<td class=t>{since}<td class=t>{end}<td class=bar>{bar}");
    }
    page += "</table>";
    let remarks: Vec<&String> = seen.queue.remarks.iter().chain(&seen.forecast.remarks).collect();
    if !remarks.is_empty() {
        page += "<h2>Notes</h2><ul>";
        remarks.iter().for_each(|remark| page += &format!("<li>{}", escaped(remark)));
        page += "</ul>";
    }
    page + "</html>\n"
}

fn row(page: &mut String, seen: &Seen<'_>, one: &Expected, span: (i64, i64)) {
    let job = &seen.queue.jobs[one.job];
    let limit = job.limit.map_or("none".to_owned(), clocked);
    let start = one.start.map_or("-".to_owned(), |at| seen.clock.words(at));
    let cells = [job.shown.clone(), job.user.clone(), job.name.clone(), job.partitions.join(","), nodes(job)];
    *page += "<tr>";
    cells.iter().for_each(|cell| *page += &format!("<td>{}", escaped(cell)));
    let mut bars = String::new();
    if let (Some(early), Some(late)) = (one.early, one.late) {
        bars += &bar("w", span, early, late);
    }
    if let Some(start) = one.start {
        bars += &bar("r", span, start, start.saturating_add(one.lasts));
    }
    let remedy =
        one.why.remedy.as_ref().map_or(String::new(), |remedy| format!("<br><small>{}</small>", escaped(remedy)));
    let _ = write!(
        page,
        "<td class=t>{limit}<td class=t>{start}<td class=t>{}<td class=bar>{bars}<td>{}{remedy}",
        between(seen, one),
        escaped(&one.why.text)
    );
}

/// From now to when nine of ten jobs have started and run: what comes later is cut off.
fn span(seen: &Seen<'_>, waiting: &[&Expected]) -> (i64, i64) {
    let now = seen.queue.now;
    let mut ends: Vec<i64> = waiting.iter().filter_map(|one| Some(one.start?.saturating_add(one.lasts))).collect();
    ends.extend(seen.forecast.ends.iter().map(|end| end.1));
    ends.sort_unstable();
    let last = ends.get(ends.len().saturating_sub(1) * 9 / 10).copied().unwrap_or(now);
    (now, last.max(now.saturating_add(60)))
}

fn bar(class: &str, span: (i64, i64), from: i64, until: i64) -> String {
    let length = (span.1 - span.0) as f64;
    let part = |at: i64| ((at.saturating_sub(span.0)) as f64 / length * 100.0).clamp(0.0, 100.0);
    let (left, right) = (part(from), part(until));
    let width = (right - left).max(0.4).min(100.0 - left);
    format!("<i class={class} style=\"left:{left:.2}%;width:{width:.2}%\"></i>")
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
