package live

import (
	"context"
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func secretResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

// acceptMetadata asks for the metadata of objects only. A server that does not
// know the form sends whole objects, of which the metadata is read.
const acceptMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// listMetadata lists the metadata of objects: who they belong to, without what
// they hold.
func (c *connection) listMetadata(ctx context.Context, resource schema.GroupVersionResource, namespace, selector string) ([]metav1.ObjectMeta, error) {
	path := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	path = append(path, resource.Resource)
	var (
		found []metav1.ObjectMeta
		page  string
	)
	for {
		ctx, cancel := c.context(ctx)
		request := c.rest.Get().AbsPath(path...).SetHeader("Accept", acceptMetadata).Param("limit", strconv.Itoa(pageSize))
		if selector != "" {
			request.Param("labelSelector", selector)
		}
		if page != "" {
			request.Param("continue", page)
		}
		data, err := request.Do(ctx).Raw()
		cancel()
		if err != nil {
			return nil, err
		}
		var list struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []struct {
				Metadata metav1.ObjectMeta `json:"metadata"`
			} `json:"items"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			found = append(found, item.Metadata)
		}
		if page = list.Metadata.Continue; page == "" {
			return found, nil
		}
	}
}
