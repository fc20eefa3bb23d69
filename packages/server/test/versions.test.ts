import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Plugin, PublishedPlugin, Version, VersionDiff } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { formOf, type List, makeGuest, ok, tinyModule } from './helpers/world.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

/** A workshop whose plugin has that many versions, each of bytes of its own. */
async function withVersions(count: number): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  for (let number = 1; number <= count; number++) await workshop.publish(number);
  return workshop;
}

const why = { reason: 'It divides by zero.' };

describe('publishing a version', () => {
  it('stores the semantic version and the note, from the query or a form', async () => {
    const workshop = await openWorkshop(service);
    const asked = await workshop.publish(1, `?semver=1.0.0-rc.1%2Bb5&note=${encodeURIComponent('First “try” 🔧')}`);
    const { semver, note, state, stateReason } = asked.version;
    assert.deepEqual(
      { semver, note, state, stateReason },
      { semver: '1.0.0-rc.1+b5', note: 'First “try” 🔧', state: 'published', stateReason: null },
    );
    const form = formOf([
      { name: 'note', content: 'From a form' },
      { name: 'artifact', content: tinyModule(2), extra: '; filename="x.wasm"' },
      { name: 'semver', content: '1.0.0' },
    ]);
    const send = (query: string) =>
      service.call('PUT', workshop.path() + query, { token: workshop.publisher.token, ...form });
    const sent = (await send('')).json<PublishedPlugin>();
    assert.deepEqual([sent.version.semver, sent.version.note], ['1.0.0', 'From a form']);
    const again = (await send('?semver=9.9.9')).json<PublishedPlugin>();
    assert.equal(again.isNewVersion, false);
    assert.equal(again.version.semver, '1.0.0', 'bytes that are current change nothing, names included');
    const [second, first] = await workshop.versions();
    assert.deepEqual([first?.semver, second?.semver], ['1.0.0-rc.1+b5', '1.0.0']);
  });

  it('rejects invalid semantic versions, and blank or too long notes, in the query and in the body', async () => {
    const workshop = await openWorkshop(service);
    for (const semver of [
      '1',
      '1.2',
      'v1.2.3',
      '01.2.3',
      '1.2.3-',
      '1.2.3-01',
      `1.2.${'3'.repeat(100)}`,
      '1.2.3 ',
      '',
    ]) {
      const found = assertProblem(
        await workshop.tryPublish(1, `?semver=${encodeURIComponent(semver)}`),
        422,
        'invalid_field',
      );
      assert.deepEqual(
        found.errors?.map(({ pointer }) => pointer),
        ['/semver'],
        semver,
      );
    }
    for (const note of ['', ' ', 'x'.repeat(501)]) {
      const found = assertProblem(await workshop.tryPublish(1, `?note=${note}`), 422, 'invalid_field');
      assert.deepEqual(
        found.errors?.map(({ pointer }) => pointer),
        ['/note'],
      );
    }
    for (const field of [
      { name: 'semver', content: 'one' },
      { name: 'note', content: 'x'.repeat(501) },
      { name: 'note', content: Buffer.from([0xff]) },
    ]) {
      const form = formOf([{ name: 'artifact', content: tinyModule(1) }, field]);
      const response = await service.call('PUT', workshop.path(), { token: workshop.publisher.token, ...form });
      assert.deepEqual(
        assertProblem(response, 422, 'invalid_field').errors?.map(({ pointer }) => pointer),
        [`/${field.name}`],
      );
    }
    assertProblem(await workshop.call('GET', ''), 404, 'not_found');
  });

  it('changes nothing for the current bytes, and creates a version for earlier bytes', async () => {
    const workshop = await withVersions(2);
    assert.equal((await workshop.publish(2)).isNewVersion, false);
    const old = await workshop.publish(1);
    assert.deepEqual([old.isNewVersion, old.version.number], [true, 3]);
    await workshop.call('POST', '/versions/3/yank', why, workshop.publisher);
    const republished = await workshop.publish(1);
    assert.deepEqual(
      [republished.isNewVersion, republished.version.number],
      [true, 4],
      'what was yanked is not current',
    );
    assert.equal(await workshop.bound(), 4);
  });

  it('adds a guest to the current version', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1, `?guest=${workshop.first}`);
    assert.deepEqual(await workshop.list('second'), {});
    const again = await workshop.publish(1);
    assert.equal(again.isNewVersion, false);
    assert.deepEqual(again.guestIds, [workshop.first, workshop.second].sort());
    const [version] = await workshop.versions();
    assert.deepEqual(version?.guestIds, again.guestIds);
    assert.deepEqual(version?.boundGuestIds, again.guestIds);
  });
});

