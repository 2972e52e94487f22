// Writes a Go module's zip file as module proxies serve it: go run go_module.go FOLDER MODULE@VERSION FILE
package main

import (
	"archive/zip"
	"io/fs"
	"log"
	"os"
)

func main() {
	folder, prefix := os.DirFS(os.Args[1]), os.Args[2]
	file, err := os.Create(os.Args[3])
	must(err)
	archive := zip.NewWriter(file)
	// In the order of names, and without times: the same files give the same bytes.
	must(fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		bytes, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		writer, err := archive.CreateHeader(&zip.FileHeader{Name: prefix + "/" + path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = writer.Write(bytes)
		return err
	}))
	must(archive.Close())
	must(file.Close())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
