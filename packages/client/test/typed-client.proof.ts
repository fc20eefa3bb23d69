import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseExtensionPointSchema } from '@tenon/extension-schema';
import { hostClient } from '@tenon/extension-schema/host-client';
import { assertCompiles } from '../../../test/helpers/assert-compiles.ts';
import { buildPackages } from '../../../test/helpers/engines.ts';

const root = join(import.meta.dirname, '../../..');
const corpus = join(root, 'packages/extension-schema/test/corpus');

/** The declarations of Extism do not compile with the compiler of the repository. */
const skipLibCheck = '--skipLibCheck';

/** How a program imports the generated file. */
const shapes = (extension: string) => JSON.stringify(`./shapes.${extension}`);

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-typed-'));
  await mkdir(join(folder, 'node_modules/@tenon'), { recursive: true });
  buildPackages(join(folder, 'node_modules/@tenon'), 'client');
  await symlink(join(root, 'node_modules/@extism'), join(folder, 'node_modules/@extism'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
after(() => rm(folder, { recursive: true }));

const clientOf = async (file: string, extensionPoint?: { id: string; name: string }) =>
  hostClient(JSON.parse(parseExtensionPointSchema(await readFile(join(corpus, file), 'utf8'))), { extensionPoint });

describe('generated typed clients', () => {
  it('compile for every document of the corpus, and for odd names', async () => {
    const programs: string[] = [];
    const add = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      programs.push(name);
    };
    for (const file of (await readdir(corpus)).filter((name) => name.endsWith('.yaml'))) {
      await add(file.replace('.yaml', '.ts'), await clientOf(file, { id: 'ext_1', name: '4 odd "names" – ∞' }));
    }
    const odd =
      'Promise CallSchema TypedPlugin PluginSource createTypedPlugin createPlugin schema then close __proto__'.split(
        ' ',
      );
    const schemas = Object.fromEntries(odd.map((name) => [name, { properties: { [name]: { type: 'buffer' } } }]));
    const functions = Object.fromEntries(
      odd.map((name) => [name, { input: { $ref: `#/components/schemas/${name}` }, output: { type: 'string' } }]),
    );
    await add('odd.ts', hostClient({ exports: functions, imports: functions, components: { schemas } }));
    for (const [index, name] of ['Typed plugin', '…', '', 'Größe 1st', 'schema'].entries()) {
      await add(`name-${index}.ts`, await clientOf('beyond-xtp.yaml', { id: `ext_'"\n\u2028`, name }));
    }
    assertCompiles(folder, skipLibCheck, ...programs);
  });

  it('check an application, and run in Node.js against a real plugin', async () => {
    await writeFile(join(folder, 'shapes.ts'), await clientOf('beyond-xtp.yaml', { id: 'ext_1', name: 'my shapes' }));
    await writeFile(
      join(folder, 'use.ts'),
      `import type { Client } from '@tenon/client';
      import { PluginValueError } from '@tenon/client/typed';
      import { createMyShapes, type Entry, type Shape } from ${shapes('js')};
      const shape: Shape = { kind: 'group', members: [{ kind: 'circle', radius: 1 }] };
      export async function use(client: Client): Promise<bigint | undefined> {
        await using shapes = createMyShapes(client, { guestKey: 'acme', hostFunctions: { draw(drawn) { console.log(drawn.length); } } });
        const area: number = await shapes.area(shape);
        const entry: Entry | undefined = await shapes.ledger(BigInt(area));
        if (shape.kind === 'circle') console.log(shape.radius, PluginValueError.name);
        // @ts-expect-error: a number
        await shapes.ledger(7);
        // @ts-expect-error: no such kind
        await shapes.area({ kind: 'square' });
        // @ts-expect-error: may be undefined
        entry.id;
        // @ts-expect-error: host functions are required
        createMyShapes(client, { guestKey: 'acme' });
        return entry?.next?.amount;
      }`,
    );
    assertCompiles(folder, skipLibCheck, 'use.ts');
    const module = `(module
      (import "extism:host/env" "input_offset" (func $offset (result i64)))
      (import "extism:host/env" "input_length" (func $length (result i64)))
      (import "extism:host/env" "output_set" (func $output (param i64 i64)))
      (func (export "area") (result i32) (call $output (call $offset) (call $length)) (i32.const 0)))`;
    const { wat } = await import('../../../test/helpers/wat.ts');
    await writeFile(join(folder, 'area.wasm'), wat(module));
    await writeFile(
      join(folder, 'run.ts'),
      `import { readFileSync } from 'node:fs';
      import { createMyShapes } from ${shapes('ts')};
      const module = new WebAssembly.Module(readFileSync('area.wasm'));
      const shapes = createMyShapes({ load: async () => module } as never, { guestKey: 'acme', hostFunctions: { draw() {} } });
      console.log(await shapes.ledger(1n));
      await shapes.area({ kind: 'circle', radius: 2 }).catch((error) => console.log(String(error)));
      await shapes[Symbol.asyncDispose]();`,
    );
    const ran = spawnSync(process.execPath, ['run.ts'], { cwd: folder, encoding: 'utf8' });
    assert.equal(
      ran.stdout,
      'undefined\nPluginValueError: area.output: expected a number, found an object\n',
      ran.stderr,
    );
  });
});
