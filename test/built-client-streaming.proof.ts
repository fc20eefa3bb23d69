import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { numberedModule } from '../packages/client/test/helpers/numbered-module.ts';
import { openStage, type Stage } from '../packages/client/test/helpers/stage.ts';
import type { Report, Task } from './engines/client-streaming.mjs';
import { buildPackages, openEnginePages, otherEngines, runInEngine, whyNotHere } from './helpers/engines.ts';
import { createRandom } from './helpers/random.ts';

const random = createRandom(1);
const guestKey = 'customers/globex';

describe('@tenon/client, as built, receives changes and lets the process end', () => {
  let folder: string;
  let stage: Stage;
  let task: Task;
  let number = 0;
  const publish = (name: string) => stage.publish(guestKey, name, numberedModule(++number, random));
  const control = createServer(async (_, response) => {
    await publish(`later-${number}`);
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('changed');
  });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-built-'));
    buildPackages(folder, 'client');
    stage = await openStage();
    await stage.invite(guestKey);
    await publish('first');
    control.listen(0, '127.0.0.1');
    await once(control, 'listening');
    const changeUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}/`;
    const { url: baseUrl, token, extensionPointId } = stage;
    task = { baseUrl, token, extensionPointId, guestKey, changeUrl };
  });
  after(async () => {
    control.close().closeAllConnections();
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  });

  function check({ before, after, asked, streams }: Report): void {
    assert.equal(after.length, before.length + 1);
    assert.equal(asked, 1, 'one list changed, and was asked for once');
    assert.equal(streams, 1);
  }

  for (const engine of otherEngines()) {
    it(`in ${engine.name}`, async (test) => {
      if (engine.binary === undefined) {
        test.skip(whyNotHere(engine));
        return;
      }
      const more = engine.name === 'Deno' ? ['--allow-net', '--allow-env'] : [];
      const args = [join(folder, 'client', 'index.js'), JSON.stringify(task)];
      check(
        (await runInEngine(
          { ...engine, args: [...engine.args, ...more] },
          'client-streaming.mjs',
          args,
          folder,
        )) as Report,
      );
    });
  }

  it('in Chromium', async (test) => {
    const { browser, origin, close } = await openEnginePages(join(folder, 'client'), {});
    try {
      if (typeof browser === 'string') {
        test.skip(browser);
        return;
      }
      const page = await browser.newPage();
      await page.goto(`${origin}/engines/page.html`);
      check(await page.evaluate(runInPage, task));
    } finally {
      await close();
    }
  });
});

// What the page has and Node.js has not.
declare const location: { readonly href: string };

/** Runs in the page. */
async function runInPage(task: Task): Promise<Report> {
  const { receiveChange } = await import(new URL('/engines/client-streaming.mjs', location.href).href);
  return receiveChange(new URL('/package/index.js', location.href).href, task);
}
