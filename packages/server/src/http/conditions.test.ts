import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateConditions } from './conditions.ts';

const etag = '"abc,def"';

describe('evaluateConditions()', () => {
  it('returns undefined without conditions', () => {
    assert.equal(evaluateConditions({}, etag), undefined);
  });

  it('compares if-none-match weakly', () => {
    for (const field of [etag, `W/${etag}`, '*', ' * ', `"x", ${etag}`, `"x",W/${etag}`, `,, "x" ,\t${etag} ,`]) {
      assert.equal(evaluateConditions({ 'if-none-match': field }, etag), 'not_modified', field);
    }
  });

  it('ignores other tags and malformed fields', () => {
    for (const field of [
      '',
      '"abc"',
      '"abc", "def"',
      'abc,def',
      `w/${etag}`,
      `W/ ${etag}`,
      `x${etag}`,
      `${etag}x`,
      '**',
    ]) {
      assert.equal(evaluateConditions({ 'if-none-match': field }, etag), undefined, field);
    }
  });

  it('compares if-match strongly', () => {
    assert.equal(evaluateConditions({ 'if-match': etag }, etag), undefined);
    assert.equal(evaluateConditions({ 'if-match': '*' }, etag), undefined);
    assert.equal(evaluateConditions({ 'if-match': `W/${etag}` }, etag), 'precondition_failed');
    assert.equal(evaluateConditions({ 'if-match': '"x"' }, etag), 'precondition_failed');
  });

  it('evaluates if-match before if-none-match, and ignores dates', () => {
    assert.equal(evaluateConditions({ 'if-match': '"x"', 'if-none-match': etag }, etag), 'precondition_failed');
    assert.equal(evaluateConditions({ 'if-modified-since': 'Sat, 01 Jan 2050 00:00:00 GMT' }, etag), undefined);
  });

  it('parses hostile fields in linear time', () => {
    const started = performance.now();
    for (const field of [`${' ,\t'.repeat(50_000)}x`, `"${'a'.repeat(100_000)}`, '"a" '.repeat(50_000)]) {
      assert.equal(evaluateConditions({ 'if-none-match': field }, etag), undefined);
    }
    assert.ok(performance.now() - started < 30_000, 'to look back and forth in them would take hours');
  });
});
