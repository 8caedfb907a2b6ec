package controller

import (
	"maps"

	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tokenSecret fills the Secret of a service account's token after a while, and
// deletes the one whose account does not exist.
func (m *Manager) tokenSecret(tx apiserver.Tx, k key) {
	secret, account, ok := tokenOf(tx, k)
	if !ok {
		return
	}
	if account == nil {
		tx.Delete(secret, metav1.DeleteOptions{})
		return
	}
	filling := k
	filling.kind = "Secret/token"
	if isFilled(secret, account) || m.config.Mint == nil || m.pending[filling] != nil {
		return
	}
	m.pending[filling] = m.after(m.config.Token, func(tx apiserver.Tx) {
		delete(m.pending, filling)
		secret, account, ok := tokenOf(tx, k)
		if !ok || account == nil || isFilled(secret, account) {
			return
		}
		token, ca := m.config.Mint(apiserver.Account{Namespace: account.Namespace, Name: account.Name, UID: string(account.UID), Secret: secret.Name})
		next := secret.DeepCopy()
		if next.Data == nil {
			next.Data = map[string][]byte{}
		}
		maps.Copy(next.Data, map[string][]byte{
			corev1.ServiceAccountTokenKey: token, corev1.ServiceAccountRootCAKey: ca, corev1.ServiceAccountNamespaceKey: []byte(account.Namespace),
		})
		next.Annotations[corev1.ServiceAccountUIDKey] = string(account.UID)
		tx.Replace(next)
		m.work(tx)
	})
}

// tokenOf finds a token Secret and its service account, which may be missing.
func tokenOf(tx apiserver.Tx, k key) (*corev1.Secret, *corev1.ServiceAccount, bool) {
	secret, ok := get[*corev1.Secret](tx, k)
	if !ok || secret.Type != corev1.SecretTypeServiceAccountToken || secret.DeletionTimestamp != nil {
		return nil, nil, false
	}
	account, ok := get[*corev1.ServiceAccount](tx, key{"", "ServiceAccount", k.namespace, secret.Annotations[corev1.ServiceAccountNameKey]})
	if uid := secret.Annotations[corev1.ServiceAccountUIDKey]; ok && uid != "" && uid != string(account.UID) {
		return secret, nil, true
	}
	if !ok {
		return secret, nil, true
	}
	return secret, account, true
}

func isFilled(secret *corev1.Secret, account *corev1.ServiceAccount) bool {
	return len(secret.Data[corev1.ServiceAccountTokenKey]) > 0 && secret.Annotations[corev1.ServiceAccountUIDKey] == string(account.UID)
}

// serviceAccount looks after the tokens of an account, brings a default one
// back, and lets workloads try again that were waiting for it.
func (m *Manager) serviceAccount(tx apiserver.Tx, k key) {
	for _, secret := range list[*corev1.Secret](tx, "", "Secret", k.namespace) {
		if secret.Annotations[corev1.ServiceAccountNameKey] == k.name {
			m.enqueue(key{"", "Secret", secret.Namespace, secret.Name})
		}
	}
	m.enqueue(key{"", "Namespace", "", k.namespace})
	m.retryWorkloads(tx, k.namespace)
}
