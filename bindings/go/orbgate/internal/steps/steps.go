// Package steps contains the types with which package gate uses the engine of package orbgate.
package steps

// The numbers of the C ABI for gates.
const (
	// cargo xtask codes: numbers
	FetchUnreachable     = 1
	FetchTimeout         = 2
	FetchTooLarge        = 3
	FetchBadUrl          = 4
	ChallengeMinimal     = 0
	ChallengeFull        = 1
	ChallengeNone        = 2
	CorsPreflightDeny    = 0
	CorsPreflightPass    = 1
	TemplatesBraces      = 0
	TemplatesColons      = 1
	TemplatesAngles      = 2
	MatchedNothing       = 0
	MatchedTemplate      = 1
	MatchedUnknown       = 2
	DifferenceUndeclared = 1
	DifferenceUnserved   = 2
	SecretFile           = 1
	SecretEnv            = 2
	SecretKeys           = 3
	// end of numbers
)

// A Question is a message to a gate.
type Question interface {
	// Append writes it after these bytes.
	Append(to []byte) []byte
}

// A Step is what a question is answered with. Use it for one request after another: reading an answer takes less time then.
type Step struct {
	Reply
	// Of an Answer: an orbgate.Decision, unpacked from Packed.
	Decision any
	// The library's handle for the next question about it; 0 for a new one, and when it is over. One that is over is refused: it never
	// reaches another request.
	Handle uint64
	// The part of the library that has the handle, if there are several.
	Of any
	// The bytes of the answer, and room for the next one.
	Room []byte
}

// A Gate is a gate of the library. Each engine is an *orbgate.Engine. Methods never wait for I/O.
type Gate interface {
	// Ask asks a question, which this engine decides; nil if it needs none. An answer that is Failed is an error. After an error, the step is
	// over.
	Ask(engine any, question Question, step *Step) error
	// Drop ends a step that isn't answered.
	Drop(step *Step)
	// Reload reads the question's file and, if the library can't, the secrets, and asks it with both. A rejection is an error.
	Reload(engine any, question *Reload, step *Step) error
	AllowsBonusOrbs(body []byte) bool
	Close()
}

// New makes a gate; package orbgate sets it.
var New func(make *Make) (Gate, error)

// ReadRegular reads a configuration from a regular file, up to one byte above the maximum size; package orbgate sets it.
var ReadRegular func(path string) ([]byte, error)
