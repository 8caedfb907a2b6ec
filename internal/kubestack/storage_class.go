package kubestack

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createStorageClass creates the default StorageClass, as a managed cluster has
// one. Without it a claim of a chart stays pending, and the pods that use it as well.
func (c *cluster) createStorageClass(ctx context.Context) error {
	_, err := c.client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "standard",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kwok.x-k8s.io/volume", // the one that a stage plays
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create the StorageClass of cluster %s: %w", c.Name, err)
	}
	return nil
}
