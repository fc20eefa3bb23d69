import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DryRun, Version } from '@tenon/protocol';
import { allRoutes } from '../src/routes.ts';
import { dump } from './helpers/dump.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { ok } from './helpers/world.ts';

const why = { reason: 'It sends data home.' };

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

/** Two versions under both guests, the first of them pinned under the second guest, and a third that awaits approval. */
async function withHistory(): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  await workshop.publish(1);
  await workshop.publish(2);
  await pin(workshop, 1);
  await workshop.settings({ requiresApproval: true });
  await workshop.publish(3);
  return workshop;
}

const pinPath = ({ extensionPointId, second }: Workshop) =>
  `/api/v1/extension-points/${extensionPointId}/guests/${second}/pins/median`;

function pin(workshop: Workshop, version: number): Promise<unknown> {
  return ok(service, 'PUT', pinPath(workshop), { token: workshop.owner.token, json: { version } });
}

interface Action {
  readonly method: string;
  readonly path: (workshop: Workshop) => string;
  readonly json?: unknown;
  /** What has to be done first. */
  readonly prepare?: (workshop: Workshop) => Promise<unknown>;
  /** The changes under the first and the second guest, from version to version. */
  readonly changes: readonly (readonly ['first' | 'second', number | null, number | null])[];
}

const below = (rest: string) => (workshop: Workshop) => workshop.path() + rest;

/** A step that reaches no guest, and one that reaches all of them. */
const plan = {
  steps: [
    { ring: 'staff', holdSeconds: null },
    { percent: 100, holdSeconds: null },
  ],
  halt: null,
};

const rollOut = (workshop: Workshop) => workshop.call('POST', '/versions/3/approve', { rollOut: plan });

const actions: Readonly<Record<string, Action>> = {
  rollBackPlugin: { method: 'POST', path: below('/rollback'), json: { version: 1 }, changes: [['first', 2, 1]] },
  approveVersion: { method: 'POST', path: below('/versions/3/approve'), changes: [['first', 2, 3]] },
  rejectVersion: { method: 'POST', path: below('/versions/3/reject'), json: why, changes: [] },
  yankVersion: { method: 'POST', path: below('/versions/1/yank'), json: why, changes: [['second', 1, null]] },
  restoreVersion: {
    method: 'POST',
    path: below('/versions/2/restore'),
    prepare: (workshop) => workshop.call('POST', '/versions/2/yank', why),
    changes: [['first', 1, 2]],
  },
  blockPlugin: {
    method: 'PUT',
    path: below('/block'),
    json: why,
    changes: [
      ['first', 2, null],
      ['second', 1, null],
    ],
  },
  unblockPlugin: {
    method: 'DELETE',
    path: below('/block'),
    prepare: (workshop) => workshop.call('PUT', '/block', why),
    changes: [
      ['first', null, 2],
      ['second', null, 1],
    ],
  },
  deletePlugin: {
    method: 'DELETE',
    path: below(''),
    changes: [
      ['first', 2, null],
      ['second', 1, null],
    ],
  },
  pinBinding: { method: 'PUT', path: pinPath, json: { version: 2 }, changes: [['second', 1, 2]] },
  unpinBinding: { method: 'DELETE', path: pinPath, changes: [['second', 1, 2]] },
  pauseRollOut: { method: 'POST', path: below('/versions/3/roll-out/pause'), prepare: rollOut, changes: [] },
  resumeRollOut: {
    method: 'POST',
    path: below('/versions/3/roll-out/resume'),
    prepare: async (workshop) => {
      await rollOut(workshop);
      await workshop.call('POST', '/versions/3/roll-out/pause');
    },
    changes: [],
  },
  promoteRollOut: {
    method: 'POST',
    path: below('/versions/3/roll-out/promote'),
    prepare: rollOut,
    changes: [['first', 2, 3]],
  },
  abortRollOut: {
    method: 'POST',
    path: below('/versions/3/roll-out/abort'),
    json: why,
    prepare: async (workshop) => {
      await rollOut(workshop);
      await workshop.call('POST', '/versions/3/roll-out/promote');
    },
    changes: [['first', 3, 2]],
  },
};

/** The tests of these routes try their dry runs. */
const triedElsewhere = [
  'publishPlugin', // publish-dry-run.test.ts
  'releaseVersion', // minimum-age.test.ts
  'blockPublisher', // blocked-publishers.test.ts
  'unblockPublisher',
  'yankPublishedVersions', // mass-yank.proof.ts
  'yankOwnPublishedVersions',
];

