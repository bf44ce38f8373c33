package change

import (
	"fmt"
	"slices"
	"strings"
)

// The limits of parameters: of the name and the value of one in bytes, and of how many there are.
const (
	maxParameterName  = 64
	maxParameterValue = 256
	MaxParameters     = 64
)

// Parameter is a parameter of CONFIG that clients have set for the whole cluster, and its value. The document does not know what they mean: whoever does not know one leaves it alone.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Parameters sets parameters. An empty value takes one back: it is again as each node was started.
type Parameters struct {
	// Seen is Document.ParametersAt as it was when the change was made. If it is another one now, the change is refused: it may be an old one that arrives late.
	Seen uint64      `json:"seen"`
	Set  []Parameter `json:"set"`
}

func (c *Parameters) apply(e *edit) error {
	if c.Seen != e.ParametersAt {
		return ErrParametersStale
	}
	next, err := c.To(e.Parameters)
	if err != nil {
		return err
	}
	if slices.Equal(next, e.Parameters) {
		return ErrNothing
	}
	e.Parameters, e.ParametersAt = next, e.Version
	e.note("%s", c.words())
	return nil
}

// To returns the parameters after the change, ordered by name.
func (c *Parameters) To(parameters []Parameter) ([]Parameter, error) {
	if len(c.Set) == 0 || len(c.Set) > MaxParameters {
		return nil, fmt.Errorf("%w: %d parameters are set", ErrImpossible, len(c.Set))
	}
	next := slices.Clone(parameters)
	for _, p := range c.Set {
		at, there := findParameter(next, p.Name)
		switch {
		case p.Value == "" && there:
			next = slices.Delete(next, at, at+1)
		case p.Value == "":
		case there:
			next[at] = p
		default:
			next = slices.Insert(next, at, p)
		}
	}
	return next, checkParameters(next)
}

// Parameter returns the value of a parameter, empty if nobody has set it.
func (d Document) Parameter(name string) string {
	if at, there := findParameter(d.Parameters, name); there {
		return d.Parameters[at].Value
	}
	return ""
}

func findParameter(all []Parameter, name string) (int, bool) {
	return slices.BinarySearchFunc(all, name, func(p Parameter, name string) int { return strings.Compare(p.Name, name) })
}

// words says in the history what was changed.
func (c *Parameters) words() string {
	var what []string
	for _, p := range c.Set {
		if p.Value == "" {
			what = append(what, "leaves "+p.Name+" to the nodes")
			continue
		}
		what = append(what, "sets "+p.Name+" to "+p.Value)
	}
	return strings.ToValidUTF8(strings.Join(what, ", "), "?")
}

// checkParameters reports the first thing that is wrong with parameters.
func checkParameters(all []Parameter) error {
	if len(all) > MaxParameters {
		return fmt.Errorf("%w: there would be %d parameters, of %d", ErrImpossible, len(all), MaxParameters)
	}
	for i, p := range all {
		switch {
		case i > 0 && p.Name <= all[i-1].Name:
			return fmt.Errorf("%w: parameter %q is behind parameter %q", ErrImpossible, p.Name, all[i-1].Name)
		case len(p.Name) == 0 || len(p.Name) > maxParameterName || len(p.Value) == 0 || len(p.Value) > maxParameterValue:
			return fmt.Errorf("%w: parameter %q has a value of %d bytes", ErrImpossible, p.Name, len(p.Value))
		}
	}
	return nil
}

func (w *writer) parameters(all []Parameter) {
	w.number(uint64(len(all)))
	for _, p := range all {
		w.text(p.Name)
		w.text(p.Value)
	}
}

func (r *reader) parameters() []Parameter {
	return collect(r, MaxParameters, func() Parameter {
		return Parameter{Name: r.textOf(maxParameterName), Value: r.textOf(maxParameterValue)}
	})
}
