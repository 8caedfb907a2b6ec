package planewright

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Outcome says how a step ended.
type Outcome string

// The outcomes. Their values are part of the report's JSON form.
const (
	// OutcomeUnchanged: there was nothing to do.
	OutcomeUnchanged Outcome = "unchanged"
	// OutcomeDone: it was applied (or undone) and has taken effect.
	OutcomeDone Outcome = "done"
	// OutcomeFailed: it failed; Err says why.
	OutcomeFailed Outcome = "failed"
	// OutcomeNotTried: it was not begun, because what it needs failed, or
	// because the run was stopped before it wrote anything.
	OutcomeNotTried Outcome = "not tried"
	// OutcomeUnknown: it was cut off, and looking again did not tell whether it was done.
	OutcomeUnknown Outcome = "unknown"
)

// StepReport is how one step went.
type StepReport struct {
	ID      string  `json:"id"`
	Title   string  `json:"title,omitempty"`
	Cluster string  `json:"cluster,omitempty"`
	Action  Action  `json:"action"`
	Outcome Outcome `json:"outcome"`
	// Reason says for what is not tried which step stands in its way.
	Reason string `json:"reason,omitempty"`
	// Started and Ended are zero for what was not begun.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Attempts is how often it was applied.
	Attempts int `json:"attempts,omitempty"`
	// Err is what went wrong; JSON has its text as "error".
	Err error `json:"-"`
}

// MarshalJSON adds the text of the error.
func (s StepReport) MarshalJSON() ([]byte, error) {
	type plain StepReport
	out := struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain: plain(s)}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	return json.Marshal(out)
}

// Report is what a run did.
type Report struct {
	// Verb is "install" or "uninstall".
	Verb string `json:"verb"`
	// Steps are all steps, in the order of the stacks.
	Steps []StepReport `json:"steps"`
	// Findings are what probes and checks found on the way.
	Findings []Finding `json:"findings,omitempty"`
	// Kept is what an uninstall left in place.
	Kept []Kept `json:"kept,omitempty"`
	// Next says what a person should do now.
	Next    []string  `json:"next,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	run *runState
}

func (r *Report) finish(run *runState) {
	r.Ended = time.Now()
	r.run = run
	run.mu.Lock()
	defer run.mu.Unlock()
	r.Kept = slices.Clone(run.kept)
	r.Next = slices.Clone(run.next)
	slices.SortFunc(r.Kept, func(a, b Kept) int { return strings.Compare(a.Object.String(), b.Object.String()) })
}

// Changed returns the ids of the steps that were done.
func (r *Report) Changed() []string {
	var ids []string
	for _, s := range r.Steps {
		if s.Outcome == OutcomeDone {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Step returns the report of the step with the given id.
func (r *Report) Step(id string) (StepReport, bool) {
	i := slices.IndexFunc(r.Steps, func(s StepReport) bool { return s.ID == id })
	if i < 0 {
		return StepReport{}, false
	}
	return r.Steps[i], true
}

// String sums the run up on one line, followed by what failed, what was kept
// and what to do next.
func (r *Report) String() string {
	var b strings.Builder
	count := map[Outcome]int{}
	for _, s := range r.Steps {
		count[s.Outcome]++
	}
	fmt.Fprintf(&b, "%s: ", r.Verb)
	var parts []string
	for _, o := range []Outcome{OutcomeDone, OutcomeUnchanged, OutcomeFailed, OutcomeUnknown, OutcomeNotTried} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no steps"}
	}
	fmt.Fprintf(&b, "%s, in %s\n", strings.Join(parts, ", "), r.Ended.Sub(r.Started).Round(time.Millisecond))
	for _, s := range r.Steps {
		if s.Err != nil {
			fmt.Fprintf(&b, "  %s %s: %v\n", s.Outcome, s.ID, s.Err)
		} else if s.Outcome == OutcomeNotTried {
			fmt.Fprintf(&b, "  %s %s: %s\n", s.Outcome, s.ID, s.Reason)
		}
	}
	for _, k := range r.Kept {
		fmt.Fprintf(&b, "  kept %s: %s\n", k.Object, k.Reason)
	}
	for _, n := range r.Next {
		fmt.Fprintf(&b, "  next: %s\n", n)
	}
	return b.String()
}

// timelineWidth is how many characters the whole run takes in a timeline.
const timelineWidth = 40

// Timeline draws when each step that was begun ran, one a line.
func (r *Report) Timeline() string {
	var b strings.Builder
	total := max(r.Ended.Sub(r.Started), time.Millisecond)
	at := func(t time.Time) int {
		return int(float64(t.Sub(r.Started)) / float64(total) * timelineWidth)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range r.Steps {
		if s.Started.IsZero() || s.Outcome == OutcomeUnchanged {
			continue
		}
		from := min(max(at(s.Started), 0), timelineWidth-1)
		to := min(max(at(s.Ended), from+1), timelineWidth)
		bar := strings.Repeat(" ", from) + strings.Repeat("█", to-from) + strings.Repeat(" ", timelineWidth-to)
		fmt.Fprintf(w, "%s\t|%s|\t%s\t%s\n", s.ID, bar, s.Ended.Sub(s.Started).Round(time.Millisecond), s.Outcome)
	}
	w.Flush()
	return b.String()
}
