package io.github.orbgate;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The arguments and the answers of the questions that an engine answers about its policy. Each answer has the fields of
 * {@code orbgate QUESTION --json}.
 *
 * <p>Made of crates/orbgate-generate/shapes.txt by {@code cargo xtask codes}; not to be edited.
 */
public final class Questions {
    private Questions() {}

    /**
     * A position in a file.
     *
     * @param line counted from 1
     * @param column in characters, counted from 1
     */
    public record Position(long line, long column) {}

    /**
     * The orbs that a route or scope consumes.
     *
     * @param consumes whether it consumes orbs
     * @param amount 0 if nothing is consumed, null if the policy states no amount
     */
    public record Orbs(boolean consumes, OptionalLong amount) {}

    /**
     * The orbs that an allowed call consumes.
     *
     * @param consumes whether it consumes orbs
     * @param amount 0 if nothing is consumed, null if the policy states no amount
     * @param bonusAllowed whether the request allows bonus orbs
     */
    public record OrbCharge(boolean consumes, OptionalLong amount, boolean bonusAllowed) {}

    /**
     * A verified token.
     *
     * @param kind {@code user} or {@code organisation}; any other kind is unknown
     * @param scopes its scopes, separated by spaces
     */
    public record RequestToken(String kind, String scopes) {}

    /**
     * A call, or a scope to decide without a route.
     *
     * @param method the method of a call
     * @param target the target of a call, as received over the wire
     * @param scope the scope to decide, instead of method and target
     * @param token its token. Without a token, the decision is {@code no_token}
     * @param allowBonusOrbsUse whether the request allows bonus orbs
     */
    public record Request(@LeftOut String method, @LeftOut String target, @LeftOut String scope, @LeftOut Optional<RequestToken> token, @LeftOut boolean allowBonusOrbsUse) {
        /** Makes it without values. */
        public Request() {
            this("", "", "", Optional.empty(), false);
        }

        /** A copy with this value. The method of a call. */
        public Request withMethod(String method) {
            return new Request(method, target, scope, token, allowBonusOrbsUse);
        }

        /** A copy with this value. The target of a call, as received over the wire. */
        public Request withTarget(String target) {
            return new Request(method, target, scope, token, allowBonusOrbsUse);
        }

        /** A copy with this value. The scope to decide, instead of method and target. */
        public Request withScope(String scope) {
            return new Request(method, target, scope, token, allowBonusOrbsUse);
        }

        /** A copy with this value. Its token. Without a token, the decision is {@code no_token}. */
        public Request withToken(RequestToken token) {
            return new Request(method, target, scope, Optional.of(token), allowBonusOrbsUse);
        }

        /** A copy with this value. Whether the request allows bonus orbs. */
        public Request withAllowBonusOrbsUse(boolean allowBonusOrbsUse) {
            return new Request(method, target, scope, token, allowBonusOrbsUse);
        }
    }

    /**
     * An error or a warning of a policy.
     *
     * @param location its position in the file
     * @param message the problem
     */
    public record PolicyDiagnostic(Position location, String message) {}

    /**
     * Arguments of {@code check}.
     *
     * @param policy the policy as a YAML document
     * @param file the file's name in the answer. By default {@code policy.yaml}
     */
    public record CheckArguments(String policy, @LeftOut String file) {
        /** Makes it from the required values. */
        public CheckArguments(String policy) {
            this(policy, "");
        }

        /** A copy with this value. The file's name in the answer. By default {@code policy.yaml}. */
        public CheckArguments withFile(String file) {
            return new CheckArguments(policy, file);
        }
    }

    /**
     * Answer of {@code check}.
     *
     * @param files one for each policy
     */
    public record Checks(List<CheckedFile> files) {}

    /**
     * The errors and warnings of a file.
     *
     * @param file its name
     * @param policy the policy's digest, null if it has errors
     * @param diagnostics its errors
     * @param warnings its warnings
     */
    public record CheckedFile(String file, Optional<String> policy, List<PolicyDiagnostic> diagnostics, List<PolicyDiagnostic> warnings) {}

