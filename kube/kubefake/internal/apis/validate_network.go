package apis

import (
	"fmt"
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateService(s *corev1.Service) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(s.Spec.Ports) == 0 && s.Spec.ClusterIP != corev1.ClusterIPNone && s.Spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(spec.Child("ports"), ""))
	}
	names, numbers := map[string]bool{}, map[string]bool{}
	for i := range s.Spec.Ports {
		p, at := &s.Spec.Ports[i], spec.Child("ports").Index(i)
		switch {
		case p.Name == "" && len(s.Spec.Ports) > 1:
			errs = append(errs, field.Required(at.Child("name"), ""))
		case p.Name != "":
			for _, message := range validation.IsDNS1123Label(p.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), p.Name, message))
			}
			if names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names[p.Name] = true
		}
		for _, message := range validation.IsValidPortNum(int(p.Port)) {
			errs = append(errs, field.Invalid(at.Child("port"), p.Port, message))
		}
		switch p.TargetPort.Type {
		case intstr.Int:
			for _, message := range validation.IsValidPortNum(p.TargetPort.IntValue()) {
				errs = append(errs, field.Invalid(at.Child("targetPort"), p.TargetPort.IntValue(), message))
			}
		case intstr.String:
			for _, message := range validation.IsValidPortName(p.TargetPort.StrVal) {
				errs = append(errs, field.Invalid(at.Child("targetPort"), p.TargetPort.StrVal, message))
			}
		}
		if number := fmt.Sprintf("%s/%d", p.Protocol, p.Port); numbers[number] {
			errs = append(errs, field.Duplicate(at, duplicatePort{Protocol: p.Protocol, Port: p.Port}))
		} else {
			numbers[number] = true
		}
	}
	if ip := s.Spec.ClusterIP; ip != "" && ip != corev1.ClusterIPNone && net.ParseIP(ip) == nil {
		errs = append(errs, field.Invalid(spec.Child("clusterIPs").Index(0), ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
	}
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer:
	case corev1.ServiceTypeExternalName:
		for _, message := range validation.IsDNS1123Subdomain(strings.TrimSuffix(s.Spec.ExternalName, ".")) {
			errs = append(errs, field.Invalid(spec.Child("externalName"), s.Spec.ExternalName, message))
		}
	default:
		errs = append(errs, field.NotSupported(spec.Child("type"), s.Spec.Type, []corev1.ServiceType{
			corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort,
		}))
	}
	return errs
}

// duplicatePort is how the server shows a port that is there twice.
type duplicatePort struct {
	Name        string
	Protocol    corev1.Protocol
	AppProtocol *string
	Port        int32
	TargetPort  int32
	NodePort    int32
}

func validateServiceChange(s, old *corev1.Service) field.ErrorList {
	if old.Spec.Type == corev1.ServiceTypeExternalName || s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.ClusterIP == "" || s.Spec.ClusterIP == old.Spec.ClusterIP {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs").Index(0), s.Spec.ClusterIPs, "may not change once set")}
}

func validateIngress(in *networkingv1.Ingress) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(in.Spec.Rules) == 0 && in.Spec.DefaultBackend == nil {
		errs = append(errs, field.Invalid(spec, in.Spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	for i, rule := range in.Spec.Rules {
		at := spec.Child("rules").Index(i)
		if rule.Host != "" {
			errs = append(errs, validateHost(rule.Host, at.Child("host"))...)
		}
		if rule.HTTP == nil {
			continue
		}
		paths := at.Child("http", "paths")
		if len(rule.HTTP.Paths) == 0 {
			errs = append(errs, field.Required(paths, ""))
		}
		for j, p := range rule.HTTP.Paths {
			errs = append(errs, validateIngressPath(&p, paths.Index(j))...)
		}
	}
	return errs
}

func validateHost(host string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if net.ParseIP(host) != nil {
		return field.ErrorList{field.Invalid(path, host, "must be a DNS name, not an IP address")}
	}
	rule := validation.IsDNS1123Subdomain
	if strings.Contains(host, "*") {
		rule = validation.IsWildcardDNS1123Subdomain
	}
	for _, message := range rule(host) {
		errs = append(errs, field.Invalid(path, host, message))
	}
	return errs
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case p.PathType == nil:
		errs = append(errs, field.Required(path.Child("pathType"), "pathType must be specified"))
	case *p.PathType == networkingv1.PathTypeExact, *p.PathType == networkingv1.PathTypePrefix:
		if !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(path.Child("path"), p.Path, "must be an absolute path"))
		}
	case *p.PathType == networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			errs = append(errs, field.Invalid(path.Child("path"), p.Path, "must be an absolute path"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("pathType"), *p.PathType, []networkingv1.PathType{
			networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix,
		}))
	}
	backend, service := path.Child("backend"), p.Backend.Service
	if service == nil && p.Backend.Resource == nil {
		errs = append(errs, field.Invalid(backend, "", "resource or service backend is required"))
	}
	if service == nil {
		return errs
	}
	if service.Name == "" {
		errs = append(errs, field.Required(backend.Child("service", "name"), ""))
	}
	if service.Port.Name == "" && service.Port.Number == 0 {
		errs = append(errs, field.Required(backend, "port name or number is required"))
	}
	return errs
}
