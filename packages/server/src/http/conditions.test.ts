import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateConditions } from './conditions.ts';

const etag = '"abc,def"';

describe('evaluateConditions()', () => {
  it('has nothing to say without conditions', () => {
    assert.equal(evaluateConditions({}, etag), undefined);
  });

  it('finds the tag among those of if-none-match, compared weakly', () => {
    for (const field of [etag, `W/${etag}`, '*', ' * ', `"x", ${etag}`, `"x",W/${etag}`, `,, "x" ,\t${etag} ,`]) {
      assert.equal(evaluateConditions({ 'if-none-match': field }, etag), 'not_modified', field);
    }
  });

  it('finds nothing in what names other tags or can not be read', () => {
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

  it('evaluates if-match before if-none-match, and passes over dates', () => {
    assert.equal(evaluateConditions({ 'if-match': '"x"', 'if-none-match': etag }, etag), 'precondition_failed');
    assert.equal(evaluateConditions({ 'if-modified-since': 'Sat, 01 Jan 2050 00:00:00 GMT' }, etag), undefined);
  });

  it('gets through fields that are made to take long', () => {
    const started = performance.now();
    for (const field of [`${' ,\t'.repeat(50_000)}x`, `"${'a'.repeat(100_000)}`, '"a" '.repeat(50_000)]) {
      assert.equal(evaluateConditions({ 'if-none-match': field }, etag), undefined);
    }
    assert.ok(performance.now() - started < 30_000, 'to look back and forth in them would take hours');
  });
});
