//! Progress on standard error, if it is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a progress bar for a known number of steps. The bar is hidden if standard error is not a terminal.
pub fn bar(steps: u64, what: &'static str) -> ProgressBar {
    // If the template is invalid, the default style is used. Any run would reveal this mistake.
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar =
        ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr()).with_style(style).with_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Returns a clock with a message, for work of unknown length. The clock is hidden if standard error is not a terminal.
pub fn clock(message: String) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let clock =
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style).with_message(message);
    clock.enable_steady_tick(Duration::from_millis(200));
    clock
}
