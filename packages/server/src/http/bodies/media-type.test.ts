import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMediaType } from './media-type.ts';

describe('parseMediaType()', () => {
  it('parses types and parameters, quoted or not', () => {
    const { type, parameters } = parseMediaType('Multipart/Form-Data ; Boundary="a b\\"c" ;charset=utf-8;') ?? {};
    assert.equal(type, 'multipart/form-data');
    assert.equal(parameters?.get('boundary'), 'a b"c');
    assert.equal(parameters?.get('charset'), 'utf-8');
  });

  it('keeps the first value of a repeated parameter', () => {
    assert.equal(parseMediaType('a/b; x=1; x=2')?.parameters.get('x'), '1');
  });

  it('rejects malformed text', () => {
    for (const text of ['', 'text', '/x', 'a/b c', 'a/b; x', 'a/b; x=', 'a/b; x="', 'a/b; =1']) {
      assert.equal(parseMediaType(text), undefined, text);
    }
  });
});
