//! The parts of a page that need no script.

use std::io::{self, Write};

use makespan_core::{Apart, Metrics, Objective};

use super::{Report, Section};
use crate::gantt::NamedSchedule;
use crate::gantt::escape::Text;
use crate::gantt::summary::{Standing, bound_word, grouped};
use crate::gantt::ticks::duration;
use crate::plot::write_figure;

/// Tables of figures, and of words, with more rows scroll.
const LONG: usize = 60;
const LONG_WORDS: usize = 20;

/// Values of more signs are smaller, so that they stay on one line.
const LONG_VALUE: usize = 12;

/// One figure at the head of the page.
pub(super) struct Card {
    pub(super) label: String,
    pub(super) value: String,
    /// What stands beside it: that it is optimal.
    pub(super) badge: Option<String>,
    /// Smaller lines under the value.
    pub(super) lines: Vec<String>,
}

fn cards(report: &Report<'_>) -> Vec<Card> {
    let Some(plan) = report.schedules.first() else { return Vec::new() };
    let all = || report.schedules.iter().map(|named| (named.name, Metrics::of(report.instance, named.schedule)));
    let others = |show: &dyn Fn(&Metrics) -> String| {
        let rest = if report.choose { 0 } else { report.schedules.len() };
        all().take(rest).skip(1).map(|(name, metrics)| format!("{name}: {}", show(&metrics))).collect::<Vec<_>>()
    };
    let metrics = Metrics::of(report.instance, plan.schedule);
    let mut cards: Vec<Card> = Standing::all(report.instance, plan.schedule, report.bounds)
        .iter()
        .map(|standing| objective(report, standing))
        .collect();
    let percent = |metrics: &Metrics| format!("{:.1} %", metrics.utilisation * 100.0);
    let flow = |metrics: &Metrics| duration(metrics.mean_flow);
    let mut add = |label: &str, value: String, lines: Vec<String>| {
        cards.push(Card { label: label.to_owned(), value, badge: None, lines });
    };
    add("utilisation", percent(&metrics), [vec!["of the open area".to_owned()], others(&percent)].concat());
    let slowdown = format!("mean bounded slowdown {:.2}", metrics.mean_bounded_slowdown);
    add("mean flow", flow(&metrics), [vec![slowdown], others(&flow)].concat());
    let machines = format!("on {} processors", grouped(f64::from(report.instance.processors())));
    let tasks = format!("{} tasks in all", grouped(report.instance.tasks() as f64));
    let tasks = (report.instance.has_bags() || report.instance.has_compound_jobs()).then_some(tasks);
    add("jobs", grouped(report.instance.jobs().len() as f64), tasks.into_iter().chain([machines]).collect());
    if let Some(apart) = Apart::of(report.instance, plan.schedule) {
        let without = format!("without it the makespan is {}", duration(apart.others.seconds()));
        let other = |named: &NamedSchedule<'_>| {
            let apart = Apart::of(report.instance, named.schedule)?;
            let (best_effort, others) = (duration(apart.best_effort.seconds()), duration(apart.others.seconds()));
            Some(format!("{}: {best_effort}, without it {others}", named.name))
        };
        let others = report.schedules.iter().skip(1).filter_map(other);
        add("best effort ends", duration(apart.best_effort.seconds()), [without].into_iter().chain(others).collect());
    }
    cards
}

fn objective(report: &Report<'_>, standing: &Standing) -> Card {
    let mut lines = Vec::new();
    if matches!(standing.objective, Objective::WeightedCompletion | Objective::WeightedLateness) {
        lines.push("weight \u{D7} seconds".to_owned());
    }
    let optimal = standing.bound == Some(standing.value);
    let badge = standing.claim().filter(|_| optimal);
    if let Some(bound) = standing.bound.filter(|_| !optimal) {
        lines.push(format!("{} {}", bound_word(standing.condition), standing.show(bound)));
        if let Some(ratio) = standing.ratio() {
            lines.push(
                standing
                    .claim()
                    .map_or_else(|| format!("ratio {ratio:.3}"), |claim| format!("ratio {ratio:.3}, {claim}")),
            );
        }
    }
    if optimal {
        lines.push("proved: no schedule is better".to_owned());
    }
    if report.choose {
        return Card { label: standing.objective.to_string(), value: standing.show(standing.value), badge, lines };
    }
    for other in report.schedules.iter().skip(1) {
        let value = standing.objective.value(report.instance, other.schedule);
        lines.push(format!("{}: {}", other.name, standing.show(value)));
    }
    Card { label: standing.objective.to_string(), value: standing.show(standing.value), badge, lines }
}

pub(super) fn write_cards(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    cards(report).iter().try_for_each(|card| write_card(out, card))
}

pub(super) fn write_card(out: &mut impl Write, card: &Card) -> io::Result<()> {
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

/// The page in sentences, for those who cannot see the chart.
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
    remarks.iter().try_for_each(|remark| write!(out, "<li><bdi>{}</bdi></li>", Text(remark)))?;
    writeln!(out, "</ul>")
}

pub(super) fn write_sections<'a>(
    out: &mut impl Write,
    sections: impl IntoIterator<Item = &'a Section>,
) -> io::Result<()> {
    for section in sections {
        writeln!(out, "<section><h2>{}</h2>", Text(&section.title))?;
        if !section.text.is_empty() {
            writeln!(out, "<p>{}</p>", Text(&section.text))?;
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
            write_row(out, "th scope=\"col\"", "th", &section.columns)?;
            write!(out, "</thead><tbody>")?;
            for (index, row) in section.rows.iter().enumerate() {
                match section.schedules.get(index) {
                    Some(schedule) => write!(out, "<tr data-schedule=\"{schedule}\">")?,
                    None => write!(out, "<tr>")?,
                }
                write_row(out, "td", "td", row)?;
            }
            writeln!(out, "</tbody></table></div>")?;
        }
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn write_row(out: &mut impl Write, open: &str, close: &str, cells: &[String]) -> io::Result<()> {
    cells.iter().try_for_each(|cell| write!(out, "<{open}><bdi>{}</bdi></{close}>", Text(cell)))?;
    writeln!(out, "</tr>")
}
