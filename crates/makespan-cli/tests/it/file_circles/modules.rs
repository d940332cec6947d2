//! Reads the modules of a crate, and the names that each module defines and uses.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::path::Path;

use crate::language::passages::end_of_string;

/// Keywords that are followed by the name of a defined item.
const DEFINING: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];

/// A function that returns the text of the file at a path, or `None` if the file does not exist.
pub type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A module of a crate.
#[derive(Default)]
pub struct Module {
    pub file: String,
    pub parent: usize,
    /// All paths of names in the code of the module, except the paths in re-exports.
    pub paths: Vec<Vec<String>>,
    children: BTreeMap<String, usize>,
    defined: BTreeSet<String>,
    imported: BTreeMap<String, Vec<String>>,
}

/// Returns the modules of a crate. The module of the root file comes first.
pub fn modules(root: &str, read: Read) -> Vec<Module> {
    let mut modules = Vec::new();
    add(&mut modules, root, 0, Path::new(root).parent().unwrap_or(Path::new("")), read);
    modules
}

/// Returns the index of the module that defines the last name of a path, together with this name. If the path names a
/// module, returns this module and `None`.
pub fn resolve(modules: &[Module], from: usize, path: &[String], depth: usize) -> Option<(usize, Option<String>)> {
    let mut at = from;
    for (place, name) in path.iter().enumerate() {
        let module = &modules[at];
        let defined = module.defined.contains(name);
        at = match (name.as_str(), module.children.get(name), module.imported.get(name)) {
            ("crate", ..) => 0,
            ("self", ..) => at,
            ("super", ..) => module.parent,
            (_, Some(&child), _) if !defined || place + 1 < path.len() => child,
            (_, _, Some(import)) if !defined && depth < 8 => match resolve(modules, at, import, depth + 1)? {
                (module, None) => module,
                item => return Some(item),
            },
            _ => return (defined || place > 0).then(|| (at, Some(name.clone()))),
        };
    }
    Some((at, None))
}

/// Adds the module in `file`, and its submodules with files in `folder`. Returns the index of the module.
fn add(modules: &mut Vec<Module>, file: &str, parent: usize, folder: &Path, read: Read) -> usize {
    let text = read(file).unwrap_or_else(|| panic!("{file} is missing"));
    let code = tokens(&text);
    let mut module = Module { file: file.to_owned(), parent, ..Module::default() };
    let (mut submodules, mut at, mut depth, mut before) = (Vec::new(), 0, 0, "");
    while let Some(&word) = code.get(at) {
        let next = code.get(at + 1).copied().unwrap_or_default();
        at += 1;
        match word {
            "{" => depth += 1,
            "}" => depth -= 1,
            "mod" if code.get(at + 1) == Some(&";") => submodules.push(next),
            "#" if code[at..].starts_with(&["[", "cfg"]) => at = behind_test(&code, at),
            "use" if next != "<" => import(&mut module, &code, &mut at, &[], ["pub", ")"].contains(&before)),
            _ if depth == 0 && DEFINING.contains(&word) => drop(module.defined.insert(next.to_owned())),
            _ if next == "::" && before != "::" && word.starts_with(is_name) => {
                let more =
                    code[at..].chunks_exact(2).take_while(|pair| pair[0] == "::" && pair[1].starts_with(is_name));
                module.paths.push(iter::once(word).chain(more.map(|pair| pair[1])).map(str::to_owned).collect());
            }
            _ => {}
        }
        before = word;
    }
    let number = modules.len();
    modules.push(module);
    for name in submodules {
        let inner = folder.join(name);
        let files = [inner.with_extension("rs"), inner.join("mod.rs")].map(|file| file.to_string_lossy().into_owned());
        let file = files.iter().find(|file| read(file).is_some()).unwrap_or(&files[0]);
        let child = add(modules, file, number, &inner, read);
        modules[number].children.insert(name.to_owned(), child);
    }
    number
}

/// Reads one use tree of a `use` declaration. The tree begins at the position `at` in the code.
fn import(module: &mut Module, code: &[&str], at: &mut usize, prefix: &[String], re_export: bool) {
    let mut path = prefix.to_vec();
    while !["as", ",", "}", ";"].contains(&code[*at]) {
        *at += 1;
        match code[*at - 1] {
            "::" => {}
            "{" => {
                while code[*at] != "}" {
                    import(module, code, at, &path, re_export);
                    *at += usize::from(code[*at] == ",");
                }
                *at += 1;
                return;
            }
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if code[*at] == "as" {
        code[*at + 1].clone_into(&mut name);
        *at += 2;
    }
    module.paths.extend(Some(path.clone()).filter(|_| !re_export));
    module.imported.insert(name, path);
}

/// Returns the position after an attribute or, if the attribute contains `test`, the position after the item to which
/// the attribute belongs.
fn behind_test(code: &[&str], at: usize) -> usize {
    let end = at + code[at..].iter().position(|&word| word == "]").unwrap_or(0) + 1;
    if !code[at..end].contains(&"test") || code[at..end].contains(&"not") {
        return end;
    }
    let mut depth = 0;
    let is_last = |&word: &&str| {
        depth += i32::from("([{".contains(word)) - i32::from(")]}".contains(word));
        depth < 0 || depth == 0 && ["}", ";"].contains(&word)
    };
    code[end..].iter().position(is_last).map_or(code.len(), |last| end + last + 1)
}

/// Returns the identifiers and punctuation marks of a source text. Comments, string literals and character literals are
/// left out.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let name = rest.find(|c: char| !is_name(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
        let hashes = rest[name..].bytes().take_while(|&byte| byte == b'#').count();
        let is_raw = ["r", "br"].contains(&&rest[..name]) && rest[name + hashes..].starts_with('"');
        let behind = |from: usize, end: &str| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
        let (length, is_token) = match first {
            '/' if rest.starts_with("//") => (behind(0, "\n"), false),
            _ if is_raw => (behind(name + hashes + 1, &format!("\"{}", "#".repeat(hashes))), false),
            '"' => (end_of_string(&rest[1..]).map_or(rest.len(), |end| end + 2), false),
            '\'' if rest[1..].starts_with('\\') => (behind(3, "'"), false),
            '\'' => (rest.char_indices().nth(2).filter(|next| next.1 == '\'').map_or(1, |next| next.0 + 1), false),
            ':' if rest.starts_with("::") => (2, true),
            _ => (name.max(first.len_utf8()), !first.is_whitespace()),
        };
        tokens.extend(is_token.then(|| &rest[..length]));
        rest = &rest[length..];
    }
    tokens
}

fn is_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
