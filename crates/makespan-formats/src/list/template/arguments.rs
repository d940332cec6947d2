//! Arguments for the commands of a template: sources of arguments, and rules for combining, splitting and grouping
//! them.

use regex_lite::Regex;

use super::TemplateError;

/// A source of arguments, such as the words after `:::` or the lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentSource {
    /// The arguments.
    pub arguments: Vec<String>,
    /// True if arguments are paired with the arguments of the previous source in order (`:::+`).
    pub is_linked: bool,
}

/// Rules for combining the arguments of several sources into the arguments of commands.
#[derive(Clone, Debug, Default)]
pub struct ArgumentRules {
    /// True if all sources are linked (`--link`). Shorter sources then start again from their first argument.
    pub link: bool,
    /// Separator that splits each argument into columns.
    pub separator: Option<Regex>,
    /// Number of combinations for each command. With 0, each command takes one combination but inserts none of its
    /// arguments.
    pub group: Option<usize>,
}

/// Arguments of the commands. They are computed on demand.
///
/// ```
/// use makespan_formats::list::{ArgumentRules, ArgumentSource, Arguments};
///
/// let source = |words: &[&str], is_linked| {
///     ArgumentSource { arguments: words.iter().map(ToString::to_string).collect(), is_linked }
/// };
/// let rules = ArgumentRules::default();
/// let arguments = Arguments::new(vec![source(&["a", "b", "c"], false), source(&["x", "y"], true)], rules);
/// assert_eq!(arguments.commands(), 2);
/// assert_eq!(arguments.of(1), ["b", "y"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Groups of linked sources. All combinations of the groups are formed.
    linked: Vec<Linked>,
    rules: ArgumentRules,
    /// New order of the commands: the original number of each command.
    order: Option<Vec<usize>>,
}

/// Sources with paired arguments.
#[derive(Clone, Debug)]
struct Linked {
    sources: Vec<Vec<String>>,
    /// The number of combinations.
    length: usize,
}

impl Arguments {
    /// Combines sources. A group of linked sources (`:::+`) is as long as its shortest source. Unlinked sources give
    /// all combinations, and the argument of the last source changes fastest.
    pub fn new(sources: Vec<ArgumentSource>, rules: ArgumentRules) -> Self {
        let mut linked: Vec<Linked> = Vec::new();
        for ArgumentSource { arguments, is_linked } in sources {
            let length = arguments.len();
            match linked.last_mut().filter(|_| is_linked || rules.link) {
                Some(before) => {
                    let wraps = rules.link && before.length > 0 && length > 0;
                    before.length = if wraps { before.length.max(length) } else { before.length.min(length) };
                    before.sources.push(arguments);
                }
                None => linked.push(Linked { sources: vec![arguments], length }),
            }
        }
        Self { linked, rules, order: None }
    }

    /// Returns all combinations of the arguments of these sources.
    pub fn product(sources: Vec<Vec<String>>) -> Self {
        let source = |arguments| ArgumentSource { arguments, is_linked: false };
        Self::new(sources.into_iter().map(source).collect(), ArgumentRules::default())
    }

    /// Adds arguments to the only source.
    pub fn add(&mut self, arguments: Vec<String>) {
        if let [linked] = self.linked.as_mut_slice()
            && let [source] = linked.sources.as_mut_slice()
        {
            source.extend(arguments);
            linked.length = source.len();
        }
    }

    /// Returns whether there is no source.
    pub fn is_empty(&self) -> bool {
        self.linked.is_empty()
    }

    /// Returns the number of sources.
    pub fn sources(&self) -> usize {
        self.linked.iter().map(|linked| linked.sources.len()).sum()
    }

    /// Returns whether each command has exactly one argument from each source.
    pub fn is_one_of_each(&self) -> bool {
        self.rules.separator.is_none() && self.rules.group.is_none()
    }

    /// Returns whether arguments are inserted into commands.
    pub fn is_inserted(&self) -> bool {
        self.rules.group != Some(0)
    }

