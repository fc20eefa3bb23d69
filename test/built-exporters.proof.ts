import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Collector, namesIn, startCollector } from '../packages/trace/test/helpers/collector.ts';
import { exercise } from './engines/exercise-exporters.mjs';
import {
  buildPackages,
  type EnginePages,
  openEnginePages,
  otherEngines,
  runInChromium,
  runInEngine,
  whyNotHere,
} from './helpers/engines.ts';

const names = ['space::run()', 'plugin::step', 'plain'];

describe('the exporters, as built', () => {
  let folder: string;
  let entry: string;
  let collector: Collector;
  let files: Readonly<Record<string, string>>;
  let pages: EnginePages;
  /** What every engine must say: what the sources say in this process. */
  let expected: Awaited<ReturnType<typeof exercise>>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-built-exporters-'));
    buildPackages(folder, 'trace');
    entry = join(folder, 'trace', 'index.js');
    collector = await startCollector();
    await writeFile(join(folder, 'collector'), collector.url);
    files = {
      demangler: fileURLToPath(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')),
      collector: join(folder, 'collector'),
    };
    expected = await exercise(import.meta.resolve('@tenon/trace'), {
      demangler: await readFile(files.demangler ?? ''),
      collector: new TextEncoder().encode(collector.url),
    });
    pages = await openEnginePages(dirname(entry), files);
  });
  after(async () => {
    await pages?.close();
    await collector?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => void (collector.received as unknown[]).splice(0));

  function check(found: unknown): void {
    assert.deepEqual(found, expected);
    assert.deepEqual(expected.names, names);
    assert.deepEqual(namesIn(collector.received), [names, names]);
    assert.deepEqual(
      collector.received.map(({ headers }) => [headers['content-type'], headers['content-encoding'], headers['x-key']]),
      [
        ['application/x-protobuf', undefined, 'secret'],
        ['application/json', 'gzip', 'secret'],
      ],
    );
    assert.deepEqual(collector.received[0]?.message, collector.received[1]?.message);
  }

  for (const engine of otherEngines()) {
    it(`do in ${engine.name} what they do here`, async (test) => {
      if (engine.binary === undefined) {
        test.skip(whyNotHere(engine));
        return;
      }
      const args = engine.name === 'Deno' ? [...engine.args, '--allow-net=127.0.0.1'] : engine.args;
      const scriptArgs = [
        'exercise-exporters.mjs',
        entry,
        ...Object.entries(files).map(([name, path]) => `${name}=${path}`),
      ];
      check(await runInEngine({ ...engine, args }, 'exercise-files.mjs', scriptArgs, folder));
    });
  }

  for (const place of ['page', 'worker'] as const) {
    it(`do in a ${place} of Chromium what they do here`, async (test) => {
      if (typeof pages.browser === 'string') {
        test.skip(pages.browser);
        return;
      }
      check(await runInChromium(pages, place, 'exercise-exporters.mjs', Object.keys(files)));
    });
  }
});
