import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { BindingList } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type TestService } from './helpers/service.ts';
import { makeGuest, ok } from './helpers/world.ts';

const why = { json: { reason: 'why' } };

interface Row {
  /** What is done before it is looked; two versions are there already, of which the second is bound. */
  readonly given?: (workshop: Workshop) => Promise<unknown>;
  readonly change: (workshop: Workshop) => Promise<unknown>;
  /** The version that is bound before and after; 0 for none. */
  readonly from: number;
  readonly to: number;
}

const decide = (workshop: Workshop, number: number, action: string, options: object = why) =>
  ok(workshop.service, 'POST', `${workshop.path()}/versions/${number}/${action}`, { ...asOwner(workshop), ...options });
const rollBack = (workshop: Workshop, version: number) =>
  ok(workshop.service, 'POST', `${workshop.path()}/rollback`, { ...asOwner(workshop), json: { version } });
const pinPath = ({ extensionPointId, first }: Workshop) =>
  `/api/v1/extension-points/${extensionPointId}/guests/${first}/pins/median`;
const pin = (workshop: Workshop, version: number) =>
  ok(workshop.service, 'PUT', pinPath(workshop), { ...asOwner(workshop), json: { version } });
const block = (workshop: Workshop) =>
  ok(workshop.service, 'PUT', `${workshop.path()}/block`, { ...asOwner(workshop), ...why });
const asOwner = ({ owner }: Workshop) => ({ token: owner.token });
const awaitApproval = async (workshop: Workshop) => {
  await workshop.settings({ requiresApproval: true });
  await workshop.publish(3);
};

/** Every kind of change to what is published, decided or held. `docs/explanation/publishing.md` shows the same rows. */
const rows: Readonly<Record<string, Row>> = {
  'new bytes are published': { change: (shop) => shop.publish(3), from: 2, to: 3 },
  'the bytes that are current are published again': { change: (shop) => shop.publish(2), from: 2, to: 2 },
  'new bytes are published for other guests': {
    change: (shop) => shop.publish(3, `?guest=${shop.second}`),
    from: 2,
    to: 2,
  },
  'new bytes are published and await approval': { change: awaitApproval, from: 2, to: 2 },
  'they are approved': { given: awaitApproval, change: (shop) => decide(shop, 3, 'approve', {}), from: 2, to: 3 },
  'they are rejected': { given: awaitApproval, change: (shop) => decide(shop, 3, 'reject'), from: 2, to: 2 },
  'the version that is bound is yanked': { change: (shop) => decide(shop, 2, 'yank'), from: 2, to: 1 },
  'another version is yanked': { change: (shop) => decide(shop, 1, 'yank'), from: 2, to: 2 },
  'the last good version is yanked': {
    given: (shop) => decide(shop, 1, 'yank'),
    change: (shop) => decide(shop, 2, 'yank'),
    from: 2,
    to: 0,
  },
  'bytes that the team has yanked are published again': {
    given: (shop) => decide(shop, 2, 'yank'),
    change: (shop) => shop.tryPublish(2),
    from: 1,
    to: 1,
  },
  'the newest version is restored': {
    given: (shop) => decide(shop, 2, 'yank'),
    change: (shop) => decide(shop, 2, 'restore', {}),
    from: 1,
    to: 2,
  },
  'a roll back': { change: (shop) => rollBack(shop, 1), from: 2, to: 1 },
  'a roll back to what is bound': { change: (shop) => rollBack(shop, 2), from: 2, to: 2 },
  'a roll back to the newest': {
    given: (shop) => rollBack(shop, 1),
    change: (shop) => rollBack(shop, 2),
    from: 1,
    to: 2,
  },
  'the version that was rolled back to is yanked': {
    given: (shop) => rollBack(shop, 1),
    change: (shop) => decide(shop, 1, 'yank'),
    from: 1,
    to: 2,
  },
  'a pin to another version': { change: (shop) => pin(shop, 1), from: 2, to: 1 },
  'a pin to what is bound': { change: (shop) => pin(shop, 2), from: 2, to: 2 },
  'new bytes are published while it is pinned': {
    given: (shop) => pin(shop, 2),
    change: (shop) => shop.publish(3),
    from: 2,
    to: 2,
  },
  'a roll back while it is pinned': {
    given: (shop) => pin(shop, 2),
    change: (shop) => rollBack(shop, 1),
    from: 2,
    to: 2,
  },
  'the version that is pinned is yanked': {
    given: (shop) => pin(shop, 1),
    change: (shop) => decide(shop, 1, 'yank'),
    from: 1,
    to: 0,
  },
  'the pin is taken back': {
    given: (shop) => pin(shop, 1),
    change: (shop) => ok(shop.service, 'DELETE', pinPath(shop), asOwner(shop)),
    from: 1,
    to: 2,
  },
  'the plugin is blocked': { change: block, from: 2, to: 0 },
  'the block is taken back': {
    given: block,
    change: (shop) => ok(shop.service, 'DELETE', `${shop.path()}/block`, asOwner(shop)),
    from: 0,
    to: 2,
  },
  'the plugin is deleted': {
    change: (shop) => ok(shop.service, 'DELETE', shop.path(), asOwner(shop)),
    from: 2,
    to: 0,
  },
  'the guest is taken from the publisher': {
    change: ({ service, appId, first, publisher, ...shop }) =>
      ok(service, 'DELETE', `/api/v1/apps/${appId}/guests/${first}/users/${publisher.id}`, { token: shop.owner.token }),
    from: 2,
    to: 0,
  },
  'the guest is removed': {
    change: (shop) => ok(shop.service, 'DELETE', `/api/v1/apps/${shop.appId}/guests/${shop.first}`, asOwner(shop)),
    from: 2,
    to: 0,
  },
  'another user accepts an invitation under the key': {
    change: async (shop) => makeGuest(shop.service, shop.owner, shop.appId, 'first', await shop.service.user()),
    from: 2,
    to: 2,
  },
  'the schema, the limits or the approval change': {
    change: (shop) =>
      shop.settings({ schema: 'exports: [other]', requiresApproval: true, limits: { maxModuleBytes: 8 } }),
    from: 2,
    to: 2,
  },
};

