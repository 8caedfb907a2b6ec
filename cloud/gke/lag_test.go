package gke_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
)

func TestFaultsWhileAServiceAccountIsNotKnownYet(t *testing.T) {
	for _, fault := range gkefake.Faults() {
		for nth := range 40 {
			for _, effect := range [][]gkefake.FaultOption{nil, {gkefake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					w.google.SetLag(20 * time.Second)
					w.google.Fail(gkefake.Call("*"), fault, append(effect, gkefake.After(nth), gkefake.Times(1))...)
					_, disturbed := planewright.Install(t.Context(), w.stack(w.spec("team1", "team2")))
					w.google.Heal()
					w.google.Revive()
					if _, err := planewright.Install(t.Context(), w.stack(w.spec("team1", "team2"))); err != nil {
						t.Errorf("%s at call %d: %v (the disturbed install said: %v)", fault, nth, err, disturbed)
						return
					}
					assert.Len(t, w.members("flyte-user"), 2, "%s at call %d", fault, nth)
					assert.Len(t, w.google.BucketRoles("acme-flyte", member), 2, "%s at call %d", fault, nth)
					w.google.ForgetCalls()
					w.install(t, w.spec("team1", "team2"))
					assert.Empty(t, w.google.Writes())
				})
			}
		}
	}
}
