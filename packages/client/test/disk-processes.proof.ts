import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from './helpers/numbered-module.ts';
import { openStage, type Stage } from './helpers/stage.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const moduleBytes = 40_000;
const count = 24;
/** Half of the contents, so that entries are always being evicted. */
const maxBytes = (count / 2) * moduleBytes;
const processes = 4;
const kills = 16;

describe('diskStore() between processes', () => {
  let stage: Stage;
  const addresses: string[] = [];
  before(async () => {
    stage = await openStage();
    await stage.invite('acme');
    const random = createRandom(7);
    for (let number = 0; number < count; number++) {
      const module = numberedModule(number, random, moduleBytes);
      await stage.publish('acme', `p${number}`, module);
      addresses.push(module.address);
    }
  });
  after(() => stage?.close());

  it('returns no wrong byte and leaves no partial file when processes are killed', async (test) => {
    const folder = await temporaryFolder(test);
    const hosts = Array.from({ length: processes }, () => startHost(folder));
    test.after(() => {
      for (const { child } of hosts) child.kill('SIGKILL');
    });
    for (let kill = 0; kill < kills; kill++) {
      const at = kill % processes;
      const host = hosts[at];
      assert.ok(host);
      await host.rounds(1 + (kill % 5)); // at a different point each time
      host.child.kill('SIGKILL');
      const [, signal] = await host.ended;
      assert.equal(signal, 'SIGKILL', `A host ended by itself:\n${host.said()}`);
      hosts[at] = startHost(folder);
    }
    for (const host of hosts) await host.rounds(3);
    for (const host of hosts) {
      host.child.kill('SIGKILL');
      assert.equal((await host.ended)[1], 'SIGKILL', host.said());
    }
    const files = await filesIn(join(folder, 'entries'));
    assert.ok(files.length > 0);
    let total = 0;
    for (const file of files) {
      const bytes = await readFile(file);
      assert.equal(createHash('sha256').update(bytes).digest('hex'), basename(file));
      total += bytes.length;
    }
    assert.ok(total <= maxBytes * (1 + processes / 16), `${total} bytes are kept`);
    assert.ok((await readdir(join(folder, 'partial'))).length <= kills + processes);
  });

  function startHost(folder: string) {
    const script = join(import.meta.dirname, 'helpers', 'disk-child.ts');
    const args = [script, stage.url, stage.token, folder, String(maxBytes), ...addresses];
    const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        child.emit('said');
      });
    }
    return {
      child,
      ended,
      said: () => said,
      /** Waits until the process has done this many rounds, or has ended. */
      async rounds(number: number) {
        let isOver = false;
        void ended.then(() => {
          isOver = true;
          child.emit('said');
        });
        while (!isOver && !said.includes(`read ${number}\n`)) await once(child, 'said');
      },
    };
  }
});

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) found.push(path);
  }
  return found;
}
