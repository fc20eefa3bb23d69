import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AccountAuditEntry, type AppAuditEntry, newId } from '@tenon/protocol';
import { purgeExpiredAuditEvents } from '../src/audit/read-audit.ts';
import { signUpPerson } from './helpers/jar.ts';
import { auditEvent } from './helpers/records.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import {
  invite,
  type List,
  makeApp,
  makeGuest,
  makeMember,
  makeWorld,
  ok,
  publishAs,
  tinyModule,
  type World,
} from './helpers/world.ts';

const api = '/api/v1';

let service: TestService;
let world: World;
before(async () => {
  service = await openService();
  world = await makeWorld(service);
  for (const role of ['admin', 'viewer']) {
    const path = `${api}/apps/${world.appId}/members/${world.viewer.id}`;
    await ok(service, 'PUT', path, { token: world.owner.token, json: { role } });
  }
});
after(() => service.close());

function trail(user: TestUser, appId: string, query = ''): Promise<List<AppAuditEntry>> {
  return ok(service, 'GET', `${api}/apps/${appId}/audit${query}`, { token: user.token });
}

async function ownTrail({ token }: Pick<TestUser, 'token'>, query = ''): Promise<AccountAuditEntry[]> {
  return (await ok<List<AccountAuditEntry>>(service, 'GET', `${api}/me/audit${query}`, { token })).objects;
}

const actionsOf = (entries: readonly { readonly action: string }[]) => entries.map(({ action }) => action);

