package kubeflowtest

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// furnishing is how long it may take until the definitions are served.
const furnishing = 30 * time.Second

// NewWorldOn makes a platform on clusters that exist: it creates the
// definitions and the objects that [NewWorld] makes, unless they are there, and
// runs what it simulates as controllers, until [World.Close]. What is created stays.
//
// The clusters must run pods, or pretend to; load balancers are simulated.
// WithoutDefinition leaves nothing out that is there.
func NewWorldOn(ctx context.Context, global, workload *rest.Config, options ...Option) (*World, error) {
	s := newSettings(options)
	w := &World{packages: s.packages, faults: map[string]Fault{}, places: map[string]place{},
		configs: map[string]*rest.Config{Global: global, Workload: workload}}
	for name, config := range w.configs {
		config = rest.CopyConfig(config)
		config.UserAgent, config.QPS, config.WarningHandler = "kubeflowtest", -1, rest.NoWarnings{}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("kubeflowtest: cluster %s: %w", name, err)
		}
		w.places[name] = server{client}
	}
	if err := w.furnish(ctx, Global, s.globalObjects()); err != nil {
		return nil, err
	}
	if err := w.furnish(ctx, Workload, s.workloadObjects()); err != nil {
		return nil, err
	}
	w.simulate()
	return w, nil
}

// furnish creates objects that are not there, in order. A kind that has just
// been defined is waited for.
func (w *World) furnish(ctx context.Context, cluster string, objects []runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, furnishing)
	defer cancel()
	known, err := w.places[cluster].objects()
	if err != nil {
		return fmt.Errorf("kubeflowtest: looking at cluster %s: %w", cluster, err)
	}
	for _, o := range objects {
		if u, ok := o.(*object); ok {
			known = append(known, u)
		}
	}
	for _, o := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return fmt.Errorf("kubeflowtest: %w", err)
		}
		u := &object{Object: content}
		if err := w.provide(ctx, cluster, u, pluralOf(known, u.GroupVersionKind())); err != nil {
			return fmt.Errorf("kubeflowtest: creating %s %s in cluster %s: %w", u.GetKind(), u.GetName(), cluster, err)
		}
	}
	return nil
}

// provide creates one object, as soon as its kind is served.
func (w *World) provide(ctx context.Context, cluster string, o *object, plural string) error {
	const pause = 20 * time.Millisecond
	of := resource(w.places[cluster].client(), o, plural)
	for {
		_, err := of.Create(ctx, o, metav1.CreateOptions{FieldManager: "simulation"})
		switch {
		case err == nil, apierrors.IsAlreadyExists(err):
			return nil
		case !apierrors.IsNotFound(err):
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
