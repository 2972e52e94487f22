package orbgate

import "errors"

// Compare with these by [errors.Is].
var (
	// ErrClosed says that nothing was asked: the engine is closed, or there is none.
	ErrClosed = errors.New("orbgate: the engine is closed")
	// ErrIO says that a file cannot be read. Where Go's own error is known, as [io/fs.ErrNotExist], the same error is that, too.
	ErrIO error = StatusIO
	// ErrInvalidPolicy says that a policy cannot be used; the [Error] has every error.
	ErrInvalidPolicy error = StatusInvalidPolicy
	// ErrNotFound says that the policy has no such route.
	ErrNotFound error = StatusNotFound
)

// An Error says why a policy could not be loaded. Get it from an error with [errors.As]; [errors.Is] compares its Status.
type Error struct {
	Status Status
	// Path is the file as it was given; empty where there was none.
	Path string
	// Line and Column, in characters, are those of the first error, from 1; 0 if the error has no location.
	Line, Column int
	// Message has it all: a line [path:]line:column: message for each error.
	Message string
	// Diagnostics of the policy, all of them, in the order of the file.
	Diagnostics []Diagnostic
	// Why a file cannot be read, as Go says it.
	cause error
}

// A Diagnostic is one thing wrong with a policy.
type Diagnostic struct {
	// Line and Column, in characters, from 1.
	Line, Column int
	// Message says what is wrong, without the location.
	Message string
}

// Error is the Message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the Status, and Go's own error of a file that cannot be read.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Status}
	}
	return []error{e.Status, e.cause}
}

// Error is the status's name.
func (s Status) Error() string { return "orbgate: " + s.String() }

// The status as an error, nil where all is well.
func (s Status) err() error {
	if s == statusOK {
		return nil
	}
	return s
}
