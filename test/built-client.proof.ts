import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Report, Task } from './engines/client-exercise.mjs';
import { assertCompiles } from './helpers/assert-compiles.ts';
import { checkReport } from './helpers/check-client-report.ts';
import { type Arena, openArena } from './helpers/client-arena.ts';
import {
  buildPackages,
  type EnginePages,
  openEnginePages,
  otherEngines,
  runInEngine,
  whyNotHere,
} from './helpers/engines.ts';

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const room = { isSameClock: false, maxAgeMs: 2, hasRoom: true };

let folder: string;
/** Where the built package is. */
let built: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-built-'));
  buildPackages(folder, 'client');
  built = join(folder, 'client');
});
after(() => rm(folder, { recursive: true, force: true }));

describe('npm run build', () => {
  it('builds a package whose entry imports only its own files', async () => {
    const seen = new Set<string>();
    const visit = async (file: string): Promise<void> => {
      if (seen.has(file)) return;
      seen.add(file);
      const source = await readFile(join(built, file), 'utf8');
      for (const [, specifier = ''] of source.matchAll(/(?:\bfrom|\bimport\()\s*['"]([^'"]+)['"]/g)) {
        assert.match(specifier, /^\.{1,2}\/[\w/-]+\.js$/, `${file} imports ${specifier}`);
        await visit(normalize(join(dirname(file), specifier)));
      }
    };
    await visit('index.js');
    assert.ok(seen.size > 10, `${seen.size} files`);
    const files = await readdir(built, { recursive: true });
    assert.deepEqual(
      files.filter((file) => file.includes('.test.')),
      [],
    );
  });

  it('builds declarations for programs in browsers and in Node.js', async () => {
    const program = join(folder, 'program');
    await mkdir(join(program, 'node_modules', '@tenon'), { recursive: true });
    await cp(built, join(program, 'node_modules', '@tenon', 'client'), { recursive: true });
    await writeFile(join(program, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(program, 'page.ts'),
      `import { type BindingList, type Client, ClientError, createClient, type PluginKey } from '@tenon/client';
      const client: Client = createClient({ baseUrl: 'https://plugins.example', token: () => 'a', maxAgeMs: 0 });
      const key: PluginKey = { extensionPointId: 'ext_a', guestKey: 'a guest' };
      const { bindings } = await client.getBindings(key, { signal: AbortSignal.timeout(1) });
      export const list: BindingList = bindings;
      export const module: WebAssembly.Module = await client.load({ ...key, name: 'a' });
      export const code = (error: unknown): string | undefined => error instanceof ClientError ? error.code : undefined;
      client.on('stale', ({ error, ageMs }) => console.log(error.code, ageMs.toFixed(0)));
      await using scoped = createClient({ baseUrl: 'https://plugins.example', token: 'a' });
      // @ts-expect-error: no such option
      createClient({ baseUrl: 'https://plugins.example', token: 'a', cache: true });`,
    );
    await writeFile(
      join(program, 'host.ts'),
      `import { createClient } from '@tenon/client';
      import { diskStore } from '@tenon/client/disk';
      export const client = createClient({
        baseUrl: 'https://plugins.example', token: 'a', store: diskStore({ directory: 'plugins', maxBytes: 1e6 }),
      });`,
    );
    assertCompiles(program, 'page.ts', 'host.ts');
  });
});

/** Thousands of calls, through a proxy that breaks everything; `client-under-faults.test.ts` makes more, in this engine. */
async function put(
  test: { diagnostic(message: string): void },
  run: (task: Task) => Promise<unknown>,
  calls = 3_000,
): Promise<void> {
  test.diagnostic(`FAULTS_SEED=${seed}`);
  const arena: Arena = await openArena(seed);
  try {
    arena.begin();
    const report = (await run({ ...arena.task, calls, lanes: 32, seed })) as Report;
    const broken = [...arena.faults().values()].reduce((sum, count) => sum + count, 0);
    test.diagnostic(`${report.log.length} calls, ${arena.proxy.requests.length} requests, ${broken} of them broken`);
    assert.ok(report.log.length >= calls && broken > 5);
    checkReport(arena, report, room);
  } finally {
    await arena.close();
  }
}

describe('@tenon/client, as built, behind a proxy that breaks everything', () => {
  for (const engine of otherEngines()) {
    it(`returns no wrong byte in ${engine.name}, and lets the process end`, async (test) => {
      if (engine.binary === undefined) {
        test.skip(whyNotHere(engine));
        return;
      }
      const more = engine.name === 'Deno' ? ['--allow-net', '--allow-write', '--allow-env', '--allow-sys'] : [];
      await put(test, async (task) => {
        const file = join(folder, `${engine.name}.json`);
        const diskUrl = pathToFileURL(join(built, 'disk', 'index.js')).href;
        await writeFile(file, JSON.stringify({ ...task, diskUrl, folder: join(folder, `${engine.name} plugins`) }));
        const args = [join(built, 'index.js'), file];
        return runInEngine({ ...engine, args: [...engine.args, ...more] }, 'client-exercise-task.mjs', args, folder);
      });
    });
  }
});

describe('@tenon/client, as built, behind such a proxy, in Chromium', () => {
  let pages: EnginePages;

  before(async () => {
    pages = await openEnginePages(built, {});
  });
  after(() => pages?.close());

  for (const { place, calls } of [
    { place: 'page', calls: 3_000 },
    { place: 'worker', calls: 2_000 },
  ] as const) {
    it(`returns no wrong byte in a ${place}`, async (test) => {
      const { browser, origin } = pages;
      if (typeof browser === 'string') {
        test.skip(browser);
        return;
      }
      const page = await browser.newPage();
      try {
        await page.goto(`${origin}/engines/page.html`);
        await put(test, (task) => page.evaluate(runInPage, { place, task }), calls);
      } finally {
        await page.close();
      }
    });
  }
});

// What the page has and Node.js has not.
declare const location: { readonly href: string };
declare const Worker: new (
  url: string,
  options: object,
) => {
  onmessage: (event: { readonly data: unknown }) => void;
  onerror: (event: { readonly message: string }) => void;
  postMessage: (task: object) => void;
};

/** Runs in the page. */
async function runInPage({ place, task }: { place: 'page' | 'worker'; task: Task }): Promise<unknown> {
  const packageUrl = new URL('/package/index.js', location.href).href;
  if (place === 'page') {
    const { exercise } = await import(new URL('/engines/client-exercise.mjs', location.href).href);
    return exercise(packageUrl, task);
  }
  const worker = new Worker('/engines/worker.mjs', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ exercise: 'client-exercise.mjs', packageUrl, modules: task });
  });
}
