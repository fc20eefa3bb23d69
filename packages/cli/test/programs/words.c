/* Counts the words of its stdin, and writes those that come most often: a command of WASI, without a C library.
 *
 *   clang --target=wasm32 -O1 -c words.c && wasm-ld words.o -o words.wasm */
#include <stddef.h>
#include <stdint.h>

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
#define SEEN __attribute__((noinline)) /* it keeps its own place in a trace */

struct buffer {
  const void *at;
  size_t length;
};

WASI("fd_read") uint16_t fd_read(int32_t fd, const struct buffer *buffers, size_t count, size_t *done);
WASI("fd_write") uint16_t fd_write(int32_t fd, const struct buffer *buffers, size_t count, size_t *done);
WASI("proc_exit") __attribute__((noreturn)) void proc_exit(int32_t code);

struct word {
  const char *text;
  size_t length;
  uint32_t count;
  struct word *next;
};

extern unsigned char __heap_base;
static uintptr_t taken;

SEEN static void more_memory(uintptr_t until) {
  size_t present = __builtin_wasm_memory_size(0) * 65536;
  if (until <= present) return;
  if (__builtin_wasm_memory_grow(0, (until - present + 65535) / 65536) == (size_t)-1) __builtin_trap();
}

static void *take(size_t length) {
  if (taken == 0) taken = (uintptr_t)&__heap_base;
  uintptr_t start = (taken + 7) & ~(uintptr_t)7;
  taken = start + length;
  if (taken > __builtin_wasm_memory_size(0) * 65536) more_memory(taken);
  return (void *)start;
}

SEEN static size_t read_all(char **text) {
  enum { chunk = 65536 };
  size_t length = 0;
  *text = take(0);
  for (;;) {
    char *at = take(chunk);
    struct buffer into = {at, chunk};
    size_t done = 0;
    if (fd_read(0, &into, 1, &done) != 0) proc_exit(2);
    taken = (uintptr_t)at + done; /* what follows stands right behind it */
    if (done == 0) return length;
    length += done;
    if (taken & 7) {
      /* Blocks begin at multiples of 8: read on until one is reached. */
      while (taken & 7) {
        struct buffer one = {(void *)taken, 1};
        if (fd_read(0, &one, 1, &done) != 0) proc_exit(2);
        if (done == 0) return length;
        taken += 1;
        length += 1;
      }
    }
  }
}

enum { buckets = 4096 };
static struct word *table[buckets];

SEEN static uint32_t hash(const char *text, size_t length) {
  uint32_t value = 2166136261u;
  for (size_t at = 0; at < length; at++) value = (value ^ (unsigned char)text[at]) * 16777619u;
  return value;
}

static int is_same(const struct word *word, const char *text, size_t length) {
  if (word->length != length) return 0;
  for (size_t at = 0; at < length; at++) {
    if (word->text[at] != text[at]) return 0;
  }
  return 1;
}

SEEN static void count_word(const char *text, size_t length) {
  struct word **place = &table[hash(text, length) % buckets];
  for (struct word *word = *place; word != NULL; word = word->next) {
    if (is_same(word, text, length)) {
      word->count++;
      return;
    }
  }
  struct word *word = take(sizeof *word);
  *word = (struct word){text, length, 1, *place};
  *place = word;
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

SEEN static void count_line(const char *line, size_t length) {
  for (size_t at = 0; at < length;) {
    size_t start = at;
    while (at < length && is_letter(line[at])) at++;
    if (at > start) count_word(line + start, at - start);
    else at++;
  }
}

SEEN static void count_words(const char *text, size_t length) {
  size_t start = 0;
  for (size_t at = 0; at <= length; at++) {
    if (at < length && text[at] != '\n') continue;
    count_line(text + start, at - start);
    start = at + 1;
  }
}

static int is_before(const struct word *one, const struct word *other) {
  if (one->count != other->count) return one->count > other->count;
  size_t shared = one->length < other->length ? one->length : other->length;
  for (size_t at = 0; at < shared; at++) {
    if (one->text[at] != other->text[at]) return one->text[at] < other->text[at];
  }
  return one->length < other->length;
}

SEEN static void sort(struct word **words, size_t length) {
  if (length < 2) return;
  const struct word *pivot = words[(length - 1) / 2];
  size_t low = 0, high = length - 1;
  for (;; low++, high--) {
    while (is_before(words[low], pivot)) low++;
    while (is_before(pivot, words[high])) high--;
    if (low >= high) break;
    struct word *swapped = words[low];
    words[low] = words[high];
    words[high] = swapped;
  }
  sort(words, high + 1);
  sort(words + high + 1, length - high - 1);
}

SEEN static void write_line(const struct word *word) {
  char digits[12];
  size_t from = sizeof digits;
  digits[--from] = '\n';
  for (uint32_t rest = word->count; from == sizeof digits - 1 || rest > 0; rest /= 10) digits[--from] = '0' + rest % 10;
  digits[--from] = ' ';
  struct buffer parts[] = {{word->text, word->length}, {digits + from, sizeof digits - from}};
  size_t done;
  if (fd_write(1, parts, 2, &done) != 0) proc_exit(3);
}

SEEN static void report(size_t most) {
  size_t count = 0;
  for (size_t at = 0; at < buckets; at++) {
    for (struct word *word = table[at]; word != NULL; word = word->next) count++;
  }
  struct word **words = take(count * sizeof *words);
  size_t next = 0;
  for (size_t at = 0; at < buckets; at++) {
    for (struct word *word = table[at]; word != NULL; word = word->next) words[next++] = word;
  }
  sort(words, count);
  for (size_t at = 0; at < count && at < most; at++) write_line(words[at]);
}

__attribute__((export_name("_start"))) void _start(void) {
  char *text;
  size_t length = read_all(&text);
  count_words(text, length);
  report(10);
}
