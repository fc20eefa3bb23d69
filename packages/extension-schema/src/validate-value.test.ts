import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeValueFault, maxValueFaults, validateBytes, validateValue } from './validate-value.ts';

const components = {
  Person: {
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', format: 'uint8' },
      boss: { $ref: '#/components/schemas/Boss' },
    },
    required: ['name'],
  },
  Boss: { $ref: '#/components/schemas/Person', nullable: true },
  Color: { enum: ['red', 'green'] },
  Loop: { $ref: '#/components/schemas/Loop' },
};
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const faults = (value: unknown, type: unknown) => validateValue(value, type, components).map(describeValueFault);
const bytesFaults = (text: string | Uint8Array, type: unknown) =>
  validateBytes(typeof text === 'string' ? new TextEncoder().encode(text) : text, type, components).map(
    describeValueFault,
  );

describe('validateValue()', () => {
  it('accepts values that fit', () => {
    const cases: [unknown, unknown][] = [
      ['a', { type: 'string' }],
      ['', { type: 'string', format: 'byte' }],
      ['aGk=', { type: 'buffer' }],
      [new Uint8Array(2), { type: 'buffer' }],
      ['2026-11-23T22:00:00.5+01:00', { type: 'string', format: 'date-time' }],
      [-128, { type: 'integer', format: 'int8' }],
      [2n ** 64n - 1n, { type: 'integer', format: 'uint64' }],
      [1.5, { type: 'number', format: 'float' }],
      [10n ** 308n, { type: 'number' }],
      [false, { type: 'boolean' }],
      [null, { type: 'string', nullable: true }],
      [null, ref('Boss')],
      [{ name: 'Ada', age: 255, boss: { name: 'Bo', boss: null, other: [] } }, ref('Person')],
      [{ a: 'red' }, { additionalProperties: ref('Color') }],
      [[['red']], { items: { items: ref('Color') } }],
      [{ free: 1 }, { type: 'object' }],
      [[1, 'a'], { type: 'array' }],
      [7, ref('Loop')],
      [7, ref('Unknown')],
      [7, undefined],
    ];
    for (const [value, type] of cases) assert.deepEqual(faults(value, type), [], JSON.stringify(type));
  });

  it('reports what does not fit, with its path', () => {
    assert.deepEqual(faults({ age: 256, boss: { name: 7, 'a/b': 1 } }, ref('Person')), [
      'expected the field "name", which is missing',
      '/age: expected an integer from 0 to 255, found 256',
      '/boss/name: expected text, found 7',
    ]);
    assert.deepEqual(faults({ 'a/b': 'blue' }, { additionalProperties: ref('Color') }), [
      '/a~1b: expected one of "red", "green", found "blue"',
    ]);
    const cases: [unknown, unknown, string][] = [
      ['yesterday', { type: 'string', format: 'date-time' }, 'expected a date and time (RFC 3339), found "yesterday"'],
      ['a', { type: 'string', format: 'byte' }, 'expected base64, found "a"'],
      [1.5, { type: 'integer' }, 'expected an integer, found 1.5'],
      ['1', { type: 'integer' }, 'expected an integer, found "1"'],
      [
        2 ** 65,
        { type: 'integer', format: 'uint64' },
        `expected an integer from 0 to ${2n ** 64n - 1n}, found ${2n ** 65n}`,
      ],
      [
        10n ** 40n,
        { type: 'integer', format: 'int64' },
        `expected an integer from ${-(2n ** 63n)} to ${2n ** 63n - 1n}, found one of more than 40 digits`,
      ],
      [10n ** 309n, { type: 'number' }, 'expected a number, found an integer of more than 40 digits'],
      [1n << 10_000_000n, { type: 'string' }, 'expected text, found an integer of more than 40 digits'],
      ['NaN', { type: 'number' }, 'expected a number, found "NaN"'],
      [0, { type: 'boolean' }, 'expected true or false, found 0'],
      [null, { type: 'string' }, 'expected text, found null'],
      [[], { type: 'object' }, 'expected an object, found a list'],
      [{}, { items: { type: 'string' } }, 'expected a list, found an object'],
      [{}, ref('Color'), 'expected one of "red", "green", found an object'],
      ['x'.repeat(99), ref('Person'), `expected an object, found "${'x'.repeat(60)}"…`],
    ];
    for (const [value, type, expected] of cases) assert.deepEqual(faults(value, type), [expected]);
  });

  it('bounds the faults and the depth', () => {
    assert.equal(faults(Array(1e5).fill(1), { items: { type: 'string' } }).length, maxValueFaults);
    const deep: { boss: unknown; name: string } = { name: 'a', boss: null };
    let inner = deep;
    for (let depth = 0; depth < 5_000; depth++) {
      const next = { name: 'a', boss: null };
      inner.boss = next;
      inner = next;
    }
    assert.match(faults(deep, ref('Person')).join(), /^\/boss.*: is nested more than 200 deep$/);
    assert.deepEqual(faults(JSON.parse('{"__proto__":1,"name":"a"}'), ref('Person')), []);
    assert.deepEqual(faults({}, { properties: { toString: { type: 'string' } }, required: ['toString'] }), [
      'expected the field "toString", which is missing',
    ]);
  });
});

describe('validateBytes()', () => {
  it('decodes by content type', () => {
    assert.deepEqual(bytesFaults('plain', { type: 'string' }), []);
    assert.deepEqual(bytesFaults('"red"', { ...ref('Color'), contentType: 'application/json' }), []);
    assert.deepEqual(bytesFaults('red', { ...ref('Color'), contentType: 'text/plain; charset=UTF-8' }), []);
    assert.deepEqual(bytesFaults(' 5 ', { type: 'integer' }), []);
    assert.deepEqual(bytesFaults(Uint8Array.of(255), { type: 'buffer' }), []);
    assert.deepEqual(bytesFaults('plain', { type: 'string', contentType: 'application/json' }), ['expected JSON']);
    assert.deepEqual(bytesFaults('', ref('Person')), ['expected JSON, found no output']);
    assert.deepEqual(bytesFaults(Uint8Array.of(255), { type: 'string' }), ['expected UTF-8 text, found other bytes']);
    assert.deepEqual(bytesFaults('{"name":1}', ref('Person')), ['/name: expected text, found 1']);
  });

  it('bounds its work for hostile JSON', () => {
    const nested = (inner: string) => `${'['.repeat(1e5)}${inner}${']'.repeat(1e5)}`;
    assert.deepEqual(bytesFaults(nested('1'), { type: 'array' }), []);
    assert.deepEqual(bytesFaults(nested('12345678901234567890'), { type: 'array' }), ['expected JSON']);
    assert.deepEqual(bytesFaults('7'.repeat(4_000_000), { type: 'integer', format: 'int64' }), [
      'expected an integer, found Infinity',
    ]);
    assert.deepEqual(bytesFaults('1E400', { type: 'number' }), ['expected a number, found Infinity']);
    const marks = `["${'\uE000'.repeat(1e5)}", 12345678901234567890]`;
    assert.deepEqual(bytesFaults(marks, { items: { type: 'string' } }), [
      '/1: expected text, found 12345678901234567890n',
    ]);
  });
});
