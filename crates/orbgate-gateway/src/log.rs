//! Logs JSON lines to standard error. A line never contains a token or a query, and a path only with `debug: true`.

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging, once for the program.
pub(crate) fn start() {
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_filter(LevelFilter::INFO);
    // A second start in one program keeps the first log.
    let _ = tracing_subscriber::registry().with(lines).try_init();
}
