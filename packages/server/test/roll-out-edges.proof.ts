import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { maxOpenRollOuts, type RollOutPlan, type VersionId } from '@tenon/protocol';
import { nameReservationMs } from '../src/plugins/rebind.ts';
import { releaseDueVersions } from '../src/plugins/release-versions.ts';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { haltRollOut } from '../src/plugins/roll-outs/halt.ts';
import { signUpPerson } from './helpers/jar.ts';
import { openMailServer, sendMails } from './helpers/mail-server.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type TestService } from './helpers/service.ts';
import { makeMember, ok } from './helpers/world.ts';

/** Reaches no guest of the workshop. */
const plan: RollOutPlan = {
  steps: [
    { ring: 'staff', holdSeconds: 60 },
    { percent: 100, holdSeconds: null },
  ],
  halt: null,
};

describe('a version in a roll-out', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  const stored = async ({ versions }: Workshop) => {
    const id = (await versions())[0]?.id as VersionId;
    return service.store.read.rollOut(id);
  };

  it('stays the same version when its bytes are published again, and ends no rollback of guests that it does not reach', async () => {
    const workshop = await openWorkshop(service);
    const { first, call, publish } = workshop;
    await publish(1);
    await publish(2);
    assert.equal((await call('POST', '/rollback', { version: 1 })).statusCode, 200);
    await workshop.settings({ rollOut: plan });
    await publish(3, `?guest=${first}`);
    assert.equal(await workshop.bound(), 1);
    await publish(3, `?guest=${first}`);
    await publish(3);
    await publish(3);
    assert.equal((await workshop.versions()).length, 3);
    assert.equal(await workshop.bound(), 1);
    const oldest = (await workshop.versions()).at(-1);
    assert.equal((await workshop.list('second')).median?.contentAddress, oldest?.contentAddress);
  });

  it('becomes another version when its bytes are published again after a rollback', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.publish(2);
    assert.equal((await workshop.versions()).length, 3);
  });

  it('takes no transaction while its step waits for reports', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const halt = { minCalls: 1, errorRate: 0, p95Ratio: null, memoryRatio: null };
    await workshop.settings({ rollOut: { ...plan, halt } });
    await workshop.publish(2);
    service.advance(61_000);
    const { deps } = service.services;
    while ((await advanceRollOuts(deps)) > 0);
    const write = () => assert.fail('a transaction');
    assert.equal(await advanceRollOuts({ ...deps, store: { ...deps.store, write } }), 0);
    assert.equal((await stored(workshop))?.step, 0);
  });

  it('stays paused when its publisher yanks and restores it', async () => {
    const workshop = await openWorkshop(service);
    const { publisher, call } = workshop;
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(2);
    assert.equal((await call('POST', '/versions/2/roll-out/pause')).statusCode, 200);
    assert.equal((await call('POST', '/versions/2/yank', { reason: 'why' }, publisher)).statusCode, 200);
    assert.equal((await call('POST', '/versions/2/restore', undefined, publisher)).statusCode, 200);
    const found = await stored(workshop);
    assert.deepEqual([found?.state, found?.step, found?.dueAtMs], ['paused', 0, null]);
    assert.equal((await call('POST', '/versions/2/roll-out/resume', undefined, publisher)).statusCode, 403);
    assert.equal((await call('POST', '/versions/2/roll-out/resume')).statusCode, 200);
    // The team's own restore starts it.
    await call('POST', '/versions/2/yank', { reason: 'why' });
    assert.equal((await call('POST', '/versions/2/restore')).statusCode, 200);
    assert.equal((await stored(workshop))?.state, 'running');
  });

  it('awaits approval after its minimum age, while too many others of the plugin are in a roll-out', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan, minVersionAgeSeconds: 60 });
    for (let number = 2; number <= maxOpenRollOuts + 2; number++) await workshop.publish(number);
    service.advance(61_000);
    await releaseDueVersions(service.services.deps);
    const states = (await workshop.versions()).map(({ state }) => state);
    assert.deepEqual(states, ['awaiting_approval', ...Array<string>(maxOpenRollOuts + 1).fill('published')]);
    const approve = `/versions/${maxOpenRollOuts + 2}/approve`;
    assert.equal((await workshop.call('POST', approve)).statusCode, 409);
    assert.equal((await workshop.call('POST', approve, { rollOut: null })).statusCode, 200);
  });

  it('starts by its plan when its publisher deletes the plugin and publishes it again, also under other guests', async () => {
    const workshop = await openWorkshop(service);
    const { first, publisher, call } = workshop;
    await workshop.settings({ rollOut: plan });
    await workshop.publish(1);
    assert.equal(await workshop.bound(), 1, 'the first version of a plugin is for all guests');
    await workshop.publish(2);
    const rollOut = await stored(workshop);
    assert.ok(rollOut);
    const { deps } = service.services;
    await service.store.write((tx) => haltRollOut(deps, tx, rollOut, 'errors'));
    assert.equal((await call('DELETE', '', undefined, publisher)).statusCode, 204);
    await workshop.publish(3, `?guest=${first}`);
    await workshop.publish(3);
    const found = await stored(workshop);
    assert.deepEqual([found?.state, found?.step], ['running', 0]);
    for (const key of ['first', 'second'] as const) assert.deepEqual(await workshop.list(key), {});
    // It stays so when the name is not reserved any more.
    await service.store.write((tx) => tx.deleteExpired(service.services.deps.clock() + 2 * nameReservationMs));
    await call('POST', '/versions/1/yank', { reason: 'why' }, publisher);
    assert.equal((await call('POST', '/versions/1/restore', undefined, publisher)).statusCode, 200);
    assert.equal((await stored(workshop))?.state, 'paused');
    assert.deepEqual(await workshop.list(), {});
    const promote = await call('POST', '/versions/1/roll-out/promote', { full: true });
    assert.equal(promote.json().previousVersion, null);
    assert.equal(await workshop.bound(), 1);
  });

  it('starts by its plan when its publisher yanks the versions before', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.call('POST', '/versions/1/yank', { reason: 'why' }, workshop.publisher);
    await workshop.publish(2);
    assert.equal((await stored(workshop))?.state, 'running');
    assert.deepEqual(await workshop.list(), {});
    await workshop.call('POST', '/versions/1/restore', undefined, workshop.publisher);
    assert.equal(await workshop.bound(), 1, 'the first version is for all guests again');
  });

  it('shows no ring to guests who publish', async () => {
    const workshop = await openWorkshop(service);
    const { publisher, call, extensionPointId, appId } = workshop;
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(2);
    await call('POST', '/versions/2/yank', { reason: 'why' }, publisher);
    await call('POST', '/versions/2/restore', undefined, publisher);
    const read = async (path: string, { token } = publisher) =>
      (await service.call('GET', `/api/v1${path}`, { token })).payload;
    const paths = [`/extension-points/${extensionPointId}`, `/apps/${appId}/extension-points`, '/me/audit'];
    for (const path of paths) assert.doesNotMatch(await read(path), /staff/, path);
    assert.doesNotMatch((await call('GET', '/versions/2/roll-out', undefined, publisher)).payload, /staff/);
    for (const path of [...paths.slice(0, 2), `/apps/${appId}/audit`]) {
      assert.match(await read(path, workshop.owner), /staff/, path);
    }
  });
});

