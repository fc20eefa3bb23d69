import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isCode, makeCode } from './secrets.ts';

it('makeCode() makes codes that a command line does not take for options', () => {
  const draws = [Uint8Array.of(0xf8, ...new Uint8Array(31)), Uint8Array.of(0x04, ...new Uint8Array(31))];
  const code = makeCode(() => draws.shift() as Uint8Array);
  assert.equal(code, `B${'A'.repeat(42)}`);
  assert.ok(isCode(code));
});
