//! Pictures in SVG, PNG or PDF. All charts are drawn in SVG. PNG and PDF are converted from SVG.
//!
//! PNG and PDF require the Cargo feature `pictures`, which is on by default.

#[cfg(feature = "pictures")]
mod convert;
#[cfg(feature = "pictures")]
mod pdf;

use std::io::{self, Write};
use std::path::Path;

#[cfg(all(test, feature = "pictures"))]
pub(crate) use convert::pixels;

/// File format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Vector graphics, for web pages.
    Svg,
    /// Pixels, for slides and e-mail.
    Png,
    /// Vector graphics, for LaTeX.
    Pdf,
}

impl PictureFormat {
    /// File extensions of pictures.
    pub const ENDINGS: [&str; 3] = ["svg", "png", "pdf"];

    /// Returns the format for the extension of a file name, or SVG if the extension is missing or unknown.
    pub fn of(path: &Path) -> Self {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("png") => Self::Png,
            Some("pdf") => Self::Pdf,
            _ => Self::Svg,
        }
    }

    /// Returns whether this build can write the format. SVG is always available; PNG and PDF require the feature
    /// `pictures`.
    pub const fn is_available(self) -> bool {
        matches!(self, Self::Svg) || cfg!(feature = "pictures")
    }
}

/// Writes a picture in the given format. `svg` is the picture as SVG.
///
/// # Errors
/// Errors of the writer. [`io::ErrorKind::InvalidData`] if the SVG cannot be converted (a bug in the drawing code), or
/// if the picture would have too many pixels. [`io::ErrorKind::Unsupported`] if the format is not
/// [available](PictureFormat::is_available).
pub fn write_picture(out: &mut dyn Write, svg: &str, format: PictureFormat) -> io::Result<()> {
    match format {
        PictureFormat::Svg => out.write_all(svg.as_bytes()),
        #[cfg(feature = "pictures")]
        PictureFormat::Png => out.write_all(&convert::png(svg)?),
        #[cfg(feature = "pictures")]
        PictureFormat::Pdf => out.write_all(&convert::pdf(svg)?),
        #[cfg(not(feature = "pictures"))]
        PictureFormat::Png | PictureFormat::Pdf => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this program was built without the feature `pictures`; write the picture as SVG",
        )),
    }
}

#[cfg(all(test, feature = "pictures"))]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::*;

    fn bytes(svg: &str, format: PictureFormat) -> Vec<u8> {
        let mut out = Vec::new();
        write_picture(&mut out, svg, format).unwrap();
        out
    }

    /// Returns an SVG with one word, which may be empty.
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

    /// Checks that converting a picture twice gives the same bytes. Two conversions in one process are enough to
    /// detect a random order, because each hash map has its own order.
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