    /**
     * Arguments of {@code lint}.
     *
     * @param policy the policy as a YAML document
     * @param file the file's name in the answer. By default {@code policy.yaml}
     * @param levels {@code error}, {@code warning}, {@code note} or {@code off} for each code whose level you change
     */
    public record LintArguments(String policy, @LeftOut String file, @LeftOut Map<String, String> levels) {
        /** Makes it from the required values. */
        public LintArguments(String policy) {
            this(policy, "", Map.of());
        }

        /** A copy with this value. The file's name in the answer. By default {@code policy.yaml}. */
        public LintArguments withFile(String file) {
            return new LintArguments(policy, file, levels);
        }

        /** A copy with this value. {@code error}, {@code warning}, {@code note} or {@code off} for each code whose level you change. */
        public LintArguments withLevels(Map<String, String> levels) {
            return new LintArguments(policy, file, levels);
        }
    }

    /**
     * Answer of {@code lint}.
     *
     * @param files one for each policy
     */
    public record Lints(List<LintedFile> files) {}

    /**
     * The findings in a file.
     *
     * @param file its name
     * @param policy the policy's digest, null if it has errors
     * @param complete whether all findings are listed
     * @param diagnostics its errors. A policy with errors has no findings
     * @param findings its findings, including suppressed findings
     */
    public record LintedFile(String file, Optional<String> policy, boolean complete, List<PolicyDiagnostic> diagnostics, List<LintFinding> findings) {}

    /**
     * A likely mistake in a policy.
     *
     * @param code its code, as documented in {@code docs/lint.md}
     * @param level {@code error}, {@code warning} or {@code note}
     * @param location its position in the file
     * @param message the problem
     * @param other a second position that is part of the problem
     * @param suppressed the reason in the comment that suppresses it
     */
    public record LintFinding(String code, String level, Position location, String message, Optional<Position> other, Optional<String> suppressed) {}

    /**
     * Arguments of {@code diff}.
     *
     * @param policy the new policy as a YAML document
     * @param failOn the kinds of changes that {@code fails} counts. By default {@code wider}, {@code cheaper} and {@code other-cost}
     */
    public record DiffArguments(String policy, @LeftOut Optional<List<String>> failOn) {
        /** Makes it from the required values. */
        public DiffArguments(String policy) {
            this(policy, Optional.empty());
        }

        /** A copy with this value. The kinds of changes that {@code fails} counts. By default {@code wider}, {@code cheaper} and {@code other-cost}. */
        public DiffArguments withFailOn(List<String> failOn) {
            return new DiffArguments(policy, Optional.of(failOn));
        }
    }

    /**
     * Answer of {@code diff}.
     *
     * @param old the digest of the engine's policy
     * @param new_ the digest of the other policy
     * @param verdict {@code equivalent}, {@code wider}, {@code narrower} or {@code incomparable}
     * @param widens whether any call is allowed to more callers, or for fewer orbs
     * @param complete whether everything was compared. It's true in every answer
     * @param leftOut the number of changes that aren't listed
     * @param changes the changes, widening changes first
     * @param fails the number of changes of each kind in {@code fail_on}, such as {@code 2 wider}. Kinds without changes are left out
     */
    public record Comparison(String old, String new_, Optional<String> verdict, boolean widens, boolean complete, long leftOut, List<PolicyChange> changes, List<String> fails) {}

    /**
     * A call that the two policies decide differently.
     *
     * @param asked the call, without a token
     * @param before the rule that decides it in the engine's policy
     * @param after the rule that decides it in the other policy
     * @param wider a call that only the other policy allows
     * @param narrower a call that only the engine's policy allows
     * @param cost {@code less}, {@code more}, or {@code unknown} if an amount is not stated
     * @param payer a call that both policies allow, at a different cost
     * @param removed whether the other policy lacks the route or scope that decided it
     */
    public record PolicyChange(Request asked, Optional<DecidingRule> before, Optional<DecidingRule> after, Optional<Request> wider, Optional<Request> narrower, Optional<String> cost, Optional<Request> payer, boolean removed) {}

