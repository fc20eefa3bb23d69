import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { readBodyBounds } from '../src/binary/code.ts';
import { readModule } from '../src/binary/module.ts';
import { instrument, listProposals } from '../src/index.ts';
import { maxCheckedValues } from '../src/limits.ts';
import { scanCode } from '../src/scan/scan-code.ts';
import { slowModules } from './support/slow-modules.ts';

const refusal = {
  name: 'InstrumentError',
  code: 'module_too_complex',
  message: /at most 50,000,000 values for an engine/,
};

describe('instrument() and listProposals() on what engines take long to validate', () => {
  for (const [name, moduleWith] of Object.entries(slowModules)) {
    it(`refuse too much of ${name}`, () => {
      const bytes = moduleWith(100_000);
      assert.ok(bytes.length < 1_500_000, `${bytes.length} bytes`);
      assert.throws(() => instrument(bytes), refusal);
      assert.throws(() => listProposals(bytes), refusal);
    });

    it(`accept some of ${name}, as the engine does`, () => {
      const bytes = moduleWith(20);
      assert.ok(WebAssembly.validate(new Uint8Array(bytes)), 'the input validates');
      assert.ok(WebAssembly.validate(new Uint8Array(instrument(bytes).bytes)), 'the output validates');
      listProposals(bytes);
    });
  }

  it('count in a real module less than a hundredth of what they accept', (test) => {
    const require = createRequire(import.meta.url);
    const files = ['esbuild-wasm/esbuild.wasm', '@resvg/resvg-wasm/index_bg.wasm', 'sql.js/dist/sql-wasm.wasm'];
    for (const file of files) {
      const module = readModule(new Uint8Array(fs.readFileSync(require.resolve(file))));
      scanCode(module, readBodyBounds(module), () => {});
      const { checkedValues } = module.cost;
      test.diagnostic(`${file}: ${checkedValues} values in ${module.bytes.length} bytes`);
      assert.ok(checkedValues > 0 && checkedValues < maxCheckedValues / 100, `${file}: ${checkedValues}`);
    }
  });
});
