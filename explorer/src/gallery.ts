// Examples to open, each with a call.
import { FIRST, type State } from "./state.js";

interface Example {
  name: string;
  state: Pick<State, "policy" | "call">;
}

const example = (name: string, method: string, target: string, scopes: string[], policy: string): Example => ({
  name, state: { policy, call: { ...FIRST.call, method, target, scopes } },
});

export const GALLERY: readonly Example[] = [
  { name: "The specification", state: FIRST },
  example("A shop with prices", "POST", "/orders", ["write:orders"], `orbgate: 1
name: shop
apis:
  shop:
    base_path: ""
    scopes:
      read:orders:
        permits: reads orders
        orbs: false
        routes: [GET /orders, "GET /orders/{id}"]
      write:orders:
        permits: places and cancels orders
        orbs: 5
        routes:
          - POST /orders
          - route: DELETE /orders/{id}
            orbs: 2
...
`),
  example("Any of these scopes, all of those", "GET", "/reports/7", ["read:reports"], `orbgate: 1
name: reports
apis:
  reports:
    base_path: ""
    scopes:
      read:reports:
        permits: reads reports
        orbs: false
        or: [admin:reports]
        routes:
          - GET /reports/{id}
          - route: GET /reports/{id}/export
            and: export:reports
      export:reports: { permits: exports reports, routes: [] }
      admin:reports: { permits: reads every report, routes: [] }
...
`),
  example("Users and organisations", "GET", "/profile", [], `orbgate: 1
name: accounts
apis:
  profile:
    base_path: /profile
    token: user
    organisation: deny
    scopes:
      read:profile: { permits: reads the profile, orbs: false, routes: [GET /] }
  usage:
    base_path: /usage
    scopes:
      read:usage: { permits: reads usage, orbs: 1, routes: [GET /] }
...
`),
  example("Tools of an MCP server", "MCP", "/mcp/tools/call/create_order", ["mcp:connect", "orders:write"], `orbgate: 1
name: tools
apis:
  tools:
    base_path: /mcp
    scopes:
      mcp:connect:
        permits: starts a session and lists tools
        orbs: false
        routes: [MCP /tools/list, MCP /initialize, MCP /notifications/initialized, MCP /ping]
      orders:read:
        permits: lists orders
        orbs: false
        routes: [MCP /tools/call/list_orders]
      orders:write:
        permits: creates orders
        orbs: 5
        routes: [MCP /tools/call/create_order]
...
`),
];
