package apis

import (
	"encoding/json"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	data := field.NewPath("data")
	total := 0
	for _, key := range sortedKeys(s.Data) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(data.Key(key), key, message))
		}
		total += len(s.Data[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	require := func(key string) bool {
		_, ok := s.Data[key]
		if !ok {
			errs = append(errs, field.Required(data.Key(key), ""))
		}
		return ok
	}
	isJSON := func(key string) {
		if require(key) {
			if err := json.Unmarshal(s.Data[key], &map[string]any{}); err != nil {
				errs = append(errs, field.Invalid(data.Key(key), "<secret contents redacted>", err.Error()))
			}
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		isJSON(corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		isJSON(corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			errs = append(errs, field.Required(data.Key(corev1.BasicAuthUsernameKey), ""), field.Required(data.Key(corev1.BasicAuthPasswordKey), ""))
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			errs = append(errs, field.Required(data.Key(corev1.SSHAuthPrivateKey), ""))
		}
	case corev1.SecretTypeTLS:
		require(corev1.TLSCertKey)
		require(corev1.TLSPrivateKeyKey)
	default:
	}
	return errs
}

func validateSecretChange(s, old *corev1.Secret) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
	if old.Immutable == nil || !*old.Immutable {
		return errs
	}
	if s.Immutable == nil || !*s.Immutable {
		errs = append(errs, immutable(field.NewPath("immutable")))
	}
	if !reflect.DeepEqual(s.Data, old.Data) && len(s.Data)+len(old.Data) > 0 {
		errs = append(errs, immutable(field.NewPath("data")))
	}
	return errs
}

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	total := 0
	for _, key := range sortedKeys(c.Data) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, message))
		}
		if _, twice := c.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		total += len(c.Data[key])
	}
	for _, key := range sortedKeys(c.BinaryData) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("binaryData").Key(key), key, message))
		}
		total += len(c.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func validateConfigMapChange(c, old *corev1.ConfigMap) field.ErrorList {
	if old.Immutable == nil || !*old.Immutable {
		return nil
	}
	var errs field.ErrorList
	if c.Immutable == nil || !*c.Immutable {
		errs = append(errs, immutable(field.NewPath("immutable")))
	}
	if !maps.Equal(c.Data, old.Data) {
		errs = append(errs, immutable(field.NewPath("data")))
	}
	if !reflect.DeepEqual(c.BinaryData, old.BinaryData) && len(c.BinaryData)+len(old.BinaryData) > 0 {
		errs = append(errs, immutable(field.NewPath("binaryData")))
	}
	return errs
}

func immutable(path *field.Path) *field.Error {
	return field.Forbidden(path, "field is immutable when `immutable` is set")
}
