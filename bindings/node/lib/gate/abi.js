"use strict";
// The gate's part of the C library, declared when the first gate is made.
const { foreign, structs: { OrbgateStr: Str } } = require("../library.js");

const { struct, sizeof, pointer, out, inout, func, HANDLE, FLEETING, TAKEN } = foreign;

const POINTER = "uintptr_t";
const BYTES = "const char *";
const SIZE = "size_t";
const STATUS = "int32_t";
const MS = "uint64_t";

/** A text of ours, for the length of a call. */
const GivenStr = struct({ data: BYTES, len: SIZE });

const Options = struct({
  struct_size: "uint32_t", flags: "uint32_t", challenge: "uint32_t", templates: "uint32_t", realm: GivenStr, resource_metadata: GivenStr,
  ttl_ms: "uint32_t", ttl_min_ms: "uint32_t", ttl_max_ms: "uint32_t", ahead_percent: "uint32_t", max_stale_ms: "uint32_t",
  cooldown_ms: "uint32_t", burst: "uint32_t", retry_ms: "uint32_t", timeout_ms: "uint32_t", reserved: "uint32_t",
  public_routes: pointer(GivenStr), public_route_count: SIZE, cors_preflight: "uint32_t", reserved2: "uint32_t",
  secrets: pointer(GivenStr), secret_count: SIZE,
});

const Request = struct({
  struct_size: "uint32_t", flags: "uint32_t", method: GivenStr, target: GivenStr, authorization: pointer(GivenStr),
  authorization_count: SIZE, header_names: pointer(GivenStr), header_name_count: SIZE, path_template: GivenStr, matched: "uint32_t",
  reserved: "uint32_t", upgrade: pointer(GivenStr), upgrade_count: SIZE, origin: pointer(GivenStr), origin_count: SIZE,
  access_control_request_method: pointer(GivenStr), access_control_request_method_count: SIZE,
});

const Decision = struct({
  effect: "uint8_t", reason: "uint8_t", detail: "uint8_t", charge: "uint8_t", http_status: "uint16_t", scope: "uint16_t",
  route: "uint32_t", about: "uint32_t", amount: "uint64_t", policy: "uint64_t",
});

const StepInfo = struct({
  struct_size: "uint32_t", kind: "uint32_t", attempt: "uint64_t", until_ms: MS, algorithm: Str, key: Str, message: Str, signature: Str,
  decision: Decision, http_status: "uint32_t", token_kind: "uint32_t", www_authenticate: Str, allow: Str, refused: Str, misrouted: Str,
  audit: Str, scopes: Str, issuer: Str, subject: Str, client: Str, actor: Str, id: Str, fingerprint: Str, expires_ms: MS,
  packed: "uint64_t", scope_set: POINTER, public_template: Str, preflight: "uint32_t", reserved: "uint32_t",
});

const FetchInfo = struct({
  struct_size: "uint32_t", timeout_ms: "uint32_t", attempt: "uint64_t", max_bytes: "uint64_t", url: Str, body: Str, authorization: Str,
});

const SecretSource = struct({ struct_size: "uint32_t", kind: "uint32_t", name: Str });

const IssuerStatus = struct({
  struct_size: "uint32_t", key_count: "uint32_t", fetched_ms: MS, issuer: Str, failure: Str, warnings: Str, opaque: "uint32_t",
  reserved: "uint32_t",
});

const RouteDifference = struct({ struct_size: "uint32_t", kind: "uint32_t", route: Str, decided_as: Str });

