//! Many kinds of makefiles are run by `make` and by `makespan run`. Both leave the same files and run the same recipes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::cli::makefiles::has_make;
use crate::cli::sandbox::{Said, Sandbox};

/// Collects the files of a folder with their contents. The lines of a log are sorted, because jobs may run in another
/// order.
fn files(folder: &Path, within: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path());
        match text {
            // Make deletes intermediate files, but makespan keeps them.
            _ if name == "runs" || name.ends_with(".between") => {}
            Ok(text) if name == "log" => {
                let mut lines: Vec<&str> = text.lines().collect();
                lines.sort_unstable();
                found.insert(format!("{within}{name}"), lines.join("\n"));
            }
            Ok(text) => drop(found.insert(format!("{within}{name}"), text)),
            Err(_) => files(&entry.path(), &format!("{within}{name}/"), found),
        }
    }
}

/// Runs a makefile with both programs after each edit. An edit lists files and their new contents. `goal` is a goal of
/// the makefile.
#[track_caller]
fn beside_make(makefile: &str, goal: &str, edits: &[&[(&str, &str)]]) {
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    let folders = ["by-make", "by-makespan"].map(|name| sandbox.path(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("Makefile"), makefile).unwrap();
    }
    for (round, edit) in edits.iter().enumerate() {
        // Edited files are newer than all files that were built before.
        std::thread::sleep(Duration::from_millis(20));
        for (folder, (name, text)) in folders.iter().flat_map(|folder| edit.iter().map(move |edit| (folder, edit))) {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            // Later edits keep the time that the file system sets. Its clock is coarser than ours, so a time set by
            // this test could be later than the time of a file that is built from the edited one.
            if round == 0 {
                let file = fs::File::options().append(true).open(&path).unwrap();
                file.set_modified(SystemTime::now() - Duration::from_secs(100)).unwrap();
            }
        }
        let mut make = Command::new("make");
        make.args(goal.split_whitespace()).current_dir(&folders[0]).env_remove("MAKEFLAGS");
        let by_make = make.output().unwrap();
        let behind = if goal.is_empty() { String::new() } else { format!("-- {goal}") };
        let line = format!("run Makefile --processors 2 --oversubscribe {behind}");
        let said = Said::new(&line, &sandbox.command(&line).current_dir(&folders[1]).output().unwrap());
        let [expected, found] = folders.each_ref().map(|folder| {
            let mut all = BTreeMap::new();
            files(folder, "", &mut all);
            all
        });
        assert!(by_make.status.success(), "{by_make:?}");
        assert_eq!(found, expected, "round {round}: {said:?}");
        assert_eq!(said.status, Some(0), "round {round}: {said:?}");
    }
}

const SUB: (&str, &str) = (
    "sub/Makefile",
    "lib.a: x.o y.o\n\tcat $^ > $@; echo lib >> ../log\n%.o: %.s\n\tcp $< $@\ndeploy:\n\ttouch deploy\n",
);

#[test]
fn a_recipe_that_calls_make_is_one_job() {
    let files: &[(&str, &str)] = &[SUB, ("sub/x.s", "x"), ("sub/y.s", "y")];
    let top =
        "all: prog\nprog: lib.a\n\tcp lib.a $@; echo prog >> log\nlib.a:\n\t$(MAKE) -C sub lib.a\n\tcp sub/lib.a $@\n";
    beside_make(top, "", &[files, &[]]);
    let top = "all: x\nx:\n\t$(MAKE) -C sub deploy\n\ttouch x\ndeploy:\n\techo top >> log\n";
    beside_make(top, "", &[files]);
    // Targets that depend on files of the other makefile are built only after those files have changed.
    let top = "prog: sub/lib.a\n\tsleep 0.02; cp sub/lib.a $@; echo prog >> log\nsub/lib.a: FORCE\n\t+@$(MAKE) -C sub lib.a\nFORCE:\n";
    beside_make(top, "", &[files, &[], &[("sub/y.s", "z")], &[]]);
}

#[test]
fn placeholders_in_a_makefile_reach_make_unchanged() {
    let top = "all: {processors} b\nb: TEXT = {gpus} {processors} {task} $${x} {} {1} {name}\n\
        b: c\n\techo '$(TEXT)' > $@; echo b >> log\nc:\n\techo '$(TEXT)' > $@; echo c >> log\n\
        {processors}:\n\techo a b | awk '{print $$2} END {print \"{processors} {literal:gpus}\"}' > $@; echo a >> log\n";
    beside_make(top, "", &[&[], &[]]);
}

