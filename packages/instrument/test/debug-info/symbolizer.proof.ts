import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../../../test/helpers/random.ts';
import { readCodeBounds } from '../../src/debug-info/code-bounds.ts';
import { createSourceLookup, type SourceLookup } from '../../src/debug-info/index.ts';
import {
  describeModule,
  InstrumentError,
  instrument,
  listFunctions,
  listSections,
  readOffsetMap,
} from '../../src/index.ts';
import { outputInstruction } from '../../src/rewrite/offset-map.ts';
import { instructionsOf } from '../support/check-offset-map.ts';
import { compileDebug, debugPrograms, whyNotCompiled } from '../support/compile-debug.ts';

describe('source locations from DWARF', { skip: whyNotCompiled() }, () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-dwarf-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const program of debugPrograms) {
    it(`equal llvm-symbolizer's at every byte of code: ${program.name}`, async () => {
      const file = join(folder, 'program.wasm');
      const bytes = await compileDebug(program, file);
      const lookup = lookupOf(bytes);
      const offsets = codeOffsets(bytes);
      const expected = symbolize(file, offsets);
      assert.equal(expected.length, offsets.length);
      offsets.forEach((offset, at) => {
        const found = lookup.locate(offset);
        const text = found.map(({ file: path, line, column, function: name = '??' }) => [
          name,
          `${path}:${line}:${column}`,
        ]);
        assert.equal(text.flat().join('\n') || '??\n??:0:0', expected[at], `at 0x${offset.toString(16)}`);
      });
    });
  }

  it('are the same by ranges of lines as by instructions, and name every file', async () => {
    for (const program of debugPrograms) {
      const bytes = await compileDebug(program, join(folder, 'program.wasm'));
      const lookup = lookupOf(bytes);
      const files = new Set(lookup.files());
      const offsets = codeOffsets(bytes);
      const ranges = lookup.lineRanges(0, (offsets.at(-1) as number) + 1);
      const covered = new Uint8Array((offsets.at(-1) as number) + 1);
      for (const { start, end, file, line, column } of ranges) {
        assert.ok(start < end && files.has(file));
        const [first] = lookup.locate(start);
        assert.deepEqual({ ...first, function: undefined }, { file, line, column, function: undefined });
        for (let offset = start; offset < end; offset++) covered[offset] = (covered[offset] as number) + 1;
      }
      for (const offset of offsets) assert.equal(covered[offset], lookup.locate(offset).length > 0 ? 1 : 0);
    }
  });

  it('are the same in the instrumented module, by its DWARF, and by the original with the offset map', async () => {
    const cases = debugPrograms.flatMap((program) =>
      [{}, { coverage: true, fuel: 9 }].map((options) => ({ program, options })),
    );
    for (const { program, options } of cases) {
      const bytes = await compileDebug(program, join(folder, 'program.wasm'));
      const original = lookupOf(bytes);
      const output = instrument(bytes, { ...options, codeMap: true }).bytes;
      const map = readOffsetMap(output);
      assert.ok(map);
      const byMap = createSourceLookup(output, { debugFile: bytes });
      assert.ok(byMap);
      const rewritten = lookupOf(output);
      for (const offset of instructionsOf(bytes).flat()) {
        const moved = outputInstruction(map, offset - original.codeStart);
        const expected = original.locate(offset - original.codeStart);
        assert.deepEqual(byMap.locate(moved), expected, `${program.name} at ${offset}`);
        assert.deepEqual(rewritten.locate(moved), expected, `${program.name} at ${offset}, rewritten`);
      }
      const added = importCount(output) - importCount(bytes);
      for (const { index } of listFunctions(bytes).functions.slice(importCount(bytes))) {
        const expected = original.functionSource(index);
        assert.deepEqual(byMap.functionSource(index + added), expected, `${program.name}, function ${index}`);
        assert.deepEqual(rewritten.functionSource(index + added), expected, `${program.name}, function ${index}`);
      }
      assert.equal(createSourceLookup(instrument(bytes).bytes, { debugFile: bytes }), undefined, 'without the map');
    }
  });

  it('say where functions are declared', async () => {
    const [program] = debugPrograms;
    assert.ok(program);
    const bytes = await compileDebug(program, join(folder, 'program.wasm'));
    const lookup = lookupOf(bytes);
    const { functions } = listFunctions(bytes);
    const placeOf = (name: string) => {
      const source = lookup.functionSource(functions.find((each) => each.name === name)?.index ?? -1);
      return source && `${source.function} ${source.file.split('/').at(-1)}:${source.line}`;
    };
    assert.equal(placeOf('work'), 'work main.c:11');
    assert.equal(placeOf('fib'), 'fib main.c:9');
    assert.equal(placeOf('main'), '__main_argc_argv main.c:23');
    assert.equal(lookup.functionSource(0), undefined, 'an import');
    assert.equal(lookup.functionSource(1_000_000), undefined);
  });

  it('are the same for a trap before and after instrumentation', async () => {
    for (const level of ['0', '2']) {
      const flags = ['--target=wasm32', '-g', `-O${level}`, '-nostdlib', '-Wl,--no-entry'];
      const program = { name: 'trap', compiler: 'clang', source: 'trap.c', flags } as const;
      const bytes = await compileDebug(program, join(folder, 'trap.wasm'));
      for (const module of [bytes, instrument(bytes).bytes]) {
        const frames = trapIn(module).flatMap((offset) => {
          const lookup = lookupOf(module);
          return lookup.locate(offset - lookup.codeStart);
        });
        const places = frames.map(({ function: name, file, line }) => `${name} ${file.split('/').at(-1)}:${line}`);
        assert.deepEqual(places, ['check trap.c:2', 'sum trap.c:8', 'run trap.c:12']);
      }
    }
  });

  it('are fewer, and never an exception, where the debug information is damaged', async () => {
    const random = createRandom(19);
    for (const program of debugPrograms.slice(0, 4)) {
      const bytes = await compileDebug(program, join(folder, 'program.wasm'));
      const offsets = codeOffsets(bytes).filter((_, at) => at % 97 === 0);
      for (let mutant = 0; mutant < 60; mutant++) checkAnyDebugInfo(damage(bytes, random.below), offsets);
    }
  });
});

