//! The source of a run: the jobs of a file, or commands made from a template and its arguments.

use std::path::Path;

use makespan_core::{Instance, Job, Platform, Resources, TaskId, bytes_of_text, is_shell, shell_line, text_of_bytes};
use makespan_exec::program;
use makespan_formats::is_list;
use makespan_formats::list::{
    ArgumentRules, ArgumentSource, Arguments, ListParts, Template, TemplateError, bash_warning, from_template,
    is_plain_shell, separator, with_shell, without_shell,
};
use miette::{Result, miette};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::args::{ArgumentOptions, JobSlots, RunOptions, SOURCES, STANDARD_INPUT, SourceOptions, TemplateOptions};
use crate::input::{self, load_to_run, standard_input};
use crate::loaded::LoadedInstance;
use crate::machine;
use crate::makefile::is_makefile;
use crate::ninja::is_ninja;
use crate::output::{complain, shell_word, shown};
use crate::snakefile::is_snakefile;

use super::job_changes::{SLOTS, set_cores, with_slot};
use super::outcome::CoresNote;
use super::strangers::{doubt, is_known};
use super::stream::{self, InputLines, InputStart, Stream};

/// Maximum size of a file with arguments, in bytes.
const MAX_ARGUMENTS: u64 = 1 << 30;

/// The jobs of a run, with the arguments of their commands.
pub struct Source {
    pub loaded: LoadedInstance,
    /// The arguments of a template's commands.
    pub arguments: Arguments,
    /// The rest of standard input, if more jobs may arrive during the run.
    pub stream: Option<Stream>,
    /// True if jobs may arrive during this session or arrived during an earlier one.
    pub grows: bool,
    /// True if `--jobs` asks for more processors than the machine has.
    pub oversubscribed: bool,
}

impl Source {
    /// Reads the jobs that the options select, for this machine or for a cluster. If there is nothing to run, prints a
    /// message and returns `None`.
    ///
    /// `names` are the names of the jobs of an earlier session, if the run is resumed. The numbers in job names then
    /// have as many digits as in `names`. `begin` is the first part of standard input, if the run may start before the
    /// end of the input. `grew` is true if an earlier session received jobs while it ran.
    pub fn read(
        options: &SourceOptions,
        cluster: Option<&Platform>,
        names: &[String],
        begin: Option<InputStart>,
        grew: bool,
    ) -> Result<Option<Self>> {
        let part = match begin {
            Some(InputStart::Part(text, lines, parts))
                if !options.template.is_empty() || is_list(&bytes_of_text(&text)) =>
            {
                input::put_back(&text);
                Some((lines, parts))
            }
            Some(begin) => {
                let text = begin.into_whole()?;
                input::put_back(&text);
                None
            }
            None => None,
        };
        if part.is_none() && names.is_empty() && options.template.is_empty() && is_input(options.instance.as_deref()) {
            let text = text_of_bytes(standard_input(MAX_ARGUMENTS)?);
            if text.trim().is_empty() {
                complain("standard input is empty: nothing to run");
                return Ok(None);
            }
            if text.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#')) {
                complain("standard input contains no commands: nothing to run");
                return Ok(None);
            }
            input::put_back(&text);
        }
        let digits = digits(options, names);
        let stated = options.instance.as_deref();
        if (options.template.is_empty() || stated.is_some()) && options.template.arguments.is_stated() {
            return Err(miette!(
                "options about arguments need a command; write the command after the options: run --args-from FILE -- \
                 'COMMAND {{}}'"
            ));
        }
        let arguments = if stated.is_some() { Arguments::default() } else { arguments(&options.template)? };
        if !options.template.is_empty() && names.is_empty() && arguments.commands() == 0 {
            complain("no arguments: nothing to run");
            return Ok(None);
        }
        let loaded = if options.template.is_empty() || stated.is_some() {
            let path = stated.unwrap_or(Path::new(STANDARD_INPUT));
            refuse_command(path)?;
            match load_to_run(path, goals(path, &options.template.words)?, options, cluster, digits)? {
                Some(loaded) => loaded,
                None => {
                    complain(&format!("{}: there is nothing to do: every target is up to date", options.name()));
                    return Ok(None);
                }
            }
        } else {
            let machines = input::StatedMachines::of(&options.machines, options.strict)?.or(cluster);
            made(&options.template, machines, &arguments, digits, options.shell.as_deref())?
        };
        let loaded = match options.cores_per_job {
            Some(cores) => with_cores(loaded, cores)?,
            None => loaded,
        };
        check_shell(options, &loaded)?;
        refuse_folders(options, &loaded)?;
        refuse_other_texts(options, &loaded)?;
        let loaded = if cluster.is_some() { placed_by_default(loaded)? } else { loaded };
        let grows = grew || part.is_some();
        let loaded = if grows { on_whole_machine(loaded, options)? } else { loaded };
        let mut stream = part.map(|(lines, parts)| stream_of(lines, parts, options, &arguments)).transpose()?;
        let Some(slots) = options.jobs else {
            return Ok(Some(Self { loaded, arguments, stream, grows, oversubscribed: false }));
        };
        let stated = options.machines.processors.is_some() || options.machines.platform.is_some() || cluster.is_some();
        let (instance, oversubscribed) = limited(&loaded.instance, slots, stated)?;
        stream.iter_mut().for_each(|stream| stream.fit(&instance));
        Ok(Some(Self { loaded: LoadedInstance { instance, ..loaded }, arguments, stream, grows, oversubscribed }))
    }
}

