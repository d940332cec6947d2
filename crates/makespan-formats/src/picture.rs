//! Pictures as SVG, PNG or PDF: what is drawn is SVG, and the other two are made of it.
//!
//! Their text is set in `DejaVu Sans`, which is compiled in, so that a picture looks the same on every machine. A PDF keeps text as text.
//! The same SVG makes the same bytes.

mod pdf;

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Tree, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

/// Pixels of a PNG for each unit of the SVG, so that text stays sharp on a dense screen and in print.
const SCALE: f32 = 2.0;
/// Largest PNG: 256 MiB in memory.
const MAX_PIXELS: f32 = 64.0 * 1024.0 * 1024.0;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Vectors, for pages.
    Svg,
    /// Pixels, for slides and mails.
    Png,
    /// Vectors, for LaTeX.
    Pdf,
}

impl PictureFormat {
    /// The endings of files that hold pictures.
    pub const ENDINGS: [&str; 3] = ["svg", "png", "pdf"];

    /// The format that the ending of a file asks for; SVG when it has another one, or none.
    pub fn of(path: &Path) -> Self {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("png") => Self::Png,
            Some("pdf") => Self::Pdf,
            _ => Self::Svg,
        }
    }
}

/// Writes a picture, given as SVG, in this format.
///
/// # Errors
/// Those of the writer; and [`io::ErrorKind::InvalidData`] when the SVG cannot be converted, which is a defect of whoever drew it, or
/// would have too many pixels.
pub fn write_picture(out: &mut dyn Write, svg: &str, format: PictureFormat) -> io::Result<()> {
    match format {
        PictureFormat::Svg => out.write_all(svg.as_bytes()),
        PictureFormat::Png => out.write_all(&png(&tree(svg)?)?),
        PictureFormat::Pdf => {
            let pdf = svg2pdf::to_pdf(&tree(svg)?, ConversionOptions::default(), PageOptions::default());
            out.write_all(&pdf::canonical(&pdf.map_err(|error| failed(&error))?)?)
        }
    }
}

/// The fonts that text is set in.
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

fn png(tree: &Tree) -> io::Result<Vec<u8>> {
    let size = tree.size();
    let largest = (MAX_PIXELS / (size.width() * size.height())).sqrt();
    let scale = SCALE.min(largest);
    let pixels = |length: f32| (length * scale).round().max(1.0) as u32;
    let pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()));
    let mut pixmap =
        pixmap.ok_or_else(|| failed(&"the picture has too many pixels for a PNG; write it as SVG or PDF"))?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}

/// The pixels of a picture, one for each unit of the SVG.
#[cfg(test)]
pub(crate) fn pixels(svg: &str) -> io::Result<Pixmap> {
    let tree = tree(svg)?;
    let mut pixmap = Pixmap::new(tree.size().width() as u32, tree.size().height() as u32)
        .ok_or_else(|| failed(&"the picture has too many pixels"))?;
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    Ok(pixmap)
}

fn failed(reason: &dyn ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(svg: &str, format: PictureFormat) -> Vec<u8> {
        let mut out = Vec::new();
        write_picture(&mut out, svg, format).unwrap();
        out
    }

    /// A page with a word on it, or with an empty text.
    fn page(word: &str) -> String {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 50" width="200" height="50"><style>text{{font:11px system-ui,sans-serif}}</style><rect width="200" height="50" fill="white"/><text x="20" y="30">{word}</text></svg>"#
        )
    }

    #[test]
    fn text_is_drawn_without_a_font_of_the_machine() {
        for format in [PictureFormat::Png, PictureFormat::Pdf] {
            assert!(bytes(&page("word"), format).len() > bytes(&page(""), format).len() + 100, "{format:?}");
        }
        let image = Pixmap::decode_png(&bytes(&page("word"), PictureFormat::Png)).unwrap();
        assert_eq!((image.width(), image.height()), (400, 100));
        assert!(image.pixels().iter().any(|pixel| pixel.red() < 100));
    }

    /// Each hash map of a process has its own order, as each process has.
    #[test]
    fn the_same_picture_has_the_same_bytes() {
        let parts: String = (1..8)
            .map(|at| format!(r#"<text y="{at}" font-weight="{}00" opacity="0.{at}">{at}</text>"#, 4 + 3 * (at % 2)))
            .collect();
        let svg = format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{parts}</svg>"#);
        for format in [PictureFormat::Png, PictureFormat::Pdf] {
            let first = bytes(&svg, format);
            assert!((0..8).all(|_| bytes(&svg, format) == first), "{format:?}");
        }
    }

    #[test]
    fn a_picture_of_every_size_is_written() {
        for size in ["1", "0.1", "30000"] {
            let svg = format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}"/>"#);
            assert!(bytes(&svg, PictureFormat::Png).starts_with(b"\x89PNG"), "{size}");
            assert!(bytes(&svg, PictureFormat::Pdf).starts_with(b"%PDF"), "{size}");
        }
    }

    #[test]
    fn the_ending_chooses_the_format() {
        for (name, format) in [("a.PNG", PictureFormat::Png), ("a.pdf", PictureFormat::Pdf), ("a", PictureFormat::Svg)]
        {
            assert_eq!(PictureFormat::of(Path::new(name)), format);
        }
        assert!(write_picture(&mut Vec::new(), "no picture", PictureFormat::Png).is_err());
    }
}
