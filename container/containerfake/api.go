package containerfake

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

// apiVersion is the version of the Docker Engine API that the handler speaks.
const apiVersion = "1.50"

// Handler serves the engine as the Docker Engine API, as far as package
// container/docker uses it, for real clients on a socket.
func (f *Fake) Handler() http.Handler {
	mux := http.NewServeMux()
	a := api{f}
	mux.HandleFunc("/_ping", a.ping)
	mux.HandleFunc("GET /info", a.info)
	mux.HandleFunc("GET /version", a.version)
	mux.HandleFunc("GET /images/{name...}", a.image)
	mux.HandleFunc("POST /images/create", a.pull)
	mux.HandleFunc("GET /volumes/{name}", a.volume)
	mux.HandleFunc("POST /volumes/create", a.createVolume)
	mux.HandleFunc("DELETE /volumes/{name}", a.removeVolume)
	mux.HandleFunc("GET /containers/json", a.list)
	mux.HandleFunc("POST /containers/create", a.create)
	mux.HandleFunc("GET /containers/{name}/json", a.inspect)
	mux.HandleFunc("POST /containers/{name}/start", a.start)
	mux.HandleFunc("POST /containers/{name}/stop", a.stop)
	mux.HandleFunc("DELETE /containers/{name}", a.remove)
	mux.HandleFunc("GET /containers/{name}/archive", a.archive)
	mux.HandleFunc("GET /containers/{name}/logs", a.logs)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Paths begin with the version that client and engine agreed on.
		if version, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/"); ok && strings.HasPrefix(r.URL.Path, "/v1.") && version != "" {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = "/"+rest, ""
		}
		mux.ServeHTTP(w, r)
	})
}

type api struct{ fake *Fake }

// answer writes a result, or an error with the status that engines have for it.
func answer(w http.ResponseWriter, status int, result any, err error) {
	if err != nil {
		status = http.StatusInternalServerError
		message := err.Error()
		var refused *container.Error
		if errors.As(err, &refused) {
			message = refused.Err.Error()
		}
		switch {
		case errors.Is(err, planewright.ErrNotFound):
			status = http.StatusNotFound
		case errors.Is(err, planewright.ErrAlreadyExists), errors.Is(err, planewright.ErrConflict) && !strings.Contains(message, "port is already allocated"):
			status = http.StatusConflict
		case errors.Is(err, planewright.ErrInvalid):
			status = http.StatusBadRequest
		case errors.Is(err, planewright.ErrDenied):
			status = http.StatusForbidden
		case errors.Is(err, planewright.ErrUnavailable):
			status = http.StatusServiceUnavailable
		}
		result = map[string]any{"message": message}
	}
	if result == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(result)
}

func (a api) ping(w http.ResponseWriter, _ *http.Request) {
	if a.fake.missing != nil {
		answer(w, 0, nil, a.fake.missing)
		return
	}
	w.Header().Set("API-Version", apiVersion)
	w.Header().Set("OSType", a.fake.info.OS)
}

func (a api) info(w http.ResponseWriter, r *http.Request) {
	info, err := a.fake.Info(r.Context())
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[info.Architecture]
	answer(w, http.StatusOK, map[string]any{"OSType": info.OS, "Architecture": machine, "NCPU": info.CPUs, "MemTotal": info.Memory}, err)
}

func (a api) version(w http.ResponseWriter, _ *http.Request) {
	component := map[string]string{"docker": "Engine", "podman": "Podman Engine"}[a.fake.info.Name]
	answer(w, http.StatusOK, map[string]any{"Version": a.fake.info.Version, "ApiVersion": apiVersion, "Os": a.fake.info.OS, "Arch": a.fake.info.Architecture,
		"Components": []any{map[string]any{"Name": component, "Version": a.fake.info.Version}}}, nil)
}

func (a api) image(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("name"), "/json")
	has, err := a.fake.HasImage(r.Context(), name)
	if err == nil && !has {
		err = refused("describe", "image "+name, planewright.ErrNotFound, "No such image: %s", name)
	}
	answer(w, http.StatusOK, map[string]any{"Id": "sha256:" + strings.Repeat("0", 64), "RepoTags": []string{name}}, err)
}

// pull reports what went wrong in the stream: an engine has begun to answer by then.
func (a api) pull(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	separator := ":"
	if strings.Contains(q.Get("tag"), ":") {
		separator = "@"
	}
	reference := q.Get("fromImage") + separator + q.Get("tag")
	w.Header().Set("Content-Type", "application/json")
	stream := json.NewEncoder(w)
	_ = stream.Encode(map[string]any{"status": "Pulling from " + q.Get("fromImage"), "id": ""})
	err := a.fake.Pull(r.Context(), reference, func(line string) {
		status := "Downloading"
		if strings.HasPrefix(line, "1") {
			status = "Pull complete"
		}
		_ = stream.Encode(map[string]any{"status": status, "id": "3f4d90098f5b"})
	})
	if err != nil {
		message := err.Error()
		var refused *container.Error
		if errors.As(err, &refused) {
			message = refused.Err.Error()
		}
		_ = stream.Encode(map[string]any{"error": message, "errorDetail": map[string]any{"message": message}})
	}
}

func (a api) volume(w http.ResponseWriter, r *http.Request) {
	volume, err := a.fake.Volume(r.Context(), r.PathValue("name"))
	answer(w, http.StatusOK, map[string]any{"Name": volume.Name, "Labels": volume.Labels, "Driver": "local"}, err)
}

