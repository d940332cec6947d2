//! Counts the XML elements and attributes that a reader ignores, except names that need no warning.

use std::collections::BTreeMap;

use roxmltree::Node;

/// Counts the elements and attributes that a reader ignores.
pub(crate) struct Ignored {
    /// Elements (such as `prop`) and attributes (such as `host.id`) that need no warning. The names are separated by
    /// blanks, and the text begins and ends with a blank.
    silent: &'static str,
    counts: BTreeMap<String, usize>,
}

impl Ignored {
    /// Returns an empty counter that does not count the names in `silent`.
    pub(crate) fn beside(silent: &'static str) -> Self {
        Self { silent, counts: BTreeMap::new() }
    }

    /// Counts an element unless its name is in `silent`.
    pub(crate) fn element(&mut self, name: &str) {
        if !self.is_silent(name) {
            self.add(format!("<{name}>"));
        }
    }

    /// Counts the attributes of an element, except the names in `silent`.
    pub(crate) fn attributes(&mut self, node: Node<'_, '_>) {
        let element = node.tag_name().name();
        for attribute in node.attributes().filter(|attribute| attribute.namespace().is_none()) {
            if !self.is_silent(&format!("{element}.{}", attribute.name())) {
                self.add(format!("`{}` of <{element}>", attribute.name()));
            }
        }
    }

    /// Counts one ignored part of the file as `name`.
    pub(crate) fn add(&mut self, name: String) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Returns a warning with the names and their counts, or `None` if nothing was ignored.
    pub(crate) fn remark(&self, of: &str) -> Option<String> {
        let names: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        (!names.is_empty()).then(|| format!("elements and attributes of {of} are ignored: {}", names.join(", ")))
    }

    fn is_silent(&self, name: &str) -> bool {
        self.silent.contains(&format!(" {name} "))
    }
}
