//! JSON, for the bindings. A mistake in a value is an error with the path to it, such as `input.address.zip`.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Write;

/// Any JSON value. Numbers keep their digits, so that none loses precision.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Default for Json {
    fn default() -> Self {
        Json::Null
    }
}

/// Bytes, which are base64 in JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bytes(pub Vec<u8>);

/// What is wrong with a value, and where.
pub struct Mistake {
    path: String,
    words: String,
}

impl Mistake {
    pub fn new(words: String) -> Self {
        Mistake { path: String::new(), words }
    }

    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

impl From<Mistake> for String {
    fn from(mistake: Mistake) -> String {
        format!("input{}: {}", mistake.path, mistake.words)
    }
}

/// A value that JSON can hold.
pub trait Value: Sized {
    fn read(json: &Json) -> Result<Self, Mistake>;
    fn write(&self, to: &mut String) -> Result<(), String>;
}

pub fn from_bytes<T: Value>(bytes: Vec<u8>) -> Result<T, String> {
    let json = crate::json_text::parse(&crate::extism::text(bytes)?)?;
    Ok(T::read(&json)?)
}

pub fn to_bytes<T: Value>(value: &T) -> Result<Vec<u8>, String> {
    let mut text = String::new();
    value.write(&mut text).map_err(|words| format!("output: {}", words))?;
    Ok(text.into_bytes())
}

fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Boolean(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::List(_) => "a list",
        Json::Object(_) => "an object",
    }
}

pub fn unexpected<T>(expected: &str, json: &Json) -> Result<T, Mistake> {
    Err(Mistake::new(format!("expected {}, found {}", expected, kind(json))))
}

pub fn field<T: Value>(json: &Json, name: &str) -> Result<T, Mistake> {
    match find(json, name)? {
        Some(value) => T::read(value).map_err(|mistake| mistake.within(&format!(".{}", name))),
        None => Err(Mistake::new("is missing".to_string()).within(&format!(".{}", name))),
    }
}

pub fn optional<T: Value>(json: &Json, name: &str) -> Result<Option<T>, Mistake> {
    match find(json, name)? {
        Some(_) => field(json, name),
        None => Ok(None),
    }
}

fn find<'a>(json: &'a Json, name: &str) -> Result<Option<&'a Json>, Mistake> {
    match json {
        Json::Object(fields) => Ok(fields.iter().rev().find(|field| field.0 == name).map(|field| &field.1)),
        _ => unexpected("an object", json),
    }
}

/// Writes an object's fields, one after the other.
pub fn write_field<T: Value>(to: &mut String, name: &str, value: &T) -> Result<(), String> {
    if !to.ends_with('{') {
        to.push(',');
    }
    write_text(to, name);
    to.push(':');
    value.write(to)
}

pub fn enum_text<'a>(json: &'a Json) -> Result<&'a str, Mistake> {
    match json {
        Json::String(text) => Ok(text),
        _ => unexpected("a string", json),
    }
}

pub fn not_one_of<T>(names: &[&str], text: &str) -> Result<T, Mistake> {
    Err(Mistake::new(format!("expected one of {}, found {:?}", names.join(", "), text)))
}

pub fn write_text(to: &mut String, text: &str) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => to.extend(['\\', character]),
            '\0'..='\x1f' => write!(to, "\\u{:04x}", character as u32).unwrap(),
            _ => to.push(character),
        }
    }
    to.push('"');
}

impl Value for String {
    fn read(json: &Json) -> Result<Self, Mistake> {
        Ok(enum_text(json)?.to_string())
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        write_text(to, self);
        Ok(())
    }
}

impl Value for bool {
    fn read(json: &Json) -> Result<Self, Mistake> {
        match json {
            Json::Boolean(value) => Ok(*value),
            _ => unexpected("a boolean", json),
        }
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        to.push_str(if *self { "true" } else { "false" });
        Ok(())
    }
}

fn digits(json: &Json) -> Result<&str, Mistake> {
    match json {
        Json::Number(digits) => Ok(digits),
        _ => unexpected("a number", json),
    }
}

