package orbgate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

func fromFile(path string) (*policy, error) {
	text, err := readRegular(path)
	if err != nil {
		return nil, &Error{Status: StatusIO, Path: path, Message: fmt.Sprintf("cannot read `%s`: %v", path, err), cause: err}
	}
	policy, err := fromYAML(string(text))
	var failure *Error
	if errors.As(err, &failure) && len(failure.Diagnostics) > 0 {
		lines := make([]string, len(failure.Diagnostics))
		for index, diagnostic := range failure.Diagnostics {
			lines[index] = fmt.Sprintf("%s:%d:%d: %s", path, diagnostic.Line, diagnostic.Column, diagnostic.Message)
		}
		failure.Path, failure.Message = path, strings.Join(lines, "\n")
	}
	return policy, err
}

// Reads only regular files: opening or reading a pipe could block for ever, and a device might have no end.
func readRegular(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	// Reads one byte over the limit, so that the library reports the error.
	return io.ReadAll(io.LimitReader(file, maxPolicyBytes+1))
}

// The error without the path, which the message already contains.
func withoutPath(err error) error {
	var failure *os.PathError
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}
