// Command protogen compiles .proto files to Go with no protoc: protocompile
// reads them, and the protoc-gen-go of this module writes the Go files.
//
//	go run -C internal/tools ./protogen DIR FILE...
//
// DIR is relative to this module; each FILE is relative to DIR, imports what
// lies in DIR, and leaves its Go file beside it. Nothing is written unless all
// files compile.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: protogen DIR FILE...")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func generate(dir string, names []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return err
	}
	res, err := runPlugin(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      closure(files),
		// Without a compiler version the header of the Go files does not
		// depend on the machine.
	})
	if err != nil {
		return err
	}
	for _, f := range res.GetFile() {
		if err := os.WriteFile(filepath.Join(dir, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// closure returns files and all that they import, each after its imports.
func closure(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var list []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		list = append(list, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range files {
		add(f)
	}
	return list
}

func runPlugin(req *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "protoc-gen-go")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	res := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, res); err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	if res.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", res.GetError())
	}
	return res, nil
}
