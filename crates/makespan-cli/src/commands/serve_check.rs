//! `makespan serve --check`

use std::fs::OpenOptions;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use makespan_core::{Platform, counted};
use makespan_exec::check_memory_limits;
use makespan_service::http::check_listening;
use makespan_service::{StoreState, examine, tokens};
use makespan_slurm::doctor::{Finding, Verdict};
use miette::{Result, miette};
use nix::unistd::{AccessFlags, access};

use super::findings::finding;
use super::serve_machines::machines;
use super::service::tls_files;
use crate::args::ServeOptions;
use crate::output::{Line, Tone, emit_lines};

/// Checks whether the service can start, and prints the result of each check. The exit status is a failure if the
/// service would not start.
pub fn check(options: &ServeOptions, store: &Path) -> Result<ExitCode> {
    let mut findings = vec![machine(options, store)];
    findings.extend(examine(store).into_iter().map(|(topic, state)| match state {
        StoreState::Usable(found) => of(topic, Verdict::Good, found),
        StoreState::Doubtful(found) => of(topic, Verdict::Doubtful, found),
        StoreState::Unusable(found) => of(topic, Verdict::Bad, found),
    }));
    findings.push(known_tokens(store));
    findings.push(addresses(options));
    findings.extend(options.log.as_deref().map(log));
    let mut lines: Vec<Line> = findings.iter().map(finding).collect();
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let (bad, doubtful) = (count(Verdict::Bad), count(Verdict::Doubtful));
    let (text, tone) = match (bad, doubtful) {
        (0, 0) => ("The service can start.".to_owned(), Tone::Good),
        (0, _) => (format!("The service can start, with {}.", counted(doubtful as u64, "warning")), Tone::Good),
        _ => (format!("The service would not start: solve {} first.", counted(bad as u64, "problem")), Tone::Bad),
    };
    lines.push(Line::plain(String::new()));
    lines.push(Line::new(tone, text));
    emit_lines(&lines)?;
    Ok(if bad > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns an error if this machine has too few cores for the platform of the service.
pub fn check_cores(options: &ServeOptions, platform: &Platform) -> Result<()> {
    let cores = makespan_exec::cores().map_or(0, |cores| cores.len());
    let wanted = platform.processors() as usize;
    if wanted <= cores || options.oversubscribe {
        return Ok(());
    }
    Err(miette!("--processors {wanted}: this machine has {cores} cores; state at most {cores}, or add --oversubscribe"))
}

fn of(topic: &'static str, verdict: Verdict, found: String) -> Finding {
    Finding { topic, verdict, found, remedy: None }
}

/// Checks the machine or the cluster, and the limits of memory.
fn machine(options: &ServeOptions, store: &Path) -> Finding {
    let (platform, other) = match machines(options, store) {
        Ok(machines) => machines,
        Err(error) => return of("machine", Verdict::Bad, error.to_string()),
    };
    if other.is_none()
        && let Err(error) = check_cores(options, &platform)
    {
        return of("machine", Verdict::Bad, error.to_string());
    }
    if options.limit_memory
        && other.is_none()
        && let Err(error) = check_memory_limits()
    {
        return of("machine", Verdict::Bad, error.to_string());
    }
    let name = other.map_or_else(|| "this machine".to_owned(), |other| other.name());
    of("machine", Verdict::Good, format!("{name}, {}", counted(platform.processors(), "processor")))
}

fn known_tokens(store: &Path) -> Finding {
    let own = store.join("token");
    let read = tokens::list(store).and_then(|all| {
        if own.exists() {
            tokens::read_private(&own)?;
        }
        Ok(all)
    });
    match read {
        Ok(all) if all.is_empty() => {
            of("tokens", Verdict::Good, "none; the service will make one for this user".into())
        }
        Ok(all) => of("tokens", Verdict::Good, counted(all.len() as u64, "token")),
        Err(error) => of("tokens", Verdict::Bad, error.to_string()),
    }
}

/// Checks the addresses and the files for encryption.
fn addresses(options: &ServeOptions) -> Finding {
    let files = tls_files(&options.http);
    if let Err(error) = check_listening(&options.http.listen, files.as_ref(), options.http.behind_proxy) {
        return of("addresses", Verdict::Bad, error.to_string());
    }
    let all: Vec<String> = options.http.listen.iter().map(ToString::to_string).collect();
    let found = all.join(", ") + if files.is_some() { ", with TLS" } else { "" };
    match files.filter(|files| files.key.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0)) {
        Some(files) => {
            let key = files.key.display();
            of(
                "addresses",
                Verdict::Doubtful,
                format!("{found}; other users may read the private key {key}; run chmod 600 {key}"),
            )
        }
        None => of("addresses", Verdict::Good, found),
    }
}

/// Checks whether lines can be appended to the file of the log. Does not create the file.
fn log(file: &Path) -> Finding {
    let appended = if file.exists() {
        OpenOptions::new().append(true).open(file).map(drop)
    } else {
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        access(folder, AccessFlags::W_OK | AccessFlags::X_OK).map_err(Into::into)
    };
    match appended {
        Ok(()) => of("log", Verdict::Good, file.display().to_string()),
        Err(error) => {
            let found = format!("--log {}: cannot write the file: {error}; name another file", file.display());
            of("log", Verdict::Bad, found)
        }
    }
}