/// Returns whether a path of a list stands for standard input.
fn is_input(path: Option<&Path>) -> bool {
    path.is_some_and(|path| path.as_os_str() == STANDARD_INPUT)
}

/// Returns an error if the path of a list is probably a command: no file has this name, and it contains a blank or is the
/// name of a program.
fn refuse_command(path: &Path) -> Result<()> {
    let name = path.display().to_string();
    let is_program = !name.contains('/') && is_known(&name);
    if path.symlink_metadata().is_ok() || !(name.trim().contains(' ') || is_program) {
        return Ok(());
    }
    let command = shell_word(path.as_os_str());
    Err(miette!(
        "there is no file {}; write -- before a command: makespan run -- {command}; to run it for each line of standard input: \
         makespan run -a - -- {command}",
        shown(&command)
    ))
}

/// Returns the first part of standard input if the run reads its list or its arguments there and may start before the
/// end of the input.
///
/// The jobs of a stream start in the order of their lines. Therefore, the run starts at the end of the input if an
/// option needs all jobs or names an algorithm. If a run is resumed that received no jobs while it ran, this run also
/// starts at the end of the input. Standard input that is a regular file is read as a whole.
///
/// `grew` is `None` for a new run. For a resumed run, `grew` is true if an earlier session received jobs while it ran,
/// and `names` are the jobs of the earlier sessions.
pub fn begin_of_stream(options: &RunOptions, grew: Option<bool>, names: &[String]) -> Result<Option<InputStart>> {
    let source = &options.source;
    let ArgumentOptions { args_from, null, link, max_args, .. } = &source.template.arguments;
    let is_list = source.template.is_empty() && is_input(source.instance.as_deref());
    let has_sources = source.template.words.iter().any(|word| SOURCES.contains(&word.as_str()));
    let is_template = !source.template.is_empty()
        && matches!(args_from.as_slice(), [file] if is_input(Some(file)))
        && !(has_sources || *link || max_args.is_some());
    let needs_all = options.dry_run
        || source.shuf
        || options.is_part
        || options.algorithm.is_some()
        || options.slurm.on.is_some()
        || matches!(source.jobs, Some(JobSlots::All))
        || grew == Some(false);
    if !(is_list || is_template) || needs_all {
        return Ok(None);
    }
    let Some(lines) = InputLines::open(is_template && *null) else { return Ok(None) };
    // A resumed run needs all jobs of the earlier session.
    InputStart::read(lines, is_list, names.len().max(1)).map(Some)
}

/// Returns the stream of the jobs that arrive after the first part of standard input.
fn stream_of(lines: InputLines, parts: ListParts, options: &SourceOptions, arguments: &Arguments) -> Result<Stream> {
    if options.template.is_empty() {
        return Ok(Stream::of_list(lines, parts, options));
    }
    let separator = options.template.arguments.colsep.as_deref().map(separator).transpose();
    let rules = ArgumentRules { separator: separator.map_err(|error| miette!("{error}"))?, ..ArgumentRules::default() };
    Stream::of_template(lines, arguments.commands() as usize, options, rules)
}

