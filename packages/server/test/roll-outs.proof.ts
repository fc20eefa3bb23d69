import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type GuestId, newId, type RollOutPlan, reaches, type UserId, type VersionId } from '@tenon/protocol';
import { createRandom } from '../../../test/helpers/random.ts';
import { finishPendingChanges } from '../src/apps/finish-deletions.ts';
import { finishRebind } from '../src/plugins/rebind.ts';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { rollOutBucket } from '../src/plugins/roll-outs/bucket.ts';
import { haltRollOut } from '../src/plugins/roll-outs/halt.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeGuest } from './helpers/world.ts';

const manual = (...percents: number[]) => percents.map((percent) => ({ percent, holdSeconds: null }));
const why = { reason: 'why' };

/** A version as the model knows it. */
interface ModelVersion {
  readonly number: number;
  readonly id: VersionId;
  readonly under: ReadonlySet<string>;
  state: 'published' | 'yanked';
  rollOut: { state: string; step: number; readonly plan: RollOutPlan; dueMs: number } | undefined;
}

interface ModelGuest {
  readonly key: string;
  readonly id: string;
  ring: string | null;
  pinned: number | undefined;
  selected: number | undefined;
  selectedAt: number;
  bound: number | undefined;
}

/** What each guest must get, kept apart from the service: plain loops over all versions. */
class Model {
  readonly versions: ModelVersion[] = [];
  plan: RollOutPlan | null = null;
  isBlocked = false;
  readonly guests: ModelGuest[];

  constructor(guests: readonly { readonly key: string; readonly id: string }[]) {
    this.guests = guests.map((guest) => ({
      ...guest,
      ...{ ring: null, pinned: undefined, selected: undefined, selectedAt: 0, bound: undefined },
    }));
  }

  version(number: number | undefined): ModelVersion | undefined {
    return this.versions.find((one) => one.number === number);
  }

  isFull({ state, rollOut }: ModelVersion): boolean {
    return state === 'published' && (rollOut === undefined || rollOut.state === 'completed');
  }

  isOpen({ state, rollOut }: ModelVersion): boolean {
    return state === 'published' && ['running', 'paused', 'halted'].includes(rollOut?.state ?? '');
  }

  newest({ key }: ModelGuest): number {
    const full = this.versions.filter((one) => this.isFull(one) && one.under.has(key));
    return Math.max(0, ...full.map(({ number }) => number));
  }

  candidates(guest: ModelGuest): ModelVersion[] {
    const newest = this.newest(guest);
    return this.versions.filter((one) => this.isOpen(one) && one.under.has(guest.key) && one.number > newest);
  }

  target(guest: ModelGuest): number | undefined {
    if (this.isBlocked) return undefined;
    if (guest.pinned !== undefined) {
      return this.version(guest.pinned)?.state === 'published' ? guest.pinned : undefined;
    }
    const floor = guest.selected === undefined ? 0 : guest.selectedAt;
    const reached = this.candidates(guest).filter(({ id, number, rollOut }) => {
      if (rollOut === undefined || rollOut.state === 'halted' || number <= floor) return false;
      return guest.bound === number || reaches(rollOut.plan, rollOut.step, rollOutBucket(id, guest.key), guest.ring);
    });
    return reached.at(-1)?.number ?? guest.selected ?? (this.newest(guest) || undefined);
  }

  start(version: ModelVersion, plan: RollOutPlan | null, nowMs: number): boolean {
    const hasBefore = this.versions.some(({ number }) => number < version.number) || version.rollOut !== undefined;
    if (plan !== null && hasBefore && !this.isSuperseded(version)) {
      version.rollOut = { state: 'running', step: 0, plan, dueMs: dueOf(plan, 0, nowMs) };
      return true;
    }
    version.rollOut = undefined;
    this.supersede(version);
    return false;
  }

  isSuperseded({ number, under }: ModelVersion): boolean {
    const newer = this.versions.filter((one) => this.isFull(one) && one.number > number).at(-1);
    return newer !== undefined && [...under].every((key) => newer.under.has(key));
  }

  supersede({ number }: ModelVersion): void {
    for (const one of this.versions) {
      if (one.rollOut && this.isOpen(one) && one.number < number && this.isSuperseded(one))
        one.rollOut.state = 'superseded';
    }
  }

