//! Reads the dry run of a [`ManifestCopy`](super::ManifestCopy).

use rustc_hash::FxHashMap;

/// Begin of an edge in the output of the dry run.
const EDGE: char = '\x1e';
/// Separator of the bindings of an edge.
const FIELD: char = '\x1f';

/// Name of the binding `pool` in the copy of a manifest. The dry run of an edge in the pool `console` would hide the lines of
/// later edges, so no edge of the copy has a pool. Rules accept only known names, and this one has no effect on Linux.
pub(super) const POOL: &str = "msvc_deps_prefix";

/// Variable of each `build` statement in the copy of a manifest: the number of the statement.
pub(super) const STATEMENT: &str = "makespan_statement";

/// Returns the description of a rule that prints the bindings of an edge. `rspfile` is the value of the binding `rspfile` of
/// the rule. The rules of the copy have no response files, because even a dry run would write and remove these files.
pub(super) fn description(rspfile: &str) -> String {
    format!(
        "\x1e$out\x1f$command\x1f${POOL}\x1f$deps\x1f$depfile\x1f$restat\x1f$generator\x1f{rspfile}\x1f$rspfile_content\x1f\
         ${STATEMENT}\x1f"
    )
}

/// An edge that is out of date: a command and the files that it makes.
#[derive(Debug)]
pub(super) struct DirtyEdge<'a> {
    /// The first output. Ninja identifies an edge by any of its outputs.
    pub(super) output: String,
    pub(super) command: &'a str,
    /// Name of the pool, or an empty text.
    pub(super) pool: &'a str,
    /// Kind of the dependencies that ninja stores in its log: `gcc`, `msvc` or an empty text.
    pub(super) deps: &'a str,
    pub(super) depfile: String,
    pub(super) restat: bool,
    pub(super) generator: bool,
    pub(super) rspfile: String,
    pub(super) rspfile_content: &'a str,
    /// The number of the `build` statement in the copy of the manifest.
    pub(super) statement: usize,
}

/// Returns the edges in the output of a dry run, in the order in which ninja would start them. Returns `None` if an edge
/// is incomplete, has no explicit output, or is printed in another form.
pub(super) fn dirty_edges(printed: &str) -> Option<Vec<DirtyEdge<'_>>> {
    let mut parts = printed.split(EDGE);
    let before = parts.next().unwrap_or_default().trim();
    if before.is_empty() || before == "ninja: no work to do." { parts.map(edge).collect() } else { None }
}

/// Returns the first output of each edge that is out of date, and the number of its `build` statement, from the output of
/// the dry run of a [`ManifestCopy`](super::ManifestCopy). Returns `None` if ninja printed something else.
pub fn dirty_outputs(printed: &str) -> Option<FxHashMap<String, usize>> {
    Some(dirty_edges(printed)?.into_iter().map(|edge| (edge.output, edge.statement)).collect())
}

/// Returns the depfiles of the edges that are out of date, if ninja stores the dependencies of the edge in its log. `printed` is the output
/// of a dry run that may have failed.
pub fn dirty_depfiles(printed: &str) -> Vec<String> {
    let depfile = |edge: &str| {
        let mut fields = edge.split(FIELD).skip(3);
        let (deps, depfile) = (fields.next()?, fields.next()?);
        (!deps.is_empty() && !depfile.is_empty()).then(|| unquoted(depfile))
    };
    printed.split(EDGE).skip(1).filter_map(depfile).collect()
}

fn edge(text: &str) -> Option<DirtyEdge<'_>> {
    let mut fields = text.split(FIELD);
    let outputs = shlex::split(fields.next()?)?;
    let edge = DirtyEdge {
        output: outputs.into_iter().next()?,
        command: fields.next()?,
        pool: fields.next()?,
        deps: fields.next()?,
        depfile: unquoted(fields.next()?),
        restat: !fields.next()?.is_empty(),
        generator: !fields.next()?.is_empty(),
        rspfile: unquoted(fields.next()?),
        rspfile_content: fields.next()?,
        statement: fields.next()?.parse().ok()?,
    };
    (fields.next()?.trim().is_empty() && fields.next().is_none()).then_some(edge)
}

/// Removes the quotes that ninja puts around unusual file names in `$in` and `$out`.
fn unquoted(path: &str) -> String {
    let words = path.contains('\'').then(|| shlex::split(path)).flatten();
    words.map_or_else(|| path.to_owned(), |words| words.join(" "))
}
