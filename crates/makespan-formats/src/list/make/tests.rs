use makespan_core::Platform;

use super::*;

fn read(known: &str, printed: &str) -> Result<Option<Instance>, FormatError> {
    let line_of = |_: &str, line: usize| (line == 7).then(|| "c: export FLAGS += -g".to_owned());
    read_make(MakeOutput { file: "m", goal: None, known, printed }, &Platform::flat(2).unwrap(), line_of)
}

#[test]
fn what_is_between_two_targets_is_passed_through() {
    let printed = "m:1: update target 'a' due to: x\na\nm:2: target 'b' does not exist\nb\nm:4: update target 'c' due to: b\n\
                   # Make data base\n\n# Files\n\nb: phony | dir\n#  x\n\nphony: a\n\n# Not a target:\ndir:\n\na: x\n\n\
                   # makefile (from 'm', line 7)\nc: FLAGS += a b\nc: a2 b\n\n# Not a target:\na2:\n\na: x\n#  Also makes: a2\n";
    let instance = read(printed, printed).unwrap().unwrap();
    let all: Vec<(&str, Vec<&str>)> =
        instance.jobs().iter().map(|job| (job.name.as_str(), job.after.iter().map(|name| &**name).collect())).collect();
    assert_eq!(all, [("a", vec![]), ("b", vec!["a"]), ("c", vec!["a", "b"])]);
    let command = |job: usize| instance.command(instance.jobs()[job].first()).to_vec();
    let end = [
        "--eval=.makespan: export FLAGS += a b",
        "--old-file=a",
        "--what-if=a",
        "--eval=.makespan: b ;",
        "--",
        ".makespan",
    ];
    assert_eq!(command(1)[3..], [&["b", "--no-print-directory", "-f", "m"][..], &end].concat());
    assert_eq!(command(2)[7..], ["--newer=a2", "--newer=b", "--", "c"]);
    assert!(read("", "make: Nothing to be done for 'all'.\n").unwrap().is_none());
    assert!(read("", "m:1: target 'a' does not exist\n").is_err());
}

#[test]
fn files_that_are_not_simply_old_are_told_as_what_they_are() {
    let printed = "m:1: target 'd' does not exist\nd\nm:2: target 'g' does not exist\ng\nm:4: update target 'u' due to: h m d\n\
                   m:5: target 'm' does not exist\nm\n# Make data base\n\n# Files\n\n.INTERMEDIATE: m\n\nd:: s$\n\nd:: g | p\n\n\
                   g: s\n#  Also makes: h g\n\nh: s\n#  Also makes: h g\n\nm: s\n\nu: h m d\n\np: m\n";
    let instance = read(printed, printed).unwrap().unwrap();
    let job = |name: &str| instance.jobs().iter().find(|job| job.name == name).unwrap();
    let words = |name: &str| instance.command(job(name).first())[6..].to_vec();
    let before = |name: &str| job(name).after.iter().map(|name| &**name).collect::<Vec<&str>>();
    assert_eq!((before("d"), before("u")), (vec!["g", "m"], vec!["d", "g", "m"]));
    let stub = "--eval=d: private override SHELL := true";
    let kept = "--eval=.SECONDARY: m";
    assert_eq!(words("u")[1..], ["--newer=h", "--newer=m", "--old-file=g", stub, "--eval=.SILENT: d", kept, "--", "u"]);
    let printed = printed.replace("m: s\n", "m: s\n\n.SECONDARY:\n\n.SILENT:\n");
    let instance = read(&printed, &printed).unwrap().unwrap();
    let all = instance.command(instance.jobs()[2].first()).join(" ");
    assert!(!all.contains(".SECONDARY") && !all.contains(".SILENT"), "{all}");
}

#[test]
fn a_recipe_is_a_part_of_its_job() {
    let printed = |recipe: &str, base: &str| {
        format!("m:1: target 'a' does not exist\n{recipe}\n# Make data base\n\n# Files\n\na: {base}\n")
    };
    let command = |text: String| {
        let instance = read(&text, &text).unwrap().unwrap();
        instance.command(instance.jobs()[0].first()).to_vec()
    };
    assert_eq!(command(printed("cc a", "x")), command(printed("cc a", "y")));
    assert_ne!(command(printed("cc a", "x")), command(printed("cc -g a", "x")));
}

#[test]
fn a_dry_run_gets_a_shell_that_does_nothing() {
    let base = |lines: &str| {
        format!(
            "\n# Pattern-specific Variable Values\n\n%.x :\n# makefile (from 'm', line 3)\n# SHELL := bash\n\n# Directories\n\n# Files\n\n{lines}\n"
        )
    };
    let found = stubs("m", &base("# makefile (from 'm', line 4)\na: SHELL = dash\na: b\n")).unwrap();
    let shells = ["%", "a", "%.x"].map(|name| format!("--eval={name}: override SHELL := true"));
    assert_eq!(found, shells);
    for (lines, part) in [
        ("# 'override' directive (from 'm', line 4)\na: SHELL = dash\na: b\n", "m:4"),
        (".SECONDEXPANSION:\n\na: $(shell ls)\n", "second expansion"),
    ] {
        let error = stubs("m", &base(lines)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn targets_that_make_keeps_apart_wait_for_each_other() {
    let trace = "m:1: target 'a' does not exist\na\nm:2: target 'b' does not exist\nb\nm:3: target 'c' does not exist\nc\nm:4: target 'all' does not exist\n";
    for (version, special, needs, expect) in [
        ("4.3", "", "a b c", "a: b: c: all:a,b,c"),
        ("4.3", ".NOTPARALLEL:\n\n", "a b c", "a: b:a c:b all:a,b,c"),
        ("4.3", ".NOTPARALLEL: other\n\n", "a b c", "a: b:a c:b all:a,b,c"),
        ("4.4.1", ".NOTPARALLEL: other\n\n", "a b c", "a: b: c: all:a,b,c"),
        ("4.4.1", ".NOTPARALLEL: all\n\n", "a b c", "a: b:a c:a,b all:a,b,c"),
        ("4.4.1", "", "a b .WAIT c", "a: b: c:a,b all:a,b,c"),
        ("4.4.1", "", "a .WAIT d", "a: b: c:a all:a,c"),
    ] {
        let base = format!("# Make data base\n\n# Files\n\n{special}a:\n\nb:\n\nc:\n\nd: c\n\nall: {needs}\n");
        let text = format!("# GNU Make {version}\n{trace}{base}");
        let asked = MakeOutput { file: "m", goal: Some("all"), known: &text, printed: &text };
        let instance = read_make(asked, &Platform::flat(2).unwrap(), |_, _| None).unwrap().unwrap();
        let shown = instance.jobs().iter().map(|job| {
            let after: Vec<&str> = job.after.iter().map(|name| &**name).collect();
            format!("{}:{}", job.name, after.join(","))
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expect, "{version} {special} {needs}");
    }
}
