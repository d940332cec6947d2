//! A blocking client of the service.
