package admin

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// flyteadmin's limits: flyteadmin/pkg/manager/impl/validation of v1.16.8, in
// project_validator.go and execution_validator.go. It counts bytes.
const (
	maxProjectName        = 64
	maxProjectDescription = 300
	maxProjectLabels      = 16
	maxExecutionName      = 63
)

// validate checks a project by flyteadmin's rules. An update may leave the name out.
func (p Project) validate(named bool) error {
	var problems planewright.Problems
	checkID(&problems, "id", p.ID)
	if named && p.Name == "" {
		problems.Add("name", "", "is required", "write a name for people")
	}
	checkLength(&problems, "name", p.Name, maxProjectName)
	checkLength(&problems, "description", p.Description, maxProjectDescription)
	if len(p.Labels) > maxProjectLabels {
		problems.Add("labels", fmt.Sprint(len(p.Labels)), fmt.Sprintf("must be %d at most", maxProjectLabels), "leave some out")
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		checkLabel(&problems, key, p.Labels[key])
	}
	switch p.state() {
	case ProjectActive, ProjectArchived, ProjectSystemGenerated, ProjectSystemArchived:
	default:
		problems.Add("state", string(p.State), "must be a state of Flyte's", "use ProjectActive or ProjectArchived")
	}
	return problems.Err("project " + p.ID)
}

// checkID checks a project's id.
func checkID(problems *planewright.Problems, path, id string) {
	switch {
	case id == "":
		problems.Add(path, "", "is required", "write the project's id")
	case len(id) > 63 || !isDNSLabel(id):
		problems.Add(path, id, "must be a DNS label: at most 63 of a-z, 0-9 and -, not at an end", "choose another id")
	}
}

func checkLength(problems *planewright.Problems, path, value string, most int) {
	if len(value) > most {
		problems.Add(path, value, fmt.Sprintf("must not be longer than %d bytes; it has %d", most, len(value)), "shorten it")
	}
}

// checkLabel checks a label as Kubernetes defines them.
func checkLabel(problems *planewright.Problems, key, value string) {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	subdomain := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	qualified := regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	if len(name) > 63 || !qualified.MatchString(name) || prefixed && (len(prefix) > 253 || !subdomain.MatchString(prefix)) {
		problems.Add("labels["+key+"]", "", "must have a key as Kubernetes' labels have", "use letters, digits, -, _ and . after an optional domain and /")
	}
	if value != "" && (len(value) > 63 || !qualified.MatchString(value)) {
		problems.Add("labels["+key+"]", value, "must have a value as Kubernetes' labels have", "use at most 63 letters, digits, -, _ and .")
	}
}

// isDNSLabel reports whether a text is one, whatever its length.
func isDNSLabel(s string) bool {
	return s != "" && s[0] != '-' && s[len(s)-1] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}

// checkSegment checks a name that becomes one segment of a path. The gateway
// matches no empty ones; a slash would make two of it.
func checkSegment(problems *planewright.Problems, path, value string) {
	switch {
	case value == "":
		problems.Add(path, "", "is required", "name it")
	case strings.Contains(value, "/") || value == "." || value == "..":
		problems.Add(path, value, "must hold no /, and be more than dots", "write it as Flyte shows it")
	}
}

// checkExecutionName checks the name of an execution that is to be created.
func checkExecutionName(problems *planewright.Problems, name string) {
	valid := name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
	if len(name) > maxExecutionName || !valid {
		problems.Add("name", name, fmt.Sprintf("must begin with a-z and hold at most %d of a-z, 0-9 and -", maxExecutionName), "choose another name, or leave it out")
	}
}

func compare(a, b string) int { return strings.Compare(a, b) }
