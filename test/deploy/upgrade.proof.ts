import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { runShellSteps, type Step, shellSteps } from '../../scripts/lib/shell-story.mjs';
import { root, withoutTenon } from '../helpers/server.ts';
import { asHost, nextRelease, quickstartOf, type Release, serve, shellFunction, thisRelease } from './release.ts';

// The lines of the pages, with folders and a port of the test's own. `systemctl`, and installing another release, are not tried.
describe('docs/how-to/', { skip: process.platform === 'win32' && 'its lines are for a shell' }, () => {
  let folder: string;
  let dataDir: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-upgrade-'));
    dataDir = join(folder, 'var', 'lib', 'tenon');
    for (const path of [dataDir, join(folder, 'var', 'backups', 'tenon')]) mkdirSync(path, { recursive: true });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const stepsOf = (page: string): readonly Step[] =>
    shellSteps(readFileSync(join(root, 'docs', 'how-to', page), 'utf8'));

  /** Does lines of a page with a release's command line. */
  async function follow(steps: readonly Step[], release: Release, url = ''): Promise<void> {
    const here = steps.map((step) => ({
      ...step,
      command: step.command
        .replaceAll(/\/var\/(?=lib|backups)/g, `${folder}/var/`)
        .replace('http://127.0.0.1:8366', url),
    }));
    assert.deepEqual(await runShellSteps(here, folder, withoutTenon(process.env), shellFunction(release)), []);
  }

  it('back-up.md and restore.md: restore beside a running server what that has', async () => {
    const steps = [...stepsOf('back-up.md'), ...stepsOf('restore.md')];
    const words = steps.map(({ command }) => /^(?:tenon admin )?(\w+)/.exec(command)?.[1]);
    assert.deepEqual(words, ['copy', 'verify', 'copy', 'verify']);
    const server = await serve(thisRelease, dataDir);
    try {
      await follow(steps, thisRelease);
      const restored = await serve(thisRelease, join(folder, 'var', 'lib', 'tenon-restored'));
      try {
        assert.deepEqual(
          await asHost(restored.url, quickstartOf(dataDir)),
          await asHost(server.url, quickstartOf(dataDir)),
        );
      } finally {
        await restored.stop();
      }
    } finally {
      assert.equal(await server.stop(), 0);
    }
  });

  it('upgrade.md: serves with the next release what this one did, refuses to go back, and goes back by the backup', async () => {
    const [backUp, isReady, verify, moveAside, restore, ...others] = stepsOf('upgrade.md');
    assert.ok(backUp && isReady && verify && moveAside && restore && others.length === 0);
    const old = await serve(thisRelease, dataDir);
    const quickstart = quickstartOf(dataDir);
    const before = await asHost(old.url, quickstart);
    await follow([backUp], thisRelease);
    assert.equal(await old.stop(), 0);

    const next = await serve(nextRelease, dataDir);
    assert.deepEqual(await asHost(next.url, quickstart), before);
    await follow([isReady, verify], nextRelease, next.url);
    const headers = { authorization: `Bearer ${quickstart.TENON_TOKEN}`, 'content-type': 'application/json' };
    const app = `/api/v1/apps/${quickstart.TENON_APP_ID}`;
    const body = JSON.stringify({ name: 'Since the upgrade' });
    assert.equal((await fetch(next.url + app, { method: 'PUT', headers, body })).status, 200);
    assert.equal(await next.stop(), 0);
    await assert.rejects(serve(thisRelease, dataDir), /its schema has version \d+, and this release of Tenon knows/);
    await follow([verify], nextRelease);

    await follow([moveAside, restore], thisRelease);
    const again = await serve(thisRelease, dataDir);
    assert.deepEqual(await asHost(again.url, quickstart), before);
    assert.doesNotMatch(await (await fetch(again.url + app, { headers })).text(), /Since the upgrade/);
    assert.equal(await again.stop(), 0);
  });
});
