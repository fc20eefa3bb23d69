import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import binaryen from 'binaryen';
import { gcWat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';

/** The text that binaryen makes of a module, after it has validated it. */
function validText(bytes: Uint8Array): string {
  const module = binaryen.readBinary(bytes);
  try {
    module.setFeatures(binaryen.Features.All);
    assert.equal(module.validate(), 1);
    return module.emitText();
  } finally {
    module.dispose();
  }
}

describe('instrument() on proposals that this engine lacks', () => {
  it('steps over wide arithmetic', async () => {
    const text = validText(
      instrument(
        await gcWat(`(module (func (export "f") (param i64 i64 i64 i64) (result i64 i64)
          (return (i64.add128 (local.get 0) (local.get 1) (local.get 2) (local.get 3)))))`),
      ).bytes,
    );
    assert.match(text, /i64\.add128/);
    assert.match(text, /call \$dylibso:observe\/instrument\.enter/);
  });

  it('counts whole pages of 64 KiB where a page is one byte', async () => {
    const text = validText(
      instrument(
        await gcWat(`(module (memory (export "m") 10 1000000 (pagesize 1))
          (func (export "f") (param i32) (result i32) (memory.grow (local.get 0))))`),
      ).bytes,
    );
    assert.match(text, /\(i32\.sub\s+\(i32\.shr_u\s+\(memory\.size\)\s+\(i32\.const 16\)\s+\)\s+\(i32\.shr_u/);
  });
});
