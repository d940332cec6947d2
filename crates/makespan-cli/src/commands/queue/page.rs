//! The queue as one HTML page: the table, and when everything runs as a picture.

use std::fmt::Write;

use makespan_formats::report::PAGE_STYLE;
use makespan_slurm::forecast::Expected;

use super::Seen;
use super::rows::{between, clocked, head, nodes};

/// What this page has beside the style of all pages: bars in a column, and reasons that have room, also on a phone.
const OWN_STYLE: &str = "main{padding-top:14px}td.name{max-width:11rem;overflow:hidden;text-overflow:ellipsis}section>small{display:block;color:var(--soft);margin:2px 0 8px}td{vertical-align:top}\
td.t{font-variant-numeric:tabular-nums}tr{border-bottom:1px solid var(--line)}td.bar{min-width:10rem;position:relative;border-bottom:0}td.why{white-space:normal;min-width:15rem}\
td.why small{color:var(--soft)}i{position:absolute;top:9px;height:13px;border-radius:2px}i.r{background:var(--accent)}i.w{background:var(--second)}\
@media(max-width:640px){thead,td.more{display:none}tbody,table{display:block}tr{display:grid;grid-template-columns:1fr auto;gap:1px 12px;padding:8px 12px}\
td,td.why{padding:0;border:0;min-width:0;white-space:normal}td.job{font-weight:600}td.bar{grid-column:1/-1;height:18px}td.why{grid-column:1/-1}i{top:3px}}";
/// Nothing is loaded, and nothing runs.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub fn html(seen: &Seen<'_>, waiting: &[&Expected], from: &str) -> String {
    let (from, head) = (escaped(from), head(seen));
    let origin: String = head.lines().map(|line| format!("<span>{}</span>", escaped(line))).collect();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"data:,\"><title>Queue of {from}</title><style>{PAGE_STYLE}{OWN_STYLE}</style></head>\n\
         <body><header><h1>Queue of {from}</h1><p class=\"origin\">{origin}</p></header><main>"
    );
    let span = span(seen, waiting);
    let ends = format!("{} to {}", seen.clock.words(span.0), seen.clock.words(span.1));
    page += &format!(
        "<section><h2>What waits</h2><small>Bars: {ends}. Orange: between early and late starts; blue: the expected run.</small>"
    );
    page += "<div class=\"scroll words\"><table><thead><tr><th>job<th>user<th>name<th>partition<th>nodes<th>limit<th>starts<th>between<th>when\
             <th>why not now</thead><tbody>";
    for one in waiting {
        row(&mut page, seen, one, span);
    }
    page += "</table></div></section><section><h2>What runs</h2><div class=\"scroll words\"><table><thead><tr><th>job<th>user<th>name<th>partition\
             <th>nodes<th>since<th>ends about<th>when</thead><tbody>";
    let mut running = seen.forecast.ends.clone();
    running.sort_by_key(|&(job, end)| (end, job));
    for (job, end) in running {
        let of = &seen.queue.jobs[job];
        let Some(run) = &of.run else { continue };
        let bar = bar("r", span, run.started, end);
        let cells = [&of.shown, &of.user, &of.name, &of.partitions.join(","), &run.holds.len().to_string()];
        page += "<tr>";
        page += &head_cells(cells);
        let (since, end) = (seen.clock.words(run.started), seen.clock.words(end));
        let _ = write!(page, "<td class=\"t more\">{since}<td class=t>{end}<td class=bar>{bar}");
    }
    page += "</table></div></section>";
    let remarks: Vec<&String> = seen.queue.remarks.iter().chain(&seen.forecast.remarks).collect();
    if !remarks.is_empty() {
        page += "<section><h2>Notes</h2><ul>";
        remarks.iter().for_each(|remark| page += &format!("<li>{}", escaped(remark)));
        page += "</ul></section>";
    }
    page + "</main><footer>Made by Makespan. This page loads nothing from the network.</footer></body></html>\n"
}

fn row(page: &mut String, seen: &Seen<'_>, one: &Expected, span: (i64, i64)) {
    let job = &seen.queue.jobs[one.job];
    let limit = job.limit.map_or("none".to_owned(), clocked);
    let start = one.start.map_or("-".to_owned(), |at| seen.clock.words(at));
    let cells = [job.shown.clone(), job.user.clone(), job.name.clone(), job.partitions.join(","), nodes(job)];
    *page += "<tr>";
    *page += &head_cells(cells.each_ref());
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
        "<td class=\"t more\">{limit}<td class=t>{start}<td class=\"t more\">{}<td class=bar>{bars}<td class=why>{}{remedy}",
        between(seen, one),
        escaped(&one.why.text)
    );
}

/// The first cells of a row: on a phone job and user stand beside each other, and its name and partition are left out.
fn head_cells(cells: [&String; 5]) -> String {
    let classes = ["job", "user", "name more", "more", "nodes"];
    let cell = |(class, text): (&str, &String)| format!("<td class=\"{class}\" title=\"{0}\">{0}", escaped(text));
    classes.into_iter().zip(cells).map(cell).collect()
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
