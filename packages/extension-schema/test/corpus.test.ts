import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { hostTypes } from '../src/host-types.ts';
import { parseExtensionPointSchema, readExtensionPointSchema } from '../src/parse.ts';

const folder = new URL('corpus/', import.meta.url);

describe('existing documents', () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    it(`accepts ${file}, with the warnings that it names`, () => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const expected = [...text.matchAll(/^# warning: (.*)$/gm)].map(([, pointer]) => pointer);
      const { json, warnings } = readExtensionPointSchema(text);
      assert.deepEqual(
        warnings.map(({ pointer }) => pointer),
        expected,
        JSON.stringify(warnings, null, 1),
      );
      for (const { pointer, position } of warnings) {
        const line = text.split('\n')[(position?.line ?? 0) - 1] ?? '';
        assert.ok(line.includes(pointer.slice(pointer.lastIndexOf('/') + 1)), `${pointer}: ${line}`);
      }
      assert.equal(parseExtensionPointSchema(json), json);
      assert.ok(!hostTypes(JSON.parse(json)).includes('unknown;'), 'a type is unknown');
    });
  }
});
