import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import { kernelModule } from '../src/interface-check.ts';
import { parseExtensionPointSchema, SchemaError } from '../src/parse.ts';
import { schemaKeys } from '../src/vocabulary.ts';

const page = readFileSync(new URL('../../../docs/reference/extension-point-schema.md', import.meta.url), 'utf8');

/** The words between backquotes in the rows of the table whose first heading is given. */
function wordsOf(heading: string): string[] {
  const [, rows = ''] = page.split(`| ${heading} |`);
  const [table = ''] = rows.split('\n\n');
  return [...table.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** The words that a fault offers for a key, a type or a format that is none. */
function offered(schema: string): string[] {
  try {
    parseExtensionPointSchema(schema);
  } catch (error) {
    assert.ok(error instanceof SchemaError);
    const [, words = ''] = error.detail.split(/there are|expected one of/);
    return [...words.matchAll(/"([^"]+)"/g)].map(([, word = '']) => word);
  }
  return assert.fail(`${schema} was taken`);
}

describe('docs/reference/extension-point-schema.md', () => {
  it('shows a schema that is one', () => {
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const schema = JSON.parse(parseExtensionPointSchema(yaml));
    assert.deepEqual(Object.keys(schema), ['version', 'exports', 'imports', 'components']);
    parseExtensionPointSchema('{ version: v0, exports: [greet, count_vowels] }');
  });

  it('names every key, type and format that there is', () => {
    const typeOf = (type: string) => offered(`components: {schemas: {a: ${type}}}`);
    const keys = offered('zzzzzz: 1');
    assert.deepEqual(
      keys.filter((key) => key !== '$schema').sort(),
      wordsOf('key')
        .filter((key) => keys.includes(key))
        .sort(),
    );
    assert.deepEqual(
      Object.keys(schemaKeys.function ?? {}).filter((key) => !wordsOf('key of an export or import').includes(key)),
      [],
    );
    for (const word of [...typeOf('{type: zzzzzz}').filter((type) => type !== 'zzzzzz'), ...typeOf('{zzzzzz: 1}')]) {
      assert.ok(page.includes(`\`${word}\``), word);
    }
    const formats = ['string', 'integer', 'number'].flatMap((type) => typeOf(`{type: ${type}, format: zzzzzz}`));
    assert.deepEqual(
      formats,
      wordsOf('`type` | `format`').filter((word) => !['string', 'integer', 'number'].includes(word)),
    );
  });

  it('names every proposal, in the order of lists', () => {
    const [, sentence = ''] = page.split('\nProposals are ');
    const [names = ''] = sentence.split('. Compilers');
    assert.deepEqual(
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
      [...wasmProposals],
    );
  });

  it('names where the functions of the kernel are', () => {
    assert.ok(page.includes(`\`${kernelModule}\``));
  });
});
