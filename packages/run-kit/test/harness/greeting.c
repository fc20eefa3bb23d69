// A test module in C, without an SDK and without a C library. It tests a plugin that exports `greet` and `count_vowels`.
#include <stddef.h>
#include <stdint.h>

#define FROM(module, name) __attribute__((import_module(module), import_name(name)))
#define EXTISM(name) FROM("extism:host/env", name)
#define HARNESS(name) FROM("xtp:test/harness", name)

typedef uint64_t block;

EXTISM("alloc") block extism_alloc(uint64_t length);
EXTISM("length") uint64_t extism_length(block at);
EXTISM("load_u8") uint8_t extism_load_u8(uint64_t at);
EXTISM("store_u8") void extism_store_u8(uint64_t at, uint8_t value);

HARNESS("call") block harness_call(block function, block input);
HARNESS("time") uint64_t harness_time(block function, block input);
HARNESS("assert") void harness_assert(block name, uint64_t value, block reason);
HARNESS("group") void harness_group(block name);
HARNESS("reset") void harness_reset(void);
HARNESS("mock_input") block harness_mock_input(void);

static block text(const char *characters) {
  uint64_t length = 0;
  while (characters[length] != 0) length++;
  block copy = extism_alloc(length);
  for (uint64_t at = 0; at < length; at++) extism_store_u8(copy + at, (uint8_t)characters[at]);
  return copy;
}

static uint64_t equals(block actual, const char *expected) {
  uint64_t length = extism_length(actual);
  for (uint64_t at = 0; at < length; at++) {
    if (expected[at] == 0 || extism_load_u8(actual + at) != (uint8_t)expected[at]) return 0;
  }
  return expected[length] == 0;
}

static void assert_output(const char *name, const char *function, block input, const char *expected) {
  block output = harness_call(text(function), input);
  harness_assert(text(name), equals(output, expected), output);
}

__attribute__((export_name("test"))) int32_t test(void) {
  block given = harness_mock_input();
  assert_output("greets with the mock input", "greet", given == 0 ? text("Ada") : given, "Hello, Ada!");

  harness_group(text("vowels"));
  harness_reset();
  assert_output("of a word", "count_vowels", text("umbrella"), "{\"count\":3}");
  assert_output("of no text", "count_vowels", 0, "{\"count\":0}");

  harness_group(text("time"));
  uint64_t nanoseconds = harness_time(text("greet"), text("someone"));
  harness_assert(text("greets within a minute"), nanoseconds < 60000000000u, 0);
  return 0;
}