/** The offsets in the stack of the trap that `run(100)` ends in. */
function trapIn(bytes: Uint8Array): number[] {
  const hooks = { enter() {}, exit() {}, 'memory-grow'() {} };
  const compiled = new WebAssembly.Module(new Uint8Array(bytes));
  const { exports } = new WebAssembly.Instance(compiled, { 'dylibso:observe/instrument': hooks });
  try {
    (exports.run as (count: number) => number)(100);
  } catch (error) {
    return [...String((error as Error).stack).matchAll(/wasm-function\[\d+\]:0x([0-9a-f]+)/g)].map(([, offset]) =>
      Number.parseInt(offset as string, 16),
    );
  }
  throw new Error('it does not trap');
}

function importCount(bytes: Uint8Array): number {
  return describeModule(bytes).imports.filter(({ kind }) => kind === 'function').length;
}

function lookupOf(bytes: Uint8Array): SourceLookup {
  const lookup = createSourceLookup(bytes);
  assert.ok(lookup);
  assert.equal(lookup.kind, 'dwarf');
  return lookup;
}

/** Every byte of every function body. */
function codeOffsets(bytes: Uint8Array): number[] {
  const { codeStart, bodyOf } = readCodeBounds(bytes);
  return listFunctions(bytes).functions.flatMap(({ index }) => {
    const body = bodyOf(index);
    if (body === undefined) return [];
    return Array.from({ length: body.end - body.start }, (_, at) => body.start + at - codeStart);
  });
}

/** For each address, lines in pairs: a function, and its place. The innermost inlined call comes first. */
function symbolize(file: string, addresses: readonly number[]): string[] {
  const input = addresses.map((address) => `0x${address.toString(16)}\n`).join('');
  const flags = ['--inlines', '--no-demangle', '--output-style=LLVM', `--obj=${file}`];
  const output = execFileSync('llvm-symbolizer-14', flags, { input, maxBuffer: 2 ** 30, encoding: 'utf8' });
  return output.trimEnd().split('\n\n');
}

/** Replaces some bytes of the DWARF sections. */
function damage(bytes: Uint8Array, below: (limit: number) => number): Uint8Array {
  const sections = listSections(bytes).filter(({ name }) => name.startsWith('.debug_'));
  const damaged = Uint8Array.from(bytes);
  const starts = sections.map(({ name }) => Buffer.from(bytes).indexOf(name) + name.length);
  for (let changes = 1 + below(8); changes > 0; changes--) {
    const section = below(sections.length);
    const size = (sections[section]?.bytes ?? 0) - 32;
    if (size > 0)
      damaged[(starts[section] as number) + below(size)] = [0, 1, 0x7f, 0x80, 0xff, below(256)][below(6)] ?? 0;
  }
  return damaged;
}

function checkAnyDebugInfo(bytes: Uint8Array, offsets: readonly number[]): void {
  try {
    const lookup = createSourceLookup(bytes);
    for (const offset of offsets) {
      for (const { file, line } of lookup?.locate(offset) ?? []) assert.ok(typeof file === 'string' && line >= 0);
    }
    for (let index = 0; index < 50; index++) lookup?.functionSource(index);
    lookup?.lineRanges(0, offsets.at(-1) ?? 0);
    lookup?.files();
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    throw new Error('a damaged part is left out', { cause: error });
  }
}
