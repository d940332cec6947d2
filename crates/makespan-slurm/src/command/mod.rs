//! Slurm's programs, run with a time limit.

mod capture;
mod error;
mod program;
mod refusal;

use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use error::CommandError;
pub use program::Program;
pub use refusal::Refusal;

/// Environment variable with the path of the file that configures the cluster.
const CONFIGURATION: &str = "SLURM_CONF";

/// The output of a program that ended with success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Standard output.
    pub out: String,
    /// Standard error, which contains warnings.
    pub warnings: String,
}

/// Runs Slurm's programs. The programs are found on `PATH`, and each has a time limit. If the controller does not
/// answer, the request is repeated for a while.
///
/// ```no_run
/// use makespan_slurm::{Commands, Program};
///
/// let printed = Commands::new().run(Program::Scontrol, ["-o", "show", "nodes"])?;
/// println!("{}", printed.out);
/// # Ok::<(), makespan_slurm::CommandError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Commands {
    limit: Duration,
    patience: Duration,
    /// A function that receives a message if the controller does not answer.
    teller: Option<fn(&str)>,
    environment: Vec<(OsString, OsString)>,
    /// The cluster that the programs use, if it is not the usual one (`-M`).
    cluster: Option<OsString>,
    /// The instant at which each program is killed, and the instant after which no request is repeated.
    deadlines: Option<Deadlines>,
}

/// Deadlines that several requests share.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    answers: Instant,
    repetitions: Instant,
}

impl Default for Commands {
    fn default() -> Self {
        Self::new()
    }
}

impl Commands {
    /// Time limit of one program. Slurm's own time limit is about 10 s (`MessageTimeout`), unless a site has increased
    /// it.
    const LIMIT: Duration = Duration::from_mins(1);
    /// Time during which a request is repeated if the controller does not answer. For comparison: the restart of a
    /// controller takes a few seconds.
    const PATIENCE: Duration = Duration::from_secs(30);
    /// Pause before the first repetition. The pause doubles with each repetition, up to `MAX_PAUSE`.
    const FIRST_PAUSE: Duration = Duration::from_millis(200);
    const MAX_PAUSE: Duration = Duration::from_secs(5);
    /// Time limit of all attempts of the first request. A controller that runs answers in much less time.
    const FIRST_LIMIT: Duration = Duration::from_secs(10);
    /// If a program does not answer for this time, a message is shown.
    const SILENCE: Duration = Duration::from_secs(5);

    /// Creates commands with a time limit of one minute for each program. If the controller does not answer, requests
    /// are repeated for half a minute.
    pub fn new() -> Self {
        Self {
            limit: Self::LIMIT,
            patience: Self::PATIENCE,
            teller: None,
            environment: Vec::new(),
            cluster: None,
            deadlines: None,
        }
    }

    /// Sets the time after which a program is killed.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Sets the time for which a request is repeated if the controller does not answer. If the time is zero, the
    /// request is not repeated.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Makes all requests from now on share one time limit and one time for repetitions: those of a single request. So
    /// all requests together take no longer than one request to a controller that does not answer.
    #[must_use]
    pub fn sharing_limits(self) -> Self {
        let now = Instant::now();
        Self { deadlines: Some(Deadlines { answers: now + self.limit, repetitions: now + self.patience }), ..self }
    }

    /// Returns commands for the first request to a controller. A request without an answer is repeated for up to 5 s.
    /// All attempts together end after 10 s.
    #[must_use]
    pub fn for_first_request(self) -> Self {
        let (limit, patience) = (self.limit.min(Self::FIRST_LIMIT), self.patience.min(Self::FIRST_LIMIT / 2));
        self.with_limit(limit).with_patience(patience).sharing_limits()
    }

    /// Returns commands for an optional request. They have half of the remaining time limit, and never repeat a
    /// request.
    #[must_use]
    pub fn for_optional_requests(&self) -> Self {
        Self { limit: self.time_left() / 2, patience: Duration::ZERO, ..self.clone() }
    }

    /// Returns the time limit of a program that starts now.
    fn time_left(&self) -> Duration {
        let shared = self.deadlines.map_or(Duration::MAX, |own| own.answers.saturating_duration_since(Instant::now()));
        shared.min(self.limit)
    }

    /// Sets a function that receives a message when a request is repeated because the controller does not answer.
    #[must_use]
    pub fn with_teller(self, teller: fn(&str)) -> Self {
        Self { teller: Some(teller), ..self }
    }

    /// Adds a variable to the environment of the programs. Examples are `SLURM_CONF`, and a `PATH` that contains the
    /// programs.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Makes all programs use another cluster of the accounting database (`-M`), except `sacctmgr`, which shows all
    /// clusters.
    #[must_use]
    pub fn with_cluster(self, name: impl Into<OsString>) -> Self {
        Self { cluster: Some(name.into()), ..self }
    }

