//! MCP endpoints: the operations of the Model Context Protocol as routes of the virtual method `MCP`.

pub(crate) mod answer;
pub(crate) mod call;
mod cors;
mod denial;
pub(crate) mod endpoint;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod headers;
mod json;
mod message;
mod method;
mod name;
pub(crate) mod reading;
pub(crate) mod response;
pub(crate) mod target;