const gates = {
  verifierFromYaml: func("orbgate_verifier_from_yaml", STATUS, [BYTES, SIZE, out(HANDLE), out(POINTER)]),
  verifierSecret: func("orbgate_verifier_secret", STATUS, [HANDLE, SIZE, inout(SecretSource)]),
  verifierFree: func("orbgate_verifier_free", "void", [HANDLE]),
  gateNew: func("orbgate_gate_new", STATUS, [HANDLE, pointer(Options), out(HANDLE), out(POINTER)]),
  gateFree: func("orbgate_gate_free", "void", [HANDLE]),

  ask: func("orbgate_gate_ask", STATUS, [HANDLE, HANDLE, pointer(Request), MS, MS, out(FLEETING)]),
  resume: func("orbgate_gate_resume", STATUS, [HANDLE, HANDLE, TAKEN, MS, MS, out(FLEETING)]),
  checked: func("orbgate_gate_checked", STATUS, [HANDLE, HANDLE, TAKEN, "uint8_t", MS, MS, out(FLEETING)]),
  isOver: func("orbgate_gate_is_over", STATUS, [HANDLE, HANDLE, MS, out("uint8_t")]),
  stepInfo: func("orbgate_step_info", STATUS, [HANDLE, inout(StepInfo)]),
  stepFree: func("orbgate_step_free", "void", [HANDLE]),

  warm: func("orbgate_gate_warm", STATUS, [HANDLE, MS]),
  nextFetch: func("orbgate_gate_next_fetch", STATUS, [HANDLE, MS, out(FLEETING)]),
  fetchInfo: func("orbgate_fetch_info", STATUS, [HANDLE, inout(FetchInfo)]),
  fetchFree: func("orbgate_fetch_free", "void", [HANDLE]),
  fetched: func("orbgate_gate_fetched", STATUS, [HANDLE, "uint64_t", "uint32_t", BYTES, SIZE, BYTES, SIZE, MS, out(FLEETING)]),
  fetchFailed: func("orbgate_gate_fetch_failed", STATUS, [HANDLE, "uint64_t", "uint32_t", MS]),

  revoke: func("orbgate_gate_revoke", STATUS, [HANDLE, BYTES, SIZE, BYTES, SIZE]),
  forget: func("orbgate_gate_forget", STATUS, [HANDLE, BYTES, SIZE]),
  readSecrets: func("orbgate_gate_read_secrets", STATUS, [HANDLE, pointer(GivenStr), SIZE, out(POINTER)]),
  status: func("orbgate_gate_status", STATUS, [HANDLE, out(FLEETING)]),
  issuerStatus: func("orbgate_key_status_issuer", STATUS, [HANDLE, SIZE, inout(IssuerStatus)]),
  statusFree: func("orbgate_key_status_free", "void", [HANDLE]),

  checkEngine: func("orbgate_gate_check_engine", STATUS, [HANDLE, HANDLE, out(POINTER)]),
  checkWider: func("orbgate_gate_check_wider", STATUS, [HANDLE, HANDLE, HANDLE, out(POINTER)]),
  checkRoutes: func("orbgate_gate_check_routes", STATUS, [HANDLE, HANDLE, pointer(GivenStr), pointer(GivenStr), SIZE, out(FLEETING)]),
  routeDifference: func("orbgate_route_difference", STATUS, [HANDLE, SIZE, inout(RouteDifference)]),
  differencesFree: func("orbgate_route_differences_free", "void", [HANDLE]),
  allowsBonusOrbs: func("orbgate_allows_bonus_orbs", STATUS, [BYTES, SIZE, out("uint8_t")]),
};

/** The types of structs in the header. */
const gateStructs = {
  OrbgateGateOptions: Options, OrbgateGateRequest: Request, OrbgateDecision: Decision, OrbgateStepInfo: StepInfo, OrbgateFetchInfo: FetchInfo,
  OrbgateSecretSource: SecretSource, OrbgateIssuerStatus: IssuerStatus, OrbgateRouteDifference: RouteDifference,
};

const gateSizes = {
  Options: sizeof(Options), Request: sizeof(Request), StepInfo: sizeof(StepInfo), FetchInfo: sizeof(FetchInfo),
  SecretSource: sizeof(SecretSource), IssuerStatus: sizeof(IssuerStatus), RouteDifference: sizeof(RouteDifference),
};

module.exports = { gates, gateStructs, gateSizes };
