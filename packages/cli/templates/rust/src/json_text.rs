//! The text of JSON, and base64.

use crate::json::{unexpected, Bytes, Json, Mistake, Value};

const MAX_DEPTH: usize = 200;

pub struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

pub fn parse(text: &str) -> Result<Json, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let json = parser.value()?;
    parser.next();
    if parser.at < text.len() { parser.invalid() } else { Ok(json) }
}

impl<'a> Parser<'a> {
    fn invalid<T>(&self) -> Result<T, String> {
        Err(format!("input: invalid JSON at byte {}", self.at))
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// The next byte that is not white space; 0 at the end.
    fn next(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.byte()
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.next() {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(format!("input: nested more than {} deep", MAX_DEPTH));
                }
                let value = if self.skip("{") { self.object() } else { self.list() };
                self.depth -= 1;
                value
            }
            b'"' => Ok(Json::String(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.skip("true") => Ok(Json::Boolean(true)),
            _ if self.skip("false") => Ok(Json::Boolean(false)),
            _ if self.skip("null") => Ok(Json::Null),
            _ => self.invalid(),
        }
    }

    /// Whether another element follows the ones that are read.
    fn has_more(&mut self, is_first: bool, close: &str) -> Result<bool, String> {
        self.next();
        if self.skip(close) {
            return Ok(false);
        }
        if is_first || self.skip(",") { Ok(true) } else { self.invalid() }
    }

    fn list(&mut self) -> Result<Json, String> {
        self.skip("[");
        let mut items = Vec::new();
        while self.has_more(items.is_empty(), "]")? {
            items.push(self.value()?);
        }
        Ok(Json::List(items))
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut fields = Vec::new();
        while self.has_more(fields.is_empty(), "}")? {
            if self.next() != b'"' {
                return self.invalid();
            }
            let name = self.string()?;
            self.next();
            if !self.skip(":") {
                return self.invalid();
            }
            fields.push((name, self.value()?));
        }
        Ok(Json::Object(fields))
    }

    fn digits(&mut self) -> Result<(), String> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.invalid() } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        self.skip("-");
        if !self.skip("0") {
            self.digits()?;
        }
        if self.skip(".") {
            self.digits()?;
        }
        if self.skip("e") || self.skip("E") {
            let _ = self.skip("+") || self.skip("-");
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].to_string()))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut text = String::new();
        let mut from = self.at;
        loop {
            match self.byte() {
                b'"' => break,
                b'\\' => {
                    text.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    text.push(self.escaped()?);
                    from = self.at;
                }
                0..=31 => return self.invalid(),
                _ => self.at += 1,
            }
        }
        text.push_str(&self.text[from..self.at]);
        self.at += 1;
        Ok(text)
    }

    fn escaped(&mut self) -> Result<char, String> {
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                if (0xd800..0xdc00).contains(&unit) && self.skip("\\u") {
                    let start = self.at;
                    let low = self.unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        return Ok(char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).unwrap_or('\u{fffd}'));
                    }
                    self.at = start - 2;
                }
                char::from_u32(unit).unwrap_or('\u{fffd}')
            }
            _ => return self.invalid(),
        })
    }

    fn unit(&mut self) -> Result<u32, String> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or(b"");
        let mut unit = 0;
        for digit in digits {
            match (*digit as char).to_digit(16) {
                Some(value) => unit = unit << 4 | value,
                None => return self.invalid(),
            }
        }
        self.at += 4;
        if digits.is_empty() { self.invalid() } else { Ok(unit) }
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Value for Bytes {
    fn read(json: &Json) -> Result<Self, Mistake> {
        let text = match json {
            Json::String(text) => text.trim_end_matches('='),
            _ => return unexpected("a string", json),
        };
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
        let mut bits = 0u32;
        for (at, byte) in text.bytes().enumerate() {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return Err(Mistake::new("expected base64".to_string())),
            };
            bits = bits << 6 | digit as u32;
            if at % 4 > 0 {
                bytes.push((bits >> (6 - 2 * (at % 4))) as u8);
            }
        }
        if text.len() % 4 == 1 { Err(Mistake::new("expected base64".to_string())) } else { Ok(Bytes(bytes)) }
    }

    fn write(&self, to: &mut String) -> Result<(), String> {
        to.push('"');
        for chunk in self.0.chunks(3) {
            let mut three = [0; 3];
            three[..chunk.len()].copy_from_slice(chunk);
            let bits = (three[0] as u32) << 16 | (three[1] as u32) << 8 | three[2] as u32;
            for part in 0..4 {
                let digit = ALPHABET[(bits >> (18 - 6 * part) & 63) as usize];
                to.push(if part > chunk.len() { '=' } else { digit as char });
            }
        }
        to.push('"');
        Ok(())
    }
}
