//! Checks of the folder in which runs create their folders. These checks run on this machine.

use std::fs;
use std::path::Path;

use super::Finding;

/// File systems that are usually shared with other machines.
const SHARED: [&str; 18] = [
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cephfs",
    "ceph",
    "fuse.ceph",
    "fuse.sshfs",
    "afs",
    "cifs",
    "smb3",
    "orangefs",
    "pvfs2",
    "panfs",
    "fuse.glusterfs",
    "wekafs",
    "fuse.juicefs",
];

/// Checks that the folder is writable and that files can be moved in it. Reports the file system. If a test job runs
/// (`is_probed`), the test job checks whether all nodes see the folder. Otherwise, this function guesses the answer
/// from the kind of the file system.
pub(super) fn here(folder: &Path, is_probed: bool) -> Finding {
    const TOPIC: &str = "folder";
    let shown = folder.display();
    if let Err(error) = moves(folder) {
        return Finding::bad(
            TOPIC,
            format!("{shown}: {error}"),
            "choose a writable folder on a file system that all nodes share: --folder",
        );
    }
    match kind(folder) {
        Some(kind) if SHARED.contains(&kind.as_str()) => Finding::good(TOPIC, format!("{shown} is writable ({kind})")),
        Some(kind) if !is_probed => {
            let remedy = "this file system may be invisible on the nodes; run a test job (--nodes 2), or choose \
                          another folder: --folder";
            Finding::doubtful(TOPIC, format!("{shown} is writable ({kind})"), remedy)
        }
        Some(kind) => Finding::good(TOPIC, format!("{shown} is writable ({kind})")),
        None => Finding::good(TOPIC, format!("{shown} is writable")),
    }
}

/// Writes a file and moves it between two folders.
fn moves(folder: &Path) -> std::io::Result<()> {
    let scratch = tempfile::Builder::new().prefix(".makespan-doctor-").tempdir_in(folder)?;
    let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
    fs::create_dir(&from)?;
    fs::create_dir(&to)?;
    fs::write(from.join("a"), "a")?;
    fs::rename(from.join("a"), to.join("a"))?;
    fs::read(to.join("a")).map(drop)
}

/// Returns the kind of file system of a folder. The longest mount point that is a prefix of the path determines the
/// kind.
fn kind(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = |line: &str| {
        // Format of a line: 36 35 98:0 /root /mount-point options - type source
        let (front, back) = line.split_once(" - ")?;
        let point = front.split(' ').nth(4)?.replace("\\040", " ");
        folder.starts_with(&point).then(|| (point.len(), back.split(' ').next().unwrap_or_default().to_owned()))
    };
    mounts.lines().filter_map(mount).max_by_key(|found| found.0).map(|found| found.1)
}
