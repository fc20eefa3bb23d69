import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../../../test/helpers/random.ts';
import { verify } from '../../src/blobs/verify.ts';
import { assertSameBytes, bytesOf, collect } from '../helpers/bytes.ts';
import { createRecords } from '../helpers/records.ts';
import type { Backend } from './backend.ts';
import { type Collector, openCollector } from './collector.ts';
import { openPublisher, type Publisher } from './publisher.ts';

const contents = [0, 1, 2].map((at) => bytesOf(300 + at, 500));

/** How many things are done in a run, and how many runs there are, each from a seed of its own. */
const [steps, runs] = [40, 5];

/**
 * What a blob store is asked to delete may be deleted at once, much later, several times, or never; and the collector may hear of it,
 * or that the connection was lost. Whatever the order: what a version names is there.
 */
export function lateDeletionsContract(name: string, backend: Backend): void {
  describe(`deletions that arrive late on ${name}`, () => {
    let location: string;
    let remove: () => Promise<void>;
    let publisher: Publisher;
    let collectors: Collector[];
    /** Deletions on their way, each of which may be delivered any number of times. */
    let waiting: (() => Promise<unknown>)[];
    let random: (below: number) => number;

    before(async () => {
      ({ location, remove } = await backend.makeLocation());
      const store = await backend.openStore(location);
      const { publisher: user, app, extensionPoint, guest } = await createRecords(store).stage();
      await store.close();
      publisher = await openPublisher(backend, location, { userId: user.id, app, extensionPoint, guest });
      collectors = [];
      for (const hours of [1, 2]) {
        const collector = await openCollector(backend, location, hours, undefined, (blobs) => ({
          ...blobs,
          async delete(key) {
            waiting.push(() => blobs.delete(key));
            const fate = random(3);
            if (fate === 0) await blobs.delete(key);
            if (fate === 1) throw new Error('the connection was lost');
            return true;
          },
        }));
        collectors.push(collector);
      }
    });
    after(async () => {
      for (const collector of collectors) await collector.close();
      await publisher.close();
      await remove();
    });

    for (let seed = 1; seed <= runs; seed++) {
      it(`do not delete later publishes (seed ${seed})`, async () => {
        random = createRandom(seed).below;
        waiting = [];
        const published = new Set<number>();
        const history: string[] = [];
        for (let step = 0; step < steps; step++) {
          history.push(await doSomething(published));
          await assertThere(published, history.join(', '));
        }
        for (const deliver of waiting) await deliver();
        await assertThere(published, `${history.join(', ')}, all deliveries`);
      });
    }

    async function doSomething(published: Set<number>): Promise<string> {
      const at = random(contents.length);
      const what = random(5);
      if (what === 0 && published.delete(at)) {
        await publisher.remove(`plugin-${at}`);
        return `remove ${at}`;
      }
      if (what === 1 || what === 2) {
        const collector = collectors[random(2)] as Collector;
        const outcome = await collector.collect().catch((error: Error) => error.message);
        return `collect: ${typeof outcome === 'string' ? outcome : outcome?.deleted}`;
      }
      if (what === 3) {
        await waiting[random(waiting.length + 1)]?.();
        return 'deliver';
      }
      await publisher.publishBytes(`plugin-${at}`, contents[at] as Uint8Array);
      published.add(at);
      return `publish ${at}`;
    }

    async function assertThere(published: ReadonlySet<number>, history: string): Promise<void> {
      for (const at of published) {
        const version = (await publisher.plugin(`plugin-${at}`))?.newest;
        assert.ok(version, history);
        assertSameBytes(
          await collect(await publisher.open(version.contentAddress)),
          contents[at] as Uint8Array,
          history,
        );
      }
      assert.deepEqual((await verify(publisher)).faults, [], history);
    }
  });
}
