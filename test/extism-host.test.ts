import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type RunningServer, root, startServer, withoutTenon } from './helpers/server.ts';

const run = promisify(execFile);
const example = join(root, 'examples', 'extism-host');

describe('examples/extism-host', () => {
  let server: RunningServer;

  before(async () => {
    server = await startServer();
  });
  after(() => server.stop());

  it('calls a plugin that it has fetched', async () => {
    const { stdout, stderr } = await runExample('main.ts');
    assert.equal(stdout, 'Hello, Ada!\n');
    assert.equal(stderr, '');
  });

  it('gets the same answer from the plugin once it is instrumented, and sees its calls', async () => {
    const { stdout, stderr } = await runExample('traced.ts');
    assert.equal(stdout, 'Hello, Ada!\n');
    const names = [...stderr.matchAll(/(\w+)(?: ×\d+)?$/gm)].map(([, name]) => name);
    assert.deepEqual(names.slice(0, 3), ['self', 'say_hello', 'input_length']);
    assert.match(stderr, /├─ write_words\n.*│ {2}└─ store_u8 ×7\n/);
  });

  it('says which variable is missing', async () => {
    await assert.rejects(runExample('main.ts', { TENON_TOKEN: '' }), /TENON_TOKEN is not set/);
  });

  function runExample(file: string, change: Record<string, string> = {}) {
    return run(process.execPath, ['--disable-warning=ExperimentalWarning', join(example, 'src', file), 'Ada'], {
      cwd: example,
      env: { ...withoutTenon(process.env), ...server.quickstart, ...change },
    });
  }
});
