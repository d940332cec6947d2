//! DAX, the abstract workflows of Pegasus, versions 2 and 3: `<job id runtime>` with `<uses file link size>`, then
//! `<child ref>` with `<parent ref>`.

use makespan_core::Job;
use roxmltree::Node;

use super::draft::Draft;
use super::xml::{attribute, bytes, elements, parse, time, wrong};
use super::{Read, Wrong};

pub(super) fn read(text: &str, name: &str) -> Result<Read, Wrong> {
    let document = parse(text)?;
    let root = document.root_element();
    if root.tag_name().name() != "adag" {
        return Err(wrong(root, "a DAX begins with <adag>"));
    }
    let mut draft = Draft::default();
    let mut differing = Vec::new();
    for node in elements(root).filter(|node| node.tag_name().name() == "job") {
        job(&mut draft, node, &mut differing)?;
    }
    for node in elements(root) {
        match node.tag_name().name() {
            "child" => child(&mut draft, node)?,
            "dag" | "dax" => return Err(wrong(node, "a workflow within a workflow is not read; write out its jobs")),
            _ => {}
        }
    }
    let mut remarks = Vec::new();
    if let Some(file) = differing.first() {
        let count = differing.len();
        remarks.push(format!(
            "{count} uses of files (such as `{file}`) state another size than before; each reader's counts"
        ));
    }
    let (graph, outside) = draft.graph(&mut remarks)?;
    Ok(Read { outside, ..Read::of(vec![Job::compound(name, graph)], remarks) })
}

/// The files of which uses say different sizes are added to `differing`.
fn job(draft: &mut Draft, node: Node<'_, '_>, differing: &mut Vec<String>) -> Result<(), Wrong> {
    let id = attribute(node, "id")?;
    let runtime = time(node, "runtime")?;
    let task = draft.task(id, runtime, Vec::new()).map_err(|problem| wrong(node, problem))?;
    for uses in elements(node).filter(|node| node.tag_name().name() == "uses") {
        // Version 2 says `file`, version 3 `name`.
        let Some(file) = uses.attribute("file").or_else(|| uses.attribute("name")) else {
            return Err(wrong(uses, "the attribute `file` is missing"));
        };
        let link = attribute(uses, "link")?;
        let size = match uses.attribute("size") {
            Some(text) => bytes(uses, "size", text)?,
            None if uses.attribute("type") == Some("executable") => continue,
            None => return Err(wrong(uses, format!("file `{file}` has no `size`; write its bytes"))),
        };
        if draft.size(file, size).is_err() {
            differing.push(file.to_owned());
        }
        match link {
            "input" => draft.reads(task, file, Some(size)),
            "output" => draft.writes(task, file),
            "inout" => {
                draft.reads(task, file, Some(size));
                draft.writes(task, file);
            }
            other => return Err(wrong(uses, format!("link is `{other}`; write input, output or inout"))),
        }
    }
    Ok(())
}

fn child(draft: &mut Draft, node: Node<'_, '_>) -> Result<(), Wrong> {
    let reference = |node| {
        let name = attribute(node, "ref")?;
        draft.number(name, "ref").map_err(|problem| wrong(node, problem))
    };
    let to = reference(node)?;
    let parents = elements(node).filter(|node| node.tag_name().name() == "parent");
    let parents = parents.map(reference).collect::<Result<Vec<u32>, Wrong>>()?;
    for from in parents {
        draft.wait(from, to);
    }
    Ok(())
}