#[test]
fn lines_that_a_dry_run_runs_run_once() {
    let top = ".PHONY: a b c\nNEXT = +echo c >> log\na: b c\n\t+echo a >> log\nb: SHELL = /bin/bash\nb:\n\t@+[[ 1 = 1 ]] && echo b $(MAKE) >> log\nc:\n\t$(NEXT)\n";
    beside_make(top, "", &[&[]]);
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", top);
    sandbox.makespan("plan Makefile").succeeds();
    assert!(!sandbox.path("log").exists(), "planning ran a recipe");
    sandbox.write("override.mk", "a: override SHELL = /bin/bash\na:\n\t+echo a >> log\n");
    sandbox.makespan("plan override.mk").refused(&["override.mk:1", "overrides SHELL"]);
    assert!(!sandbox.path("log").exists(), "reading ran a recipe");
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn variables_of_a_target_hold_for_what_it_needs() {
    let note = "\techo \"$@: $(FLAGS) $(MORE) $(OWN) $(HIDDEN) $$SAID $(BY)\" > $@; echo $@ >> log\n";
    for variables in [
        "debug: FLAGS = -g",
        "debug: FLAGS += -g # all\ndebug: MORE := a$$b\\#c  'd'\nb.o: FLAGS += own",
        "debug: export SAID = hello\ndebug: private HIDDEN = no\ninner: OWN = $@\nb.o: MORE ?= x",
        "%bug: BY = pattern $(FLAGS) $$((1+1))\ninne%: BY += inner\nd%g: MORE := $(FLAGS)$$x\n%r: MORE ?= y\n%g: export SAID = $@",
        "%bug: BY = pattern\ninne%: BY += inner\nb.o: override MORE = $(FLAGS)!",
        "debug: FLAGS = 1\nrelease: FLAGS = 2\ninner: FLAGS = 3",
        "debug: SHELL = /bin/bash\ndebug: SAID = $(shell [[ 1 = 1 ]] && echo bash)",
    ] {
        let makefile = format!(
            "FLAGS = -O\n.PHONY: all inner\n{variables}\nall: debug release\ndebug: a.o inner\n{note}release: a.o c.o\n{note}\
             inner: b.o\na.o b.o c.o: | dir\n{note}dir:\n\tmkdir dir\n"
        );
        beside_make(&makefile, "", &[&[], &[]]);
        beside_make(&makefile, "release", &[&[]]);
    }
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write(
        "Makefile",
        "define LINES\na\nb: c\nendef\nx: TEXT := $(LINES)\nx: y\n\ttouch x\ny:\n\techo '$(TEXT)' > y\n",
    );
    sandbox.makespan("run Makefile").refused(&["Makefile:5", "`TEXT`", "several lines"]);
}

#[test]
fn a_file_that_is_replaced_only_if_it_changed_changes_nothing_else() {
    let makefile = "all: prog other\nprog: version.h\n\tsleep 0.02; echo prog $? >> log; cp version.h prog\nother: prog | order\n\tsleep 0.02; echo other >> log; touch other\n\
                    version.h: FORCE\n\tcp version tmp.h; cmp -s tmp.h version.h || mv tmp.h version.h; rm -f tmp.h\n\
                    order: FORCE\n\techo order >> log; touch order\nFORCE:\n";
    beside_make(makefile, "", &[&[("version", "1")], &[], &[("version", "2")], &[("version", "2")]]);
}

#[test]
fn what_make_finds_out_while_it_reads_is_found() {
    let makefile = "SHELL = /bin/bash\n.ONESHELL:\nNAMES := $(shell [[ a = a ]] && echo a b)\n-include made.mk\n\
                    all: $(NAMES) $(MADE)\n\tcd sub\n\tls > ../list\n$(NAMES): sub\n\ttouch $@\nsub:\n\tmkdir sub\nmade.mk: in\n\techo made >> log; echo MADE = c > made.mk\nc:\n\ttouch c\n";
    beside_make(makefile, "", &[&[("in", "")], &[]]);
    let makefile = ".SECONDEXPANSION:\nDEPS = b\nall: $$(DEPS) $$@.in\n\tcat $^ > all\nb:\n\techo b > b\n%.in:\n\techo $* > $@\n.PRECIOUS: %.in\n";
    beside_make(makefile, "", &[&[]]);
}

#[test]
fn another_goal_is_asked_for() {
    let makefile = "all:\n\ttouch all\nclean: gone\n\trm -f old\ngone:\n\trm -f older\n";
    beside_make(makefile, "clean", &[&[("old", ""), ("older", "")]]);
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", makefile);
    sandbox.makespan("run Makefile clean").misused(&["'clean'", "run Makefile -- clean"]);
    sandbox.makespan("run Makefile -- clean all").refused(&["one goal"]);
    sandbox.makespan("run Makefile -- X=1").refused(&["one goal"]);
    sandbox.write("list.txt", "true\n");
    sandbox.makespan("run list.txt -- clean").refused(&["a file and a command cannot be run together"]);
    if has_make() {
        sandbox.makespan("run Makefile -- nowhere").refused(&["No rule to make target", "nowhere"]);
    }
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn rules_of_two_colons_run_once_for_all_that_need_their_target() {
    let note = "\tsleep 0.02; echo $@ $? >> log; echo $@ >> $@\n";
    let rest = format!("b: t\n{note}c: | t\n{note}d: between\n{note}between: t\n.DEFAULT:\n\techo default $@ >> log\n");
    for rules in [
        "t:: s1\n\tsleep 0.02; echo one $? >> log; echo 1 >> $@\n",
        "t:: s1\n\tsleep 0.02; echo one $? >> log; echo 1 >> $@\nt:: s2 u\n\tsleep 0.02; echo two $? >> log; echo 2 >> $@\nu:: s2\n\tsleep 0.02; echo u >> log; touch u\n",
        "t::\n\tsleep 0.02; echo always >> log; echo x >> $@\nt:: p\n\tsleep 0.02; echo two >> log; echo 2 >> $@\n.PHONY: p\np: q\nq:\n\tsleep 0.02; echo q >> log; touch q\n",
        ".PHONY: t\nt:: s1\n\t@+echo phony $(MAKE) >> log\n",
        ".SILENT:\nt: VAR = x\nt:: s1 v\n\tsleep 0.02; echo one $(VAR) >> log; cmp -s s1 $@ || cp s1 $@\nv:\n\tsleep 0.02; echo v $(VAR) >> log; touch v\n",
    ] {
        let makefile = format!("all: b c d\n{note}{rules}{rest}");
        let sources: &[(&str, &str)] = &[("s1", "1"), ("s2", "2")];
        beside_make(&makefile, "", &[sources, &[], &[("s1", "1")], &[("s2", "x")], &[]]);
    }
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn a_recipe_that_makes_several_files_runs_once_whichever_is_needed() {
    let recipe = "\techo group $(?F) >> log; sleep 0.1; echo G >> a.x; echo G >> b.x; echo G >> c.x\n";
    let note = "\techo $@ $? >> log; cat $< > $@\n";
    for group in ["a.x b.x c.x &: src", "a.x b.x c.x &: made", "c.x a.x b.x &: made | order", "a%x b%x c%x: made"] {
        let makefile = format!(
            "all: u v w last\n{note}u: a.x\n{note}v: b.x\n{note}w: through\n\techo w >> log; touch w\nthrough: c.x\nlast: b.x u a.x\n{note}{group}\n{recipe}made: src\n{note}order:\n\ttouch order\n"
        );
        beside_make(&makefile, "", &[&[("src", "1")], &[], &[("src", "2")], &[("a.x", "edited")]]);
        beside_make(&makefile, "v", &[&[("src", "1")], &[("src", "2")]]);
    }
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn intermediate_files_serve_all_that_need_them() {
    let note = "\techo $@ >> log; sleep 0.05; cat $^ > $@\n";
    for (special, name) in [
        (".INTERMEDIATE: m.between", "m.between"),
        (".INTERMEDIATE: m.between\n.SECONDARY:", "m.between"),
        (".INTERMEDIATE: m.between n.between\nx y: FLAG = 1", "n.between"),
        (".PRECIOUS: m.between", "m.between"),
        ("", "m.between"),
    ] {
        let makefile = format!(
            "all: x y\n{note}{special}\nx: m.between s\n{note}y: {name}\n{note}m.between: src\n{note}n.between: m.between\n{note}"
        );
        let all: &[(&str, &str)] = &[("src", "1"), ("s", "1")];
        beside_make(&makefile, "", &[all]);
        // An intermediate file that existed before is kept, as with make.
        let before: &[(&str, &str)] = &[("src", "1"), ("s", "1"), ("m.between", "0")];
        beside_make(
            &makefile.replace(".between", ".stays"),
            "",
            &[&[("src", "1"), ("s", "1"), ("m.stays", "0"), ("n.stays", "0")], &[("src", "2")]],
        );
        beside_make(&makefile, "", &[before, &[("src", "2")]]);
    }
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn variables_come_from_the_target_for_which_make_comes_to_another() {
    let note = "\techo $@ $(V) $(W) >> log; echo $@ $(V) $(W) > $@\n";
    let rules = format!(
        "V = v\n%.o: V := by-pattern\n%.p: W += more\na.o: s t1\n{note}t1: s t2 t4\n{note}t2: s\n{note}t4: | d\n{note}b.p: t4 t1\n{note}\
         d:\n{note}c.o: override V = over\nc.o: e t2\n{note}e: V := inner\ne: t4 d\n{note}"
    );
    for special in ["", ".SECONDARY:\n", ".SECONDARY: t1\n", ".SECONDARY: a.o t2\n", ".PHONY: b.p\n"] {
        for goals in ["a.o t4 t1", "t1 a.o", "b.p a.o t1", "c.o a.o t1", "a.o c.o b.p"] {
            for there in [&[("s", "1")][..], &[("t1", "old"), ("s", "1")]] {
                beside_make(&format!("all: {goals}\n\ttouch all\n{rules}{special}"), "", &[there]);
            }
        }
    }
}

/// Runs a makefile with `make --keep-going` and with a resumed run, after each script.
#[track_caller]
fn goes_on_beside_make(makefile: &str, scripts: &[&str]) {
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    let folders = ["by-make", "by-makespan"].map(|name| sandbox.path(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("Makefile"), makefile).unwrap();
    }
    for (round, script) in scripts.iter().enumerate() {
        for folder in &folders {
            // Edited files are newer than all files that were built before.
            let script = format!("sleep 0.02\n{script}");
            assert!(Command::new("sh").args(["-ec", &script]).current_dir(folder).status().unwrap().success());
        }
        let mut make = Command::new("make");
        let by_make = make.arg("--keep-going").current_dir(&folders[0]).env_remove("MAKEFLAGS").output().unwrap();
        let resume = if round == 0 { "" } else { "--resume" };
        let line = format!("run Makefile --processors 2 --oversubscribe {resume}");
        let said = Said::new(&line, &sandbox.command(&line).current_dir(&folders[1]).output().unwrap());
        let [expected, found] = folders.each_ref().map(|folder| {
            let mut all = BTreeMap::new();
            files(folder, "", &mut all);
            all
        });
        assert_eq!(found, expected, "round {round}: {said:?} {by_make:?}");
        assert_eq!(said.status == Some(0), by_make.status.success(), "round {round}: {said:?} {by_make:?}");
    }
}

#[test]
#[ignore = "long: GNU make, and many runs"]
fn a_run_that_goes_on_does_what_make_would_do_now() {
    let makefile = "CODE = 0\n.PHONY: check\nall: prog other check\nprog: a.o b.o\n\techo prog >> log; grep -q good a.o && cat a.o b.o > prog\n\
                    %.o: %.c\n\techo $@ >> log; cp $< $@\nother: b.o\n\techo other >> log; cp b.o other; exit $(CODE)\ncheck:\n\techo check >> log\n";
    let start = "echo bad > a.c; echo b > b.c";
    // A source is corrected, a file is lost, a recipe is edited, a source is touched, and the program that failed is
    // removed.
    let edit_recipe = "sed -i 's/^CODE.*/CODE = 1/' Makefile";
    let mend_recipe = "sed -i 's/^CODE.*/CODE = 0/' Makefile";
    let mend = "echo good > a.c";
    for scripts in [
        &[start, mend, "true"][..],
        &[start, "true", "true", mend],
        &[start, mend, "rm a.o", "rm prog", "rm prog a.o other"],
        &[start, mend, edit_recipe, "touch b.c", "rm other", mend_recipe, "rm -f other"],
        &[
            start,
            "rm a.o; echo good > a.c; sed -i s/check/test/ Makefile",
            "touch Makefile",
            "echo bad > a.c",
            "rm -f prog",
        ],
    ] {
        goes_on_beside_make(makefile, scripts);
    }
}

#[test]
fn what_is_half_made_when_a_session_is_killed_is_made_again() {
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "all: y\ny: x\n\tcp x y\nx: s\n\techo half > x; touch begun; sleep 2; echo whole > x\n");
    sandbox.write("s", "");
    let mut session = sandbox.command("run Makefile --folder f").spawn().unwrap();
    while !sandbox.path("begun").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    session.kill().unwrap();
    session.wait().unwrap();
    assert_eq!(sandbox.makespan("run Makefile --folder f --resume").status, Some(0));
    assert_eq!(sandbox.read("y"), "whole\n");
}

#[test]
fn what_failed_is_tried_again_as_make_tries_it() {
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("Makefile", "all: x y\nx:\n\techo x >> log; false\ny: x\n\techo y >> log\n");
    let said = sandbox.makespan("run Makefile --folder f");
    assert!(said.status == Some(2) && said.err.contains("--resume` runs the targets that are out of date"), "{said:?}");
    for options in ["", "--retry-failed"] {
        assert_eq!(sandbox.makespan(&format!("run Makefile --folder f --resume {options}")).status, Some(2));
    }
    assert_eq!(sandbox.read("log"), "x\nx\nx\n");
    let said = sandbox.makespan("run Makefile --folder none --resume");
    assert!(said.status == Some(2) && said.err.contains("--resume begins a new run"), "{said:?}");
}
