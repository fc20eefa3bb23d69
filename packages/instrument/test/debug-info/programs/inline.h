static inline __attribute__((always_inline)) int square(int x) {
  return x * x + 1;
}

static inline __attribute__((always_inline)) int cube(int x) {
  int result = square(x);
  return result * x;
}