describe('GET …/versions', () => {
  it('returns all versions, the newest first, in pages', async () => {
    const workshop = await withVersions(3);
    await workshop.call('POST', '/versions/2/yank', why);
    const versions = await workshop.versions();
    const reported = versions.map(({ number, state, stateReason, decidedBy }) => [
      number,
      state,
      stateReason,
      decidedBy,
    ]);
    assert.deepEqual(reported, [
      [3, 'published', null, null],
      [2, 'yanked', why.reason, 'host'],
      [1, 'published', null, null],
    ]);
    for (const [at, version] of versions.entries()) {
      const bytes = tinyModule(version.number);
      assert.equal(version.contentAddress, createHash('sha256').update(bytes).digest('base64url'));
      assert.equal(version.size, bytes.length);
      assert.deepEqual(version.boundGuestIds.length, at === 0 ? 2 : 0);
      assert.match(version.id, /^ver_/);
      const one = await workshop.call('GET', `/versions/${version.number}`);
      assert.deepEqual(one.json<Version>(), version);
    }
    const page = (await workshop.call('GET', '/versions?limit=2')).json<List<Version>>();
    assert.deepEqual(page, { objects: versions.slice(0, 2), nextCursor: '2' });
    const rest = await workshop.call('GET', `/versions?limit=2&cursor=${page.nextCursor}`);
    assert.deepEqual(rest.json<List<Version>>(), { objects: versions.slice(2), previousCursor: '<1' });
    const back = await workshop.call('GET', '/versions?limit=2&cursor=%3C1');
    assert.deepEqual(back.json<List<Version>>(), page);
  });

  it('returns 404 for an unknown number', async () => {
    const workshop = await withVersions(1);
    for (const number of ['0', '2', '-1', '01', '1.0', 'x', '9'.repeat(30), '%F0%9F%A6%8A']) {
      assertProblem(await workshop.call('GET', `/versions/${number}`), 404, 'not_found');
      assertProblem(await workshop.call('POST', `/versions/${number}/yank`, why), 404, 'not_found');
    }
  });

  it('returns the bytes of any version, like A3, but caches must revalidate them', async () => {
    const workshop = await withVersions(2);
    await workshop.call('POST', '/versions/1/yank', why);
    const { publisher } = workshop;
    for (const by of [publisher, workshop.viewer]) {
      const response = await workshop.call('GET', '/versions/1/content', undefined, by);
      assert.deepEqual(response.rawPayload, tinyModule(1));
      assert.equal(response.headers['content-type'], 'application/wasm');
      assert.equal(response.headers['cache-control'], 'private, no-cache');
      assert.match(String(response.headers['repr-digest']), /^sha-256=:/);
    }
    const ask = (headers: Record<string, string>) =>
      service.call('GET', `${workshop.path()}/versions/1/content`, { token: publisher.token, headers });
    const [version] = (await workshop.versions()).slice(1);
    const etag = `"${version?.contentAddress}"`;
    assert.equal((await ask({ 'if-none-match': etag })).statusCode, 304);
    const part = await ask({ range: 'bytes=0-3' });
    assert.equal(part.statusCode, 206);
    assert.equal(part.rawPayload.toString('latin1'), '\0asm');
  });

  it('compares a version with the newest other one that is bound, or with any other', async () => {
    const workshop = await withVersions(3);
    const diff = async (number: number, query = '') => {
      const response = await workshop.call('GET', `/versions/${number}/diff${query}`);
      assert.equal(response.statusCode, 200, response.payload);
      return response.json<VersionDiff>();
    };
    const { against, before: other, after: own, functions, sections } = await diff(2);
    assert.deepEqual([against, other?.functionCount, own.functionCount], [3, 1, 1]);
    assert.deepEqual([functions.unchanged, functions.changed.total], [1, 0]);
    assert.deepEqual(sections.items, [{ name: 'n', isCustom: true, bytesBefore: 8, bytes: 8 }]);
    assert.deepEqual([(await diff(3)).against, (await diff(3)).before], [null, null]);
    assert.equal((await diff(3, '?against=1')).against, 1);
    assert.equal((await diff(3, '?against=3')).sections.total, 0);
    for (const query of ['?against=4', '?against=2147483647']) {
      assertProblem(await workshop.call('GET', `/versions/3/diff${query}`), 404, 'not_found');
    }
    for (const query of ['?against=0', '?against=x']) {
      assertProblem(await workshop.call('GET', `/versions/3/diff${query}`), 400, 'invalid_request');
    }
  });

  it("does not show a guest another guest's plugin", async () => {
    const workshop = await withVersions(1);
    const other = await service.user();
    await makeGuest(service, workshop.owner, workshop.appId, 'other', other);
    for (const below of ['', '/versions', '/versions/1', '/versions/1/content', '/versions/1/diff']) {
      assertProblem(await workshop.call('GET', below, undefined, other), 404, 'not_found');
    }
    assertProblem(await workshop.call('POST', '/versions/1/yank', why, other), 404, 'not_found');
    assertProblem(await workshop.call('POST', '/rollback', { version: 1 }, other), 404, 'not_found');
    assertProblem(await workshop.call('DELETE', '', undefined, other), 404, 'not_found');
  });

  it('never shows a guest a guest key, whatever the host decides', async () => {
    const workshop = await withVersions(2);
    const pin = `/api/v1/extension-points/${workshop.extensionPointId}/guests/${workshop.first}/pins/median`;
    await ok(service, 'PUT', pin, { token: workshop.owner.token, json: { version: 1 } });
    await workshop.call('PUT', '/block', why);
    for (const below of ['', '/versions', '/versions/1']) {
      const { payload } = await workshop.call('GET', below, undefined, workshop.publisher);
      assert.doesNotMatch(payload, /"first"|"second"|guestKey/);
    }
  });
});

