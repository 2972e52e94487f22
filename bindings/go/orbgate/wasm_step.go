//go:build !orbgate_cgo

package orbgate

import (
	"encoding/binary"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// What each request costs: a request is written and a step is read number by number, because encoding/binary would look at the
// types of a struct's fields each time.

// The structs of the C ABI as the module has them, with pointers of 32 bits.
const requestSize, stepSize, textSize = 80, 240, 8

// A packer writes numbers into the module's memory, and the texts that they point to after them.
type packer struct {
	memory []byte
	// The memory's address, and where in it the next number and the next text go.
	base      uint32
	at, texts int
}

func (p *packer) numbers(numbers ...uint32) {
	for _, number := range numbers {
		binary.LittleEndian.PutUint32(p.memory[p.at:], number)
		p.at += 4
	}
}

func (p *packer) text(text string) {
	p.numbers(p.base+uint32(p.texts), uint32(len(text)))
	p.texts += copy(p.memory[p.texts:], text)
}

// An unpacker reads a struct in the module's memory, from its front on.
type unpacker struct {
	memory []byte
	at     uint32
}

func (u *unpacker) skip(size uint32) { u.at += size }

func (u *unpacker) u32() uint32 {
	number := binary.LittleEndian.Uint32(u.memory[u.at:])
	u.at += 4
	return number
}

func (u *unpacker) u64() uint64 {
	number := binary.LittleEndian.Uint64(u.memory[u.at:])
	u.at += 8
	return number
}

// The bytes of a text, which are the module's; nil where there is none.
func (u *unpacker) bytes() []byte {
	data, size := u.u32(), u.u32()
	if data == 0 {
		return nil
	}
	return u.memory[data : data+size]
}

func (u *unpacker) text() string { return string(u.bytes()) }

// A text that may not be there.
func (u *unpacker) maybe() *string {
	bytes := u.bytes()
	if bytes == nil {
		return nil
	}
	found := string(bytes)
	return &found
}

func (g *wasmGate) ask(e engine, request *steps.Request, unixMS, monotonicMS uint64) (*steps.Step, Status) {
	step := new(steps.Step)
	status := g.locked(func() Status {
		address, status := g.within(e)
		if status != statusOK {
			return status
		}
		// The room begins with what the call writes; then the request, its lists and the texts.
		const requestAt, listsAt = stepSize, stepSize + requestSize
		lists := [...][]string{
			request.Authorization, request.HeaderNames, request.Upgrade, request.Origin, request.AccessControlRequestMethod,
		}
		texts, size := listsAt, len(request.Method)+len(request.Target)+len(request.Template)
		for _, list := range lists {
			texts += textSize * len(list)
			for _, text := range list {
				size += len(text)
			}
		}
		size += texts
		memory, at := g.room, g.base
		if size > len(memory) {
			made, ok := g.allocate(size)
			if !ok {
				return StatusPanic
			}
			memory, at = g.memory[made:made+uint64(size)], uint32(made)
		}
		p := packer{memory, at, requestAt, texts}
		p.numbers(requestSize, request.Flags)
		p.text(request.Method)
		p.text(request.Target)
		next := at + listsAt
		for index, list := range lists {
			if index == 2 { // between the first lists and those that came later
				p.text(request.Template)
				p.numbers(request.Matched, 0)
			}
			p.numbers(next, uint32(len(list)))
			next += uint32(textSize * len(list))
		}
		for _, list := range lists {
			for _, text := range list {
				p.text(text)
			}
		}
		over := g.over
		g.over = 0
		status = g.instance.status("orbgate_wasm_gate_ask",
			uint64(g.address), address, uint64(at)+requestAt, unixMS, monotonicMS, uint64(over), uint64(g.base))
		if at != g.base {
			if freed := g.status0("orbgate_wasm_free", uint64(at), uint64(size)); freed != statusOK {
				return freed
			}
		}
		return g.read(step, status)
	})
	return step, status
}

// Texts that come again and again: making them anew would cost more than comparing.
type texts struct{ algorithm, key, scopes, issuer, client string }

// The text, which is the one that is kept if that is the same.
func (u *unpacker) again(kept *string) string {
	if bytes := u.bytes(); string(bytes) != *kept {
		*kept = string(bytes)
	}
	return *kept
}

// Reads the step that was written to the room, over what another step may have been. One that is the answer is freed by the next question.
func (g *wasmGate) read(read *steps.Step, status Status) Status {
	if status != statusOK {
		return status
	}
	u := unpacker{g.memory, g.base}
	address := u.u32()
	token := u.bytes()
	mayFetch := u.u32() == 1
	u.skip(4) // a size
	*read = steps.Step{MayFetch: mayFetch, Kind: u.u32()}
	u.skip(8) // the attempt
	read.UntilMS = u.u64()
	switch read.Kind {
	case steps.StepCheckSignature:
		read.Algorithm, read.Key = u.again(&g.texts.algorithm), u.again(&g.texts.key)
		// The token begins with the message.
		message, signature := u.bytes(), u.bytes()
		copied := append(append(g.spare[:0], token...), signature...)
		g.spare = nil
		read.Token, read.Message, read.Signature = copied[:len(token)], copied[:len(message)], copied[len(token):]
	case steps.StepAnswer:
		u.skip(4*textSize + 32) // the check and the decision
		read.HTTPStatus, read.TokenKind = int(u.u32()), uint8(u.u32())
		read.WWWAuthenticate, read.Allow, read.Refused = u.maybe(), u.maybe(), u.text()
		read.Misrouted, read.Audit = u.maybe(), u.maybe()
		read.Scopes, read.Issuer = u.again(&g.texts.scopes), u.again(&g.texts.issuer)
		read.Subject, read.Client = u.text(), u.again(&g.texts.client)
		read.Act, read.ID, read.Fingerprint = u.text(), u.text(), u.text()
		read.ExpiresMS, read.Packed = u.u64(), u.u64()
		u.skip(4) // the scopes, interned
		read.PublicTemplate, read.Preflight = u.text(), u.u32() == 1
		g.over = address
		return statusOK
	}
	read.Held = wasmHeld{address, g.generation}
	return statusOK
}
