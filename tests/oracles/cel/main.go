// Says what the API server says of objects: the Go libraries that it is made of, as its handler of custom resources calls them when an
// object is created.
//
//	oracle CRDS [OBJECTS...]
//
// CRDS is a file of CustomResourceDefinitions, or a directory of such files; OBJECTS are files, or directories of files, of YAML
// documents, which are read from the input where none is named. Prints a line of JSON for each document: its file, its place there, and
// what is refused, with the class, the field and the message, or that its kind is not served. Classes:
//
//	unknown     a field that the schema does not have, which strict validation refuses and others drop
//	required    a field that is missing
//	value       a value by itself: type, enum, pattern, size
//	form        oneOf, anyOf, not
//	duplicate   items of a set or a map that are the same
//	rule        a rule in CEL that does not hold
//	rule-error  a rule in CEL that cannot be evaluated
//
// Rules are not asked of an object with errors of the first kinds ("blocking"); here they are, and "blocked" says so.
// Names, labels and annotations are left out: what they may be stands in no schema.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type served struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	cel        *cel.Validator
	hasStatus  bool
}

type fault struct {
	Class   string `json:"class"`
	Type    string `json:"type,omitempty"`
	Field   string `json:"field"`
	Message string `json:"message,omitempty"`
}

type answer struct {
	File     string  `json:"file"`
	Document int     `json:"document"`
	Unserved bool    `json:"unserved,omitempty"`
	Blocked  bool    `json:"blocked,omitempty"`
	Faults   []fault `json:"faults"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "oracle CRDS [OBJECTS...]")
		os.Exit(2)
	}
	kinds := map[string]served{}
	for _, path := range files(os.Args[1:2]) {
		read(path, func(_ int, text []byte) { define(kinds, path, text) })
	}
	lines := json.NewEncoder(os.Stdout)
	lines.SetEscapeHTML(false)
	tell := func(path string) func(int, []byte) {
		return func(at int, text []byte) {
			var object map[string]any
			if err := utiljson.Unmarshal(text, &object); err != nil || object == nil {
				return
			}
			said := answer{Unserved: true}
			if kind, known := kinds[fmt.Sprint(object["apiVersion"], " ", object["kind"])]; known {
				said = kind.judge(object)
			}
			said.File, said.Document = path, at
			check(lines.Encode(said))
		}
	}
	for _, path := range files(os.Args[2:]) {
		read(path, tell(path))
	}
	if len(os.Args) == 2 {
		each(os.Stdin, tell(""))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func files(paths []string) []string {
	var out []string
	for _, path := range paths {
		check(filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
				out = append(out, path)
			}
			return err
		}))
	}
	return out
}

func read(path string, call func(int, []byte)) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	each(file, call)
}

// each calls back with every document, as JSON.
func each(from io.Reader, call func(int, []byte)) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(from))
	for at := 0; ; at++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		text, err = yaml.YAMLToJSON(text)
		check(err)
		call(at, text)
	}
}

func define(kinds map[string]served, path string, text []byte) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &crd); err != nil || crd.Kind != "CustomResourceDefinition" {
		return
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served || version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		var schema apiextensions.JSONSchemaProps
		check(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &schema, nil))
		structural, err := structuralschema.NewStructural(&schema)
		if err != nil {
			check(fmt.Errorf("%s: %w", path, err))
		}
		validator, _, err := validation.NewSchemaValidator(&schema)
		check(err)
		kinds[crd.Spec.Group+"/"+version.Name+" "+crd.Spec.Names.Kind] = served{
			structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit),
			version.Subresources != nil && version.Subresources.Status != nil,
		}
	}
}

func (s served) judge(object map[string]any) answer {
	out := answer{Faults: []fault{}}
	unknown := func(fields []string) {
		for _, name := range fields {
			out.Faults = append(out.Faults, fault{Class: "unknown", Field: name})
		}
	}
	meta, _, fields, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		out.Faults = append(out.Faults, fault{Class: "value", Field: "metadata", Message: err.Error()})
		return out
	}
	unknown(fields)
	// What the handler does of a request before it is validated.
	unknown(pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}))
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	coerced, fields := objectmeta.CoerceWithOptions(nil, object, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	unknown(fields)
	if coerced != nil {
		out.Faults = append(out.Faults, fault{Class: "value", Type: string(coerced.Type), Field: coerced.Field, Message: coerced.Error()})
		return out
	}
	if meta != nil {
		check(objectmeta.SetObjectMeta(object, meta))
	}
	defaulting.Default(object, s.structural)
	if s.hasStatus {
		delete(object, "status")
	}

	ctx := context.Background()
	errs := validation.ValidateCustomResource(nil, object, s.validator)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	for _, err := range errs {
		out.Faults = append(out.Faults, fault{class(err), string(err.Type), err.Field, err.Error()})
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			out.Blocked = true
		}
	}
	rules, _ := s.cel.Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	for _, err := range rules {
		class := "rule"
		if err.Type == field.ErrorTypeInternal || strings.Contains(err.Detail, "evaluating rule:") || strings.Contains(err.Detail, "validation failed due to") {
			class = "rule-error"
		}
		out.Faults = append(out.Faults, fault{class, string(err.Type), err.Field, err.Error()})
	}
	sort.SliceStable(out.Faults, func(a, b int) bool { return out.Faults[a].Field < out.Faults[b].Field })
	return out
}

func class(err *field.Error) string {
	switch {
	case err.Type == field.ErrorTypeRequired:
		return "required"
	case err.Type == field.ErrorTypeDuplicate:
		return "duplicate"
	case strings.Contains(err.Detail, "must validate") || strings.Contains(err.Detail, "must not validate"):
		return "form"
	}
	return "value"
}