    /// Returns a command with the environment of the programs. It is for callers that start a program themselves, such
    /// as an `srun` that runs for a long time.
    pub fn process(&self, program: Program) -> Command {
        // `Command` searches the child's `PATH` only if the variable is set explicitly for the child.
        let mut command = Command::new(program.name());
        program.prepare(&mut command);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(self.cluster_words(program));
        command
    }

    /// Returns the option of a program that names the cluster.
    fn cluster_words(&self, program: Program) -> Vec<OsString> {
        let cluster = self.cluster.as_ref().filter(|_| program != Program::Sacctmgr);
        cluster.map(|name| vec!["-M".into(), name.clone()]).unwrap_or_default()
    }

    /// Returns a command as a line for messages. The line states the cluster if the caller chose one.
    fn line(&self, program: Program, arguments: &[OsString]) -> String {
        let line = error::line(program, &[&self.cluster_words(program), arguments].concat());
        self.configuration().map_or(line.clone(), |path| format!("{CONFIGURATION}={path} {line}"))
    }

    /// Returns the path of the file that configures the cluster, if the caller chose one.
    fn configuration(&self) -> Option<String> {
        let stated = self.environment.iter().find(|(name, _)| name == CONFIGURATION);
        stated.map(|(_, path)| path.to_string_lossy().into_owned())
    }

    /// Returns text for messages that names the cluster if the caller chose one.
    fn of_cluster(&self) -> String {
        let name = self.cluster.as_ref().map(|name| name.to_string_lossy().into_owned());
        name.or_else(|| self.configuration()).map(|name| format!(" of cluster {name}")).unwrap_or_default()
    }

    /// Runs a program and returns its output. If the controller does not answer, repeats the request. A request of
    /// [`Program::Sbatch`] or [`Program::Srun`] is repeated only if the request did not reach the controller.
    /// Otherwise, the repeated request could create a second job or step.
    ///
    /// # Errors
    /// [`CommandError`], which contains the command, Slurm's message and a remedy.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        program: Program,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<ProgramOutput, CommandError> {
        self.run_with_input(program, arguments, &[])
    }

    /// Runs a program with `input` as its standard input.
    ///
    /// # Errors
    ///
    /// The errors of [`Commands::run`].
    pub fn run_with_input<A: AsRef<OsStr>>(
        &self,
        program: Program,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Result<ProgramOutput, CommandError> {
        let arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let begun = Instant::now();
        let last = self.deadlines.map_or(begun + self.patience, |own| own.repetitions.min(begun + self.patience));
        let mut pause = Self::FIRST_PAUSE;
        let mut teller = self.teller;
        loop {
            match self.once(program, &arguments, input) {
                Err(error) if error.can_be_repeated(program) && Instant::now() + pause <= last => {
                    if let Some(tell) = teller.take() {
                        let left = last.saturating_duration_since(Instant::now());
                        let left = self.deadlines.map_or(self.patience, |_| left);
                        let seconds = left.as_secs_f64().ceil();
                        let whom = match program {
                            Program::Named(_) => "the batch system".to_owned(),
                            _ => format!("Slurm's controller{}", self.of_cluster()),
                        };
                        tell(&format!("{whom} does not answer {program}; repeating the request for {seconds} s"));
                    }
                    thread::sleep(pause);
                    pause = (pause * 2).min(Self::MAX_PAUSE);
                }
                Err(error) => return Err(error.after(begun.elapsed())),
                done => return done,
            }
        }
    }

    /// Starts a thread that prints a message if the program does not answer for a while. If the caller drops the
    /// returned value before, the message is not printed.
    fn tell_of_silence(&self, line: &str, limit: Duration) -> Option<Sender<()>> {
        let tell = self.teller?;
        let left = limit.checked_sub(Self::SILENCE)?;
        let (heard, silence) = channel::<()>();
        let text = format!(
            "`{line}` has not answered for {} s; waiting for up to {} s more",
            Self::SILENCE.as_secs(),
            left.as_secs()
        );
        thread::spawn(move || {
            if silence.recv_timeout(Self::SILENCE) == Err(RecvTimeoutError::Timeout) {
                tell(&text);
            }
        });
        Some(heard)
    }

    /// Runs a program once.
    fn once(&self, program: Program, arguments: &[OsString], input: &[u8]) -> Result<ProgramOutput, CommandError> {
        let mut command = self.process(program);
        command.args(arguments);
        let line = self.line(program, arguments);
        let limit = self.time_left();
        let _heard = self.tell_of_silence(&line, limit);
        let ended = capture::run(&mut command, input, limit)
            .map_err(|problem| CommandError::of_capture(problem, program, &line, limit))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (mut out, warnings) = (text(ended.out), text(ended.err));
        // With `-M`, `squeue` and `sinfo` print the name of the cluster on the first line.
        if self.cluster.is_some()
            && let Some((_, rest)) = out.split_once('\n').filter(|(first, _)| first.starts_with("CLUSTER: "))
        {
            out = rest.to_owned();
        }
        if ended.status.success() && !program.fails_in_silence(&warnings) {
            return Ok(ProgramOutput { out, warnings });
        }
        Err(CommandError::refused(program, &line, ended.status, &out, &warnings))
    }
}
