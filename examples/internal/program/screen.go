package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/planewright/planewright"
)

// screen shows what happens: results on out, progress on log.
type screen struct {
	out, log io.Writer
	json     bool
	started  time.Time
}

// show prints a result as a tree or as one JSON document.
func (s *screen) show(title string, result fmt.Stringer) error {
	if !s.json {
		_, err := fmt.Fprintf(s.out, "\n== %s\n%s", title, result)
		return err
	}
	encoder := json.NewEncoder(s.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{title: result})
}

// progress prints one plain line for an event that a person wants to see.
func (s *screen) progress(e planewright.Event) {
	var line string
	switch e.Kind {
	case planewright.EventStarted:
		line = fmt.Sprintf("%-8s %s", e.Action, e.Step)
		if e.Message != "" {
			line += ": " + e.Message
		}
	case planewright.EventProgress:
		line = fmt.Sprintf("%-8s %s: %s", "…", e.Step, e.Message)
	case planewright.EventRetry:
		line = fmt.Sprintf("%-8s %s: %s", "retry", e.Step, e.Message)
	case planewright.EventFinished:
		if e.Outcome == planewright.OutcomeUnchanged {
			return
		}
		line = fmt.Sprintf("%-8s %s", e.Outcome, e.Step)
	case planewright.EventLock:
		line = fmt.Sprintf("%-8s %s", "lock", e.Message)
	default:
		return
	}
	fmt.Fprintf(s.log, "%6.2fs  %s\n", e.Time.Sub(s.started).Seconds(), line)
}

func (s *screen) events() planewright.Option {
	s.started = time.Now()
	return planewright.WithEvents(s.progress)
}

// plan shows what installing would do.
func (s *screen) plan(ctx context.Context, stack planewright.Stack) error {
	plan, err := planewright.Plan(ctx, stack)
	if err != nil {
		return err
	}
	if err := s.show("plan", plan); err != nil {
		return err
	}
	return plan.Err()
}

// render writes the desired state as files.
func (s *screen) render(ctx context.Context, stack planewright.Stack, folder string) error {
	if err := stack.Render(ctx, planewright.Directory(folder)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.log, "rendered to %s\n", folder)
	return err
}

// install installs and shows the report, also of an install that failed.
func (s *screen) install(ctx context.Context, title string, stack planewright.Stack) (*planewright.Report, error) {
	report, err := planewright.Install(ctx, stack, s.events())
	if report == nil {
		return nil, err
	}
	if !s.json && len(report.Changed()) > 0 {
		fmt.Fprintf(s.log, "\n%s", report.Timeline())
	}
	return report, errors.Join(err, s.show(title, report))
}

// uninstall takes everything away and shows what was kept.
func (s *screen) uninstall(ctx context.Context, stack planewright.Stack) error {
	report, err := planewright.Uninstall(ctx, stack, s.events())
	if report == nil {
		return err
	}
	return errors.Join(err, s.show("uninstall", report))
}

// errNotWorking says that what was installed does not work; the findings have been shown.
var errNotWorking = errors.New("installed, but not working: see the findings")

// mainJob plans, installs, verifies and installs once more.
func (s *screen) mainJob(ctx context.Context, stack planewright.Stack, fakes *fakes) error {
	if err := s.plan(ctx, stack); err != nil {
		return err
	}
	if !s.json {
		fmt.Fprintln(s.log)
	}
	if _, err := s.install(ctx, "install", stack); err != nil {
		return err
	}
	found, err := planewright.Verify(ctx, stack)
	if err != nil {
		return err
	}
	if err := s.show("verify", found); err != nil {
		return err
	}
	if !found.OK() {
		return errNotWorking
	}
	before := fakes.writes()
	again, err := s.install(ctx, "second install", stack)
	if err != nil {
		return err
	}
	if len(again.Changed()) > 0 {
		return fmt.Errorf("the second install changed %v", again.Changed())
	}
	if fakes != nil && fakes.writes() != before {
		return fmt.Errorf("the second install made %d calls that write", fakes.writes()-before)
	}
	if !s.json {
		fmt.Fprintln(s.out, "second install: no changes")
	}
	return nil
}
