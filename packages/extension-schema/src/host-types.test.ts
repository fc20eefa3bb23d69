import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { hostTypes } from './host-types.ts';
import { parseExtensionPointSchema } from './parse.ts';

const compiler = createRequire(import.meta.url).resolve('typescript/package.json');

/** What the compiler, in its strictest mode, has against some texts. */
async function complaints(texts: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-types-'));
  try {
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      erasableSyntaxOnly: true,
      isolatedDeclarations: true,
      declaration: true,
      verbatimModuleSyntax: true,
      noEmit: true,
      target: 'esnext',
      module: 'nodenext',
      allowImportingTsExtensions: true,
      lib: ['esnext'],
      types: [],
    };
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const tsc = join(dirname(compiler), 'bin/tsc');
    const found = await promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false']).catch(
      (error: { stdout: string }) => error,
    );
    return found.stdout.split('\n').filter((line) => /^\S/.test(line));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const typesOf = (yaml: string) => hostTypes(JSON.parse(parseExtensionPointSchema(yaml)));

const report = `
version: v1-draft
exports:
  count_vowels:
    description: Counts the vowels.
    input: { type: string, contentType: text/plain; charset=utf-8, description: a text }
    output: { $ref: "#/components/schemas/Report", contentType: application/json, description: what was found }
  ping: {}
imports:
  kv_read:
    input: { type: string, contentType: text/plain; charset=utf-8 }
    output: { type: buffer, contentType: application/x-binary, nullable: true }
components:
  schemas:
    Fruit: { description: What there is to eat., enum: [apple, "passion fruit", "it's"] }
    Report:
      description: |
        What was found.
        It ends */ here.
      required: [count, fruit]
      properties:
        count: { type: integer, description: How many. }
        at: { type: string, format: date-time, nullable: true }
        fruit: { $ref: "#/components/schemas/Fruit" }
        children: { items: { $ref: "#/components/schemas/Report" } }
        maybe: { items: { type: string, nullable: true } }
        counts: { additionalProperties: { type: number } }
        inner: { required: [deep], properties: { deep: { type: boolean } } }
`;

/** How another text imports it. In quotes of its own, since it is no import of this file. */
const reportFile = JSON.stringify('./report.ts');