  moveOn(version: ModelVersion, isFull: boolean, nowMs: number): void {
    const { rollOut, number } = version;
    assert.ok(rollOut);
    if (!isFull && rollOut.step + 1 < rollOut.plan.steps.length) {
      rollOut.state = 'running';
      rollOut.step++;
      rollOut.dueMs = dueOf(rollOut.plan, rollOut.step, nowMs);
      return;
    }
    rollOut.state = 'completed';
    for (const guest of this.guests) {
      const isOlder = guest.selected !== undefined && guest.selected < number && guest.selectedAt < number;
      if (isOlder && version.under.has(guest.key)) guest.selected = undefined;
    }
    this.supersede(version);
  }

  /** What time does to all that is due. */
  advance(nowMs: number): void {
    for (let tick = 1; ; tick++) {
      const due = this.versions
        .filter(({ rollOut }) => rollOut?.state === 'running' && rollOut.dueMs <= nowMs + tick)
        .sort((a, b) => (a.rollOut?.dueMs ?? 0) - (b.rollOut?.dueMs ?? 0));
      const [next] = due;
      if (next?.rollOut === undefined) return;
      if (this.isBlocked) next.rollOut.state = 'paused';
      else this.moveOn(next, false, nowMs + tick);
    }
  }

  settle(): void {
    for (const guest of this.guests) {
      if (guest.selected !== undefined && this.version(guest.selected)?.state !== 'published')
        guest.selected = undefined;
    }
    for (const guest of this.guests) guest.bound = this.target(guest);
  }
}

function dueOf({ steps }: RollOutPlan, step: number, nowMs: number): number {
  const hold = steps[step]?.holdSeconds ?? null;
  return hold === null ? Number.POSITIVE_INFINITY : nowMs + hold * 1000;
}

const plans: readonly (RollOutPlan | null)[] = [
  null,
  { steps: [{ ring: 'staff', holdSeconds: null }, ...manual(30, 70)], halt: null },
  { steps: manual(20, 60), halt: null },
  {
    steps: [
      { percent: 50, holdSeconds: 0 },
      { percent: 100, holdSeconds: 0 },
    ],
    halt: null,
  },
  { steps: [{ percent: 40, holdSeconds: 60 }, ...manual(80)], halt: null },
];

const kinds = [
  ...['publish', 'publish', 'publish', 'plan', 'plan', 'yank', 'restore', 'rollback', 'rollback', 'pin', 'unpin'],
  ...['block', 'unblock', 'unblock', 'ring', 'ring', 'pause', 'resume', 'resume', 'promote', 'promote', 'promote'],
  ...['full', 'abort', 'halt', 'wait', 'wait'],
];

