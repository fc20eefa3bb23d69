#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inline.h"

int unused(int x) { return x - 1; }

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) int work(int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total += cube(i);
    if (total & 1)
      total += square(total);
    else
      total -= fib(i & 7);
  }
  return total;
}

int main(int argc, char **argv) {
  char *text = malloc(100);
  strcpy(text, argv[0] ? "hello" : "bye");
  printf("%s %d\n", text, work(argc + 10));
  free(text);
  return 0;
}
