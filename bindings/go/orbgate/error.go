package orbgate

import "errors"

// Compare errors with these by [errors.Is].
var (
	// ErrClosed means that the engine is closed or doesn't exist, so nothing was decided.
	ErrClosed = errors.New("orbgate: the engine is closed")
	// ErrIO means that a file can't be read. If Go's own error is known, such as [io/fs.ErrNotExist], the error also
	// matches that.
	ErrIO error = StatusIO
	// ErrInvalidPolicy means that a policy is invalid; the [Error] contains all errors.
	ErrInvalidPolicy error = StatusInvalidPolicy
	// ErrNotFound means that the policy has no such route.
	ErrNotFound error = StatusNotFound
)

// An Error explains why a policy couldn't be loaded. Get it from an error with [errors.As]; [errors.Is] compares its
// Status.
type Error struct {
	Status Status
	// Path is the file as given; empty if there was none.
	Path string
	// Line and Column, in characters, are the location of the first error, from 1; 0 if the error has no
	// location.
	Line, Column int
	// Message contains all errors, each on a line [path:]line:column: message.
	Message string
	// Diagnostics are all errors of the policy, in the order of the file.
	Diagnostics []Diagnostic
	// Go's own error for a file that can't be read.
	cause error
}

// A Diagnostic is one error in a policy.
type Diagnostic struct {
	// Line and Column, in characters, from 1.
	Line, Column int
	// Message is the error message, without the location.
	Message string
}

// Error returns the Message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the Status, and Go's own error for a file that can't be read.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Status}
	}
	return []error{e.Status, e.cause}
}

// Error returns the status's name.
func (s Status) Error() string { return "orbgate: " + s.String() }

// The status as an error; nil for success.
func (s Status) err() error {
	if s == statusOK {
		return nil
	}
	return s
}
