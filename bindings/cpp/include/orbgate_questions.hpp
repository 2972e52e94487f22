// The questions that an engine answers about its policy, typed. Each answer has the fields of `orbgate QUESTION --json`.
//
// Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.
#ifndef ORBGATE_QUESTIONS_HPP
#define ORBGATE_QUESTIONS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orbgate_json.hpp"

namespace orbgate::questions {

// A position in a file.
struct Position {
    // Counted from 1.
    std::uint64_t line = 0;
    // In characters, counted from 1.
    std::uint64_t column = 0;

    ORBGATE_FIELDS(line, column)
};

// The orbs that a route or scope consumes.
struct Orbs {
    // Whether it consumes orbs.
    bool consumes = false;
    // 0 if nothing is consumed, null if the policy states no amount.
    std::optional<std::uint64_t> amount;

    ORBGATE_FIELDS(consumes, amount)
};

// The orbs that an allowed call consumes.
struct OrbCharge {
    // Whether it consumes orbs.
    bool consumes = false;
    // 0 if nothing is consumed, null if the policy states no amount.
    std::optional<std::uint64_t> amount;
    // Whether the request allows bonus orbs.
    bool bonus_allowed = false;

    ORBGATE_FIELDS(consumes, amount, bonus_allowed)
};

// A verified token.
struct RequestToken {
    // `user` or `organisation`; any other kind is unknown.
    std::string kind;
    // Its scopes, separated by spaces.
    std::string scopes;

    ORBGATE_FIELDS(kind, scopes)
};

// A call, or a scope to decide without a route.
struct Request {
    // The method of a call.
    std::string method;
    // The target of a call, as received over the wire.
    std::string target;
    // The scope to decide, instead of method and target.
    std::string scope;
    // Its token. Without a token, the decision is `no_token`.
    std::optional<RequestToken> token;
    // Whether the request allows bonus orbs.
    bool allow_bonus_orbs_use = false;

    ORBGATE_FIELDS((method), (target), (scope), (token), (allow_bonus_orbs_use))
};

// An error or a warning of a policy.
struct PolicyDiagnostic {
    // Its position in the file.
    Position location;
    // The problem.
    std::string message;

    ORBGATE_FIELDS(location, message)
};

// Arguments of `check`.
struct CheckArguments {
    // The policy as a YAML document.
    std::string policy;
    // The file's name in the answer. By default `policy.yaml`.
    std::string file;

    ORBGATE_FIELDS(policy, (file))
};

// The errors and warnings of a file.
struct CheckedFile {
    // Its name.
    std::string file;
    // The policy's digest, null if it has errors.
    std::optional<std::string> policy;
    // Its errors.
    std::vector<PolicyDiagnostic> diagnostics;
    // Its warnings.
    std::vector<PolicyDiagnostic> warnings;

    ORBGATE_FIELDS(file, policy, diagnostics, warnings)
};

// Answer of `check`.
struct Checks {
    // One for each policy.
    std::vector<CheckedFile> files;

    ORBGATE_FIELDS(files)
};

// Arguments of `lint`.
struct LintArguments {
    // The policy as a YAML document.
    std::string policy;
    // The file's name in the answer. By default `policy.yaml`.
    std::string file;
    // `error`, `warning`, `note` or `off` for each code whose level you change.
    std::map<std::string, std::string> levels;

    ORBGATE_FIELDS(policy, (file), (levels))
};

// A likely mistake in a policy.
struct LintFinding {
    // Its code, as documented in `docs/lint.md`.
    std::string code;
    // `error`, `warning` or `note`.
    std::string level;
    // Its position in the file.
    Position location;
    // The problem.
    std::string message;
    // A second position that is part of the problem.
    std::optional<Position> other;
    // The reason in the comment that suppresses it.
    std::optional<std::string> suppressed;

    ORBGATE_FIELDS(code, level, location, message, other, suppressed)
};

// The findings in a file.
struct LintedFile {
    // Its name.
    std::string file;
    // The policy's digest, null if it has errors.
    std::optional<std::string> policy;
    // Whether all findings are listed.
    bool complete = false;
    // Its errors. A policy with errors has no findings.
    std::vector<PolicyDiagnostic> diagnostics;
    // Its findings, including suppressed findings.
    std::vector<LintFinding> findings;