/// Returns the instance on the whole machine, because later jobs may need resources that the first jobs do not need.
fn on_whole_machine(loaded: LoadedInstance, options: &SourceOptions) -> Result<LoadedInstance> {
    let machines = input::StatedMachines::of(&options.machines, options.strict)?;
    let platform = machines.machine()?;
    let (jobs, closed) = (loaded.instance.all_submitted(), loaded.instance.unavailable().to_vec());
    let instance = Instance::new(platform, jobs, closed).map_err(|error| miette!("{error}"))?;
    Ok(LoadedInstance { instance, ..loaded })
}

impl Source {
    /// Puts the jobs into a random order.
    pub fn shuffle(&mut self, seed: u64) -> Result<()> {
        let instance = &self.loaded.instance;
        if !instance.edges().is_empty() {
            return Err(miette!("--shuf: some jobs wait for others, so their order cannot be random; remove --shuf"));
        }
        let jobs = instance.all_submitted();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let shuffled = order.iter().map(|&at| jobs[at].clone()).collect();
        self.loaded.instance = instance.with_jobs(shuffled);
        self.arguments.reorder(order);
        Ok(())
    }
}

/// Returns the place where the user states the cores of a job. With a jobserver, jobs need not state their cores.
pub fn cores_note(options: &RunOptions) -> Option<CoresNote> {
    let SourceOptions { instance, format, .. } = &options.source;
    let note = match instance.as_deref() {
        None => CoresNote::Option,
        Some(path) if is_makefile(path) || is_ninja(path) => CoresNote::Option,
        Some(path) if is_snakefile(path) => CoresNote::Snakefile,
        Some(path) if format.is_none() && is_instance(path) => CoresNote::Instance,
        Some(_) => CoresNote::List,
    };
    options.setting.jobserver.is_none().then_some(note)
}

/// Returns true if a file has the extension of an instance.
fn is_instance(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["toml", "json", "dot", "xml", "dax"].iter().any(|known| ending == *known))
}

/// Gives `cores` processors to each job with an assumed single core.
fn with_cores(mut loaded: LoadedInstance, cores: u32) -> Result<LoadedInstance> {
    let wrong = |error: &dyn std::fmt::Display| miette!("--cores-per-job {cores}: {error}");
    let instance = &loaded.instance;
    let mut jobs = instance.all_submitted();
    if !set_cores(&mut jobs, cores)? {
        let text = format!("--cores-per-job {cores} changes nothing, because all jobs state their numbers of cores");
        loaded.remarks.push(text);
        return Ok(loaded);
    }
    let (platform, closed) = (instance.platform().clone(), instance.unavailable().to_vec());
    loaded.instance = Instance::new(platform, jobs, closed).map_err(|error| wrong(&error))?;
    Ok(loaded)
}

/// Returns an error if the shell is unknown, or if the file is not a list.
fn check_shell(options: &SourceOptions, loaded: &LoadedInstance) -> Result<()> {
    let Some(shell) = &options.shell else { return Ok(()) };
    if !loaded.has_made_up_names || is_asked(options) {
        return Err(miette!(
            "--shell is only for lists of commands and templates; in other files, call the shell in the commands"
        ));
    }
    if !is_shell(shell) {
        return Err(miette!(
            "--shell {shell}: this shell is not supported; write sh, bash, dash, zsh, ksh or mksh, or the path of one \
             of these shells"
        ));
    }
    program(shell).map_err(|problem| miette!("--shell {shell}: {problem}"))?;
    Ok(())
}

/// Returns true if make, ninja or Snakemake decides which jobs must run.
pub fn is_asked(options: &SourceOptions) -> bool {
    options.instance.as_deref().is_some_and(|path| is_makefile(path) || is_ninja(path) || is_snakefile(path))
}

