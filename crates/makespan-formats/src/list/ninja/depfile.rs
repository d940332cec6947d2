//! Reads depfiles: the dependencies of one target that a compiler writes as a rule for make.

/// Returns the files on which the target of a depfile depends, without duplicates, in their order. The paths are in the
/// form in which ninja compares paths.
///
/// # Errors
/// The problem, as a text, if the file contains no target, or if a file is a prerequisite of an earlier rule and has further
/// prerequisites of its own.
pub fn depfile_inputs(content: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut has_target = false;
    for mut rule in rules(content) {
        has_target |= !rule.targets.is_empty();
        if rule.targets.is_empty() {
            // Like ninja, treat words without a colon as targets.
            rule.targets = std::mem::take(&mut rule.inputs);
        }
        let is_input = rule.targets.iter().any(|target| seen.contains(target));
        for input in rule.inputs {
            if seen.insert(input.clone()) {
                if is_input {
                    return Err("an input in the depfile has inputs of its own".into());
                }
                inputs.push(input);
            }
        }
    }
    if !has_target && !content.iter().all(u8::is_ascii_whitespace) {
        return Err("expected a colon after the targets in the depfile".into());
    }
    inputs.iter_mut().for_each(|input| *input = canonical(input));
    Ok(inputs)
}

/// A rule of a depfile.
#[derive(Default)]
struct DepfileRule {
    targets: Vec<Vec<u8>>,
    inputs: Vec<Vec<u8>>,
}

/// Returns the rules of a depfile. A backslash escapes blanks, `#` and `:`, and `$$` stands for `$`.
fn rules(content: &[u8]) -> Vec<DepfileRule> {
    let (mut rules, mut rule, mut words, mut word) = (Vec::new(), DepfileRule::default(), Vec::new(), Vec::new());
    let mut is_input = false;
    let mut at = 0;
    let end_word = |word: &mut Vec<u8>, words: &mut Vec<Vec<u8>>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(&byte) = content.get(at) {
        let slashes = content[at..].iter().take_while(|&&byte| byte == b'\\').count();
        let next = content.get(at + slashes).copied();
        let is_last = ends_word(&content[(at + slashes + 1).min(content.len())..]);
        match (byte, next) {
            (b'\\', Some(b'\n')) => {
                word.extend(vec![b'\\'; slashes - 1]);
                end_word(&mut word, &mut words);
                at += slashes + 1;
            }
            (b'\\', Some(b'\r')) if content.get(at + slashes + 1) == Some(&b'\n') => {
                word.extend(vec![b'\\'; slashes - 1]);
                end_word(&mut word, &mut words);
                at += slashes + 2;
            }
            (b'\\', Some(b' ')) if slashes % 2 == 1 => {
                word.extend(vec![b'\\'; slashes / 2]);
                word.push(b' ');
                at += slashes + 1;
            }
            (b'\\', Some(b'#')) => {
                word.extend(vec![b'\\'; slashes - 1]);
                word.push(b'#');
                at += slashes + 1;
            }
            (b'\\', Some(b':')) if !is_last => {
                word.extend(vec![b'\\'; slashes - 1]);
                word.push(b':');
                at += slashes + 1;
            }
            (b'\\', _) => {
                word.extend(vec![b'\\'; slashes]);
                at += slashes;
            }
            (b'$', _) if content.get(at + 1) == Some(&b'$') => {
                word.push(b'$');
                at += 2;
            }
            (b' ' | b'\t', _) => {
                end_word(&mut word, &mut words);
                at += 1;
            }
            (b'\r' | b'\n' | 0, _) => {
                end_word(&mut word, &mut words);
                rule.inputs = std::mem::take(&mut words);
                rules.push(std::mem::take(&mut rule));
                is_input = false;
                at += 1;
            }
            (b':', _) if !is_input && is_last => {
                end_word(&mut word, &mut words);
                rule.targets = std::mem::take(&mut words);
                is_input = true;
                at += 1;
            }
            _ => {
                word.push(byte);
                at += 1;
            }
        }
    }
    end_word(&mut word, &mut words);
    rule.inputs = words;
    rules.push(rule);
    rules
}

/// Returns whether the text begins with a blank, an end of line or a continued line.
fn ends_word(text: &[u8]) -> bool {
    text.first().is_none_or(|byte| b" \t\r\n\0".contains(byte))
        || text.starts_with(b"\\\n")
        || text.starts_with(b"\\\r\n")
}

/// Returns a path without empty components, without `.`, and without `..` after another component, as ninja does.
pub(super) fn canonical(path: &[u8]) -> Vec<u8> {
    let is_absolute = path.first() == Some(&b'/');
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => drop(parts.pop()),
            b".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join(&b'/');
    match (is_absolute, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}
