import assert from 'node:assert/strict';
import { encode } from '../../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../../test/helpers/call-trees/make-program.ts';
import type { Event } from '../../../../test/helpers/call-trees/model.ts';
import { predict, runProgram, untracedNames } from '../../../../test/helpers/call-trees/run-program.ts';
import { type CoverageMap, readCounters, readCoverageMap } from '../../src/coverage/index.ts';
import { type InstrumentOptions, type InstrumentReport, instrument } from '../../src/index.ts';
import { hintedOpcodes } from './branch-hints.ts';

/** What one program showed. */
export interface Tally {
  readonly calls: number;
  readonly events: number;
}

/** Options that must change nothing else. */
type Options = InstrumentOptions | ((input: Uint8Array) => InstrumentOptions);

const maxSteps = 3_000;
const hookModule = 'dylibso:observe/instrument';

/**
 * Makes the program of a seed, and has it run three times: by the model, by the engine as it is, and by the engine
 * instrumented. All must end alike, and the events must be the model's, one by one.
 *
 * @param extraImports for the output, with options that need them
 */
export function checkCallTree(seed: number, options: Options = {}, extraImports: WebAssembly.Imports = {}): Tally {
  const program = makeProgram(seed);
  const input = encode(program, seed);
  const expected = predict(program, maxSteps);
  const plain = runProgram(program, expected.calls, (imports) => exportsOf(input, imports));
  assert.deepEqual(plain, expected.outcomes, `seed ${seed}: the model and the engine end alike`);
  const { bytes, report } = instrument(input, {
    banned: untracedNames(program),
    exceptionHandling: seed & 1 ? 'exnref' : 'legacy',
    ...(typeof options === 'function' ? options(input) : options),
  });
  const { length: importCount } = program.imports;
  const { length: addedCount } = report.addedImports;
  assert.deepEqual(
    hintedOpcodes(bytes, importCount + addedCount),
    hintedOpcodes(input, importCount),
    `seed ${seed}: branch hints speak of the same instructions`,
  );
  const events: Event[] = [];
  const inputIndex = (index: number) => (index < importCount ? index : index - addedCount);
  const hooks = {
    enter: (index: number) => events.push(`enter ${inputIndex(index)}`),
    exit: (index: number) => events.push(`exit ${inputIndex(index)}`),
    'memory-grow': (pages: number) => events.push(`grow ${pages}`),
  };
  let exports: WebAssembly.Exports | undefined;
  const traced = runProgram(program, expected.calls, (imports) => {
    exports = exportsOf(bytes, { ...imports, ...extraImports, [hookModule]: hooks });
    return exports;
  });
  assert.deepEqual(traced, expected.outcomes, `seed ${seed}: the instrumented module ends as the original`);
  assert.deepEqual(events, expected.events, `seed ${seed}: the events are those of the model`);
  const map = readCoverageMap(bytes);
  if (map !== undefined && exports !== undefined) checkEntryCounts(map, exports, report, events, seed);
  return { calls: expected.calls.length, events: events.length };
}

/** The first block of a traced function runs as often as the function is entered. */
function checkEntryCounts(
  map: CoverageMap,
  exports: WebAssembly.Exports,
  { notes }: InstrumentReport,
  events: readonly Event[],
  seed: number,
): void {
  assert.deepEqual(
    notes.filter(({ code }) => code === 'function_left_uncounted'),
    [],
  );
  const entered = new Map<number, number>();
  for (const event of events) {
    const [kind, index] = event.split(' ');
    if (kind === 'enter') entered.set(Number(index), (entered.get(Number(index)) ?? 0) + 1);
  }
  const counts = readCounters(map, exports);
  for (const { functionIndex, blocks } of map.functions) {
    const calls = entered.get(functionIndex);
    const counter = blocks[0]?.counter as number;
    if (calls !== undefined) assert.equal(counts[counter], calls, `seed ${seed}: function ${functionIndex}`);
  }
}

function exportsOf(bytes: Uint8Array, imports: WebAssembly.Imports): WebAssembly.Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), imports).exports;
}
