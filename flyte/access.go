package flyte

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// adminAccount is the ServiceAccount that flyteadmin acts as in a data plane.
const adminAccount = "flyteadmin"

// accessStep gives flyteadmin access to a data plane: a token of the
// ServiceAccount that the data plane's release made for it, and how the API
// server is reached.
type accessStep struct {
	binding
	plane Dataplane
	// where is the cluster in its cloud, zero if that is not known.
	where cloud.ClusterRef
	// dialer opens connections to the API server for a verification; nil opens none.
	dialer cloud.Dialer
	// endpoint is known as soon as the cluster is there, credentials once the token is.
	endpoint    planewright.Output[string]
	credentials planewright.Output[clusterCredentials]
}

// clusterCredentials are what flyteadmin needs to know of a data plane.
type clusterCredentials struct{ token, ca []byte }

func (s accessStep) object() ownObject {
	name := fmt.Sprintf("%s-token-%d", adminAccount, s.plane.generation())
	return ownObject{s.binding, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata": map[string]any{
			"name": name, "namespace": s.namespace, "labels": s.ownLabels(),
			"annotations": map[string]any{accountNameAnnotation: adminAccount},
		},
		"type": tokenSecretType,
	}}}
}

const (
	tokenSecretType       = "kubernetes.io/service-account-token"
	accountNameAnnotation = "kubernetes.io/service-account.name"
)

func (s accessStep) step(needs []string) planewright.Step {
	object := s.object()
	return planewright.Step{
		ID:      s.endpoint.Step(),
		Title:   fmt.Sprintf("Secret %s/%s, the token of flyteadmin", s.namespace, object.desired.GetName()),
		Cluster: s.cluster.Name,
		Needs:   needs,
		Objects: []planewright.Object{object.ref().In(s.cluster.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx, run)
			return s.checked(ctx, run, change, err)
		},
		Apply:  s.apply,
		Await:  s.await,
		Verify: s.verify,
		Undo: func(ctx context.Context, run *planewright.Run) error {
			return s.deleteOwn(ctx, run, object.ref())
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return renderObjects(s.folder("access"), []*unstructured.Unstructured{object.desired})
		},
	}
}

func (s accessStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	endpoint, err := s.reach(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	s.endpoint.Set(run, endpoint.URL)
	change, live, err := s.object().check(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	change.Findings = append(change.Findings, s.endpointFindings(endpoint)...)
	if live == nil {
		return change, nil
	}
	kind, _, _ := unstructured.NestedString(live.Object, "type")
	if of := live.GetAnnotations()[accountNameAnnotation]; kind != tokenSecretType || of != adminAccount {
		change.Action, change.Diff = planewright.ActionBlocked, nil
		change.Reason = fmt.Sprintf("%s exists and is no token of ServiceAccount %s; delete it, or raise the data plane's token generation", s.object().ref(), adminAccount)
		return change, nil
	}
	if change.Action == planewright.ActionNone {
		credentials, missing, err := s.credentialsIn(live, endpoint)
		broken, isBroken := errors.AsType[*brokenTokenError](err)
		switch {
		case isBroken:
			change.Action, change.Fingerprint = planewright.ActionUpdate, string(live.GetUID())+" "+live.GetResourceVersion()
			change.Reason = broken.Error() + "; it is made anew"
			change.Diff = []planewright.FieldDiff{{Path: valuePath{"data", "token"}.String(), Secret: true}}
		case err != nil:
			return planewright.Change{}, err
		case missing != "":
			change.Pending = missing
		default:
			s.credentials.Set(run, credentials)
		}
	}
	return change, nil
}

// apply makes the Secret. One of ours whose content somebody has broken is
// deleted before: a controller fills a new one, and does not mend what is there.
func (s accessStep) apply(ctx context.Context, _ *planewright.Run) error {
	object := s.object()
	live, err := s.cluster.Objects.Get(ctx, object.ref())
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	if err == nil && s.owns(live.GetLabels()) {
		_, _, err := s.credentialsIn(live, kube.Endpoint{})
		if _, broken := errors.AsType[*brokenTokenError](err); broken {
			if err := s.cluster.Objects.Delete(ctx, object.ref(), kube.DeleteOptions{}); err != nil {
				return err
			}
			if err := s.cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{object.ref()}, Until: kube.Gone}); err != nil {
				return err
			}
		}
	}
	return object.apply(ctx)
}

// brokenTokenError says that a token Secret holds something else than its
// controller writes. It never quotes what.
type brokenTokenError struct{ ref, problem string }

func (e *brokenTokenError) Error() string { return e.ref + ": its key " + e.problem }

// Is makes the error match [planewright.ErrInvalid].
func (e *brokenTokenError) Is(target error) bool { return target == planewright.ErrInvalid }

