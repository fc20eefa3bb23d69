import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { verify } from '../../src/blobs/verify.ts';
import { assertSameBytes, bytesOf, collect } from '../helpers/bytes.ts';
import { createRecords } from '../helpers/records.ts';
import type { Backend } from './backend.ts';
import { collectorSteps, openCollector } from './collector.ts';
import { openPublisher, type Publisher, type Stage, stepsAfterBlob, stepsBeforeBlob } from './publisher.ts';
import { contents, publishAndRemove } from './race.ts';
import type { RaceJob } from './race-child.ts';

const childFile = fileURLToPath(new URL('./race-child.ts', import.meta.url));

/** For how long several processes race in a round, in milliseconds. */
const raceMs = 3000;

/** A machine that has much to do gets more rounds until they have met often enough. */
const maxRounds = 15;

/** A child that is to be killed ends by itself after this time, which fails the test. */
const killLimitMs = 15_000;

/** Beyond every lease, and beyond the time of day at which the test runs: the remains of crashes have that. */
const longAfterHours = 1_000_000;

/**
 * Publishers and collectors are at the same bytes at the same time, in several processes, and are killed (SIGKILL: nothing of
 * them runs any more) at every step. Whatever happens, what a version names is there, and in the end nothing else is.
 */
export function collectRaceContract(name: string, backend: Backend): void {
  describe(`publishers and collectors on ${name}`, () => {
    let location: string;
    let remove: () => Promise<void>;
    let stage: Stage;
    let publisher: Publisher;

    before(async () => {
      ({ location, remove } = await backend.makeLocation());
      const store = await backend.openStore(location);
      const made = await createRecords(store).stage();
      stage = {
        userId: made.publisher.id,
        app: made.app,
        extensionPoint: made.extensionPoint,
        guest: made.guest,
      };
      await store.close();
      publisher = await openPublisher(backend, location, stage);
    });
    after(async () => {
      await publisher.close();
      await remove();
    });

    it('race for the same bytes: acknowledged versions have their bytes, and nothing else remains', async () => {
      const jobs: Pick<RaceJob, 'role' | 'number'>[] = [
        { role: 'publish', number: 1 },
        { role: 'publish', number: 2 },
        { role: 'collect', number: 1 },
        { role: 'collect', number: 2 },
      ];
      const totals = { published: 0, deleted: 0 };
      for (let round = 1; totals.published <= 20 || totals.deleted <= 5; round++) {
        assert.ok(round <= maxRounds, JSON.stringify(totals));
        const outcomes = await Promise.all(jobs.map((job) => runChild({ ...job, forMs: raceMs })));
        for (const { code, printed } of outcomes) {
          assert.equal(code, 0, 'no child found bytes missing');
          const { published = 0, deleted = 0 } = JSON.parse(printed) as Partial<typeof totals>;
          totals.published += published;
          totals.deleted += deleted;
        }
      }
      await assertWhole(JSON.stringify(totals));
    });

    for (const step of [...stepsBeforeBlob, ...backend.blobSteps, ...stepsAfterBlob]) {
      it(`keep the bytes of every version when a publisher is killed at "${step}"`, async () => {
        const child = runChild({ role: 'publish', number: 3, forMs: killLimitMs, step });
        const ended = endOf(child);
        const collector = await openCollector(backend, location, 3);
        while (!ended.is) await collector.collect();
        await collector.close();
        assert.equal((await child).signal, 'SIGKILL', 'killed, and not ended by itself');
        await assertWhole(step);
      });
    }

    for (const step of collectorSteps(backend)) {
      it(`keep the bytes of every version when a collector is suspended at "${step}", resumed, and killed there`, async () => {
        await leaveOrphans();
        const { promise: isFrozen, resolve: frozen } = Promise.withResolvers<void>();
        const job = { role: 'collect', number: 1, forMs: killLimitMs, step } as const;
        const { ended, pid } = startChild(job, (text) => void (text.startsWith('frozen') && frozen()));
        const [state, standing] = [endOf(ended), endOf(isFrozen)];
        const provoke = async () => {
          while (!state.is && !standing.is) await leaveOrphans();
        };
        const provoked = provoke();
        await Promise.race([isFrozen, ended]);
        // Within a transaction it holds others up: what they have begun is done once it goes on.
        let rounds = 0;
        const publishing = publishAndRemove(publisher, 'beside', () => rounds++ > contents.length);
        await Promise.race([publishing, sleep(100)]);
        process.kill(pid, 'SIGCONT');
        await publishing;
        await provoked;
        while (!state.is) {
          await leaveOrphans();
          await publishAndRemove(publisher, 'beside', () => state.is || Math.random() < 0.1);
        }
        assert.equal((await ended).signal, 'SIGKILL', 'killed, and not ended by itself');
        assert.ok(standing.is, 'it stood still before');
        await assertWhole(step);
      });
    }

    let orphans = 0;

    /** Leaves bytes that nothing names any more. */
    async function leaveOrphans(): Promise<void> {
      await publisher.publishBytes('passing', bytesOf(7000 + orphans++, 100));
      await publisher.remove('passing');
    }

    type Ended = { code: number | null; signal: NodeJS.Signals | null; printed: string };

    function startChild(
      job: Omit<RaceJob, 'location' | 'stage'>,
      onText: (text: string) => void = () => {},
    ): { readonly pid: number; readonly ended: Promise<Ended> } {
      const text = JSON.stringify({ location, stage, ...job });
      const child = spawn(process.execPath, [childFile, backend.module, text], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        onText(text);
      });
      const ended = new Promise<Ended>((resolve) =>
        child.on('close', (code, signal) => resolve({ code, signal, printed })),
      );
      return { pid: child.pid as number, ended };
    }

    const runChild = (job: Omit<RaceJob, 'location' | 'stage'>): Promise<Ended> => startChild(job).ended;

    /** Every version has its bytes; publishes go on; and one more run of the collector leaves what versions name, and no more. */
    async function assertWhole(message: string): Promise<void> {
      const first = await verify(publisher);
      assert.deepEqual(first.faults, [], message);
      const again = contents[0] as Uint8Array;
      const { contentAddress } = await publisher.publishBytes('afterwards', again);
      assertSameBytes(await collect(await publisher.open(contentAddress)), again);
      await leaveOrphans(); // a run that has nothing to delete leaves the lease of a killed one
      const collector = await openCollector(backend, location, longAfterHours);
      assert.ok((await collector.collect()) !== undefined, message);
      await collector.close();
      const { faults, unknownObjects, blobs, referencedContents } = await verify(publisher);
      assert.deepEqual([faults, unknownObjects], [[], []], message);
      assert.deepEqual(await publisher.store.read.blobDeletions(9), [], message);
      assert.equal(blobs, referencedContents, `${message}: no orphan is left`);
      assert.equal(
        (await publisher.store.read.blobs({ limit: 1000 })).length,
        referencedContents,
        `${message}: nor a row`,
      );
      const unfinished = await publisher.blobs.deleteUnfinished(Date.now() + 86_400_000);
      assert.equal(unfinished, 0, `${message}: nor a part of one`);
    }
  });
}

/** Whether a promise has ended, to be asked at any time. */
function endOf(promise: Promise<unknown>): { readonly is: boolean } {
  const state = { is: false };
  void promise.finally(() => {
    state.is = true;
  });
  return state;
}
