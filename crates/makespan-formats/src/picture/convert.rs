//! Converts SVG to PNG and PDF.
//!
//! The font `DejaVu Sans` is compiled into the program, so a picture looks the same on every machine. In a PDF, text
//! remains text. The same SVG always gives the same bytes.

use std::io;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Tree, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

use super::pdf::{canonical, failed};

/// Pixels of a PNG for each unit of the SVG, so that text stays sharp on a dense screen and in print.
const SCALE: f32 = 2.0;
/// Maximum number of pixels of a PNG, which take 256 MiB of memory.
const MAX_PIXELS: f32 = 64.0 * 1024.0 * 1024.0;

/// Returns the bytes of a PDF.
pub(super) fn pdf(svg: &str) -> io::Result<Vec<u8>> {
    let pdf = svg2pdf::to_pdf(&tree(svg)?, ConversionOptions::default(), PageOptions::default());
    canonical(&pdf.map_err(|error| failed(&error))?)
}

/// Fonts for text in pictures.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

fn tree(svg: &str) -> io::Result<Tree> {
    let options =
        usvg::Options { font_family: "DejaVu Sans".into(), fontdb: Arc::clone(&FONTS), ..usvg::Options::default() };
    Tree::from_str(svg, &options).map_err(|error| failed(&error))
}

/// Returns the bytes of a PNG.
pub(super) fn png(svg: &str) -> io::Result<Vec<u8>> {
    let tree = tree(svg)?;
    let size = tree.size();
    let largest = (MAX_PIXELS / (size.width() * size.height())).sqrt();
    let scale = SCALE.min(largest);
    let pixels = |length: f32| (length * scale).round().max(1.0) as u32;
    let pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()));
    let mut pixmap =
        pixmap.ok_or_else(|| failed(&"the picture has too many pixels for a PNG; write it as SVG or PDF"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}

/// Returns the pixels of a picture, with one pixel for each unit of the SVG.
#[cfg(test)]
pub(crate) fn pixels(svg: &str) -> io::Result<Pixmap> {
    let tree = tree(svg)?;
    let mut pixmap = Pixmap::new(tree.size().width() as u32, tree.size().height() as u32)
        .ok_or_else(|| failed(&"the picture has too many pixels"))?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    Ok(pixmap)
}
