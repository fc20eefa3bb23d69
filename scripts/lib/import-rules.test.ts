import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { importFaults } from './import-rules.mjs';
import { importsOf } from './imports.mjs';
import { root as workspace } from './workspace.mjs';

describe('importFaults()', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-imports-'));
    plant('package.json', JSON.stringify({ devDependencies: { wabt: '1.0.0' } }));
    plant('packages/protocol/package.json', manifest({}));
    plant('packages/protocol/src/index.ts', 'export const one = 1;');
    plant('packages/instrument/package.json', manifest({}));
    plant('packages/instrument/src/index.ts', 'export const two = 2;');
    plant('packages/server/package.json', manifest({ '@tenon/protocol': '0.1.0', pino: '10.0.0' }));
    plant('packages/server/src/index.ts', "import { one } from '@tenon/protocol';\nexport { one };");
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  it('finds nothing wrong with imports that go the right way', () => {
    plant('packages/server/src/app.ts', "import { pino } from 'pino';\nimport { join } from 'node:path';");
    plant('packages/server/src/app.test.ts', "import wabt from 'wabt';\nimport './app.ts';\nprocess.env.HOME;");
    plant('packages/server/src/config/config.ts', 'export const port = process.env.PORT;');
    plant('packages/server/src/worker-url.ts', "import url from './app.ts?worker&url';\nexport { url };");
    assert.deepEqual(importFaults(root), []);
  });

  it("lets the root's tests use the packages' helpers, and nothing else that is theirs", () => {
    plant('packages/server/test/helpers/typing.ts', 'export const type = 1;');
    plant('packages/server/test/other.test.ts', 'export const other = 1;');
    plant('test/e2e/a.test.ts', "import { type } from '../../packages/server/test/helpers/typing.ts';");
    assert.deepEqual(importFaults(root), []);
    plant('test/e2e/b.test.ts', "import { other } from '../../packages/server/test/other.test.ts';");
    assert.match(importFaults(root).join('\n'), /^test\/e2e\/b\.test\.ts:1 .*reaches into another package's files/);
  });

  it("lets a package's tests use the root's helpers, and its sources not", () => {
    plant('test/helpers/browser.ts', 'export const open = 1;');
    plant('packages/server/test/pages.test.ts', "import { open } from '../../../test/helpers/browser.ts';");
    assert.deepEqual(importFaults(root), []);
    plant('packages/server/src/pages.ts', "import { open } from '../../../test/helpers/browser.ts';");
    assert.match(importFaults(root)[0] ?? '', /reaches into another package's files/);
  });

  it('lets the tests of the tracing make modules with the rewriter, and its sources not', () => {
    plant('package.json', JSON.stringify({ devDependencies: { '@tenon/instrument': '0.1.0' } }));
    plant('packages/trace/package.json', manifest({}));
    plant('packages/trace/test/trees.test.ts', "import { two } from '@tenon/instrument';");
    assert.deepEqual(importFaults(root), []);
    plant('packages/trace/src/index.ts', "import { two } from '@tenon/instrument';");
    assert.match(importFaults(root).join('\n'), /^packages\/trace\/src\/index\.ts:1 .*may import no other package$/);
  });

  it("lets the server's layers import lower ones, and the types of all services", () => {
    plant(
      'packages/server/src/services.ts',
      "import { list } from './apps/apps.ts';\nexport type Services = typeof list;",
    );
    plant('packages/server/src/apps/apps.ts', "import { a } from '../auth/access.ts';\nexport const list = a;");
    plant('packages/server/src/auth/access.ts', 'export const a = 1;');
    plant(
      'packages/server/src/http/route.ts',
      "import type { Services } from '../services.ts';\nexport type S = Services;",
    );
    plant('packages/server/src/http/route.test.ts', "import '../apps/apps.ts';");
    assert.deepEqual(importFaults(root), []);
    plant(
      'packages/server/src/http/up.ts',
      "import type { list } from '../apps/apps.ts';\nexport type L = typeof list;",
    );
    plant('packages/server/src/auth/up.ts', "import '../services.ts';");
    plant('packages/server/src/misc/new.ts', "import '../auth/access.ts';");
    assert.deepEqual(importFaults(root), [
      'packages/server/src/auth/up.ts:1 imports ../services.ts: auth/ is a lower layer of packages/server',
      'packages/server/src/http/up.ts:1 imports ../apps/apps.ts: http/ is a lower layer of packages/server',
      'packages/server/src/misc/new.ts:1 imports ../auth/access.ts: misc/ is not among the layers of packages/server',
    ]);
  });

  it('finds nothing wrong with this workspace when it finds anything at all', () => {
    assert.ok(importsOf("import { a } from './b.ts';").length === 1);
    assert.deepEqual(importFaults(workspace), []);
  });

  const violations: [name: string, file: string, text: string, fault: RegExp][] = [
    [
      'an edge against the order of the packages',
      'packages/protocol/src/up.ts',
      "import type { App } from '@tenon/server';",
      /^packages\/protocol\/src\/up.ts:1 imports @tenon\/server: packages\/protocol may import no other package$/,
    ],
    [
      'an import past `exports`',
      'packages/server/src/deep.ts',
      "import { one } from '@tenon/protocol/src/index.ts';",
      /reaches past the package's `exports`/,
    ],
    [
      'a relative import into another package',
      'packages/server/src/deep.ts',
      "import { one } from '../../protocol/src/index.ts';",
      /reaches into another package's files/,
    ],
    [
      'an edge against the order of the packages, from a file with markup',
      'packages/protocol/src/up.tsx',
      "import type { App } from '@tenon/server';",
      /^packages\/protocol\/src\/up.tsx:1 imports @tenon\/server/,
    ],
    [
      'a package that is not declared',
      'packages/server/src/undeclared.ts',
      "export * as yaml from 'yaml';",
      /yaml is not in packages\/server\/package.json$/,
    ],
    [
      "a source that uses the root's development packages",
      'packages/server/src/undeclared.ts',
      "const wabt = await import('wabt');",
      /wabt is not in packages\/server\/package.json$/,
    ],
    [
      'an allowed package that is not declared',
      'packages/server/src/undeclared.ts',
      "import { two } from '@tenon/instrument';",
      /@tenon\/instrument is not in/,
    ],
    [
      "one of Node's built-ins where any host must do",
      'packages/instrument/src/read.ts',
      "import {\n  readFileSync,\n} from 'fs';",
      /^packages\/instrument\/src\/read.ts:3 imports fs: .+ without Node's built-ins$/,
    ],
    [
      'the environment outside of config.ts',
      'packages/server/src/app.ts',
      'const port =\n  process.env.PORT;',
      /^packages\/server\/src\/app.ts:2 reads the environment/,
    ],
    [
      'the environment by name',
      'packages/server/src/app.ts',
      "import { env } from 'node:process';",
      /reads the environment/,
    ],
    [
      'a source that depends on a test',
      'packages/server/src/app.ts',
      "export * from './index.test.ts';",
      /depends on a test/,
    ],
    ['a file that is not there', 'packages/server/src/app.ts', "import './gone.ts';", /there is no such file/],
    [
      'a file that is not there, for the bundler',
      'packages/server/src/app.ts',
      "import url from './gone.ts?worker&url';",
      /imports \.\/gone\.ts\?worker&url: there is no such file/,
    ],
    ['a file that imports itself', 'packages/server/src/app.ts', "import './app.ts';", /app.ts: an import cycle/],
  ];
  for (const [name, file, text, fault] of violations) {
    it(`finds ${name}`, () => {
      plant('packages/server/src/index.test.ts', '');
      plant(file, text);
      const faults = importFaults(root);
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0] ?? '', fault);
    });
  }

  it('finds a cycle inside a package, through types too', () => {
    plant('packages/server/src/a.ts', "import type { B } from './b.ts';");
    plant('packages/server/src/b.ts', "export * from './c.ts';");
    plant('packages/server/src/c.ts', "import { a } from './a.ts';");
    assert.deepEqual(importFaults(root), [
      'packages/server/src/a.ts → packages/server/src/b.ts → packages/server/src/c.ts → packages/server/src/a.ts: an import cycle',
    ]);
  });

  function plant(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }

  function manifest(dependencies: Record<string, string>): string {
    return JSON.stringify({ exports: { '.': './src/index.ts' }, dependencies });
  }
});

describe('importsOf()', () => {
  it('finds every way of importing, with its line', () => {
    const text = [
      "import a from 'a';",
      'import {',
      '  b,',
      "} from 'b';",
      "import 'c';",
      "export * from 'd';",
      "const e = await import('e');",
      "type F = import('f').F;",
      "new Worker(new URL('./g.ts', import.meta.url));",
    ].join('\n');
    assert.deepEqual(
      importsOf(text).map(({ specifier, line }) => `${specifier} ${line}`),
      ['a 1', 'b 4', 'c 5', 'd 6', 'e 7', 'f 8', './g.ts 9'],
    );
  });

  it('passes over comments, and over what looks like one in a text', () => {
    const text =
      "/**\n * import x from 'x';\n */\nconst url = 'http://localhost/*';\n// import('y')\nimport 'z'; // */";
    assert.deepEqual(importsOf(text), [{ specifier: 'z', line: 6, isType: false }]);
  });
});