describe('POST …/yank and …/restore', () => {
  it("remove a version's bindings, and restore them", async () => {
    const workshop = await withVersions(3);
    const { publisher } = workshop;
    const yanked = await workshop.call('POST', '/versions/3/yank', why, publisher);
    assert.equal(yanked.statusCode, 200);
    const { state, stateReason, decidedBy, boundGuestIds } = yanked.json<Version>();
    assert.deepEqual([state, stateReason, decidedBy, boundGuestIds], ['yanked', why.reason, 'publisher', []]);
    assert.equal(await workshop.bound(), 2);
    const { status } = await workshop.plugin(publisher);
    assert.equal(status.state, 'yanked');
    assert.equal(status.reason, why.reason);
    assert.match(status.detail, /Version 3 was yanked: “It divides by zero\.” Version 2 is active for all 2 guests\./);

    const restored = await workshop.call('POST', '/versions/3/restore', undefined, publisher);
    assert.equal(restored.json<Version>().state, 'published');
    assert.equal(restored.json<Version>().stateReason, null);
    assert.equal(await workshop.bound(), 3);
  });

  it('let only the host restore what it yanked, also when the bytes are published again', async () => {
    const workshop = await withVersions(3);
    await workshop.call('POST', '/versions/1/yank', why);
    const { detail } = assertProblem(await workshop.tryPublish(1), 409, 'conflict');
    assert.match(detail, /yanked these bytes, .*"median".* Their reason: It divides by zero\./);
    assert.deepEqual([await workshop.bound(), (await workshop.versions()).length], [3, 3]);

    await workshop.call('POST', '/versions/1/restore');
    const republished = await workshop.publish(1);
    assert.deepEqual([republished.isNewVersion, republished.version.number], [true, 4]);
    await workshop.call('POST', '/versions/1/yank', why);
    assert.equal(
      (await workshop.versions()).find(({ number }) => number === 4)?.state,
      'yanked',
      'with the same bytes',
    );
    assertProblem(await workshop.tryPublish(1), 409, 'conflict');
    await workshop.call('POST', '/versions/2/yank', why, workshop.publisher);
    assert.equal(
      (await workshop.publish(2)).version.number,
      5,
      'and what the publisher yanked, the publisher publishes',
    );
  });

  it("let only the host restore its own yanks, and both restore the publisher's", async () => {
    const workshop = await withVersions(2);
    const { publisher } = workshop;
    await workshop.call('POST', '/versions/2/yank', why);
    assert.match(
      assertProblem(await workshop.call('POST', '/versions/2/restore', undefined, publisher), 403, 'forbidden').detail,
      /the application's team, which yanked it/,
    );
    assert.equal((await workshop.call('POST', '/versions/2/restore')).statusCode, 200);
    await workshop.call('POST', '/versions/2/yank', why, publisher);
    assert.equal((await workshop.call('POST', '/versions/2/restore')).statusCode, 200);
  });

  it('reject versions in other states', async () => {
    const workshop = await withVersions(1);
    const attempt = (action: string, json?: unknown) => workshop.call('POST', `/versions/1/${action}`, json);
    assert.match(
      assertProblem(await attempt('restore'), 409, 'conflict').detail,
      /is published, and can't be restored/,
    );
    assertProblem(await attempt('approve'), 409, 'conflict');
    assertProblem(await attempt('reject', why), 409, 'conflict');
    await attempt('yank', why);
    assertProblem(await attempt('yank', why), 409, 'conflict');
  });

  it('require a reason of a limited length', async () => {
    const workshop = await withVersions(1);
    for (const json of [{}, { reason: '' }, { reason: '  ' }, { reason: 'x'.repeat(501) }, { reason: 7 }]) {
      const found = assertProblem(await workshop.call('POST', '/versions/1/yank', json), 422, 'invalid_field');
      assert.equal(found.errors?.[0]?.pointer, '/reason');
    }
    assert.equal(await workshop.bound(), 1);
  });

  it('require the scope publish for a guest, and manage for the team', async () => {
    const workshop = await withVersions(1);
    const { publisher, owner } = workshop;
    const tokenWith = async (user: TestUser, scopes: ('read' | 'publish' | 'manage')[]) => ({
      ...user,
      token: await service.token(user.id, { scopes }),
    });
    const yank = (by: TestUser) => workshop.call('POST', '/versions/1/yank', why, by);
    for (const by of [await tokenWith(publisher, ['read', 'manage']), await tokenWith(owner, ['read', 'publish'])]) {
      assertProblem(await yank(by), 403, 'insufficient_scope');
    }
    assertProblem(await yank(workshop.viewer), 403, 'forbidden');
    assert.equal((await yank(await tokenWith(publisher, ['publish']))).statusCode, 200);
    const restore = await workshop.call('POST', '/versions/1/restore', undefined, await tokenWith(owner, ['manage']));
    assert.equal(restore.statusCode, 200);
  });

  it('keep the content for hosts with an older list', async () => {
    const workshop = await withVersions(1);
    const { contentAddress } = await workshop.plugin();
    await workshop.call('POST', '/versions/1/yank', why);
    assert.deepEqual(await workshop.list(), {});
    for (const { token } of [workshop.owner, workshop.viewer, workshop.publisher]) {
      assert.deepEqual((await service.call('GET', `/api/v1/c/${contentAddress}`, { token })).rawPayload, tinyModule(1));
    }
  });
});

