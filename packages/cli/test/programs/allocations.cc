// Allocates by the operators of C++. Linked with --wrap for each of them.
#include "count-allocations.h"
#include <memory>
#include <string>
#include <vector>

// The operators of arrays call those of single objects.
static int depth;

extern "C" {
void *__real__Znwm(size_t);
void *__real__Znam(size_t);
void __real__ZdlPv(void *);
void __real__ZdaPv(void *);

void *__wrap__Znwm(size_t size) {
  void *pointer = __real__Znwm(size);
  if (depth == 0) count_allocated(pointer, size);
  return pointer;
}

void *__wrap__Znam(size_t size) {
  depth++;
  void *pointer = __real__Znam(size);
  depth--;
  count_allocated(pointer, size);
  return pointer;
}

void __wrap__ZdlPv(void *pointer) {
  if (depth == 0) count_freed(pointer);
  __real__ZdlPv(pointer);
}

void __wrap__ZdaPv(void *pointer) {
  count_freed(pointer);
  depth++;
  __real__ZdaPv(pointer);
  depth--;
}
}

static size_t calls;
// Keeps the compiler from leaving allocations out.
static void *volatile last;

__attribute__((noinline)) static size_t step(int number) {
  calls++;
  auto shared = std::make_shared<std::vector<std::string>>();
  for (int at = 0; at < number % 7; at++) shared->push_back(std::string(10 + number % 50, 'x'));
  std::unique_ptr<int[]> array(new int[1 + number % 9]);
  last = array.get();
  if (number % 100 == 0) {
    array.release();
    last = new std::string(40, 'y');
  }
  return shared->size();
}

int main() {
  size_t sum = 0;
  for (int number = 0; number < 2000; number++) sum += step(number);
  write_counts(calls);
  return sum == 0;
}