/// Returns the goal that follows a makefile, or the targets that follow a manifest of ninja on the command line.
fn goals<'a>(path: &Path, words: &'a [String]) -> Result<&'a [String]> {
    let name = path.display();
    match words {
        [] => Ok(words),
        _ if is_ninja(path) && words.iter().all(|word| !word.is_empty() && !word.starts_with('-')) => Ok(words),
        _ if is_ninja(path) => {
            Err(miette!("{name}: only targets of ninja may follow --; write options of makespan before {name}"))
        }
        _ if !is_makefile(path) => Err(miette!(
            "{name}: a file and a command cannot be run together; write either run FILE or run -- 'COMMAND {{}}' ::: \
             ARGUMENT .."
        )),
        [goal] if !goal.is_empty() && !goal.starts_with('-') && !goal.contains('=') => Ok(words),
        _ => Err(miette!(
            "{name}: a makefile runs with one goal; write only this goal after --, without options and variables: run {name} -- GOAL"
        )),
    }
}

/// Returns the number of digits of the job numbers in job names. A resumed run keeps the number of digits of its
/// earlier sessions. Commands from standard input get six digits. `None` means the number of digits of the last job's
/// number.
fn digits(options: &SourceOptions, names: &[String]) -> Option<usize> {
    let number = |name: &String| {
        let (number, _) = name.split_once('-')?;
        number
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(number.len())
            .filter(|digits| (1..10).contains(digits))
    };
    let inputs = options.instance.iter().chain(&options.template.arguments.args_from);
    let is_stream = inputs.into_iter().any(|path| path.as_os_str() == STANDARD_INPUT);
    names.iter().filter_map(number).min().or_else(|| is_stream.then_some(stream::DIGITS))
}

/// Returns the arguments of a template: first the arguments in files that the options name, then the arguments after
/// the command.
pub fn arguments(options: &TemplateOptions) -> Result<Arguments> {
    let wrong = |error: TemplateError| miette!("{error}");
    let stated = &options.arguments;
    let separator = stated.colsep.as_deref().map(separator).transpose().map_err(wrong)?;
    let rules = ArgumentRules { link: stated.link, separator, group: stated.max_args };
    let read = |file: &Path| lines(file, stated.null);
    let files = stated.args_from.iter().map(|file| Ok(ArgumentSource { arguments: read(file)?, is_linked: false }));
    let mut sources = files.collect::<Result<Vec<_>>>()?;
    if stated.null && sources.is_empty() && !options.words.iter().any(|word| word.starts_with("::::")) {
        return Err(miette!("--null is only for files of arguments; name such a file: --args-from FILE, or -a -"));
    }
    sources.extend(argument_sources(&options.words, &read)?);
    Ok(Arguments::new(sources, rules))
}

/// Returns the sources of arguments that follow a command. `read` reads the lines of a file.
pub fn argument_sources(words: &[String], read: &dyn Fn(&Path) -> Result<Vec<String>>) -> Result<Vec<ArgumentSource>> {
    let is_mark = |word: &String| SOURCES.contains(&word.as_str());
    let mut sources = Vec::new();
    let mut rest = &words[words.iter().position(is_mark).unwrap_or(words.len())..];
    while let Some((mark, behind)) = rest.split_first() {
        let (words, next) = behind.split_at(behind.iter().position(is_mark).unwrap_or(behind.len()));
        rest = next;
        let is_linked = mark.ends_with('+');
        if !mark.starts_with("::::") {
            sources.push(ArgumentSource { arguments: words.to_vec(), is_linked });
            continue;
        }
        if words.is_empty() {
            return Err(miette!(
                "`{mark}` reads arguments from files, but no file follows; write {mark} FILE, or ::: ARGUMENT .."
            ));
        }
        for file in words {
            sources.push(ArgumentSource { arguments: read(Path::new(file))?, is_linked });
        }
    }
    Ok(sources)
}

/// Creates the commands of a template.
pub fn made(
    template: &TemplateOptions,
    machines: input::StatedMachines,
    arguments: &Arguments,
    digits: Option<usize>,
    shell: Option<&str>,
) -> Result<LoadedInstance> {
    let words = template.command();
    let wrong = |error: TemplateError| miette!("{error}");
    let lines = Template::of_words(words).map_err(wrong)?.lines(arguments).map_err(wrong)?;
    let platform = machines.machine()?;
    let mut remarks = machines.remarks.clone();
    remarks.extend(operator(words).filter(|_| shell.is_none_or(is_plain_shell) || words.len() > 1));
    let made = from_template(&lines, &platform, digits).map_err(|error| miette!("{error}"))?;
    let made = match shell {
        Some(shell) => with_shell(&made, shell),
        None if words.len() > 1 => without_shell(&made),
        None => made,
    };
    let instance = machines.closing(made)?;
    remarks.extend(instance.notes().iter().map(|note| note.describe(&instance)));
    Ok(LoadedInstance { instance, remarks, has_made_up_names: true })
}

