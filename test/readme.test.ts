import assert from 'node:assert/strict';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runShellSteps, shellSteps } from '../scripts/lib/shell-story.mjs';
import { type RunningServer, root, startServer, withoutTenon } from './helpers/server.ts';

describe('README.md', () => {
  let server: RunningServer;

  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('has shell lines that do what it says, against a server on its first start', async () => {
    symlinkSync(join(root, 'packages'), join(server.folder, 'packages'), 'junction'); // the sample plugin is published from it
    const steps = shellSteps(readFileSync(join(root, 'README.md'), 'utf8'));
    assert.ok(steps.length >= 15, 'the whole story is there');
    assert.ok(steps.filter(({ expected }) => expected !== undefined).length >= 5, 'and says what it prints');
    assert.deepEqual(await runShellSteps(steps, server.folder, withoutTenon(process.env)), []);
  });
});
