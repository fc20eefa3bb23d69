import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { instrument } from '../src/index.ts';

const require = createRequire(import.meta.url);
const resvg = new Uint8Array(readFileSync(require.resolve('@resvg/resvg-wasm/index_bg.wasm')));

describe('instrument() with onProgress', () => {
  it('tells how far it is, about once for each MiB of code', () => {
    const heard: (readonly [number, number])[] = [];
    const { bytes } = instrument(resvg, { onProgress: (...progress) => heard.push(progress) });
    assert.deepEqual(bytes, instrument(resvg).bytes);
    const [, totalBytes] = heard[0] ?? [0, 0];
    assert.ok(totalBytes > 1_048_576 && totalBytes < resvg.length);
    assert.ok(heard.length <= totalBytes / 1_048_576);
    let before = 0;
    for (const [doneBytes, total] of heard) {
      assert.ok(doneBytes - before >= 1_048_576 && doneBytes <= total && total === totalBytes);
      before = doneBytes;
    }
  });

  it('is ended by what the listener throws', () => {
    const stop = new Error('enough');
    const onProgress = () => {
      throw stop;
    };
    assert.throws(() => instrument(resvg, { onProgress }), stop);
  });
});
