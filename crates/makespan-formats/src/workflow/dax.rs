//! DAX, the abstract workflows of Pegasus, versions 2 and 3: `<job id runtime>` with `<uses file link size>`, then
//! `<child ref>` with `<parent ref>`.

use makespan_core::{Job, Need, Resource};
use roxmltree::Node;

use super::draft::Draft;
use super::xml::{attribute, elements, parse, prepared, wrong};
use super::{Read, Wrong};
use crate::needs::Pool;

/// Reads a DAX; `strict` refuses values that cannot be.
pub(super) fn read(text: &str, name: &str, strict: bool) -> Result<Read, Wrong> {
    let text = prepared(text);
    let document = parse(&text)?;
    let root = document.root_element();
    if root.tag_name().name() != "adag" {
        return Err(wrong(root, "a DAX begins with <adag>"));
    }
    let mut draft = Draft::default();
    let mut profiles = Profiles::default();
    for node in elements(root).filter(|node| node.tag_name().name() == "job") {
        let task = job(&mut draft, node)?;
        profiles.equip(&mut draft, task, node);
    }
    for node in elements(root) {
        match node.tag_name().name() {
            "child" => child(&mut draft, node)?,
            "dag" | "dax" => return Err(wrong(node, "a workflow within a workflow is not read; write out its jobs")),
            _ => {}
        }
    }
    let mut remarks = Vec::new();
    remarks.extend(profiles.remarks());
    let (graph, outside) = draft.graph(strict, &mut remarks)?;
    Ok(Read { outside, ..Read::of(vec![Job::compound(name, graph)], remarks) })
}

/// Adds the task of a job with its files; returns its number.
fn job(draft: &mut Draft, node: Node<'_, '_>) -> Result<u32, Wrong> {
    let id = attribute(node, "id")?;
    // Version 3 may state the run time in a profile.
    let profile = |node: &Node<'_, '_>| {
        let is = |key: &str, value: &str| node.attribute(key) == Some(value);
        node.tag_name().name() == "profile" && is("namespace", "pegasus") && is("key", "runtime")
    };
    let profile = elements(node).find(profile).and_then(|profile| profile.text());
    let runtime = node.attribute("runtime").or(profile);
    let task = draft.task(id, runtime, Vec::new()).map_err(|problem| wrong(node, problem))?;
    for uses in elements(node).filter(|node| node.tag_name().name() == "uses") {
        // Version 2 says `file`, version 3 `name`.
        let Some(file) = uses.attribute("file").or_else(|| uses.attribute("name")) else {
            return Err(wrong(uses, "the attribute `file` is missing"));
        };
        let link = attribute(uses, "link")?;
        let size = uses.attribute("size");
        if size.is_none() && uses.attribute("type") == Some("executable") {
            continue;
        }
        let size = draft.size(file, size);
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
    Ok(task)
}

/// What jobs state in `<profile namespace key>`: of Pegasus `cores`, `gpus` and `memory` (MiB), of `HTCondor` what it calls
/// `request_cpus`, `request_gpus` and `request_memory`.
#[derive(Default)]
struct Profiles {
    needs: Pool,
    /// Profiles that are no whole numbers, with their jobs.
    broken: Vec<(String, String)>,
    /// Those that say something else than one before them, with their jobs.
    other: Vec<(String, String)>,
}

impl Profiles {
    fn equip(&mut self, draft: &mut Draft, task: u32, node: Node<'_, '_>) {
        let cores = self.stated(node, "cores", "request_cpus").unwrap_or(1);
        let memory = self.stated(node, "memory", "request_memory").filter(|&memory| memory > 0);
        let memory = memory.map(|count| count.saturating_mul(1 << 20).min(i64::MAX as u64));
        let gpus = self.stated(node, "gpus", "request_gpus").filter(|&gpus| gpus > 0);
        let needs = [(Resource::MEMORY, memory), (Resource::GPUS, gpus)];
        let needs = needs.into_iter().filter_map(|(name, amount)| Some((name, Need::whole(amount?))));
        let processors = u32::try_from(cores).unwrap_or(u32::MAX).max(1);
        draft.equip(task, processors, self.needs.of(needs));
    }

    /// The first profile of one of these keys that is a whole number below 2^63; others are counted.
    fn stated(&mut self, node: Node<'_, '_>, pegasus: &str, condor: &str) -> Option<u64> {
        let named = |profile: &Node<'_, '_>| {
            let key = profile.attribute("key").unwrap_or_default();
            profile.tag_name().name() == "profile"
                && match profile.attribute("namespace").unwrap_or_default() {
                    "pegasus" => key == pegasus,
                    "condor" => key.eq_ignore_ascii_case(condor),
                    _ => false,
                }
        };
        let mut found = None;
        for profile in elements(node).filter(named) {
            let value = profile.text().unwrap_or_default().trim();
            let read = value.parse().ok().filter(|&value: &u64| i64::try_from(value).is_ok());
            let told = || (value.to_owned(), node.attribute("id").unwrap_or_default().to_owned());
            match (read, found) {
                (None, _) => self.broken.push(told()),
                (Some(read), Some(first)) if read != first => self.other.push(told()),
                (Some(read), _) => found = Some(read),
            }
        }
        found
    }

    fn remarks(&self) -> impl Iterator<Item = String> {
        let told = |profiles: &[(String, String)], why: &str| {
            let (value, job) = profiles.first()?;
            let count = profiles.len();
            Some(format!("{count} profiles of cores, memory or GPUs (such as `{value}` of job `{job}`) {why}"))
        };
        let broken = told(&self.broken, "are no whole numbers, and are left out");
        let other = told(&self.other, "differ from one of the same job before them, and are left out");
        broken.into_iter().chain(other)
    }
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
