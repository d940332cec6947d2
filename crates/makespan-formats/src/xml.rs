//! Parses XML documents, with limits that protect against malicious files.
//!
//! A small file can require much memory and time. The parser expands entities that the document type declares. It
//! compares each attribute of an element with all other attributes of this element. So the text is scanned first. The
//! scan refuses declarations of entities, and sizes that no real file of jobs or machines has.

use std::borrow::Cow;

use roxmltree::{Document, ParsingOptions};

/// Maximum number of attributes of an element.
const MAX_ATTRIBUTES: usize = 256;
/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 256;
/// Maximum number of declared namespaces in the document. The number is limited because the parser copies the
/// namespaces of all ancestors for each element that declares one.
const MAX_NAMESPACES: usize = 1000;
/// Number of nodes that every document may have, even a short document.
const MIN_NODES: usize = 1_000_000;
/// Minimum average number of bytes per node in a document with more than [`MIN_NODES`] nodes. An element and the blank
/// before the element are two nodes.
const BYTES_PER_NODE: usize = 8;

/// Problem with a text, and its position.
#[derive(Debug)]
pub(crate) struct XmlProblem {
    pub line: usize,
    pub column: usize,
    pub problem: String,
}

/// Overwrites an XML declaration (`<?xml ..?>`) with blanks, if blank lines precede it. Otherwise the parser would
/// refuse the declaration, because it is not at the beginning of the text. All positions in the text are unchanged.
pub(crate) fn prepared(text: &str) -> Cow<'_, str> {
    let before = text.len() - text.trim_start().len();
    let end = text[before..].find("?>").map(|end| before + end + 2);
    match end.filter(|_| before > 0 && text[before..].starts_with("<?xml")) {
        Some(end) => {
            let blanks = text[before..end].chars().map(|c| if c == '\n' { c } else { ' ' });
            Cow::Owned([&text[..before], &blanks.collect::<String>(), &text[end..]].concat())
        }
        None => Cow::Borrowed(text),
    }
}

/// Parses a document. The document may name a document type, as files of `SimGrid` do. The document type is not loaded.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, XmlProblem> {
    let mut scan = Scan { text: text.as_bytes(), at: 0, depth: 0, namespaces: 0, document_type: false };
    scan.all().map_err(|problem| scan.broken(problem))?;
    let nodes = (text.len() / BYTES_PER_NODE).max(MIN_NODES);
    let options =
        ParsingOptions { allow_dtd: scan.document_type, nodes_limit: u32::try_from(nodes).unwrap_or(u32::MAX) };
    Document::parse_with_options(text, options).map_err(|error| {
        let at = error.pos();
        XmlProblem { line: at.row as usize, column: at.col as usize, problem: format!("the XML is broken: {error}") }
    })
}

/// Scan over the tags of a text. The scan may misread a text that is not well-formed, but then the parser returns an
/// error.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    namespaces: usize,
    document_type: bool,
}

impl Scan<'_> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(next) = self.text[self.at..].iter().position(|&byte| byte == b'<') {
            self.at += next;
            let rest = &self.text[self.at..];
            if rest.starts_with(b"<!--") {
                self.skip(b"-->");
            } else if rest.starts_with(b"<![CDATA[") {
                self.skip(b"]]>");
            } else if rest.starts_with(b"<?") {
                self.skip(b"?>");
            } else if rest.starts_with(b"<!") {
                self.document_type()?;
            } else if rest.starts_with(b"</") {
                self.depth = self.depth.saturating_sub(1);
                self.skip(b">");
            } else {
                self.element()?;
            }
        }
        Ok(())
    }

    /// Moves past the next occurrence of `end`.
    fn skip(&mut self, end: &[u8]) {
        let found = self.text[self.at..].windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.text.len(), |found| self.at + found + end.len());
    }

    /// Moves past a tag. Calls `take` for each byte of the tag outside quotation marks.
    fn tag(&mut self, mut take: impl FnMut(usize, u8) -> Result<(), String>) -> Result<(), String> {
        let mut quote = None;
        while let Some(&byte) = self.text.get(self.at) {
            match quote {
                Some(open) if open == byte => quote = None,
                Some(_) => {}
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                None => take(self.at, byte)?,
            }
            self.at += 1;
            if quote.is_none() && byte == b'>' {
                break;
            }
        }
        Ok(())
    }

    fn document_type(&mut self) -> Result<(), String> {
        self.document_type = true;
        self.tag(|_, byte| match byte {
            b'[' => {
                Err("the document declares entities or elements of its own, which are not supported; remove the part \
                     from [ to ] of <!DOCTYPE ..>"
                    .to_owned())
            }
            _ => Ok(()),
        })
    }

    fn element(&mut self) -> Result<(), String> {
        let (mut attributes, mut namespaces, mut last) = (0, 0, b' ');
        let text = self.text;
        self.tag(|at, byte| {
            if byte == b'=' {
                attributes += 1;
                if attributes > MAX_ATTRIBUTES {
                    return Err(format!("an element has more than {MAX_ATTRIBUTES} attributes"));
                }
            }
            if last.is_ascii_whitespace() && text[at..].starts_with(b"xmlns") {
                namespaces += 1;
            }
            if byte != b'>' {
                last = byte;
            }
            Ok(())
        })?;
        self.namespaces += namespaces;
        if self.namespaces > MAX_NAMESPACES {
            return Err(format!("the document declares more than {MAX_NAMESPACES} namespaces"));
        }
        if last != b'/' {
            self.depth += 1;
        }
        if self.depth > MAX_DEPTH {
            return Err(format!("elements are nested more than {MAX_DEPTH} levels deep"));
        }
        Ok(())
    }

    fn broken(&self, problem: String) -> XmlProblem {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = before.split(|&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        XmlProblem { line, column: String::from_utf8_lossy(&before[start..]).chars().count() + 1, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text).map(|document| document.root_element().tag_name().name().to_owned()).unwrap_err().problem
    }

    #[test]
    fn what_files_have_is_read() {
        for text in [
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform/>",
            "<!DOCTYPE a PUBLIC '-//x [y] > z' \"u\"><!-- <!DOCTYPE [ --><a b='x > y' c=\"/\"><d/><![CDATA[<e f=]]></a>",
        ] {
            parse(text).unwrap();
        }
    }

    #[test]
    fn what_would_fill_the_memory_is_refused() {
        let laughs = "<!DOCTYPE a [<!ENTITY b 'ha'>]><a>&b;</a>";
        assert!(problem(laughs).contains("declares entities"));
        let broken = parse("<!-- -->\n  <!DOCTYPE a [").unwrap_err();
        assert_eq!((broken.line, broken.column), (2, 15));
        let attributes = |count: usize| (0..count).map(|at| format!(" a{at}=''")).collect::<String>();
        parse(&format!("<a{}/>", attributes(MAX_ATTRIBUTES))).unwrap();
        assert!(problem(&format!("<a{}/>", attributes(100_000))).contains("more than 256 attributes"));
        let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        parse(&deep(MAX_DEPTH)).unwrap();
        assert!(problem(&deep(MAX_DEPTH + 1)).contains("are nested"));
        let spaces = |count: usize| format!("<a>{}</a>", "<b xmlns:c='d'/>".repeat(count));
        parse(&spaces(MAX_NAMESPACES)).unwrap();
        assert!(problem(&spaces(MAX_NAMESPACES + 1)).contains("namespaces"));
        assert!(problem(&format!("<a>{}</a>", "<b/>".repeat(MIN_NODES))).contains("nodes limit"));
    }
}
