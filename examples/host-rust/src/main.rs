//! A host in Rust 1.63: keeps the plugins of a guest key up to date, and prints them as JSON when they change.
//! Short blocks are on one line, unlike rustfmt's.
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Read};
use std::{collections::BTreeMap, env, error::Error, fs, process, thread, time::Duration, time::SystemTime};

type Fallible<T> = Result<T, Box<dyn Error>>;
const IDLE_SECONDS: u64 = 10; // of a response without bytes
const SILENCE_SECONDS: u64 = 20; // of a stream without bytes
const MAX_BYTES: u64 = 64 << 20;
#[derive(Default)]
struct Host {
    addresses: BTreeMap<String, String>, // by name
    contents: BTreeMap<String, Vec<u8>>, // by address
    etag: String,
    last_event_id: String,
    delay_ms: u64,
    retry_after_ms: u64,
    failures: u32,
}

fn variable(name: &str) -> String { env::var(format!("TENON_{name}")).unwrap_or_else(|error| panic!("TENON_{name}: {error}")) }

/// A path of this extension point, with a percent-encoded last segment.
fn point_path(collection: &str, segment: &str) -> String {
    let encoded: String = segment.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("/extension-points/{}/{collection}{encoded}", variable("EXTENSION_POINT_ID"))
}
fn address_of(content: &[u8]) -> String { base64::encode_config(Sha256::digest(content), base64::URL_SAFE_NO_PAD) }

fn body_of(response: ureq::Response) -> Fallible<Vec<u8>> {
    let mut body = Vec::new();
    response.into_reader().take(MAX_BYTES).read_to_end(&mut body)?;
    Ok(body)
}
fn cached(name: &str) -> String { format!("{}/{name}", variable("CACHE_DIR")) }
fn list_file() -> String {
    let key = variable("URL") + &point_path("bindings/", &variable("GUEST_KEY"));
    format!("list-{}", address_of(key.as_bytes()))
}

/// Writes a file whole or not at all. Without a cache the host still works.
fn write_cached(name: &str, content: &[u8]) {
    let temporary = cached(&format!("new-{name}-{}", process::id()));
    let written = fs::create_dir_all(variable("CACHE_DIR")).and_then(|()| fs::write(&temporary, content));
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, cached(name))) { eprintln!("cache: {error}"); }
}

impl Host {
    fn get(&mut self, path: &str, idle_seconds: u64, header: &str, value: &str) -> Fallible<ureq::Response> {
        // A redirect could lead the token to another host.
        let agent = ureq::builder().redirects(0).timeout_read(Duration::from_secs(idle_seconds)).build();
        let request = agent.get(&format!("{}/api/v1{path}", variable("URL").trim_end_matches('/')));
        let request = request.set("authorization", &format!("Bearer {}", variable("TOKEN")));
        let response = match if value.is_empty() { request } else { request.set(header, value) }.call() {
            Ok(response) | Err(ureq::Error::Status(_, response)) => response,
            Err(error) => return Err(error.into()),
        };
        if response.status() == 200 || response.status() == 304 && header == "if-none-match" && !value.is_empty() { return Ok(response); }
        let retry_after: Option<u16> = response.header("retry-after").and_then(|seconds| seconds.parse().ok());
        self.retry_after_ms = u64::from(retry_after.unwrap_or(0)) * 1000;
        Err(format!("GET {path}: {} {}", response.status(), response.status_text()).into())
    }

    fn load(&mut self, address: &str, is_online: bool) -> Fallible<()> {
        let loaded = self.contents.get(address).cloned();
        let mut content = loaded.or_else(|| fs::read(cached(address)).ok()).unwrap_or_default();
        let is_cached = address_of(&content) == address;
        if !is_cached && is_online { content = body_of(self.get(&format!("/c/{address}"), IDLE_SECONDS, "", "")?)?; }
        if address_of(&content) != address { return Err(format!("the bytes of {address} are missing or wrong").into()); }
        if !is_cached { write_cached(address, &content); }
        self.contents.insert(address.to_string(), content);
        Ok(())
    }

