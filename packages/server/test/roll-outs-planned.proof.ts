import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RollOutPlan, RollOutState, VersionId, VersionState } from '@tenon/protocol';
import { maxClockGapMs, trustClock } from '../src/blobs/clock-gap.ts';
import { releaseDueVersions } from '../src/plugins/release-versions.ts';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type TestService } from './helpers/service.ts';
import { ok } from './helpers/world.ts';

/*
 * Versions that the team approves before they have their minimum age. Their roll-outs are planned, and start when they have it.
 */

const minVersionAgeSeconds = 600;
const why = { reason: 'why' };

/** A plan that reaches no guest of the workshop in its first step. */
const planOf = (ring: string): RollOutPlan => ({
  steps: [
    { ring, holdSeconds: 60 },
    { percent: 100, holdSeconds: null },
  ],
  halt: null,
});
const [usual, chosen, other] = [planOf('usual'), planOf('chosen'), planOf('other')];

interface Found {
  readonly state: VersionState | undefined;
  readonly rollOut: RollOutState | undefined;
  readonly ring: string | undefined;
  readonly bound: number | null | undefined;
}

interface Case {
  readonly what: string;
  /** Default: approved with the plan `chosen`. */
  readonly approval?: object;
  act(workshop: Workshop): Promise<void>;
  /** Right after the act. Default: planned as chosen. */
  readonly before?: Partial<Found>;
  /** When the version has its minimum age. Default: it is in a roll-out as chosen. */
  readonly atAge?: Partial<Found>;
}

const planned: Found = { state: 'cooling_down', rollOut: 'planned', ring: 'chosen', bound: 1 };
const running: Found = { state: 'published', rollOut: 'running', ring: 'chosen', bound: 1 };
const none = { rollOut: undefined, ring: undefined };

async function answers(workshop: Workshop, status: number, below: string, json?: object, by = workshop.owner) {
  const method = below.endsWith('/block') ? 'PUT' : 'POST';
  const { statusCode, payload } = await workshop.call(method, below, json, by);
  assert.equal(statusCode, status, payload);
}

