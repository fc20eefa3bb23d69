import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkOptions, parseConfig, parseExtraOptions } from './config.ts';

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

describe('parseExtraOptions()', () => {
  it('reads any of the options, or none', () => {
    assert.deepEqual(parseExtraOptions('{}'), {});
    assert.deepEqual(parseExtraOptions('{"patterns":true}'), { patterns: true });
    const both = { exceptionHandling: 'legacy', patterns: false };
    assert.deepEqual(parseExtraOptions(JSON.stringify(both)), both);
  });

  const refusals: Record<string, RegExp> = {
    '{"pattern":true}': /found "pattern"$/,
    '{"allowed":[]}': /found "allowed"$/,
    '{"__proto__":true}': /found "__proto__"$/,
    '{"patterns":1}': /"patterns" to be true or false, found a number$/,
    '{"patterns":null}': /"patterns" to be true or false, found null$/,
    '{"exceptionHandling":"new"}': /"exceptionHandling" to be "legacy" or "exnref", found "new"$/,
    '{"exceptionHandling":{}}': /"exceptionHandling" to be "legacy" or "exnref"/,
    '[]': /the options to be an object, found an array$/,
    null: /the options to be an object, found null$/,
    '': /the options to be JSON/,
  };
  for (const [text, message] of Object.entries(refusals)) {
    it(`refuses ${text || 'nothing'}`, () => {
      assert.throws(() => parseExtraOptions(text), { name: 'InstrumentError', code: 'invalid_config', message });
    });
  }
});

describe('checkOptions()', () => {
  it('refuses what no type checker has seen', () => {
    assert.doesNotThrow(() => checkOptions({ allowed: ['a*'], patterns: true, exceptionHandling: 'exnref' }));
    for (const wrong of [{ patterns: 'yes' }, { exceptionHandling: 'both' }, { allowed: 'a' }, { banned: [1] }]) {
      assert.throws(() => checkOptions(wrong as object), { code: 'invalid_config' });
    }
  });
});
