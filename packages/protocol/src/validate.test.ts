import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { createRandom } from '../../../test/helpers/random.ts';
import * as protocol from './index.ts';
import { Type } from './type.ts';
import { faultsOf, isValid } from './validate.ts';

const schemas = Object.entries(protocol as Record<string, unknown>).filter(
  (entry): entry is [string, TSchema] =>
    typeof entry[1] === 'object' && ['type', 'anyOf', 'allOf'].some((keyword) => keyword in Object(entry[1])),
);

const random = createRandom(15);
const { pick } = random;

const others: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e6,
  '',
  ' ',
  'x'.repeat(500),
  '2026-01-31T12:00:00.000Z',
  '2026-02-30T12:00:00Z',
  '2026-01-31',
  'owner',
  [],
  [1, 1],
  {},
  { name: 'x' },
];

interface Keywords {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Keywords[];
  readonly allOf?: readonly Keywords[];
  readonly items?: Keywords;
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly patternProperties?: Readonly<Record<string, Keywords>>;
}

const texts = ['x', 'Ada', 'a-b', 'app_01j29hxk3mfpq8ad68ha6hbsex', '2026-01-31T12:00:00.000Z', 'x'.repeat(43)];

/** A value that the schema is about, which may be wrong anywhere. */
function valueFor(schema: Keywords): unknown {
  if (random.below(40) === 0) return pick(others);
  if (schema.anyOf !== undefined) return valueFor(pick(schema.anyOf));
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map(valueFor));
  if (schema.enum !== undefined) return pick(schema.enum);
  if ('const' in schema) return schema.const;
  switch (schema.type) {
    case 'string':
      return pick(texts);
    case 'integer':
    case 'number':
      return pick([1, 8, 90, 365, 4000]);
    case 'boolean':
      return pick([true, false]);
    case 'array':
      return Array.from({ length: random.below(4) }, () => valueFor(schema.items ?? {}));
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).filter(() => random.below(30) !== 0);
      const inRecord = Object.values(schema.patternProperties ?? {}).map((value) => [pick(texts), value] as const);
      const added = random.below(20) === 0 ? [['unknown', {}] as const] : [];
      return Object.fromEntries([...members, ...inRecord, ...added].map(([name, member]) => [name, valueFor(member)]));
    }
    default:
      return null;
  }
}

describe('isValid()', () => {
  it('accepts the same values as TypeBox', () => {
    assert.ok(schemas.length > 30);
    const counts = { valid: 0, invalid: 0 };
    for (const [name, schema] of schemas) {
      const compiled = Compile(schema);
      for (let round = 0; round < 300; round++) {
        const value = valueFor(schema as Keywords);
        const isRight = compiled.Check(value);
        assert.equal(isValid(schema, value), isRight, `${name}: ${JSON.stringify(value)}`);
        counts[isRight ? 'valid' : 'invalid']++;
      }
    }
    assert.ok(Math.min(counts.valid, counts.invalid) > 2000, JSON.stringify(counts));
  });
});

describe('faultsOf()', () => {
  const schema = Type.Object({
    name: Type.String({ minLength: 2, maxLength: 5, pattern: '\\S' }),
    role: Type.Optional(Type.Union([Type.Literal('owner'), Type.Literal('viewer')])),
    email: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
    limits: Type.Optional(Type.Object({ bytes: Type.Integer({ minimum: 8 }) }, { additionalProperties: false })),
    proposals: Type.Optional(Type.Array(Type.Enum(['simd', 'gc']), { maxItems: 2, uniqueItems: true })),
  });

  for (const [value, ...faults] of [
    [{ name: 'Ada' }],
    [null, ' must be an object'],
    [{}, '/name is required'],
    [{ name: 1, role: 'x' }, '/name must be a string', '/role must be "owner" or "viewer"'],
    [{ name: '  ' }, '/name must not be blank'],
    [{ name: '👩👩👩👩👩' }],
    [{ name: '👩👩👩👩👩👩' }, '/name must have at most 5 characters'],
    [{ name: '👩' }, '/name must have at least 2 characters'],
    [{ name: 'Ada', email: 5 }, '/email must be a string or null'],
    [{ name: 'Ada', email: 'long' }, '/email must have at most 3 characters'],
    [
      { name: 'Ada', limits: { bytes: 7, 'a/b~': 1 } },
      '/limits/bytes must be at least 8',
      '/limits/a~1b~0 is not a known field',
    ],
    [{ name: 'Ada', limits: { bytes: 8.5 } }, '/limits/bytes must be an integer'],
    [{ name: 'Ada', proposals: ['simd', 'mvp'] }, '/proposals/1 must be one of "simd", "gc"'],
    [{ name: 'Ada', proposals: ['gc', 'gc'] }, '/proposals must not have an item twice'],
    [{ name: 'Ada', proposals: [1, 2, 3] }, '/proposals must have at most 2 items'],
  ] as const) {
    it(`says of ${JSON.stringify(value)}: ${faults.join('; ') || 'nothing'}`, () => {
      assert.deepEqual(
        faultsOf(schema, value).map(({ pointer, detail }) => `${pointer} ${detail}`),
        faults,
      );
    });
  }

  it('ignores inherited members', () => {
    const inherits = Type.Object({ toString: Type.Optional(Type.String()) });
    assert.deepEqual(faultsOf(inherits, {}), []);
    assert.deepEqual(faultsOf(Type.Object({ constructor: Type.Unknown() }), {}), [
      { pointer: '/constructor', detail: 'is required' },
    ]);
  });

  it('stops in an array with many faults', () => {
    const faults = faultsOf(
      Type.Array(Type.String()),
      Array.from({ length: 10_000 }, () => 1),
    );
    assert.equal(faults.length, 100);
  });
});