describe('POST …/rollback', () => {
  it('binds an older version until the next publish', async () => {
    const workshop = await withVersions(3);
    const back = await workshop.call('POST', '/rollback', { version: 1 }, workshop.publisher);
    assert.equal(back.statusCode, 200);
    const { status, version } = back.json<Plugin>();
    assert.equal(version.number, 3, 'the newest is the newest still');
    assert.deepEqual(
      status.bindings.map((one) => [one.version, one.rolledBackTo]),
      [
        [1, 1],
        [1, 1],
      ],
    );
    const further = await workshop.publish(4);
    assert.deepEqual(
      further.status.bindings.map((one) => [one.version, one.rolledBackTo]),
      [
        [4, null],
        [4, null],
      ],
    );
  });

  it('to the newest ends a roll back, and so does publishing the newest bytes again', async () => {
    const workshop = await withVersions(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.call('POST', '/rollback', { version: 2 });
    assert.equal((await workshop.plugin()).status.bindings[0]?.rolledBackTo, null);
    assert.equal(await workshop.bound(), 2);
    await workshop.call('POST', '/rollback', { version: 1 });
    const published = await workshop.publish(2);
    assert.deepEqual([published.isNewVersion, published.version.number], [true, 3]);
    assert.equal(await workshop.bound(), 3);
  });

  it('ends with a publish, only for the guests of that publish', async () => {
    const workshop = await withVersions(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.publish(3, `?guest=${workshop.second}`);
    const { bindings } = (await workshop.plugin()).status;
    const boundTo = (guestId: string) => bindings.find((one) => one.guestId === guestId)?.version;
    assert.equal(boundTo(workshop.first), 1, 'not back to what was rolled back from');
    assert.equal(boundTo(workshop.second), 3);
  });

  it('continues when a version is restored, and binds the newest when its own version is yanked', async () => {
    const workshop = await withVersions(3);
    await workshop.call('POST', '/versions/3/yank', why);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.call('POST', '/versions/3/restore');
    assert.equal(await workshop.bound(), 1);
    await workshop.call('POST', '/versions/1/yank', why);
    assert.equal(await workshop.bound(), 3);
    await workshop.call('POST', '/versions/1/restore');
    assert.equal(await workshop.bound(), 3, 'a roll back that has ended does not come back');
  });

  it('binds only under the guests under which the version was published', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1, `?guest=${workshop.first}`);
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    const [one, two] = [await workshop.list('first'), await workshop.list('second')];
    assert.notEqual(one.median?.contentAddress, two.median?.contentAddress);
  });

  it('rejects unpublished and unknown versions, and those that it could bind under no guest', async () => {
    const workshop = await withVersions(2);
    await workshop.call('POST', '/versions/1/yank', why);
    assertProblem(await workshop.call('POST', '/rollback', { version: 1 }), 409, 'conflict');
    const found = assertProblem(await workshop.call('POST', '/rollback', { version: 3 }), 422, 'invalid_field');
    assert.equal(found.errors?.[0]?.pointer, '/version');
    for (const version of [0, -1, 1.5, '1', null]) {
      assertProblem(await workshop.call('POST', '/rollback', { version }), 422, 'invalid_field');
    }
    const guests = `/api/v1/apps/${workshop.appId}/guests`;
    for (const id of [workshop.first, workshop.second]) {
      await ok(service, 'DELETE', `${guests}/${id}`, { token: workshop.owner.token });
    }
    assertProblem(await workshop.call('POST', '/rollback', { version: 2 }), 409, 'conflict');
  });
});

