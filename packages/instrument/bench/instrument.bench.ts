/**
 * Measures `instrument()` with everything traced, beside `WebAssembly.validate()` (native code on several threads), binaryen
 * from the registry, and itself at another revision, all in turn in one process; then its memory and the command line's cold
 * start in processes of their own. Times are the best of several runs. On a busy machine only the ratios mean something.
 *
 *     node packages/instrument/bench/instrument.bench.ts [--base <revision>] [module or folder …]
 *
 * Without modules it takes those that are installed for the tests and the proof. The base is `main`, unless that is what stands here.
 */
import { parseArgs } from 'node:util';
import { readSections } from '../src/binary/sections.ts';
import { instrument } from '../src/index.ts';
import { loadBase } from './support/base-revision.ts';
import { type BenchModule, loadModules } from './support/bench-modules.ts';
import { measureColdMs, measurePeakBytes } from './support/cold-run.ts';
import { measureBinaryenMs } from './support/rivals.ts';

const { values, positionals } = parseArgs({
  options: { base: { type: 'string', default: 'main' } },
  allowPositionals: true,
});

/** Binaryen takes a second for three MB, and longer than that for no module that teaches more. */
const maxBinaryenBytes = 3_000_000;
/** The aims are for modules above this. */
const largeBytes = 1_000_000;

interface Row {
  readonly name: string;
  readonly bytes: number;
  readonly validateMs: number;
  readonly instrumentMs: number;
  readonly baseMs: number | undefined;
  readonly binaryenMs: number | undefined;
  readonly growth: number;
  readonly growthWithoutNames: number;
  readonly peakBytes: number;
}

/** The best time of each, taken in turn, so that what disturbs the machine disturbs all of them. */
function bestMs(runs: readonly (() => unknown)[], budgetMs: number): number[] {
  const best = runs.map(() => Number.POSITIVE_INFINITY);
  const begin = performance.now();
  for (let round = 0; round < 5 || performance.now() - begin < budgetMs; round++) {
    runs.forEach((run, index) => {
      const start = performance.now();
      run();
      best[index] = Math.min(best[index] as number, performance.now() - start);
    });
  }
  return best;
}

function nameSectionBytes(bytes: Uint8Array): number {
  return readSections(bytes)
    .filter(({ id, name }) => id === 0 && name === 'name')
    .reduce((total, { start, end }) => total + end - start, 0);
}

function measure({ name, bytes }: BenchModule, baseInstrument: typeof instrument | undefined): Row {
  const output = instrument(bytes).bytes;
  if (!WebAssembly.validate(bytes)) console.log(`${name} does not validate here: its validate column means nothing`);
  const runs = [() => WebAssembly.validate(bytes), () => instrument(bytes)];
  if (baseInstrument !== undefined) runs.push(() => baseInstrument(bytes));
  const [validateMs, instrumentMs, baseMs] = bestMs(runs, 3_000) as [number, number, number | undefined];
  const addedNames = nameSectionBytes(output) - nameSectionBytes(bytes);
  return {
    name,
    bytes: bytes.length,
    validateMs,
    instrumentMs,
    baseMs,
    binaryenMs: bytes.length <= maxBinaryenBytes ? measureBinaryenMs(bytes) : undefined,
    growth: output.length / bytes.length - 1,
    growthWithoutNames: (output.length - addedNames) / bytes.length - 1,
    peakBytes: measurePeakBytes(bytes),
  };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

const columns: readonly (readonly [string, (row: Row) => string])[] = [
  ['module', ({ name }) => name.slice(0, 24)],
  ['MB', ({ bytes }) => (bytes / 1e6).toFixed(2)],
  ['validate', ({ validateMs }) => `${validateMs.toFixed(1)} ms`],
  ['instrument', ({ instrumentMs }) => `${instrumentMs.toFixed(1)} ms`],
  ['ratio', (row) => (row.instrumentMs / row.validateMs).toFixed(2)],
  ['MB/s', ({ bytes, instrumentMs }) => (bytes / 1_000 / instrumentMs).toFixed(0)],
  ['base', ({ baseMs }) => (baseMs === undefined ? '' : `${baseMs.toFixed(1)} ms`)],
  ['binaryen', ({ binaryenMs }) => (binaryenMs === undefined ? '' : `${binaryenMs.toFixed(0)} ms`)],
  ['growth', ({ growth }) => `${(100 * growth).toFixed(1)} %`],
  ['without names', ({ growthWithoutNames }) => `${(100 * growthWithoutNames).toFixed(1)} %`],
  ['peak', ({ bytes, peakBytes }) => `${(peakBytes / bytes).toFixed(1)} x`],
];

function printLine(cells: readonly string[]): void {
  console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(24) : cell.padStart(11))).join(' '));
}

const base = await loadBase(values.base);
console.log(base ? `base is ${base.revision}` : `${values.base} is no other revision of the rewriter: no base column`);
printLine(columns.map(([title]) => title));
const rows: Row[] = [];
let cold: BenchModule | undefined;
for (const module of loadModules(positionals)) {
  const row = measure(module, base?.instrument);
  printLine(columns.map(([, format]) => format(row)));
  rows.push(row);
  // The aim for a cold start is for 14 MB: the module that comes nearest stands for it.
  const distance = ({ bytes }: BenchModule) => Math.abs(bytes.length - 14e6);
  if (cold === undefined || distance(module) < distance(cold)) cold = module;
}
const large = rows.filter(({ bytes }) => bytes > largeBytes);
const ratios = large.map((row) => row.instrumentMs / row.validateMs);
const speedups = large.flatMap(({ baseMs, instrumentMs }) => (baseMs === undefined ? [] : [baseMs / instrumentMs]));
const rate = median(large.map((row) => row.bytes / 1_000 / row.instrumentMs));
const growth = median(large.map((row) => 100 * row.growthWithoutNames));
console.log(
  `median of ${large.length} above 1 MB: ${rate.toFixed(0)} MB/s, ${median(ratios).toFixed(2)} times validation ` +
    `(at most ${Math.max(...ratios).toFixed(2)}), +${growth.toFixed(1)} %`,
);
if (speedups.length > 0) console.log(`${median(speedups).toFixed(2)} times as fast as the base`);
if (cold !== undefined) {
  const size = (cold.bytes.length / 1e6).toFixed(1);
  console.log(
    `cold: tenon instrument ${cold.name} (${size} MB): ${measureColdMs(cold.bytes).toFixed(0)} ms beyond Node`,
  );
}
