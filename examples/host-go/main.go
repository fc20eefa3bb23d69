// A host in Go 1.19: it keeps the plugins of a guest key up to date, and prints them as JSON when they change.
// Its functions panic with errors, which attempt returns. Short blocks are on one line, unlike gofmt's.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const headerTime, responseTime, silenceTime, maxBytes = 10 * time.Second, 30 * time.Second, 20 * time.Second, 64 << 20
var (
	base, token, cache = strings.TrimRight(os.Getenv("TENON_URL"), "/"), os.Getenv("TENON_TOKEN"), os.Getenv("TENON_CACHE_DIR")
	point              = "/extension-points/" + url.PathEscape(os.Getenv("TENON_EXTENSION_POINT_ID"))
	listPath           = point + "/bindings/" + url.PathEscape(os.Getenv("TENON_GUEST_KEY"))
	listFile           = "list-" + addressOf(base+listPath)
	plugins, contents  = map[string]string{}, map[string]string{} // addresses by name, bytes by address
	etag, lastEventID  = "", ""
	delay, retryAfter, failures = time.Second, time.Duration(0), 0.0
	transport          = &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: headerTime}
)

func must[T any](value T, err error) T { if err != nil { panic(err) }; return value }

func attempt(work func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	work()
	return nil
}

// get sends a request. A RoundTripper follows no redirects, which could lead the token to another host.
func get(path, header, value string) *http.Response {
	request := must(http.NewRequest("GET", base+"/api/v1"+path, nil))
	request.Header.Set("authorization", "Bearer "+token)
	if value != "" { request.Header.Set(header, value) }
	response := must(transport.RoundTrip(request))
	if response.StatusCode != 200 && (response.StatusCode != 304 || request.Header.Get("if-none-match") == "") {
		response.Body.Close()
		seconds, _ := strconv.ParseUint(response.Header.Get("retry-after"), 10, 9) // 511 at most
		retryAfter = time.Duration(seconds) * time.Second
		panic(fmt.Errorf("GET %s: %s", path, response.Status))
	}
	return response
}

func bodyOf(response *http.Response) string {
	defer response.Body.Close()
	defer time.AfterFunc(responseTime, func() { response.Body.Close() }).Stop()
	return string(must(io.ReadAll(io.LimitReader(response.Body, maxBytes))))
}

func addressOf(content string) string {
	digest := sha256.Sum256([]byte(content))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// writeCached writes a file whole or not at all. Without a cache the host still works.
func writeCached(name, content string) {
	err := attempt(func() {
		must(0, os.MkdirAll(cache, 0o700))
		temporary := fmt.Sprintf("%s/%s.%d", cache, name, os.Getpid())
		must(0, os.WriteFile(temporary, []byte(content), 0o600))
		must(0, os.Rename(temporary, cache+"/"+name))
	})
	if err != nil { fmt.Fprintln(os.Stderr, "cache:", err) }
}

func loadContent(address string, isOnline bool) {
	if contents[address] != "" { return }
	cached, _ := os.ReadFile(cache + "/" + address)
	content := string(cached)
	if addressOf(content) != address && isOnline {
		content = bodyOf(get("/c/"+address, "", ""))
		if addressOf(content) == address { writeCached(address, content) }
	}
	if addressOf(content) != address { panic(fmt.Errorf("the bytes of %s are missing or wrong", address)) }
	contents[address] = content
}

// apply loads the plugins of a list. One that fails keeps its version, and the next request repeats the list.
func apply(newEtag, body string, isOnline bool) {
	var bindings map[string]json.RawMessage
	must(0, json.Unmarshal([]byte(body), &bindings))
	if bindings == nil { panic(fmt.Errorf("the binding list is null")) }
	if isOnline { writeCached(listFile, addressOf(newEtag+body)+"\n"+newEtag+"\n"+body) }
	loaded, kept, failure := map[string]string{}, map[string]string{}, error(nil)
	for name, raw := range bindings {
		var binding struct{ ContentAddress string }
		json.Unmarshal(raw, &binding) // an entry of another form has no address
		address := binding.ContentAddress
		if digest, _ := base64.RawURLEncoding.DecodeString(address); len(digest) != sha256.Size { continue }
		if err := attempt(func() { loadContent(address, isOnline) }); err != nil {
			failure, newEtag, address = err, "", plugins[name]
		}
		if address != "" { loaded[name], kept[address] = address, contents[address] }
	}
	plugins, contents, etag = loaded, kept, newEtag
	fmt.Println(string(must(json.Marshal(plugins))))
	must(0, failure)
}

func refresh() {
	response := get(listPath, "if-none-match", etag)
	if body := bodyOf(response); response.StatusCode == 200 { apply(response.Header.Get("etag"), body, true) }
}

func follow() {
	response := get(point+"/changes", "last-event-id", lastEventID)
	defer response.Body.Close()
	if !strings.HasPrefix(response.Header.Get("content-type"), "text/event-stream") { panic(fmt.Errorf("no event stream")) }
	silence := time.AfterFunc(silenceTime, func() { response.Body.Close() })
	fields, lines := map[string]string{}, bufio.NewScanner(response.Body)
	for ; lines.Scan(); silence.Reset(silenceTime) {
		if name, value, _ := strings.Cut(lines.Text(), ":"); lines.Text() != "" {
			fields[name] = strings.TrimPrefix(value, " ")
			continue
		}
		event := fields["event"]
		if event == "ready" || event == "reset" || event == "binding" { refresh(); failures = 0 } // 304 if it has not changed
		if id, isSent := fields["id"]; isSent { lastEventID = id }
		if ms, err := strconv.ParseUint(fields["retry"], 10, 16); err == nil { delay = time.Duration(ms) * time.Millisecond }
		fields = map[string]string{}
	}
	must(0, lines.Err())
}

func main() {
	cached, _ := os.ReadFile(cache + "/" + listFile)
	if parts := strings.SplitN(string(cached), "\n", 3); len(parts) == 3 && parts[0] == addressOf(parts[1]+parts[2]) {
		attempt(func() { apply(parts[1], parts[2], false) })
	}
	for rand.Seed(time.Now().UnixNano()); ; failures++ {
		if err := attempt(func() { refresh(); follow() }); err != nil { fmt.Fprintln(os.Stderr, err) }
		backoff := time.Duration(math.Min(float64(delay)*math.Pow(2, failures), 30e9) * (0.5 + rand.Float64()/2))
		if backoff < retryAfter { backoff = retryAfter }
		time.Sleep(backoff)
		retryAfter = 0
	}
}
