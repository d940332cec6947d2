//! Makefiles of many kinds, each run by `make` and by `makespan run`: both leave the same files and run the same recipes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::makefiles::has_make;
use crate::sandbox::{Said, Sandbox};

/// The files of a folder and what is in them; of a log only which lines it has, for jobs may run in another order.
fn files(folder: &Path, within: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path());
        match text {
            _ if name == "runs" => {}
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

/// Runs a makefile by both after each edit; an edit names files with their text, newer than all before. The words are a goal.
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
        for (folder, (name, text)) in folders.iter().flat_map(|folder| edit.iter().map(move |edit| (folder, edit))) {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let age = Duration::from_secs(if round == 0 { 100 } else { 0 });
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
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
    // What follows from what the other makefile makes is made as soon as that has changed, and only then.
    let top = "prog: sub/lib.a\n\tsleep 0.02; cp sub/lib.a $@; echo prog >> log\nsub/lib.a: FORCE\n\t+@$(MAKE) -C sub lib.a\nFORCE:\n";
    beside_make(top, "", &[files, &[], &[("sub/y.s", "z")], &[]]);
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
    sandbox.makespan("run list.txt -- clean").refused(&["a file and a command are not run together"]);
    if has_make() {
        sandbox.makespan("run Makefile -- nowhere").refused(&["No rule to make target", "nowhere"]);
    }
}

#[test]
fn an_edited_recipe_is_run_when_a_run_goes_on() {
    if !has_make() {
        return;
    }
    let sandbox = Sandbox::new();
    let makefile = |x: &str| {
        format!(
            "CODE = {x}\nall: x y\nx:\n\techo x >> log; exit $(CODE)\ny: z\n\techo y >> log; exit 1\nz:\n\techo z >> log; exit 1\n"
        )
    };
    sandbox.write("Makefile", makefile("1"));
    let said = sandbox.makespan("run Makefile --folder f");
    assert!(said.status == Some(1) && said.out.contains("runs what was edited since"), "{said:?}");
    assert_eq!(sandbox.makespan("run Makefile --folder f --resume").status, Some(1));
    assert_eq!(sandbox.read("log").lines().count(), 2, "nothing was edited");
    sandbox.write("Makefile", makefile("0"));
    assert_eq!(sandbox.makespan("run Makefile --folder f --resume").status, Some(1));
    let log = sandbox.read("log");
    let count = |name: &str| log.lines().filter(|line| *line == name).count();
    assert_eq!((count("x"), count("y"), count("z")), (2, 0, 1), "{log}");
}