    ORBGATE_FIELDS(file, policy, complete, diagnostics, findings)
};

// Answer of `lint`.
struct Lints {
    // One for each policy.
    std::vector<LintedFile> files;

    ORBGATE_FIELDS(files)
};

// Arguments of `diff`.
struct DiffArguments {
    // The new policy as a YAML document.
    std::string policy;
    // The kinds of changes that `fails` counts. By default `wider`, `cheaper` and `other-cost`.
    std::optional<std::vector<std::string>> fail_on;

    ORBGATE_FIELDS(policy, (fail_on))
};

// The route or scope that decides a call.
struct DecidingRule {
    // The route, null for a scope without a route.
    std::optional<std::string> route;
    // The scope that owns the route: it needs just this one, unless there are `scopes`.
    std::string scope;
    // The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
    std::optional<std::vector<std::vector<std::string>>> scopes;
    // The orbs that a call consumes, null if the policy doesn't state it.
    std::optional<Orbs> orbs;
    // `deny` or `allow_without_scope` for organisations' tokens, if the scope applies only to users' tokens.
    std::optional<std::string> organisation;
    // The rule's position in the file.
    Position location;

    ORBGATE_FIELDS(route, scope, (scopes), orbs, organisation, location)
};

// A call that the two policies decide differently.
struct PolicyChange {
    // The call, without a token.
    Request asked;
    // The rule that decides it in the engine's policy.
    std::optional<DecidingRule> before;
    // The rule that decides it in the other policy.
    std::optional<DecidingRule> after;
    // A call that only the other policy allows.
    std::optional<Request> wider;
    // A call that only the engine's policy allows.
    std::optional<Request> narrower;
    // `less`, `more`, or `unknown` if an amount is not stated.
    std::optional<std::string> cost;
    // A call that both policies allow, at a different cost.
    std::optional<Request> payer;
    // Whether the other policy lacks the route or scope that decided it.
    bool removed = false;

    ORBGATE_FIELDS(asked, before, after, wider, narrower, cost, payer, removed)
};

// Answer of `diff`.
struct Comparison {
    // The digest of the engine's policy.
    std::string old;
    // The digest of the other policy.
    std::string new_;
    // `equivalent`, `wider`, `narrower` or `incomparable`.
    std::optional<std::string> verdict;
    // Whether any call is allowed to more callers, or for fewer orbs.
    bool widens = false;
    // Whether everything was compared. It's true in every answer.
    bool complete = false;
    // The number of changes that aren't listed.
    std::uint64_t left_out = 0;
    // The changes, widening changes first.
    std::vector<PolicyChange> changes;
    // The number of changes of each kind in `fail_on`, such as `2 wider`. Kinds without changes are left out.
    std::vector<std::string> fails;

    ORBGATE_FIELDS(old, new_, verdict, widens, complete, left_out, changes, fails)
};

// Arguments of `explain`.
struct ExplainArguments {
    // The call.
    Request request;
    // `user` or `organisation`: decides with the token of this kind that would be issued for `declared` and `requested`. Needs both, and a request without `token`.
    std::optional<std::string> issued;
    // The scopes that the application declared, if you know them, separated by spaces.
    std::optional<std::string> declared;
    // The scopes that the application requested, if you know them, separated by spaces.
    std::optional<std::string> requested;

    ORBGATE_FIELDS(request, (issued), (declared), (requested))
};

// A decision.
struct PolicyDecision {
    // `allow` or `deny`.
    std::string decision;
    // The HTTP status of a denial.
    std::optional<std::uint64_t> status;
    // The reason, such as `scope_missing`.
    std::string reason;
    // The rule that a malformed request breaks.
    std::optional<std::string> detail;
    // The api of the route or scope.
    std::optional<std::string> api;
    // The route that decided.
    std::optional<std::string> route;
    // The scope that owns the route: the call needs just this one, unless there are `scopes`.
    std::optional<std::string> scope;
    // The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
    std::optional<std::vector<std::vector<std::string>>> scopes;
    // The orbs that an allowed call consumes.
    std::optional<OrbCharge> orbs;
    // The policy's digest.
    std::string policy;