describe("an application's trail", () => {
  it('shows owners the actor, the credential, the action, and the target, the newest first', async () => {
    const appId = await makeApp(service, world.owner);
    const token = await ok<{ id: string; token: string }>(service, 'POST', `${api}/tokens`, {
      token: world.owner.token,
      json: { name: 'deploy script' },
    });
    await ok(service, 'PUT', `${api}/apps/${appId}`, { token: token.token, json: { name: 'Acme Sheets' } });
    const { objects } = await trail(world.owner, appId);
    assert.deepEqual(actionsOf(objects), ['app.update', 'app.create']);
    const [entry] = objects;
    assert.ok(entry);
    const { id, at, ...rest } = entry;
    assert.match(id, /^evt_/);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.deepEqual(rest, {
      action: 'app.update',
      by: 'user',
      user: { id: world.owner.id, name: 'Olga' },
      via: { id: token.id, name: 'deploy script' },
      target: { kind: 'app', id: appId, name: 'Acme Sheets' },
      details: { name: { before: 'Acme', after: 'Acme Sheets' } },
      guestKeys: {},
    });
  });

  it('keeps the names at the time of the change', async () => {
    const user = await service.user('Maiden name');
    const appId = await makeApp(service, user);
    await ok(service, 'PUT', `${api}/me`, { token: user.token, json: { name: 'Married name' } });
    await ok(service, 'PUT', `${api}/apps/${appId}`, { token: user.token, json: { name: 'Later' } });
    const { objects } = await trail(user, appId);
    assert.deepEqual(
      objects.map((entry) => [entry.user?.name, entry.target.name]),
      [
        ['Married name', 'Later'],
        ['Maiden name', 'Acme'],
      ],
    );
  });

  it('has guest keys in a separate field', async () => {
    const { objects } = await trail(world.owner, world.appId, '?action=plugin.publish');
    const [entry] = objects;
    assert.deepEqual(entry?.details.guestIds, [world.guestId]);
    assert.deepEqual(entry?.guestKeys, { [world.guestId]: world.guestKey });
    assert.equal(entry?.details.isNew, true);
    assert.equal(entry?.target.id, world.plugin.id);
  });

  it('shows a schema before and after, and the digest of a long one', async () => {
    const path = `${api}/extension-points/${world.extensionPointId}`;
    const { token } = world.owner;
    const exports = (count: number) => Array.from({ length: count }, (_, at) => `evaluate_the_number_${at}`);
    await ok(service, 'PUT', path, { token, json: { schema: { exports: exports(2) }, requiresApproval: false } });
    await ok(service, 'PUT', path, { token, json: { schema: { exports: exports(500) } } });
    const { objects } = await trail(world.owner, world.appId, `?target=${world.extensionPointId}&limit=2`);
    const [long, short] = objects.map(({ details }) => details as { schema: { after: Record<string, unknown> } });
    assert.deepEqual(Object.keys(short ?? {}), ['schema'], 'unchanged fields are absent');
    assert.deepEqual(Object.keys(short?.schema.after.exports ?? {}), exports(2));
    assert.match(String(long?.schema.after.sha256), /^[0-9a-f]{64}$/);
    await ok(service, 'PUT', path, { token, json: { schema: { exports: ['evaluate'] } } });
  });

  it('has no entry for a rejected request or a publish of the current bytes', async () => {
    const { guest, extensionPointId, owner, appId, admin } = world;
    const before = await trail(owner, appId, '?limit=1');
    await publishAs(service, guest, extensionPointId, 'median', tinyModule(1));
    assertProblem(
      await service.call('PUT', `${api}/apps/${appId}`, { token: guest.token, json: { name: 'x' } }),
      403,
      'forbidden',
    );
    const own = `${api}/apps/${appId}/members/${owner.id}`;
    assertProblem(await service.call('DELETE', own, { token: owner.token }), 409, 'conflict');
    assertProblem(await service.call('DELETE', own, { token: admin.token }), 403, 'forbidden');
    assert.deepEqual(await trail(owner, appId, '?limit=1'), before);
  });

  it('has an entry for current bytes that are published under another guest', async () => {
    const { owner, appId, guest, extensionPointId } = world;
    const guestId = await makeGuest(service, owner, appId, 'customers/umbrella', guest);
    await publishAs(service, guest, extensionPointId, 'median', tinyModule(1));
    const { objects } = await trail(owner, appId, '?limit=1');
    assert.equal(objects[0]?.action, 'plugin.publish');
    assert.equal(objects[0]?.details.isNew, false);
    assert.ok(Object.keys(objects[0]?.guestKeys ?? {}).includes(guestId));
  });

  it('has pages, even while it grows', async () => {
    const appId = await makeApp(service, world.owner);
    const rename = (name: string) =>
      ok(service, 'PUT', `${api}/apps/${appId}`, { token: world.owner.token, json: { name } });
    for (const name of ['b', 'c', 'd', 'e']) await rename(name);
    const names: unknown[] = [];
    for (let query = '?limit=2'; ; ) {
      const { objects, nextCursor } = await trail(world.owner, appId, query);
      names.push(...objects.map(({ target }) => target.name));
      await rename('later');
      if (nextCursor === undefined) break;
      query = `?limit=2&cursor=${encodeURIComponent(nextCursor)}`;
    }
    assert.deepEqual(names, ['e', 'd', 'c', 'b', 'Acme']);
  });

  it('has filters by action, user, target and time', async () => {
    const { owner, admin, viewer, appId } = world;
    const found = async (query: string) => actionsOf((await trail(owner, appId, query)).objects);
    assert.deepEqual(new Set(await found('?action=member.put')), new Set(['member.put']));
    assert.deepEqual(await found(`?target=${viewer.id}&action=member.put`), ['member.put', 'member.put']);
    assert.deepEqual(await found(`?user=${admin.id}`), ['invitation.accept']);
    assert.deepEqual(await found(`?user=${owner.id}&action=app.create`), ['app.create']);
    const inAnHour = new Date(service.services.deps.clock() + 3_600_000).toISOString();
    assert.deepEqual(await found(`?from=${inAnHour}`), []);
    assert.ok((await found(`?to=${inAnHour}`)).length > 3);
    for (const query of ['?action=nonsense', '?from=yesterday', '?user=me', '?cursor=x', '?limit=0', '?format=xml']) {
      assertProblem(
        await service.call('GET', `${api}/apps/${appId}/audit${query}`, { token: owner.token }),
        400,
        'invalid_request',
      );
    }
  });

  it('has a default page of 100 entries', async () => {
    const appId = newId('app');
    await service.store.write(async (tx) => {
      await tx.insertApp({ id: appId, name: 'Large', requiresPasskey: false, createdAtMs: 1, updatedAtMs: 1 });
      await tx.putMember({ appId, userId: world.owner.id, role: 'owner', createdAtMs: 1 });
      for (let at = 0; at < 130; at++) await tx.insertAuditEvent(auditEvent({ appId }));
    });
    const first = await trail(world.owner, appId);
    assert.equal(first.objects.length, 100);
    const second = await trail(world.owner, appId, `?cursor=${first.nextCursor}`);
    assert.equal(second.objects.length, 30);
    assert.equal(second.nextCursor, undefined);
  });
});

