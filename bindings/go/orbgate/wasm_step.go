//go:build !orbgate_cgo

package orbgate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// What each request costs: a request is written and a step is read number by number, because encoding/binary would look at the
// types of a struct's fields each time.

// The structs of the C ABI as the module has them, with pointers of 32 bits.
const requestSize, stepSize, textSize = 56, 216, 8

// A packer writes numbers into the module's memory, and the texts that they point to after them.
type packer struct {
	place []byte
	// The place's address, and where in it the next number and the next text go.
	base      uint32
	at, texts int
}

func (p *packer) numbers(numbers ...uint32) {
	for _, number := range numbers {
		binary.LittleEndian.PutUint32(p.place[p.at:], number)
		p.at += 4
	}
}

func (p *packer) text(text string) {
	p.numbers(p.base+uint32(p.texts), uint32(len(text)))
	p.texts += copy(p.place[p.texts:], text)
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

func (g *wasmGate) ask(e engine, request *steps.Request, unixMS, monotonicMS uint64) (step *steps.Step, status Status) {
	status = g.locked(func() Status {
		address, status := g.within(e)
		if status != statusOK {
			return status
		}
		// The room begins with what the call writes; then the request, its lists and the texts.
		const requestAt, listsAt = 16, 16 + requestSize
		values, names := len(request.Authorization), len(request.HeaderNames)
		texts := listsAt + textSize*(values+names)
		size := texts + len(request.Method) + len(request.Target) + len(request.Template)
		for _, value := range request.Authorization {
			size += len(value)
		}
		for _, name := range request.HeaderNames {
			size += len(name)
		}
		place, at := g.room, g.base
		if size > len(place) {
			made, ok := g.allocate(size)
			if !ok {
				return StatusPanic
			}
			place, at = g.memory[made:made+uint64(size)], uint32(made)
		}
		p := packer{place, at, requestAt, texts}
		p.numbers(requestSize, request.Flags)
		p.text(request.Method)
		p.text(request.Target)
		lists := at + listsAt
		p.numbers(lists, uint32(values), lists+uint32(textSize*values), uint32(names))
		p.text(request.Template)
		p.numbers(request.Matched, 0)
		for _, value := range request.Authorization {
			p.text(value)
		}
		for _, name := range request.HeaderNames {
			p.text(name)
		}
		status = g.instance.status("orbgate_gate_ask", uint64(g.address), address, uint64(at)+requestAt, unixMS, monotonicMS, uint64(g.base))
		if at != g.base {
			if freed := g.status0("orbgate_wasm_free", uint64(at), uint64(size)); freed != statusOK {
				return freed
			}
		}
		step, status = g.step(status)
		return status
	})
	return step, status
}

// Reads the step that was written to the room; one that is the answer is freed.
func (g *wasmGate) step(status Status) (*steps.Step, Status) {
	if status != statusOK {
		return nil, status
	}
	address := binary.LittleEndian.Uint32(g.room)
	binary.LittleEndian.PutUint32(g.room, stepSize)
	if g.instance.status("orbgate_step_info", uint64(address), uint64(g.base)) != statusOK {
		return nil, StatusPanic
	}
	u := unpacker{g.memory, g.base + 4}
	read := &steps.Step{Kind: u.u32()}
	u.skip(8) // the attempt
	read.UntilMS = u.u64()
	switch read.Kind {
	case steps.StepCheckSignature:
		read.Algorithm, read.Key = u.text(), u.text()
		// The token begins with the message.
		message := u.bytes()
		read.Signature = append([]byte(nil), u.bytes()...)
		if g.instance.status("orbgate_wasm_step_token", uint64(address), uint64(g.base)) != statusOK {
			return nil, StatusPanic
		}
		u.at = g.base
		token := append([]byte(nil), u.bytes()...)
		read.Message = token[:len(message)]
		// What the token is called in logs. A processor has instructions for it, which WebAssembly has not.
		hash := sha256.Sum256(token)
		read.TokenHash = binary.LittleEndian.Uint64(hash[:])
	case steps.StepAnswer:
		u.skip(4*textSize + 32) // the check and the decision
		read.HTTPStatus, read.TokenKind = int(u.u32()), uint8(u.u32())
		read.WWWAuthenticate, read.Allow, read.Refused = u.maybe(), u.maybe(), u.text()
		read.Misrouted, read.Audit = u.maybe(), u.maybe()
		read.Scopes, read.Issuer, read.Subject, read.Client = u.text(), u.text(), u.text(), u.text()
		read.Act, read.ID, read.Fingerprint = u.text(), u.text(), u.text()
		read.ExpiresMS, read.Packed = u.u64(), u.u64()
		return read, g.status0("orbgate_step_free", uint64(address))
	}
	read.Held = wasmHeld{address, g.generation}
	return read, statusOK
}
