use proptest::prelude::*;

use super::*;

fn shell(line: &str) -> Command {
    Command::new(["sh", "-c", line].map(str::to_owned).to_vec())
}

fn words(words: &[&str]) -> Command {
    Command::new(words.iter().map(ToString::to_string).collect())
}

#[test]
fn what_varies_becomes_a_hole() {
    let check = |line: &str, text: &str| assert_eq!(shell(line).template().text, text, "{line}");
    check("gzip -9 a.txt", "gzip {} {}");
    check("make -j8 all", "make -j{} all");
    check("./solve-3 --seed=12 --sha256 case7", "./solve-3 --seed={} --sha256 case{}");
    check("OMP_NUM_THREADS=4 ./solve 2GiB 1e-5", "OMP_NUM_THREADS={} ./solve {} {}");
    check("sort in.txt | uniq -c >out.txt 2>&1", "sort {} | uniq -c >{} 2>&1".replace("2>&1", "{}>&{}").as_str());
    check("cd runs/7 && python3 -u train.py 'my data.csv' fast", "cd {} && python3 -u train.py {} fast");
    check("dd if=/dev/zero of=x.bin bs=1M", "dd if={} of={} bs={}");
    check("crunch -t {processors} 10s", "crunch -t {processors} {}");
    check("for i in 1 2; do echo $i; done", "for i in {} {}; do echo $i; done");
    assert_eq!(words(&["gzip", "-k", "a b.txt"]).template().text, "gzip -k {}");
    assert_eq!(words(&["nice", "-n", "5", "cp", "x/1", "y"]).template().text, "nice -n 5 cp {} y");
}

#[test]
fn programs_of_a_line_stand_where_a_shell_expects_them() {
    for (line, expected) in [
        ("sort <a >b 2>&1 | head -3 && ls", "sort head ls"),
        ("<a sort; >b 2>c cat", "sort cat"),
        ("A=1 B+=2 make -j8 &>log & wait", "make wait"),
        ("if true; then ls; else ! cmp a b; fi", "true ls cmp fi"),
        ("time -p ls -l a", "ls"),
        ("python3 -u run.py a && env A=1 tool b", "python3 env"),
        ("(cd a && ls) >out; done", "cd ls done"),
        ("echo $(date +%s) later | wc", "echo date wc"),
        ("diff <(sort a) <(sort b) c", "diff sort sort"),
        ("f() { ls; }; f", "f ls } f"),
        ("echo 'a | b; c' # d; e | f", "echo"),
        ("a >|b c &&\nd", "a d"),
        ("while read x; do echo $x; done", "read echo done"),
        ("", ""),
    ] {
        assert_eq!(programs(line).join(" "), expected, "{line}");
    }
}

#[test]
fn a_line_is_what_one_would_type() {
    assert_eq!(shell("a | b").line(), "a | b");
    assert_eq!(words(&["echo", "it's", "{processors}", ""]).line(), r"echo 'it'\''s' {processors} ''");
}

#[test]
fn files_among_the_arguments_are_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: usize| std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
    write("a.txt", 10);
    write("b c.txt", 200);
    write("out", 4000);
    write("program", 50_000);
    let check =
        |command: Command, bytes: Option<u64>| assert_eq!(command.input_bytes(folder.path()), bytes, "{command:?}");
    check(shell("sort a.txt 'b c.txt' a.txt >out"), Some(210));
    check(shell("./program --input=a.txt < out"), Some(4010));
    check(words(&["./program", "b c.txt", "of=a.txt"]), Some(210));
    check(words(&["./program", "nothing", "."]), None);
    check(shell("./program && ./program a.txt"), Some(10));
    check(shell("true"), None);
}

proptest! {
    #[test]
    fn a_template_filled_is_the_command(line in r#"[-a-z0-9 ./='"|&;<>{}\\$*=\n]{0,40}"#, odd in any::<String>()) {
        for line in [line, odd] {
            prop_assert_eq!(shell(&line).template().filled(), line.clone());
            prop_assert_eq!(words(&[&line]).template().filled(), line.clone());
            let template = words(&["run", &line]).template();
            prop_assert_eq!(template.filled(), format!("run {line}"));
            prop_assert_eq!(template.text.matches("{}").count(), template.arguments.len());
        }
    }

    #[test]
    fn numbers_and_files_do_not_change_the_template(
        numbers in proptest::collection::vec(0..1_000_000_u32, 2),
        name in "[a-z]{1,8}",
        other in "[a-z]{1,8}",
    ) {
        let line = |number: u32, name: &str| format!("tool --level {number} -j{number} in/{name}.dat x={name}.csv run{number}");
        let [first, second] = [line(numbers[0], &name), line(numbers[1], &other)].map(|line| shell(&line).template().text);
        prop_assert_eq!(first, second);
    }
}

#[test]
fn an_arithmetic_expression_names_no_program() {
    let found = |line: &str| crate::programs(line).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(found("echo seed $((1+100)) | wc"), ["echo", "wc"]);
    assert_eq!(found("x=$((a & (b | 3) < 5)); ls $((x*2)); pwd"), ["ls", "pwd"]);
    assert_eq!(found("(cd a && ls); echo $(date) $( (id) )"), ["cd", "ls", "echo", "date", "id"]);
}
