package adminfake

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planewright/planewright/flyte/admin"
)

// row is one row of a list: its message, and its columns for filters and order,
// each an int or a string.
type row struct {
	message fields
	columns map[string]any
}

// listing is what a call that lists takes: limit, token, filters, sort_by.
type listing struct {
	call, entity string
	// unlimited says that no limit means no limit; else it is an error.
	unlimited bool
}

// page filters, sorts and cuts the rows. Tokens are offsets, and a page that is
// full has one, whether anything follows or not.
func (l listing) page(r *request, rows []row) (page []any, token string, err error) {
	limit, err := strconv.ParseUint(cmp.Or(r.query.Get("limit"), "0"), 10, 32)
	if err != nil {
		return nil, "", invalid("parsing field %q: %v", "limit", err)
	}
	if limit == 0 && !l.unlimited {
		return nil, "", invalid("invalid value for limit")
	}
	if rows, err = l.filter(rows, r.query.Get("filters")); err != nil {
		return nil, "", err
	}
	key := r.parameter(field{name: "sort_by.key"})
	if key == "" {
		key = r.query.Get("sortBy.key")
	}
	if key != "" {
		if err := l.sort(rows, key, cmp.Or(r.query.Get("sort_by.direction"), r.query.Get("sortBy.direction"))); err != nil {
			return nil, "", err
		}
	}
	offset, err := strconv.Atoi(cmp.Or(r.query.Get("token"), "0"))
	if err != nil || offset < 0 {
		return nil, "", invalid("invalid pagination token %s for %s", r.query.Get("token"), l.call)
	}
	rows = rows[min(offset, len(rows)):]
	if limit > 0 && uint64(len(rows)) > limit {
		rows = rows[:limit]
	}
	page = make([]any, len(rows))
	for i, o := range rows {
		page[i] = o.message
	}
	if uint64(len(page)) == limit {
		token = strconv.Itoa(offset + len(page))
	}
	return page, token, nil
}

func (l listing) sort(rows []row, key, direction string) error {
	for _, o := range rows {
		if _, ok := o.columns[key]; !ok {
			return invalid("invalid sort key '%s'", key)
		}
	}
	descending, ok := enumValue([]string{"DESCENDING", "ASCENDING"}, cmp.Or(direction, "0"))
	if !ok {
		return invalid("parsing field %q: %q is not a valid value", "direction", direction)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		order := compare(a.columns[key], b.columns[key])
		if descending == "DESCENDING" {
			return -order
		}
		return order
	})
	return nil
}

// filter keeps the rows that all filters keep: "eq(phase,RUNNING)+ne(state,1)".
func (l listing) filter(rows []row, filters string) ([]row, error) {
	if filters == "" {
		return rows, nil
	}
	form := regexp.MustCompile(`^(.+)\((.+),\s?(.+)\)$`)
	for filter := range strings.SplitSeq(filters, "+") {
		parts := form.FindStringSubmatch(filter)
		if parts == nil {
			return nil, invalid("invalid value for filters")
		}
		function, column, values := parts[1], strings.TrimPrefix(parts[2], l.entity+"."), strings.Split(parts[3], ";")
		if err := checkFunction(function, len(values)); err != nil {
			return nil, err
		}
		kept := []row{}
		for _, o := range rows {
			value, ok := o.columns[column]
			if !ok {
				return nil, invalid("'%s.%s' is invalid filter", l.entity[:1], column)
			}
			if holds(function, value, values) {
				kept = append(kept, o)
			}
		}
		rows = kept
	}
	return rows, nil
}

func checkFunction(function string, values int) error {
	switch function {
	case "value_in", "value_not_in":
		return nil
	case "eq", "ne", "gt", "gte", "lt", "lte", "contains":
		if values > 1 {
			return statusf(admin.CodeUnknown, "failed database operation with operator does not exist: text = record")
		}
		return nil
	}
	return invalid("unrecognized filter function: %s", function)
}

func holds(function string, value any, given []string) bool {
	if function == "contains" {
		return strings.Contains(fmt.Sprint(value), given[0])
	}
	order := func(text string) int {
		if _, isNumber := value.(int); isNumber {
			if n, err := strconv.Atoi(text); err == nil {
				return compare(value, n)
			}
		}
		return compare(fmt.Sprint(value), text)
	}
	switch function {
	case "value_in", "eq":
		return slices.ContainsFunc(given, func(text string) bool { return order(text) == 0 })
	case "value_not_in", "ne":
		return !slices.ContainsFunc(given, func(text string) bool { return order(text) == 0 })
	case "gt":
		return order(given[0]) > 0
	case "gte":
		return order(given[0]) >= 0
	case "lt":
		return order(given[0]) < 0
	default:
		return order(given[0]) <= 0
	}
}

func compare(a, b any) int {
	m, ok := a.(int)
	n, ok2 := b.(int)
	if ok && ok2 {
		return cmp.Compare(m, n)
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// mentionsState reports whether a filter is about the state of executions.
func mentionsState(filters string) bool {
	return strings.Contains(filters, "(state,") || strings.Contains(filters, "(execution.state,")
}
