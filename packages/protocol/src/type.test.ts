import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './type.ts';

/** Schemas of every kind, made by one of the two. */
function schemasOf(T: typeof Type): unknown {
  const described = { description: 'what it is' };
  const object = T.Object({ a: T.String(described), b: T.Optional(T.Integer({ minimum: 1 })) }, described);
  const { properties } = object;
  return [
    object,
    T.Object({}),
    T.Object({ only: T.Optional(T.Null()) }, { additionalProperties: false }),
    T.Object({ ...properties, c: T.Boolean() }),
    T.Partial(object),
    T.Partial(object, { additionalProperties: false }),
    T.Pick(object, ['b']),
    T.Pick(T.Partial(object), ['a']),
    T.Union([T.Literal('x', described), T.Literal(1), T.Number()], described),
    T.Intersect([object, T.Object({})], described),
    T.Record(T.String(), T.Unknown(), described),
    T.Record(T.String({ pattern: '^a$' }), T.Array(T.Unknown(described), { maxItems: 2 })),
    T.Enum(['a', 'b'], described),
    T.Unsafe({ type: 'object', properties: {} }),
  ];
}

describe('Type', () => {
  it('creates the same schemas as TypeBox', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(schemasOf(Type))), JSON.parse(JSON.stringify(schemasOf(TypeBox))));
    assert.equal(JSON.stringify(schemasOf(Type)), JSON.stringify(schemasOf(TypeBox)));
  });
});
