//! The parts of a page that need no script: values at the head, a summary in sentences, and tables.

use std::io::{self, Write};

use makespan_core::{Metrics, Objective, SeparateEnds, counted};

use super::{Report, Section};
use crate::gantt::NamedSchedule;
use crate::gantt::escape::Text;
use crate::gantt::summary::{ValueAndBound, bound_word, grouped};
use crate::gantt::ticks::duration;
use crate::plot::write_figure;

/// Maximum number of rows of a table that does not scroll.
const LONG: usize = 60;
const LONG_WORDS: usize = 20;

/// Maximum number of columns of a narrow table of numbers. A table with more columns has the width of the page.
const NARROW: usize = 6;

/// Maximum number of characters of a value in a large font. A longer value has a smaller font, so that the value fits
/// on one line.
const LONG_VALUE: usize = 12;

/// A value at the head of the page.
pub(super) struct ReportCard {
    pub(super) label: String,
    pub(super) value: String,
    /// Text next to the value, if the value is proved to be optimal.
    pub(super) badge: Option<String>,
    /// Lines in a smaller font below the value.
    pub(super) lines: Vec<String>,
}

fn cards(report: &Report<'_>) -> Vec<ReportCard> {
    let plan = report.plan();
    let Some(lead) = report.happened().or(plan) else { return Vec::new() };
    // The page of a run also shows the planned values.
    let beside = report.happened().and(plan);
    let metrics = Metrics::of(report.instance, lead.schedule);
    let mut cards = report.run.map_or_else(Vec::new, |run| run.cards(report));
    if let Some(plan) = plan {
        let all = ValueAndBound::all(report.instance, plan.schedule, report.bounds);
        // The page of a run shows only minimised objectives, because other values say little about a run.
        let is_of_interest = |standing: &&ValueAndBound| {
            report.run.is_none() || report.minimised.is_empty() || report.minimised.contains(&standing.objective)
        };
        cards.extend(all.iter().filter(is_of_interest).map(|standing| objective(report, standing)));
    }
    let percent = |metrics: &Metrics| format!("{:.1}\u{A0}%", metrics.utilisation * 100.0);
    let mut add = |label: &str, value: String, lines: Vec<String>| {
        cards.push(ReportCard { label: label.to_owned(), value, badge: None, lines });
    };
    let planned =
        beside.map(|named| format!("{}: {}", named.name, percent(&Metrics::of(report.instance, named.schedule))));
    add(
        "utilisation",
        percent(&metrics),
        ["of the available processor time".to_owned()].into_iter().chain(planned).collect(),
    );
    if report.run.is_none() {
        let slowdown = format!("mean bounded slowdown {:.2}", metrics.mean_bounded_slowdown);
        add("mean flow", duration(metrics.mean_flow), vec![slowdown]);
        let machines = format!("on {}", counted(grouped(f64::from(report.instance.processors())), "processor"));
        let tasks = format!("{} in all", counted(grouped(report.instance.tasks() as f64), "task"));
        let tasks = (report.instance.has_bags() || report.instance.has_compound_jobs()).then_some(tasks);
        add("jobs", grouped(report.instance.jobs().len() as f64), tasks.into_iter().chain([machines]).collect());
    }
    if let Some(apart) = SeparateEnds::of(report.instance, lead.schedule) {
        let without = format!("all other jobs end at {}", duration(apart.others.seconds()));
        let other = |named: &NamedSchedule<'_>| {
            let apart = SeparateEnds::of(report.instance, named.schedule)?;
            let (best_effort, others) = (duration(apart.best_effort.seconds()), duration(apart.others.seconds()));
            Some(format!("{}: {best_effort}, all other jobs {others}", named.name))
        };
        let others = beside.into_iter().filter_map(other);
        add(
            "best-effort jobs \
             end",
            duration(apart.best_effort.seconds()),
            [without].into_iter().chain(others).collect(),
        );
    }
    cards
}

