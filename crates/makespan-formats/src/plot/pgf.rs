//! A figure for LaTeX: a `tikzpicture` of pgfplots with the data in it, so that it takes the fonts of the paper and can be edited.

use std::fmt::Write as _;

use super::axis::{Axis, label};
use super::svg::COLOURS;
use super::{Figure, Histogram, Line, Point, beyond, spaced, x_label};

/// The shapes of the points, as in the SVG.
const MARKS: [&str; 6] = ["*", "square*", "triangle*", "diamond*", "x", "+"];
/// About as wide as the plot of a page, in the pixels of the SVG.
const WIDTH: f64 = 330.0;
/// What tells lines apart that have the same colour.
const DASHES: [&str; 4] = ["solid", "dashed", "dotted", "dash dot"];

/// A figure with lines.
pub(super) fn figure(figure: &Figure, lines: &[Vec<Point>], axes: [&Axis; 2]) -> String {
    let beyond = beyond::all(figure, lines, axes, WIDTH);
    let mut text =
        opened([&figure.title, &x_label(figure, &beyond), &figure.y_label], axes, "legend pos=outer north east");
    for (index, (series, points)) in figure.series.iter().zip(lines).enumerate() {
        let ranged = points.iter().any(|point| point.low < point.high);
        let colour = letter(index);
        let dash = DASHES[if figure.unmarked { index } else { index / COLOURS.len() } % DASHES.len()];
        let line = match series.line {
            Line::Apart => "only marks, ",
            Line::Straight => "",
            Line::Keeps => "const plot, ",
            Line::Takes => "const plot mark right, ",
        };
        let mark = if figure.unmarked { "none" } else { MARKS[index % 6] };
        let bars = if ranged { ", error bars/.cd, y dir=both, y explicit" } else { "" };
        let forgotten = if figure.unmarked && lines.len() > 1 { ", forget plot" } else { "" };
        let errors = if ranged { "[x=x, y=y, y error plus=above, y error minus=below]" } else { "[x=x, y=y]" };
        let _ =
            writeln!(text, "\\addplot[makespan{colour}, {dash}, {line}mark={mark}{bars}{forgotten}] table {errors} {{");
        text += if ranged { "x y above below\n" } else { "x y\n" };
        for point in points {
            let _ = if ranged {
                let (above, below) = (point.high - point.y, point.y - point.low);
                writeln!(text, "{} {} {} {}", point.x, point.y, above.max(0.0), below.max(0.0))
            } else {
                writeln!(text, "{} {}", point.x, point.y)
            };
        }
        text += "};\n";
        if figure.unmarked && lines.len() > 1 {
            // The legend shows the marks that follow for themselves.
            let mark = MARKS[index % MARKS.len()];
            let _ = writeln!(text, "\\addlegendimage{{makespan{colour}, {dash}, mark={mark}}}");
        }
        if !series.name.is_empty() {
            let _ = writeln!(text, "\\addlegendentry{{{}}}", escaped(&series.name));
        }
    }
    for (index, points) in lines.iter().enumerate().filter(|_| figure.unmarked) {
        let (colour, mark) = (letter(index), MARKS[index % MARKS.len()]);
        let places = spaced(&figure.series[index], points, axes[0], [index, lines.len()]);
        if places.is_empty() {
            continue;
        }
        let _ = write!(text, "\\addplot[makespan{colour}, only marks, mark={mark}, forget plot] coordinates {{");
        places.iter().for_each(|[x, y]| {
            let _ = write!(text, " ({x},{y})");
        });
        text += " };\n";
    }
    for one in &beyond {
        let (colour, down) = (letter(one.series), 7 * one.row);
        let right = beyond::is_right(one, axes[0].fraction(one.x) * WIDTH, WIDTH);
        let (anchor, side) = if right { ("north west", -1) } else { ("north east", 1) };
        let words = if right { format!("$\\uparrow$ {}", one.label) } else { format!("{} $\\uparrow$", one.label) };
        let _ = writeln!(
            text,
            "\\node[makespan{colour}, font=\\tiny, anchor={anchor}, inner sep=1pt, xshift={}pt, yshift=-{down}pt] at (axis cs:{},{}) {{{words}}};",
            3 * side,
            one.x,
            axes[1].high
        );
    }
    text + "\\end{axis}\n\\end{tikzpicture}\n"
}

/// The letter in the name of a line's colour.
fn letter(index: usize) -> char {
    (b'A' + (index % COLOURS.len()) as u8) as char
}

/// A histogram.
pub(super) fn histogram(histogram: &Histogram, shares: &[f64], [x, y]: [&Axis; 2]) -> String {
    let mut text = opened(
        [&histogram.title, &histogram.x_label, "share"],
        [x, y],
        "ybar interval, x tick label as interval=false",
    );
    text += "\\addplot[fill=makespanA, draw=none] table [x=x, y=y] {\nx y\n";
    let edge = |index: usize| x.low + (x.high - x.low) * index as f64 / shares.len() as f64;
    // The last row closes the last interval.
    for (index, share) in shares.iter().chain([&0.0]).enumerate() {
        let _ = writeln!(text, "{} {share}", edge(index));
    }
    text + "};\n\\end{axis}\n\\end{tikzpicture}\n"
}

fn opened([title, x_label, y_label]: [&str; 3], [x, y]: [&Axis; 2], more: &str) -> String {
    let mut text = "% Needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.16}\n".to_owned();
    for (index, colour) in COLOURS.iter().enumerate() {
        let letter = (b'A' + index as u8) as char;
        let _ = writeln!(text, "\\definecolor{{makespan{letter}}}{{HTML}}{{{}}}", &colour[1..]);
    }
    let ticks = |axis: &Axis| axis.ticks.iter().map(|&tick| label(tick)).collect::<Vec<_>>().join(",");
    let mode = |name: &str, axis: &Axis| if axis.log { format!(" {name}mode=log,") } else { String::new() };
    let _ = writeln!(
        text,
        "\\begin{{tikzpicture}}\n\\begin{{axis}}[width=0.7\\linewidth, height=0.5\\linewidth,{}{}\n  title={{{}}}, xlabel={{{}}}, ylabel={{{}}},\n  \
         xmin={}, xmax={}, ymin={}, ymax={},\n  xtick={{{xticks}}}, xticklabels={{{xticks}}}, ytick={{{yticks}}}, yticklabels={{{yticks}}},\n  \
         ymajorgrids, grid style={{gray!25}}, legend cell align=left, {more}]",
        mode("x", x),
        mode("y", y),
        escaped(title),
        escaped(x_label),
        escaped(y_label),
        x.low,
        x.high,
        y.low,
        y.high,
        xticks = ticks(x),
        yticks = ticks(y),
    );
    text
}

/// Text without what TeX takes for more than text.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '<' => escaped += "\\textless{}",
            '>' => escaped += "\\textgreater{}",
            '|' => escaped += "\\textbar{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            // Braces keep brackets from ending an option.
            '[' | ']' => {
                let _ = write!(escaped, "{{{c}}}");
            }
            c if c.is_control() => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}