describe('DELETE /api/v1/artifacts/…', () => {
  it('deletes the plugin, its versions, bindings and content, and reserves the name for its publisher', async () => {
    const workshop = await withVersions(2);
    const addresses = (await workshop.versions()).map(({ contentAddress }) => contentAddress);
    assert.equal((await workshop.call('DELETE', '', undefined, workshop.publisher)).statusCode, 204);
    assert.deepEqual(await workshop.list(), {});
    for (const below of ['', '/versions', '/versions/1']) {
      assertProblem(await workshop.call('GET', below), 404, 'not_found');
    }
    for (const address of addresses) {
      for (const { token } of [workshop.owner, workshop.publisher]) {
        assertProblem(await service.call('GET', `/api/v1/c/${address}`, { token }), 404, 'not_found');
      }
    }
    assertProblem(await workshop.call('DELETE', ''), 404, 'not_found');
    const colleague = await service.user();
    await makeGuest(service, workshop.owner, workshop.appId, 'first', colleague);
    const path = workshop.path().replace(workshop.publisher.id, colleague.id);
    const headers = { 'content-type': 'application/wasm' };
    const republished = await service.call('PUT', path, { token: colleague.token, body: tinyModule(9), headers });
    assertProblem(republished, 409, 'plugin_name_taken');
    assert.equal((await workshop.publish(9)).version.number, 1);
  });

  it('keeps content that another plugin has too', async () => {
    const workshop = await withVersions(1);
    const { contentAddress } = await workshop.plugin();
    const headers = { 'content-type': 'application/wasm' };
    const { token } = workshop.publisher;
    await ok(service, 'PUT', workshop.path('other'), { token, body: tinyModule(1), headers });
    await workshop.call('DELETE', '');
    assert.equal((await service.call('GET', `/api/v1/c/${contentAddress}`, { token })).statusCode, 200);
  });
});

