import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { addressOfBytes, assertSameBytes, collect } from '../helpers/bytes.ts';
import { createRecords } from '../helpers/records.ts';
import type { Backend } from './backend.ts';
import {
  type Acknowledged,
  openPublisher,
  type Publisher,
  pluginBytes,
  type Stage,
  stepsAfterBlob,
  stepsBeforeBlob,
} from './publisher.ts';

const childFile = fileURLToPath(new URL('./publish-crash-child.ts', import.meta.url));

/** How many publishes the child makes before the one in which it is killed. */
const publishesBefore = 2;

/**
 * A process that publishes is killed (SIGKILL: nothing of it runs any more) at every step of a publish. Whatever the step,
 * what is found afterwards is what an asker could have found before or after that publish.
 */
export function publishCrashContract(name: string, backend: Backend): void {
  describe(`a publish to ${name} that is killed`, () => {
    let location: string;
    let remove: () => Promise<void>;
    let stage: Stage;

    before(async () => {
      ({ location, remove } = await backend.makeLocation());
      const store = await backend.openStore(location);
      const { publisher, app, extensionPoint, guest } = await createRecords(store).stage();
      stage = { userId: publisher.id, app, extensionPoint, guest };
      await store.close();
    });
    after(() => remove());

    for (const step of [...stepsBeforeBlob, ...backend.blobSteps, ...stepsAfterBlob]) {
      it(`at "${step}" keeps the bytes of every binding, and every acknowledged publish`, async () => {
        const plugin = `at-${step.replaceAll(' ', '-')}`;
        const { acknowledged, signal } = await publishUntilKilled({ plugin, step });
        assert.equal(signal, 'SIGKILL', 'killed, and not ended by itself');
        assert.equal(acknowledged.length, publishesBefore);
        const done = ['look', 'answer'].includes(step) ? publishesBefore + 1 : publishesBefore;
        await assertWhole(plugin, acknowledged, done);
      });
    }

    it('at any moment keeps the bytes of every binding, and every acknowledged publish', async () => {
      for (const afterMs of [3, 11, 23, 41]) {
        const plugin = `after-${afterMs}-ms`;
        const { acknowledged, signal } = await publishUntilKilled({ plugin, afterMs });
        assert.equal(signal, 'SIGKILL');
        await assertWhole(plugin, acknowledged, undefined);
      }
    });

    /** Has a child publish one plugin again and again, until it kills itself at a step or is killed after some time. */
    async function publishUntilKilled(
      end: { plugin: string; step: string } | { plugin: string; afterMs: number },
    ): Promise<{ acknowledged: Acknowledged[]; signal: NodeJS.Signals | null }> {
      const job = JSON.stringify({ location, stage, publishesBefore, ...end });
      const child = spawn(process.execPath, [childFile, backend.module, job], { stdio: ['ignore', 'pipe', 'inherit'] });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (printed === '' && 'afterMs' in end) setTimeout(() => child.kill('SIGKILL'), end.afterMs);
        printed += text;
      });
      const signal = await new Promise<NodeJS.Signals | null>((resolve) => child.on('close', (_, by) => resolve(by)));
      const [ready, ...lines] = printed.slice(0, printed.lastIndexOf('\n')).split('\n');
      assert.equal(ready, 'ready');
      return { acknowledged: lines.map((line) => JSON.parse(line) as Acknowledged), signal };
    }

    /**
     * What must hold after a crash, of all that was ever published here, and of the plugin whose publishes were broken off.
     *
     * @param done how many publishes came to their commit, where that is known
     */
    async function assertWhole(plugin: string, acknowledged: readonly Acknowledged[], done: number | undefined) {
      const publisher = await openPublisher(backend, location, stage);
      try {
        await assertBytes(publisher);
        await assertAcknowledged(publisher, plugin, acknowledged);
        const found = (await publisher.plugin(plugin))?.newest.number ?? 0;
        if (done !== undefined) assert.equal(found, done);
        else assert.ok(found === acknowledged.length || found === acknowledged.length + 1, `${found}`);
        await assertNoPart(publisher, plugin, acknowledged.length);
        const again = await publisher.publish(plugin, 1_000_000);
        assert.equal(await contentAddressUnder(publisher, plugin), again.contentAddress, 'publishes go on');
        await assertBytes(publisher);
      } finally {
        await publisher.close();
      }
    }

    /** Every binding has bytes, and they are those of its address. */
    async function assertBytes({ store, open }: Publisher): Promise<void> {
      for (const binding of await store.read.bindings(stage.extensionPoint.id, stage.guest.guestKey)) {
        const bytes = await collect(await open(binding.contentAddress));
        assert.ok(bytes !== undefined, `the bytes of ${binding.name}`);
        assert.equal(addressOfBytes(bytes), binding.contentAddress);
        assert.equal((await store.read.plugin(binding))?.newest.id, binding.versionId);
      }
    }

    /** What was acknowledged is there: the number and the bytes. */
    async function assertAcknowledged(publisher: Publisher, plugin: string, acknowledged: readonly Acknowledged[]) {
      for (const [round, { number, contentAddress }] of acknowledged.entries()) {
        assert.equal(number, round + 1);
        assertSameBytes(await collect(await publisher.open(contentAddress)), pluginBytes(plugin, round));
      }
      const found = await publisher.plugin(plugin);
      const last = acknowledged.at(-1);
      if (found?.newest.number === last?.number) assert.equal(found?.newest.contentAddress, last?.contentAddress);
    }

    /** The bytes of the publish that was broken off are there whole, or not at all. */
    async function assertNoPart({ open }: Publisher, plugin: string, round: number): Promise<void> {
      const bytes = pluginBytes(plugin, round);
      const found = await collect(await open(addressOfBytes(bytes)));
      if (found !== undefined) assertSameBytes(found, bytes, 'the bytes of what was broken off');
    }

    async function contentAddressUnder({ store }: Publisher, plugin: string) {
      return (await store.read.binding(stage.extensionPoint.id, stage.guest.id, plugin))?.contentAddress;
    }
  });
}
