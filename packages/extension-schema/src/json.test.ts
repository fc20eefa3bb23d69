import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../test/helpers/random.ts';
import { fromBase64, parseJson, stringifyJson, toBase64 } from './json.ts';

describe('parseJson()', () => {
  it('has integers beyond 2^53 as bigints, and all else as JSON.parse', () => {
    const text =
      '[9007199254740991, 9007199254740992, -18446744073709551615, 1.0000000000000000001, 12345678901234567890e2, 1e16]';
    assert.deepEqual(parseJson(text), [
      9007199254740991,
      9007199254740992n,
      -18446744073709551615n,
      1,
      Number('12345678901234567890e2'),
      1e16,
    ]);
    assert.deepEqual(parseJson('{"9007199254740993": "9007199254740993", "a\\"9007199254740993": 9007199254740993}'), {
      '9007199254740993': '9007199254740993',
      'a"9007199254740993': 9007199254740993n,
    });
    assert.deepEqual(parseJson('{"\uE000": ["\uE000\uE00012345", 12345678901234567890]}'), {
      '\uE000': ['\uE000\uE00012345', 12345678901234567890n],
    });
  });

  it('rounds integers of millions of digits, in linear time', () => {
    const startMs = performance.now();
    assert.equal(parseJson('7'.repeat(1000)), BigInt('7'.repeat(1000)));
    assert.equal(parseJson('7'.repeat(8_000_000)), Number.POSITIVE_INFINITY);
    assert.ok(performance.now() - startMs < 3_000);
  });

  it('never takes a text of the JSON for an integer', () => {
    for (const text of ['\uE000', '\\ue000']) {
      assert.deepEqual(parseJson(`["${text}12345", 12345678901234567890]`), ['\uE00012345', 12345678901234567890n]);
    }
    const startMs = performance.now();
    const marks = `["${'\uE000'.repeat(20_000)}",${'1234567890123456,'.repeat(50_000)}1]`;
    assert.equal((parseJson(marks) as unknown[]).length, 50_002);
    assert.ok(performance.now() - startMs < 3_000);
  });

  it('refuses what JSON.parse refuses', () => {
    for (const text of [
      '',
      '[',
      '09007199254740993',
      '--9007199254740993',
      '9007199254740993x',
      '"9007199254740993',
      '[1 9007199254740993]',
      '9007199254740993.',
      '+9007199254740993',
      '.9007199254740993',
      '1e9007199254740993000000x',
      '0x9007199254740993',
      '{9007199254740993: 1}',
      '{"a": 1, 9007199254740993\n:1}',
    ]) {
      assert.throws(() => JSON.parse(text), SyntaxError);
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
  });

  it('accepts and refuses any text as JSON.parse does', () => {
    const random = createRandom(7);
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '-',
      '.',
      'e',
      '+',
      '9007199254740993',
      '0',
      '12',
      ' ',
      'true',
      'null',
      '"a"',
      '\uE000',
    ];
    const outcome = (parse: (text: string) => unknown, text: string): string => {
      try {
        return JSON.stringify(parse(text), (_, value) => (typeof value === 'bigint' ? Number(value) : value)) ?? '';
      } catch (error) {
        return (error as Error).name;
      }
    };
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join('');
      assert.equal(outcome(parseJson, text), outcome(JSON.parse, text), text);
    }
  });

  it('reads a large text in linear time', () => {
    const startMs = performance.now();
    const numbers = `[${Array.from({ length: 20_000 }, (_, at) => `90071992547409${at + 10_000}`).join(',')}]`;
    assert.equal((parseJson(numbers) as unknown[]).length, 20_000);
    parseJson(JSON.stringify('\\"'.repeat(500_000)));
    assert.ok(performance.now() - startMs < 3_000);
  });
});

describe('stringifyJson()', () => {
  it('writes bigints with all digits, bytes as base64, and all else as JSON.stringify', () => {
    assert.equal(
      stringifyJson({ a: 2n ** 64n, b: new Uint8Array([1, 255]), c: undefined }),
      '{"a":18446744073709551616,"b":"Af8="}',
    );
    for (const value of [
      null,
      'ä"\u2028\ud800',
      [undefined, () => 1, Number.NaN],
      { d: new Date(0), __proto__: 1 },
      Object.create(null),
    ]) {
      assert.equal(stringifyJson(value), JSON.stringify(value));
    }
  });

  it('keeps bytes of any length', () => {
    for (const length of [0, 1, 2, 3, 0x6000, 0x6001, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, at) => at * 31);
      assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
    }
  });
});
