import './memory.test.ts';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { volume } from '../../../test/helpers/volume.ts';
import { instrument, listFunctions } from '../src/index.ts';
import { checkCallTree } from './support/check-call-tree.ts';
import { corpusFiles, corpusIsMissing, corpusPath } from './support/corpus.ts';
import { runScenario } from './support/run-scenario.ts';
import { specIsMissing, unpackSpec } from './support/spec-archives.ts';
import { runScript } from './support/spec-script.ts';

/** Throws through frames of a module without exception handling, which cannot see that (`longjmp` over JavaScript). */
const lua = 'C: wasmoon (Lua)';

const signatures = ['malloc', 'calloc', 'realloc', 'free'] as const;

/** Declares all functions as allocators, whatever they are. Those whose type doesn't fit are left out. */
function everyFunction(input: Uint8Array, signature: string): readonly string[] {
  const { functions } = listFunctions(input);
  return functions.flatMap(({ name, nameSource, import: imported }) =>
    nameSource === 'none' || imported !== undefined ? [] : [`${name}=${signature}`],
  );
}

/** Counts calls of allocators, and those that did not end. */
function createHooks() {
  const counts = { calls: 0, open: 0 };
  const hooks = {
    'allocator-enter'() {
      counts.calls++;
      counts.open++;
    },
    'allocator-exit'() {
      counts.open--;
    },
  };
  return { counts, imports: { 'tenon:instrument': hooks } };
}

describe('instrument() with memory, whichever functions are allocators', () => {
  const programCount = volume(100, 1_000);

  it(`changes nothing else about ${programCount} programs`, (test) => {
    const { counts, imports } = createHooks();
    for (let seed = 1; seed <= programCount; seed++) {
      const signature = signatures[seed % signatures.length] as string;
      checkCallTree(seed, (input) => ({ memory: everyFunction(input, signature) }), imports);
    }
    test.diagnostic(`${counts.calls} calls of allocators`);
  });

  it("changes the outcome of no command of the specification's tests", { skip: specIsMissing }, (test) => {
    const { scripts: all, remove } = unpackSpec();
    after(remove);
    // A wrapper around a function that calls itself by a tail call keeps its frame. No allocator does that.
    const scripts = all.filter((script) => !path.basename(script).startsWith('return_call'));
    let calls = 0;
    for (const signature of ['malloc', 'free']) {
      for (const script of scripts) {
        const { counts, imports } = createHooks();
        const plain = runScript(script, { transform: (bytes) => bytes, imports: {}, afterCommand() {} });
        const traced = runScript(script, {
          transform: (bytes) => instrument(bytes, { allowed: [], memory: everyFunction(bytes, signature) }).bytes,
          imports: { ...imports, 'dylibso:observe/instrument': { 'memory-grow'() {} } },
          afterCommand(where, wasCutShort) {
            if (wasCutShort) counts.open = 0;
            assert.equal(counts.open, 0, where);
          },
        });
        assert.deepEqual(traced, plain, path.basename(script));
        calls += counts.calls;
      }
    }
    test.diagnostic(`${calls} calls of allocators`);
    assert.ok(calls > 10_000);
  });

  it('changes no result of programs in the corpus that keep the names of their allocators', {
    skip: corpusIsMissing,
  }, async (test) => {
    let calls = 0;
    for (const scenario of ['TinyGo: @wasm-fmt/gofmt', lua, 'C++: harfbuzzjs']) {
      const plain = await runScenario(scenario, 'plain');
      const { result, allocators } = await runScenario(scenario, 'allocators');
      assert.deepEqual(result, plain.result, scenario);
      if (scenario !== lua) assert.equal(allocators.open, 0, scenario);
      test.diagnostic(`${scenario}: ${allocators.calls} calls of allocators`);
      calls += allocators.calls;
    }
    assert.ok(calls > 700);
  });

  it('keeps every module of the corpus valid', { skip: corpusIsMissing }, (test) => {
    let withAllocators = 0;
    for (const file of corpusFiles()) {
      const stored = fs.readFileSync(corpusPath(file));
      const input = new Uint8Array(file.endsWith('.gz') ? gunzipSync(stored) : stored);
      if (!WebAssembly.validate(input)) continue;
      const { bytes, report } = instrument(input, { memory: true });
      assert.ok(WebAssembly.validate(bytes), `${file} stays valid`);
      if (report.addedImports.includes('allocator-enter')) withAllocators++;
    }
    test.diagnostic(`${withAllocators} modules with known allocators`);
    assert.ok(withAllocators >= 10);
  });
});
