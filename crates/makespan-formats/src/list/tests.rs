//! Tests of lists and templates. Where the syntax of the shell matters, results are compared with a real shell.

use std::process::Command as Process;

use makespan_core::{Estimate, Instance, Need, Platform, Resources, TaskId, Time, Weight};
use proptest::prelude::*;

use super::lines::commands;
use super::*;

fn machine() -> Platform {
    let resources = Resources::new([("memory", 8 << 30), ("gpus", 2)]).unwrap();
    Platform::flat(4).unwrap().with_node_resources(&resources).unwrap()
}

fn list(text: &str) -> Result<Instance, String> {
    read_list("list", text, &machine()).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let error = list(text).expect_err(text);
    parts.iter().for_each(|part| assert!(error.contains(part), "{error}\nlacks {part}"));
}

fn shell_lines(instance: &Instance) -> Vec<String> {
    instance.task_ids().map(|task| instance.command(task)[2].clone()).collect()
}

#[test]
fn a_line_is_a_command() {
    let instance = list("# greetings\necho a # said\n\n  echo 'b # c' \r\nx=1; echo \"${#x}\" a#b $#\n").unwrap();
    assert_eq!(shell_lines(&instance), ["echo a", "echo 'b # c'", "x=1; echo \"${#x}\" a#b $#"]);
    let names: Vec<&str> = instance.jobs().iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["2-echo-a", "4-echo-b-c", "5-x-1-echo-x-a-b"]);
    assert_eq!(&*instance.command(TaskId(0)), ["sh", "-c", "echo a"]);
    assert_eq!((instance.guesses(), instance.processors()), (3, 4));
    assert!(instance.platform().resources().is_empty(), "no command needs memory");
}

#[test]
fn a_backslash_continues_a_line() {
    let instance = list("echo a \\\n  b \\\n  c\necho 'd\\' # e \\\necho \"f \\\ng\"\necho h\\ \n").unwrap();
    assert_eq!(shell_lines(&instance), ["echo a   b   c", "echo 'd\\'", "echo \"f g\"", "echo h\\ "]);
    assert_eq!(instance.jobs()[2].name, "5-echo-f-g");
}

