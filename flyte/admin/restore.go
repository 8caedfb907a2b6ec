package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
)

// restoreTime bounds how long rows are put back after a deletion whose context has ended.
const restoreTime = 30 * time.Second

// UnrestoredError says that a deletion of attributes took rows of narrower
// scopes with it that could not be put back. Write them again.
type UnrestoredError struct {
	// Rows are those that are gone, or may be.
	Rows []MatchableAttributes
	// Err is why.
	Err error
}

// Error implements error.
func (e *UnrestoredError) Error() string {
	scopes := make([]string, len(e.Rows))
	for i, r := range e.Rows {
		scopes[i] = r.Scope.String()
	}
	return fmt.Sprintf("flyteadmin: the attributes %s of %s went along with what was deleted and could not be put back: %v",
		e.Rows[0].Attributes.Kind(), strings.Join(scopes, ", "), e.Err)
}

// Unwrap returns why.
func (e *UnrestoredError) Unwrap() error { return e.Err }

// Retryable implements [planewright.Retryable]: deleting again would find
// nothing to delete, and so forget the rows.
func (e *UnrestoredError) Retryable() bool { return false }

var _ planewright.Retryable = (*UnrestoredError)(nil)

// restore puts rows back. The failure is that of the deletion, which may have
// had its effect all the same.
func (c *Client) restore(ctx context.Context, kind Kind, rows []row, failure error) error {
	if len(rows) == 0 {
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	there := map[Scope]bool{}
	if failure != nil { // perhaps nothing was deleted, and somebody may have written since
		have, err := c.rows(ctx, kind)
		if err != nil {
			return &UnrestoredError{Rows: plain(rows), Err: failure}
		}
		for _, r := range have {
			there[r.Scope] = true
		}
	}
	var gone []MatchableAttributes
	var first error
	for _, r := range rows {
		if there[r.Scope] {
			continue
		}
		if err := c.put(ctx, r.Scope, r.raw); err != nil {
			gone = append(gone, r.MatchableAttributes)
			if first == nil {
				first = err
			}
		}
	}
	if gone != nil {
		return &UnrestoredError{Rows: gone, Err: first}
	}
	return failure
}

func plain(rows []row) []MatchableAttributes {
	list := make([]MatchableAttributes, len(rows))
	for i, r := range rows {
		list[i] = r.MatchableAttributes
	}
	return list
}
