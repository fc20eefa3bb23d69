import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { customSection as encodeCustomSection, text } from '../../../test/helpers/module-bytes.ts';
import { readBodyBounds } from '../src/binary/code.ts';
import { readModule } from '../src/binary/module.ts';
import { type InstrumentOptions, type InstrumentResult, instrument } from '../src/index.ts';
import { scanCode } from '../src/scan/scan-code.ts';
import { corpusIsMissing, corpusRequire } from './support/corpus.ts';
import { customSection } from './support/sections.ts';
import { createTrace } from './support/trace.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

const program = `
class Point { constructor(public x: i32, public y: i32) {} sum(): i32 { return this.x + this.y; } }
const table: ((value: i32) => i32)[] = [(value) => value + 1, (value) => value * 2];
function early(value: i32): i32 { if (value > 10) { return 10; } return value; }
export function work(count: i32): i32 {
  let total = 0;
  const points: Point[] = [];
  for (let at = 0; at < count; at++) {
    points.push(new Point(at, total));
    total += table[at & 1](early(at)) + points[at].sum();
    if (total > 1000000) { return total; }
  }
  return total + 'text'.concat(total.toString()).length;
}
export function fail(index: i32): i32 {
  const few: i32[] = [1, 2, 3];
  if (index > 5) { unreachable(); }
  return few[index];
}
`;

interface Mapping {
  readonly generatedColumn: number;
  readonly source: string | null;
  readonly originalLine: number | null;
  readonly originalColumn: number | null;
  readonly name: string | null;
}

/** The positions at an offset in the file: a compiler may give an instruction several. */
type Positions = (offset: number) => readonly string[];

interface Consumer {
  readonly eachMapping: (visit: (mapping: Mapping) => void) => void;
  readonly destroy: () => void;
}

