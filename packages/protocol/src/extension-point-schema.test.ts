import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseExtensionPointSchema, SchemaError } from './extension-point-schema.ts';

function refusal(schema: unknown): string {
  try {
    parseExtensionPointSchema(schema);
  } catch (error) {
    assert.ok(error instanceof SchemaError, String(error));
    return `${error.pointer} ${error.message}`;
  }
  throw new Error('was taken');
}

describe('parseExtensionPointSchema()', () => {
  it('takes an object, its JSON text and its YAML text alike', () => {
    const expected = '{"version":"v1-draft","exports":{"greet":{"input":{"type":"string"}}}}';
    const object = { version: 'v1-draft', exports: { greet: { input: { type: 'string' } } } };
    assert.equal(parseExtensionPointSchema(object), expected);
    assert.equal(parseExtensionPointSchema(JSON.stringify(object)), expected);
    assert.equal(
      parseExtensionPointSchema('version: v1-draft\nexports:\n  greet:\n    input:\n      type: string\n'),
      expected,
    );
  });

  it('makes a list of exports a map', () => {
    assert.equal(
      parseExtensionPointSchema('version: v0\nexports: [greet, count_vowels]'),
      '{"version":"v0","exports":{"greet":{},"count_vowels":{}}}',
    );
    assert.equal(
      parseExtensionPointSchema({ exports: [{ name: 'greet', description: 'says hello' }] }),
      '{"exports":{"greet":{"description":"says hello"}}}',
    );
  });

  it('gives a schema without exports an empty map', () => {
    assert.equal(parseExtensionPointSchema({}), '{"exports":{}}');
    assert.equal(parseExtensionPointSchema('exports:\n'), '{"exports":{}}');
  });

  it('takes names that objects know already as names', () => {
    const text = parseExtensionPointSchema('exports: [constructor, __proto__, "10", toString]');
    assert.equal(text, '{"exports":{"10":{},"constructor":{},"__proto__":{},"toString":{}}}');
    assert.equal(
      parseExtensionPointSchema(JSON.parse('{"__proto__":{"polluted":true}}')),
      '{"__proto__":{"polluted":true},"exports":{}}',
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it('says where a text is at fault', () => {
    assert.match(refusal('exports:\n  greet: [\n'), /line \d+, column \d+/);
    assert.match(refusal('{"exports": {"a": 1, "a": 2}}'), /line 1, column \d+.*unique/i);
    assert.match(refusal('exports:\n  a: 1\n  1: 2\n  "1": 3\n'), /line 4, column 3: .*unique/i);
  });

  it('gives the position of a fault as numbers too', () => {
    assert.throws(
      () => parseExtensionPointSchema('exports:\n  a: 1\n  a: 2\n'),
      (error) => error instanceof SchemaError && error.position?.line === 3 && error.position.column === 3,
    );
  });

  it('refuses what is no mapping', () => {
    for (const schema of ['', 'just text', '- a\n- b', '42', 'null']) assert.match(refusal(schema), /mapping/, schema);
    assert.match(refusal([]), /expected an object, found a list/);
  });

  it('refuses exports that are neither a map nor a list of names', () => {
    assert.match(refusal({ exports: 'greet' }), /found a string/);
    assert.match(refusal({ exports: ['greet', 7] }), /^\/exports\/1 /);
    assert.match(refusal({ exports: ['greet', 'greet'] }), /listed twice/);
  });

  it('refuses what JSON cannot say', () => {
    assert.match(refusal('exports: {}\nlimit: .inf'), /no form in JSON/);
    assert.match(refusal('exports: {}\n? [a, b]\n: c'), /key/);
  });

  it('refuses hostile nesting, size and aliases before they cost anything', () => {
    assert.match(refusal(`a: ${'['.repeat(100)}${']'.repeat(100)}`), /nested/);
    assert.match(refusal({ a: Array.from({ length: 20_001 }, () => 0) }), /entries/);
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [at, name] of [...'bcdefghi'].entries()) {
      const before = 'abcdefghi'[at];
      bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`);
    }
    assert.match(refusal(bomb.join('\n')), /aliases|entries/);
  });

  it('takes time in proportion to the number of keys', () => {
    const textOf = (keys: number) => `exports: {}\n${Array.from({ length: keys }, (_, at) => `k${at}: 1`).join('\n')}`;
    const fastest = (keys: number) => {
      const text = textOf(keys);
      const times = Array.from({ length: 3 }, () => {
        const startMs = performance.now();
        parseExtensionPointSchema(text);
        return performance.now() - startMs;
      });
      return Math.min(...times);
    };
    const ratio = fastest(8000) / fastest(1000);
    assert.ok(ratio < 24, `eight times the keys took ${ratio.toFixed(1)} times as long`);
  });

  it('refuses a text of too many tokens, or nested too deep for its parser, in words', () => {
    assert.match(refusal(Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n')), /60000 tokens/);
    assert.match(refusal('['.repeat(20_000)), /nested more than 64 deep/);
    assert.match(refusal('- '.repeat(20_000)), /nested more than 64 deep/);
  });

  it('refuses a cyclic text', () => {
    refusal('a: &a\n  self: *a\n');
  });
});