    /**
     * The route or scope that decides a call.
     *
     * @param route the route, null for a scope without a route
     * @param scope the scope that owns the route: it needs just this one, unless there are {@code scopes}
     * @param scopes the alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first
     * @param orbs the orbs that a call consumes, null if the policy doesn't state it
     * @param organisation {@code deny} or {@code allow_without_scope} for organisations' tokens, if the scope applies only to users' tokens
     * @param location the rule's position in the file
     */
    public record DecidingRule(Optional<String> route, String scope, @LeftOut Optional<List<List<String>>> scopes, Optional<Orbs> orbs, Optional<String> organisation, Position location) {}

    /**
     * Arguments of {@code explain}.
     *
     * @param request the call
     * @param issued {@code user} or {@code organisation}: decides with the token of this kind that would be issued for {@code declared} and {@code requested}. Needs both, and a request without {@code token}
     * @param declared the scopes that the application declared, if you know them, separated by spaces
     * @param requested the scopes that the application requested, if you know them, separated by spaces
     */
    public record ExplainArguments(Request request, @LeftOut Optional<String> issued, @LeftOut Optional<String> declared, @LeftOut Optional<String> requested) {
        /** Makes it from the required values. */
        public ExplainArguments(Request request) {
            this(request, Optional.empty(), Optional.empty(), Optional.empty());
        }

        /** A copy with this value. {@code user} or {@code organisation}: decides with the token of this kind that would be issued for {@code declared} and {@code requested}. Needs both, and a request without {@code token}. */
        public ExplainArguments withIssued(String issued) {
            return new ExplainArguments(request, Optional.of(issued), declared, requested);
        }

        /** A copy with this value. The scopes that the application declared, if you know them, separated by spaces. */
        public ExplainArguments withDeclared(String declared) {
            return new ExplainArguments(request, issued, Optional.of(declared), requested);
        }

        /** A copy with this value. The scopes that the application requested, if you know them, separated by spaces. */
        public ExplainArguments withRequested(String requested) {
            return new ExplainArguments(request, issued, declared, Optional.of(requested));
        }
    }

    /**
     * A decision.
     *
     * @param decision {@code allow} or {@code deny}
     * @param status the HTTP status of a denial
     * @param reason the reason, such as {@code scope_missing}
     * @param detail the rule that a malformed request breaks
     * @param api the api of the route or scope
     * @param route the route that decided
     * @param scope the scope that owns the route: the call needs just this one, unless there are {@code scopes}
     * @param scopes the alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first
     * @param orbs the orbs that an allowed call consumes
     * @param policy the policy's digest
     */
    public record PolicyDecision(String decision, OptionalLong status, String reason, Optional<String> detail, Optional<String> api, Optional<String> route, Optional<String> scope, @LeftOut Optional<List<List<String>>> scopes, Optional<OrbCharge> orbs, String policy) {}

    /**
     * Answer of {@code explain}: the decision, and the steps that led to it.
     *
     * @param decision {@code allow} or {@code deny}
     * @param status the HTTP status of a denial
     * @param reason the reason, such as {@code scope_missing}
     * @param detail the rule that a malformed request breaks
     * @param api the api of the route or scope
     * @param route the route that decided
     * @param scope the scope that owns the route: the call needs just this one, unless there are {@code scopes}
     * @param scopes the alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first
     * @param orbs the orbs that an allowed call consumes
     * @param policy the policy's digest
     * @param missingStep the step that would give the token the scope, or the first of the alternatives
     * @param alternatives the {@code scopes}, each with what the token lacks
     * @param orbsIfAllowed the orbs that a denied call would consume with the scope
     * @param inOrder the length of a malformed target's valid prefix, in bytes
     * @param rules the rules for targets, by number. Empty for a scope without a route
     * @param near routes that almost match the call, the nearest first
     */
    public record Explanation(String decision, OptionalLong status, String reason, Optional<String> detail, Optional<String> api, Optional<String> route, Optional<String> scope, @LeftOut Optional<List<List<String>>> scopes, Optional<OrbCharge> orbs, String policy, Optional<String> missingStep, @LeftOut List<TriedAlternative> alternatives, @LeftOut Optional<OrbCharge> orbsIfAllowed, @LeftOut OptionalLong inOrder, @LeftOut List<CheckedRule> rules, @LeftOut List<NearRoute> near) {}

