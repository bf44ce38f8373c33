package rdb

import "fmt"

// foreign returns what a value is that cannot be read, "" for all others. body begins with its type.
func foreign(body []byte) string {
	switch body[0] {
	case typeModule, typeModule2:
		return moduleName(body[1:])
	case typeHashMetadata, typeHashMetadataPreview, typeHashListpackEx, typeHashListpackExPreview:
		return "hash whose fields expire"
	}
	return ""
}

// moduleName returns the name of the type of a module's value, which its number is made of: nine letters of six bits each, and ten bits of a version.
func moduleName(body []byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	n, _, err := (&reader{data: body}).head()
	if err != nil {
		return "value of a module"
	}
	var name [9]byte
	for i := range name {
		name[i] = letters[n>>(58-6*i)&0x3f]
	}
	return fmt.Sprintf("value of a module, %s", name[:])
}
