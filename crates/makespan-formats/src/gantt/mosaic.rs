//! Merges rectangles that are smaller than a pixel into cells.

use std::io::{self, Write};

use super::escape::PixelCoordinate;
use super::scheme::COLOURS;

/// Side length of a cell in pixels. With this length, a chart has at most about 150,000 cells, which limits the size
/// of the file.
const CELL: f64 = 2.0;
/// Opacities for cells that are barely, partly and fully covered.
const SHADES: [&str; 3] = ["0.3", "0.6", "1"];

/// Grid of cells. Each cell stores its covered area and the colour of the last rectangle that was added to it.
pub(super) struct CellGrid {
    columns: usize,
    rows: usize,
    covered: Vec<f32>,
    colour: Vec<u8>,
    used: bool,
}

impl CellGrid {
    /// Returns an empty grid for an area of `width` times `height` pixels.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let (columns, rows) = ((width / CELL).ceil() as usize, (height / CELL).ceil() as usize);
        Self { columns, rows, covered: vec![0.0; columns * rows], colour: vec![0; columns * rows], used: false }
    }

    /// Adds a rectangle with coordinates relative to the grid.
    pub(super) fn add(&mut self, [x, y, width, height]: [f64; 4], colour: usize) {
        let span = |from: f64, length: f64, limit: usize| {
            let first = ((from / CELL) as usize).min(limit.saturating_sub(1));
            (first, (((from + length) / CELL).ceil() as usize).clamp(first + 1, limit.max(first + 1)))
        };
        let share = |cell: usize, from: f64, length: f64| {
            let low = from.max(cell as f64 * CELL);
            ((from + length).min((cell + 1) as f64 * CELL) - low).max(0.0)
        };
        let (left, right) = span(x, width, self.columns);
        let (top, bottom) = span(y, height, self.rows);
        for row in top..bottom.min(self.rows) {
            let tall = share(row, y, height);
            for column in left..right.min(self.columns) {
                let cell = row * self.columns + column;
                self.covered[cell] += (share(column, x, width) * tall) as f32;
                self.colour[cell] = colour as u8;
                self.used = true;
            }
        }
    }

    /// Writes one path for each colour and opacity. Adjacent cells of a row are joined.
    pub(super) fn write(&self, out: &mut impl Write, left: f64, top: f64) -> io::Result<()> {
        if !self.used {
            return Ok(());
        }
        let mut paths = vec![String::new(); COLOURS.len() * SHADES.len()];
        for row in 0..self.rows {
            let mut column = 0;
            while column < self.columns {
                let Some(kind) = self.kind(row, column) else {
                    column += 1;
                    continue;
                };
                let from = column;
                while column < self.columns && self.kind(row, column) == Some(kind) {
                    column += 1;
                }
                let (x, y) = (left + from as f64 * CELL, top + row as f64 * CELL);
                let width = (column - from) as f64 * CELL;
                let run = format!("M{} {}h{width}v{CELL}h-{width}z", PixelCoordinate(x), PixelCoordinate(y));
                paths[kind].push_str(&run);
            }
        }
        for (kind, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let (colour, shade) = (COLOURS[kind / SHADES.len()], SHADES[kind % SHADES.len()]);
            writeln!(out, r#"<path fill="{colour}" fill-opacity="{shade}" d="{path}"/>"#)?;
        }
        Ok(())
    }

    fn kind(&self, row: usize, column: usize) -> Option<usize> {
        let cell = row * self.columns + column;
        let share = f64::from(self.covered[cell]) / (CELL * CELL);
        let shade = match share {
            share if share <= 0.0 => return None,
            share if share < 0.34 => 0,
            share if share < 0.67 => 1,
            _ => 2,
        };
        Some(usize::from(self.colour[cell]) * SHADES.len() + shade)
    }
}
