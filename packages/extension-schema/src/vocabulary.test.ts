import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseExtensionPointSchema, SchemaError } from './parse.ts';
import { type Place, placeAt, schemaKeys } from './vocabulary.ts';

/** A document with an unknown key in each place, whose fault lists the known ones. */
const wrong = { nothingLikeAnyOfTheKeys: 1 };
const documents: Readonly<Partial<Record<Place, unknown>>> = {
  document: { version: 'v1-draft', ...wrong },
  components: { components: wrong },
  function: { exports: { a: wrong } },
  codeSample: { exports: { a: { codeSamples: [{ lang: 'x', source: 'y', ...wrong }] } } },
  type: { components: { schemas: { A: { type: 'string', ...wrong } } } },
  parameter: { exports: { a: { input: { type: 'string', ...wrong } } } },
};

describe('schemaKeys', () => {
  for (const [place, keys] of Object.entries(schemaKeys)) {
    it(`are those of the rules: ${place}`, () => {
      try {
        parseExtensionPointSchema(documents[place as Place]);
        assert.fail('was accepted');
      } catch (error) {
        assert.ok(error instanceof SchemaError, String(error));
        const [, list = ''] = / has no "nothingLikeAnyOfTheKeys"; there are (.*)$/.exec(error.message) ?? [];
        const known = list.split(', ').map((name) => JSON.parse(name));
        assert.deepEqual(Object.keys(keys).sort(), known.sort());
      }
    });
  }
});

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
    assert.equal(placeAt(['version']), 'value');
    assert.equal(placeAt(['constructor', 'name']), 'value');
  });
});
