// What a plugin uses of Extism's kernel: its input, its output, and the values that the host keeps for it.
// https://extism.org/docs/concepts/pdk
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

// A function that the host calls: it takes nothing, and returns 0 when all is well.
#define EXPORT(name) extern "C" __attribute__((used, export_name(name)))

// A function that the host offers to this extension point's plugins.
#define HOST_IMPORT(name) extern "C" __attribute__((import_module("extism:host/user"), import_name(name)))

#define KERNEL_IMPORT(name) extern "C" __attribute__((import_module("extism:host/env"), import_name(name)))

KERNEL_IMPORT("input_length") uint64_t kernel_input_length();
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

namespace extism {

// Bytes, which are base64 in JSON.
struct Bytes : std::vector<uint8_t> {
  using std::vector<uint8_t>::vector;
};

// Puts bytes or text into a block for the host, and returns its offset.
template <typename T> uint64_t store(const T &bytes) {
  const auto *from = reinterpret_cast<const uint8_t *>(bytes.data());
  uint64_t block = kernel_alloc(bytes.size());
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t eight;
    std::memcpy(&eight, from + at, 8);
    kernel_store_u64(block + at, eight);
  }
  for (; at < bytes.size(); at++) kernel_store_u8(block + at, from[at]);
  return block;
}

// What is in a block, as Bytes or std::string.
template <typename T> T load(uint64_t block) {
  T bytes(static_cast<size_t>(kernel_length(block)), 0);
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t eight = kernel_load_u64(block + at);
    std::memcpy(bytes.data() + at, &eight, 8);
  }
  for (; at < bytes.size(); at++) bytes[at] = static_cast<uint8_t>(kernel_load_u8(block + at));
  return bytes;
}

// What the host has sent, as Bytes or std::string.
template <typename T> T input() {
  T bytes(static_cast<size_t>(kernel_input_length()), 0);
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t eight = kernel_input_load_u64(at);
    std::memcpy(bytes.data() + at, &eight, 8);
  }
  for (; at < bytes.size(); at++) bytes[at] = static_cast<uint8_t>(kernel_input_load_u8(at));
  return bytes;
}

inline bool has_failed = false;

// Fails the call: when the export returns, the host gets the message instead of its output.
inline void fail(const std::string &message) {
  if (!has_failed) kernel_error_set(store(message));
  has_failed = true;
}

// Sends bytes or text to the host as the export's output.
template <typename T> void output(const T &bytes) {
  if (!has_failed) kernel_output_set(store(bytes), bytes.size());
}

// A value of the host's configuration for this plugin.
inline std::optional<std::string> config(const std::string &key) {
  uint64_t block = kernel_config_get(store(key));
  if (block == 0) return std::nullopt;
  return load<std::string>(block);
}

// What was kept under a name in an earlier call.
inline std::optional<Bytes> variable(const std::string &name) {
  uint64_t block = kernel_var_get(store(name));
  if (block == 0) return std::nullopt;
  return load<Bytes>(block);
}

// Keeps bytes under a name until the plugin is unloaded.
inline void set_variable(const std::string &name, const Bytes &bytes) { kernel_var_set(store(name), store(bytes)); }

// Writes a line to the host's log.
inline void log(const std::string &text) { kernel_log_info(store(text)); }

} // namespace extism
