static int halve_or_grow(int n) {
  if (n % 2 == 0) {
    return n / 2;
  }
  return 3 * n + 1;
}

int unused(int n) {
  return n + 1;
}

int collatz(int n) {
  int steps = 0;
  while (n != 1) {
    if (n < 1) {
      steps = -1;
      break;
    }
    n = halve_or_grow(n);
    steps++;
  }
  return steps;
}