const cases: readonly Case[] = [
  { what: 'without further acts', act: async () => {} },
  {
    what: 'approved for all guests at once',
    approval: { rollOut: null },
    act: async () => {},
    before: { ring: undefined },
    atAge: { ...none, bound: 2 },
  },
  {
    what: 'approved without a plan, so that the plan counts that the extension point has later',
    approval: {},
    act: (workshop) => workshop.settings({ rollOut: other }),
    before: none,
    atAge: { ring: 'other' },
  },
  ...(['pause', 'resume', 'promote'] as const).map((action) => ({
    what: `which can't be changed by "${action}"`,
    act: (workshop: Workshop) => answers(workshop, 409, `/versions/2/roll-out/${action}`),
  })),
  {
    what: `which can't be changed by "abort"`,
    act: (workshop) => answers(workshop, 409, '/versions/2/roll-out/abort', why),
  },
  {
    what: `which can't be rolled back to`,
    act: (workshop) => answers(workshop, 409, '/rollback', { version: 2 }),
  },
  {
    what: `whose extension point's plan ends`,
    act: (workshop) => workshop.settings({ rollOut: null }),
  },
  {
    what: `whose extension point's minimum age grows`,
    act: (workshop) => workshop.settings({ minVersionAgeSeconds: 86_400 }),
  },
  {
    what: `whose extension point's minimum age ends`,
    act: (workshop) => workshop.settings({ minVersionAgeSeconds: 0 }),
  },
  {
    what: 'yanked by the team',
    act: (workshop) => answers(workshop, 200, '/versions/2/yank', why),
    before: { state: 'yanked', rollOut: 'aborted' },
    atAge: { state: 'yanked', rollOut: 'aborted' },
  },
  {
    what: 'yanked and restored by the team',
    async act(workshop) {
      await answers(workshop, 200, '/versions/2/yank', why);
      await answers(workshop, 200, '/versions/2/restore');
    },
  },
  {
    what: 'yanked, and restored by the team with another plan',
    async act(workshop) {
      await answers(workshop, 200, '/versions/2/yank', why);
      await answers(workshop, 200, '/versions/2/restore', { rollOut: other });
    },
    before: { ring: 'other' },
    atAge: { ring: 'other' },
  },
  {
    what: 'yanked and restored by its publisher, so that it needs approval again',
    async act(workshop) {
      await answers(workshop, 200, '/versions/2/yank', why, workshop.publisher);
      await answers(workshop, 403, '/versions/2/restore', { rollOut: null }, workshop.publisher);
      await answers(workshop, 200, '/versions/2/restore', undefined, workshop.publisher);
    },
    atAge: { state: 'awaiting_approval', rollOut: 'planned' },
  },
  {
    what: 'rejected',
    act: (workshop) => answers(workshop, 200, '/versions/2/reject', why),
    before: { state: 'rejected', rollOut: 'aborted' },
    atAge: { state: 'rejected', rollOut: 'aborted' },
  },
  {
    what: 'released early',
    act: (workshop) => answers(workshop, 200, '/versions/2/release', why),
    before: running,
  },
  {
    what: 'released early for all guests at once',
    act: (workshop) => answers(workshop, 200, '/versions/2/release', { ...why, rollOut: null }),
    before: { ...running, ...none, bound: 2 },
    atAge: { ...none, bound: 2 },
  },
  {
    what: 'of a plugin that is blocked, so that it needs approval again',
    act: (workshop) => answers(workshop, 200, '/block', why),
    before: { bound: null },
    atAge: { state: 'awaiting_approval', rollOut: 'planned', bound: null },
  },
  {
    what: 'of a plugin that was blocked for a while',
    async act(workshop) {
      await answers(workshop, 200, '/block', why);
      assert.equal((await workshop.call('DELETE', '/block')).statusCode, 204);
    },
  },
  {
    what: 'of a plugin that is deleted',
    async act(workshop) {
      assert.equal((await workshop.call('DELETE', '', undefined, workshop.publisher)).statusCode, 204);
    },
    before: { ...none, state: undefined, bound: undefined },
    atAge: { ...none, state: undefined, bound: undefined },
  },
  {
    what: 'while a newer version reaches all guests',
    async act(workshop) {
      await workshop.publish(3);
      await answers(workshop, 200, '/versions/3/approve');
      await answers(workshop, 200, '/versions/3/release', { ...why, rollOut: null });
    },
    before: { bound: 3 },
    atAge: { ...none, bound: 3 },
  },
  {
    what: 'while a newer version is in a roll-out',
    async act(workshop) {
      await workshop.publish(3);
      await answers(workshop, 200, '/versions/3/approve');
      await answers(workshop, 200, '/versions/3/release', { ...why, rollOut: other });
    },
  },
  {
    what: 'while the version before is yanked',
    act: (workshop) => answers(workshop, 200, '/versions/1/yank', why, workshop.publisher),
    before: { bound: null },
    atAge: { bound: null },
  },
];

