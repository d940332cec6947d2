//! Reads DAX, the abstract workflows of Pegasus, in versions 2 and 3. A file begins with elements `<job id runtime>`
//! that contain `<uses file link size>`. Elements `<child ref>` follow and contain `<parent ref>`.

use makespan_core::{Job, Need, Resource};
use roxmltree::Node;

use super::draft::Draft;
use super::xml::{attribute, elements, parse, prepared, wrong};
use super::{FileProblem, ReadJobs, remarked};
use crate::ignored::Ignored;
use crate::needs::Pool;

/// Elements and attributes that need no warning, because they are read or cannot change a plan (names, versions,
/// arguments, catalogues, counts of elements).
const SILENT: &str = " job child parent metadata invoke file filename executable transformation argument profile stdin stdout stderr uses \
    adag.version adag.name adag.count adag.index adag.jobCount adag.fileCount adag.childCount job.id job.runtime job.cores job.name job.namespace \
    job.version job.level job.node-label job.dv-namespace job.dv-name job.dv-version job.chain job.compound uses.file uses.name uses.link \
    uses.size uses.type uses.executable uses.namespace uses.version uses.register uses.transfer uses.optional uses.dontRegister \
    uses.dontTransfer uses.temporaryHint child.ref parent.ref parent.edge-label ";

/// Reads a file in DAX. With `strict`, impossible values and ignored parts are errors instead of warnings.
pub(super) fn read(text: &str, name: &str, strict: bool) -> Result<ReadJobs, FileProblem> {
    let text = prepared(text);
    let document = parse(&text)?;
    let root = document.root_element();
    if root.tag_name().name() != "adag" {
        return Err(wrong(root, "a DAX begins with <adag>"));
    }
    let mut draft = Draft::default();
    let (mut profiles, mut ignored) = (Profiles::default(), Ignored::beside(SILENT));
    ignored.attributes(root);
    for node in elements(root).filter(|node| node.tag_name().name() == "job") {
        let task = job(&mut draft, node)?;
        profiles.equip(&mut draft, task, node);
        ignored.attributes(node);
        for inner in elements(node) {
            ignored.element(inner.tag_name().name());
            if inner.tag_name().name() == "uses" {
                ignored.attributes(inner);
            }
        }
    }
    for node in elements(root) {
        ignored.element(node.tag_name().name());
        match node.tag_name().name() {
            "child" => {
                child(&mut draft, node)?;
                ignored.attributes(node);
                for parent in elements(node) {
                    ignored.element(parent.tag_name().name());
                    ignored.attributes(parent);
                }
            }
            "dag" | "dax" => {
                return Err(wrong(node, "a workflow within a workflow is not supported; replace it by its jobs"));
            }
            _ => {}
        }
    }
    unread_profiles(root, &mut ignored);
    let mut remarks = Vec::new();
    for remark in profiles.remarks().into_iter().chain([ignored.remark("the workflow")]) {
        remarks.extend(remarked(remark, strict)?);
    }
    let (graph, outside) = draft.graph(strict, &mut remarks)?;
    Ok(ReadJobs { outside, ..ReadJobs::of(vec![Job::compound(name, graph)], remarks) })
}

/// Counts the ignored profiles of Pegasus, `HTCondor` and Globus for a warning. A profile may state a need of a job.
fn unread_profiles(root: Node<'_, '_>, ignored: &mut Ignored) {
    for node in root.descendants().filter(|node| node.tag_name().name() == "profile") {
        let [namespace, key] = ["namespace", "key"].map(|name| node.attribute(name).unwrap_or_default());
        let owner = node.parent_element().map_or("", |owner| owner.tag_name().name());
        let is_known = match namespace {
            "pegasus" => matches!(key, "runtime" | "cores" | "memory" | "gpus"),
            "condor" => REQUESTS.iter().any(|request| key.eq_ignore_ascii_case(request)),
            "globus" => false,
            _ => continue,
        };
        if !is_known || owner != "job" {
            ignored.add(format!("<profile> `{namespace}` `{key}` of <{owner}>"));
        }
    }
}

/// Adds a job and its files as a task. Returns the number of the task.
fn job(draft: &mut Draft, node: Node<'_, '_>) -> Result<u32, FileProblem> {
    let id = attribute(node, "id")?;
    let runtime = node.attribute("runtime").or(profiled(node, "runtime").and_then(|profile| profile.text()));
    let task = draft.task(id, runtime, Vec::new()).map_err(|problem| wrong(node, problem))?;
    for uses in elements(node).filter(|node| node.tag_name().name() == "uses") {
        // Version 2 has the attribute `file`. Version 3 has `name` instead.
        let Some(file) = uses.attribute("file").or_else(|| uses.attribute("name")) else {
            return Err(wrong(uses, "the attribute `file` is missing"));
        };
        let size = uses.attribute("size");
        let is_program = uses.attribute("type") == Some("executable") || uses.attribute("executable") == Some("true");
        if size.is_none() && is_program {
            continue;
        }
        let link = attribute(uses, "link")?;
        if matches!(link, "none" | "checkpoint") {
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
            other => {
                return Err(wrong(uses, format!("link is `{other}`; write input, output, inout, none or checkpoint")));
            }
        }
    }
    Ok(task)
}

