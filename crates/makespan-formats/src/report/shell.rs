//! The frame of all pages: head, style, data and script.

use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::gantt::escape::Text;

const PAGE: &str = include_str!("../../assets/page.html");

/// Kind of page.
#[derive(Clone, Copy)]
pub(super) struct Shell<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Parts of the style sheet, in their order.
    pub styles: &'a [&'a str],
    /// Parts of the script, in order. Each part uses names of the preceding parts.
    pub scripts: &'a [&'a str],
    /// Content of the page between the head and the foot. The content has slots such as `{{name}}`.
    pub body: &'a str,
}

impl Shell<'_> {
    /// Writes the page. `slot` writes the content for a slot `{{name}}`. `slot` is called for each slot of the body,
    /// and for the slots `origin` and `data`.
    pub(super) fn write<W: Write>(
        &self,
        out: W,
        mut slot: impl FnMut(&mut BufWriter<W>, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        // The browser removes carriage returns, so the hashes are hashes of the text without them.
        let style = self.styles.concat().replace('\r', "");
        let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", self.scripts.concat().replace('\r', ""));
        let page = PAGE.replace("{{body}}\n", self.body);
        fill(&mut out, &page, |out, name| match name {
            "title" => write!(out, "{}", Text(self.title)),
            "policy" => write!(out, "script-src '{}'; style-src '{}'", hash(&script), hash(&style)),
            "style" => out.write_all(style.as_bytes()),
            "script" => out.write_all(script.as_bytes()),
            other => slot(out, other),
        })?;
        out.flush()
    }
}

/// Writes a template. `slot` writes the content for a slot `{{name}}`.
fn fill<W: Write>(out: &mut W, template: &str, mut slot: impl FnMut(&mut W, &str) -> io::Result<()>) -> io::Result<()> {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        rest = after;
        slot(out, name)?;
    }
    out.write_all(rest.as_bytes())
}

/// Returns the source expression of the Content-Security-Policy that allows exactly this text.
pub(super) fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
