import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCursor } from './schema-cursor.ts';

/** The place of `|` in a text. */
function at(marked: string) {
  const offset = marked.indexOf('|');
  const found = findCursor(marked.replace('|', ''), offset);
  return found && [found.path.join('.'), found.expects, found.word];
}

describe('findCursor()', () => {
  it('finds keys and values in blocks', () => {
    assert.deepEqual(at('|'), ['', 'key', '']);
    assert.deepEqual(at('vers|'), ['', 'key', 'vers']);
    assert.deepEqual(at('version: v1|'), ['version', 'value', 'v1']);
    assert.deepEqual(at('exports:\n  greet:\n    in|'), ['exports.greet', 'key', 'in']);
    assert.deepEqual(at('exports:\n  greet:\n    input:\n      type: st|'), [
      'exports.greet.input.type',
      'value',
      'st',
    ]);
    assert.deepEqual(at('exports:\n  a:\n    input:\n      type: x\n  |'), ['exports', 'key', '']);
    assert.deepEqual(at('exports:\n  a:\n    input:\n      type: x\n\n    # note\n    |'), ['exports.a', 'key', '']);
    assert.deepEqual(at('exports:\r\n  "a":\r\n    |\r\n'), ['exports.a', 'key', '']);
    assert.equal(at('exports:\n  # a|'), undefined);
  });

  it('finds items of lists, also in the column of their key', () => {
    assert.deepEqual(at('exports:\n- name: a\n  in|'), ['exports.0', 'key', 'in']);
    assert.deepEqual(at('a:\n  codeSamples:\n    - lang: x\n    - |'), ['a.codeSamples.0', 'key', '']);
    assert.deepEqual(at('a:\n  codeSamples:\n    - lang: x\n      |'), ['a.codeSamples.0', 'key', '']);
    assert.deepEqual(at('exports:\n- a\nimp|'), ['', 'key', 'imp']);
  });

  it('finds keys and values in flow collections and JSON', () => {
    assert.deepEqual(at('exports:\n  a:\n    input: { type: string, con|'), ['exports.a.input', 'key', 'con']);
    assert.deepEqual(at('a:\n  input: { contentType: text/plain; ch| }'), [
      'a.input.contentType',
      'value',
      'text/plain; ch',
    ]);
    assert.deepEqual(at('a: { items: { type: |'), ['a.items.type', 'value', '']);
    assert.deepEqual(at('a: { items: { type: x }, |'), ['a', 'key', '']);
    assert.deepEqual(at('{"exports": {"a": {"in|'), ['exports.a', 'key', '"in']);
    assert.deepEqual(at('{"exports": [{"name": "a"}, {"|'), ['exports.1', 'key', '"']);
    assert.deepEqual(at('{"a": {"$ref": "#/c|'), ['a.$ref', 'value', '"#/c']);
  });

  it('finds the other keys of the same object', () => {
    const text = 'a:\n  x: 1\n  y:\n    z: 2\n  \n  w: 3\nb:\n  v: 4\n';
    const offset = text.indexOf('  \n') + 2;
    assert.deepEqual([...(findCursor(text, offset)?.siblings ?? [])].sort(), [
      ['w', '3'],
      ['x', '1'],
      ['y', ''],
    ]);
    assert.deepEqual(
      [...(findCursor('a: { x: 1, y: 2, ', 17)?.siblings ?? [])],
      [
        ['x', '1'],
        ['y', '2'],
      ],
    );
  });

  it('reads any text, at any place, in time that is linear', () => {
    const texts = ['a: [', '{', '{"', "a: '", '- - - a:', ': :', '\t- x', '}{][', 'é: {ü: "\\', '{"a": '.repeat(500)];
    for (const text of texts) {
      for (let offset = 0; offset <= Math.min(text.length, 60); offset++) findCursor(text, offset);
    }
    const startMs = performance.now();
    findCursor(`{${'"a": "b", '.repeat(20_000)}`, 200_000);
    findCursor('a:\n'.repeat(50_000), 150_000);
    findCursor(`a: { ${'b '.repeat(50_000)}`, 100_000);
    assert.ok(performance.now() - startMs < 2_000);
  });
});
