//! Rewrites a PDF in a canonical form, so that every process writes the same bytes.
//!
//! `svg2pdf` stores fonts and resources in hash maps. So the order of objects, and the order of entries in
//! dictionaries, differ between processes, although these orders have no meaning. This module sorts the entries. It
//! numbers and writes the objects in the order in which they are reached from the trailer.
//!
//! The module reads only PDFs that `pdf-writer` writes. Such PDFs have no compressed objects. They have one
//! cross-reference table, and write each dictionary entry on a separate line.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Objects by number. An object consists of the text before its stream, and the stream including its keywords.
type Objects<'a> = BTreeMap<usize, (String, &'a [u8])>;

/// Returns the PDF in its canonical form.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if `pdf-writer` did not write the PDF.
pub(super) fn canonical(pdf: &[u8]) -> io::Result<Vec<u8>> {
    let (head, objects, trailer) = parse(pdf).ok_or_else(|| failed(&"a PDF with an unknown structure"))?;
    // Objects are numbered in the order of the first references to them.
    let mut numbers = BTreeMap::new();
    let mut found = Vec::new();
    let trailer = renumber(trailer, &mut numbers, &mut found);
    let mut out = head.to_vec();
    let mut offsets = Vec::new();
    while let Some(&old) = found.get(offsets.len()) {
        let (text, stream) = objects
            .get(&old)
            .ok_or_else(|| failed(&"the PDF is damaged: it refers to an object that is not in the file"))?;
        offsets.push(out.len());
        let text = renumber(text, &mut numbers, &mut found);
        write!(out, "{} 0 obj\n{text}", offsets.len())?;
        out.extend_from_slice(stream);
    }
    let start = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f\r\n", offsets.len() + 1)?;
    offsets.iter().try_for_each(|offset| write!(out, "{offset:010} 00000 n\r\n"))?;
    let trailer = trailer.replace(&size(objects.len()), &size(offsets.len()));
    write!(out, "{trailer}startxref\n{start}\n%%EOF")?;
    Ok(out)
}

/// Returns the trailer entry `/Size`, the number of objects including object 0, which is always free.
fn size(objects: usize) -> String {
    format!("/Size {}\n", objects + 1)
}

/// Splits a PDF into three parts: the header, the objects with sorted entries, and the text from `trailer` on.
fn parse(pdf: &[u8]) -> Option<(&[u8], Objects<'_>, &str)> {
    let end = pdf.len().saturating_sub(40);
    let start = end + find(&pdf[end..], b"startxref\n")?;
    let xref: usize = std::str::from_utf8(&pdf[start..]).ok()?.lines().nth(1)?.parse().ok()?;
    let table = std::str::from_utf8(pdf.get(xref..start)?).ok()?;
    let (table, trailer) = table.split_at(table.find("trailer\n")?);
    let used = table.lines().skip(2).filter(|line| line.trim_end().ends_with('n'));
    let mut offsets = used.map(|line| line.get(..10)?.parse().ok()).collect::<Option<Vec<usize>>>()?;
    offsets.sort_unstable();
    let head = &pdf[..offsets.first().copied()?];
    offsets.push(xref);
    let objects = offsets.windows(2).map(|pair| object(pdf.get(pair[0]..pair[1])?));
    Some((head, objects.collect::<Option<_>>()?, trailer))
}

/// Returns the number and the content of an object.
fn object(bytes: &[u8]) -> Option<(usize, (String, &[u8]))> {
    const KEYWORD: &[u8] = b" 0 obj\n";
    let begin = find(bytes, KEYWORD)?;
    let number = std::str::from_utf8(&bytes[..begin]).ok()?.parse().ok()?;
    let body = &bytes[begin + KEYWORD.len()..];
    let (text, stream) = body.split_at(find(body, b">>\nstream\n").unwrap_or(body.len()));
    Some((number, (sorted(std::str::from_utf8(text).ok()?), stream)))
}