    ORBGATE_FIELDS(decision, status, reason, detail, api, route, scope, (scopes), orbs, policy)
};

// An alternative of what a route needs.
struct TriedAlternative {
    // Its scopes, which are enough together.
    std::vector<std::string> scopes;
    // Those of them that the token lacks. Empty if the token has the alternative.
    std::vector<std::string> lacking;

    ORBGATE_FIELDS(scopes, lacking)
};

// A rule for targets.
struct CheckedRule {
    // Its name, such as `P10`.
    std::string rule;
    // The detail of a request that breaks it.
    std::string detail;
    // `pass`, `fail` or `not_reached`.
    std::string state;

    ORBGATE_FIELDS(rule, detail, state)
};

// A route that almost matches a call.
struct NearRoute {
    // The route.
    std::string route;
    // Its position in the file.
    Position location;
    // The reason why it doesn't decide the call.
    std::string why;
    // A target that the route decides, if the call's target seems to be misspelt.
    std::optional<std::string> meant;

    ORBGATE_FIELDS(route, location, why, meant)
};

// Answer of `explain`: the decision, and the steps that led to it.
struct Explanation {
    // `allow` or `deny`.
    std::string decision;
    // The HTTP status of a denial.
    std::optional<std::uint64_t> status;
    // The reason, such as `scope_missing`.
    std::string reason;
    // The rule that a malformed request breaks.
    std::optional<std::string> detail;
    // The api of the route or scope.
    std::optional<std::string> api;
    // The route that decided.
    std::optional<std::string> route;
    // The scope that owns the route: the call needs just this one, unless there are `scopes`.
    std::optional<std::string> scope;
    // The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
    std::optional<std::vector<std::vector<std::string>>> scopes;
    // The orbs that an allowed call consumes.
    std::optional<OrbCharge> orbs;
    // The policy's digest.
    std::string policy;
    // The step that would give the token the scope, or the first of the alternatives.
    std::optional<std::string> missing_step;
    // The `scopes`, each with what the token lacks.
    std::vector<TriedAlternative> alternatives;
    // The orbs that a denied call would consume with the scope.
    std::optional<OrbCharge> orbs_if_allowed;
    // The length of a malformed target's valid prefix, in bytes.
    std::optional<std::uint64_t> in_order;
    // The rules for targets, by number. Empty for a scope without a route.
    std::vector<CheckedRule> rules;
    // Routes that almost match the call, the nearest first.
    std::vector<NearRoute> near;

    ORBGATE_FIELDS(decision, status, reason, detail, api, route, scope, (scopes), orbs, policy, missing_step, (alternatives),
                   (orbs_if_allowed), (in_order), (rules), (near))
};

// Arguments of `needs`.
struct NeedsArguments {
    // `user` or `organisation`. By default `user`.
    std::string token;
    // The calls. Their tokens are ignored.
    std::vector<Request> calls;

    ORBGATE_FIELDS((token), calls)
};

// The first of some calls.
struct FirstCall {
    // Its position among all calls, counted from 1.
    std::uint64_t at = 0;
    // Method and target, shortened.
    std::string call;

    ORBGATE_FIELDS(at, call)
};

// A scope that calls need.
struct NeededScope {
    // The scope.
    std::string scope;
    // The number of calls that need it.
    std::uint64_t calls = 0;
    // The first of them.
    FirstCall first;

    ORBGATE_FIELDS(scope, calls, first)
};

// Calls that no scope allows, all for the same reason.
struct RefusedCalls {
    // The reason of their denial.
    std::string reason;
    // The rule that they break.
    std::optional<std::string> detail;
    // The route that decides them.
    std::optional<std::string> route;
    // The number of calls.
    std::uint64_t calls = 0;
    // The first of them.
    FirstCall first;

