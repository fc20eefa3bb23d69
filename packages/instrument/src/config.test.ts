import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from './config.ts';

describe('parseConfig()', () => {
  it('reads either list', () => {
    assert.deepEqual(parseConfig('{"allowed":["a","b"]}'), { allowed: ['a', 'b'] });
    assert.deepEqual(parseConfig(' { "banned" : [] } '), { banned: [] });
  });

  const refusals: Record<string, RegExp> = {
    '{"allowed":[],"banned":[]}': /found both$/,
    '{}': /found neither$/,
    '{"allowed":[],"extra":1}': /found "extra"$/,
    '{"__proto__":[]}': /found "__proto__"$/,
    '{"allowed":"a"}': /"allowed" to be an array of strings, found a string$/,
    '{"banned":null}': /"banned" to be an array of strings, found null$/,
    '{"allowed":["a",1]}': /found a number at index 1$/,
    '{"allowed":[["a"]]}': /found an array at index 0$/,
    '[]': /to be an object, found an array$/,
    null: /to be an object, found null$/,
    '"allowed"': /to be an object, found a string$/,
    '': /to be JSON/,
    '{"allowed":[}': /to be JSON/,
  };
  for (const [text, message] of Object.entries(refusals)) {
    it(`refuses ${text || 'nothing'}`, () => {
      assert.throws(() => parseConfig(text), { name: 'InstrumentError', code: 'invalid_config', message });
    });
  }
});