describe('`dryRun=true`', () => {
  it('is known to every action that moves bindings of a plugin', () => {
    const ids = allRoutes.filter(({ query }) => query?.properties.dryRun !== undefined).map(({ id }) => id);
    assert.deepEqual(ids.sort(), [...Object.keys(actions), ...triedElsewhere].sort());
  });

  for (const [id, { method, path, json, prepare, changes }] of Object.entries(actions)) {
    it(`says what ${id} would change, and leaves every row, the entity tag and the revision as they are`, async () => {
      const workshop = await withHistory();
      await prepare?.(workshop);
      const guestKeys = { first: 'first', second: 'second' } as const;
      const { extensionPointId, owner } = workshop;
      const list = () =>
        service.call('GET', `/api/v1/extension-points/${extensionPointId}/bindings/first`, { token: owner.token });
      const [rows, tag, revision] = [await dump(service), (await list()).headers.etag, service.store.revision()];
      let commits = 0;
      service.store.onCommitted(() => void commits++);

      const target = `${path(workshop)}?dryRun=true`;
      const effects = await ok<DryRun>(service, method, target, { token: owner.token, json });
      const found = effects.changes.map(({ guestId, guestKey, pluginName, before, after }) => {
        assert.equal(pluginName, 'median');
        assert.equal(guestId, guestKey === 'first' ? workshop.first : workshop.second);
        return [guestKey, before, after];
      });
      const byKey = (a: readonly unknown[], b: readonly unknown[]) => String(a[0]).localeCompare(String(b[0]));
      assert.deepEqual(
        found.sort(byKey),
        changes.map(([guest, ...versions]) => [guestKeys[guest], ...versions]),
      );
      assert.equal(effects.changed, changes.length);
      assert.equal(effects.unchanged, (id.endsWith('Binding') ? 1 : 2) - changes.length);
      assert.equal(effects.hasMore, false);
      assert.equal(
        effects.outcomes.reduce((sum, { guests }) => sum + guests, 0),
        changes.length,
      );

      assert.deepEqual(await dump(service), rows);
      assert.equal(service.store.revision(), revision);
      assert.equal(commits, 0);
      assert.equal((await list()).headers.etag, tag);
    });
  }

  it('never names a guest key to a publisher', async () => {
    const workshop = await withHistory();
    const effects = await tried(workshop, 'POST', '/versions/2/yank', why, workshop.publisher);
    assert.deepEqual(effects.changes, [{ pluginName: 'median', guestId: workshop.first, before: 2, after: 1 }]);
  });

  it('includes the bindings of other plugins with the same bytes', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const headers = { 'content-type': 'application/wasm' };
    const bytes = await service.call('GET', `${workshop.path()}/versions/1/content`, { token: workshop.owner.token });
    const copy = { token: workshop.publisher.token, body: bytes.rawPayload, headers };
    await ok(service, 'PUT', workshop.path('copy'), copy);
    const effects = await tried(workshop, 'PUT', '/block', why);
    assert.deepEqual(
      effects.outcomes.toSorted((a, b) => (a.pluginName < b.pluginName ? -1 : 1)),
      [
        { pluginName: 'copy', before: 1, after: null, guests: 2 },
        { pluginName: 'median', before: 1, after: null, guests: 2 },
      ],
    );
    const { state } = await ok<Version>(service, 'GET', `${workshop.path('copy')}/versions/1`, {
      token: workshop.owner.token,
    });
    assert.equal(state, 'published');
  });

  it('checks the request as the action does', async () => {
    const workshop = await withHistory();
    const { stranger, viewer } = { stranger: await service.user(), viewer: workshop.viewer };
    const call = (rest: string, json?: unknown, by = workshop.owner) => workshop.call('POST', rest, json, by);
    assertProblem(await call('/versions/3/approve?dryRun=true', undefined, stranger), 404, 'not_found');
    assertProblem(await call('/versions/3/approve?dryRun=true', undefined, viewer), 403, 'forbidden');
    assertProblem(await call('/versions/2/approve?dryRun=true'), 409, 'conflict');
    assertProblem(await call('/versions/9/yank?dryRun=true', why), 404, 'not_found');
    assertProblem(await call('/versions/2/yank?dryRun=true', { reason: ' ' }), 422, 'invalid_field');
    assertProblem(await call('/rollback?dryRun=true', { version: 9 }), 422, 'invalid_field');
  });

  it('is refused in another spelling, and does nothing as `false`', async () => {
    const workshop = await withHistory();
    for (const value of ['1', 'TRUE', 'yes', '']) {
      const response = await workshop.call('POST', `/versions/2/yank?dryRun=${value}`, why);
      assertProblem(response, 400, 'invalid_request');
    }
    const twice = await workshop.call('POST', '/versions/2/yank?dryRun=true&dryRun=true', why);
    assertProblem(twice, 400, 'invalid_request');
    const real = await workshop.call('POST', '/versions/2/yank?dryRun=false', why);
    assert.equal(real.json<Version>().state, 'yanked');
  });

  it('waits for no unfinished change, and finishes none', async () => {
    const workshop = await withHistory();
    const { extensionPointId, publisher } = workshop;
    const key = { extensionPointId: extensionPointId as never, userId: publisher.id, name: 'median' };
    await service.store.write((tx) => tx.putPendingRebind(key, { after: '', selection: null }));
    assertProblem(await workshop.call('POST', '/versions/2/yank?dryRun=true', why), 409, 'conflict');
    assert.notEqual(await service.store.read.pendingRebind(key), undefined);
  });

  it('counts against the limit on writes', async () => {
    const limited = await openService({ config: { writesPerSecond: 1, writeBurst: 40 } });
    try {
      const workshop = await openWorkshop(limited);
      await workshop.publish(1);
      const statuses = new Set<number>();
      for (let tries = 0; tries < 60; tries++) {
        statuses.add((await workshop.call('POST', '/versions/1/yank?dryRun=true', why)).statusCode);
      }
      assert.deepEqual(statuses, new Set([200, 429]));
    } finally {
      await limited.close();
    }
  });
});

function tried(
  workshop: Workshop,
  method: string,
  rest: string,
  json: unknown,
  by: TestUser = workshop.owner,
): Promise<DryRun> {
  return ok(service, method, `${workshop.path() + rest}?dryRun=true`, { token: by.token, json });
}