    ORBGATE_FIELDS(reason, detail, route, calls, first)
};

// Answer of `needs`: the smallest set of scopes for the calls.
struct Needs {
    // The policy's digest.
    std::string policy;
    // The kind of token.
    std::string kind;
    // The number of calls.
    std::uint64_t calls = 0;
    // The scopes, in the order of the calls that first need them.
    std::vector<std::string> scopes;
    // Whether no smaller set is enough. False only if more than 20 scopes of alternatives have to be weighed.
    bool is_smallest = false;
    // The same scopes, each with its calls.
    std::vector<NeededScope> needs;
    // The scopes that the token must earn as well, each with its calls. No client requests them.
    std::vector<NeededScope> earned;
    // Calls that no scope allows.
    std::vector<RefusedCalls> refusals;

    ORBGATE_FIELDS(policy, kind, calls, scopes, is_smallest, needs, earned, refusals)
};

// Arguments of `reach`.
struct ReachArguments {
    // The token.
    RequestToken token;

    ORBGATE_FIELDS(token)
};

// A route or a scope that a token can call.
struct ReachedRoute {
    // The route, null for a scope without routes.
    std::optional<std::string> route;
    // The scope that owns the route: the one that allows it, unless there are `scopes`.
    std::string scope;
    // The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
    std::optional<std::vector<std::vector<std::string>>> scopes;
    // The orbs that a call consumes, null if the policy doesn't state it.
    std::optional<Orbs> orbs;
    // The reason why it is allowed.
    std::string reason;
    // The rule's position in the file.
    Position location;

    ORBGATE_FIELDS(route, scope, (scopes), orbs, reason, location)
};

// Answer of `reach`: everything that a token can call.
struct Reach {
    // The policy's digest.
    std::string policy;
    // The token.
    RequestToken token;
    // Routes, and scopes without routes, in the order of the policy file.
    std::vector<ReachedRoute> allowed;

    ORBGATE_FIELDS(policy, token, allowed)
};

// Arguments of `table`. There are none.
struct TableArguments {
    ORBGATE_FIELDS()
};

// A template that declares no method, so that all its calls are denied.
struct ClosedTemplate {
    // The path.
    std::string template_;
    // Its position in the file.
    Position location;

    ORBGATE_FIELDS(template_, location)
};

// A route of a scope.
struct TableRoute {
    // Method and template.
    std::string route;
    // Its method.
    std::string method;
    // Its path.
    std::string template_;
    // The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
    std::optional<std::vector<std::vector<std::string>>> scopes;
    // The orbs that a call consumes.
    Orbs orbs;
    // Its position in the file.
    Position location;

    ORBGATE_FIELDS(route, method, template_, (scopes), orbs, location)
};

// A scope of an api.
struct TableScope {
    // Its name.
    std::string scope;
    // The action that it permits, in words.
    std::optional<std::string> permits;
    // The orbs that a call consumes, null if the policy doesn't state it.
    std::optional<Orbs> orbs;
    // Its position in the file.
    Position location;
    // Its routes in this api.
    std::vector<TableRoute> routes;

    ORBGATE_FIELDS(scope, permits, orbs, location, routes)
};

// An api of a policy.
struct TableApi {
    // Its name.
    std::string name;
    // `user` if its scopes apply only to users' tokens.
    std::optional<std::string> token;
    // `deny` or `allow_without_scope` for organisations' tokens in that case.
    std::optional<std::string> organisation;
    // The templates that declare no method.
    std::vector<ClosedTemplate> closed;
    // Its scopes.
    std::vector<TableScope> scopes;

    ORBGATE_FIELDS(name, token, organisation, (closed), scopes)
};

// Answer of `table`: a whole policy.
struct Table {
    // Its digest.
    std::string policy;
    // Its name.
    std::optional<std::string> name;
    // The accepted spellings of targets: `strict` or `encoded_params`.
    std::string target;
    // Its apis, in the order of the file.
    std::vector<TableApi> apis;
    // Scope groups without routes.
    std::vector<std::string> headings;

    ORBGATE_FIELDS(policy, name, target, apis, headings)
};

// Arguments of `unused`.
struct UnusedArguments {
    // The calls with their tokens.
    std::vector<Request> calls;

    ORBGATE_FIELDS(calls)
};

// The last use of a scope.
struct LastUse {
    // The call's position, counted from 1.
    std::uint64_t line = 0;
    // Its time in a log.
    std::optional<std::string> time;

