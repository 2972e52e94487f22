"use strict";
// The C library: its types and functions as bindings/c/include/orbgate.h declares them, in the words of koffi.

// Pointers to what the library owns are numbers here: koffi makes them bigints where a double could not hold them.
const POINTER = "uintptr_t";
const BYTES = "const char *";
const SIZE = "size_t";
const STATUS = "int32_t";

/**
 * Declares them to a library that reads types and calls functions, such as koffi. The layout in memory follows from it.
 * @param {import("./library.js").Foreign} foreign
 */
function declare({ struct, sizeof, offsetof, pointer, out, inout, func, HANDLE }) {
  const Str = struct({ data: POINTER, len: SIZE });

  /** A text of ours, for the length of a call. */
  const GivenStr = struct({ data: BYTES, len: SIZE });

  const RouteId = struct({ high: "uint64_t", low: "uint64_t" });

  const EngineInfo = struct({
    struct_size: "uint32_t", route_count: "uint32_t", scope_count: "uint32_t", has_end_marker: "uint8_t", is_sealed: "uint8_t",
    reserved: "uint16_t", digest: Str, name: Str,
  });

  const Route = struct({
    struct_size: "uint32_t", number: "uint32_t", id: RouteId, text: Str, method: Str, path_template: Str, scope: Str, api: Str,
    amount: "uint64_t", charge: "uint32_t", scope_number: "uint32_t", line: "uint32_t", column: "uint32_t", methods: Str,
  });

  const Scope = struct({
    struct_size: "uint32_t", number: "uint32_t", name: Str, api: Str, permits: Str, organisation: Str, amount: "uint64_t",
    charge: "uint32_t", line: "uint32_t", column: "uint32_t", reserved: "uint32_t",
  });

  const ErrorInfo = struct({
    struct_size: "uint32_t", code: "int32_t", line: "uint32_t", column: "uint32_t", diagnostic_count: SIZE, message: Str, path: Str,
  });

  const Diagnostic = struct({ struct_size: "uint32_t", line: "uint32_t", column: "uint32_t", reserved: "uint32_t", message: Str });

  /** The token of a packed call: kind, scopes, scopes_len, scope_set, flags. */
  const TOKEN = ["uint32_t", BYTES, SIZE, HANDLE, "uint32_t"];

  const functions = {
    version: func("orbgate_version", Str, []),
    external: func("orbgate_engine_external", STATUS, [out(HANDLE)]),
    fromYaml: func("orbgate_engine_from_yaml", STATUS, [BYTES, SIZE, out(HANDLE), out(POINTER)]),
    fromFile: func("orbgate_engine_from_file", STATUS, [BYTES, SIZE, out(HANDLE), out(POINTER)]),
    engineFree: func("orbgate_engine_free", "void", [HANDLE]),
    info: func("orbgate_engine_info", STATUS, [HANDLE, inout(EngineInfo)]),
    // Read field by field: a policy may have 200,000 of them.
    route: func("orbgate_engine_route", STATUS, [HANDLE, "uint32_t", POINTER]),
    routeAlternative: func("orbgate_engine_route_alternative", STATUS, [HANDLE, "uint32_t", SIZE, POINTER]),
    scope: func("orbgate_engine_scope", STATUS, [HANDLE, "uint32_t", inout(Scope)]),
    findRoute: func("orbgate_engine_find_route", STATUS, [HANDLE, BYTES, SIZE, BYTES, SIZE, out(RouteId)]),

    decide: func("orbgate_engine_decide_packed", "uint64_t", [HANDLE, BYTES, SIZE, BYTES, SIZE, ...TOKEN]),
    decideScope: func("orbgate_engine_decide_scope_packed", "uint64_t", [HANDLE, BYTES, SIZE, ...TOKEN]),
    decideRoute: func("orbgate_engine_decide_route_packed", "uint64_t", [HANDLE, "uint64_t", "uint64_t", ...TOKEN]),
    decideBatch: func("orbgate_engine_decide_batch_packed", STATUS, [HANDLE, POINTER, POINTER, SIZE]),

    ask: func("orbgate_engine_ask", STATUS, [HANDLE, BYTES, SIZE, BYTES, SIZE, "uint32_t", out(POINTER), out(Str), out(POINTER)]),
    answerFree: func("orbgate_answer_free", "void", [POINTER]),

    scopeSetFromString: func("orbgate_scope_set_from_string", STATUS, [HANDLE, BYTES, SIZE, out(HANDLE)]),
    scopeSetFromList: func("orbgate_scope_set_from_list", STATUS, [HANDLE, pointer(GivenStr), SIZE, out(HANDLE)]),
    scopeSetFree: func("orbgate_scope_set_free", "void", [HANDLE]),

    errorInfo: func("orbgate_error_info", STATUS, [POINTER, inout(ErrorInfo)]),
    errorDiagnostic: func("orbgate_error_diagnostic", STATUS, [POINTER, SIZE, inout(Diagnostic)]),
    errorFree: func("orbgate_error_free", "void", [POINTER]),
    reasonName: func("orbgate_reason_name", Str, ["uint8_t"]),
    detailName: func("orbgate_detail_name", Str, ["uint8_t"]),
    statusName: func("orbgate_status_name", Str, [STATUS]),
    tokenKindFromName: func("orbgate_token_kind_from_name", STATUS, [BYTES, SIZE, out("uint32_t")]),
  };

  /** The types of structs in the header; some have only the first fields. */
  const structs = { OrbgateStr: Str, OrbgateRouteId: RouteId, OrbgateEngineInfo: EngineInfo, OrbgateRoute: Route, OrbgateScope: Scope, OrbgateErrorInfo: ErrorInfo, OrbgateDiagnostic: Diagnostic };

  const sizes = {
    Pointer: sizeof("void *"),
    EngineInfo: sizeof(EngineInfo),
    Route: sizeof(Route),
    Scope: sizeof(Scope),
    ErrorInfo: sizeof(ErrorInfo),
    Diagnostic: sizeof(Diagnostic),
  };

  /** Where a route has the fields that are read. */
  const ROUTE = {
    idHigh: offsetof(Route, "id") + offsetof(RouteId, "high"),
    idLow: offsetof(Route, "id") + offsetof(RouteId, "low"),
    text: offsetof(Route, "text"),
    api: offsetof(Route, "api"),
    amount: offsetof(Route, "amount"),
    scopeNumber: offsetof(Route, "scope_number"),
    methods: offsetof(Route, "methods"),
  };

  return { functions, structs, sizes, ROUTE };
}

module.exports = { declare };
