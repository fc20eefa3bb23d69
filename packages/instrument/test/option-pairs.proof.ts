import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { encode } from '../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../test/helpers/call-trees/make-program.ts';
import { predict, runProgram } from '../../../test/helpers/call-trees/run-program.ts';
import { type InstrumentOptions, instrument } from '../src/index.ts';
import { hintedOpcodes } from './support/branch-hints.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from './support/corpus.ts';
import { pairwise } from './support/covering-array.ts';
import { specIsMissing, unpackSpec } from './support/spec-archives.ts';
import { runScript } from './support/spec-script.ts';

const anyMap = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'oBAAA,gEAEA' });

/** Options that change the output. Lists of names are patterns, because the modules have different names. */
const factors: Readonly<Record<string, readonly InstrumentOptions[]>> = {
  selection: [{}, { banned: ['*a*'] }, { allowed: [] }, { trace: false }],
  narrowing: [{}, { reachableFrom: ['*'] }, { minBytes: 20 }, { namespaces: ['*'] }, { sourceFiles: ['*'] }],
  fuel: [{}, { fuel: 2 ** 40 }, { fuel: 2 ** 40, onOutOfFuel: 'call' }],
  calls: [{}, { adaptive: true }, { every: 3 }, { adaptive: true, every: 3, skipLeaves: true }],
  coverage: [{}, { coverage: true }],
  memory: [{}, { memory: true }],
  exceptionHandling: [{ exceptionHandling: 'exnref' }, { exceptionHandling: 'legacy' }],
  codeMap: [{}, { codeMap: true }],
  debugInfo: [{}, { debugInfo: 'drop' }],
  sourceMap: [{}, { sourceMap: anyMap }],
};

const rows = pairwise(factors).map((values): InstrumentOptions => Object.assign({ patterns: true }, ...values));
const describeRow = (row: InstrumentOptions) => JSON.stringify(row);

/** Instruments twice, and checks that both outputs are valid and equal. */
function instrumentTwice(input: Uint8Array, row: InstrumentOptions, what: string): Uint8Array<ArrayBuffer> {
  const { bytes, report } = instrument(input, row);
  assert.ok(WebAssembly.validate(bytes), `${what} stays valid with ${describeRow(row)}`);
  const again = instrument(input, row);
  assert.equal(Buffer.compare(bytes, again.bytes), 0, `${what} is deterministic with ${describeRow(row)}`);
  assert.deepEqual(again.report, report);
  return bytes;
}

/** Hooks that do nothing, for the added imports of any options. */
const noHooks: WebAssembly.Imports = Object.fromEntries(
  ['dylibso:observe/instrument', 'tenon:instrument'].map((module) => [module, new Proxy({}, { get: () => () => 0 })]),
);

describe('instrument() with each pair of options', () => {
  it('has few rows with all pairs', (test) => {
    test.diagnostic(`${rows.length} rows of options`);
    assert.ok(rows.length >= 5 && rows.length < 40);
  });

  for (const [index, row] of rows.entries()) {
    it(`keeps random programs as they are: row ${index}`, (test) => {
      let changed = 0;
      const programs = 150;
      for (let seed = 1; seed <= programs; seed++) {
        const program = makeProgram(seed);
        const input = encode(program, seed);
        const expected = predict(program, 1_000);
        const { bytes, report } = instrument(input, row);
        if (bytes.length !== input.length) changed++;
        const importCount = program.imports.length;
        assert.deepEqual(
          hintedOpcodes(bytes, importCount + report.addedImports.length),
          hintedOpcodes(input, importCount),
          `seed ${seed}: branch hints with ${describeRow(row)}`,
        );
        const outcomes = runProgram(program, expected.calls, (imports) => {
          const module = new WebAssembly.Module(bytes);
          return new WebAssembly.Instance(module, { ...imports, ...noHooks }).exports;
        });
        assert.deepEqual(outcomes, expected.outcomes, `seed ${seed} ends as before with ${describeRow(row)}`);
        if (seed % 10 === 0) instrumentTwice(input, row, `seed ${seed}`);
      }
      test.diagnostic(`${changed} of ${programs} programs were changed`);
    });
  }
});

describe("instrument() with pairs of options on the specification's tests", { skip: specIsMissing }, () => {
  if (specIsMissing) return;
  const { scripts, remove } = unpackSpec();
  after(remove);

  it('changes the outcome of no command', (test) => {
    let compared = 0;
    for (const [index, script] of scripts.entries()) {
      const plain = runScript(script, { transform: (bytes) => bytes, imports: {}, afterCommand() {} });
      // Every row runs with a third of the scripts.
      for (let at = index % 3; at < rows.length; at += 3) {
        const row = rows[at] as InstrumentOptions;
        // A bulk instruction costs fuel by its size, and some of these sizes exceed any fuel.
        if (row.fuel !== undefined && /64_(?:bulk|fill|copy|init)/.test(path.basename(script))) continue;
        const engine = {
          transform: (bytes: Uint8Array) => instrument(bytes, row).bytes,
          imports: noHooks,
          afterCommand() {},
        };
        assert.deepEqual(runScript(script, engine), plain, `${script} with ${describeRow(row)}`);
        compared += plain.length;
      }
    }
    test.diagnostic(`${scripts.length} scripts, ${compared} commands`);
    assert.ok(compared > 100_000);
  });
});

describe('instrument() with pairs of options on real modules', { skip: corpusIsMissing }, () => {
  if (corpusIsMissing) return;

  it('keeps them valid, and does the same each time', (test) => {
    let count = 0;
    for (const [index, file] of corpusFiles().entries()) {
      const read = fs.readFileSync(corpusPath(file));
      const input = new Uint8Array(file.endsWith('.gz') ? gunzipSync(read) : read);
      if (input.length > 8_000_000 || !WebAssembly.validate(input)) continue;
      for (let step = 0; step < 3; step++) {
        instrumentTwice(input, rows[(3 * index + step) % rows.length] as InstrumentOptions, file);
        count++;
      }
    }
    test.diagnostic(`${count} outputs`);
    assert.ok(count > rows.length, `${count} outputs`);
  });
});
