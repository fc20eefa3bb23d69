import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { codeBlocks } from '../scripts/lib/markdown.mjs';
import { runShellSteps, shellSteps } from '../scripts/lib/shell-story.mjs';
import { linkCheckout, type RunningServer, root, startServer, withoutTenon } from './helpers/server.ts';

describe('pages with shell lines, against a server on its first start', () => {
  let server: RunningServer;

  beforeEach(async () => {
    server = await startServer();
    linkCheckout(server.folder);
  });
  afterEach(() => server.stop());

  it('do what they say in README.md', () => followPage('README.md', 15, 5));

  it('do what they say in docs/tutorial/first-plugin.md', () => {
    const wat = codeBlocks(readPage('docs/tutorial/first-plugin.md')).find(({ language }) => language === 'wat');
    writeFileSync(join(server.folder, 'shout.wat'), wat?.code ?? '');
    return followPage('docs/tutorial/first-plugin.md', 10, 4);
  });

  /** Runs a page's lines; the counts are there so that a page which lost them does not pass. */
  async function followPage(page: string, minSteps: number, minExpectations: number): Promise<void> {
    const steps = shellSteps(readPage(page));
    assert.ok(steps.length >= minSteps, `${steps.length} steps`);
    assert.ok(steps.filter(({ expected }) => expected !== undefined).length >= minExpectations);
    assert.deepEqual(await runShellSteps(steps, server.folder, withoutTenon(process.env)), []);
  }

  function readPage(page: string): string {
    return readFileSync(join(root, page), 'utf8');
  }
});
