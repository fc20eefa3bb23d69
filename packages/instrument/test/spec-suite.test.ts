import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { isProof } from '../../../test/helpers/volume.ts';
import { instrument } from '../src/index.ts';
import { specIsMissing, unpackSpec } from './support/spec-archives.ts';
import { runScript } from './support/spec-script.ts';
import { createTrace } from './support/trace.ts';

describe("instrument() on the specification's tests", { skip: specIsMissing }, () => {
  if (specIsMissing) return;
  const { scripts, remove } = unpackSpec();
  after(remove);

  it('keeps every valid module valid, traced or not, and refuses the others with an offset', () => {
    let valid = 0;
    let unchanged = 0;
    for (const script of scripts) {
      for (const file of fs.globSync('*.wasm', { cwd: script })) {
        const bytes = new Uint8Array(fs.readFileSync(path.join(script, file)));
        if (!WebAssembly.validate(bytes)) {
          assertRefusedOrRewritten(bytes, file);
          continue;
        }
        valid++;
        for (const options of [{}, { allowed: [] }, ...(isProof ? [{ adaptive: true }, { every: 3 }] : [])]) {
          const output = instrument(bytes, options);
          assert.ok(WebAssembly.validate(new Uint8Array(output.bytes)), `${script}/${file} stays valid`);
          if (output.report.addedImports.length > 0) continue;
          unchanged++;
          assert.equal(Buffer.compare(output.bytes, bytes), 0, `${script}/${file} stays as it is`);
        }
      }
    }
    assert.ok(valid > 2_600, `${valid} modules validated`);
    assert.ok(unchanged > 2_000, `${unchanged} outputs are their input`);
  });

  it('changes the outcome of no command, and keeps calls nested', (test) => {
    let compared = 0;
    for (const script of scripts) {
      const plain = runScript(script, { transform: (bytes) => bytes, imports: {}, afterCommand() {} });
      const trace = createTrace(0);
      const traced = runScript(script, {
        transform: (bytes) => instrument(bytes).bytes,
        imports: trace.imports,
        afterCommand(where, wasCutShort) {
          if (wasCutShort) trace.open.length = 0;
          assert.deepEqual(trace.open, [], where);
        },
      });
      assert.deepEqual(traced, plain);
      trace.assertBalanced();
      // What cannot be handed over from JavaScript, an exception's reference for one, ends in a TypeError and shows nothing.
      compared += plain.filter((outcome) => !/: (?:TypeError|LinkError)$/.test(outcome)).length;
    }
    test.diagnostic(`${scripts.length} scripts, ${compared} commands`);
    assert.ok(compared > 65_000);
  });
});

function assertRefusedOrRewritten(bytes: Uint8Array, what: string): void {
  try {
    instrument(bytes);
  } catch (error) {
    assert.match(String(error), /^InstrumentError: .*\(at offset 0x[0-9a-f]+\)$/, what);
  }
}
