import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { helpAt, suggest } from './schema-help.ts';

function labelsAt(marked: string, isAsked = false): readonly string[] | undefined {
  return suggest(marked.replace('|', ''), marked.indexOf('|'), isAsked)?.items.map(({ label }) => label);
}

describe('suggest()', () => {
  it('suggests the keys of the place that are not there yet', () => {
    assert.deepEqual(labelsAt('version: v1-draft\n|', true), [
      'description',
      '$schema',
      'exports',
      'imports',
      'components',
    ]);
    assert.equal(labelsAt('version: v1-draft\n|'), undefined, 'not where a line begins, unless asked');
    assert.deepEqual(labelsAt('exports:\n  greet:\n    output: {}\n    i|'), [
      'description',
      'input',
      'codeSamples',
      'x-tenon-optional',
    ]);
    assert.equal(labelsAt('exports:\n  i|'), undefined, 'names are free');
    assert.equal(labelsAt('description: |\n', true), undefined);
    assert.ok(labelsAt('components:\n  schemas:\n    A:\n      t|')?.includes('type'));
    assert.ok(!labelsAt('components:\n  schemas:\n    A:\n      t|')?.includes('contentType'));
  });

  it('suggests values, formats of the type, and components', () => {
    assert.deepEqual(labelsAt('version: |'), ['v0', 'v1-draft']);
    assert.deepEqual(labelsAt('exports: { a: { input: { type: number, format: |'), ['float', 'double']);
    const schemas = 'components: { schemas: { A: {}, B: {} } }\nexports:\n  a:\n    input:\n      $ref: |';
    assert.deepEqual(labelsAt(schemas), ['"#/components/schemas/A"', '"#/components/schemas/B"']);
    assert.equal(labelsAt('version: v1-draft|'), undefined, 'nothing for a complete word');
  });

  it('inserts what belongs to a key', () => {
    const textOf = (marked: string, wanted: string) =>
      suggest(marked.replace('|', ''), marked.indexOf('|'), true)?.items.find(({ label }) => label === wanted)?.text;
    assert.equal(textOf('exp|', 'exports'), 'exports:\n  ');
    assert.equal(textOf('exports:\n  a:\n    in|', 'input'), 'input:\n      ');
    assert.equal(textOf('exports:\n  a:\n    in|: x', 'input'), 'input');
    assert.equal(textOf('exports: { a: { in|', 'input'), 'input: ');
    assert.equal(textOf('{"ver|', 'version'), '"version": ');
    assert.equal(textOf('{"version": |', '"v0"'), '"v0"');
  });
});

describe('helpAt()', () => {
  it('describes the key at an offset, or that of the value', () => {
    const text = 'exports:\n  type:\n    input: { type: string }\n';
    const keyAt = (part: string, plus = 1) => helpAt(text, text.indexOf(part) + plus)?.key;
    assert.equal(keyAt('exports'), 'exports');
    assert.equal(keyAt('type:'), undefined, 'a name');
    assert.equal(keyAt('input'), 'input');
    assert.equal(keyAt('{ type', 3), 'type');
    assert.equal(keyAt('string'), 'type');
    assert.equal(helpAt('constructor: x', 3), undefined);
  });
});
