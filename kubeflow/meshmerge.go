package kubeflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// meshNote is what the stack has put into a mesh, so that it can be taken away
// again and nothing else.
type meshNote struct {
	Interval bool `json:"interval,omitempty"`
	Provider bool `json:"provider,omitempty"`
	// Carried are the names of the providers in effect that the list was made
	// of, because it was not there.
	Carried []string `json:"carried,omitempty"`
	// CA is the text that was added to the trusted authorities.
	CA string `json:"ca,omitempty"`
	// Fingerprints are the SHA-256 sums of the certificates in CA.
	Fingerprints []string `json:"fingerprints,omitempty"`
	// Made is what was not there and was made for it: keys, and maps around them.
	Made []string `json:"made,omitempty"`
}

func (n meshNote) text() string {
	if !n.Interval && !n.Provider && n.CA == "" {
		return ""
	}
	text, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(text)
}

func readMeshNote(text string) meshNote {
	var n meshNote
	if json.Unmarshal([]byte(text), &n) != nil {
		return meshNote{}
	}
	return n
}

// meshMerge brings what Kubeflow needs into a mesh, and leaves all else as it is.
type meshMerge struct {
	doc  meshDocument
	note meshNote
	// effective are the providers that the mesh uses, if its object does not list them.
	effective []any
	appendCA  bool
	diff      []planewright.FieldDiff
	notes     []string
	// conflict says what cannot be merged, both sides of it.
	conflict string
}

func (m *meshMerge) merge(login certificate) {
	m.interval()
	m.authority(login)
	m.provider()
}

// set gives a key a value, and notes what was made for it.
func (m *meshMerge) set(key meshKey, value any) {
	for _, made := range m.doc.set(key, value) {
		if !slices.Contains(m.note.Made, made) {
			m.note.Made = append(m.note.Made, made)
		}
	}
}

func (m *meshMerge) interval() {
	switch have := m.doc.get(meshInterval); {
	case have == nil:
		m.set(meshInterval, refreshInterval)
		m.note.Interval = true
		m.diff = append(m.diff, planewright.FieldDiff{Path: string(meshInterval), After: refreshInterval})
	case have != refreshInterval:
		m.notes = append(m.notes, fmt.Sprintf("%s is %v and stays; with %s a renewed key of the login is known after a minute", meshInterval, have, refreshInterval))
	}
}

// authority adds the login's certificate to the authorities that the mesh trusts.
// Certificates are compared, not their texts. One that the stack has added
// before and that was renewed since is replaced.
func (m *meshMerge) authority(login certificate) {
	have, _ := m.doc.get(meshCA).(string)
	if trusts(have, login) {
		return
	}
	before := "trusts " + trusted(have)
	if m.note.CA != "" && strings.Contains(have, m.note.CA) {
		have = strings.Replace(have, m.note.CA, "", 1)
		m.notes = append(m.notes, "the login's certificate was renewed; the mesh is given the new one")
	} else if strings.TrimSpace(have) != "" && !m.appendCA {
		m.conflict = fmt.Sprintf("%s is set already and %s, but not the login's certificate, SHA-256 %s; without it every login fails: append it yourself, or by WithTrustedCAAppended",
			meshCA, before, strings.Join(login.fingerprints, ", "))
		return
	}
	added := login.pem
	if have != "" && !strings.HasSuffix(have, "\n") {
		added = "\n" + added
	}
	m.set(meshCA, have+added)
	m.note.CA, m.note.Fingerprints = added, login.fingerprints
	m.diff = append(m.diff, planewright.FieldDiff{Path: string(meshCA), Before: before, After: "trusts " + trusted(have+added)})
}

// trusts reports whether a bundle has all certificates of the login.
func trusts(bundle string, login certificate) bool {
	have, _, err := readCertificates([]byte(bundle))
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(login.fingerprints, func(f string) bool { return !slices.Contains(have.fingerprints, f) })
}

// trusted names the certificates of a bundle by their fingerprints.
func trusted(bundle string) string {
	if strings.TrimSpace(bundle) == "" {
		return "none"
	}
	have, _, err := readCertificates([]byte(bundle))
	if err != nil {
		return "a text that holds no certificate"
	}
	return "SHA-256 " + strings.Join(have.fingerprints, ", ")
}

// provider adds the login to the mesh's providers, whose list is merged by name.
func (m *meshMerge) provider() {
	listed := m.doc.get(meshProviders)
	list, isList := listed.([]any)
	if listed != nil && !isList {
		m.conflict = fmt.Sprintf("%s is no list but %s; mend it first", meshProviders, shortText(listed))
		return
	}
	if listed == nil && len(m.effective) > 0 {
		list, m.note.Carried = m.effective, providerNames(m.effective)
	}
	i := providerAt(list)
	switch {
	case i >= 0 && sameProvider(list[i]) && listed != nil:
		return
	case i >= 0 && !sameProvider(list[i]) && !m.note.Provider:
		m.conflict = fmt.Sprintf("the mesh has a provider %s, and it is another one: it is %s, and must be %s; remove or mend it first", providerName, shortText(list[i]), shortText(loginProvider()))
		return
	case i >= 0:
		list = slices.Clone(list)
		list[i] = loginProvider()
	default:
		list = append(slices.Clone(list), loginProvider())
	}
	m.set(meshProviders, list)
	m.note.Provider = true
	m.diff = append(m.diff, planewright.FieldDiff{Path: string(meshProviders) + "[name=" + providerName + "]", After: "envoyExtAuthzHttp of " + loginProvider()["envoyExtAuthzHttp"].(map[string]any)["service"].(string)})
}

// unmerge takes away what the note says, and nothing else.
func (m *meshMerge) unmerge() {
	if m.note.Interval && m.doc.get(meshInterval) == refreshInterval {
		m.doc.clear(meshInterval, m.note.Made)
	}
	if have, _ := m.doc.get(meshCA).(string); m.note.CA != "" && strings.Contains(have, m.note.CA) {
		if left := strings.Replace(have, m.note.CA, "", 1); left != "" || !slices.Contains(m.note.Made, string(meshCA)) {
			m.doc.set(meshCA, left)
		} else {
			m.doc.clear(meshCA, m.note.Made)
		}
	}
	list, _ := m.doc.get(meshProviders).([]any)
	if i := providerAt(list); m.note.Provider && i >= 0 {
		list = slices.Delete(slices.Clone(list), i, i+1)
		others := slices.DeleteFunc(providerNames(list), func(name string) bool { return slices.Contains(m.note.Carried, name) })
		if len(others) == 0 && slices.Contains(m.note.Made, string(meshProviders)) {
			m.doc.clear(meshProviders, m.note.Made)
		} else {
			m.doc.set(meshProviders, list)
		}
	}
	m.note = meshNote{}
}
