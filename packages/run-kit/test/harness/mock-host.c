// A mock host in C for the host functions of `caller.c`: a number for a name, and a count of the calls.
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

__attribute__((import_module("extism:host/env"), import_name("length"))) uint64_t extism_length(uint64_t block);
__attribute__((import_module("extism:host/env"), import_name("alloc"))) uint64_t extism_alloc(uint64_t length);
__attribute__((import_module("extism:host/env"), import_name("store_u8"))) void extism_store_u8(uint64_t at, uint8_t value);

static int32_t calls = 0;

EXPORT("rate") uint64_t rate(uint64_t name) {
  calls++;
  uint64_t answer = extism_alloc(1);
  extism_store_u8(answer, (uint8_t)('0' + extism_length(name)));
  return answer;
}

EXPORT("calls") int32_t count(void) { return calls; }
