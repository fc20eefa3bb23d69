import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanDeviceName } from './device-name.ts';

describe('cleanDeviceName()', () => {
  it('keeps readable text', () => {
    assert.equal(cleanDeviceName("Ada's laptop (2)"), "Ada's laptop (2)");
    assert.equal(cleanDeviceName('bücher-büro 書斎 💻'), 'bücher-büro 書斎 💻');
  });

  it('removes invisible characters and those that change the text direction', () => {
    assert.equal(cleanDeviceName('build\u202e7-dliub\u2066'), 'build 7-dliub');
    assert.equal(cleanDeviceName('a\0b\u001b[31m\nc\u2028d\u200be'), 'a b [31m c d e');
    assert.equal(cleanDeviceName('lone \ud800 surrogate'), 'lone surrogate');
  });

  it('truncates to sixty code points', () => {
    assert.equal(cleanDeviceName('💻'.repeat(100)), '💻'.repeat(60));
    assert.equal(cleanDeviceName(`${'x'.repeat(59)} and more`), 'x'.repeat(59));
  });

  it('is null for an empty name', () => {
    for (const empty of [undefined, '', ' \t ', '\u200b\u0000']) assert.equal(cleanDeviceName(empty), null);
  });
});