    /**
     * An alternative of what a route needs.
     *
     * @param scopes its scopes, which are enough together
     * @param lacking those of them that the token lacks. Empty if the token has the alternative
     */
    public record TriedAlternative(List<String> scopes, List<String> lacking) {}

    /**
     * A rule for targets.
     *
     * @param rule its name, such as {@code P10}
     * @param detail the detail of a request that breaks it
     * @param state {@code pass}, {@code fail} or {@code not_reached}
     */
    public record CheckedRule(String rule, String detail, String state) {}

    /**
     * A route that almost matches a call.
     *
     * @param route the route
     * @param location its position in the file
     * @param why the reason why it doesn't decide the call
     * @param meant a target that the route decides, if the call's target seems to be misspelt
     */
    public record NearRoute(String route, Position location, String why, Optional<String> meant) {}

    /**
     * Arguments of {@code needs}.
     *
     * @param token {@code user} or {@code organisation}. By default {@code user}
     * @param calls the calls. Their tokens are ignored
     */
    public record NeedsArguments(@LeftOut String token, List<Request> calls) {
        /** Makes it from the required values. */
        public NeedsArguments(List<Request> calls) {
            this("", calls);
        }

        /** A copy with this value. {@code user} or {@code organisation}. By default {@code user}. */
        public NeedsArguments withToken(String token) {
            return new NeedsArguments(token, calls);
        }
    }

    /**
     * Answer of {@code needs}: the smallest set of scopes for the calls.
     *
     * @param policy the policy's digest
     * @param kind the kind of token
     * @param calls the number of calls
     * @param scopes the scopes, in the order of the calls that first need them
     * @param isSmallest whether no smaller set is enough. False only if more than 20 scopes of alternatives have to be weighed
     * @param needs the same scopes, each with its calls
     * @param earned the scopes that the token must earn as well, each with its calls. No client requests them
     * @param refusals calls that no scope allows
     */
    public record Needs(String policy, String kind, long calls, List<String> scopes, boolean isSmallest, List<NeededScope> needs, List<NeededScope> earned, List<RefusedCalls> refusals) {}

    /**
     * A scope that calls need.
     *
     * @param scope the scope
     * @param calls the number of calls that need it
     * @param first the first of them
     */
    public record NeededScope(String scope, long calls, FirstCall first) {}

    /**
     * Calls that no scope allows, all for the same reason.
     *
     * @param reason the reason of their denial
     * @param detail the rule that they break
     * @param route the route that decides them
     * @param calls the number of calls
     * @param first the first of them
     */
    public record RefusedCalls(String reason, Optional<String> detail, Optional<String> route, long calls, FirstCall first) {}

    /**
     * The first of some calls.
     *
     * @param at its position among all calls, counted from 1
     * @param call method and target, shortened
     */
    public record FirstCall(long at, String call) {}

    /**
     * Arguments of {@code reach}.
     *
     * @param token the token
     */
    public record ReachArguments(RequestToken token) {}

    /**
     * Answer of {@code reach}: everything that a token can call.
     *
     * @param policy the policy's digest
     * @param token the token
     * @param allowed routes, and scopes without routes, in the order of the policy file
     */
    public record Reach(String policy, RequestToken token, List<ReachedRoute> allowed) {}

    /**
     * A route or a scope that a token can call.
     *
     * @param route the route, null for a scope without routes
     * @param scope the scope that owns the route: the one that allows it, unless there are {@code scopes}
     * @param scopes the alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first
     * @param orbs the orbs that a call consumes, null if the policy doesn't state it
     * @param reason the reason why it is allowed
     * @param location the rule's position in the file
     */
    public record ReachedRoute(Optional<String> route, String scope, @LeftOut Optional<List<List<String>>> scopes, Optional<Orbs> orbs, String reason, Position location) {}

    /**
     * Arguments of {@code table}. There are none.
     */
    public record TableArguments() {}

