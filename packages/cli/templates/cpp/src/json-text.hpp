// The text of JSON: a parser and a writer.
#pragma once

#include "extism.hpp"

namespace extism {

// Any JSON value. Numbers keep their digits, so that none loses precision.
struct Json {
  enum Kind { Null, Boolean, Number, String, List, Object };
  Kind kind = Null;
  std::string text;               // a string's text, a number's digits, `true` or `false`
  std::vector<Json> items;        // the elements of a list, or the values of an object
  std::vector<std::string> names; // the names of an object's values

  const Json *find(const std::string &name) const {
    for (size_t at = names.size(); at-- > 0;) {
      if (names[at] == name) return &items[at];
    }
    return nullptr;
  }
};

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  // Returns false and fails the call if the text isn't JSON.
  bool document(Json &json) { return value(json) && ((next() == 0 && at == text.size()) || invalid()); }

private:
  static constexpr int max_depth = 200;
  const std::string &text;
  size_t at = 0;
  int depth = 0;

  bool invalid() {
    fail("input: invalid JSON at byte " + std::to_string(at));
    return false;
  }

  // The next byte that is not white space; 0 at the end.
  char next() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
    return at < text.size() ? text[at] : 0;
  }

  bool skip(const char *word) {
    size_t length = std::strlen(word);
    if (text.compare(at, length, word) != 0) return false;
    at += length;
    return true;
  }

  bool value(Json &json) {
    char first = next();
    if (first == '{' || first == '[') return list(json, first == '{');
    if (first == '-' || (first >= '0' && first <= '9')) return number(json);
    if (first == '"') {
      json.kind = Json::String;
      return string(json.text);
    }
    for (const char *word : {"true", "false"}) {
      if (!skip(word)) continue;
      json.kind = Json::Boolean;
      json.text = word;
      return true;
    }
    return skip("null") || invalid();
  }

  bool list(Json &json, bool is_object) {
    if (++depth > max_depth) {
      fail("input: nested too deep");
      return false;
    }
    const char *close = is_object ? "}" : "]";
    json.kind = is_object ? Json::Object : Json::List;
    at++;
    while (next() != close[0] || !json.items.empty()) {
      if (is_object) {
        if (next() != '"') return invalid();
        json.names.emplace_back();
        if (!string(json.names.back())) return false;
        next();
        if (!skip(":")) return invalid();
      }
      json.items.emplace_back();
      if (!value(json.items.back())) return false;
      if (next() == close[0]) break;
      if (!skip(",")) return invalid();
    }
    at++;
    depth--;
    return true;
  }

  bool digits() {
    size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') at++;
    return at > start || invalid();
  }

  bool number(Json &json) {
    size_t start = at;
    json.kind = Json::Number;
    skip("-");
    if (!skip("0") && !digits()) return false;
    if (skip(".") && !digits()) return false;
    if (skip("e") || skip("E")) {
      if (!skip("+")) skip("-");
      if (!digits()) return false;
    }
    json.text = text.substr(start, at - start);
    return true;
  }

  bool unit(uint32_t &unit) {
    unit = 0;
    for (size_t end = at + 4; at < end; at++) {
      char byte = at < text.size() ? text[at] : 0;
      char lower = static_cast<char>(byte | 32);
      bool is_digit = byte >= '0' && byte <= '9';
      if (!is_digit && (lower < 'a' || lower > 'f')) return invalid();
      unit = unit << 4 | static_cast<uint32_t>(is_digit ? byte - '0' : lower - 'a' + 10);
    }
    return true;
  }

  bool string(std::string &to) {
    for (at++; at < text.size() && text[at] != '"';) {
      if (static_cast<uint8_t>(text[at]) < 32) return invalid();
      if (text[at] != '\\') {
        to += text[at++];
        continue;
      }
      char escape = ++at < text.size() ? text[at] : 0;
      at++;
      static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
      const char *found = escape == 0 ? nullptr : std::strchr(escapes, escape);
      if (found != nullptr) to += meanings[found - escapes];
      else if (escape != 'u' || !character(to)) return has_failed ? false : invalid();
    }
    return skip("\"") || invalid();
  }

  bool character(std::string &to) {
    uint32_t code = 0, low = 0;
    if (!unit(code)) return false;
    if (code >= 0xd800 && code < 0xdc00 && text.compare(at, 2, "\\u") == 0) {
      size_t start = at;
      at += 2;
      if (!unit(low)) return false;
      if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      else at = start;
    }
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    if (code < 0x80) {
      to += static_cast<char>(code);
      return true;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to += static_cast<char>((0xf00 >> more & 0xff) | code >> 6 * more);
    while (more-- > 0) to += static_cast<char>(0x80 | (code >> 6 * more & 63));
    return true;
  }
};

inline void write_text(std::string &to, const std::string &text) {
  to += '"';
  for (char byte : text) {
    if (static_cast<uint8_t>(byte) < 32) {
      to += byte < 16 ? "\\u000" : "\\u001";
      to += "0123456789abcdef"[byte & 15];
      continue;
    }
    if (byte == '"' || byte == '\\') to += '\\';
    to += byte;
  }
  to += '"';
}

} // namespace extism
