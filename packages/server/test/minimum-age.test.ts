import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Version } from '@tenon/protocol';
import { maxClockGapMs } from '../src/blobs/clock-gap.ts';
import { releaseDueVersions } from '../src/plugins/release-versions.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { tinyModule } from './helpers/world.ts';

const ageMs = 10 * 60_000;
const why = { reason: 'Why not.' };

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

const release = () => releaseDueVersions(service.services.deps);

/** A plugin with a published version, at an extension point that now requires an age. */
async function withAge(settings: object = {}): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  await workshop.publish(1);
  await workshop.settings({ minVersionAgeSeconds: 600, ...settings });
  return workshop;
}

async function stateOf(workshop: Workshop, number: number): Promise<string | undefined> {
  return (await workshop.versions()).find((version) => version.number === number)?.state;
}

describe('an extension point with a minimum age', () => {
  it('gives hosts a new version when it is old enough, and the previous one until then', async () => {
    const workshop = await withAge();
    const { version, status } = await workshop.publish(2);
    assert.equal(version.state, 'cooling_down');
    assert.equal(Date.parse(version.releaseAt ?? '') - Date.parse(version.createdAt), ageMs);
    assert.match(status.detail, /^Version 2 is published automatically at 20.+Z\. Version 1 is active/);
    const before = JSON.stringify(await workshop.list());
    await release();
    service.advance(ageMs - 60_000);
    assert.equal(await release(), 0);
    assert.equal(JSON.stringify(await workshop.list()), before);
    service.advance(60_000);
    assert.equal(await release(), 1);
    assert.equal(await workshop.bound(), 2);
    assert.notEqual(JSON.stringify(await workshop.list()), before);
    assert.equal(await release(), 0);
  });

  it('also makes the first version wait, and the same bytes create no other', async () => {
    const workshop = await openWorkshop(service);
    await workshop.settings({ minVersionAgeSeconds: 60 });
    assert.equal((await workshop.publish(1)).version.state, 'cooling_down');
    assert.deepEqual(await workshop.list(), {});
    const again = await workshop.publish(1);
    assert.deepEqual([again.isNewVersion, again.version.number], [false, 1]);
    service.advance(61_000);
    await release();
    assert.equal(await workshop.bound(), 1);
  });

  it('keeps the time of versions that wait when the age changes', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    await workshop.settings({ minVersionAgeSeconds: 0 });
    assert.equal(await release(), 0);
    assert.equal((await workshop.publish(3)).version.state, 'published');
    await workshop.settings({ minVersionAgeSeconds: 1200 });
    service.advance(ageMs);
    assert.equal(await release(), 1);
    assert.equal(await workshop.bound(), 3);
  });

  it('lets the team release a version early, with a reason, and nobody else', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    const path = '/versions/2/release';
    assertProblem(await workshop.call('POST', path, why, workshop.publisher), 403, 'forbidden');
    assertProblem(await workshop.call('POST', path, why, workshop.viewer), 403, 'forbidden');
    assertProblem(await workshop.call('POST', path, { reason: ' ' }), 422, 'invalid_field');
    const tried = await workshop.call('POST', `${path}?dryRun=true`, why);
    assert.equal(tried.json().changed, 2);
    assert.equal(await workshop.bound(), 1);
    const released = (await workshop.call('POST', path, why)).json<Version>();
    assert.deepEqual([released.state, released.decidedBy, released.stateReason], ['published', 'host', why.reason]);
    assert.equal(await workshop.bound(), 2);
    assertProblem(await workshop.call('POST', path, why), 409, 'conflict');
  });

  it('lets nothing around the wait: approving, restoring, and rolling back', async () => {
    const workshop = await withAge({ requiresApproval: true });
    await workshop.publish(2);
    assert.equal((await workshop.call('POST', '/versions/2/approve')).json<Version>().state, 'cooling_down');
    assert.equal(await workshop.bound(), 1);
    assertProblem(await workshop.call('POST', '/rollback', { version: 2 }), 409, 'conflict');
    await workshop.call('POST', '/versions/2/yank', why, workshop.publisher);
    assert.equal(await stateOf(workshop, 2), 'yanked');
    await workshop.call('POST', '/versions/2/restore', undefined, workshop.publisher);
    assert.equal(await stateOf(workshop, 2), 'cooling_down');
    service.advance(ageMs);
    await release();
    // The publisher restored it, so the team has to approve it again.
    assert.equal(await stateOf(workshop, 2), 'awaiting_approval');
    await workshop.call('POST', '/versions/2/approve');
    assert.equal(await workshop.bound(), 2);
  });

  it('yanks and rejects versions that wait, and their copies', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    const headers = { 'content-type': 'application/wasm' };
    const { token } = workshop.publisher;
    await service.call('PUT', workshop.path('copy'), { token, body: tinyModule(2), headers });
    await workshop.call('POST', '/versions/2/reject', why);
    const copy = await service.call('GET', `${workshop.path('copy')}/versions/1`, { token });
    assert.deepEqual([copy.json().state, copy.json().stateReason], ['rejected', why.reason]);
    await workshop.publish(3);
    await workshop.call('POST', '/versions/3/yank', why);
    service.advance(2 * ageMs);
    assert.equal(await release(), 0);
    assert.equal(await workshop.bound(), 1);
  });

  it('asks for approval when the plugin is blocked, or approval has become required', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    await workshop.call('PUT', '/block', why);
    service.advance(ageMs);
    await release();
    assert.equal(await stateOf(workshop, 2), 'awaiting_approval');
    await workshop.call('DELETE', '/block');
    assert.equal(await workshop.bound(), 1);
    await workshop.publish(3);
    await workshop.settings({ requiresApproval: true });
    service.advance(ageMs);
    await release();
    assert.equal(await stateOf(workshop, 3), 'awaiting_approval');
  });

  it('ends rollbacks that were made before the publish, as other publishes do, and no later ones', async () => {
    const workshop = await withAge({ minVersionAgeSeconds: 0 });
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.settings({ minVersionAgeSeconds: 600 });
    await workshop.publish(3);
    assert.equal(await workshop.bound(), 1);
    service.advance(ageMs);
    await release();
    assert.equal(await workshop.bound(), 3);
    await workshop.publish(4);
    await workshop.call('POST', '/rollback', { version: 1 });
    service.advance(ageMs);
    await release();
    assert.equal(await workshop.bound(), 1);
  });

  it('releases nothing by a clock that is far ahead of the last maintenance', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    service.advance(maxClockGapMs + ageMs);
    assert.equal(await release(), 0);
    service.advance(-maxClockGapMs);
    assert.equal(await release(), 1);
  });

  it('records who released a version', async () => {
    const workshop = await withAge();
    await workshop.publish(2);
    service.advance(ageMs);
    await release();
    await workshop.publish(3);
    await workshop.call('POST', '/versions/3/release', why);
    const path = `/api/v1/apps/${workshop.appId}/audit?action=version.release`;
    const { objects } = (await service.call('GET', path, { token: workshop.owner.token })).json();
    const released = objects.map(({ by, details }: { by: string; details: object }) => ({ by, ...details }));
    assert.deepEqual(
      released.map(({ by, version, reason, state }: Record<string, unknown>) => [by, version, reason, state]),
      [
        ['user', 3, why.reason, undefined],
        ['system', 2, null, 'published'],
      ],
    );
  });

  it('accepts at most 90 days', async () => {
    const workshop = await openWorkshop(service);
    const path = `/api/v1/extension-points/${workshop.extensionPointId}`;
    for (const minVersionAgeSeconds of [-1, 1.5, 90 * 86_400 + 1, '60']) {
      const json = { minVersionAgeSeconds };
      assertProblem(await service.call('PUT', path, { token: workshop.owner.token, json }), 422, 'invalid_field');
    }
  });
});
