import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MassYank, PublishedVersion, Version } from '@tenon/protocol';
import { yankPublished } from '../src/plugins/mass-yank.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { freshModule, type List, makeGuest, ok, publishAs, tinyModule } from './helpers/world.ts';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

const why = { reason: 'The token was stolen.' };

const own = '/api/v1/me/published-versions';
const ofApp = ({ appId }: Workshop) => `/api/v1/apps/${appId}/published-versions`;

function yank(path: string, { token }: TestUser, json: object, query = '') {
  return service.call('POST', `${path}/yank${query}`, { token, json: { ...why, ...json } });
}

async function published(path: string, { token }: TestUser, query = ''): Promise<PublishedVersion[]> {
  return (await ok<List<PublishedVersion>>(service, 'GET', `${path}${query}`, { token })).objects;
}

/** The id of a user's token. */
async function idOf({ token }: Pick<TestUser, 'token'>): Promise<string> {
  return (await service.call('GET', '/api/v1/me', { token })).json().token.id;
}

/** A publisher whose second token published versions 2 and 3 of `median`, and the plugin `extra`. */
async function withStolenToken() {
  const workshop = await openWorkshop(service);
  await workshop.publish(1);
  const stolen = { id: workshop.publisher.id, token: await service.token(workshop.publisher.id) };
  const at = workshop.extensionPointId;
  await publishAs(service, stolen, at, 'median', tinyModule(2));
  await publishAs(service, stolen, at, 'median', tinyModule(3));
  await publishAs(service, stolen, at, 'extra', freshModule());
  return { ...workshop, stolen, credentialId: await idOf(stolen) };
}

