//! Elements and attributes of XML that a reader ignores: those of a list change no plan, others are counted by name.

use std::collections::BTreeMap;

use roxmltree::Node;

/// Counts what a reader ignores.
pub(crate) struct Ignored {
    /// Elements (`prop`) and attributes (`host.id`) that are read or change nothing, each between two blanks.
    silent: &'static str,
    counts: BTreeMap<String, usize>,
}

impl Ignored {
    /// Returns an empty count.
    pub(crate) fn beside(silent: &'static str) -> Self {
        Self { silent, counts: BTreeMap::new() }
    }

    /// Counts an element unless it is silent.
    pub(crate) fn element(&mut self, name: &str) {
        if !self.is_silent(name) {
            self.add(format!("<{name}>"));
        }
    }

    /// Counts the attributes of an element that are not silent.
    pub(crate) fn attributes(&mut self, node: Node<'_, '_>) {
        let element = node.tag_name().name();
        for attribute in node.attributes().filter(|attribute| attribute.namespace().is_none()) {
            if !self.is_silent(&format!("{element}.{}", attribute.name())) {
                self.add(format!("`{}` of <{element}>", attribute.name()));
            }
        }
    }

    /// Counts anything else.
    pub(crate) fn add(&mut self, name: String) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Returns one sentence that names what was counted, with the numbers, if there is anything.
    pub(crate) fn remark(&self, of: &str) -> Option<String> {
        let names: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        (!names.is_empty()).then(|| format!("elements and attributes of {of} are ignored: {}", names.join(", ")))
    }

    fn is_silent(&self, name: &str) -> bool {
        self.silent.contains(&format!(" {name} "))
    }
}
