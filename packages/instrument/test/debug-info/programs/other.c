#include "clamp.h"

extern void log_number(int) __attribute__((import_module("env"), import_name("log")));

struct pair { int x, y; };

static int walk(struct pair *q, int n) {
  int acc = 0;
  while (n-- > 0) {
    acc += q->x * q->y;
    acc = mix(acc, n);
    if (acc == 77) __builtin_trap();
  }
  return acc;
}

int other(int a, int b) {
  struct pair v = {a, b};
  if (a == 0x1234) {
    log_number(b);
    return b;
  }
  switch (b & 3) {
    case 0:
      return walk(&v, 4);
    case 1:
      return walk(&v, 9) + 1;
    case 2:
      log_number(walk(&v, a & 15));
  }
  return a / (b | 1);
}
