// A plugin in C that passes its input to the host function `rate`, and returns the host's answer and count.
#include <stdint.h>

#define EXTISM(name) __attribute__((import_module("extism:host/env"), import_name(name)))
#define HOST(name) __attribute__((import_module("extism:host/user"), import_name(name)))

EXTISM("input_offset") uint64_t extism_input_offset(void);
EXTISM("output_set") void extism_output_set(uint64_t block, uint64_t length);
EXTISM("alloc") uint64_t extism_alloc(uint64_t length);
EXTISM("load_u8") uint8_t extism_load_u8(uint64_t at);
EXTISM("store_u8") void extism_store_u8(uint64_t at, uint8_t value);

HOST("rate") uint64_t host_rate(uint64_t name);
HOST("calls") int32_t host_calls(void);

__attribute__((export_name("greet"))) int32_t greet(void) {
  uint64_t answer = host_rate(extism_input_offset());
  uint64_t output = extism_alloc(2);
  extism_store_u8(output, extism_load_u8(answer));
  extism_store_u8(output + 1, (uint8_t)('0' + host_calls()));
  extism_output_set(output, 2);
  return 0;
}
