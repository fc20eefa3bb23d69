"""A host in Python 3.11: keeps the plugins of a guest key up to date, and prints them as JSON when they change."""
import hashlib, http.client, json, os, random, re, sys, tempfile, time
from base64 import urlsafe_b64encode
from pathlib import Path
from urllib.parse import quote, urlsplit

URL = urlsplit(os.environ["TENON_URL"])
TOKEN, POINT, GUEST_KEY = (os.environ[f"TENON_{name}"] for name in ("TOKEN", "EXTENSION_POINT_ID", "GUEST_KEY"))
CACHE = Path(os.environ["TENON_CACHE_DIR"])
POINT_PATH = f"/extension-points/{quote(POINT, safe='')}"
IDLE_SECONDS, SILENCE_SECONDS, MAX_BYTES, MAX_LINE_BYTES = 10, 20, 64 * 1024 * 1024, 1024 * 1024


class ServerError(Exception):
    """A response that can't be used."""

    def __init__(self, message, retry_after=0):
        super().__init__(message)
        self.retry_after = retry_after


def get(path, idle_seconds=IDLE_SECONDS, **headers):
    """Sends a request. http.client follows no redirects, which could lead the token to another host."""
    connect = http.client.HTTPSConnection if URL.scheme == "https" else http.client.HTTPConnection
    headers = {name.replace("_", "-"): value for name, value in headers.items() if value}
    headers["authorization"] = f"Bearer {TOKEN}"
    connection = connect(URL.hostname, URL.port, timeout=idle_seconds)
    connection.request("GET", f"{URL.path.rstrip('/')}/api/v1{path}", headers=headers)
    response = connection.getresponse()
    if response.status != 200 and not (response.status == 304 and "if-none-match" in headers):
        seconds = re.fullmatch("[0-9]{1,3}", response.getheader("retry-after", ""))
        raise ServerError(f"GET {path}: {response.status} {response.reason}", int(seconds[0]) if seconds else 0)
    return response


def read_body(response):
    body = response.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES or response.length:  # `length` is what content-length promised beyond the body
        raise ServerError("a response is too large or incomplete")
    return body


def address_of(content):
    return urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_cached(name, content):
    """Writes a file whole or not at all, also if the process is killed. Without a cache the host still works."""
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=CACHE, delete=False) as file:
            file.write(content)
        os.replace(file.name, CACHE / name)
    except OSError as error:
        print(f"cache: {error}", file=sys.stderr)


def read_cached(name):
    try:
        return (CACHE / name).read_bytes()
    except OSError:
        return b""


class Host:
    def __init__(self):
        self.plugins = {}  # (content address, bytes) by name
        self.etag = self.last_event_id = None
        self.retry_seconds, self.failures = 1.0, 0
        self.list_file = "list-" + address_of("\0".join((URL.geturl(), POINT, GUEST_KEY)).encode())
        # Shows what the last run had, before the server has responded. A damaged file counts as missing.
        digest, etag, body = (read_cached(self.list_file).split(b"\n", 2) + [b"", b""])[:3]
        if digest == address_of(etag + body).encode():
            self.apply(json.loads(body), etag.decode(), is_online=False)

    def content(self, address, is_online):
        content = read_cached(address)
        if address_of(content) == address:
            return content
        content = read_body(get(f"/c/{address}")) if is_online else b""
        if address_of(content) != address:
            raise ServerError(f"the bytes of {address} are missing or wrong")
        write_cached(address, content)
        return content

    def apply(self, bindings, etag, is_online=True):
        """Loads the plugins of a list. One that fails keeps its old version, and the next request repeats the list."""
        loaded, plugins, failure = dict(self.plugins.values()), {}, None
        for name, binding in bindings.items():
            address = binding.get("contentAddress") if isinstance(binding, dict) else None
            if not re.fullmatch("[A-Za-z0-9_-]{43}", str(address)):
                continue
            try:
                loaded[address] = loaded.get(address) or self.content(address, is_online)
                plugins[name] = (address, loaded[address])
            except (ServerError, OSError, http.client.HTTPException) as error:
                failure = error
                plugins |= {name: self.plugins[name]} if name in self.plugins else {}
        self.plugins, self.etag = plugins, None if failure else etag
        if plugins or is_online:
            print(json.dumps({name: address for name, (address, _) in plugins.items()}), flush=True)
        if failure and is_online:
            raise failure

    def refresh(self):
        response = get(f"{POINT_PATH}/bindings/{quote(GUEST_KEY, safe='')}", if_none_match=self.etag)
        if response.status == 304:
            return
        body, etag = read_body(response), response.getheader("etag", "")
        if not isinstance(bindings := json.loads(body), dict):
            raise ServerError("the binding list is no object")
        write_cached(self.list_file, b"\n".join((address_of(etag.encode() + body).encode(), etag.encode(), body)))
        self.apply(bindings, etag)

    def follow(self):
        """Reads events until the stream ends: https://html.spec.whatwg.org/multipage/server-sent-events.html"""
        response = get(f"{POINT_PATH}/changes", SILENCE_SECONDS, last_event_id=self.last_event_id)
        if not response.getheader("content-type", "").startswith("text/event-stream"):
            raise ServerError("the change feed is no event stream")
        fields = {}
        while line := response.readline(MAX_LINE_BYTES).decode(errors="replace"):
            if not line.endswith("\n"):
                raise ServerError("a line of the change feed is too long or incomplete")
            if field := line.rstrip("\r\n"):
                name, _, value = field.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            if fields.get("event") in ("ready", "reset", "binding"):  # a list that has not changed costs a 304
                self.refresh()
                self.failures = 0
            self.last_event_id = fields.get("id", self.last_event_id)
            if re.fullmatch("[0-9]{1,6}", fields.get("retry", "")):
                self.retry_seconds = int(fields["retry"]) / 1000
            fields = {}

    def run(self):
        while True:
            retry_after = 0
            try:
                self.refresh()
                self.follow()
            except (ServerError, OSError, http.client.HTTPException, ValueError, RecursionError) as error:
                retry_after = getattr(error, "retry_after", 0)
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            backoff = min(self.retry_seconds * 2**min(self.failures, 10), 30) * random.uniform(0.5, 1)
            self.failures += 1
            time.sleep(max(retry_after, backoff))


Host().run()
