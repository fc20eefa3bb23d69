/* Reads values from JSON, and writes them. A mistake fails the call with the path to it, such as `input.address.zip`. */
#pragma once

#include "json-text.h"

static struct bytes mistake_path, mistake_words;

LIBRARY bool mistake(struct bytes words) {
  mistake_path = text("");
  mistake_words = words;
  return false;
}

/* Fails the call with the mistake. */
LIBRARY void fail_mistake(void) { fail_with(join(join(text("input"), mistake_path), join(text(": "), mistake_words))); }

LIBRARY bool mistake_in_field(struct bytes name) {
  mistake_path = join(join(text("."), name), mistake_path);
  return false;
}

LIBRARY bool mistake_in_item(size_t at) {
  char digits[20];
  struct bytes number = {(uint8_t *)digits, integer_write(at, false, digits)};
  mistake_path = join(join(join(text("["), number), text("]")), mistake_path);
  return false;
}

LIBRARY bool expect(const struct json *json, enum json_kind kind) {
  static const char *const names[] = {"null", "a boolean", "a number", "a string", "a list", "an object"};
  if (json->kind == kind) return true;
  return mistake(join(join(text("expected "), text(names[kind])), join(text(", found "), text(names[json->kind]))));
}

LIBRARY const struct json *json_field(const struct json *object, const char *name) {
  const struct json *found = NULL;
  for (const struct json *item = object->items; item != NULL; item = item->next) {
    if (equals(item->name, text(name))) found = item;
  }
  return found;
}

LIBRARY bool read_text(const struct json *json, struct bytes *value) {
  *value = json->text;
  return expect(json, JSON_STRING);
}

LIBRARY bool read_bool(const struct json *json, bool *value) {
  *value = json->text.length == 4;
  return expect(json, JSON_BOOLEAN);
}

LIBRARY bool read_json(const struct json *json, const struct json **value) {
  *value = json;
  return true;
}

LIBRARY bool out_of_range(const struct json *json) { return mistake(join(json->text, text(" is out of range"))); }

LIBRARY bool read_double(const struct json *json, double *value) {
  if (!expect(json, JSON_NUMBER)) return false;
  *value = decimal_read(json->text);
  return __builtin_isfinite(*value) || out_of_range(json);
}

LIBRARY bool read_float(const struct json *json, float *value) {
  double number;
  if (!read_double(json, &number)) return false;
  *value = (float)number;
  return __builtin_isfinite(*value) || out_of_range(json);
}

/* Reads an integer up to the limit; of a negative one, down to its negative. */
LIBRARY bool read_integer(const struct json *json, uint64_t limit, uint64_t negative_limit, uint64_t *value) {
  if (!expect(json, JSON_NUMBER)) return false;
  struct bytes digits = json->text;
  char written[32];
  for (size_t at = 0; at < json->text.length; at++) {
    uint8_t byte = json->text.at[at];
    if (byte != '.' && (byte | 32) != 'e') continue;
    double whole = decimal_read(json->text); /* an integer with a fraction or an exponent, such as 1.0 or 1e3 */
    if (!(__builtin_fabs(whole) <= 9007199254740991)) return out_of_range(json);
    if (whole != (double)(int64_t)whole) return mistake(join(text("expected an integer, found "), json->text));
    uint64_t size = (uint64_t)(whole < 0 ? -whole : whole);
    digits = (struct bytes){(uint8_t *)written, integer_write(size, whole < 0, written)};
    break;
  }
  bool is_negative = digits.at[0] == '-';
  if (is_negative) limit = negative_limit;
  uint64_t number = 0;
  for (size_t at = is_negative ? 1 : 0; at < digits.length; at++) {
    uint8_t digit = digits.at[at] - '0';
    if (number > limit / 10 || number * 10 > limit - digit) return out_of_range(json);
    number = number * 10 + digit;
  }
  *value = is_negative ? 0 - number : number;
  return true;
}

LIBRARY void write_bool(bool value) { json_put(value ? "true" : "false"); }

LIBRARY void write_double(double value) {
  char digits[32];
  if (!__builtin_isfinite(value)) return fail("output: NaN and infinity can't be represented in JSON");
  size_t length = decimal_write(value, digits);
  memcpy(json_grow(length), digits, length);
}

LIBRARY void write_float(float value) { write_double(value); }

LIBRARY void write_integer(uint64_t value, bool is_negative) {
  char digits[24];
  size_t length = integer_write(value, is_negative, digits);
  memcpy(json_grow(length), digits, length);
}

