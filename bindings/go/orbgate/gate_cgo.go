//go:build orbgate_cgo

package orbgate

/*
#include <orbgate.h>

// As integers: Go's linter of pointers need not know that they are the library's.
static OrbgateStepInfo go_orbgate_step_info(const OrbgateStep *step)
{
    OrbgateStepInfo info = orbgate_step_info_init();
    if (orbgate_step_info(step, &info) != ORBGATE_STATUS_OK) {
        info.kind = 0;
    }
    return info;
}

static OrbgateFetchInfo go_orbgate_fetch_info(const OrbgateFetch *fetch)
{
    OrbgateFetchInfo info = orbgate_fetch_info_init();
    if (orbgate_fetch_info(fetch, &info) != ORBGATE_STATUS_OK) {
        info.attempt = 0;
    }
    return info;
}
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A cgoGate is one of the C library's.
type cgoGate struct{ pointer *C.OrbgateGate }

func openGate(tokens string, options *steps.Options) (libraryGate, error) {
	var verifier *C.OrbgateVerifier
	var failure *C.OrbgateError
	status := C.orbgate_verifier_from_yaml(chars(tokens), size(tokens), &verifier, &failure)
	if status != C.ORBGATE_STATUS_OK {
		return nil, takeError(status, failure)
	}
	defer C.orbgate_verifier_free(verifier)
	var pins pins
	defer pins.Unpin()
	raw := C.orbgate_gate_options_init()
	raw.flags, raw.challenge, raw.templates = C.uint32_t(options.Flags), C.uint32_t(options.Challenge), C.uint32_t(options.Templates)
	raw.realm, raw.resource_metadata = pins.text(options.Realm), pins.text(options.ResourceMetadata)
	raw.public_routes, raw.public_route_count = pins.texts(options.Public), C.size_t(len(options.Public))
	raw.cors_preflight = C.uint32_t(options.CorsPreflight)
	var made *C.OrbgateGate
	if status := C.orbgate_gate_new(verifier, &raw, &made, &failure); status != C.ORBGATE_STATUS_OK {
		return nil, takeError(status, failure)
	}
	return cgoGate{made}, nil
}

// Texts that C reads by a struct of Go's: they must not move meanwhile.
type pins struct{ runtime.Pinner }

func (p *pins) text(text string) C.OrbgateStr {
	if text == "" {
		return C.OrbgateStr{}
	}
	p.Pin(unsafe.StringData(text))
	return C.OrbgateStr{chars(text), size(text)}
}

func (p *pins) texts(list []string) *C.OrbgateStr {
	if len(list) == 0 {
		return nil
	}
	texts := make([]C.OrbgateStr, len(list))
	for index, text := range list {
		texts[index] = p.text(text)
	}
	p.Pin(&texts[0])
	return &texts[0]
}

func (g cgoGate) ask(e engine, request *steps.Request, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	var pins pins
	defer pins.Unpin()
	raw := C.orbgate_gate_request_init()
	raw.flags, raw.matched = C.uint32_t(request.Flags), C.uint32_t(request.Matched)
	raw.method, raw.target, raw.path_template = pins.text(request.Method), pins.text(request.Target), pins.text(request.Template)
	raw.authorization, raw.authorization_count = pins.texts(request.Authorization), C.size_t(len(request.Authorization))
	raw.header_names, raw.header_name_count = pins.texts(request.HeaderNames), C.size_t(len(request.HeaderNames))
	raw.upgrade, raw.upgrade_count = pins.texts(request.Upgrade), C.size_t(len(request.Upgrade))
	raw.origin, raw.origin_count = pins.texts(request.Origin), C.size_t(len(request.Origin))
	raw.access_control_request_method = pins.texts(request.AccessControlRequestMethod)
	raw.access_control_request_method_count = C.size_t(len(request.AccessControlRequestMethod))
	var step *C.OrbgateStep
	status := C.orbgate_gate_ask(g.pointer, e.pointer, &raw, C.uint64_t(unixMS), C.uint64_t(monotonicMS), &step)
	return readStep(step, status)
}

func (g cgoGate) resume(e engine, step *steps.Step, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	var next *C.OrbgateStep
	status := C.orbgate_gate_resume(g.pointer, e.pointer, take(step), C.uint64_t(unixMS), C.uint64_t(monotonicMS), &next)
	return readStep(next, status)
}

func (g cgoGate) checked(e engine, step *steps.Step, isRight bool, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	right := C.uint8_t(0)
	if isRight {
		right = 1
	}
	var next *C.OrbgateStep
	status := C.orbgate_gate_checked(g.pointer, e.pointer, take(step), right, C.uint64_t(unixMS), C.uint64_t(monotonicMS), &next)
	return readStep(next, status)
}

// The library's step, which is no longer this one's.
func take(step *steps.Step) *C.OrbgateStep {
	held, _ := step.Held.(*C.OrbgateStep)
	step.Held = nil
	return held
}

func (g cgoGate) drop(step *steps.Step) { C.orbgate_step_free(take(step)) }

// Reads a step; one that is the answer is freed.
func readStep(step *C.OrbgateStep, status C.OrbgateStatus) (*steps.Step, Status) {
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	info := C.go_orbgate_step_info(step)
	read := &steps.Step{MayFetch: true, Kind: uint32(info.kind), UntilMS: uint64(info.until_ms)}
	switch info.kind {
	case C.ORBGATE_STEP_ANSWER:
		read.Packed, read.HTTPStatus, read.TokenKind = uint64(info.packed), int(info.http_status), uint8(info.token_kind)
		read.WWWAuthenticate, read.Allow = maybe(info.www_authenticate), maybe(info.allow)
		read.Misrouted, read.Audit, read.PublicTemplate = maybe(info.misrouted), maybe(info.audit), copied(info.public_template)
		read.Preflight = info.preflight == 1
		read.Refused, read.Scopes, read.Issuer = copied(info.refused), copied(info.scopes), copied(info.issuer)
		read.Subject, read.Client, read.ID = copied(info.subject), copied(info.client), copied(info.id)
		read.Act, read.Fingerprint, read.ExpiresMS = copied(info.actor), copied(info.fingerprint), uint64(info.expires_ms)
		C.orbgate_step_free(step)
	default:
		read.Held = step
	}
	return read, statusOK
}

// A text that may not be there.
func maybe(text C.OrbgateStr) *string {
	if text.data == nil {
		return nil
	}
	found := copied(text)
	return &found
}

func (g cgoGate) isOver(step *steps.Step, monotonicMS uint64) bool {
	held, _ := step.Held.(*C.OrbgateStep)
	var over C.uint8_t
	status := C.orbgate_gate_is_over(g.pointer, held, C.uint64_t(monotonicMS), &over)
	return status != C.ORBGATE_STATUS_OK || over == 1
}

func (g cgoGate) nextFetch(monotonicMS uint64) *steps.Fetch {
	var fetch *C.OrbgateFetch
	status := C.orbgate_gate_next_fetch(g.pointer, C.uint64_t(monotonicMS), &fetch)
	return readFetch(fetch, status)
}

func (g cgoGate) fetched(attempt uint64, status int, cacheControl string, body []byte, monotonicMS uint64) *steps.Fetch {
	var next *C.OrbgateFetch
	found := C.orbgate_gate_fetched(g.pointer, C.uint64_t(attempt), C.uint32_t(status), chars(cacheControl), size(cacheControl),
		(*C.char)(unsafe.Pointer(unsafe.SliceData(body))), C.size_t(len(body)), C.uint64_t(monotonicMS), &next)
	return readFetch(next, found)
}

func readFetch(fetch *C.OrbgateFetch, status C.OrbgateStatus) *steps.Fetch {
	if status != C.ORBGATE_STATUS_OK || fetch == nil {
		return nil
	}
	defer C.orbgate_fetch_free(fetch)
	info := C.go_orbgate_fetch_info(fetch)
	return &steps.Fetch{URL: copied(info.url), Attempt: uint64(info.attempt), MaxBytes: int(info.max_bytes), TimeoutMS: uint32(info.timeout_ms),
		Body: copied(info.body), Authorization: copied(info.authorization)}
}

func (g cgoGate) fetchFailed(attempt uint64, failure uint32, monotonicMS uint64) {
	// An attempt whose end is not taken ends by its time.
	_ = C.orbgate_gate_fetch_failed(g.pointer, C.uint64_t(attempt), C.uint32_t(failure), C.uint64_t(monotonicMS))
}

func (g cgoGate) warm(monotonicMS uint64) {
	_ = C.orbgate_gate_warm(g.pointer, C.uint64_t(monotonicMS))
}

func (g cgoGate) revoke(issuer, kid string) Status {
	return Status(C.orbgate_gate_revoke(g.pointer, chars(issuer), size(issuer), chars(kid), size(kid)))
}

func (g cgoGate) forget(issuer string) Status {
	return Status(C.orbgate_gate_forget(g.pointer, chars(issuer), size(issuer)))
}

func (g cgoGate) readSecrets() error {
	var failure *C.OrbgateError
	if status := C.orbgate_gate_read_secrets(g.pointer, nil, 0, &failure); status != C.ORBGATE_STATUS_OK {
		return takeError(status, failure)
	}
	return nil
}

func (g cgoGate) allowsBonusOrbs(body []byte) bool {
	var allows C.uint8_t
	status := Status(C.orbgate_allows_bonus_orbs(chars(string(body)), size(string(body)), &allows))
	return status == statusOK && allows == 1
}

func (g cgoGate) status() []steps.Issuer {
	var status *C.OrbgateKeyStatus
	if C.orbgate_gate_status(g.pointer, &status) != C.ORBGATE_STATUS_OK {
		return nil
	}
	defer C.orbgate_key_status_free(status)
	var issuers []steps.Issuer
	issuer := C.orbgate_issuer_status_init()
	for C.orbgate_key_status_issuer(status, C.size_t(len(issuers)), &issuer) == C.ORBGATE_STATUS_OK {
		issuers = append(issuers, steps.Issuer{Name: copied(issuer.issuer), Failure: copied(issuer.failure),
			Warnings: copied(issuer.warnings), Keys: int(issuer.key_count), FetchedMS: uint64(issuer.fetched_ms),
			Opaque: issuer.opaque == 1})
	}
	return issuers
}

func (g cgoGate) free() { C.orbgate_gate_free(g.pointer) }

func (g cgoGate) checkEngine(e engine) error {
	var failure *C.OrbgateError
	if status := C.orbgate_gate_check_engine(g.pointer, e.pointer, &failure); status != C.ORBGATE_STATUS_OK {
		return takeError(status, failure)
	}
	return nil
}

func (g cgoGate) checkWider(active, next engine) error {
	var failure *C.OrbgateError
	if status := C.orbgate_gate_check_wider(g.pointer, active.pointer, next.pointer, &failure); status != C.ORBGATE_STATUS_OK {
		return takeError(status, failure)
	}
	return nil
}

func (g cgoGate) checkRoutes(e engine, methods, templates []string) ([]steps.Difference, Status) {
	var pins pins
	defer pins.Unpin()
	var differences *C.OrbgateRouteDifferences
	status := C.orbgate_gate_check_routes(g.pointer, e.pointer, pins.texts(methods), pins.texts(templates), C.size_t(len(methods)), &differences)
	if status != C.ORBGATE_STATUS_OK {
		return nil, Status(status)
	}
	defer C.orbgate_route_differences_free(differences)
	var read []steps.Difference
	one := C.orbgate_route_difference_init()
	for differences != nil && C.orbgate_route_difference(differences, C.size_t(len(read)), &one) == C.ORBGATE_STATUS_OK {
		read = append(read, steps.Difference{Undeclared: one.kind == C.ORBGATE_DIFFERENCE_UNDECLARED,
			Route: copied(one.route), DecidedAs: copied(one.decided_as)})
	}
	return read, statusOK
}
