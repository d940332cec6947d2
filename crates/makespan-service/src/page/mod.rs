//! The page of the service: files that are part of the program. It loads nothing from elsewhere.

/// A file of the page.
pub struct Asset {
    /// Its path below `/`.
    pub path: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// All files of the page.
pub const ASSETS: &[Asset] =
    &[Asset { path: "/", content_type: "text/html; charset=utf-8", bytes: include_bytes!("assets/index.html") }];