fn objective(report: &Report<'_>, standing: &ValueAndBound) -> ReportCard {
    let mut lines = Vec::new();
    if !report.minimised.is_empty() && !report.minimised.contains(&standing.objective) {
        lines.push("not minimised".to_owned());
    }
    if standing.objective.is_weighted() {
        lines.push("weight \u{D7} seconds".to_owned());
    }
    // The bounds are valid for the plan, in which run times may be guesses, but not for the actual runs.
    let happened = report.happened();
    let optimal = standing.bound == Some(standing.value);
    let badge = standing.claim().filter(|_| optimal && happened.is_none());
    if let Some(plan) = report.plan().filter(|_| happened.is_some()) {
        let claim = standing.claim().map_or(String::new(), |claim| format!(", {claim}"));
        lines.push(format!("{}: {}{claim}", plan.name, standing.show(standing.value)));
    } else if optimal {
        lines.push(format!("proved: no schedule is better{}", standing.condition));
    } else if let Some(bound) = standing.bound {
        lines.push(format!("{} {}", bound_word(standing.condition), standing.show(bound)));
        if let Some(ratio) = standing.ratio() {
            let claim = standing.claim().map_or(String::new(), |claim| format!(", {claim}"));
            lines.push(format!("ratio {ratio:.3}{claim}"));
        }
    }
    let value = happened.map_or(standing.value, |named| standing.objective.value(report.instance, named.schedule));
    let label = match standing.objective {
        Objective::Makespan if happened.is_some() => "time".to_owned(),
        objective => objective.to_string(),
    };
    ReportCard { label, value: standing.show(value), badge, lines }
}

/// Writes the values at the head of the page. If the schedules are alternatives, writes the values of each schedule,
/// and the script shows the values of the selected schedule.
pub(super) fn write_cards(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let apart = report.choose && report.schedules.len() > 1;
    for at in 0..if apart { report.schedules.len() } else { 1 } {
        let hidden = if at > 0 { " hidden" } else { "" };
        writeln!(out, "<dl class=\"cards\" data-schedule=\"{at}\"{hidden}>")?;
        let one = if apart { Report { schedules: &report.schedules[at..=at], ..*report } } else { *report };
        cards(&one).iter().try_for_each(|card| write_card(out, card))?;
        writeln!(out, "</dl>")?;
    }
    Ok(())
}

pub(super) fn write_card(out: &mut impl Write, card: &ReportCard) -> io::Result<()> {
    let term = Text(&card.label);
    let long = if card.value.chars().count() > LONG_VALUE { " class=\"long-value\"" } else { "" };
    write!(
        out,
        "<div class=\"card\"><dt><span data-term=\"{term}\">{term}</span></dt><dd{long}>{}",
        Text(&card.value)
    )?;
    if let Some(badge) = &card.badge {
        write!(out, " <span class=\"badge\">{}</span>", Text(badge))?;
    }
    for line in &card.lines {
        write!(out, "<small>{}</small>", Text(line))?;
    }
    writeln!(out, "</dd></div>")
}

/// Returns a summary of the page in sentences, for people who cannot see the chart.
pub(super) fn summary(report: &Report<'_>) -> String {
    let placements = report.schedules.iter().map(|named| {
        let count = named.schedule.placements().len();
        let makespan = duration(named.schedule.makespan().seconds());
        format!("Schedule \u{201C}{}\u{201D}: {count} placements, the last ends at {makespan}.", named.name)
    });
    let figures = cards(report).into_iter().map(|card| {
        let parts = [vec![card.value], card.badge.into_iter().collect(), card.lines].concat();
        format!("{}: {}.", card.label, parts.join("; "))
    });
    placements.chain(figures).collect::<Vec<_>>().join(" ")
}

pub(super) fn write_origin(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    if let Some(run) = report.run {
        run.origin.iter().try_for_each(|fact| write!(out, "<span>{}</span> ", Text(fact)))?;
    }
    if report.plan().is_none() {
        return Ok(());
    }
    write!(
        out,
        "<span><span data-term=\"algorithm\">algorithm</span> <b>{}</b></span> <span><span data-term=\"seed\">seed</span> <b>{}</b></span>",
        Text(report.algorithm),
        report.seed
    )
}

