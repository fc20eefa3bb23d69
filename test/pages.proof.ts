import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { runShellSteps, shellSteps } from '../scripts/lib/shell-story.mjs';
import { linkCheckout, type RunningServer, root, startServer, withoutTenon } from './helpers/server.ts';

/** npx takes a second to find what lies in `node_modules/.bin`. */
const npxWithoutNpm = 'npx() { [ "$1" = --no-install ]; local name=$2; shift 2; "node_modules/.bin/$name" "$@"; }';

/** What docs/README.md says that `tenon` is. */
const tenon = 'tenon() { npx --no-install tenon "$@"; }';

describe('pages with shell lines, against a server on its first start', () => {
  let server: RunningServer;

  beforeEach(async () => {
    server = await startServer();
    linkCheckout(server.folder);
  });
  afterEach(() => server.stop());

  it('do what they say in README.md', () => followPage('README.md', 15, 5));

  it('do what they say in docs/tutorial/first-plugin.md', () => followPage('docs/tutorial/first-plugin.md', 12, 5));

  it('do what they say in docs/tutorial/first-trace.md', () => followPage('docs/tutorial/first-trace.md', 9, 3));

  it('do what they say in docs/reference/extension-point-schema.md', () =>
    followPage('docs/reference/extension-point-schema.md', 4, 2, server.quickstart));

  it('do what they say in docs/how-to/publish-a-plugin.md', () => followPage('docs/how-to/publish-a-plugin.md', 7, 3));

  it('do what they say in docs/how-to/', async () => {
    for (const name of ['app.wasm', 'plugin.wasm']) {
      cpSync(join(root, 'packages', 'server', 'sample', 'greet.wasm'), join(server.folder, name));
    }
    await followPage('docs/how-to/users-and-tokens.md', 6, 1, server.quickstart);
    await followPage('docs/how-to/publish-from-ci.md', 2, 1, server.quickstart);
    await followPage('docs/how-to/instrument.md', 3, 1, server.quickstart);
    await followPage('docs/how-to/trace.md', 3, 1);
    await followPage('docs/how-to/see-where-time-goes.md', 3, 1);
  });

  /** Runs a page's lines; the counts are there so that a page which lost them does not pass. */
  async function followPage(
    page: string,
    minSteps: number,
    minExpectations: number,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const steps = shellSteps(readPage(page));
    assert.ok(steps.length >= minSteps, `${steps.length} steps`);
    assert.ok(steps.filter(({ expected }) => expected !== undefined).length >= minExpectations);
    const environment = { ...withoutTenon(process.env), ...variables };
    assert.deepEqual(await runShellSteps(steps, server.folder, environment, `${npxWithoutNpm}\n${tenon}`), [], page);
  }

  function readPage(page: string): string {
    return readFileSync(join(root, page), 'utf8');
  }
});