    /// Loads the plugins of a list. One that fails keeps its version, and the next request repeats the list.
    fn apply(&mut self, etag: &str, body: &[u8], is_online: bool) -> Fallible<()> {
        let list: Value = serde_json::from_slice(body)?;
        let bindings = list.as_object().ok_or("the binding list is no object")?;
        if is_online {
            let file = [etag.as_bytes(), b"\n", body].concat();
            write_cached(&list_file(), &[address_of(&file).as_bytes(), b"\n", &file].concat());
        }
        let (mut loaded, mut result) = (BTreeMap::new(), Ok(()));
        for (name, binding) in bindings {
            let address = binding["contentAddress"].as_str().unwrap_or("");
            if address.len() != 43 || !address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) { continue; }
            match self.load(address, is_online) {
                Ok(()) => drop(loaded.insert(name.clone(), address.to_string())),
                Err(error) => {
                    result = Err(error);
                    loaded.extend(self.addresses.get(name).map(|old| (name.clone(), old.clone())));
                }
            }
        }
        self.contents.retain(|address, _| loaded.values().any(|kept| kept == address));
        self.etag = if result.is_ok() { etag.to_string() } else { String::new() };
        self.addresses = loaded;
        println!("{}", serde_json::to_string(&self.addresses)?);
        result
    }

    fn refresh(&mut self) -> Fallible<()> {
        let path = point_path("bindings/", &variable("GUEST_KEY"));
        let response = self.get(&path, IDLE_SECONDS, "if-none-match", &self.etag.clone())?;
        let (status, etag) = (response.status(), response.header("etag").unwrap_or("").to_string());
        let body = body_of(response)?;
        if status == 304 { Ok(()) } else { self.apply(&etag, &body, true) }
    }

    fn follow(&mut self) -> Fallible<()> {
        let response = self.get(&point_path("changes", ""), SILENCE_SECONDS, "last-event-id", &self.last_event_id.clone())?;
        if response.content_type() != "text/event-stream" { return Err("the change feed is no event stream".into()); }
        let mut fields = BTreeMap::new();
        for line in BufReader::new(response.into_reader().take(MAX_BYTES)).lines() { // a line could be endless
            let line = line?;
            if !line.is_empty() {
                let (name, value) = line.split_once(':').unwrap_or((&line, ""));
                fields.insert(name.to_string(), value.strip_prefix(' ').unwrap_or(value).to_string());
                continue;
            }
            if let Some("ready" | "reset" | "binding") = fields.get("event").map(String::as_str) {
                self.refresh()?; // a list that has not changed costs a 304
                self.failures = 0;
            }
            self.last_event_id = fields.remove("id").unwrap_or_else(|| self.last_event_id.clone());
            if let Some(Ok(ms)) = fields.get("retry").map(|text| text.parse::<u16>()) { self.delay_ms = ms.into(); }
            fields.clear();
        }
        Ok(())
    }
}

fn main() {
    let mut host = Host { delay_ms: 1000, ..Host::default() };
    let file = fs::read(cached(&list_file())).unwrap_or_default();
    let parts: Vec<&[u8]> = file.splitn(3, |byte| *byte == b'\n').collect();
    if parts.len() == 3 && address_of(&parts[1..].join(&b'\n')).as_bytes() == parts[0] {
        let _ = host.apply(&String::from_utf8_lossy(parts[1]), parts[2], false); // what fails is fetched
    }
    loop {
        host.refresh().and_then(|()| host.follow()).unwrap_or_else(|error| eprintln!("{error}"));
        let jitter = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_micros() % 1000);
        let backoff_ms = (host.delay_ms << host.failures.min(10)).min(30_000) * (1000 + u64::from(jitter)) / 2000;
        thread::sleep(Duration::from_millis(backoff_ms.max(host.retry_after_ms)));
        host.retry_after_ms = 0;
        host.failures += 1;
    }
}