describe('random histories with roll-outs', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  for (let seed = 1; seed <= 8; seed++) {
    it(`bind what the model binds, and change no other list (seed ${seed})`, async () => {
      const random = createRandom(seed);
      const { deps } = service.services;
      const workshop = await openWorkshop(service);
      const { owner, publisher, appId, extensionPointId } = workshop;
      const guests = [];
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
        guests.push({ key, id: await makeGuest(service, owner, appId, key, publisher) });
      }
      // The workshop's own guests are in the model, too.
      const model = new Model([
        ...guests,
        { key: 'first', id: workshop.first },
        { key: 'second', id: workshop.second },
      ]);
      const point = `/api/v1/extension-points/${extensionPointId}`;
      const readList = async (key: string) => {
        const response = await service.call('GET', `${point}/bindings/${key}`, { token: owner.token });
        return { etag: response.headers.etag, address: response.json().median?.contentAddress as string | undefined };
      };
      const addresses = new Map<string, number>();
      let lists = new Map<string, Awaited<ReturnType<typeof readList>>>();
      for (const { key } of model.guests) lists.set(key, await readList(key));
      const log: string[] = [];
      for (let step = 0; step < 45; step++) {
        const kind = step === 0 ? 'publish' : random.pick(kinds);
        const version = random.pick(model.versions.length === 0 ? [undefined] : model.versions);
        const guest = random.pick(model.guests);
        const below = `/versions/${version?.number}`;
        const bound = new Map(model.guests.map((one) => [one.key, one.bound]));
        const expect = async (isPossible: boolean, path: string, json?: object, method = 'POST') => {
          const { statusCode, payload } = await workshop.call(method, path, json);
          assert.equal(statusCode < 300, isPossible, `${log.join('\n')}\n${kind} ${path}: ${payload}`);
          return isPossible;
        };
        log.push(`${kind} ${version?.number} ${guest.key}`);
        const open = version !== undefined && model.isOpen(version) ? version.rollOut : undefined;
        switch (kind) {
          case 'publish': {
            const under = random.below(4) === 0 && step > 0 ? [guest] : model.guests;
            const number = (model.versions.at(-1)?.number ?? 0) + 1;
            const query = under.length === 1 ? `?guest=${guest.id}` : '';
            const response = await workshop.tryPublish(seed * 1000 + step, query);
            if (model.isBlocked) {
              assertProblem(response, 403, 'plugin_blocked');
              break;
            }
            const { contentAddress, version: published } = response.json();
            addresses.set(contentAddress, number);
            const made: ModelVersion = {
              number,
              id: published.id,
              under: new Set(under.map(({ key }) => key)),
              state: 'published',
              rollOut: undefined,
            };
            model.versions.push(made);
            if (!model.start(made, model.plan, deps.clock())) for (const one of under) one.selected = undefined;
            break;
          }
          case 'plan':
            model.plan = random.pick(plans);
            await workshop.settings({ rollOut: model.plan });
            break;
          case 'yank':
            if (!(await expect(version?.state === 'published', `${below}/yank`, why)) || version === undefined) break;
            if (open !== undefined) open.state = 'aborted';
            version.state = 'yanked';
            break;
          case 'restore':
            if (!(await expect(version?.state === 'yanked', `${below}/restore`)) || version === undefined) break;
            version.state = 'published';
            model.start(version, version.rollOut?.plan ?? model.plan, deps.clock());
            break;
          case 'rollback': {
            if (version === undefined) break;
            const isPossible = model.isFull(version);
            if (!(await expect(isPossible, '/rollback', { version: version.number }))) break;
            for (const one of model.guests.filter(({ key }) => version.under.has(key))) {
              const isNewest = model.newest(one) === version.number && model.candidates(one).length === 0;
              one.selected = isNewest ? undefined : version.number;
              one.selectedAt = model.versions.at(-1)?.number ?? 0;
            }
            break;
          }
          case 'pin':
          case 'unpin': {
            const path = `${point}/guests/${guest.id}/pins/median`;
            const json = kind === 'pin' ? { version: version?.number } : undefined;
            const method = kind === 'pin' ? 'PUT' : 'DELETE';
            const { statusCode } = await service.call(method, path, { token: owner.token, json });
            const isPossible = kind === 'pin' ? version?.state === 'published' : guest.pinned !== undefined;
            assert.equal(statusCode < 300, isPossible, log.join('\n'));
            if (isPossible) guest.pinned = kind === 'pin' ? version?.number : undefined;
            break;
          }
          case 'block':
            await expect(true, '/block', why, 'PUT');
            model.isBlocked = true;
            break;
          case 'unblock':
            if (await expect(model.isBlocked, '/block', undefined, 'DELETE')) model.isBlocked = false;
            break;
          case 'ring': {
            guest.ring = random.pick([null, 'staff']);
            const path = `/api/v1/apps/${appId}/guests/${guest.id}`;
            const response = await service.call('PUT', path, { token: owner.token, json: { ring: guest.ring } });
            assert.equal(response.statusCode, 200);
            break;
          }
          case 'pause':
            if (await expect(open?.state === 'running', `${below}/roll-out/pause`))
              Object.assign(open ?? {}, { state: 'paused' });
            break;
          case 'resume':
            if (!(await expect(open?.state === 'paused' || open?.state === 'halted', `${below}/roll-out/resume`)))
              break;
            assert.ok(open);
            Object.assign(open, { state: 'running', dueMs: dueOf(open.plan, open.step, deps.clock()) });
            break;
          case 'promote':
          case 'full': {
            const isPossible = open?.state === 'running' || open?.state === 'paused';
            if (!(await expect(isPossible, `${below}/roll-out/promote`, { full: kind === 'full' }))) break;
            if (version !== undefined) model.moveOn(version, kind === 'full', deps.clock());
            break;
          }
          case 'abort':
            if (!(await expect(open !== undefined, `${below}/roll-out/abort`, why)) || version === undefined) break;
            Object.assign(open ?? {}, { state: 'aborted' });
            version.state = 'yanked';
            break;
          case 'halt': {
            const rollOut = version && (await service.store.read.rollOut(version.id));
            if (rollOut === undefined) break;
            await service.store.write((tx) => haltRollOut(deps, tx, rollOut, 'errors'));
            if (open?.state === 'running' || open?.state === 'paused') open.state = 'halted';
            break;
          }
          case 'wait':
            service.advance(70_000);
            while ((await advanceRollOuts(deps)) > 0);
            model.advance(deps.clock());
            break;
        }
        model.settle();
        const found = new Map<string, Awaited<ReturnType<typeof readList>>>();
        for (const one of model.guests) {
          const list = await readList(one.key);
          found.set(one.key, list);
          const number = list.address === undefined ? undefined : addresses.get(list.address);
          assert.equal(number, one.bound, `${one.key} after\n${log.join('\n')}`);
          const hasMoved = bound.get(one.key) !== one.bound;
          assert.equal(list.etag !== lists.get(one.key)?.etag, hasMoved, `the ETag of ${one.key}\n${log.join('\n')}`);
        }
        lists = found;
        for (const one of model.versions) {
          const stored = await service.store.read.rollOut(one.id);
          assert.deepEqual([stored?.state, stored?.step], [one.rollOut?.state, one.rollOut?.step], log.join('\n'));
        }
      }
    });
  }
});

