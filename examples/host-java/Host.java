import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.security.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import static java.nio.charset.StandardCharsets.UTF_8;
/** A host in Java 17, for UTF-8 locales: keeps the plugins of a guest key up to date, and prints them as JSON when they change. */
class Host {
    static final String BASE = env("URL").replaceAll("/+$", ""), POINT = "/extension-points/" + encode(env("EXTENSION_POINT_ID"));
    static final String LIST = POINT + "/bindings/" + encode(env("GUEST_KEY"));
    static final String LIST_FILE = "list-" + UUID.nameUUIDFromBytes((BASE + LIST).getBytes(UTF_8));
    static final int HEADER_SECONDS = 10, RESPONSE_SECONDS = 30, SILENCE_SECONDS = 20, MAX_BYTES = 64 << 20, MAX_LINE = 1 << 20;
    static final Pattern TOKEN = Pattern.compile("\\G\\s*+([\\[\\]{},:]|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|[-+.\\w]++)\\s*+");
    static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1);
    static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER).build(); // a redirect could lead the token to another host
    static Map<String, String> addresses = new HashMap<>(); // by name
    static Map<String, byte[]> contents = new HashMap<>(); // by address
    static String etag = "", lastEventId = "";
    static long delayMs = 1000, retryAfterMs = 0, failures = 0;
    static String env(String name) { return System.getenv("TENON_" + name); }
    static String encode(String segment) { return URLEncoder.encode(segment, UTF_8).replace("+", "%20"); }
    static void check(boolean isRight, String message) throws IOException { if (!isRight) throw new IOException(message); }
    static String addressOf(byte[] content) throws GeneralSecurityException {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(MessageDigest.getInstance("SHA-256").digest(content));
    }
    static HttpResponse<InputStream> get(String path, String header, String value) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(BASE + "/api/v1" + path)).timeout(Duration.ofSeconds(HEADER_SECONDS));
        if (!value.isEmpty()) request.header(header, value);
        request.header("authorization", "Bearer " + env("TOKEN"));
        var response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (response.statusCode() == 200 || response.statusCode() == 304 && header.equals("if-none-match")) return response;
        response.body().close();
        var seconds = response.headers().firstValue("retry-after").orElse("");
        retryAfterMs = seconds.matches("[0-9]{1,3}") ? Long.parseLong(seconds) * 1000 : 0;
        throw new IOException("GET " + path + ": " + response.statusCode());
    }
    static Future<?> closeAfter(int seconds, InputStream body) {
        return TIMER.schedule(() -> { body.close(); return null; }, seconds, TimeUnit.SECONDS);
    }
    static byte[] read(HttpResponse<InputStream> response) throws IOException {
        var timeout = closeAfter(RESPONSE_SECONDS, response.body());
        try (var body = response.body()) { return body.readNBytes(MAX_BYTES); } finally { timeout.cancel(false); }
    }
    static byte[] readCached(String name) {
        try { return Files.readAllBytes(Path.of(env("CACHE_DIR"), name)); } catch (IOException error) { return new byte[0]; }
    }
    /** Writes a file whole or not at all. Without a cache the host still works. */
    static void writeCached(String name, byte[] content) {
        try {
            var folder = Files.createDirectories(Path.of(env("CACHE_DIR")));
            var file = Files.write(Files.createTempFile(folder, "new-", ""), content);
            Files.move(file, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException error) { System.err.println("cache: " + error); }
    }
    static void load(String address, boolean isOnline) throws Exception {
        if (contents.containsKey(address)) return;
        var content = readCached(address);
        var isCached = addressOf(content).equals(address);
        if (!isCached && isOnline) content = read(get("/c/" + address, "", ""));
        check(addressOf(content).equals(address), "the bytes of " + address + " are missing or wrong");
        if (!isCached) writeCached(address, content);
        contents.put(address, content);
    }
    /** Loads the plugins of a list. One that fails keeps its version, and the next request repeats the list. */
    static void apply(String newEtag, String body, boolean isOnline) throws Exception {
        var token = TOKEN.matcher(body);
        var list = parse(next(token), token, 0);
        check(list instanceof Map && token.end() == body.length(), "the binding list is no object");
        var file = newEtag + "\n" + body;
        if (isOnline) writeCached(LIST_FILE, (addressOf(file.getBytes(UTF_8)) + "\n" + file).getBytes(UTF_8));
        var loaded = new TreeMap<String, String>();
        Exception failure = null;
        for (var entry : ((Map<?, ?>) list).entrySet()) {
            var name = (String) entry.getKey();
            var address = entry.getValue() instanceof Map<?, ?> binding ? String.valueOf(binding.get("contentAddress")) : "";
            if (!name.matches("[A-Za-z0-9._-]{1,100}") || !address.matches("[A-Za-z0-9_-]{43}")) continue;
            try { load(address, isOnline); } catch (Exception error) { failure = error; address = addresses.get(name); }
            if (address != null) loaded.put(name, address);
        }
        addresses = loaded;
        contents.keySet().retainAll(loaded.values());
        etag = failure == null ? newEtag : "";
        var shown = new StringJoiner(",", "{", "}");
        loaded.forEach((name, address) -> shown.add("\"%s\":\"%s\"".formatted(name, address)));
        System.out.println(shown);
        if (failure != null) throw failure;
    }
    static void refresh() throws Exception {
        var response = get(LIST, "if-none-match", etag);
        var body = new String(read(response), UTF_8);
        if (response.statusCode() == 200) apply(response.headers().firstValue("etag").orElse(""), body, true);
    }
    static String readLine(InputStream body) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next; (next = body.read()) != '\n'; line.write(next)) check(next >= 0 && line.size() < MAX_LINE, "no whole line");
        return line.toString(UTF_8).replaceAll("\r$", "");
    }
    static void follow() throws Exception {
        var response = get(POINT + "/changes", "last-event-id", lastEventId);
        try (var lines = new BufferedInputStream(response.body())) {
            check(response.headers().firstValue("content-type").orElse("").startsWith("text/event-stream"), "no event stream");
            var fields = new HashMap<String, String>();
            for (;;) {
                var silence = closeAfter(SILENCE_SECONDS, response.body());
                var line = readLine(lines);
                silence.cancel(false);
                var parts = line.split(": ?", 2);
                if (!line.isEmpty()) { fields.put(parts[0], parts.length > 1 ? parts[1] : ""); continue; }
                // A list that has not changed costs a 304.
                if (List.of("ready", "reset", "binding").contains(fields.getOrDefault("event", ""))) { refresh(); failures = 0; }
                lastEventId = fields.getOrDefault("id", lastEventId);
                if (fields.getOrDefault("retry", "").matches("[0-9]{1,6}")) delayMs = Long.parseLong(fields.get("retry"));
                fields.clear();
            }
        }
    }
    static String next(Matcher token) throws IOException { check(token.find(), "not JSON"); return token.group(1); }
    /** Reads JSON: objects as maps, strings (whose escapes other than of Unicode have no use here), and all else as null. */
    static Object parse(String first, Matcher token, int depth) throws IOException {
        check(depth < 100 && !"]},:".contains(first), "not JSON");
        if (first.startsWith("\"")) return Pattern.compile("\\\\u(\\p{XDigit}{4})").matcher(first.substring(1, first.length() - 1))
            .replaceAll(found -> Matcher.quoteReplacement("" + (char) Integer.parseInt(found.group(1), 16)));
        if (!"{[".contains(first)) return null;
        var isObject = first.equals("{");
        var members = new HashMap<Object, Object>();
        for (var text = next(token); !text.equals(isObject ? "}" : "]"); text = next(token)) {
            if (text.equals(",") && !members.isEmpty()) text = next(token);
            var key = isObject ? parse(text, token, depth + 1) : "";
            check(!isObject || key instanceof String && next(token).equals(":"), "not JSON");
            members.put(key, parse(isObject ? next(token) : text, token, depth + 1));
        }
        return isObject ? members : null;
    }
    public static void main(String[] arguments) throws Exception {
        var cached = new String(readCached(LIST_FILE), UTF_8).split("\n", 3);
        var isIntact = cached.length == 3 && cached[0].equals(addressOf((cached[1] + "\n" + cached[2]).getBytes(UTF_8)));
        try { if (isIntact) apply(cached[1], cached[2], false); } catch (Exception error) { System.err.println("cache: " + error); }
        for (;; failures++) {
            try { refresh(); follow(); } catch (Exception error) { System.err.println(error); }
            var backoffMs = Math.min(delayMs * Math.pow(2, failures), 30_000) * ThreadLocalRandom.current().nextDouble(0.5, 1);
            Thread.sleep(Math.max(retryAfterMs, (long) backoffMs));
            retryAfterMs = 0;
        }
    }
}
