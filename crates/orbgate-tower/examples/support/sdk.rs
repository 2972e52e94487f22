//! The MCP server of the Rust SDK behind the gate program, with sessions of older versions. The driver decides when and how its tools end.

use core::error::Error;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The tools, which work somewhere else.
#[derive(Clone)]
pub(crate) struct Tools {
    address: String,
}

impl Tools {
    /// Tells the driver at this URL that the tool of a call has done its work, and returns how it should end.
    async fn work(&self, key: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let mut driver = TcpStream::connect(&self.address).await?;
        driver.write_all(format!("GET /{key} HTTP/1.0\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        driver.read_to_string(&mut answer).await?;
        Ok(answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned())
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let key = request.arguments.as_ref().and_then(|arguments| arguments.get("key")?.as_str());
        let key = key.ok_or_else(|| ErrorData::invalid_params("no key", None))?;
        let end = self.work(key).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        match end.as_str() {
            "error" => Err(ErrorData::internal_error("no", None)),
            "tool error" => Ok(CallToolResult::error(vec![ContentBlock::text("no")]).into()),
            _ => Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into()),
        }
    }
}

/// The server, whose tools work at this URL.
pub(crate) fn server(work: &str, is_json: bool) -> StreamableHttpService<Tools, LocalSessionManager> {
    let tools = Tools { address: work.trim_start_matches("http://").to_owned() };
    let config = StreamableHttpServerConfig::default().with_json_response(is_json);
    StreamableHttpService::new(move || Ok(tools.clone()), Arc::new(LocalSessionManager::default()), config)
}
