/* Counts what passes through the wrappers of `wasm-ld --wrap`, and writes the counts to stdout. */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

struct allocation {
  void *pointer;
  size_t size;
};

static struct allocation live[4096];
static size_t allocations, allocated, frees, freed, failures;

static void count_allocated(void *pointer, size_t size) {
  if (pointer == NULL) {
    failures++;
    return;
  }
  allocations++;
  allocated += size;
  for (size_t at = 0; at < sizeof live / sizeof *live; at++) {
    if (live[at].pointer != NULL) continue;
    live[at] = (struct allocation){pointer, size};
    return;
  }
  __builtin_trap();
}

static void count_freed(void *pointer) {
  if (pointer == NULL) return;
  frees++;
  for (size_t at = 0; at < sizeof live / sizeof *live; at++) {
    if (live[at].pointer != pointer) continue;
    freed += live[at].size;
    live[at].pointer = NULL;
    return;
  }
  __builtin_trap();
}

static void write_counts(size_t calls) {
  static char text[200];
  int length = snprintf(text, sizeof text, "%zu %zu %zu %zu %zu %zu\n", allocations, allocated, frees, freed, failures, calls);
  write(1, text, length);
}
