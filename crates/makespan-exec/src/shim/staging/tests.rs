//! Tests of file names, of copies, and of the removal of old folders.

use super::*;

fn staging(folder: &Path, reads: &[&str], writes: &[&str]) -> Staging {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    Staging {
        scratch: folder.join("scratch-%N").display().to_string(),
        home: folder.join("home").display().to_string(),
        run: "0123".into(),
        name: "job~a".into(),
        attempt: 2,
        reads: words(reads),
        writes: words(writes),
    }
}

fn wrong<T>(result: Result<T, StagingFailure>, part: &str) {
    match result {
        Err(StagingFailure::Wrong(text)) => assert!(text.contains(part), "{text}"),
        Err(StagingFailure::Stopped) => panic!("stopped, not {part}"),
        Ok(_) => panic!("no error with {part}"),
    }
}

#[test]
fn files_go_in_and_come_back_whole() {
    let above = tempfile::tempdir().unwrap();
    let home = above.path().join("home");
    fs::create_dir_all(home.join("in")).unwrap();
    fs::write(home.join("in/run.sh"), "echo").unwrap();
    fs::set_permissions(home.join("in/run.sh"), Permissions::from_mode(0o555)).unwrap();
    let staging = staging(above.path(), &["in/run.sh"], &["out/deep/b", "c"]);
    let mut always = || true;
    let scratch = Scratch::fill(&staging, &mut always).unwrap();
    let inside = scratch.folder().to_owned();
    assert_eq!(fs::metadata(inside.join("in/run.sh")).unwrap().mode() & 0o777, 0o555);
    assert_eq!(fs::metadata(&inside).unwrap().mode() & 0o777, 0o700);
    fs::write(inside.join("out/deep/b"), "B").unwrap();
    wrong(scratch.give_out(&mut always), "without writing the file `c`");
    assert!(!home.join("out").exists(), "nothing is given of a part");
    fs::create_dir(inside.join("c")).unwrap();
    wrong(scratch.give_out(&mut always), "not a regular file");
    fs::remove_dir(inside.join("c")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", inside.join("c")).unwrap();
    wrong(scratch.give_out(&mut always), "a file outside its folder");
    fs::remove_file(inside.join("c")).unwrap();
    fs::write(inside.join("c"), "C").unwrap();
    // A remaining file of a killed attempt.
    fs::write(home.join(scratch.temporary("c", 1)), "half").unwrap();
    assert!(matches!(scratch.give_out(&mut || false), Err(StagingFailure::Stopped)));
    let names = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((names(&home.join("out/deep")), home.join("c").exists()), (0, false));
    scratch.give_out(&mut always).unwrap();
    assert_eq!(fs::read(home.join("out/deep/b")).unwrap(), b"B");
    assert_eq!(names(&home), 3, "in, out, c");
    drop(scratch);
    assert!(!inside.parent().unwrap().exists());
}

#[test]
fn what_cannot_be_copied_is_told_and_leaves_nothing() {
    let above = tempfile::tempdir().unwrap();
    fs::create_dir_all(above.path().join("home/folder")).unwrap();
    fs::write(above.path().join("home/a"), "A").unwrap();
    let mut always = || true;
    for (name, part) in [("none", "is not in"), ("folder", "not a regular file"), ("../a", "has no `..`")] {
        wrong(Scratch::fill(&staging(above.path(), &[name], &[]), &mut always), part);
    }
    wrong(Scratch::fill(&staging(above.path(), &[], &["/etc/a"]), &mut always), "not in the working folder");
    assert!(matches!(Scratch::fill(&staging(above.path(), &["a"], &[]), &mut || false), Err(StagingFailure::Stopped)));
    let nowhere = Staging { scratch: "/proc/none".into(), ..staging(above.path(), &["a"], &[]) };
    wrong(Scratch::fill(&nowhere, &mut always), "another folder with --scratch");
    let scratch = above.path().join(format!("scratch-{}", host()));
    assert!(fs::read_dir(scratch).unwrap().next().is_none());
    // A device that is always full.
    let full = copied(&above.path().join("home/a"), Path::new("/dev/full"), &mut always);
    assert!(full.is_err());
}

#[test]
fn names_and_patterns_are_checked() {
    for name in ["a", "./a", "a/b", "a/./b", "a..b", "-"] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for name in ["", ".", "/", "/a", "../a", "a/..", "a/../b", "a\0b"] {
        assert!(check_name(name).is_err(), "{name}");
    }
    assert_eq!(check_pattern("/tmp/%N/%j/%%"), Ok(()));
    for pattern in ["tmp", "", "/tmp/%u", "/tmp/%"] {
        assert!(check_pattern(pattern).is_err(), "{pattern}");
    }
    assert_eq!(expanded("/a%%/%N/%j", &|name| Some(name.len().to_string())), Ok("/a%/15/12".into()));
    assert!(expanded("/%j", &|_| None).unwrap_err().contains("this is not a Slurm job"));
}

#[test]
fn only_what_the_dead_left_is_swept() {
    let above = tempfile::tempdir().unwrap();
    let run = above.path().join("run");
    let me = getpid().as_raw();
    let start = start_of(me).unwrap();
    let keep = [format!("a.1~{}~{me}~{start}", host()), format!("a.1~elsewhere~1~{start}"), "strange".to_owned()];
    let dead = format!("a~0.1~{}~{me}~{}", host(), start + 1);
    keep.iter().chain([&dead]).for_each(|name| fs::create_dir_all(run.join(name).join("in")).unwrap());
    sweep(&run);
    assert!(keep.iter().all(|name| run.join(name).exists()) && !run.join(dead).exists());
}
