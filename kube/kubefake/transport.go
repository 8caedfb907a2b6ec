package kubefake

import (
	"net/http"
	"time"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
)

// transport carries requests to a cluster.
type transport struct{ cluster *cluster }

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.cluster
	start := time.Now()
	if err := c.wait(req.Context()); err != nil {
		return nil, err
	}
	parsed, err := c.server.Parse(req)
	if err != nil {
		return nil, err
	}
	call := record(c.name, start, parsed)
	call.Path = req.URL.Path
	if err := c.fleet.alive(); err != nil {
		return nil, err
	}
	rule, err := c.fleet.provoke(req.Context(), call)
	if err != nil {
		return nil, c.fleet.log(call, 0, false, err)
	}
	if rule != nil && !rule.afterwards && rule.fault != "" {
		return c.fail(req, call, rule, false)
	}
	reply := c.server.Serve(parsed)
	if call.Verb == "create" && call.Name == "" {
		call.Name = reply.Name
	}
	if rule != nil && rule.afterwards && rule.fault != "" {
		reply.Close()
		return c.fail(req, call, rule, reply.Persisted)
	}
	if err := c.fleet.log(call, reply.Code, reply.Persisted, nil); err != nil {
		reply.Close()
		return nil, err
	}
	return reply.Response(req), nil
}

// fail answers with a rule's fault.
func (c *cluster) fail(req *http.Request, call CallRecord, rule *Rule, persisted bool) (*http.Response, error) {
	reply, err := rule.answer(req.Context(), c, call)
	if err != nil {
		return nil, c.fleet.log(call, 0, persisted, err)
	}
	if err := c.fleet.log(call, reply.Code, persisted, nil); err != nil {
		return nil, err
	}
	return reply.Response(req), nil
}

func record(cluster string, start time.Time, r *apiserver.Request) CallRecord {
	return CallRecord{
		Cluster: cluster, Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
		Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, DryRun: r.DryRun, Time: start,
	}
}