func (a api) createVolume(w http.ResponseWriter, r *http.Request) {
	var volume container.Volume
	err := json.NewDecoder(r.Body).Decode(&volume)
	if err == nil {
		err = a.fake.CreateVolume(r.Context(), volume)
	}
	answer(w, http.StatusCreated, map[string]any{"Name": volume.Name, "Labels": volume.Labels, "Driver": "local"}, err)
}

func (a api) removeVolume(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, a.fake.RemoveVolume(r.Context(), r.PathValue("name")))
}

func (a api) list(w http.ResponseWriter, r *http.Request) {
	list, err := a.fake.List(r.Context())
	items := []any{}
	for _, c := range list {
		ports := []any{}
		for _, p := range c.Ports {
			ports = append(ports, map[string]any{"IP": p.Address, "PrivatePort": p.Container, "PublicPort": p.Host, "Type": "tcp"})
		}
		items = append(items, map[string]any{"Id": c.ID, "Names": []string{"/" + c.Name}, "Image": c.Image, "Labels": c.Labels, "State": c.State, "Ports": ports})
	}
	answer(w, http.StatusOK, items, err)
}

// bind is where a port is published, as the API has it.
type bind struct {
	HostIp, HostPort string //nolint:revive // the API's spelling
}

// creation is the body of a request to make a container.
type creation struct {
	Image      string
	Env        []string
	Labels     map[string]string
	HostConfig struct {
		Mounts []struct {
			Type, Source, Target string
		}
		PortBindings map[string][]bind
		Privileged   bool
		ExtraHosts   []string
	}
}

func (a api) create(w http.ResponseWriter, r *http.Request) {
	var body creation
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answer(w, 0, nil, refused("create", "container", planewright.ErrInvalid, "%v", err))
		return
	}
	spec := container.Spec{Name: r.URL.Query().Get("name"), Image: body.Image, Environment: body.Env, Labels: body.Labels,
		Privileged: body.HostConfig.Privileged, Hosts: body.HostConfig.ExtraHosts}
	for port, binds := range body.HostConfig.PortBindings {
		number, _, _ := strings.Cut(port, "/")
		inside, _ := strconv.Atoi(number)
		for _, b := range binds {
			outside, _ := strconv.Atoi(b.HostPort)
			spec.Ports = append(spec.Ports, container.Port{Address: b.HostIp, Host: outside, Container: inside})
		}
	}
	for _, m := range body.HostConfig.Mounts {
		if m.Type == "volume" {
			spec.Mounts = append(spec.Mounts, container.Mount{Volume: m.Source, Target: m.Target})
		} else {
			spec.Mounts = append(spec.Mounts, container.Mount{Folder: m.Source, Target: m.Target})
		}
	}
	answer(w, http.StatusCreated, map[string]any{"Id": "0", "Warnings": []string{}}, a.fake.Create(r.Context(), spec))
}

func (a api) inspect(w http.ResponseWriter, r *http.Request) {
	c, err := a.fake.Container(r.Context(), r.PathValue("name"))
	binds := map[string][]bind{}
	for _, p := range c.Ports {
		key := strconv.Itoa(p.Container) + "/tcp"
		binds[key] = append(binds[key], bind{p.Address, strconv.Itoa(p.Host)})
	}
	mounts := []any{}
	for _, m := range c.Mounts {
		if m.Volume != "" {
			mounts = append(mounts, map[string]any{"Type": "volume", "Name": m.Volume, "Source": "/var/lib/docker/volumes/" + m.Volume, "Destination": m.Target})
		} else {
			mounts = append(mounts, map[string]any{"Type": "bind", "Source": m.Folder, "Destination": m.Target})
		}
	}
	answer(w, http.StatusOK, map[string]any{
		"Id": c.ID, "Name": "/" + c.Name,
		"State":      map[string]any{"Status": c.State, "ExitCode": c.ExitCode, "Error": c.Problem},
		"Config":     map[string]any{"Image": c.Image, "Env": c.Environment, "Labels": c.Labels},
		"HostConfig": map[string]any{"Privileged": c.Privileged, "ExtraHosts": c.Hosts, "PortBindings": binds},
		"Mounts":     mounts,
	}, err)
}

func (a api) start(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, a.fake.Start(r.Context(), r.PathValue("name")))
}

func (a api) stop(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, a.fake.Stop(r.Context(), r.PathValue("name")))
}

func (a api) remove(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, a.fake.Remove(r.Context(), r.PathValue("name")))
}

func (a api) archive(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	data, err := a.fake.ReadFile(r.Context(), r.PathValue("name"), path)
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	name := path[strings.LastIndex(path, "/")+1:]
	stat, _ := json.Marshal(map[string]any{"name": name, "size": len(data), "mode": 0o600, "mtime": "2026-01-01T00:00:00Z", "linkTarget": ""})
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(stat))
	w.Header().Set("Content-Type", "application/x-tar")
	archive := tar.NewWriter(w)
	_ = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg})
	_, _ = archive.Write(data)
	_ = archive.Close()
}

// logs writes lines as engines do: behind a header with the stream and the length.
func (a api) logs(w http.ResponseWriter, r *http.Request) {
	lines, err := strconv.Atoi(r.URL.Query().Get("tail"))
	if err != nil {
		lines = 1 << 20
	}
	text, err := a.fake.Logs(r.Context(), r.PathValue("name"), lines)
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.docker.multiplexed-stream")
	for line := range strings.SplitSeq(text, "\n") {
		if text == "" {
			break
		}
		var frame bytes.Buffer
		frame.Write([]byte{1, 0, 0, 0})
		_ = binary.Write(&frame, binary.BigEndian, uint32(len(line)+1)) //nolint:gosec // a line is short
		frame.WriteString(line + "\n")
		_, _ = io.Copy(w, &frame)
	}
}
