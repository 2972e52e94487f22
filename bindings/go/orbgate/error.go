package orbgate

import "errors"

// ErrClosed says that nothing was asked: the engine is closed, or there is none.
var ErrClosed = errors.New("orbgate: the engine is closed")

// An Error says why a policy could not be loaded. Get it from an error with [errors.As]; [errors.Is] compares its Status.
type Error struct {
	Status Status
	// Path is the file as it was given; empty where there was none.
	Path string
	// Line and Column, in characters, are those of the first fault, from 1; 0 where the error has no place.
	Line, Column int
	// Message has it all: a line [path:]line:column: message for each fault.
	Message string
	// Faults of the policy, all of them, in the order of the file.
	Faults []Fault
}

// A Fault is one thing wrong with a policy.
type Fault struct {
	// Line and Column, in characters, from 1.
	Line, Column int
	// Message says what is wrong, without the place.
	Message string
}

// Error is the Message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the Status.
func (e *Error) Unwrap() error { return e.Status }

// Error is the status's name.
func (s Status) Error() string { return "orbgate: " + s.String() }

// The status as an error, nil where all is well.
func (s Status) err() error {
	if s == statusOK {
		return nil
	}
	return s
}
