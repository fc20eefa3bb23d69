import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readExtensionPointSchema, SchemaError } from './parse.ts';
import { type Place, placeAt, schemaKeys } from './vocabulary.ts';

/** A document with an unknown key in each place, whose fault or warning lists the known ones. */
const wrong = { nothingLikeAnyOfTheKeys: 1 };
const documents: Readonly<Partial<Record<Place, unknown>>> = {
  document: { version: 'v1-draft', ...wrong },
  components: { components: wrong },
  function: { exports: { a: wrong } },
  codeSample: { exports: { a: { codeSamples: [{ lang: 'x', source: 'y', ...wrong }] } } },
  type: { components: { schemas: { A: wrong } } },
  parameter: { exports: { a: { input: wrong } } },
  discriminator: { exports: {}, components: { schemas: { A: { oneOf: [], discriminator: wrong } } } },
};

describe('schemaKeys', () => {
  for (const [place, keys] of Object.entries(schemaKeys)) {
    it(`are those of the rules: ${place}`, () => {
      const details = detailsOf(documents[place as Place]).flatMap(
        (detail) => / has no "nothingLikeAnyOfTheKeys"[^;]*; there are (.*)$/.exec(detail)?.[1] ?? [],
      );
      const known = details[0]?.split(', ').map((name) => JSON.parse(name));
      assert.deepEqual(Object.keys(keys).sort(), known?.sort());
    });
  }
});

function detailsOf(schema: unknown): string[] {
  try {
    return readExtensionPointSchema(schema).warnings.map(({ detail }) => detail);
  } catch (error) {
    assert.ok(error instanceof SchemaError, String(error));
    return error.faults.map(({ detail }) => detail);
  }
}

describe('placeAt()', () => {
  it('follows keys, names and indices', () => {
    assert.equal(placeAt([]), 'document');
    assert.equal(placeAt(['exports']), 'functions');
    assert.equal(placeAt(['imports', 'now']), 'function');
    assert.equal(placeAt(['exports', 0]), 'function');
    assert.equal(placeAt(['exports', 'type', 'input']), 'parameter');
    assert.equal(placeAt(['exports', 'a', 'input', 'properties', 'type', 'items']), 'type');
    assert.equal(placeAt(['components', 'schemas', 'A', 'additionalProperties']), 'type');
    assert.equal(placeAt(['exports', 'a', 'codeSamples', 0]), 'codeSample');
    assert.equal(placeAt(['components', 'schemas', 'A', 'oneOf', 0]), 'type');
    assert.equal(placeAt(['exports', 'a', 'input', 'discriminator']), 'discriminator');
    assert.equal(placeAt(['version']), 'value');
    assert.equal(placeAt(['constructor', 'name']), 'value');
  });
});