#[test]
fn a_line_that_is_no_whole_command_is_refused() {
    for text in
        ["cd b &&\nrm -f *", "a ||\nb", "a |\nb", "a | # on\nb", "a |&\nb", "a && \\\n  b &&\nc", "a\n&& b", "a\n| b"]
    {
        refused(text, &["continues", "write the command on one line"]);
    }
    for text in [
        "(a\nb)",
        "echo $(a\nb)",
        "echo ${a\n}",
        "echo $((1 +\n2))",
        "echo $($((()a))",
        "echo ${\\${a}",
        "for i in 1 2; do\na\ndone",
        "{ a\nb; }",
        "if a; then",
    ] {
        refused(text, &["continues", "begins"]);
    }
    for text in
        ["cd build\nmake", "A=b", "export A=b", "set -e", "f() { a; }\nf", "f () (a)", "f( )", "function f { a; }"]
    {
        refused(text, &["list:1", "its own shell"]);
    }
    let fine = "cd b && rm -f *\nA=b make\n(a; b) | c &\n{ a; b; }\nfor i in 1 2; do a; done\necho 'a &&'\necho \"(\" \\&\\& \\|\ncase a in a) b;; esac\n";
    assert_eq!(list(fine).unwrap().jobs().len(), fine.lines().count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks that each accepted line is a complete command for a shell, which does not wait for more input.
    #[test]
    fn no_accepted_line_goes_on(words in proptest::collection::vec(0..20_usize, 1..9)) {
        const WORDS: [&str; 20] = ["a", "b", " ", " ", "&&", "||", "|", "&", ";", "(", ")", "$(", "${a}", "${", "$((", "))", "'", "\"", "\\", "#"];
        let text: String = words.iter().map(|&word| WORDS[word]).collect();
        if let Ok(instance) = list(&text) {
            for line in shell_lines(&instance) {
                let said = Process::new("sh").args(["-n", "-c", &line]).output().unwrap();
                let said = String::from_utf8_lossy(&said.stderr).into_owned();
                let waits = said.contains("end of file") || said.contains("nterminated");
                prop_assert!(!waits, "{:?}: {}", line, said);
            }
        }
    }
}

#[test]
fn notes_stand_before_a_command_and_at_its_end() {
    let text = "#: cores=1-3 memory=2GiB\n#: name=first\nmake\n\
                gcc a.c #: gpus=1 after=first time=90s weight=2.5 deadline=1h timeout=2min priority=3 released=5\n\
                ./c #: after=3-4 cores=2 time=9,6,5\n./d #: time=10 cores=2-4\n./e #: time=10 speedup=linear\n";
    let instance = list(text).unwrap();
    let (job, task) = (|at: usize| &instance.jobs()[at], |at: u64| instance.task(TaskId(at)));
    assert_eq!((job(0).name.as_str(), job(1).name.as_str()), ("first", "4-gcc-a.c"));
    assert_eq!((task(0).profile.min_processors(), task(0).profile.max_processors()), (1, 3));
    let needs = |at: u64| task(at).needs.iter().map(|(name, need)| (name.to_owned(), need.clone())).collect::<Vec<_>>();
    assert_eq!(needs(0), [("memory".to_owned(), Need::whole(2 << 30))]);
    assert_eq!(needs(1), [("gpus".to_owned(), Need::whole(1))]);
    assert_eq!((task(1).profile.time(1), task(1).estimate), (Time::from_seconds(90), Estimate::Stated));
    assert_eq!((job(1).weight, job(1).priority), (Weight::parse("2.5").unwrap(), 3));
    assert_eq!((job(1).release, job(1).deadline), (Time::from_seconds(5), Some(Time::from_seconds(3600))));
    assert_eq!(job(1).walltime, Some(Time::from_seconds(120)));
    let after = |at: usize| job(at).after.iter().map(|name| &**name).collect::<Vec<_>>();
    assert_eq!((after(1), after(2)), (vec!["first"], vec!["first", "4-gcc-a.c"]));
    assert_eq!(task(2).profile.allotments().collect::<Vec<_>>(), [2], "of a list of three");
    assert_eq!((task(3).profile.time(2), task(3).estimate), (Time::from_seconds(10), Estimate::Guessed));
    assert_eq!((task(4).profile.time(4), task(4).estimate), (Time::from_ticks(2_500_000_000), Estimate::Stated));
    assert_eq!(instance.platform().resources().len(), 2);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    refused("", &["no command", "one shell command on each line"]);
    refused("# a\n\n", &["none of the 2 lines"]);
    refused("#: cores=2\n", &["list:1", "no command follows"]);
    refused("a\nb 'c\nd\n", &["list:2:3", "`'`", "end its lines with"]);
    refused("a `b\n", &["list:1:3"]);
    refused("a \\\n \"b\n", &["list:2:2"]);
    refused("cat <<EOF\nb\nEOF\n", &["list:1:6", "here-document"]);
    refused("for i in 1 2\ndo\n  echo $i\ndone\n", &["list:1", "`for`", "`done`"]);
    refused("a\ndo\n", &["list:2", "`do`", "script"]);
    for (note, parts) in [
        ("cores=0", &["list:2: cores", "`0`"] as &[&str]),
        ("cores=3-2", &["`3-2`"]),
        ("cores=x", &["not a number of cores"]),
        ("cores=9", &["2-b", "9 processors"]),
        ("cores=", &["has no value"]),
        ("core=2", &["did you mean `cores`?"]),
        ("processors=2", &["did you mean `cores`?"]),
        ("walltime=2", &["did you mean `timeout`?"]),
        ("cores 2", &["`cores` is not a note", "KEY=VALUE"]),
        ("time=0", &["list:2: time", "above 0"]),
        ("time=-1", &["`-1` is negative"]),
        ("time=1e300", &["time", "too long"]),
        ("time=soon", &["`soon` is not a time"]),
        ("time=3,2 speedup=linear", &["speedup", "needs one `time`"]),
        ("time=3,2 cores=3", &["add times to the list"]),
        ("speedup=amdal:1", &["amdahl:SERIAL"]),
        ("speedup=fitted", &["is allowed only for logs"]),
        ("memory=500", &["list:2: memory", "`500` has no unit", "500MB"]),
        ("time=1h30", &["`1h30` is not a time"]),
        ("time=1h-30m", &["`1h-30m` is not a time"]),
        ("memory=9GiB", &["2-b", "memory"]),
        ("memory=much", &["list:2: memory", "`much`"]),
        ("gpus=3", &["2-b", "gpus"]),
        ("gpus=-1", &["`-1` is not a number of GPUs"]),
        ("name=12", &["a name that contains a letter"]),
        ("name=1-a", &["list:2", "the command on line 1 has the same name, `1-a`"]),
        ("after=7", &["list:2: after", "line 7 contains no command", "line 2"]),
        ("after=5-3", &["empty range"]),
        ("after=1-aa", &["no command is named", "did you mean `1-a`?"]),
        ("after=2", &["2-b"]),
        ("after=1,,2", &["comma"]),
        ("weight=-1", &["list:2: weight"]),
        ("deadline=", &["has no value"]),
        ("name=\"x", &["is not closed"]),
        ("cores=1 cores=2", &["given twice for one command"]),
        ("timeout=1 time=2", &["2-b", "time limit"]),
    ] {
        let text = format!("a\nb #: {note}\n");
        if parts.is_empty() { drop(list(&text).unwrap()) } else { refused(&text, parts) }
    }
    refused("a #: after=2\nb #: after=1\n", &["1-a", "2-b"]);
    refused(&format!("echo {}\n", "x".repeat(200_000)), &["list:1", "longer than 131071 bytes"]);
}

#[test]
fn many_that_wait_for_many_are_refused() {
    let text: String = (1..=3000).map(|line| format!("x #: after=1-{}\n", (line - 1).max(1))).skip(1).collect();
    refused(&format!("x\n{text}"), &["more than 1048576"]);
}

fn filled(template: &str, sources: &[&[&str]]) -> Result<Vec<String>, String> {
    let sources: Vec<Vec<String>> =
        sources.iter().map(|source| source.iter().map(ToString::to_string).collect()).collect();
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    template.lines(&Arguments::product(sources)).map_err(|error| error.to_string())
}

#[test]
fn templates_take_arguments() {
    let one = |template: &str, argument: &str| filled(template, &[&[argument]]).unwrap().remove(0);
    assert_eq!(one("gzip {} -o {.}.gz", "d/a.b.c"), "gzip d/a.b.c -o d/a.b.gz");
    assert_eq!(one("{/} {//} {/.} {#} {1} {1/}", "/d/e/a.c"), "a.c /d/e a 1 /d/e/a.c a.c");
    // GNU parallel 20221122 printed these parts.
    for (path, parts) in [
        ("a", "a|a|a|."),
        ("/a", "/a|a|a|/"),
        (".hid", "''|.hid|''|."),
        ("a/.hid", "a/|.hid|''|a"),
        ("a/b.c/", "a/b.c/|''|''|a"),
        ("/x/y.z//", "/x/y.z//|''|''|/x"),
        ("x//y.z/w.q", "x//y.z/w|w.q|w|x//y.z"),
        ("/", "/|''|''|/"),
        ("//", "//|''|''|/"),
        ("a.", "a|a.|a|."),
        ("a..b", "a.|a..b|a.|."),
        ("a.b/c", "a.b/c|c|c|a.b"),
        ("..", ".|..|.|."),
        ("a/..", "a/.|..|.|a"),
        ("./", "./|''|''|."),
        ("../", "../|''|''|."),
        ("/.x", "/|.x|''|/"),
        ("", "''|''|''|."),
    ] {
        assert_eq!(one("{.}'|'{/}'|'{/.}'|'{//}", path).replace("'|'", "|"), parts, "{path}");
    }
    assert_eq!(one("gzip", "a b"), "gzip 'a b'");
    assert_eq!(one("echo {x} ${HOME} {}", "a"), "echo {x} ${HOME} a");
    for braces in ["${x%.gz}", "${x##*/}", "awk '{print}'", "awk '{print $1 \"%\"}'", "{1..3}", "{=}", "{ a; }", "{+}"]
    {
        assert_eq!(one(&format!("{braces} {{}}"), "a"), format!("{braces} a"));
    }
    assert_eq!(
        one("a \"{}\" '{}' {}", "$(x) `y` \"z\" \\ 'w'"),
        r#"a "\$(x) \`y\` \"z\" \\ 'w'" '$(x) `y` "z" \ '\''w'\''' '$(x) `y` "z" \ '\''w'\'''"#
    );
    assert_eq!(one("a $HOME{} \"$HOME{#}\" '$HOME{}' $HOME/{}", "x"), "a $HOME''x \"$HOME\"\"1\" '$HOMEx' $HOME/x");
    assert_eq!(one("a {}>b 2>{} {#}<c", "2"), "a 2''>b 2>2 1''<c");
    let product = filled("x {2} {1}", &[&["a", "b"], &["1", "2"]]).unwrap();
    assert_eq!(product, ["x 1 a", "x 2 a", "x 1 b", "x 2 b"]);
    assert_eq!(filled("x", &[&["a"], &["b c"]]).unwrap(), ["x a 'b c'"]);
    assert_eq!(filled("echo {#}", &[&["a"]]).unwrap(), ["echo 1"]);
    assert_eq!(filled("if {}; then a; fi", &[&["if"]]).unwrap(), ["if 'if'; then a; fi"]);
    for (template, part) in [
        ("  ", "empty"),
        ("a `b {}`", "between backquotes"),
        ("a ${x:-{}}", "in ${..}"),
        ("a $(({} + 1))", "in $((..))"),
        ("a # {}", "in a comment"),
        ("a # b", "in a comment"),
        ("a $'{}'", "in $'..'"),
        ("a \\{}", "after a backslash"),
        ("a '{}", "is not closed"),
        ("a {%}", "`{%}` is a replacement string of GNU parallel"),
        ("a {2##}", "`{2##}` is a"),
        ("a '{..}'", "`{..}` is a"),
        ("a {1+/}", "`{1+/}` is a"),
        ("a {= s/a/b/ =}", "`{= s/a/b/ =}` is a"),
        ("a {=2 $_++ =}", "`{=2 $_++ =}` is a"),
        ("a {3}", "refers to argument source 3, but there is only 1 source"),
    ] {
        let error = filled(template, &[&["x"]]).unwrap_err();
        assert!(error.contains(part), "{template}: {error}");
    }
    let many: Vec<&str> = vec!["x"; 4000];
    assert!(filled("a {} {}", &[&many, &many]).unwrap_err().contains("16000000 commands"));
    assert!(filled("a {}", &[&["x\0y"]]).unwrap_err().contains("NUL"));
    let long = "x".repeat(200_000);
    assert!(filled("a {}", &[&[&long]]).unwrap_err().contains("command 1 is longer"));
    assert_eq!(filled("a", &[]).unwrap(), ["a "]);
}

/// Returns the output of a shell that runs this line.
fn said(line: &str) -> String {
    let output = Process::new("sh").args(["-c", line]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Checks that a program receives each argument unchanged, for any text and any quotation around the placeholder.
    #[test]
    fn an_argument_arrives_as_it_is(argument in "[ -~\n\té\u{2028}]{0,12}|[0-9a-zA-Z_]{1,3}", kind in 0..11) {
        let template = [
            "printf %s {}", "printf %s '{}'", "printf %s \"{}\"", "printf %s \"$(printf %sx {})\" | sed '$s/x$//'", "(printf %s {})",
            "printf %s \"a'b$(printf %s '{}x')\" | sed \"1s/^a'b//; \\$s/x$//\"",
            "a=; printf %s $a{}", "a=; printf %s \"$a{}\"", "a=; printf %s \"$(printf %sx $a{})\" | sed '$s/x$//'", "printf %s {}>&1",
            "a_1=; printf %s $a_1\"$a_1{}\"<&0",
        ][kind as usize];
        let line = filled(template, &[&[&argument]]).unwrap().remove(0);
        let said = said(&line);
        // Command substitution removes line breaks at the end, so an `x` protects them. `sed` may add a line break.
        let said = if matches!(kind, 3 | 5 | 8) { said.strip_suffix('\n').filter(|_| !argument.ends_with('\n')).unwrap_or(&said).to_owned() } else { said };
        prop_assert_eq!(said, argument, "{}", line);
    }

    /// Checks that no text makes the reader panic, and that each command is a single line that is not empty.
    #[test]
    fn any_text_is_read_or_refused(text in "([ -~éß]|\n|\\\\\n|#:|'|\"|cores=|after=|time=|\t|\r\n){0,60}") {
        if let Ok(commands) = commands(&text, 1) {
            for command in commands {
                prop_assert!(!command.text.trim().is_empty() && !command.text.contains('\n'));
            }
        }
        drop(list(&text));
    }

    /// Checks that the parts of a list give the jobs of the whole list.
    #[test]
    fn a_list_can_arrive_in_parts(
        lines in proptest::collection::vec("echo [ab]{1,3}|# c|#: cores=2|echo a \\\\|echo b #: after=1|  ", 1..12),
        cuts in proptest::collection::vec(any::<bool>(), 12),
    ) {
        let text = format!("true\n{}\necho end\n", lines.join("\n"));
        let Ok(whole) = read_numbered("list", &text, &machine(), Some(6)) else { return Ok(()) };
        let (mut parts, mut part, mut jobs) = (ListParts::new("list", 6), String::new(), Vec::new());
        for (line, cut) in text.split_inclusive('\n').zip(cuts.iter().cycle()) {
            part += line;
            if *cut {
                jobs.extend(parts.add(&std::mem::take(&mut part)).unwrap());
            }
        }
        jobs.extend(parts.add(&part).unwrap());
        jobs.extend(parts.end().unwrap());
        let expected: Vec<Job> = whole.ids().map(|id| whole.submitted(id)).collect();
        prop_assert_eq!(format!("{jobs:?}"), format!("{expected:?}"));
    }

    /// Checks that a command without notes has the same meaning for a shell as the original line.
    #[test]
    fn lines_mean_what_they_mean_to_a_shell(words in proptest::collection::vec("[a-c]{1,2}|'[a #\\\\]{0,4}'|\"[b #]{0,4}\"|\\\\ |#[a-c]{0,2}|[a-c]#", 1..6)) {
        let text = format!("printf '<%s>' {}\n", words.join(" "));
        let instance = list(&text).unwrap();
        let line = &instance.command(TaskId(0))[2];
        prop_assert_eq!(said(line), said(&text), "{}", line);
    }
}