describe('several at once', () => {
  it('publish: every version has a different number, and the newest is bound', async () => {
    const workshop = await openWorkshop(service);
    const published = await Promise.all([1, 2, 3, 4, 5].map((number) => workshop.publish(number)));
    const numbers = published.map(({ version }) => version.number);
    assert.deepEqual([...numbers].sort(), [1, 2, 3, 4, 5]);
    const newest = published.find(({ version }) => version.number === 5);
    const list = await workshop.list();
    assert.equal(list.median?.contentAddress, newest?.contentAddress);
    assert.equal((await workshop.list('second')).median?.contentAddress, newest?.contentAddress);
  });

  it('yank a version and roll back to it: it is never bound in the end', async () => {
    const workshop = await withVersions(3);
    for (let round = 0; round < 5; round++) {
      const [yank, back] = await Promise.all([
        workshop.call('POST', '/versions/1/yank', why),
        workshop.call('POST', '/rollback', { version: 1 }, workshop.publisher),
      ]);
      assert.equal(yank.statusCode, 200);
      assert.ok([200, 409].includes(back.statusCode), `${back.statusCode}`);
      assert.equal(await workshop.bound(), 3);
      await workshop.call('POST', '/versions/1/restore');
    }
  });

  it('block and publish: whichever comes first, nothing is bound', async () => {
    for (let round = 0; round < 3; round++) {
      const workshop = await withVersions(1);
      const [block, published] = await Promise.all([workshop.call('PUT', '/block', why), workshop.tryPublish(2)]);
      assert.equal(block.statusCode, 200);
      assert.ok([200, 403].includes(published.statusCode));
      assert.deepEqual(await workshop.list(), {});
    }
  });

  it('approve and reject: one of them succeeds', async () => {
    const workshop = await openWorkshop(service);
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(1);
    const responses = await Promise.all([
      workshop.call('POST', '/versions/1/approve'),
      workshop.call('POST', '/versions/1/reject', why),
    ]);
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 409]);
    const isApproved = responses[0]?.statusCode === 200;
    assert.equal(await workshop.bound(), isApproved ? 1 : null);
  });
});
