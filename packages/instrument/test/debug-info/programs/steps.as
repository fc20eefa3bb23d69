class Step {
  constructor(public size: i32) {}
  @inline
  twice(): i32 {
    return this.size * 2;
  }
}

function sum(steps: Step[]): i32 {
  let total = 0;
  for (let at = 0; at < steps.length; at++) {
    total += steps[at].twice();
  }
  return total;
}

export function run(count: i32): i32 {
  const steps: Step[] = [];
  for (let at = 0; at < count; at++) steps.push(new Step(at));
  if (count > 100) throw new Error('too many');
  return sum(steps);
}
