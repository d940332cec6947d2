//! The web page of the service. The program contains the files of the page, and the page loads nothing from other
//! servers.

use makespan_formats::report::{CHART_MODULE, CHART_STYLE};

/// A file of the web page.
pub struct Asset {
    /// The path in the URL.
    pub path: &'static str,
    /// The media type.
    pub content_type: &'static str,
    /// The content of the file.
    pub bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files of the web page.
pub const ASSETS: &[Asset] = &[
    Asset { path: "/", content_type: "text/html; charset=utf-8", bytes: include_bytes!("assets/index.html") },
    Asset { path: "/style.css", content_type: "text/css; charset=utf-8", bytes: include_bytes!("assets/style.css") },
    Asset { path: "/app.js", content_type: SCRIPT, bytes: include_bytes!("assets/app.js") },
    Asset { path: "/api.js", content_type: SCRIPT, bytes: include_bytes!("assets/api.js") },
    Asset { path: "/chart.js", content_type: SCRIPT, bytes: include_bytes!("assets/chart.js") },
    Asset { path: "/gantt.js", content_type: SCRIPT, bytes: CHART_MODULE.as_bytes() },
    Asset { path: "/gantt.css", content_type: "text/css; charset=utf-8", bytes: CHART_STYLE.as_bytes() },
    Asset { path: "/dom.js", content_type: SCRIPT, bytes: include_bytes!("assets/dom.js") },
    Asset { path: "/history.js", content_type: SCRIPT, bytes: include_bytes!("assets/history.js") },
    Asset { path: "/job.js", content_type: SCRIPT, bytes: include_bytes!("assets/job.js") },
    Asset { path: "/submit.js", content_type: SCRIPT, bytes: include_bytes!("assets/submit.js") },
    Asset { path: "/users.js", content_type: SCRIPT, bytes: include_bytes!("assets/users.js") },
    Asset { path: "/views.js", content_type: SCRIPT, bytes: include_bytes!("assets/views.js") },
];