describe('a mass yank', () => {
  it('withdraws what a credential published, and revokes it, after a dry run that says the same', async () => {
    const place = await withStolenToken();
    const { owner, credentialId } = place;
    const found = await published(ofApp(place), owner, `?credentialId=${credentialId}`);
    assert.deepEqual(
      found.map(({ name, version }) => `${name}@${version.number}`),
      ['median@2', 'median@3', 'extra@1'],
    );
    const before = JSON.stringify(await place.list());
    const tried = (await yank(ofApp(place), owner, { credentialId }, '?dryRun=true')).json<MassYank>();
    assert.equal(JSON.stringify(await place.list()), before);
    assert.equal((await service.call('GET', '/api/v1/me', { token: place.stolen.token })).statusCode, 200);

    const done = (await yank(ofApp(place), owner, { credentialId })).json<MassYank>();
    assert.deepEqual({ ...tried, isDryRun: false }, done);
    assert.deepEqual([done.versionCount, done.pluginCount, done.appCount], [3, 2, 1]);
    assert.deepEqual(done.revoked, [credentialId]);
    assert.equal((await service.call('GET', '/api/v1/me', { token: place.stolen.token })).statusCode, 401);
    assert.equal(await place.bound(), 1);
    assert.deepEqual(Object.keys(await place.list()), ['median']);
    const restore = await place.call('POST', '/versions/3/restore', undefined, place.publisher);
    assertProblem(restore, 403, 'forbidden');

    const again = (await yank(ofApp(place), owner, { credentialId })).json<MassYank>();
    assert.deepEqual([again.versionCount, again.revoked], [0, []]);
  });

  it('ends the roll backs to what it yanks', async () => {
    const place = await withStolenToken();
    await place.publish(4);
    assert.equal((await place.call('POST', '/rollback', { version: 3 }, place.publisher)).statusCode, 200);
    assert.equal(await place.bound(), 3);
    await yank(ofApp(place), place.owner, { credentialId: place.credentialId });
    assert.equal(await place.bound(), 4);
    assert.equal((await place.call('POST', '/versions/3/restore')).statusCode, 200);
    assert.equal(await place.bound(), 4);
  });

  it('selects by time and publisher, also what has no credential', async () => {
    const place = await withStolenToken();
    const [first, second] = await published(ofApp(place), place.owner, `?userId=${place.publisher.id}`);
    assert.equal(first?.version.number, 1);
    const since = new Date(Date.parse(second?.version.createdAt ?? '') + 60_000).toISOString();
    assert.equal((await yank(ofApp(place), place.owner, { userId: place.publisher.id, since })).json().versionCount, 0);
    const done = (await yank(ofApp(place), place.owner, { userId: place.publisher.id })).json<MassYank>();
    assert.deepEqual([done.versionCount, done.revoked], [4, []]);
    assert.deepEqual(await place.list(), {});
  });

  it('rejects what hosts would get only by a decision', async () => {
    const place = await withStolenToken();
    await place.settings({ requiresApproval: true });
    await publishAs(service, place.stolen, place.extensionPointId, 'median', tinyModule(4));
    await place.settings({ requiresApproval: false, minVersionAgeSeconds: 60 });
    await publishAs(service, place.stolen, place.extensionPointId, 'median', tinyModule(5));
    await yank(ofApp(place), place.owner, { credentialId: place.credentialId });
    const states = (await place.versions()).map(({ number, state }: Version) => `${number} ${state}`);
    assert.deepEqual(states, ['5 yanked', '4 rejected', '3 yanked', '2 yanked', '1 published']);
  });

  it('withdraws copies of the bytes for the team, and not for the publisher', async () => {
    for (const isTeam of [true, false]) {
      const place = await withStolenToken();
      await publishAs(service, place.publisher, place.extensionPointId, 'copy', tinyModule(3));
      const path = isTeam ? ofApp(place) : own;
      const by = isTeam ? place.owner : place.publisher;
      const done = (await yank(path, by, { credentialId: place.credentialId })).json<MassYank>();
      assert.equal(done.versionCount, isTeam ? 4 : 3);
      assert.equal('copy' in (await place.list()), !isTeam);
    }
  });

  it('lets publishers withdraw their own in all applications, and restore it', async () => {
    const place = await withStolenToken();
    const other = await openWorkshop(service);
    await makeGuest(service, other.owner, other.appId, 'third', place.publisher);
    await publishAs(service, place.stolen, other.extensionPointId, 'median', tinyModule(9));
    const done = (await yank(own, place.publisher, { credentialId: place.credentialId })).json<MassYank>();
    assert.deepEqual([done.versionCount, done.appCount, done.revoked], [4, 2, [place.credentialId]]);
    const restored = await place.call('POST', '/versions/3/restore', undefined, place.publisher);
    assert.equal(restored.json<Version>().state, 'published');
  });

  it('reaches neither other applications, nor other accounts, nor their credentials', async () => {
    const place = await withStolenToken();
    const other = await openWorkshop(service);
    const { credentialId } = place;
    const ofTeam = (await yank(ofApp(other), other.owner, { credentialId })).json<MassYank>();
    const ofAccount = (await yank(own, other.publisher, { credentialId })).json<MassYank>();
    for (const done of [ofTeam, ofAccount]) assert.deepEqual([done.versionCount, done.revoked], [0, []]);
    const ofOther = await yank(own, other.publisher, { userId: place.publisher.id });
    assert.equal(ofOther.json<MassYank>().versionCount, 0);
    assert.equal((await service.call('GET', '/api/v1/me', { token: place.stolen.token })).statusCode, 200);
    assert.equal(await place.bound(), 3);
    assert.deepEqual(await published(own, other.publisher, `?credentialId=${credentialId}`), []);
  });

  it('is possible for the operator in all applications', async () => {
    const place = await withStolenToken();
    const { deps } = service.services;
    const filter = { credentialId: place.credentialId, sinceMs: 0 };
    const request = { filter, reason: why.reason };
    const tried = await yankPublished(deps, { kind: 'operator' }, { ...request, isDryRun: true });
    const done = await yankPublished(deps, { kind: 'operator' }, request);
    assert.deepEqual(tried, done);
    assert.equal(done.versionCount, 3);
    assertProblem(await place.call('POST', '/versions/3/restore', undefined, place.publisher), 403, 'forbidden');
    assert.equal((await place.call('POST', '/versions/3/restore')).statusCode, 200);
  });

  it('refuses selections that say nothing, and malformed ones', async () => {
    const place = await withStolenToken();
    const { owner } = place;
    assertProblem(await yank(ofApp(place), owner, {}), 422, 'invalid_field');
    assertProblem(await yank(ofApp(place), owner, { credentialId: 'key_x' }), 422, 'invalid_field');
    assertProblem(await yank(ofApp(place), owner, { userId: place.credentialId }), 422, 'invalid_field');
    assertProblem(await yank(ofApp(place), owner, { userId: owner.id, since: 'soon' }), 422, 'invalid_field');
    assertProblem(await yank(ofApp(place), owner, { userId: owner.id, reason: '' }), 422, 'invalid_field');
  });
});