pub(super) fn write_remarks(out: &mut impl Write, remarks: &[String]) -> io::Result<()> {
    if remarks.is_empty() {
        return Ok(());
    }
    write!(out, "<ul class=\"remarks\" aria-label=\"Remarks\">")?;
    remarks.iter().try_for_each(|remark| write!(out, "<li><bdi>{}</bdi></li>", prose(remark)))?;
    writeln!(out, "</ul>")
}

pub(super) fn write_sections<'a>(
    out: &mut impl Write,
    class: &str,
    sections: impl IntoIterator<Item = &'a Section>,
) -> io::Result<()> {
    let mut sections = sections.into_iter().peekable();
    if sections.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "<div class=\"{class}\">")?;
    for section in sections {
        // Two consecutive narrow sections are placed side by side. A section with a figure and a table has the full
        // width, with the table next to the figure.
        let is_both = section.figure.is_some() && !section.columns.is_empty();
        let class = match is_both {
            true => " class=\"whole both\"",
            false if section.words || section.columns.len() > NARROW => " class=\"whole\"",
            false => "",
        };
        writeln!(out, "<section{class}><h2>{}</h2>", Text(&section.title))?;
        for paragraph in section.text.lines() {
            writeln!(out, "<p>{}</p>", prose(paragraph))?;
        }
        if let Some(figure) = &section.figure {
            write!(out, "<figure>")?;
            write_figure(out, figure)?;
            writeln!(out, "</figure>")?;
        }
        if !section.columns.is_empty() {
            let most = if section.words { LONG_WORDS } else { LONG };
            let long = if section.rows.len() > most { " long" } else { "" };
            let words = if section.words { " words" } else { " figures" };
            write!(out, "<div class=\"scroll{long}{words}\"><table><thead>")?;
            write!(out, "<tr>")?;
            // The style of `figures` aligns all columns but the first to the right.
            let numbers: Vec<&str> = (0..section.columns.len())
                .map(|at| if section.words && has_numbers(&section.rows, at) { " class=\"number\"" } else { "" })
                .collect();
            for (column, class) in section.columns.iter().zip(&numbers) {
                write!(out, "<th scope=\"col\"{class}><bdi>{}</bdi></th>", heading(column))?;
            }
            write!(out, "</tr></thead><tbody>")?;
            for (index, row) in section.rows.iter().enumerate() {
                match section.schedules.get(index) {
                    Some(schedule) => write!(out, "<tr data-schedule=\"{schedule}\">")?,
                    None => write!(out, "<tr>")?,
                }
                for (at, cell) in row.iter().enumerate() {
                    let class = numbers.get(at).copied().unwrap_or_default();
                    write!(out, "<td{class}><bdi>{}</bdi></td>", Text(cell))?;
                }
                writeln!(out, "</tr>")?;
            }
            writeln!(out, "</tbody></table></div>")?;
        }
        writeln!(out, "</section>")?;
    }
    writeln!(out, "</div>")
}

/// Returns whether a column contains only numbers, and dashes for missing numbers. Digits may be grouped by narrow spaces.
fn has_numbers(rows: &[Vec<String>], column: usize) -> bool {
    let is_number = |cell: &String| cell == "-" || cell.replace('\u{202F}', "").parse::<f64>().is_ok();
    !rows.is_empty() && rows.iter().all(|row| row.get(column).is_some_and(is_number))
}

/// Escapes sentences for HTML. Names between backticks become code.
fn prose(text: &str) -> String {
    let text = Text(text).to_string();
    if text.matches('`').count() % 2 == 1 {
        return text;
    }
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

/// Escapes a heading for HTML. A line break is allowed after certain characters of a spec.
fn heading(text: &str) -> String {
    let mut html = Text(text).to_string();
    for sign in ["[", ",", "=", "/"] {
        html = html.replace(sign, &format!("{sign}<wbr>"));
    }
    html
}