macro_rules! integer {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn read(json: &Json) -> Result<Self, Mistake> {
                let digits = digits(json)?;
                let out_of_range = || Mistake::new(format!("{} is out of range", digits));
                if digits.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                    // An integer with a fraction or an exponent, such as 1.0 or 1e3.
                    let whole: f64 = digits.parse().map_err(|_| out_of_range())?;
                    if whole != whole.floor() {
                        return Err(Mistake::new(format!("expected an integer, found {}", digits)));
                    }
                    let fits = whole.abs() <= 9007199254740991.0;
                    return if fits { <$type>::try_from(whole as i64).map_err(|_| out_of_range()) } else { Err(out_of_range()) };
                }
                digits.parse().or_else(|_| if digits == "-0" { Ok(0) } else { Err(out_of_range()) })
            }
            fn write(&self, to: &mut String) -> Result<(), String> {
                write!(to, "{}", self).map_err(|error| error.to_string())
            }
        }
    )*};
}
integer!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn read(json: &Json) -> Result<Self, Mistake> {
                let digits = digits(json)?;
                match digits.parse::<$type>() {
                    Ok(value) if value.is_finite() => Ok(value),
                    _ => Err(Mistake::new(format!("{} is out of range", digits))),
                }
            }
            fn write(&self, to: &mut String) -> Result<(), String> {
                if !self.is_finite() {
                    return Err(format!("{} can't be represented in JSON", self));
                }
                let is_plain = *self == 0.0 || (1e-6..1e21).contains(&self.abs());
                if is_plain { write!(to, "{}", self) } else { write!(to, "{:e}", self) }.map_err(|error| error.to_string())
            }
        }
    )*};
}
number!(f32 f64);

impl<T: Value> Value for Option<T> {
    fn read(json: &Json) -> Result<Self, Mistake> {
        if *json == Json::Null { Ok(None) } else { T::read(json).map(Some) }
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        match self {
            Some(value) => value.write(to),
            None => Json::Null.write(to),
        }
    }
}

impl<T: Value> Value for Box<T> {
    fn read(json: &Json) -> Result<Self, Mistake> {
        T::read(json).map(Box::new)
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        (**self).write(to)
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(json: &Json) -> Result<Self, Mistake> {
        match json {
            Json::List(items) => {
                let read = |(at, item)| T::read(item).map_err(|mistake| mistake.within(&format!("[{}]", at)));
                items.iter().enumerate().map(read).collect()
            }
            _ => unexpected("a list", json),
        }
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        to.push('[');
        for (at, item) in self.iter().enumerate() {
            if at > 0 {
                to.push(',');
            }
            item.write(to)?;
        }
        to.push(']');
        Ok(())
    }
}

impl<T: Value> Value for BTreeMap<String, T> {
    fn read(json: &Json) -> Result<Self, Mistake> {
        match json {
            Json::Object(fields) => {
                let read = |(name, value): &(String, Json)| {
                    let value = T::read(value).map_err(|mistake| mistake.within(&format!(".{}", name)))?;
                    Ok((name.clone(), value))
                };
                fields.iter().map(read).collect()
            }
            _ => unexpected("an object", json),
        }
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        to.push('{');
        self.iter().try_for_each(|(name, value)| write_field(to, name, value))?;
        to.push('}');
        Ok(())
    }
}

impl Value for Json {
    fn read(json: &Json) -> Result<Self, Mistake> {
        Ok(json.clone())
    }
    fn write(&self, to: &mut String) -> Result<(), String> {
        match self {
            Json::Null => to.push_str("null"),
            Json::Boolean(value) => value.write(to)?,
            Json::Number(digits) => to.push_str(digits),
            Json::String(text) => write_text(to, text),
            Json::List(items) => items.write(to)?,
            Json::Object(fields) => {
                to.push('{');
                fields.iter().try_for_each(|(name, value)| write_field(to, name, value))?;
                to.push('}');
            }
        }
        Ok(())
    }
}
