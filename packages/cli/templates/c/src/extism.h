/* What a plugin uses of Extism's kernel: its input, its output, and the values that the host keeps for it. It needs no C
 * library. What passes between plugin and host lies in blocks of the kernel's memory, which are known by their offsets.
 * https://extism.org/docs/concepts/pdk
 *
 * For the one C file of the plugin to include: it defines functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function that the host calls: it takes nothing, and returns 0 when all is well. */
#define EXPORT(name) __attribute__((used, export_name(name)))

/* A function that the host offers to this extension point's plugins. */
#define HOST_IMPORT(name) __attribute__((import_module("extism:host/user"), import_name(name)))

#define KERNEL_IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(name)))

#define LIBRARY static __attribute__((unused))

KERNEL_IMPORT("input_length") uint64_t kernel_input_length(void);
KERNEL_IMPORT("input_load_u8") uint32_t kernel_input_load_u8(uint64_t at);
KERNEL_IMPORT("input_load_u64") uint64_t kernel_input_load_u64(uint64_t at);
KERNEL_IMPORT("output_set") void kernel_output_set(uint64_t block, uint64_t length);
KERNEL_IMPORT("error_set") void kernel_error_set(uint64_t block);
KERNEL_IMPORT("alloc") uint64_t kernel_alloc(uint64_t length);
KERNEL_IMPORT("length") uint64_t kernel_length(uint64_t block);
KERNEL_IMPORT("load_u8") uint32_t kernel_load_u8(uint64_t at);
KERNEL_IMPORT("load_u64") uint64_t kernel_load_u64(uint64_t at);
KERNEL_IMPORT("store_u8") void kernel_store_u8(uint64_t at, uint32_t value);
KERNEL_IMPORT("store_u64") void kernel_store_u64(uint64_t at, uint64_t value);
KERNEL_IMPORT("config_get") uint64_t kernel_config_get(uint64_t key);
KERNEL_IMPORT("var_get") uint64_t kernel_var_get(uint64_t key);
KERNEL_IMPORT("var_set") void kernel_var_set(uint64_t key, uint64_t value);
KERNEL_IMPORT("log_info") void kernel_log_info(uint64_t text);

/* Bytes, or text in UTF-8; no zero at the end. */
struct bytes {
  uint8_t *at;
  size_t length;
};

/* What compilers call for struct copies and the like. */
void *memcpy(void *restrict to, const void *restrict from, size_t length) {
  uint8_t *target = to;
  const uint8_t *source = from;
  while (length-- > 0) *target++ = *source++;
  return to;
}

void *memset(void *to, int value, size_t length) {
  uint8_t *target = to;
  while (length-- > 0) *target++ = (uint8_t)value;
  return to;
}

/* Where free memory begins; the linker knows. */
extern uint8_t __heap_base;

static uintptr_t memory_taken;


/* Memory that lasts until the call ends. The plugin stops when there is none left. */
LIBRARY void *take(size_t length) {
  uintptr_t start = (memory_taken + 15) & ~(uintptr_t)15;
  size_t present = __builtin_wasm_memory_size(0) * 65536;
  if (start < memory_taken || length > UINTPTR_MAX - start) __builtin_trap();
  memory_taken = start + length;
  if (memory_taken > present) {
    size_t pages = (memory_taken - present - 1) / 65536 + 1;
    if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) __builtin_trap();
  }
  return (void *)start;
}

/* The same, filled with zeros. */
LIBRARY void *take_zeros(size_t length) { return memset(take(length), 0, length); }

/* Text as bytes: text("Hello"). */
LIBRARY struct bytes text(const char *from) {
  size_t length = 0;
  while (from[length] != 0) length++;
  return (struct bytes){(uint8_t *)from, length};
}

LIBRARY bool equals(struct bytes one, struct bytes other) {
  if (one.length != other.length) return false;
  for (size_t at = 0; at < one.length; at++) if (one.at[at] != other.at[at]) return false;
  return true;
}

/* Both, one after the other. */
LIBRARY struct bytes join(struct bytes first, struct bytes second) {
  struct bytes both = {take(first.length + second.length), first.length + second.length};
  memcpy(both.at, first.at, first.length);
  memcpy(both.at + first.length, second.at, second.length);
  return both;
}

/* What the host has sent. */
LIBRARY struct bytes input(void) {
  size_t length = (size_t)kernel_input_length(), at = 0;
  struct bytes all = {take(length), length};
  for (; at + 8 <= length; at += 8) {
    uint64_t eight = kernel_input_load_u64(at);
    memcpy(all.at + at, &eight, 8);
  }
  for (; at < length; at++) all.at[at] = (uint8_t)kernel_input_load_u8(at);
  return all;
}

/* Puts bytes into a block for the host, and returns its offset. */
LIBRARY uint64_t store(struct bytes bytes) {
  uint64_t block = kernel_alloc(bytes.length);
  size_t at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    uint64_t eight;
    memcpy(&eight, bytes.at + at, 8);
    kernel_store_u64(block + at, eight);
  }
  for (; at < bytes.length; at++) kernel_store_u8(block + at, bytes.at[at]);
  return block;
}

/* What is in a block. */
LIBRARY struct bytes load(uint64_t block) {
  size_t length = (size_t)kernel_length(block), at = 0;
  struct bytes all = {take(length), length};
  for (; at + 8 <= length; at += 8) {
    uint64_t eight = kernel_load_u64(block + at);
    memcpy(all.at + at, &eight, 8);
  }
  for (; at < length; at++) all.at[at] = (uint8_t)kernel_load_u8(block + at);
  return all;
}

static bool call_failed;

/* Forgets what earlier calls have taken. Every export begins with it. */
LIBRARY void begin_call(void) {
  memory_taken = (uintptr_t)&__heap_base;
  call_failed = false;
}

/* Fails the call: when the export returns, the host gets the message instead of its output. */
LIBRARY void fail_with(struct bytes message) {
  if (!call_failed) kernel_error_set(store(message));
  call_failed = true;
}

LIBRARY void fail(const char *message) { fail_with(text(message)); }

/* Sends bytes to the host as the export's output. */
LIBRARY void output(struct bytes bytes) {
  if (!call_failed) kernel_output_set(store(bytes), bytes.length);
}

/* What an export returns. */
LIBRARY int32_t end_call(void) { return call_failed ? 1 : 0; }

/* A value of the host's configuration for this plugin; `at` is NULL when there is none. */
LIBRARY struct bytes config(const char *key) {
  uint64_t block = kernel_config_get(store(text(key)));
  return block == 0 ? (struct bytes){NULL, 0} : load(block);
}

/* What was kept under a name in an earlier call; `at` is NULL when nothing was. */
LIBRARY struct bytes variable(const char *name) {
  uint64_t block = kernel_var_get(store(text(name)));
  return block == 0 ? (struct bytes){NULL, 0} : load(block);
}

/* Keeps bytes under a name until the plugin is unloaded. */
LIBRARY void set_variable(const char *name, struct bytes bytes) { kernel_var_set(store(text(name)), store(bytes)); }

/* Writes a line to the host's log. */
LIBRARY void log_line(const char *line) { kernel_log_info(store(text(line))); }
