//! Draws the phases of a flow of tasks over time as a coloured strip.

use std::io::{self, Write};

use makespan_core::{Phase, PhaseStep, Phases, Time};

use super::PolicyPanel;
use crate::gantt::escape::PixelCoordinate;

/// Maximum number of phases of a strip that is drawn exactly. A longer strip has this number of columns.
const EXACT: usize = 500;

/// A piece of the strip: the end of its period, and the share of time in each phase, in the order of [`Phase::ALL`].
type Piece = (Time, [f64; 3]);

const fn class(phase: Phase) -> &'static str {
    match phase {
        Phase::Saturation => "saturation",
        Phase::Slide => "slide",
        Phase::Starvation => "starvation",
    }
}

/// Draws a strip for the period `span`. The upper left corner of the strip is at `left` and `top`, and its size is
/// `width` times `height`. In a column, the phases are stacked by their shares of time, with saturation at the top.
/// The strip is empty before the first and after the last task.
pub(super) fn write(
    out: &mut impl Write,
    phases: &Phases,
    span: [Time; 2],
    [left, width]: [f64; 2],
    [top, height]: [f64; 2],
) -> io::Result<()> {
    let seconds = (span[1] - span[0]).seconds();
    let x = |at: Time| PixelCoordinate(left + width * ((at - span[0]).seconds() / seconds).clamp(0.0, 1.0));
    let (from, pieces) = pieces(phases, EXACT);
    for (index, phase) in Phase::ALL.into_iter().enumerate() {
        let (mut path, mut at) = (String::new(), from);
        for &(until, parts) in &pieces {
            let above = [0.0, parts[0], parts[0] + parts[1]];
            if parts[index] > 0.0 {
                let upper = PixelCoordinate(height.mul_add(above[index], top));
                let lower = PixelCoordinate(height.mul_add((above[index] + parts[index]).min(1.0), top));
                path += &format!("M{} {upper}H{}V{lower}H{}z", x(at), x(until), x(at));
            }
            at = until;
        }
        if !path.is_empty() {
            let share = 100.0 * phases.share(phase);
            let title = format!("<title>{}: {share:.1} % of the time</title>", phase.name());
            writeln!(out, r#"<path class="{}" d="{path}">{title}</path>"#, class(phase))?;
        }
    }
    let middle = PixelCoordinate(top + height / 2.0 + 4.0);
    writeln!(out, r#"<text class="end word" x="{}" y="{middle}">phase</text>"#, left - 7.0)
}

/// Writes the meaning of the colours. Writes nothing if no policy has phases.
pub(super) fn write_legend(out: &mut impl Write, policies: &[PolicyPanel<'_>]) -> io::Result<()> {
    if policies.iter().all(|policy| policy.phases.is_none()) {
        return Ok(());
    }
    let meaning = |phase| match phase {
        Phase::Saturation => "all processors busy, and more than two waiting tasks for each processor",
        Phase::Slide => "between the two",
        Phase::Starvation => "a processor is idle, and no task waits",
    };
    write!(out, r#"<p class="legend phases">"#)?;
    for phase in Phase::ALL {
        let (class, name) = (class(phase), phase.name());
        write!(out, r#"<span><span class="swatch {class}"></span> <b>{name}</b>: {}</span> "#, meaning(phase))?;
    }
    writeln!(out, "</p>")
}

/// Returns the beginning of the first piece, and all pieces. There is one piece for each phase, or `columns` pieces of
/// equal length if there are more phases than `columns`.
fn pieces(phases: &Phases, columns: usize) -> (Time, Vec<Piece>) {
    let Some(first) = phases.steps.first() else { return (phases.end, Vec::new()) };
    let ends = phases.steps.iter().skip(1).map(|step| step.from).chain([phases.end]);
    let steps = phases.steps.iter().zip(ends);
    let whole = |phase| Phase::ALL.map(|one| if one == phase { 1.0 } else { 0.0 });
    if phases.steps.len() <= columns {
        return (first.from, steps.map(|(step, end)| (end, whole(step.phase))).collect());
    }
    let span = i128::from((phases.end - first.from).ticks());
    let bound = |index: usize| first.from + Time::from_ticks((span * index as i128 / columns as i128) as i64);
    let mut pieces: Vec<Piece> = (1..=columns).map(|index| (bound(index), [0.0; 3])).collect();
    let mut column = 0;
    for (PhaseStep { from, phase }, end) in steps {
        let mut at = *from;
        while at < end {
            while pieces[column].0 <= at {
                column += 1;
            }
            let until = end.min(pieces[column].0);
            let index = Phase::ALL.iter().position(|one| one == phase).unwrap_or(0);
            let length = (pieces[column].0 - bound(column)).seconds();
            pieces[column].1[index] += (until - at).seconds() / length;
            at = until;
        }
    }
    (first.from, pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternating(count: i64) -> Phases {
        let step = |index: i64| PhaseStep {
            from: Time::from_seconds(index),
            phase: if index % 4 == 3 { Phase::Starvation } else { Phase::ALL[(index % 2) as usize] },
        };
        Phases { steps: (0..count).map(step).collect(), end: Time::from_seconds(count) }
    }

    #[test]
    fn columns_hold_the_parts_of_the_phases() {
        let phases = alternating(4000);
        let (from, pieces) = pieces(&phases, 10);
        assert_eq!((from, pieces.len(), pieces[9].0), (Time::ZERO, 10, Time::from_seconds(4000)));
        for (until, parts) in &pieces {
            for (part, phase) in parts.iter().zip(Phase::ALL) {
                let exact = phases.within(phase, *until - Time::from_seconds(400), *until);
                assert!((part - exact).abs() < 1e-9, "{part} {exact}");
            }
        }
    }

    #[test]
    fn short_strips_are_exact_and_long_ones_short() {
        let strip = |count| {
            let (phases, mut out) = (alternating(count), Vec::new());
            write(&mut out, &phases, [Time::ZERO, phases.end], [0.0, 100.0], [0.0, 10.0]).unwrap();
            String::from_utf8(out).unwrap()
        };
        let short = strip(4);
        assert!(short.contains(r#"class="saturation" d="M0 0H25V10H0zM50 0H75V10H50z""#), "{short}");
        assert!(short.contains("starvation: 25.0 % of the time"), "{short}");
        assert!(strip(400_000).len() < 60_000);
        assert_eq!(strip(0).matches("<path").count(), 0);
    }
}
