import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, Guest, Plugin, Version } from '@tenon/protocol';
import { createRandom } from '../../../test/helpers/random.ts';
import { type RunningServer, startServer } from '../../../test/helpers/server.ts';
import {
  boundBy,
  type Change,
  changed,
  effectOf,
  modelOf,
  type PluginModel,
  sidesOf,
  versionActions,
} from '../src/pages/plugin/plugin-model.ts';
import { greetThatSays } from './helpers/publishing.ts';
import { openWorkshop, type Workshop } from './helpers/workshop.ts';

const seed = 20_260_301;
const steps = 150;

describe('what a page says that a change does', () => {
  let server: RunningServer;
  let url: string;
  let workshop: Workshop;
  let app: App;
  let guests: readonly Guest[];
  before(async () => {
    server = await startServer({ settings: { TENON_RATES: 'writes-per-second=10000' } });
    url = server.quickstart.TENON_URL ?? '';
    workshop = await openWorkshop({ url, server }, 'Acme Spreadsheet');
    for (const guestKey of ['a', 'b', 'c']) {
      const code = new URL(await workshop.invite(guestKey)).searchParams.get('code');
      await workshop.call('POST', '/api/v1/invitations/accept', { code });
    }
    const path = `/api/v1/apps/${workshop.app.id}`;
    app = await workshop.call<App>('GET', path);
    guests = (await workshop.call<{ objects: Guest[] }>('GET', `${path}/guests`)).objects;
  });
  after(() => server.stop());

  const apiPath = () => `/api/v1/artifacts/${workshop.point.id}/plugin/${server.quickstart.TENON_USER_ID}/median`;

  async function read(): Promise<{ plugin: Plugin; versions: readonly Version[]; model: PluginModel }> {
    const plugin = await workshop.call<Plugin>('GET', apiPath());
    const { objects } = await workshop.call<{ objects: Version[] }>('GET', `${apiPath()}/versions`);
    return { plugin, versions: objects, model: modelOf(plugin, objects) };
  }

  /** Publishes under all guests, or under one. */
  async function publish(text: string, guest: Guest | undefined): Promise<void> {
    const response = await fetch(`${url}${apiPath()}${guest === undefined ? '' : `?guest=${guest.id}`}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.quickstart.TENON_TOKEN}`, 'content-type': 'application/wasm' },
      body: new Uint8Array(greetThatSays(text)),
    });
    assert.ok(response.ok, await response.text());
  }

  /** Every change that the page offers as things are, to somebody who is on both sides. */
  function offered({ plugin, versions, model }: Awaited<ReturnType<typeof read>>): Change[] {
    const sides = sidesOf(app, plugin, plugin.userId);
    const published = versions.filter(({ state }) => state === 'published');
    return [
      ...versions.flatMap((version) =>
        versionActions(model, version, sides).map((kind): Change => ({ kind, version: version.number })),
      ),
      ...model.claims.flatMap(({ guestId, pinnedTo }): Change[] => [
        ...published.map(({ number }): Change => ({ kind: 'pin', guestId, version: number })),
        ...(pinnedTo === null ? [] : [{ kind: 'unpin', guestId } as const]),
      ]),
      { kind: model.isBlocked ? 'unblock' : 'block' },
    ];
  }

  async function make(change: Change): Promise<void> {
    const { call, point } = workshop;
    const pin = (guestId: string) => `/api/v1/extension-points/${point.id}/guests/${guestId}/pins/median`;
    const reason = { reason: 'Why not?' };
    switch (change.kind) {
      case 'rollBack':
        return call('POST', `${apiPath()}/rollback`, { version: change.version });
      case 'yank':
      case 'reject':
        return call('POST', `${apiPath()}/versions/${change.version}/${change.kind}`, reason);
      case 'approve':
      case 'restore':
        return call('POST', `${apiPath()}/versions/${change.version}/${change.kind}`);
      case 'pin':
        return call('PUT', pin(change.guestId), { version: change.version });
      case 'unpin':
        return call('DELETE', pin(change.guestId));
      case 'block':
        return call('PUT', `${apiPath()}/block`, reason);
      case 'unblock':
        return call('DELETE', `${apiPath()}/block`);
      case 'delete':
        return call('DELETE', apiPath());
    }
  }

  it(`is what the server then does, ${steps} times`, async () => {
    const random = createRandom(seed);
    const made = new Set<string>();
    await publish('0', undefined);
    for (let step = 1; step <= steps; step++) {
      const now = await read();
      for (const claim of now.model.claims) {
        const told = now.plugin.status.bindings.find(({ guestId }) => guestId === claim.guestId);
        assert.equal(boundBy(now.model, claim), told?.version, `before step ${step}`);
      }
      if (random.below(4) === 0 && !now.model.isBlocked) {
        const requiresApproval = random.below(2) === 0;
        await workshop.call('PUT', `/api/v1/extension-points/${workshop.point.id}`, { requiresApproval });
        await publish(String(step), random.below(2) === 0 ? undefined : random.pick(guests));
        continue;
      }
      // A kind first, else most changes would be pins.
      const changes = offered(now);
      const kind = random.pick([...new Set(changes.map((change) => change.kind))]);
      const change = random.pick(changes.filter((each) => each.kind === kind));
      const words = `step ${step} with seed ${seed}: ${JSON.stringify(change)}`;
      const effect = effectOf(now.model, change);
      await make(change);
      const { plugin, model } = await read();
      const after = changed(now.model, change);
      for (const [at, { guestId, after: bound }] of effect.entries()) {
        const told = plugin.status.bindings.find((binding) => binding.guestId === guestId);
        assert.equal(told?.version, bound, words);
        assert.equal(told?.pinnedTo, after.claims[at]?.pinnedTo, words);
        assert.equal(told?.rolledBackTo, after.claims[at]?.rolledBackTo, words);
      }
      assert.deepEqual(
        model.versions.map(({ state }) => state),
        after.versions.map(({ state }) => state),
        words,
      );
      made.add(change.kind);
    }
    const all: Change['kind'][] = [
      'rollBack',
      'approve',
      'reject',
      'yank',
      'restore',
      'pin',
      'unpin',
      'block',
      'unblock',
    ];
    assert.deepEqual([...made].sort(), all.sort(), 'every kind of change was made');
  });
});