describe('the planned roll-out of a version', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  /** A plugin whose second version is approved before it has its minimum age. */
  async function open(approval: object): Promise<{ readonly workshop: Workshop; find(): Promise<Found> }> {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ rollOut: usual, requiresApproval: true, minVersionAgeSeconds });
    const { version } = await workshop.publish(2);
    assert.equal(version.state, 'awaiting_approval');
    await ok(service, 'POST', `${workshop.path()}/versions/2/approve`, { token: workshop.owner.token, json: approval });
    const find = async (): Promise<Found> => {
      const { read } = service.store;
      const [stored, rollOut] = [
        await read.versionById(version.id as VersionId),
        await read.rollOut(version.id as VersionId),
      ];
      const step = rollOut?.plan.steps[0];
      const ring = step !== undefined && 'ring' in step ? step.ring : undefined;
      return { state: stored?.state, rollOut: rollOut?.state, ring, bound: await workshop.bound() };
    };
    return { workshop, find };
  }

  const release = () => releaseDueVersions(service.services.deps);
  const advance = async () => {
    while ((await advanceRollOuts(service.services.deps)) > 0);
  };

  for (const { what, approval = { rollOut: chosen }, act, before: soon = {}, atAge = {} } of cases) {
    it(what, async () => {
      const { workshop, find } = await open(approval);
      await act(workshop);
      assert.deepEqual(await find(), { ...planned, ...soon });
      service.advance((minVersionAgeSeconds - 60) * 1000);
      await release();
      assert.deepEqual(await find(), { ...planned, ...soon }, 'a minute before its minimum age');
      service.advance(61_000);
      await release();
      assert.deepEqual(await find(), { ...running, ...atAge }, 'at its minimum age');
    });
  }

  it('starts by what was planned when it is approved again', async () => {
    const { workshop, find } = await open({ rollOut: chosen });
    await answers(workshop, 200, '/versions/2/yank', why, workshop.publisher);
    await answers(workshop, 200, '/versions/2/restore', undefined, workshop.publisher);
    service.advance(minVersionAgeSeconds * 1000 + 1);
    await release();
    await answers(workshop, 200, '/versions/2/approve');
    assert.deepEqual(await find(), running);
  });

  it('is paused when its publisher yanks it early, and restores it later', async () => {
    const { workshop, find } = await open({ rollOut: chosen });
    await answers(workshop, 200, '/versions/2/yank', why, workshop.publisher);
    service.advance(minVersionAgeSeconds * 1000 + 1);
    await release();
    await answers(workshop, 200, '/versions/2/restore', undefined, workshop.publisher);
    assert.deepEqual(await find(), { ...running, rollOut: 'paused' });
  });

  it('holds its first step from its start on, and is listed as planned before', async () => {
    const { workshop, find } = await open({ rollOut: chosen });
    const { appId, owner } = workshop;
    const listed = async (state: string) => {
      const path = `/api/v1/apps/${appId}/roll-outs?state=${state}`;
      return (await ok<{ objects: object[] }>(service, 'GET', path, owner)).objects.length;
    };
    assert.deepEqual([await listed('planned'), await listed('open')], [1, 0]);
    const { startedAt, nextStepAt } = (await workshop.call('GET', '/versions/2/roll-out')).json();
    assert.deepEqual([startedAt, nextStepAt], [null, null]);
    service.advance(minVersionAgeSeconds * 1000 + 1);
    await advance();
    assert.deepEqual(await find(), planned, 'only a release starts it');
    await release();
    service.advance(59_000);
    await advance();
    assert.equal(await workshop.bound(), 1);
    service.advance(2000);
    await advance();
    assert.equal(await workshop.bound(), 2);
    assert.deepEqual([await listed('planned'), await listed('open')], [0, 1]);
  });

  it('neither starts nor advances by a clock that is far ahead of the last maintenance', async () => {
    const { workshop } = await open({ rollOut: chosen });
    const id = (await workshop.versions())[0]?.id as VersionId;
    const { deps } = service.services;
    // Tokens don't live that long.
    const found = async () => {
      const rollOut = await service.store.read.rollOut(id);
      return [rollOut?.state, rollOut?.step];
    };
    await trustClock(deps);
    service.advance(maxClockGapMs + 60_000);
    await release();
    assert.deepEqual(await found(), ['planned', 0]);
    await trustClock(deps);
    await release();
    assert.deepEqual(await found(), ['running', 0]);
    service.advance(maxClockGapMs + 60_000);
    await advance();
    assert.deepEqual(await found(), ['running', 0]);
    await trustClock(deps);
    await advance();
    assert.deepEqual(await found(), ['running', 1]);
  });
});
