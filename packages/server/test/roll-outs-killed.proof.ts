import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ExtensionPointId, type GuestId, newId, type RollOutPlan, reaches, type UserId } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { rollOutBucket } from '../src/plugins/roll-outs/bucket.ts';
import { killedServer } from './helpers/killed-server.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { openService, type TestService } from './helpers/service.ts';

/*
 * Kills all servers with SIGKILL in the middle of each step of a roll-out, and compares each guest with the share that it must be in: before
 * the restart those that were moved and those that were not, and all of them when the servers have finished.
 */
const guestCount = 4000;
const wantedKills = 2;

const plan: RollOutPlan = {
  steps: [10, 20, 30, 40, 50, 60, 70, 80].map((percent) => ({ percent, holdSeconds: 1 })),
  halt: null,
};
const lastStep = plan.steps.length - 1;

/** Adds guests of the workshop's publisher, directly in the store. */
async function addGuests({ store }: TestService, { appId, publisher }: Workshop): Promise<void> {
  await store.write(async (tx) => {
    for (let at = 0; at < guestCount; at++) {
      const id: GuestId = newId('guest');
      const texts = { label: null, note: null, ring: null, createdAtMs: 1 };
      await tx.insertGuest({ id, appId: appId as never, guestKey: `tenants/${at}`, ...texts });
      await tx.putGuestUser({ guestId: id, userId: publisher.id as UserId, acceptedAtMs: 1 });
    }
  });
}

async function proveShares(nodeCount: number, databaseUrl?: string): Promise<void> {
  const config = databaseUrl === undefined ? {} : { databaseUrl, databaseConnections: 4 };
  const service = await openService({ config });
  const nodes = Array.from({ length: nodeCount }, () => killedServer(service.dataDir, config));
  try {
    const { read } = service.store;
    const workshop = await openWorkshop(service);
    await addGuests(service, workshop);
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(2);
    const key = {
      extensionPointId: workshop.extensionPointId as ExtensionPointId,
      userId: workshop.publisher.id as UserId,
      name: 'median',
    };
    const versions = await read.versions(key, { limit: 10 });
    const first = versions.find(({ number }) => number === 1)?.id;
    const second = versions.find(({ number }) => number === 2)?.id;
    assert.ok(first && second);
    const rollOut = async () => {
      const found = await read.rollOut(second);
      assert.ok(found);
      return { ...found, isCompleted: found.state === 'completed' };
    };
    const pendingAfter = async () => (await read.pendingRebind(key))?.after;
    /** When each guest got the new version. */
    const movedAtMs = new Map<string, number>();
    /** Compares all guests. Those after a guest were not moved by the last step. */
    const compare = async (movedUntil?: string): Promise<void> => {
      const { step, isCompleted } = await rollOut();
      const facts = await read.bindingFacts(key);
      assert.equal(facts.length, guestCount + 2);
      for (const { guestId, guestKey, versionId, updatedAtMs } of facts) {
        const isMoved: boolean = movedUntil === undefined || guestId <= movedUntil;
        const at: number = (isCompleted ? lastStep + 1 : step) - (isMoved ? 0 : 1);
        const isReached: boolean = at > lastStep || reaches(plan, at, rollOutBucket(second, guestKey), null);
        assert.equal(versionId, isReached ? second : first, `${guestKey} in step ${at}`);
        if (isReached) {
          assert.equal(movedAtMs.get(guestId) ?? updatedAtMs, updatedAtMs, `${guestKey} was moved twice`);
          movedAtMs.set(guestId, updatedAtMs ?? 0);
        }
      }
    };
    await compare();

    const start = () => Promise.all(nodes.map((node) => node.start()));
    const kill = () => Promise.all(nodes.map((node) => node.kill()));
    const isSettled = async () => (await rollOut()).isCompleted && (await pendingAfter()) === undefined;
    let kills = 0;
    // A kill on a busy machine may be too late for one of the steps.
    while (kills < wantedKills && !(await rollOut()).isCompleted) {
      await start();
      // The servers finish what was pending, and later take the next step.
      const { step } = await rollOut();
      const isMoving = async () => {
        const now = await rollOut();
        return now.isCompleted || (now.step !== step && (await pendingAfter()) !== '');
      };
      await until(isMoving, { intervalMs: 2 });
      await kill();
      const after = await pendingAfter();
      if (after !== undefined) kills++;
      await compare(after);
    }
    await start();
    await until(isSettled);
    await kill();
    await compare();
    const events = await read.auditOfAll({}, { limit: 1000 });
    const steps = events.filter(({ action }) => action === 'roll_out.advance').map(({ details }) => details?.step);
    assert.deepEqual(
      steps.toSorted(),
      plan.steps.slice(1).map((_, at) => at + 1),
    );
    assert.equal(events.filter(({ action }) => action === 'roll_out.complete').length, 1);
    assert.equal(movedAtMs.size, guestCount + 2);
    assert.deepEqual(await service.store.check(), []);
    assert.equal(kills, wantedKills, 'kills in the middle of a step');
  } finally {
    for (const node of nodes) await node.kill();
    await service.close();
  }
}

describe(`servers that are killed while ${guestCount} guests get a version`, () => {
  it('bind each guest to the version of its share, once', { timeout: 600_000 }, () => proveShares(1));

  it('do so on two nodes with one PostgreSQL', { skip: noPostgres, timeout: 600_000 }, async () => {
    const { url } = await (await sharedPostgres()).createDatabase();
    await proveShares(2, url);
  });
});
