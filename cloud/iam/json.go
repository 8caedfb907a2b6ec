package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep a document is nested. Policies have six levels.
const maxDepth = 32

// checkJSON refuses what encoding/json lets pass and IAM does not: keys that
// occur twice, and something after the value.
func checkJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := checkValue(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

func checkValue(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deep")
	}
	token, err := d.Token()
	if err != nil {
		return readable(err)
	}
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return readable(err)
			}
			name, ok := key.(string)
			if !ok {
				return errors.New("a key is no string")
			}
			if seen[name] {
				return fmt.Errorf("the key %q occurs twice", name)
			}
			seen[name] = true
			if err := checkValue(d, depth+1); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for d.More() {
			if err := checkValue(d, depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if _, err := d.Token(); err != nil { // the closing one
		return readable(err)
	}
	return nil
}

func readable(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the document ends in the middle")
	}
	return err
}