    /// Returns all arguments.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.linked.iter().flat_map(|linked| &linked.sources).flatten().map(String::as_str)
    }

    /// Returns the number of commands.
    pub fn commands(&self) -> u128 {
        let combinations = self.linked.iter().fold(1_u128, |count, linked| count.saturating_mul(linked.length as u128));
        combinations.div_ceil(self.rules.group.unwrap_or(1).max(1) as u128)
    }

    /// Changes the order of the commands. `order` is a permutation of their numbers.
    pub fn reorder(&mut self, order: Vec<usize>) {
        self.order = Some(order);
    }

    /// Returns the arguments of the command with this number. Commands are numbered from 0, and the number must be
    /// below [`Self::commands`].
    pub fn of(&self, command: usize) -> Vec<&str> {
        self.records(command).into_iter().flatten().collect()
    }

    /// Returns the combinations of arguments for a command. Without sources, there are no combinations.
    pub fn records(&self, command: usize) -> Vec<Vec<&str>> {
        if self.linked.is_empty() {
            return Vec::new();
        }
        let command = self.order.as_ref().and_then(|order| order.get(command).copied()).unwrap_or(command);
        let group = self.rules.group.unwrap_or(1).max(1);
        let first = command * group;
        let combinations: usize = self.linked.iter().map(|linked| linked.length).product();
        (first..combinations.min(first + group)).map(|number| self.combination(number)).collect()
    }

    fn combination(&self, number: usize) -> Vec<&str> {
        let (mut rest, mut chosen) = (number, Vec::new());
        for linked in self.linked.iter().rev() {
            let at = rest % linked.length;
            rest /= linked.length;
            let arguments = linked.sources.iter().rev().map(|source| source[at % source.len()].as_str());
            chosen.extend(arguments);
        }
        chosen.reverse();
        let Some(separator) = &self.rules.separator else { return chosen };
        chosen.into_iter().flat_map(|argument| separator.split(argument)).map(trimmed).collect()
    }
}

/// Returns a column without surrounding blanks.
fn trimmed(column: &str) -> &str {
    column.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

/// Reads a regular expression that separates columns.
///
/// # Errors
/// [`TemplateError::Separator`] if the text is not a regular expression.
pub fn separator(text: &str) -> Result<Regex, TemplateError> {
    if text.is_empty() {
        return Err(TemplateError::Separator { text: text.to_owned(), problem: "it is empty".to_owned() });
    }
    Regex::new(text).map_err(|error| TemplateError::Separator { text: text.to_owned(), problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str, rules: ArgumentRules) -> Vec<String> {
        let mut sources: Vec<ArgumentSource> = Vec::new();
        for word in text.split(' ') {
            match (word, sources.last_mut()) {
                (":::" | ":::+", _) => {
                    sources.push(ArgumentSource { is_linked: word == ":::+", ..ArgumentSource::default() });
                }
                (_, Some(source)) => source.arguments.push(word.to_owned()),
                (_, None) => {}
            }
        }
        let arguments = Arguments::new(sources, rules);
        (0..arguments.commands() as usize).map(|number| arguments.of(number).join("-")).collect()
    }

    #[test]
    fn sources_are_combined_linked_split_and_grouped() {
        let link = ArgumentRules { link: true, ..ArgumentRules::default() };
        let columns = ArgumentRules { separator: separator(",").ok(), ..ArgumentRules::default() };
        let group = |group| ArgumentRules { group: Some(group), ..ArgumentRules::default() };
        for (sources, rules, expected) in [
            ("::: a b ::: x y", ArgumentRules::default(), "a-x a-y b-x b-y"),
            ("::: a b c :::+ x y", ArgumentRules::default(), "a-x b-y"),
            ("::: a b c :::+ x y ::: 1 2", ArgumentRules::default(), "a-x-1 a-x-2 b-y-1 b-y-2"),
            ("::: 1 2 ::: a b c :::+ x y", ArgumentRules::default(), "1-a-x 1-b-y 2-a-x 2-b-y"),
            (":::+ a b", ArgumentRules::default(), "a b"),
            ("::: a b c ::: x y", link.clone(), "a-x b-y c-x"),
            ("::: 1 2 ::: a b c ::: x", link, "1-a-x 2-b-x 1-c-x"),
            ("::: a b c", group(2), "a-b c"),
            ("::: a b c ::: x y", group(2), "a-x-a-y b-x-b-y c-x-c-y"),
            ("::: a b", group(0), "a b"),
            ("::: a,b,, ,c", columns, "a-b-- -c"),
        ] {
            assert_eq!(commands(sources, rules).join(" "), expected, "{sources}");
        }
        assert!(separator("(").is_err() && separator("").is_err());
    }
}