    /**
     * Answer of {@code table}: a whole policy.
     *
     * @param policy its digest
     * @param name its name
     * @param target the accepted spellings of targets: {@code strict} or {@code encoded_params}
     * @param apis its apis, in the order of the file
     * @param headings scope groups without routes
     */
    public record Table(String policy, Optional<String> name, String target, List<TableApi> apis, List<String> headings) {}

    /**
     * An api of a policy.
     *
     * @param name its name
     * @param token {@code user} if its scopes apply only to users' tokens
     * @param organisation {@code deny} or {@code allow_without_scope} for organisations' tokens in that case
     * @param closed the templates that declare no method
     * @param scopes its scopes
     */
    public record TableApi(String name, Optional<String> token, Optional<String> organisation, @LeftOut List<ClosedTemplate> closed, List<TableScope> scopes) {}

    /**
     * A template that declares no method, so that all its calls are denied.
     *
     * @param template_ the path
     * @param location its position in the file
     */
    public record ClosedTemplate(String template_, Position location) {}

    /**
     * A scope of an api.
     *
     * @param scope its name
     * @param permits the action that it permits, in words
     * @param orbs the orbs that a call consumes, null if the policy doesn't state it
     * @param location its position in the file
     * @param routes its routes in this api
     */
    public record TableScope(String scope, Optional<String> permits, Optional<Orbs> orbs, Position location, List<TableRoute> routes) {}

    /**
     * A route of a scope.
     *
     * @param route method and template
     * @param method its method
     * @param template_ its path
     * @param scopes the alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first
     * @param orbs the orbs that a call consumes
     * @param location its position in the file
     */
    public record TableRoute(String route, String method, String template_, @LeftOut Optional<List<List<String>>> scopes, Orbs orbs, Position location) {}

    /**
     * Arguments of {@code unused}.
     *
     * @param calls the calls with their tokens
     */
    public record UnusedArguments(List<Request> calls) {}

    /**
     * Answer of {@code unused}: how often tokens had each scope and used it.
     *
     * @param policy the policy's digest
     * @param calls the number of calls
     * @param withoutToken the number of calls without a token of a known kind
     * @param unused the scopes that were never used
     * @param scopes all scopes of the tokens, unused scopes first
     */
    public record Usage(String policy, long calls, long withoutToken, List<String> unused, List<ScopeUsage> scopes) {}

    /**
     * A scope that tokens had.
     *
     * @param scope its name
     * @param granted the number of calls whose token had it
     * @param used the number of these calls that it allowed, by itself or with others. Scopes whose number is 0 can be removed together
     * @param needed the number of these calls that would have been denied without it. Of the scopes whose number is 0, any one can be removed
     * @param inPolicy whether the policy defines it
     * @param last the last call that it allowed
     */
    public record ScopeUsage(String scope, long granted, long used, long needed, boolean inPolicy, Optional<LastUse> last) {}

    /**
     * The last use of a scope.
     *
     * @param line the call's position, counted from 1
     * @param time its time in a log
     */
    public record LastUse(long line, Optional<String> time) {}

    /**
     * Arguments of {@code who}.
     *
     * @param method the call's method
     * @param target the call's target, as a server would receive it over the wire
     * @param tokens the tokens
     */
    public record WhoArguments(String method, String target, List<NamedToken> tokens) {}

    /**
     * A token with a name.
     *
     * @param name the name in the answer. By default its position, such as {@code line 2}
     * @param token the token, null for a call without one
     */
    public record NamedToken(@LeftOut String name, Optional<RequestToken> token) {
        /** Makes it from the required values. */
        public NamedToken(Optional<RequestToken> token) {
            this("", token);
        }

        /** A copy with this value. The name in the answer. By default its position, such as {@code line 2}. */
        public NamedToken withName(String name) {
            return new NamedToken(name, token);
        }
    }

    /**
     * Answer of {@code who}: the decision for each token.
     *
     * @param policy the policy's digest
     * @param method the call's method
     * @param target the call's target
     * @param tokens one for each token, in order
     */
    public record Callers(String policy, String method, String target, List<CallerDecision> tokens) {}

    /**
     * The decision for a token.
     *
     * @param name its name
     * @param line its position, counted from 1
     * @param decision the decision
     */
    public record CallerDecision(String name, long line, PolicyDecision decision) {}
}