/** Reads a map with a library that shares nothing with this project. */
async function readMap(json: string): Promise<Positions> {
  const { SourceMapConsumer } = corpusRequire('source-map') as {
    SourceMapConsumer: new (json: string) => Promise<Consumer>;
  };
  const consumer = await new SourceMapConsumer(json);
  const byColumn = new Map<number, string[]>();
  consumer.eachMapping(({ generatedColumn, source, originalLine, originalColumn, name }) => {
    const positions = byColumn.get(generatedColumn) ?? [];
    if (source !== null) positions.push(`${source}:${originalLine}:${originalColumn} ${name ?? ''}`);
    byColumn.set(generatedColumn, positions);
  });
  consumer.destroy();
  for (const positions of byColumn.values()) positions.sort();
  const columns = [...byColumn.keys()].sort((a, b) => a - b);
  return (offset) => {
    let low = 0;
    for (let high = columns.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((columns[middle] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return byColumn.get(columns[low - 1] ?? -1) ?? [];
  };
}

interface Instruction {
  readonly offset: number;
  readonly opcode: number;
}

/** The instructions of each body without its last `end`, by offset in the file. */
function instructionsOf(bytes: Uint8Array): Instruction[][] {
  const module = readModule(bytes);
  const bounds = readBodyBounds(module);
  const bodies: Instruction[][] = Array.from({ length: bounds.length / 2 }, () => []);
  scanCode(module, bounds, () => {}, {
    onLocals() {},
    onInstruction(offset, _, functionIndex) {
      const body = bodies[functionIndex - module.importedFunctions.length];
      body?.push({ offset, opcode: bytes[offset] as number });
    },
  });
  return bodies;
}

const [block, end, br, returnOp, call, i32Const, memoryGrow] = [0x02, 0x0b, 0x0c, 0x0f, 0x10, 0x41, 0x40];

/** Takes away what was added to a body without exception handling, and leaves the instructions of the input. */
function withoutAdded(
  bytes: Uint8Array,
  before: readonly Instruction[],
  after: readonly Instruction[],
  hooks: number[],
) {
  const isHookCall = ({ offset, opcode } = { offset: 0, opcode: 0 }) =>
    opcode === call && hooks.includes(bytes[offset + 1] as number) && (bytes[offset + 1] as number) < 0x80;
  const kept = after.filter((instruction, at) => {
    const isConstant = instruction.opcode === i32Const && isHookCall(after[at + 1]);
    return !isConstant && !isHookCall(instruction);
  });
  if (kept.length === before.length + 2) {
    assert.equal(kept[0]?.opcode, block);
    assert.equal(kept.pop()?.opcode, end);
    kept.shift();
  }
  assert.equal(kept.length, before.length);
  const changed = new Map([
    [returnOp, br],
    [memoryGrow, call],
  ]);
  before.forEach(({ opcode }, at) => {
    const found = kept[at]?.opcode as number;
    assert.ok(found === opcode || found === changed.get(opcode), `${opcode} became ${found}`);
  });
  return kept;
}

describe('instrument() on source maps of AssemblyScript', { skip: corpusIsMissing }, () => {
  if (corpusIsMissing) return;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-source-maps-'));
    await copyFile(join(root, 'packages/cli/templates/assemblyscript/package.json'), join(folder, 'package.json'));
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
    await writeFile(join(folder, 'program.ts'), program);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const level of ['-O0', '-O2', '-O3']) {
    it(`${level}: every instruction keeps its position`, async (test) => {
      const compiler = [join(folder, 'node_modules/assemblyscript/bin/asc.js'), 'program.ts', level];
      await run(process.execPath, [...compiler, '--sourceMap', '--outFile', 'program.wasm'], { cwd: folder });
      const input = new Uint8Array(await readFile(join(folder, 'program.wasm')));
      const map = await readFile(join(folder, 'program.wasm.map'), 'utf8');
      assert.equal(
        new TextDecoder().decode(customSection(input, 'sourceMappingURL')?.subarray(1)),
        './program.wasm.map',
      );

      const options: InstrumentOptions = { sourceMap: map, sourceMapUrl: 'new.map' };
      for (const more of [{}, { allowed: ['work'] }, { banned: ['~lib/rt/*'], patterns: true }]) {
        const { bytes, sourceMap, report } = instrument(input, { ...options, ...more });
        assert.deepEqual(
          report.notes.filter(({ code }) => code !== 'name_not_found'),
          [],
        );
        const compared = await comparePositions(input, map, bytes, sourceMap ?? '');
        test.diagnostic(`${compared} instructions`);
        assert.ok(compared > 500);
      }

      // The same map inside of the module.
      const url = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
      const position = Buffer.from(input).lastIndexOf('sourceMappingURL');
      const bare = input.subarray(0, position - 1 - sizeBytesBefore(input, position));
      const inline = Uint8Array.from([...bare, ...encodeCustomSection('sourceMappingURL', text(url))]);
      const { bytes } = instrument(inline);
      const embedded = new TextDecoder().decode(customSection(bytes, 'sourceMappingURL'));
      const json = Buffer.from(embedded.slice(embedded.indexOf(',') + 1), 'base64').toString();
      await comparePositions(inline, map, bytes, json);

      await compareTraps(level, input, map, instrument(input, options));
    });
  }

  /** Compares the positions of all instructions before and after, and returns their number. */
  async function comparePositions(input: Uint8Array, map: string, output: Uint8Array, outputMap: string) {
    const [first, second] = [await readMap(map), await readMap(outputMap)];
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(output)));
    const functions = imports.filter(({ kind }) => kind === 'function');
    const hooks = functions.flatMap(({ module, name }, index) =>
      module === 'dylibso:observe/instrument' && name !== 'memory-grow' ? [index] : [],
    );
    const after = instructionsOf(output);
    let compared = 0;
    let mapped = 0;
    instructionsOf(input).forEach((before, body) => {
      const kept = withoutAdded(output, before, after[body] as Instruction[], hooks);
      before.forEach(({ offset }, at) => {
        const expected = first(offset);
        assert.deepEqual(second(kept[at]?.offset as number), expected, `at ${offset}`);
        compared++;
        if (expected.length > 0) mapped++;
      });
    });
    assert.ok(mapped > compared / 2, `${mapped} of ${compared} have a position`);
    return compared;
  }

  /** Compares the positions of the frames of traps. */
  async function compareTraps(level: string, input: Uint8Array, map: string, output: InstrumentResult) {
    const [first, second] = [await readMap(map), await readMap(output.sourceMap ?? '')];
    const positions = (bytes: Uint8Array, find: Positions, index: number) => {
      const module = new WebAssembly.Module(new Uint8Array(bytes));
      const abort = () => {
        throw new Error('aborted');
      };
      const { exports } = new WebAssembly.Instance(module, { env: { abort }, ...createTrace(0).imports });
      assert.equal((exports.work as (count: number) => number)(20) > 0, true);
      try {
        (exports.fail as (index: number) => number)(index);
      } catch (error) {
        const frames = String((error as Error).stack).matchAll(/:wasm-function\[\d+\]:0x([0-9a-f]+)/g);
        // A call of an import passes its wrapper, which has no position.
        return Array.from(frames, ([, offset]) => find(Number.parseInt(offset as string, 16)).join()).filter(Boolean);
      }
      return [];
    };
    for (const index of [4, 9]) {
      const expected = positions(input, first, index);
      // Optimised code may have no position there.
      if (level === '-O0') assert.match(expected.join(), /program\.ts/);
      assert.deepEqual(positions(output.bytes, second, index), expected);
    }
  }
});

/** The length of a section's size and its name's length, which come before the name. */
function sizeBytesBefore(bytes: Uint8Array, position: number): number {
  let length = 2;
  while (((bytes[position - 1 - length] as number) & 0x80) !== 0) length++;
  return length;
}
