use std::time::Duration;

use makespan_core::Time;

use super::*;

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn measures_a_command_as_a_job_would_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo {{processors}} $MAKESPAN_PROCESSORS >>{}", log.display());
    let options = MeasureOptions { repetitions: 2, allotments: vec![1], ..MeasureOptions::up_to(1) };
    let mut progress = Vec::new();
    let measured = measure(&command(&["sh", "-c", &script]), &options, &mut |step| progress.push(*step)).unwrap();
    assert_eq!(std::fs::read_to_string(log).unwrap(), "1 1\n1 1\n");
    assert_eq!((measured.len(), measured[0].processors, measured[0].times.len()), (1, 1, 2));
    assert!(measured[0].minimum() <= measured[0].median());
    assert_eq!(progress.len(), 4);
    assert_eq!(progress[2], MeasureProgress::Started { processors: 1, repetition: 2 });
}

#[test]
fn says_why_a_command_cannot_be_measured() {
    let once = MeasureOptions { repetitions: 1, ..MeasureOptions::up_to(1) };
    let error = |words: &[&str], options: &MeasureOptions| measure(&command(words), options, &mut |_| {}).unwrap_err();
    assert!(matches!(error(&[], &once), MeasureError::NoCommand));
    assert!(matches!(error(&["no-such-program-at-all"], &once), MeasureError::NotStarted(_)));
    let failed = error(&["sh", "-c", "echo first >&2; echo because >&2; exit 3"], &once);
    assert!(failed.to_string().contains("exit status 3: because"), "{failed}");
    let wide = MeasureOptions::up_to(1_000_000);
    assert!(matches!(error(&["true"], &wide), MeasureError::TooFewCores { .. }));
    let none = MeasureOptions { repetitions: 0, ..once.clone() };
    assert!(matches!(error(&["true"], &none), MeasureError::Nothing));
    let short = MeasureOptions { timeout: Some(Duration::from_millis(20)), ..once.clone() };
    assert!(matches!(error(&["sleep", "60"], &short), MeasureError::TimedOut(_)));
    once.stop.request();
    assert!(matches!(error(&["sleep", "60"], &once), MeasureError::Stopped));
}

#[test]
fn the_usual_allotments_double() {
    assert_eq!(MeasureOptions::up_to(12).allotments, [1, 2, 4, 8, 12]);
    assert_eq!(MeasureOptions::up_to(2).allotments, [1, 2]);
    assert_eq!(MeasureOptions::up_to(1).allotments, [1]);
    let of = |ticks: &[i64]| Measurement { processors: 1, times: ticks.iter().map(|&t| Time::from_ticks(t)).collect() };
    assert_eq!(of(&[5, 1, 9]).median(), Time::from_ticks(5));
    assert_eq!(of(&[5, 1, 9, 7]).median(), Time::from_ticks(6));
}
