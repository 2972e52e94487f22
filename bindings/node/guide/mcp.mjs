// An MCP server of the official SDK, each of whose tools has a scope: docs/mcp.md prints it.
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import express from "express";
import { Gate, middleware } from "orbgate/gate";

export const serve = (newServer, policy, tokens, resource) => {
  const gate = Gate.fromFiles(policy, tokens, {
    mcp: { path: "/mcp", initialScopes: "mcp:connect" },
    resource, // such as https://api.example.com/mcp
  });
  // Without sessions of older versions, because the SDK lets any caller use them.
  const handler = toNodeHandler(createMcpHandler(newServer));
  const app = express().use(middleware(gate));
  app.post("/mcp", express.json({ limit: "4mb" }), (request, response) => handler(request, response, request.body));
  return app;
};