// reach finds out how the API server is reached: as the spec says, or the
// cloud, or as the cluster's handle does.
func (s accessStep) reach(ctx context.Context) (kube.Endpoint, error) {
	var endpoint kube.Endpoint
	switch given := s.plane.endpoint; {
	case given.url != "":
		endpoint = kube.Endpoint{URL: given.url, CA: []byte(given.ca)}
	case s.where.Account.Clusters != nil:
		cluster, err := s.where.Describe(ctx)
		if err != nil {
			return kube.Endpoint{}, err
		}
		endpoint = kube.Endpoint{URL: cluster.Endpoint, CA: cluster.CA}
	default:
		var err error
		if endpoint, err = s.cluster.Facts.Endpoint(ctx); err != nil {
			return kube.Endpoint{}, err
		}
	}
	endpoint.URL = strings.TrimSuffix(endpoint.URL, "/")
	if problem := endpointProblem(endpoint.URL); problem != "" {
		return kube.Endpoint{}, fmt.Errorf("the endpoint %q of data plane %s cannot be given to flyteadmin: %s; use Dataplane.WithEndpoint: %w", endpoint.URL, s.plane.name, problem, planewright.ErrInvalid)
	}
	return endpoint, nil
}

// credentialsIn reads a token Secret. Missing says what it lacks still: a
// controller fills it some time after it was made.
func (s accessStep) credentialsIn(live *unstructured.Unstructured, endpoint kube.Endpoint) (c clusterCredentials, missing string, err error) {
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	token, err := base64.StdEncoding.DecodeString(data["token"])
	if err != nil {
		return c, "", &brokenTokenError{kube.RefOf(live).String(), "token is not base64"}
	}
	authority, err := base64.StdEncoding.DecodeString(data["ca.crt"])
	if err != nil {
		return c, "", &brokenTokenError{kube.RefOf(live).String(), "ca.crt is not base64"}
	}
	if len(token) == 0 || len(authority) == 0 {
		return c, "the token is not there yet: is there a ServiceAccount " + adminAccount + "?", nil
	}
	if problem := tokenProblem(token, "system:serviceaccount:"+s.namespace+":"+adminAccount); problem != "" {
		return c, "", &brokenTokenError{kube.RefOf(live).String(), "token " + problem}
	}
	authority, ok := normalPEM(authority)
	if !ok {
		return c, "", &brokenTokenError{kube.RefOf(live).String(), "ca.crt is not in PEM form"}
	}
	if len(endpoint.CA) == 0 {
		return clusterCredentials{token, authority}, "", nil
	}
	if authority, ok = normalPEM(endpoint.CA); !ok {
		return c, "", fmt.Errorf("the certificate authority of data plane %s is not in PEM form: %w", s.plane.name, planewright.ErrInvalid)
	}
	return clusterCredentials{token, authority}, "", nil
}

// tokenProblem says what is wrong with a token, empty if nothing is. It never
// quotes the token.
func tokenProblem(token []byte, subject string) string {
	if len(token) != len(bytes.TrimSpace(token)) {
		return "begins or ends with white space, which flyteadmin would send on"
	}
	parts := strings.Split(string(token), ".")
	if len(parts) != 3 {
		if inner, err := base64.StdEncoding.DecodeString(string(token)); err == nil && bytes.Count(inner, []byte(".")) == 2 {
			return "looks like a token that was base64-encoded twice"
		}
		return "is no token: it does not have three parts"
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Subject string `json:"sub"`
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return "is no token: what it says cannot be read"
	}
	if claims.Subject != subject {
		return fmt.Sprintf("is one of %s, and that of %s is expected", claims.Subject, subject)
	}
	return ""
}

// normalPEM returns the certificates of a text, each as it is and in their
// order, with nothing between them: so texts that mean the same are the same.
func normalPEM(text []byte) (normal []byte, ok bool) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			normal = append(normal, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
	return normal, len(normal) > 0 && len(bytes.TrimSpace(text)) == 0
}

// await waits for the controller that fills the Secret.
func (s accessStep) await(ctx context.Context, run *planewright.Run) error {
	endpoint, err := s.reach(ctx)
	if err != nil {
		return err
	}
	ref := s.object().ref()
	var credentials clusterCredentials
	var broken error
	err = s.cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs: []kube.Ref{ref},
		Until: func(live *unstructured.Unstructured) (bool, string) {
			if live == nil {
				return false, "not there yet"
			}
			var missing string
			credentials, missing, broken = s.credentialsIn(live, endpoint)
			return missing == "", missing
		},
		Progress: func(message string) { run.Progress("%s", message) },
	})
	switch {
	case err != nil:
		return err
	case broken != nil:
		return broken
	}
	s.credentials.Set(run, credentials)
	return nil
}