describe('GET …/bindings/* (A2) after every kind of change', () => {
  let service: TestService;
  let base: string;
  before(async () => {
    service = await openService({ config: { logLevel: 'info' } }); // on `debug` no answer is given from memory
    base = await service.listen();
  });
  after(() => service.close());

  /** What a host gets that asks twice: the second answer comes from memory. */
  async function ask(workshop: Workshop, etag?: string) {
    const url = `${base}/api/v1/extension-points/${workshop.extensionPointId}/bindings/first`;
    const headers = { ...(etag === undefined ? {} : { 'if-none-match': etag }) };
    const responses: { status: number; etag: string; body: string }[] = [];
    for (let time = 0; time < 2; time++) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${workshop.owner.token}`, ...headers } });
      const { status } = response;
      responses.push({ status, etag: response.headers.get('etag') ?? '', body: await response.text() });
    }
    const [first, second] = responses;
    assert.ok(first);
    assert.deepEqual(second, first);
    return first;
  }

  for (const [name, { given, change, from, to }] of Object.entries(rows)) {
    it(`${name}: ${inWords(from)} → ${inWords(to)}`, async () => {
      const workshop = await openWorkshop(service);
      await workshop.publish(1);
      await workshop.publish(2);
      await given?.(workshop);
      const addresses = new Map((await workshop.versions()).map((one) => [one.number, one.contentAddress]));
      const before = await ask(workshop);
      assert.equal(before.body, expectedBody(workshop, before.body, addresses.get(from)));
      await change(workshop);
      for (const version of await workshop.versions().catch(() => []))
        addresses.set(version.number, version.contentAddress);
      const after = await ask(workshop);
      assert.equal(after.body, expectedBody(workshop, after.body, addresses.get(to)));

      assert.equal(after.body === before.body, from === to, 'the body changes exactly when what is bound does');
      assert.equal(after.etag === before.etag, from === to, 'and so does the entity tag');
      if (from !== to && from !== 0 && to !== 0) {
        assert.ok(updatedAtOf(after.body) > updatedAtOf(before.body), 'updatedAt moves on, a roll back moves it too');
      }
      assert.equal((await ask(workshop, before.etag)).status, from === to ? 304 : 200);
      assert.equal((await ask(workshop, after.etag)).status, 304);
    });
  }

  it('matches the documentation', () => {
    const page = readFileSync(new URL('../../../docs/explanation/publishing.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/^\| ([^|]+) \| (\S+) → (\S+) \|$/gm)].map((match) => match.slice(1));
    const expected = Object.entries(rows).map(([name, { from, to }]) => [name, inWords(from), inWords(to)]);
    assert.deepEqual(shown, expected);
  });
});

function inWords(version: number): string {
  return version === 0 ? 'nothing' : String(version);
}

function updatedAtOf(body: string): string {
  return (JSON.parse(body) as BindingList).median?.updatedAt ?? '';
}

/** The list to the letter, with the time that it has. */
function expectedBody(workshop: Workshop, found: string, contentAddress: string | undefined): string {
  if (contentAddress === undefined) return '{}';
  const id = workshop.path().replace('/api/v1/artifacts/', '');
  return `{"median":{"id":"${id}","contentAddress":"${contentAddress}","updatedAt":"${updatedAtOf(found)}"}}`;
}
