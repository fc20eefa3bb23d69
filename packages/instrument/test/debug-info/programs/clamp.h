static inline int clamp(int x, int lo, int hi) { if (x < lo) return lo; if (x > hi) return hi; return x; }
static inline __attribute__((always_inline)) int mix(int a, int b) {
  int c = a * 31 + b;
  c ^= c >> 7;
  return clamp(c, -5000, 5000) + 1;
}
