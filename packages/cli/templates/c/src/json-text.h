/* The text of JSON: a parser and a writer. */
#pragma once

#include "decimal.h"

enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT };

/* Any JSON value. Numbers keep their digits, so that none loses precision. */
struct json {
  enum json_kind kind;
  struct bytes name;   /* within an object */
  struct bytes text;   /* a string's text, a number's digits, `true` or `false` */
  struct json *items;  /* the first element of a list, or the first value of an object */
  struct json *next;   /* the element or value after this one */
  size_t length;       /* how many elements or values there are */
};

#define JSON_MAX_DEPTH 200

static struct bytes json_rest; /* what is not parsed yet */
static int json_depth;

LIBRARY bool json_invalid(void) {
  fail("input: invalid JSON");
  return false;
}

/* The next byte that is not white space; 0 at the end. */
LIBRARY uint8_t json_next(void) {
  for (; json_rest.length > 0; json_rest.at++, json_rest.length--) {
    uint8_t byte = *json_rest.at;
    if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') return byte;
  }
  return 0;
}

LIBRARY bool json_skip(const char *word) {
  struct bytes start = text(word);
  if (json_rest.length < start.length || !equals((struct bytes){json_rest.at, start.length}, start)) return false;
  json_rest.at += start.length;
  json_rest.length -= start.length;
  return true;
}

LIBRARY bool json_digits(void) {
  const uint8_t *start = json_rest.at;
  for (; json_rest.length > 0 && *json_rest.at >= '0' && *json_rest.at <= '9'; json_rest.at++) json_rest.length--;
  return json_rest.at > start || json_invalid();
}

LIBRARY bool json_number(struct json *json) {
  json->kind = JSON_NUMBER;
  json->text.at = json_rest.at;
  json_skip("-");
  if (!json_skip("0") && !json_digits()) return false;
  if (json_skip(".") && !json_digits()) return false;
  if (json_skip("e") || json_skip("E")) {
    if (!json_skip("+")) json_skip("-");
    if (!json_digits()) return false;
  }
  json->text.length = (size_t)(json_rest.at - json->text.at);
  return true;
}

LIBRARY bool json_unit(const uint8_t *at, const uint8_t *end, uint32_t *unit) {
  if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
  *unit = 0;
  for (int digit = 2; digit < 6; digit++) {
    uint8_t byte = at[digit], lower = byte | 32;
    if ((byte < '0' || byte > '9') && (lower < 'a' || lower > 'f')) return false;
    *unit = *unit << 4 | (uint32_t)(byte <= '9' ? byte - '0' : lower - 'a' + 10);
  }
  return true;
}

LIBRARY uint8_t *json_utf8(uint32_t code, uint8_t *to) {
  if (code < 0x80) return *to++ = (uint8_t)code, to;
  if (code < 0x800) *to++ = (uint8_t)(0xc0 | code >> 6);
  else {
    if (code < 0x10000) *to++ = (uint8_t)(0xe0 | code >> 12);
    else {
      *to++ = (uint8_t)(0xf0 | code >> 18);
      *to++ = (uint8_t)(0x80 | (code >> 12 & 63));
    }
    *to++ = (uint8_t)(0x80 | (code >> 6 & 63));
  }
  *to++ = (uint8_t)(0x80 | (code & 63));
  return to;
}

/* Parses a string, and writes its text over its escapes. */
LIBRARY bool json_string(struct bytes *result) {
  uint8_t *from = json_rest.at + 1, *end = json_rest.at + json_rest.length, *to = from;
  result->at = to;
  for (; from < end && *from != '"'; ) {
    if (*from < 32) return json_invalid();
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    uint32_t unit, low;
    if (json_unit(from, end, &unit)) {
      from += 6;
      if (unit >= 0xd800 && unit < 0xdc00 && json_unit(from, end, &low) && low >= 0xdc00 && low < 0xe000) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        from += 6;
      }
      to = json_utf8(unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit, to);
      continue;
    }
    int which = 0;
    while (escapes[which] != 0 && (from + 1 == end || from[1] != (uint8_t)escapes[which])) which++;
    if (escapes[which] == 0) return json_invalid();
    *to++ = (uint8_t)meanings[which];
    from += 2;
  }
  if (from == end) return json_invalid();
  result->length = (size_t)(to - result->at);
  json_rest = (struct bytes){from + 1, (size_t)(end - from) - 1};
  return true;
}