describe("an application's trail as a file", () => {
  const exported = async (format: string, appId = world.appId, query = '') =>
    service.call('GET', `${api}/apps/${appId}/audit?format=${format}${query}`, { token: world.owner.token });

  it('has one entry per line, in the format of the list', async () => {
    const { payload, headers } = await exported('ndjson');
    assert.equal(headers['content-type'], 'application/x-ndjson');
    assert.equal(headers['content-disposition'], `attachment; filename="audit-${world.appId}.ndjson"`);
    assert.ok(payload.endsWith('\n'));
    const lines = payload.trimEnd().split('\n');
    const { objects } = await trail(world.owner, world.appId, '?limit=1000');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      objects,
    );
  });

  it('escapes formulas in CSV', async () => {
    const appId = await makeApp(service, world.owner);
    const json = { name: '=HYPERLINK("http://evil.example","x")' };
    await ok(service, 'PUT', `${api}/apps/${appId}`, { token: world.owner.token, json });
    const { payload, headers } = await exported('csv', appId);
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present');
    assert.equal(headers['content-disposition'], `attachment; filename="audit-${appId}.csv"`);
    const [heading, first, second, end] = payload.split('\r\n');
    assert.equal(
      heading,
      'at,action,by,user_id,user_name,via_id,via_name,target_kind,target_id,target_name,guest_keys,details,id',
    );
    assert.ok(first?.includes(`,app,${appId},"'=HYPERLINK(""http://evil.example"",""x"")",`));
    assert.ok(second?.includes(',app.create,user,'));
    assert.equal(end, '');
  });

  it('applies the filters, and has all entries without pages', async () => {
    const { payload } = await exported('ndjson', world.appId, '&action=member.put');
    assert.equal(payload.trimEnd().split('\n').length, 2);
    assertProblem(await exported('ndjson', world.appId, '&limit=1'), 400, 'invalid_request');
    const none = await exported('csv', world.appId, '&to=2020-01-01T00:00:00Z');
    assert.equal(none.payload.split('\r\n').length, 2, 'the heading alone');
    const path = `${api}/apps/${world.appId}/audit?format=csv`;
    const head = await service.call('HEAD', path, { token: world.owner.token });
    assert.deepEqual([head.statusCode, head.payload], [200, '']);
    assert.equal(head.headers['content-disposition'], none.headers['content-disposition']);
  });

  it('is streamed with backpressure', async () => {
    const appId = newId('app');
    const count = 5000;
    await service.store.write(async (tx) => {
      await tx.insertApp({ id: appId, name: 'Large', requiresPasskey: false, createdAtMs: 1, updatedAtMs: 1 });
      await tx.putMember({ appId, userId: world.owner.id, role: 'owner', createdAtMs: 1 });
      const details = { name: 'n'.repeat(8000) };
      for (let at = 0; at < count; at++) await tx.insertAuditEvent(auditEvent({ appId, details }));
    });
    const base = await service.listen();
    const { read } = service.store;
    const original = read.auditOfApp.bind(read);
    let batches = 0;
    const counting: typeof original = (...args) => {
      batches++;
      return original(...args);
    };
    Object.assign(read, { auditOfApp: counting });
    try {
      const response = await fetch(`${base}${api}/apps/${appId}/audit?format=ndjson`, {
        headers: { authorization: `Bearer ${world.owner.token}` },
      });
      assert.ok(response.body);
      let [bytes, lines] = [0, 0];
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        if (bytes === 0) {
          await new Promise((resolve) => setTimeout(resolve, 200));
          assert.ok(batches < count / 500, `${batches} batches were read for a client that takes nothing`);
        }
        bytes += chunk.length;
        lines += chunk.filter((byte) => byte === 10).length;
      }
      assert.equal(lines, count);
      assert.ok(bytes > count * 8000);
    } finally {
      Object.assign(read, { auditOfApp: original });
    }
  });
});

