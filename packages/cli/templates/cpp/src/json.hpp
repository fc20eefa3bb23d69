// Reads values from JSON, and writes them. A mistake fails the call with the path to it, such as `input.address.zip`.
#pragma once

#include "json-text.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <type_traits>

namespace extism {

inline std::string mistake_path, mistake_words;

inline bool mistake(const std::string &words) {
  mistake_path.clear();
  mistake_words = words;
  return false;
}

inline bool mistake_within(const std::string &step) {
  mistake_path.insert(0, step);
  return false;
}

inline void fail_mistake() { fail("input" + mistake_path + ": " + mistake_words); }

inline bool expect(const Json &json, Json::Kind kind) {
  static const char *const names[] = {"null", "a boolean", "a number", "a string", "a list", "an object"};
  return json.kind == kind || mistake(std::string("expected ") + names[kind] + ", found " + names[json.kind]);
}

inline bool read(const Json &json, std::string &value) {
  value = json.text;
  return expect(json, Json::String);
}

inline bool read(const Json &json, bool &value) {
  value = json.text == "true";
  return expect(json, Json::Boolean);
}

inline bool read(const Json &json, Json &value) {
  value = json;
  return true;
}

inline bool read(const Json &json, double &value) {
  if (!expect(json, Json::Number)) return false;
  value = std::strtod(json.text.c_str(), nullptr);
  return std::isfinite(value) || mistake(json.text + " is out of range");
}

inline bool read(const Json &json, float &value) {
  double number;
  if (!read(json, number)) return false;
  value = static_cast<float>(number);
  return std::isfinite(value) || mistake(json.text + " is out of range");
}

template <typename T> std::enable_if_t<std::is_integral_v<T>, bool> read(const Json &json, T &value) {
  if (!expect(json, Json::Number)) return false;
  std::string digits = json.text;
  if (digits.find_first_of(".eE") != std::string::npos) {
    double whole = std::strtod(digits.c_str(), nullptr); // an integer with a fraction or an exponent, such as 1.0 or 1e3
    if (whole != std::floor(whole)) return mistake("expected an integer, found " + json.text);
    if (std::fabs(whole) <= 9007199254740991) digits = std::to_string(static_cast<int64_t>(whole));
  }
  if (digits == "-0") digits = "0";
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  bool fits = error == std::errc() && end == digits.data() + digits.size();
  return fits || mistake(json.text + " is out of range");
}

inline bool read(const Json &json, Bytes &value) {
  if (!expect(json, Json::String)) return false;
  size_t length = json.text.find_last_not_of('=') + 1;
  if (length % 4 == 1) return mistake("expected base64");
  uint32_t bits = 0;
  for (size_t at = 0; at < length; at++) {
    char byte = json.text[at];
    int digit = byte >= 'A' && byte <= 'Z'   ? byte - 'A'
                : byte >= 'a' && byte <= 'z' ? byte - 'a' + 26
                : byte >= '0' && byte <= '9' ? byte - '0' + 52
                : byte == '+' || byte == '-' ? 62
                : byte == '/' || byte == '_' ? 63
                                             : -1;
    if (digit < 0) return mistake("expected base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (at % 4 > 0) value.push_back(static_cast<uint8_t>(bits >> (6 - 2 * (at % 4))));
  }
  return true;
}

template <typename T> bool read(const Json &json, std::optional<T> &value);
template <typename T> bool read(const Json &json, std::shared_ptr<T> &value);
template <typename T> bool read(const Json &json, std::vector<T> &value);
template <typename T> bool read(const Json &json, std::map<std::string, T> &value);

template <typename T> bool read(const Json &json, std::optional<T> &value) {
  return json.kind == Json::Null || read(json, value.emplace());
}

template <typename T> bool read(const Json &json, std::shared_ptr<T> &value) {
  if (json.kind == Json::Null) return true;
  value = std::make_shared<T>();
  return read(json, *value);
}

template <typename T> bool read(const Json &json, std::vector<T> &value) {
  if (!expect(json, Json::List)) return false;
  for (size_t at = 0; at < json.items.size(); at++) {
    T item{};
    if (!read(json.items[at], item)) return mistake_within("[" + std::to_string(at) + "]");
    value.push_back(std::move(item));
  }
  return true;
}

template <typename T> bool read(const Json &json, std::map<std::string, T> &value) {
  if (!expect(json, Json::Object)) return false;
  for (size_t at = 0; at < json.items.size(); at++) {
    if (!read(json.items[at], value[json.names[at]])) return mistake_within("." + json.names[at]);
  }
  return true;
}

template <typename T> bool read_field(const Json &json, const char *name, T &value, bool is_required) {
  if (!expect(json, Json::Object)) return false;
  const Json *found = json.find(name);
  if (found == nullptr && !is_required) return true;
  bool is_read = found == nullptr ? mistake("is missing") : read(*found, value);
  return is_read || mistake_within(std::string(".") + name);
}

template <typename T, size_t N> bool read_name(const std::string &text, const char *const (&names)[N], T &value) {
  std::string all;
  for (size_t at = 0; at < N; at++) {
    if (text == names[at]) return value = static_cast<T>(at), true;
    all += (at == 0 ? "" : ", ") + std::string(names[at]);
  }
  return mistake("expected one of " + all + ", found " + text);
}

inline void write(std::string &to, const std::string &value) { write_text(to, value); }
inline void write(std::string &to, bool value) { to += value ? "true" : "false"; }

template <typename T> std::enable_if_t<std::is_integral_v<T>> write(std::string &to, T value) { to += std::to_string(value); }

inline void write(std::string &to, double value) {
  char digits[32];
  if (!std::isfinite(value)) return fail("output: NaN and infinity can't be represented in JSON");
  to.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

inline void write(std::string &to, float value) { write(to, static_cast<double>(value)); }

inline void write(std::string &to, const Bytes &value) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  to += '"';
  for (size_t at = 0; at < value.size(); at += 3) {
    size_t left = value.size() - at;
    uint32_t bits = static_cast<uint32_t>(value[at]) << 16;
    if (left > 1) bits |= static_cast<uint32_t>(value[at + 1]) << 8;
    if (left > 2) bits |= value[at + 2];
    for (size_t part = 0; part < 4; part++) to += part > left ? '=' : alphabet[bits >> (18 - 6 * part) & 63];
  }
  to += '"';
}

template <typename T> void write(std::string &to, const std::optional<T> &value);
template <typename T> void write(std::string &to, const std::shared_ptr<T> &value);
template <typename T> void write(std::string &to, const std::vector<T> &value);
template <typename T> void write(std::string &to, const std::map<std::string, T> &value);

template <typename T> void write_field(std::string &to, const std::string &name, const T &value) {
  if (to.back() != '{') to += ',';
  write_text(to, name);
  to += ':';
  write(to, value);
}

inline void write(std::string &to, const Json &value) {
  if (value.kind == Json::Null) to += "null";
  else if (value.kind == Json::String) write_text(to, value.text);
  else if (value.kind == Json::List) write(to, value.items);
  else if (value.kind == Json::Object) {
    to += '{';
    for (size_t at = 0; at < value.items.size(); at++) write_field(to, value.names[at], value.items[at]);
    to += '}';
  } else to += value.text;
}

template <typename T> void write(std::string &to, const std::optional<T> &value) {
  if (value) write(to, *value);
  else to += "null";
}

template <typename T> void write(std::string &to, const std::shared_ptr<T> &value) {
  if (value) write(to, *value);
  else to += "null";
}

template <typename T> void write(std::string &to, const std::vector<T> &value) {
  to += '[';
  for (size_t at = 0; at < value.size(); at++) {
    if (at > 0) to += ',';
    write(to, static_cast<const T &>(value[at]));
  }
  to += ']';
}

template <typename T> void write(std::string &to, const std::map<std::string, T> &value) {
  to += '{';
  for (const auto &[name, item] : value) write_field(to, name, item);
  to += '}';
}

// Reads the value of a text in JSON. Returns false after a failure.
template <typename T> bool from_json(const std::string &text, T &value) {
  Json json;
  has_failed = has_failed || !Parser(text).document(json);
  if (has_failed) return false;
  if (!read(json, value)) fail_mistake();
  return !has_failed;
}

template <typename T> std::string to_json(const T &value) {
  std::string text;
  write(text, value);
  return text;
}

} // namespace extism