/// Returns a warning about a command that probably needs another shell. In a command of several words, a shell
/// operator has no effect. A command in one string may contain a word that only bash knows.
pub fn operator(words: &[String]) -> Option<String> {
    const OPERATORS: [&str; 12] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "|&", "&>"];
    if let [line] = words {
        return bash_warning(line);
    }
    let found = words.iter().find(|word| OPERATORS.contains(&word.as_str()))?;
    Some(format!(
        "`{found}` is passed to the program as an argument, because a command of several words is not a shell command; write a shell command as one \
         string, such as -- 'COMMAND {found} ..'"
    ))
}

/// Returns the arguments in a file ([`stream::arguments`]).
pub fn lines(file: &Path, null: bool) -> Result<Vec<String>> {
    let name = if file.as_os_str() == STANDARD_INPUT { "standard input".into() } else { file.display().to_string() };
    let bytes = if file.as_os_str() == STANDARD_INPUT {
        standard_input(MAX_ARGUMENTS)?
    } else {
        let size = file.metadata().map_err(|error| miette!("{name}: cannot open: {error}"))?.len();
        if size > MAX_ARGUMENTS {
            return Err(miette!("{name}: the content is larger than the limit of {MAX_ARGUMENTS} bytes"));
        }
        std::fs::read(file).map_err(|error| miette!("{name}: cannot read: {error}"))?
    };
    // File names need not be UTF-8.
    Ok(stream::arguments(&text_of_bytes(bytes), null))
}

/// Returns an error if the program of a command is a folder. Otherwise, the run would start and these jobs would fail
/// one by one.
fn refuse_folders(options: &SourceOptions, loaded: &LoadedInstance) -> Result<()> {
    let instance = &loaded.instance;
    for task in instance.different_task_ids() {
        if let Some(folder) = folder_of(instance, task) {
            let name = instance.name(task);
            return Err(miette!(
                "{}the command of `{}` names {}, which is a folder, not a program; name a program in this folder, or \
                 begin with `cd`",
                place(options, loaded, &name),
                shown(&name),
                shown(folder)
            ));
        }
    }
    Ok(())
}

/// Returns an error if a file was read as a list, but most of its first commands name no program of this machine.
fn refuse_other_texts(options: &SourceOptions, loaded: &LoadedInstance) -> Result<()> {
    let is_list = options.template.is_empty() && loaded.has_made_up_names && !is_asked(options);
    if !is_list || options.format.is_some() {
        return Ok(());
    }
    let Some(doubt) = doubt(&loaded.instance) else { return Ok(()) };
    Err(miette!(
        "{}{doubt}, so the input may not be a list of commands, and no command is started; if it is a list, write: \
         makespan run --format list {}",
        place(options, loaded, ""),
        options.instance.as_deref().map_or_else(|| "FILE".into(), |path| shell_word(path.as_os_str()))
    ))
}

/// Returns the beginning of a message: the file and, for a list, the line of the job. The names of jobs in a list
/// begin with their line numbers.
fn place(options: &SourceOptions, loaded: &LoadedInstance, job: &str) -> String {
    let Some(path) = &options.instance else { return String::new() };
    let file = if path.as_os_str() == STANDARD_INPUT { "standard input".into() } else { path.display().to_string() };
    let line = job.split_once('-').map(|(line, _)| line).filter(|line| line.bytes().all(|byte| byte.is_ascii_digit()));
    match line.filter(|_| loaded.has_made_up_names && !is_asked(options)) {
        Some(line) if !line.is_empty() => format!("{}:{}: ", shown(&file), line.trim_start_matches('0')),
        _ => format!("{}: ", shown(&file)),
    }
}

/// Returns the first word of a command if it is the path of a folder and a shell would not expand it.
fn folder_of(instance: &Instance, task: TaskId) -> Option<&str> {
    let command = &instance.task(task).command;
    let word = match shell_line(command) {
        Some(line) => line.split_whitespace().next()?,
        None => command.first()?,
    };
    let plain = word.chars().all(|c| c.is_alphanumeric() || "_./@%+,-".contains(c));
    (plain && word.contains('/') && Path::new(word).is_dir()).then_some(word)
}

