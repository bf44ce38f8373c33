package config

import "strings"

// listType is the type of flags that take a list: in the file it may also be a sequence.
const listType = "list"

// listValue is a list of texts as a flag, separated by commas. Spaces and line ends
// around entries do not matter. A flag that is given again adds to the list.
type listValue struct {
	list  *[]string
	given bool
}

func (v *listValue) Set(text string) error {
	if !v.given {
		*v.list, v.given = nil, true
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		*v.list = append(*v.list, strings.TrimSpace(entry))
	}
	return nil
}

func (v *listValue) String() string {
	if v.list == nil { // pflag's zero value
		return ""
	}
	return strings.Join(*v.list, ",")
}

func (v *listValue) Type() string { return listType }