describe('a roll-out that is halted', () => {
  it('is mailed to the members who may resume it, except those who turned the notice off', async () => {
    const mails = await openMailServer();
    const service = await openService({ config: { smtp: mails.at } });
    try {
      const workshop = await openWorkshop(service);
      const { appId, owner, first, extensionPointId } = workshop;
      const join = async (role: string, muted: 'rollOuts'[] = []) => {
        const { id, email, jar } = await signUpPerson(service);
        await service.store.write((tx) => tx.putMailPreferences({ userId: id, verifiedEmail: email, muted }));
        await makeMember(service, owner, appId, role, { token: await jar.token() });
        return email;
      };
      const recipients = [await join('owner'), await join('admin')].sort();
      await join('viewer');
      await join('admin', ['rollOuts']);
      await workshop.publish(1);
      await workshop.settings({ rollOut: { steps: [{ percent: 100, holdSeconds: null }], halt: null } });
      const { id } = (await workshop.publish(2)).version;
      const pin = `/api/v1/extension-points/${extensionPointId}/guests/${first}/pins/median`;
      await ok(service, 'PUT', pin, { token: owner.token, json: { version: 2 } });
      const { deps } = service.services;
      const rollOut = await service.store.read.rollOut(id as VersionId);
      assert.ok(rollOut);
      await sendMails(service, mails);
      mails.mails.length = 0;
      await service.store.write((tx) =>
        haltRollOut(deps, tx, rollOut, 'Hosts report: <b>5 %</b>\nof 20 calls failed.'),
      );
      await sendMails(service, mails);
      assert.deepEqual(mails.mails.map(({ recipient }) => recipient).sort(), recipients);
      const [mail] = mails.mails;
      assert.equal(mail?.subject, 'The roll-out of median, version 2, was halted');
      const text = mail?.text?.replaceAll(/\s+/g, ' ') ?? '';
      assert.match(text, /version 2 of median in the application “.+”: Hosts report: <b>5 %<\/b> of 20 calls failed\./);
      assert.match(text, /except those that are pinned to it/);
      assert.match(text, new RegExp(`/apps/${appId}/roll-outs`));
      assert.match(String(mail?.html), /&lt;b&gt;5 %/);
      // While it is halted, only pinned guests have the version.
      const { reachedGuests } = (await workshop.call('GET', '/versions/2/roll-out')).json();
      assert.equal(reachedGuests, 1);
    } finally {
      await service.close();
      await mails.close();
    }
  });
});
