/**
 * Rows with a value of each factor, in which any two values of two factors occur together at least once. Greedy, and the same
 * on each call: each row begins with a missing pair, and takes from every other factor the value that covers most of them.
 */
export function pairwise<Value>(factors: Readonly<Record<string, readonly Value[]>>): Value[][] {
  const lists = Object.values(factors);
  const pairOf = (a: number, valueA: number, b: number, valueB: number) =>
    a < b ? `${a}.${valueA} ${b}.${valueB}` : `${b}.${valueB} ${a}.${valueA}`;
  const missing = new Set<string>();
  for (const [a, valuesA] of lists.entries()) {
    for (const [b, valuesB] of lists.entries()) {
      if (a >= b) continue;
      for (const valueA of valuesA.keys())
        for (const valueB of valuesB.keys()) missing.add(pairOf(a, valueA, b, valueB));
    }
  }
  const rows: Value[][] = [];
  for (const pair of missing) {
    const chosen = new Map(pair.split(' ').map((part) => part.split('.').map(Number) as [number, number]));
    for (const [index, values] of lists.entries()) {
      if (chosen.has(index)) continue;
      const gains = values.map(
        (_, value) => [...chosen].filter((other) => missing.has(pairOf(index, value, ...other))).length,
      );
      chosen.set(index, gains.indexOf(Math.max(...gains)));
    }
    for (const one of chosen) for (const other of chosen) missing.delete(pairOf(...one, ...other));
    rows.push(lists.map((values, index) => values[chosen.get(index) as number] as Value));
  }
  return rows;
}