describe("an account's own trail", () => {
  it('has sign-ins with their address, tokens, keys, and changes in applications', async () => {
    const person = await signUpPerson(service, { name: 'Ada' });
    const token = await person.jar.token();
    await ok(service, 'POST', `${api}/apps`, { token, json: { name: 'Own' } });
    await ok(service, 'POST', `${api}/tokens`, { token, json: { name: 'CI' } });
    const entries = await ownTrail({ token });
    assert.deepEqual(actionsOf(entries).sort(), ['account.create', 'app.create', 'session.start', 'token.create']);
    const byAction = new Map(entries.map((entry) => [entry.action, entry]));
    assert.equal(byAction.get('session.start')?.address, '127.0.0.1');
    assert.equal(byAction.get('token.create')?.address, null);
    assert.match(byAction.get('token.create')?.via?.id ?? '', /^ses_/);
    assert.equal(byAction.get('token.create')?.target.name, 'CI');
    assert.match(byAction.get('app.create')?.appId ?? '', /^app_/);
    assert.deepEqual(actionsOf(await ownTrail({ token }, '?action=token.create')), ['token.create']);
  });

  it('never has a guest key', async () => {
    const { owner, admin, guest, otherGuest, appId } = world;
    const key = 'a-key-that-no-guest-reads';
    await makeGuest(service, owner, appId, key, guest);
    await publishAs(service, guest, world.extensionPointId, 'secretive', tinyModule(3));
    await invite(service, admin, appId, key);
    assert.ok(JSON.stringify(await trail(owner, appId)).includes(key), 'owners see it');
    for (const user of [owner, admin, guest, otherGuest]) {
      const payload = JSON.stringify(await ownTrail(user, '?limit=1000'));
      for (const known of [key, world.guestKey, 'customers/initech']) assert.ok(!payload.includes(known), known);
    }
    const published = (await ownTrail(guest, '?action=plugin.publish')).at(0);
    assert.equal(published?.target.name, 'secretive');
    assert.ok(JSON.stringify(published?.details.guestIds).includes(world.guestId));
  });

  it("has the operator's changes of the account", async () => {
    const { id, token } = await service.user('Made');
    const [made, account] = await ownTrail({ token });
    assert.deepEqual(actionsOf([made, account].filter((entry) => entry !== undefined)), [
      'token.create',
      'account.create',
    ]);
    assert.deepEqual([account?.by, account?.user, account?.via], ['operator', null, null]);
    assert.deepEqual(account?.target, { kind: 'user', id, name: 'Made' });
  });
});

describe('audit trails after a deletion', () => {
  it('keep the deletion of an application for the actor, without guest keys', async () => {
    const user = await service.user('Owner');
    const appId = await makeApp(service, user);
    await invite(service, user, appId, 'a-key-of-a-deleted-application');
    await ok(service, 'DELETE', `${api}/apps/${appId}`, { token: user.token });
    assertProblem(await service.call('GET', `${api}/apps/${appId}/audit`, { token: user.token }), 404, 'not_found');
    const [entry] = await ownTrail(user);
    assert.deepEqual([entry?.action, entry?.appId, entry?.target.name], ['app.delete', appId, 'Acme']);
    const all = await service.store.read.auditOfAll({}, { limit: 1000 });
    const ofApp = all.filter((event) => event.appId === appId);
    assert.ok(ofApp.length >= 3);
    for (const { guestKeys } of ofApp) assert.equal(guestKeys, null);
  });

  it('keep the changes of a deleted user, without the name', async () => {
    const { owner, appId } = world;
    const user = await service.user('Short-lived');
    await makeMember(service, owner, appId, 'admin', user);
    await ok(service, 'PUT', `${api}/apps/${appId}`, { token: user.token, json: { name: 'Renamed' } });
    await ok(service, 'POST', `${api}/me/deletion`, { token: user.token, json: {} });
    const { objects } = await trail(owner, appId, `?user=${user.id}`);
    assert.deepEqual(actionsOf(objects), ['account.delete', 'app.update', 'invitation.accept']);
    for (const entry of objects) assert.equal(entry.user?.name, 'Deleted user');
    assert.ok(!JSON.stringify((await trail(owner, appId, '?limit=1000')).objects).includes('Short-lived'));
  });
});

describe('purgeExpiredAuditEvents()', () => {
  it('deletes all events that are older than the retention time', async (t) => {
    const service = await openService();
    t.after(() => service.close());
    const appId = newId('app');
    const nowMs = service.services.deps.clock();
    const day = 24 * 3_600_000;
    await service.store.write(async (tx) => {
      for (let at = 0; at < 2500; at++) await tx.insertAuditEvent(auditEvent({ appId, atMs: nowMs - 91 * day }));
      await tx.insertAuditEvent(auditEvent({ appId, atMs: nowMs - 89 * day }));
    });
    const left = () => service.store.read.auditOfApp(appId as never, {}, { limit: 10_000 });
    assert.ok((await purgeExpiredAuditEvents(service.services.deps, 90 * day)) >= 2500);
    assert.equal((await left()).length, 1);
    assert.equal(await purgeExpiredAuditEvents(service.services.deps, 90 * day), 0);
  });
});
