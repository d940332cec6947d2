//! Progress on standard error, only on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over a known number of steps; hidden when standard error is no terminal.
pub fn bar(steps: u64, what: &'static str) -> ProgressBar {
    // A template that does not parse is a defect found by any run; the default style is no worse than none.
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar =
        ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr()).with_style(style).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A clock beside a message, for work of unknown length; hidden when standard error is no terminal.
pub fn clock(message: String) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let clock =
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style).with_message(message);
    clock.enable_steady_tick(Duration::from_millis(200));
    clock
}