/** Adds guests of the workshop's publisher, directly in the store. */
async function addGuests(service: TestService, { appId, publisher }: Workshop, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, at) => `tenants/${at}`);
  await service.store.write(async (tx) => {
    for (const guestKey of keys) {
      const id: GuestId = newId('guest');
      const texts = { label: null, note: null, ring: null, createdAtMs: 1 };
      await tx.insertGuest({ id, appId: appId as never, guestKey, ...texts });
      await tx.putGuestUser({ guestId: id, userId: publisher.id as UserId, acceptedAtMs: 1 });
    }
  });
  return keys;
}

for (const [title, isPostgres] of [
  ['SQLite', false],
  ['PostgreSQL', true],
] as const) {
  describe(`1,500 guests on ${title}`, { skip: isPostgres && noPostgres }, () => {
    it('get the version by their buckets, once, also if a server dies between two batches', async () => {
      const config = isPostgres ? { databaseUrl: (await (await sharedPostgres()).createDatabase()).url } : {};
      const here = await openService({ config });
      const there = isPostgres ? await openService({ config }) : here;
      try {
        const workshop = await openWorkshop(here);
        const keys = await addGuests(here, workshop, 1500);
        const plan: RollOutPlan = {
          steps: [
            { percent: 10, holdSeconds: 0 },
            { percent: 50, holdSeconds: 0 },
            { percent: 80, holdSeconds: null },
          ],
          halt: null,
        };
        await workshop.settings({ rollOut: plan });
        await workshop.publish(1);
        await workshop.publish(2);
        const version = (await workshop.versions())[0];
        assert.ok(version);
        const id = version.id as VersionId;
        const key = {
          extensionPointId: workshop.extensionPointId as never,
          userId: workshop.publisher.id as UserId,
          name: 'median',
        };
        const facts = () => here.store.read.bindingFacts(key);
        const assertReached = async (step: number) => {
          const found = await facts();
          assert.equal(found.length, keys.length + 2);
          for (const { guestKey, versionId } of found) {
            const isReached = reaches(plan, step, rollOutBucket(id, guestKey), null);
            assert.equal(versionId === id, isReached, `${guestKey} in step ${step}`);
          }
          return new Map(found.map(({ guestKey, updatedAtMs }) => [guestKey, updatedAtMs]));
        };
        const first = await assertReached(0);

        // The server dies after the first transaction of the next step.
        const { deps } = here.services;
        let writes = 0;
        const dying = {
          ...deps,
          store: {
            ...deps.store,
            write: (async (work) => {
              if (++writes > 2) throw new Error('killed');
              return deps.store.write(work);
            }) as typeof deps.store.write,
          },
        };
        await assert.rejects(advanceRollOuts(dying), /killed/);
        assert.notEqual(await here.store.read.pendingRebind(key), undefined);
        await finishPendingChanges(there.services.deps, new AbortController().signal);
        const second = await assertReached(1);
        const grown = [...second].filter(([guestKey, atMs]) => first.get(guestKey) !== atMs).map(([one]) => one);
        const reached = (step: number, one: string) => reaches(plan, step, rollOutBucket(id, one), null);
        assert.deepEqual(grown.sort(), [...first.keys()].filter((one) => reached(1, one) && !reached(0, one)).sort());

        // Several nodes advance at the same time, and each step is left once.
        const both = [here, there, here, there].map((one) => advanceRollOuts(one.services.deps));
        await Promise.all(both);
        const stored = await here.store.read.rollOut(id);
        assert.deepEqual([stored?.step, stored?.state], [2, 'running']);
        await assertReached(2);
        const events = await here.store.read.auditOfAll({}, { limit: 1000 });
        assert.equal(events.filter(({ action }) => action === 'roll_out.advance').length, 2);

        // Halted, all are back.
        const isPending = await there.store.write((tx) =>
          haltRollOut(there.services.deps, tx, stored as never, 'errors'),
        );
        assert.ok(isPending);
        await finishRebind(there.services.deps, key);
        for (const { versionId } of await facts()) assert.notEqual(versionId, id);
      } finally {
        await here.close();
        if (there !== here) await there.close();
      }
    });
  });
}
