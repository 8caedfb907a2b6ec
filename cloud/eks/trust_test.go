package eks_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const theirs = `{"Sid":"Theirs","Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`

// add has somebody else add a statement to the role's trust policy.
func (w world) add(role, statement string) {
	r, _ := w.aws.Role(role)
	r.Trust = strings.Replace(r.Trust, `"Statement":[`, `"Statement":[`+statement+`,`, 1)
	w.aws.PutRole(r)
}

func TestSomebodyElseWritesTheTrustPolicyToo(t *testing.T) {
	t.Run("between the look and the write", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.install(t, w.user("dp-1"))
			// The first GetRole of the write is the look before it, the second the look again.
			reads := 0
			w.aws.Fail(eksfake.Call("GetRole"), eksfake.None, eksfake.Do(func() {
				if reads++; reads == 5 {
					w.add("flyte-user", theirs)
				}
			}))
			w.install(t, w.user("dp-1", "dp-2"))
			trust := w.trust(t, "flyte-user")
			assert.Contains(t, trust.String(), theirs)
			assert.True(t, w.may(t, "flyte-user", "dp-2", "flyte", "flytepropeller"))
		})
	})
	t.Run("after the write, over ours", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.install(t, w.user("dp-1"))
			before, _ := w.aws.Role("flyte-user")
			written := false
			w.aws.Fail(eksfake.Call("GetRole"), eksfake.None, eksfake.Do(func() {
				if now, _ := w.aws.Role("flyte-user"); now.Trust != before.Trust && !written {
					written = true
					now.Trust = strings.Replace(before.Trust, `"Statement":[`, `"Statement":[`+theirs+`,`, 1)
					w.aws.PutRole(now)
				}
			}))
			w.install(t, w.user("dp-1", "dp-2"))
			assert.Contains(t, w.trust(t, "flyte-user").String(), theirs)
			assert.True(t, w.may(t, "flyte-user", "dp-2", "flyte", "flytepropeller"), "ours was lost, seen to be lost, and written again")
		})
	})
	t.Run("and does not stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.install(t, w.user("dp-1"))
			before, _ := w.aws.Role("flyte-user")
			w.aws.Fail(eksfake.Call("GetRole"), eksfake.None, eksfake.Do(func() {
				now, _ := w.aws.Role("flyte-user")
				if now.Trust != before.Trust {
					now.Trust = strings.Replace(before.Trust, `"Statement":[`, `"Statement":[`+theirs+`,`, 1)
					w.aws.PutRole(now)
				}
			}))
			_, err := planewright.Install(t.Context(), w.stack(w.user("dp-1", "dp-2")), planewright.WithAttempts(1))
			require.ErrorIs(t, err, planewright.ErrConflict)
			concurrent, ok := errors.AsType[*eks.ConcurrentTrustError](err)
			require.True(t, ok)
			assert.Contains(t, concurrent.Found.String(), theirs)
			assert.Contains(t, concurrent.Wanted.String(), w.provider("dp-2").ARN())
			assert.Contains(t, w.trust(t, "flyte-user").String(), theirs, "theirs is not lost")
		})
	})
	t.Run("at the same time, as IAM notices", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.install(t, w.user("dp-1"))
			w.aws.Fail(eksfake.Call("UpdateAssumeRolePolicy"), eksfake.Concurrent, eksfake.Times(2))
			w.install(t, w.user("dp-1", "dp-2"))
		})
	})
	t.Run("two installs of ours on one role", func(t *testing.T) {
		w := newWorld()
		w.install(t, w.user("dp-1"))
		spec := w.user("dp-1", "dp-2")
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := planewright.Install(t.Context(), w.stack(spec))
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				require.ErrorIs(t, err, planewright.ErrStale)
			}
		}
		w.install(t, spec)
		assert.Len(t, w.trust(t, "flyte-user").Statements(), 2)
	})
}

func TestEveryFaultAtEveryCall(t *testing.T) {
	specs := func(w world) planewright.Stack { return w.stack(w.admin(), w.user("dp-1", "dp-2")) }
	counting := newWorld()
	counting.install(t, counting.admin(), counting.user("dp-1", "dp-2"))
	total := len(counting.aws.Calls())
	want := state(t, counting)
	for _, fault := range eksfake.Faults() {
		for _, effect := range []string{"before", "after"} {
			for nth := range total {
				if testing.Short() && nth%7 != 0 {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					options := []eksfake.FaultOption{eksfake.After(nth), eksfake.Times(1)}
					if effect == "after" {
						options = append(options, eksfake.AfterEffect())
					}
					w.aws.Fail(eksfake.Call("*"), fault, options...)
					_, disturbed := planewright.Install(t.Context(), specs(w))
					w.aws.Heal()
					w.aws.Revive()
					if _, err := planewright.Install(t.Context(), specs(w)); err != nil {
						t.Errorf("%s %s call %d: %v (the disturbed install said: %v)", fault, effect, nth, err, disturbed)
						return
					}
					assert.Equal(t, want, state(t, w), "%s %s call %d", fault, effect, nth)
					w.aws.ForgetCalls()
					w.install(t, w.admin(), w.user("dp-1", "dp-2"))
					assert.Empty(t, w.aws.Writes(), "%s %s call %d", fault, effect, nth)
				})
			}
		}
	}
}

// state is what there is of the identities, without what is its own each time.
func state(t *testing.T, w world) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"flyte-admin", "flyte-user"} {
		role, _ := w.aws.Role(name)
		all["role "+name] = role.Trust + strings.Join(role.Attached, ",") + role.Tags[eks.OwnerTag]
		all["policy "+name], _ = w.aws.Policy(name)
	}
	for _, cluster := range []string{"control", "dp-1", "dp-2"} {
		provider, _ := w.aws.Provider(w.aws.Issuer(cluster))
		all["provider "+cluster] = strings.Join(provider.ClientIDs, ",")
	}
	return all
}
