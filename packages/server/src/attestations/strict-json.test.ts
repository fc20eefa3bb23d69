import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseStrictJson } from './strict-json.ts';

const options = { maxDepth: 4, maxValues: 20 };
const parse = (text: string | Buffer) => parseStrictJson(Buffer.from(text as string), options).value;

describe('parseStrictJson()', () => {
  it('returns what JSON.parse() returns', () => {
    for (const text of [
      '{}',
      '[1,"a:b,{}",{"x":[]}]',
      '{"a":{"a":1},"b":{"a":"\\"a\\":"}}',
      '[{"a":1},{"a":2}]',
      '"a"',
      '{"é":"😀"}',
    ]) {
      assert.deepEqual(parse(text), JSON.parse(text), text);
    }
  });

  const refused: Readonly<Record<string, readonly [string | Buffer, RegExp]>> = {
    'a repeated name': ['{"a":1,"b":2,"a":3}', /repeats the property "a"/],
    'a repeated name with an escape': ['{"a":1,"\\u0061":3}', /repeats the property "a"/],
    'a repeated name after an object': ['{"a":{"c":1},"a":3}', /repeats/],
    'a repeated name in an object of a list': ['[{"a":1,"a":2}]', /repeats/],
    __proto__: ['{"__proto__":{}}', /forbidden/],
    'U+0000 in a name': ['{"\\u0000":{}}', /forbidden/],
    'U+0000 in a text': ['["\\u0000"]', /U\+0000/],
    'deep nesting': ['[[[[[]]]]]', /4 levels/],
    'many values': [`[${'1,'.repeat(30)}1]`, /20 values/],
    'invalid UTF-8': [Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
    'a byte order mark': ['\ufeff{}', /syntax/],
    'an unclosed text': ['{"a', /syntax/],
    'an unclosed object': ['{"a":1', /syntax/],
    'text after the end': ['{}{}', /syntax/],
    nothing: ['', /syntax/],
  };
  for (const [what, [text, message]] of Object.entries(refused)) {
    it(`refuses ${what}`, () => assert.throws(() => parse(text), message));
  }

  it('refuses a million open lists at once', () => {
    const startedAt = performance.now();
    assert.throws(() => parse('['.repeat(1_000_000)), /levels/);
    assert.ok(performance.now() - startedAt < 200);
  });
});