describe('hostTypes()', () => {
  it('generates interfaces for components, functions for exports and imports, and a table of content types', () => {
    assert.equal(
      hostTypes(JSON.parse(parseExtensionPointSchema(report)), { source: 'ext_1\n("Greetings")' }),
      `// Made by \`tenon bindings generate host\` from ext_1 ("Greetings"). Generate it again instead of editing it.

/** What there is to eat. */
export type Fruit = 'apple' | 'passion fruit' | "it's";

/**
 * What was found.
 * It ends *\\/ here.
 */
export interface Report {
  /** How many. */
  count: number;
  /** A date and time (RFC 3339). */
  at?: string | null;
  fruit: Fruit;
  children?: Report[];
  maybe?: (string | null)[];
  counts?: { [name: string]: number };
  inner?: {
    deep: boolean;
  };
}

/** What a plugin exports, and the application calls. */
export interface PluginExports {
  /**
   * Counts the vowels.
   *
   * @param input a text
   * @returns what was found
   */
  count_vowels: (input: string) => Promise<Report>;
  ping: () => Promise<void>;
}

/** What a plugin may import, and the application provides. */
export interface HostImports {
  kv_read: (input: string) => Uint8Array | null | Promise<Uint8Array | null>;
}
`,
    );
  });

  const parameters: readonly [parameter: string, type: string][] = [
    ['{ type: string, contentType: text/plain; charset=utf-8 }', 'string'],
    ['{ type: string, contentType: TEXT/PLAIN;charset=UTF-8 }', 'string'],
    ['{ type: integer, contentType: text/plain; charset=utf-8 }', 'number'],
    ['{ $ref: "#/components/schemas/F", contentType: text/plain; charset=utf-8 }', 'F'],
    ['{ $ref: "#/components/schemas/G", contentType: text/plain; charset=utf-8 }', 'G'],
    ['{ $ref: "#/components/schemas/N", contentType: text/plain; charset=utf-8 }', 'N'],
    ['{ type: string, contentType: application/json }', 'string'],
    ['{ type: boolean, nullable: true, contentType: application/json }', 'boolean | null'],
    ['{ type: number, contentType: application/json }', 'number'],
    ['{ type: object, contentType: application/json }', '{ [name: string]: unknown }'],
    ['{ type: array, contentType: application/json }', 'unknown[]'],
    ['{ type: array, items: { type: string }, contentType: application/json }', 'string[]'],
    ['{ type: array, items: { enum: [a, b] }, contentType: application/json }', "('a' | 'b')[]"],
    ['{ type: buffer, contentType: application/json }', 'Uint8Array'],
    ['{ type: buffer, contentType: application/x-binary }', 'Uint8Array'],
    ['{ type: string, contentType: application/x-binary }', 'Uint8Array'],
    ['{ type: string, nullable: true, contentType: text/plain; charset=utf-8 }', 'string | null'],
    ['{ type: string }', 'string'],
    ['{ type: buffer }', 'Uint8Array'],
    ['{ type: integer }', 'number'],
    ['{ type: integer, format: int64 }', 'bigint'],
    ['{ items: { type: integer, format: uint64, nullable: true } }', '(bigint | null)[]'],
    ['{ $ref: "#/components/schemas/U" }', 'U'],
    ['{ $ref: "#/components/schemas/F" }', 'F'],
    ['{ enum: [a] }', "'a'"],
  ];
  for (const [parameter, type] of parameters) {
    it(`makes ${type} of ${parameter}`, () => {
      const components =
        '{ schemas: { F: { enum: [a] }, G: { $ref: "#/components/schemas/F" }, N: { type: integer }, U: { oneOf: [{ $ref: "#/components/schemas/V" }], discriminator: { propertyName: kind } }, V: { required: [kind], properties: { kind: { enum: [v] } } } } }';
      const text = typesOf(
        `{ exports: { f: { input: ${parameter}, output: ${parameter} } }, components: ${components} }`,
      );
      assert.ok(text.includes(`\n  f: (input: ${type}) => Promise<${type}>;\n`), text);
    });
  }

  it('gives types valid TypeScript names, and keeps valid ones', () => {
    const schemas = Object.fromEntries(
      ['string', 'class', 'Uint8Array', 'PluginExports', 'a-b', 'a_b', '1st', 'string_', 'Good', ''].map((name) => [
        name,
        { type: 'string', description: name },
      ]),
    );
    const text = hostTypes({ components: { schemas } });
    const names = [...text.matchAll(/^export type (\S+) =/gm)].map(([, name]) => name);
    assert.deepEqual(
      names,
      ['_1st', 'string__', 'class_', 'Uint8Array_', 'PluginExports_', 'a_b_', 'a_b', 'string_', 'Good', '_'].sort(
        inOrder(names),
      ),
    );
    assert.equal(new Set(names).size, 10);
  });

  it('generates code that compiles in strict mode for any names and texts', async () => {
    const words =
      'new constructor readonly get set static async await __proto__ toString type default class 0 a-b é'.split(' ');
    const odd = [
      ...words,
      '',
      ' ',
      "'",
      '"',
      '\\',
      '*/',
      '\n',
      '\u2028',
      '$' + '{x}',
      '`',
      'Promise',
      'Record',
      'Array',
      'string',
    ];
    const objects = Object.create(null) as Record<string, unknown>;
    for (const name of odd) objects[name] = { type: 'string', description: `of ${name} */ \u2028 and\r\nmore` };
    const schemas = Object.create(null) as Record<string, unknown>;
    for (const name of odd) schemas[name] = { description: name, required: odd, properties: objects };
    const functions = Object.create(null) as Record<string, unknown>;
    for (const name of odd) {
      const $ref = `#/components/schemas/${name}`;
      functions[name] = { description: name, input: { $ref, description: '*/' }, output: { $ref, nullable: true } };
    }
    const older = {
      exports: ['greet', { name: 'a-b', input: 'string', output: { type: 'strnig' } }, 7],
      imports: { kv: 3, other: { input: null, output: { $ref: '#/components/schemas/None' } } },
      components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' }, C: 4 } },
    };
    const recursive = `components: { schemas: {
      List: { items: { $ref: "#/components/schemas/List" } },
      Map: { additionalProperties: { $ref: "#/components/schemas/Map" }, nullable: true },
      Tree: { nullable: true, properties: { kids: { items: { $ref: "#/components/schemas/Tree" } } } },
      Alias: { $ref: "#/components/schemas/Tree", nullable: true },
      Empty: { properties: {} } } }`;
    const texts = {
      'odd.ts': hostTypes({ exports: functions, imports: functions, components: { schemas } }),
      'older.ts': hostTypes(older),
      'report.ts': typesOf(report),
      'recursive.ts': typesOf(recursive),
      'none.ts': hostTypes({}),
      'nonsense.ts': hostTypes('nonsense'),
    };
    assert.deepEqual(await complaints(texts), []);
  });

  it('uses unknown for invalid types', () => {
    const text = hostTypes({
      components: { schemas: { A: { enum: [1, 'a'] }, B: { enum: [] }, C: null, D: { type: 3 } } },
    });
    for (const name of 'ABCD') assert.ok(text.includes(`export type ${name} = unknown;\n`), text);
  });

  it('generates types that check an application', async () => {
    const use = `
      import { type Fruit, type HostImports, type PluginExports, type Report } from ${reportFile};
      const fruit: Fruit = 'passion fruit';
      const report: Report = { count: 1, fruit, children: [], at: null };
      const plugin: PluginExports = { count_vowels: async (input) => ({ ...report, count: input.length }), ping: async () => {} };
      const host: HostImports = { kv_read: (key) => (key === '' ? null : new Uint8Array()) };
      export const used: unknown = [plugin, host];`;
    const misuse = `
      import type { Fruit, PluginExports, Report } from ${reportFile};
      export const fruit: Fruit = 'pear';
      export const report: Report = { fruit: 'apple' };
      export const at: Report['at'] = 7;
      export const call = (plugin: PluginExports): unknown => plugin.count_vowels(7);
      export const gone = (plugin: PluginExports): unknown => plugin.countVowels('');`;
    const texts = { 'report.ts': typesOf(report) };
    assert.deepEqual(await complaints({ ...texts, 'use.ts': use }), []);
    const found = await complaints({ ...texts, 'misuse.ts': misuse });
    const lines = found.map((complaint) => /misuse\.ts\((\d+)/.exec(complaint)?.[1]);
    assert.deepEqual(lines, ['3', '4', '5', '6', '7'], found.join('\n'));
  });
});

/** Objects list keys that look like numbers first, whatever order they came in. */
function inOrder(order: readonly (string | undefined)[]): (a: string, b: string) => number {
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
