//! What is proved: lower bounds, and the certificates that they follow from by arithmetic alone.

pub mod bound;
pub mod certificate;
mod release_area;

pub use bound::Bound;
pub use certificate::{Certificate, CertificateError};
pub use release_area::release_area_bound;