LIBRARY bool json_value(struct json *json);

LIBRARY bool json_list(struct json *json, bool is_object) {
  uint8_t close = is_object ? '}' : ']';
  json->kind = is_object ? JSON_OBJECT : JSON_LIST;
  if (++json_depth > JSON_MAX_DEPTH) return fail("input: nested too deep"), false;
  json_skip(is_object ? "{" : "[");
  for (struct json **end = &json->items; json_next() != close || json->length > 0; end = &(*end)->next) {
    struct json *item = *end = take_zeros(sizeof *item);
    if (is_object) {
      if (json_next() != '"') return json_invalid();
      if (!json_string(&item->name)) return false;
      json_next();
      if (!json_skip(":")) return json_invalid();
    }
    if (!json_value(item)) return false;
    json->length++;
    if (json_next() == close) break;
    if (!json_skip(",")) return json_invalid();
  }
  json_skip(is_object ? "}" : "]");
  json_depth--;
  return true;
}

LIBRARY bool json_value(struct json *json) {
  uint8_t first = json_next();
  if (first == '{' || first == '[') return json_list(json, first == '{');
  if (first == '-' || (first >= '0' && first <= '9')) return json_number(json);
  json->kind = JSON_STRING;
  if (first == '"') return json_string(&json->text);
  json->kind = JSON_BOOLEAN;
  if (json_skip("true")) return json->text = text("true"), true;
  if (json_skip("false")) return json->text = text("false"), true;
  json->kind = JSON_NULL;
  return json_skip("null") || json_invalid();
}

/* Parses a text, which it changes. Returns NULL and fails the call if it isn't JSON. */
LIBRARY struct json *json_parse(struct bytes from) {
  struct json *json = take_zeros(sizeof *json);
  json_rest = from;
  json_depth = 0;
  if (!json_value(json)) return NULL;
  return json_next() == 0 && json_rest.length == 0 ? json : (json_invalid(), NULL);
}

/* The JSON that is being written. */
static struct bytes json_written;
static size_t json_room;

LIBRARY void json_begin(void) {
  json_room = 256;
  json_written = (struct bytes){take(json_room), 0};
}

LIBRARY uint8_t *json_grow(size_t length) {
  if (length > json_room - json_written.length) {
    json_room = (json_room + length) * 2;
    struct bytes grown = {take(json_room), json_written.length};
    memcpy(grown.at, json_written.at, grown.length);
    json_written = grown;
  }
  json_written.length += length;
  return json_written.at + json_written.length - length;
}

LIBRARY void json_put(const char *word) {
  struct bytes bytes = text(word);
  memcpy(json_grow(bytes.length), bytes.at, bytes.length);
}

/* Writes the comma before all but the first element. */
LIBRARY void json_comma(void) {
  uint8_t last = json_written.at[json_written.length - 1];
  if (last != '[' && last != '{' && last != ':') *json_grow(1) = ',';
}

LIBRARY void write_text(struct bytes value) {
  static const char hex[] = "0123456789abcdef";
  *json_grow(1) = '"';
  for (size_t at = 0; at < value.length; at++) {
    uint8_t byte = value.at[at];
    if (byte < 32) {
      json_put("\\u00");
      *json_grow(1) = (uint8_t)hex[byte >> 4];
      *json_grow(1) = (uint8_t)hex[byte & 15];
      continue;
    }
    if (byte == '"' || byte == '\\') *json_grow(1) = '\\';
    *json_grow(1) = byte;
  }
  *json_grow(1) = '"';
}

LIBRARY void json_name(struct bytes name) {
  json_comma();
  write_text(name);
  *json_grow(1) = ':';
}
