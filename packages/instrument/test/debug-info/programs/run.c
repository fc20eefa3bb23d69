#include "clamp.h"

extern int other(int, int);
__attribute__((import_module("env"), import_name("log"))) void log_number(int);

static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }

__attribute__((noinline)) static int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total += clamp(p[i], 0, 100);
    if (total > 1000) return total;
  }
  return total;
}

static int table[64];
typedef int (*operation)(int, int);
operation operations[2] = {other, other};

__attribute__((export_name("run"))) int run(int n) {
  for (int i = 0; i < 64; i++) table[i] = mix(i, n);
  log_number(n);
  int s = sum(table, 64);
  int f = fact(n & 7);
  int r = operations[n & 1](s, f);
  log_number(r);
  return other(r, mix(r, f));
}

/* Traps in an inlined call: memory has a page. */
__attribute__((export_name("trap"))) int trap(int n) {
  volatile int *far = (int *)0x7fff0000;
  return n == 0 ? mix(far[0], 1) : trap(n - 1) + 1;
}
