//! The tests by what they look at.

mod drift;
mod hostile;
mod kinds;
mod options;
mod wider;