LIBRARY void write_json(const struct json *json) {
  if (json == NULL || json->kind == JSON_NULL) return json_put("null");
  if (json->kind == JSON_STRING) return write_text(json->text);
  if (json->kind < JSON_LIST) {
    memcpy(json_grow(json->text.length), json->text.at, json->text.length);
    return;
  }
  json_put(json->kind == JSON_LIST ? "[" : "{");
  for (const struct json *item = json->items; item != NULL; item = item->next) {
    if (json->kind == JSON_OBJECT) json_name(item->name);
    else json_comma();
    write_json(item);
  }
  json_put(json->kind == JSON_LIST ? "]" : "}");
}

/* Bytes are base64 in JSON. */
LIBRARY bool read_bytes(const struct json *json, struct bytes *value) {
  if (!expect(json, JSON_STRING)) return false;
  struct bytes text_ = json->text;
  while (text_.length > 0 && text_.at[text_.length - 1] == '=') text_.length--;
  *value = (struct bytes){take(text_.length), 0};
  uint32_t bits = 0;
  for (size_t at = 0; at < text_.length; at++) {
    uint8_t byte = text_.at[at];
    int digit = byte >= 'A' && byte <= 'Z' ? byte - 'A'
              : byte >= 'a' && byte <= 'z' ? byte - 'a' + 26
              : byte >= '0' && byte <= '9' ? byte - '0' + 52
              : byte == '+' || byte == '-' ? 62
              : byte == '/' || byte == '_' ? 63 : -1;
    if (digit < 0 || text_.length % 4 == 1) return mistake(text("expected base64"));
    bits = bits << 6 | (uint32_t)digit;
    if (at % 4 > 0) value->at[value->length++] = (uint8_t)(bits >> (6 - 2 * (at % 4)));
  }
  return true;
}

LIBRARY void write_bytes(struct bytes value) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  json_put("\"");
  for (size_t at = 0; at < value.length; at += 3) {
    size_t left = value.length - at;
    uint32_t bits = (uint32_t)value.at[at] << 16;
    if (left > 1) bits |= (uint32_t)value.at[at + 1] << 8;
    if (left > 2) bits |= value.at[at + 2];
    uint8_t *to = json_grow(4);
    for (size_t part = 0; part < 4; part++) to[part] = (uint8_t)(part > left ? '=' : alphabet[bits >> (18 - 6 * part) & 63]);
  }
  json_put("\"");
}

LIBRARY bool read_name(struct bytes name, const char *const *names, size_t count, size_t *value) {
  for (*value = 0; *value < count; ++*value) if (equals(name, text(names[*value]))) return true;
  struct bytes words = text("expected one of ");
  for (size_t at = 0; at < count; at++) words = join(words, join(text(names[at]), text(at + 1 < count ? ", " : "")));
  return mistake(join(words, join(text(", found "), name)));
}

/* A number, boolean or enumeration that can be absent or null. */
#define OPTIONAL(tag, type)                                                                      \
  struct optional_##tag {                                                                        \
    bool present;                                                                                 \
    type value;                                                                                   \
  };                                                                                              \
  LIBRARY bool read_optional_##tag(const struct json *json, struct optional_##tag *value) {     \
    value->present = json->kind != JSON_NULL;                                                     \
    return !value->present || read_##tag(json, &value->value);                                   \
  }                                                                                               \
  LIBRARY void write_optional_##tag(struct optional_##tag value) {                              \
    if (value.present) write_##tag(value.value);                                                 \
    else json_put("null");                                                                        \
  }

#define INTEGER(tag, type, limit, negative_limit)                                                \
  LIBRARY bool read_##tag(const struct json *json, type *value) {                                \
    uint64_t read;                                                                                \
    if (!read_integer(json, limit, negative_limit, &read)) return false;                          \
    *value = (type)read;                                                                          \
    return true;                                                                                  \
  }                                                                                               \
  LIBRARY void write_##tag(type value) {                                                         \
    bool is_negative = (negative_limit) > 0 && (int64_t)value < 0;                                \
    write_integer(is_negative ? 0 - (uint64_t)value : (uint64_t)value, is_negative);              \
  }                                                                                               \
  OPTIONAL(tag, type)

