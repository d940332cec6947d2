//! Integration tests of this crate, in one program because several programs would take longer to link.

mod certificates;
mod rooms;
