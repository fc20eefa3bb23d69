import assert from 'node:assert/strict';
import { encode } from '../../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../../test/helpers/call-trees/make-program.ts';
import type { CallNode } from '../../../../test/helpers/call-trees/model.ts';
import { predict, runProgram, untracedNames } from '../../../../test/helpers/call-trees/run-program.ts';
import { createRandom } from '../../../../test/helpers/random.ts';
import { instrument } from '../../src/index.ts';

const maxSteps = 3_000;
const hookModule = 'dylibso:observe/instrument';
const clockStart = 1_000;
const step = 1;

/**
 * Makes the program of a seed, has each function skip a random number of its first calls, and compares the events with the
 * model's. The clock moves on with skipped calls only, so it is known when each of them begins and ends. Returns how many
 * were skipped.
 */
export function checkSkippedCalls(seed: number): number {
  const program = makeProgram(seed);
  const expected = predict(program, maxSteps);
  const random = createRandom(seed);
  const minDuration = random.pick([1, 2, 3, 5, 100]);
  const { bytes, report } = instrument(encode(program, seed), {
    banned: untracedNames(program),
    exceptionHandling: seed & 1 ? 'exnref' : 'legacy',
    adaptive: true,
  });
  const importCount = program.imports.length;
  const outputIndex = (index: number) => (index < importCount ? index : index + report.addedImports.length);

  const events: string[] = [];
  let globals: WebAssembly.Exports = {};
  const global = (name: string) => globals[name] as WebAssembly.Global | undefined;
  const hooks = {
    enter: (index: number) => events.push(`enter ${index}`),
    exit: (index: number) =>
      events.push(index < 0 ? `skipped ${~index} ${global('tenon:skipped-call-start')?.value}` : `exit ${index}`),
    'memory-grow': (pages: number) => events.push(`grow ${pages}`),
  };
  const skips = new Map<number, number>();
  const outcomes = runProgram(program, expected.calls, (imports) => {
    const module = new WebAssembly.Module(new Uint8Array(bytes));
    const { exports } = new WebAssembly.Instance(module, { ...imports, [hookModule]: hooks });
    globals = exports;
    for (const [name, value] of Object.entries(exports)) {
      if (!name.startsWith('tenon:skip:')) continue;
      const count = random.pick([0, 0, 1, 2, 7, 1_000]);
      skips.set(Number(name.slice('tenon:skip:'.length)), count);
      (value as WebAssembly.Global).value = count;
    }
    if (skips.size > 0) {
      (global('tenon:clock') as WebAssembly.Global).value = clockStart;
      (global('tenon:clock-step') as WebAssembly.Global).value = step;
      (global('tenon:min-duration') as WebAssembly.Global).value = minDuration;
    }
    return exports;
  });
  assert.deepEqual(outcomes, expected.outcomes, `seed ${seed}: the instrumented module ends as the original`);

  let clock = clockStart;
  let skipped = 0;
  const wanted = expected.events.map((event) => {
    const [kind, number] = event.split(' ');
    return kind === 'grow' ? event : `${kind} ${outputIndex(Number(number))}`;
  });
  const replaced = new Map<number, string | undefined>();
  const visit = (node: CallNode, canSkip: boolean): void => {
    const index = outputIndex(node.index);
    const left = canSkip ? (skips.get(index) ?? 0) : 0;
    const since = clock;
    if (left > 0) {
      skips.set(index, left - 1);
      clock += step;
      skipped++;
    }
    for (const call of node.calls) visit(call, canSkip);
    if (left === 0) return;
    replaced.set(node.startTick, undefined);
    if (node.ending !== 'exit') return;
    replaced.set(node.endTick, clock - since >= minDuration ? `skipped ${index} ${since}` : undefined);
  };
  expected.roots.forEach((roots, turn) => {
    for (const root of roots) visit(root, turn > 0);
  });
  const left = wanted.flatMap((event, place) => {
    const tick = place + 1;
    return replaced.has(tick) ? (replaced.get(tick) ?? []) : event;
  });
  assert.deepEqual(events, left, `seed ${seed}: the events without those of skipped calls`);
  return skipped;
}
