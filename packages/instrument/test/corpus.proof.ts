import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { instrument } from '../src/index.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from './support/corpus.ts';
import { corpusScenarios } from './support/corpus-scenarios.ts';
import { runScenario } from './support/run-scenario.ts';

/** Go's scheduler and a garbage collector look at the clock, so two runs of one program do not make the same calls. */
const unpredictable = new Set(['Go: @cdktf/hcl2json']);

/** Throw through frames of modules without exception handling, which cannot see that (`longjmp` over JavaScript). */
const unwoundByHost = new Set(['C: wasmoon (Lua)']);

/**
 * Exported as they were imported, and called by the host: the same functions as before, so no call of them is seen. `e.f` is
 * that of the small modules by which Emscripten turns a JavaScript function into one that fits a table.
 */
const reexported = new Set(['./bindings_wasm_bg.js.__wbindgen_init_externref_table', 'e.f']);

function readModule(file: string): Uint8Array {
  const bytes = fs.readFileSync(corpusPath(file));
  return new Uint8Array(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

describe('instrument() on the corpus', { skip: corpusIsMissing }, () => {
  if (corpusIsMissing) return;

  it('keeps every module valid, and its size within reach', (test) => {
    const seen = new Set<string>();
    const growths: number[] = [];
    let totalBytes = 0;
    for (const file of corpusFiles()) {
      const input = readModule(file);
      const digest = createHash('sha256').update(input).digest('hex');
      if (seen.has(digest) || !WebAssembly.validate(new Uint8Array(input))) continue;
      seen.add(digest);
      const { bytes, report } = instrument(input);
      assert.ok(WebAssembly.validate(new Uint8Array(bytes)), `${file} stays valid`);
      const adaptive = instrument(input, { adaptive: true, every: 100 }).bytes;
      assert.ok(WebAssembly.validate(new Uint8Array(adaptive)), `${file} stays valid with adaptive tracing`);
      const untraced = report.notes.flatMap((note) => (note.code === 'function_left_untraced' ? [note] : []));
      assert.ok(report.tracedFunctions + untraced.length + 10 > report.totalFunctions, `${file}: all are traced`);
      growths.push(bytes.length / input.length - 1);
      totalBytes += input.length;
    }
    growths.sort((first, second) => first - second);
    const percent = (growth = 0) => `${(100 * growth).toFixed(1)} %`;
    const middle = growths[growths.length >> 1] as number;
    test.diagnostic(
      `${seen.size} modules, ${(totalBytes / 1e6).toFixed(0)} MB, +${percent(middle)} (at most +${percent(growths.at(-1))})`,
    );
    assert.ok(seen.size >= 30, `${seen.size} different modules`);
    assert.ok(middle < 0.1, `half of the modules grow by more than ${percent(middle)}`);
  });

  for (const scenario of Object.keys(corpusScenarios)) {
    it(`${scenario}: the same results, and nested calls`, async (test) => {
      const plain = await runScenario(scenario, 'plain');
      const traced = await runScenario(scenario, 'traced');
      assert.deepEqual(traced.result, plain.result);
      assert.ok(traced.modules.length > 0 && traced.modules.every(({ isValid }) => isValid));
      assert.equal(traced.fault, undefined);
      if (!unwoundByHost.has(scenario)) assert.equal(traced.leftByHost, 0);
      const calls = [...traced.calls.values()].reduce((sum, count) => sum + count, 0);
      assert.ok(calls > 20, `${calls} calls`);
      test.diagnostic(`${calls} calls`);
      const sorted = (counts: Map<string, number>) =>
        [...counts].filter(([name]) => !reexported.has(name)).sort(([first], [second]) => (first < second ? -1 : 1));
      assert.deepEqual(sorted(traced.importEnters), sorted(traced.importCalls));
      if (!unpredictable.has(scenario)) assert.deepEqual(sorted(traced.importCalls), sorted(plain.importCalls));
    });
  }
});
