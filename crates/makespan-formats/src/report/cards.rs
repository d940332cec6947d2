//! The parts of a page that need no script.

use std::io::{self, Write};

use makespan_core::{Metrics, Objective};

use super::{Report, Section};
use crate::gantt::escape::Text;
use crate::gantt::summary::{Standing, grouped};
use crate::gantt::ticks::duration;

/// One figure at the head of the page.
struct Card {
    label: String,
    value: String,
    /// Smaller lines under the value.
    lines: Vec<String>,
}

fn cards(report: &Report<'_>) -> Vec<Card> {
    let Some(plan) = report.schedules.first() else { return Vec::new() };
    let all = || report.schedules.iter().map(|named| (named.name, Metrics::of(report.instance, named.schedule)));
    let others = |show: &dyn Fn(&Metrics) -> String| {
        all().skip(1).map(|(name, metrics)| format!("{name}: {}", show(&metrics))).collect::<Vec<_>>()
    };
    let metrics = Metrics::of(report.instance, plan.schedule);
    let mut cards: Vec<Card> = Standing::all(report.instance, plan.schedule, report.bounds)
        .iter()
        .map(|standing| objective(report, standing))
        .collect();
    let percent = |metrics: &Metrics| format!("{:.1} %", metrics.utilisation * 100.0);
    let flow = |metrics: &Metrics| duration(metrics.mean_flow);
    let mut add = |label: &str, value: String, lines: Vec<String>| {
        cards.push(Card { label: label.to_owned(), value, lines });
    };
    add("utilisation", percent(&metrics), [vec!["of the open area".to_owned()], others(&percent)].concat());
    let slowdown = format!("mean bounded slowdown {:.2}", metrics.mean_bounded_slowdown);
    add("mean flow", flow(&metrics), [vec![slowdown], others(&flow)].concat());
    let machines = format!("on {} processors", grouped(f64::from(report.instance.processors())));
    add("jobs", grouped(report.instance.jobs().len() as f64), vec![machines]);
    cards
}

fn objective(report: &Report<'_>, standing: &Standing) -> Card {
    let mut lines = Vec::new();
    if standing.objective == Objective::WeightedCompletion {
        lines.push("weight \u{D7} seconds".to_owned());
    }
    if let Some(bound) = standing.bound {
        lines.push(format!("proven bound {}", standing.show(bound)));
    }
    match (standing.ratio(), standing.claim()) {
        (Some(ratio), Some(claim)) => lines.push(format!("ratio {ratio:.3}, {claim}")),
        (Some(ratio), None) => lines.push(format!("ratio {ratio:.3}")),
        (None, claim) => lines.extend(claim),
    }
    for other in report.schedules.iter().skip(1) {
        let value = standing.objective.value(report.instance, other.schedule);
        lines.push(format!("{}: {}", other.name, standing.show(value)));
    }
    Card { label: standing.objective.to_string(), value: standing.show(standing.value), lines }
}

pub(super) fn write_cards(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    for card in cards(report) {
        write!(out, "<div class=\"card\"><dt>{}</dt><dd>{}", Text(&card.label), Text(&card.value))?;
        for line in &card.lines {
            write!(out, "<small>{}</small>", Text(line))?;
        }
        writeln!(out, "</dd></div>")?;
    }
    Ok(())
}

/// The page in sentences, for those who cannot see the chart.
pub(super) fn summary(report: &Report<'_>) -> String {
    let mut text = String::new();
    for named in report.schedules {
        let count = named.schedule.placements().len();
        let makespan = duration(named.schedule.makespan().seconds());
        text += &format!("Schedule \u{201C}{}\u{201D}: {count} placements, the last ends at {makespan}. ", named.name);
    }
    for card in cards(report) {
        text += &format!("{}: {}{}{}. ", card.label, card.value, separator(&card.lines), card.lines.join("; "));
    }
    text.trim_end().to_owned()
}

fn separator(lines: &[String]) -> &'static str {
    if lines.is_empty() { "" } else { "; " }
}

pub(super) fn write_origin(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    write!(out, "<span>algorithm <b>{}</b></span> <span>seed <b>{}</b></span>", Text(report.algorithm), report.seed)
}

pub(super) fn write_remarks(out: &mut impl Write, remarks: &[String]) -> io::Result<()> {
    if remarks.is_empty() {
        return Ok(());
    }
    write!(out, "<ul class=\"remarks\" aria-label=\"Remarks\">")?;
    remarks.iter().try_for_each(|remark| write!(out, "<li><bdi>{}</bdi></li>", Text(remark)))?;
    writeln!(out, "</ul>")
}

pub(super) fn write_sections(out: &mut impl Write, sections: &[Section]) -> io::Result<()> {
    for section in sections {
        writeln!(out, "<section><h2>{}</h2>", Text(&section.title))?;
        if !section.text.is_empty() {
            writeln!(out, "<p>{}</p>", Text(&section.text))?;
        }
        if !section.columns.is_empty() {
            write!(out, "<div class=\"scroll\"><table><thead>")?;
            write_row(out, "th scope=\"col\"", "th", &section.columns)?;
            write!(out, "</thead><tbody>")?;
            section.rows.iter().try_for_each(|row| write_row(out, "td", "td", row))?;
            writeln!(out, "</tbody></table></div>")?;
        }
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn write_row(out: &mut impl Write, open: &str, close: &str, cells: &[String]) -> io::Result<()> {
    write!(out, "<tr>")?;
    cells.iter().try_for_each(|cell| write!(out, "<{open}><bdi>{}</bdi></{close}>", Text(cell)))?;
    writeln!(out, "</tr>")
}
