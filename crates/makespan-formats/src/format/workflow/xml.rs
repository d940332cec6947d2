//! Functions that several XML readers use.

use makespan_core::Time;
use roxmltree::{Document, Node};

use super::FileProblem;
use crate::error::FilePlace;

pub(super) use crate::xml::prepared;

/// Parses a document, within the limits of [`crate::xml`].
pub(super) fn parse(text: &str) -> Result<Document<'_>, FileProblem> {
    crate::xml::parse(text).map_err(|broken| {
        let place = FilePlace { line: Some(broken.line), column: Some(broken.column), field: None };
        FileProblem::at(place, broken.problem)
    })
}

/// Returns an error about an element.
pub(super) fn wrong(node: Node<'_, '_>, problem: impl std::fmt::Display) -> FileProblem {
    let at = node.document().text_pos_at(node.range().start);
    let place = FilePlace { line: Some(at.row as usize), column: Some(at.col as usize), field: None };
    FileProblem::at(place, format!("<{}>: {problem}", node.tag_name().name()))
}

/// Returns the child elements of an element.
pub(super) fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// Returns the value of a required attribute.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, FileProblem> {
    node.attribute(name).ok_or_else(|| wrong(node, format!("the attribute `{name}` is missing")))
}

/// Returns the value of a required attribute that is a time.
pub(super) fn time(node: Node<'_, '_>, name: &str) -> Result<Time, FileProblem> {
    Time::parse(attribute(node, name)?).map_err(|error| wrong(node, format!("{name}: {error}")))
}