INTEGER(int8, int8_t, INT8_MAX, (uint64_t)INT8_MAX + 1)
INTEGER(int16, int16_t, INT16_MAX, (uint64_t)INT16_MAX + 1)
INTEGER(int32, int32_t, INT32_MAX, (uint64_t)INT32_MAX + 1)
INTEGER(int64, int64_t, INT64_MAX, (uint64_t)INT64_MAX + 1)
INTEGER(uint8, uint8_t, UINT8_MAX, 0)
INTEGER(uint16, uint16_t, UINT16_MAX, 0)
INTEGER(uint32, uint32_t, UINT32_MAX, 0)
INTEGER(uint64, uint64_t, UINT64_MAX, 0)
OPTIONAL(bool, bool)
OPTIONAL(float, float)
OPTIONAL(double, double)

/* A value that is NULL when it is null, or whose first member is. */
#define NULLABLE(tag, type, is_present)                                                          \
  LIBRARY bool read_nullable_##tag(const struct json *json, type *value) {                       \
    memset(value, 0, sizeof *value);                                                              \
    return json->kind == JSON_NULL || read_##tag(json, value);                                   \
  }                                                                                               \
  LIBRARY void write_nullable_##tag(type value) {                                                \
    if (is_present) write_##tag(value);                                                          \
    else json_put("null");                                                                        \
  }

#define LIST(tag, read_item, write_item)                                                         \
  LIBRARY bool read_##tag(const struct json *json, struct tag *value) {                         \
    if (!expect(json, JSON_LIST)) return false;                                                   \
    value->items = take_zeros(json->length * sizeof *value->items);                               \
    value->length = 0;                                                                            \
    for (const struct json *item = json->items; item != NULL; item = item->next) {                \
      if (!read_item(item, &value->items[value->length])) return mistake_in_item(value->length);  \
      value->length++;                                                                            \
    }                                                                                             \
    return true;                                                                                  \
  }                                                                                               \
  LIBRARY void write_##tag(struct tag value) {                                                  \
    json_put("[");                                                                                \
    for (size_t at = 0; at < value.length; at++) {                                                \
      json_comma();                                                                               \
      write_item(value.items[at]);                                                                \
    }                                                                                             \
    json_put("]");                                                                                \
  }

#define MAP(tag, read_item, write_item)                                                          \
  LIBRARY bool read_##tag(const struct json *json, struct tag *value) {                         \
    if (!expect(json, JSON_OBJECT)) return false;                                                 \
    value->items = take_zeros(json->length * sizeof *value->items);                               \
    value->names = take_zeros(json->length * sizeof *value->names);                               \
    value->length = 0;                                                                            \
    for (const struct json *item = json->items; item != NULL; item = item->next) {                \
      value->names[value->length] = item->name;                                                   \
      if (!read_item(item, &value->items[value->length])) return mistake_in_field(item->name);    \
      value->length++;                                                                            \
    }                                                                                             \
    return true;                                                                                  \
  }                                                                                               \
  LIBRARY void write_##tag(struct tag value) {                                                  \
    json_put("{");                                                                                \
    for (size_t at = 0; at < value.length; at++) {                                                \
      json_name(value.names[at]);                                                                 \
      write_item(value.items[at]);                                                                \
    }                                                                                             \
    json_put("}");                                                                                \
  }

#define ENUM(tag)                                                                                \
  LIBRARY bool read_text_##tag(struct bytes text, enum tag *value) {                            \
    size_t at;                                                                                    \
    if (!read_name(text, tag##_names, sizeof tag##_names / sizeof *tag##_names, &at)) return false; \
    *value = (enum tag)at;                                                                       \
    return true;                                                                                  \
  }                                                                                               \
  LIBRARY bool read_##tag(const struct json *json, enum tag *value) {                           \
    return expect(json, JSON_STRING) && read_text_##tag(json->text, value);                      \
  }                                                                                               \
  LIBRARY void write_##tag(enum tag value) { write_text(text(tag##_names[value])); }           \
  OPTIONAL(tag, enum tag)

/* Within the function that reads an object: */
#define READ_FIELD(key, read, field)                                                              \
  {                                                                                               \
    const struct json *found = json_field(json, key);                                             \
    if (found == NULL) return mistake(text("is missing")), mistake_in_field(text(key));           \
    if (!read(found, &(field))) return mistake_in_field(text(key));                               \
  }

#define READ_OPTIONAL_FIELD(key, read, field)                                                     \
  if (json_field(json, key) != NULL) READ_FIELD(key, read, field)

#define WRITE_FIELD(key, write, field)                                                            \
  {                                                                                               \
    json_name(text(key));                                                                         \
    write(field);                                                                                 \
  }
