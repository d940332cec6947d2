//! What stands around the content of every page: its head, its style, its data and its script.

use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::gantt::escape::Text;

const PAGE: &str = include_str!("../../assets/page.html");

/// A kind of page.
#[derive(Clone, Copy)]
pub(super) struct Shell<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Parts of the style, one after the other.
    pub styles: &'a [&'a str],
    /// Parts of the script: each uses names of those before it.
    pub scripts: &'a [&'a str],
    /// What stands between head and foot, with slots.
    pub body: &'a str,
}

impl Shell<'_> {
    /// Writes the page, in which `slot` writes what stands for `{{name}}`. The names are those of the body, `origin` and `data`.
    pub(super) fn write<W: Write>(
        &self,
        out: W,
        mut slot: impl FnMut(&mut BufWriter<W>, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        // A page is hashed as the browser reads it, with plain line feeds.
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

/// Writes a template in which `slot` writes what stands for `{{name}}`.
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

/// The source expression that allows exactly this text.
pub(super) fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
