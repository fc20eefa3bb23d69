import assert from 'node:assert/strict';
import { type CoverageMap, readCounters, readCoverageMap } from '@tenon/instrument/coverage';
import { type InstrumentOptions, instrument } from '../../../src/index.ts';
import { createTrace } from '../trace.ts';
import { type DecodedFunction, decodeCode } from './decode.ts';
import { costsFuel, createInterpreter } from './interpreter.ts';
import { makeRandomProgram } from './random-program.ts';
import type { Ending } from './stop.ts';

/** What the programs of one seed showed. */
export interface Counted {
  readonly calls: number;
  readonly instructions: number;
  readonly blocks: number;
  readonly outOfFuel: number;
}

const maxSteps = 2_000;
const plentyOfFuel = 1_000_000;
const argumentsOfCalls = [0, 1, 3, 250];

/**
 * Runs a random program by the interpreter, by the engine as it is, and by the engine with counters and with fuel. The
 * results, the counter of each block, and the fuel must agree, and a program without enough fuel must stop at the same
 * point.
 */
export function checkCounts(seed: number): Counted {
  const { bytes, functionCount } = makeRandomProgram(seed);
  const functions = decodeCode(bytes);
  const traced: InstrumentOptions = seed & 1 ? {} : { trace: false };
  const counted = instrument(bytes, { ...traced, coverage: true }).bytes;
  const fueled = instrument(bytes, { ...traced, coverage: true, fuel: plentyOfFuel }).bytes;
  const map = readCoverageMap(counted) as CoverageMap;
  const costs = costsOf(map, functions);
  const withoutOutput = (value: CoverageMap) =>
    value.functions.map(({ blocks }) => blocks.map(({ counter, start, end }) => [counter, start, end]));
  assert.deepEqual(withoutOutput(readCoverageMap(fueled) as CoverageMap), withoutOutput(map));

  const interpreter = createInterpreter(functions, maxSteps, costs);
  interpreter.setFuel(plentyOfFuel);
  const instances = [bytes, counted, fueled].map(instantiate);
  const [, countedExports, fueledExports] = instances as [
    WebAssembly.Exports,
    WebAssembly.Exports,
    WebAssembly.Exports,
  ];
  let calls = 0;
  let outOfFuel = 0;
  for (let callee = 0; callee < functionCount; callee++) {
    for (const argument of argumentsOfCalls) {
      const where = `seed ${seed}: function ${callee} of ${argument}`;
      const ending = interpreter.run(callee, argument);
      if (ending === 'too long') {
        // The same in the engine would take long, too: only fuel ends it.
        checkStop(fueled, functions, map, costs, callee, argument, 500 + (seed % 250), where);
        return { ...totals(), calls, outOfFuel: outOfFuel + 1 };
      }
      calls++;
      for (const exports of instances) assert.deepEqual(endingOf(exports, callee, argument), ending, where);
      const used = plentyOfFuel - interpreter.fuel;
      if (used > 1 && used < 500) {
        outOfFuel += checkStop(fueled, functions, map, costs, callee, argument, seed % used, where);
      }
    }
  }
  checkBlocks(map, functions, interpreter, readCounters(map, countedExports), seed);
  assert.deepEqual(readCounters(map, fueledExports), readCounters(map, countedExports));
  assert.equal(
    (fueledExports['tenon:fuel'] as WebAssembly.Global).value,
    BigInt(interpreter.fuel),
    `seed ${seed}: fuel`,
  );
  return { ...totals(), calls, outOfFuel };

  function totals() {
    const instructions = [...interpreter.executed.values()].reduce((sum, count) => sum + count, 0);
    return { instructions, blocks: map.blockCount };
  }
}

/** The cost of each block, by the offset of its first instruction. */
function costsOf(map: CoverageMap, functions: readonly DecodedFunction[]): Map<number, { readonly cost: number }> {
  return new Map(
    map.functions.flatMap(({ functionIndex, blocks }) =>
      blocks.map(({ start, end }) => {
        const { instructions } = functions[functionIndex] as DecodedFunction;
        const own = instructions.filter((item) => item.offset >= start && item.offset < end && costsFuel(item));
        return [start, { cost: own.length }] as const;
      }),
    ),
  );
}

type Interpreter = ReturnType<typeof createInterpreter>;

/** Each instruction of a block ran as often as the block, less what an earlier one cut off; all others never ran. */
function checkBlocks(
  map: CoverageMap,
  functions: readonly DecodedFunction[],
  { executed, cut }: Interpreter,
  counts: Float64Array,
  seed: number,
): void {
  for (const { functionIndex, blocks } of map.functions) {
    const { instructions } = functions[functionIndex] as DecodedFunction;
    for (const instruction of instructions.filter(costsFuel)) {
      const { offset } = instruction;
      const where = `seed ${seed}: function ${functionIndex} at ${offset}`;
      const around = blocks.filter(({ start, end }) => offset >= start && offset < end);
      assert.ok(around.length <= 1, `${where}: ${around.length} blocks`);
      const [block] = around;
      let expected = block === undefined ? 0 : (counts[block.counter] as number);
      for (const before of instructions) {
        if (block !== undefined && before.offset >= block.start && before.offset < offset) {
          expected -= cut.get(before.offset) ?? 0;
        }
      }
      assert.equal(executed.get(offset) ?? 0, expected, where);
    }
    const first = instructions[0];
    assert.equal(first && executed.get(first.offset), counts[blocks[0]?.counter ?? -1] || undefined, `seed ${seed}`);
  }
}

/** Runs a call with little fuel, twice, and compares where it stops with the interpreter. Returns 1 if it does. */
function checkStop(
  fueled: Uint8Array<ArrayBuffer>,
  functions: readonly DecodedFunction[],
  map: CoverageMap,
  costs: Map<number, { readonly cost: number }>,
  callee: number,
  argument: number,
  fuel: number,
  where: string,
): number {
  const interpreter = createInterpreter(functions, 10 * maxSteps, costs);
  interpreter.setFuel(fuel);
  const ending = interpreter.run(callee, argument);
  assert.notEqual(ending, 'too long', where);
  for (let run = 0; run < 2; run++) {
    const exports = instantiate(fueled);
    const left = exports['tenon:fuel'] as WebAssembly.Global;
    left.value = BigInt(fuel);
    assert.equal(endingOf(exports, callee, argument), ending === 'out of fuel' ? 'trap' : ending, where);
    assert.equal(left.value, BigInt(interpreter.fuel), `${where}: fuel`);
    const counts = readCounters(map, exports);
    for (const { blocks } of map.functions) {
      for (const { counter, start } of blocks) {
        const stopped = ending === 'out of fuel' && interpreter.stoppedAt === start ? 1 : 0;
        assert.equal(counts[counter], (interpreter.executed.get(start) ?? 0) + stopped, `${where}: block at ${start}`);
      }
    }
  }
  return ending === 'out of fuel' ? 1 : 0;
}

function instantiate(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), createTrace().imports).exports;
}

function endingOf(exports: WebAssembly.Exports, callee: number, argument: number): Ending {
  try {
    return (exports[callee] as (argument: number) => number)(argument);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return 'trap';
    if (error instanceof WebAssembly.Exception) return 'exception';
    throw error;
  }
}