/// Returns the job's first `profile` element with the namespace `pegasus` and this key.
fn profiled<'a, 'i>(job: Node<'a, 'i>, key: &str) -> Option<Node<'a, 'i>> {
    let is = |node: &Node<'_, '_>, name: &str, value: &str| node.attribute(name) == Some(value);
    elements(job)
        .find(|node| node.tag_name().name() == "profile" && is(node, "namespace", "pegasus") && is(node, "key", key))
}

/// Keys of `HTCondor` profiles that are read.
const REQUESTS: [&str; 3] = ["request_cpus", "request_gpus", "request_memory"];

/// Needs that jobs state in `<profile namespace key>`. The keys of Pegasus are `cores`, `gpus` and `memory` (in MiB).
/// The keys of `HTCondor` are `request_cpus`, `request_gpus` and `request_memory`.
#[derive(Default)]
struct Profiles {
    needs: Pool,
    /// Values of profiles that are not whole numbers, each with its job.
    broken: Vec<(String, String)>,
    /// Values of profiles that differ from an earlier value of the same job, each with the job.
    other: Vec<(String, String)>,
    /// Values of `runtime` profiles that differ from the job's attribute `runtime`. Each value is stored with its job.
    times: Vec<(String, String)>,
}

impl Profiles {
    fn equip(&mut self, draft: &mut Draft, task: u32, node: Node<'_, '_>) {
        let cores = self.stated(node, "cores", REQUESTS[0]).unwrap_or(1);
        let memory = self.stated(node, "memory", REQUESTS[2]).filter(|&memory| memory > 0);
        let memory = memory.map(|count| count.saturating_mul(1 << 20).min(i64::MAX as u64));
        let gpus = self.stated(node, "gpus", REQUESTS[1]).filter(|&gpus| gpus > 0);
        let needs = [(Resource::MEMORY, memory), (Resource::GPUS, gpus)];
        let needs = needs.into_iter().filter_map(|(name, amount)| Some((name, Need::whole(amount?))));
        let profile = profiled(node, "runtime").and_then(|profile| profile.text()).map(str::trim);
        if let Some((_, profile)) =
            node.attribute("runtime").zip(profile).filter(|(stated, profile)| stated.trim() != *profile)
        {
            self.times.push((profile.to_owned(), node.attribute("id").unwrap_or_default().to_owned()));
        }
        let processors = u32::try_from(cores).unwrap_or(u32::MAX).max(1);
        draft.equip(task, processors, self.needs.of(needs));
    }

    /// Returns the value of the first profile that has one of these keys and is a whole number below 2^63. Other
    /// values are counted for warnings: values that are not whole numbers below 2^63, and values that differ from the
    /// returned value. The job's attribute `cores`, which files of `WorkflowSim` use, takes precedence over the
    /// profiles.
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
        let attribute = node.attribute("cores").filter(|_| pegasus == "cores");
        let profiles = elements(node).filter(named).map(|profile| profile.text().unwrap_or_default());
        let mut found = None;
        for value in attribute.into_iter().chain(profiles).map(str::trim) {
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

    fn remarks(&self) -> [Option<String>; 3] {
        let told = |profiles: &[(String, String)], why: &str| {
            let (value, job) = profiles.first()?;
            let count = profiles.len();
            Some(format!("values of cores, memory or GPUs {why}: {count} (such as `{value}` of job `{job}`)"))
        };
        let broken = told(&self.broken, "are ignored because they are not whole numbers");
        let other = told(&self.other, "are ignored because they differ from an earlier profile of the same job");
        let times = self.times.first().map(|(value, job)| {
            let count = self.times.len();
            format!("values of the profile `runtime` are ignored because the attribute `runtime` of the same job has another value: {count} (such as `{value}` of job `{job}`)")
        });
        [broken, other, times]
    }
}

fn child(draft: &mut Draft, node: Node<'_, '_>) -> Result<(), FileProblem> {
    let reference = |node| {
        let name = attribute(node, "ref")?;
        draft.number(name, "ref").map_err(|problem| wrong(node, problem))
    };
    let to = reference(node)?;
    let parents = elements(node).filter(|node| node.tag_name().name() == "parent");
    let parents = parents.map(reference).collect::<Result<Vec<u32>, FileProblem>>()?;
    for from in parents {
        draft.wait(from, to);
    }
    Ok(())
}
