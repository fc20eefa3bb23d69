static inline __attribute__((always_inline)) int check(int x) {
  if (x > 90) __builtin_trap();
  return x * 2;
}

__attribute__((noinline)) static int sum(int count) {
  int total = 0;
  for (int i = 0; i < count; i++) total += check(i);
  return total;
}

__attribute__((export_name("run"))) int run(int count) { return sum(count) + 1; }
