//! Checks the layers of the crate (also called rooms): no module imports a module of a higher layer.

use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules, from the lowest layer to the highest.
const ROOMS: [&str; 6] = ["text", "model", "schedule", "tree", "online", "measure"];

#[test]
fn no_room_imports_a_higher_one() {
    let mut wrong = Vec::new();
    let (mut files, mut imports) = (0, 0);
    for (floor, room) in ROOMS.iter().enumerate() {
        for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room)) {
            files += 1;
            let text = fs::read_to_string(&file).expect("a source file is text");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                for path in line.split("crate::").skip(1) {
                    imports += 1;
                    let name: String = path.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
                    match ROOMS.iter().position(|&other| other == name) {
                        Some(other) if other <= floor => {}
                        Some(_) => wrong.push(format!("{}:{}: {room} imports {name}", file.display(), number + 1)),
                        None => wrong.push(format!("{}:{}: imports by room: {line}", file.display(), number + 1)),
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files > 50 && imports > files, "only {files} files with {imports} imports were seen");
}

#[test]
fn every_file_is_in_a_room() {
    let outside: Vec<PathBuf> = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
        .into_iter()
        .filter(|file| !ROOMS.iter().any(|room| file.components().any(|part| part.as_os_str() == *room)))
        .filter(|file| file.file_name().is_some_and(|name| name != "lib.rs"))
        .collect();
    assert_eq!(outside, Vec::<PathBuf>::new());
}

/// Returns the source files of a folder, except files of unit tests. Unit tests may import anything.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.file_stem().is_some_and(|name| name != "tests"))
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}
