package apis

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// Scheme returns the Go types of the built-in kinds. It must not be changed.
var Scheme = sync.OnceValue(func() *runtime.Scheme { //nolint:gochecknoglobals // made once, never changed
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	return scheme
})

// Decoder reads JSON, YAML and protobuf into the types of [Scheme]. It tells
// of unknown and doubled fields by a strict decoding error, and decodes the rest.
var Decoder = sync.OnceValue(func() runtime.Decoder { //nolint:gochecknoglobals // made once, never changed
	return serializer.NewCodecFactory(Scheme(), serializer.EnableStrict).UniversalDeserializer()
})