/// Sorts the entries of dictionaries in the text of an object. The function sorts only consecutive entries on separate
/// lines.
fn sorted(text: &str) -> String {
    let entry = |line: &str| {
        let name = line.trim_start();
        (name.starts_with('/') && !name.ends_with("<<\n")).then_some(line.len() - name.len())
    };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.chunk_by_mut(|one, next| entry(one).is_some() && entry(one) == entry(next)).for_each(<[_]>::sort_unstable);
    lines.concat()
}

/// Returns the text with new numbers in its references (such as `5 0 R`). An object without a new number gets the next
/// number, and its old number is appended to `found`.
fn renumber(text: &str, numbers: &mut BTreeMap<usize, usize>, found: &mut Vec<usize>) -> String {
    let mut out = String::new();
    let mut parts = text.split(" 0 R").peekable();
    while let Some(part) = parts.next() {
        let digits = part.len() - part.trim_end_matches(|sign: char| sign.is_ascii_digit()).len();
        let (before, number) = part.split_at(part.len() - digits);
        out += before;
        match number.parse() {
            Ok(old) if parts.peek().is_some() => {
                let new = *numbers.entry(old).or_insert_with(|| {
                    found.push(old);
                    found.len()
                });
                out += &new.to_string();
            }
            _ => out += number,
        }
        if parts.peek().is_some() {
            out += " 0 R";
        }
    }
    out
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Returns the error that reports a picture that cannot be converted.
pub(super) fn failed(reason: &dyn ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a PDF with this order and these numbers of objects. If `turned` is true, the order of the resources is
    /// reversed.
    fn pdf(order: [usize; 4], turned: bool) -> Vec<u8> {
        let [catalog, page, one, two] = order;
        let mut entries = [format!("    /f0 {one} 0 R\n"), format!("    /f1 {two} 0 R\n")];
        if turned {
            entries.reverse();
        }
        let bodies = [
            (catalog, format!("<<\n  /Type /Catalog\n  /Pages {page} 0 R\n>>")),
            (page, format!("<<\n  /Font <<\n{}  >>\n  /Kids [{two} 0 R {one} 0 R]\n>>", entries.concat())),
            (one, "<<\n  /Length 6\n>>\nstream\n9 0 R\n\nendstream".to_owned()),
            (two, "<<\n  /Length 3\n>>\nstream\n\u{e4}b\nendstream".to_owned()),
        ];
        let mut bodies = bodies;
        bodies.sort();
        let mut out = b"%PDF-1.7\n%\x80\n\n".to_vec();
        let mut offsets = Vec::new();
        for (number, body) in &bodies {
            offsets.push(out.len());
            write!(out, "{number} 0 obj\n{body}\nendobj\n\n").unwrap();
        }
        let start = out.len();
        write!(out, "xref\n0 5\n0000000000 65535 f\r\n").unwrap();
        offsets.iter().for_each(|offset| write!(out, "{offset:010} 00000 n\r\n").unwrap());
        write!(out, "trailer\n<<\n  /Size 5\n  /Root {catalog} 0 R\n>>\nstartxref\n{start}\n%%EOF").unwrap();
        out
    }

    #[test]
    fn orders_that_mean_nothing_make_no_difference() {
        let first = pdf([1, 2, 3, 4], false);
        let all = [([1, 2, 3, 4], true), ([4, 3, 2, 1], false), ([2, 4, 1, 3], true)].map(|(a, b)| pdf(a, b));
        for other in all {
            assert_ne!(other, first);
            assert_eq!(canonical(&other).unwrap(), canonical(&first).unwrap());
        }
        // A second conversion does not change the file, so streams are unchanged and the cross-reference table is
        // correct.
        let once = canonical(&first).unwrap();
        assert!(find(&once, b"stream\n9 0 R\n\nendstream").is_some());
        assert_eq!(canonical(&once).unwrap(), once);
    }

    #[test]
    fn other_files_are_refused() {
        for wrong in [&b""[..], b"%PDF-1.7\n", b"startxref\n99\n%%EOF", b"startxref\n\n%%EOF"] {
            assert!(canonical(wrong).is_err());
        }
    }
}
