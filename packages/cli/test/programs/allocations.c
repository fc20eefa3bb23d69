/* Allocates by each function of C, in deterministic disorder. Linked with --wrap for each of them. */
#include "count-allocations.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void __real_free(void *);

void *__wrap_malloc(size_t size) {
  void *pointer = __real_malloc(size);
  count_allocated(pointer, size);
  return pointer;
}

void *__wrap_calloc(size_t count, size_t size) {
  void *pointer = __real_calloc(count, size);
  count_allocated(pointer, count * size);
  return pointer;
}

void *__wrap_realloc(void *old, size_t size) {
  void *pointer = __real_realloc(old, size);
  if (pointer != NULL) count_freed(old);
  count_allocated(pointer, size);
  return pointer;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  void *pointer = __real_aligned_alloc(alignment, size);
  count_allocated(pointer, size);
  return pointer;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  int error = __real_posix_memalign(out, alignment, size);
  count_allocated(error == 0 ? *out : NULL, size);
  return error;
}

void __wrap_free(void *pointer) {
  __real_free(pointer);
  count_freed(pointer);
}

static uint32_t state = 19;
static uint32_t below(uint32_t limit) {
  state = state * 1664525 + 1013904223;
  return (state >> 8) % limit;
}

static void *slots[1000];
static size_t calls;

__attribute__((noinline)) static void *from_malloc(size_t size) {
  calls++;
  return malloc(size);
}

__attribute__((noinline)) static void step(void) {
  void **slot = &slots[below(1000)];
  size_t size = 1 + below(500);
  calls++;
  switch (below(6)) {
    case 0:
    case 1:
      free(*slot);
      *slot = NULL;
      return;
    case 2:
      *slot = realloc(*slot, size);
      return;
    default:
      break;
  }
  free(*slot);
  switch (below(4)) {
    case 0:
      *slot = from_malloc(size);
      break;
    case 1:
      *slot = calloc(size, 1 + below(4));
      break;
    case 2:
      *slot = aligned_alloc(64, 64 * (1 + below(4)));
      break;
    default:
      if (posix_memalign(slot, 32, size) != 0) *slot = NULL;
  }
  if (*slot != NULL) memset(*slot, 1, 1);
}

int main(void) {
  for (int at = 0; at < 20000; at++) step();
  volatile size_t too_much = 0x7fffffff;
  void *volatile failed = malloc(too_much);
  failed = realloc(slots[0], too_much);
  write_counts(calls);
  return failed != NULL;
}