/// Returns the platform of a cluster with a placement rule: a job runs on one node if a node is large enough. If the
/// platform states a rule, keeps this rule. Most commands need the rule, because they start no processes on other
/// nodes.
pub fn within_nodes(platform: Platform) -> Platform {
    let stated = platform.stated_placement();
    platform.with_placement(stated.or(Some(true)))
}

/// Removes the rule of [`within_nodes`] if every job uses one processor. Each of these jobs is on one node in any
/// case, and planning is faster without the rule. If the rule stays and a job may use several nodes, adds a note.
fn placed_by_default(mut loaded: LoadedInstance) -> Result<LoadedInstance> {
    let instance = &loaded.instance;
    let platform = instance.platform();
    if !platform.is_compact() {
        return Ok(loaded);
    }
    let most = instance.different_task_ids().map(|task| instance.profile(task).max_processors()).max();
    if most.unwrap_or(1) <= 1 {
        let (platform, jobs) = (platform.clone().with_placement(None), instance.all_submitted());
        let closed = instance.unavailable().to_vec();
        loaded.instance = Instance::new(platform, jobs, closed).map_err(|error| miette!("{error}"))?;
        return Ok(loaded);
    }
    let largest = platform.largest_node();
    let mut wide = instance.different_task_ids().filter(|&task| instance.profile(task).max_processors() > largest);
    let told = wide.next().map(|first| {
        let (name, others) = (instance.name(first), wide.count());
        let others = if others == 0 { String::new() } else { format!(" and {others} more jobs") };
        format!(
            "`{}`{others} may use more than the {largest} processors of the largest node; on several nodes, a command starts only on \
             the first node, and must itself start processes on the other nodes (MAKESPAN_NODES), as mpirun and srun do; for \
             commands that cannot do this, state at most cores={largest}",
            shown(&name)
        )
    });
    loaded.remarks.extend(told);
    Ok(loaded)
}

/// Limits the instance to `slots` tasks at once. The second returned value is true if the instance uses more
/// processors than the machine has.
///
/// If every task uses one processor of this machine, and the user stated no other machine, the platform gets `slots`
/// processors. Otherwise, each task holds one of `slots` licences.
fn limited(instance: &Instance, slots: JobSlots, stated: bool) -> Result<(Instance, bool)> {
    let wrong = |error: &dyn std::fmt::Display| miette!("--jobs {slots}: {error}");
    let slots = slots.of(instance.platform().processors(), instance.tasks());
    let (platform, closed) = (instance.platform(), instance.unavailable().to_vec());
    let sequential = instance.task_ids().all(|task| instance.profile(task).is_sequential());
    let own = machine::platform()?;
    if sequential
        && !stated
        && platform.node_count() == 1
        && platform.processors() == own.processors()
        && closed.is_empty()
    {
        let resources = platform.kinds().next().map_or_else(Resources::default, |(node, _)| node.resources.clone());
        let flat = Platform::flat(slots).and_then(|flat| {
            flat.with_node_resources(&resources)?
                .with_licences(platform.licences().clone())?
                .with_consumables(platform.consumables().clone())
        });
        let flat = flat.map_err(|error| wrong(&error))?;
        let limited = Instance::new(flat, instance.all_submitted(), closed).map_err(|error| wrong(&error))?;
        return Ok((limited, slots > own.processors()));
    }
    if slots >= platform.processors() {
        return Ok((instance.clone(), false));
    }
    let licences = platform.licences().iter().map(|(name, amount)| (name.to_owned(), amount));
    let licences = Resources::new(licences.chain([(SLOTS.to_owned(), u64::from(slots))]).collect::<Vec<_>>());
    let licences = licences.map_err(|error| wrong(&error))?;
    let platform = platform.clone().with_licences(licences).map_err(|error| wrong(&error))?;
    let jobs = instance.all_submitted().into_iter().map(with_slot).collect::<Result<Vec<Job>>>()?;
    Ok((Instance::new(platform, jobs, closed).map_err(|error| wrong(&error))?, false))
}