    ORBGATE_FIELDS(line, time)
};

// A scope that tokens had.
struct ScopeUsage {
    // Its name.
    std::string scope;
    // The number of calls whose token had it.
    std::uint64_t granted = 0;
    // The number of these calls that it allowed, by itself or with others. Scopes whose number is 0 can be removed together.
    std::uint64_t used = 0;
    // The number of these calls that would have been denied without it. Of the scopes whose number is 0, any one can be removed.
    std::uint64_t needed = 0;
    // Whether the policy defines it.
    bool in_policy = false;
    // The last call that it allowed.
    std::optional<LastUse> last;

    ORBGATE_FIELDS(scope, granted, used, needed, in_policy, last)
};

// Answer of `unused`: how often tokens had each scope and used it.
struct Usage {
    // The policy's digest.
    std::string policy;
    // The number of calls.
    std::uint64_t calls = 0;
    // The number of calls without a token of a known kind.
    std::uint64_t without_token = 0;
    // The scopes that were never used.
    std::vector<std::string> unused;
    // All scopes of the tokens, unused scopes first.
    std::vector<ScopeUsage> scopes;

    ORBGATE_FIELDS(policy, calls, without_token, unused, scopes)
};

// A token with a name.
struct NamedToken {
    // The name in the answer. By default its position, such as `line 2`.
    std::string name;
    // The token, null for a call without one.
    std::optional<RequestToken> token;

    ORBGATE_FIELDS((name), token)
};

// Arguments of `who`.
struct WhoArguments {
    // The call's method.
    std::string method;
    // The call's target, as a server would receive it over the wire.
    std::string target;
    // The tokens.
    std::vector<NamedToken> tokens;

    ORBGATE_FIELDS(method, target, tokens)
};

// The decision for a token.
struct CallerDecision {
    // Its name.
    std::string name;
    // Its position, counted from 1.
    std::uint64_t line = 0;
    // The decision.
    PolicyDecision decision;

    ORBGATE_FIELDS(name, line, decision)
};

// Answer of `who`: the decision for each token.
struct Callers {
    // The policy's digest.
    std::string policy;
    // The call's method.
    std::string method;
    // The call's target.
    std::string target;
    // One for each token, in order.
    std::vector<CallerDecision> tokens;

    ORBGATE_FIELDS(policy, method, target, tokens)
};

// Reports the errors and warnings of a policy.
inline Result<Checks> check(const Engine &engine, const CheckArguments &arguments)
{
    return detail::answered<Checks>(engine, "check", arguments);
}

// Lists the changes for callers if another policy replaces this one.
inline Result<Comparison> diff(const Engine &engine, const DiffArguments &arguments)
{
    return detail::answered<Comparison>(engine, "diff", arguments);
}

// Explains why a call is allowed or denied.
inline Result<Explanation> explain(const Engine &engine, const ExplainArguments &arguments)
{
    return detail::answered<Explanation>(engine, "explain", arguments);
}

// Finds likely mistakes in a policy.
inline Result<Lints> lint(const Engine &engine, const LintArguments &arguments)
{
    return detail::answered<Lints>(engine, "lint", arguments);
}

// Finds the smallest set of scopes for a list of calls.
inline Result<Needs> needs(const Engine &engine, const NeedsArguments &arguments)
{
    return detail::answered<Needs>(engine, "needs", arguments);
}

// Lists everything that a token can call.
inline Result<Reach> reach(const Engine &engine, const ReachArguments &arguments)
{
    return detail::answered<Reach>(engine, "reach", arguments);
}

// Returns the whole policy.
inline Result<Table> table(const Engine &engine, const TableArguments &arguments = {})
{
    return detail::answered<Table>(engine, "table", arguments);
}

// Counts how often tokens had each scope and used it.
inline Result<Usage> unused(const Engine &engine, const UnusedArguments &arguments)
{
    return detail::answered<Usage>(engine, "unused", arguments);
}

// Decides which tokens may make a call.
inline Result<Callers> who(const Engine &engine, const WhoArguments &arguments)
{
    return detail::answered<Callers>(engine, "who", arguments);
}

} // namespace orbgate::questions

#undef ORBGATE_FIELDS

#endif // ORBGATE_QUESTIONS_HPP
