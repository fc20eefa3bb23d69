import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type AppId, newId } from '@tenon/protocol';
import { setOperator } from '../src/auth/manage-users.ts';
import { type Refusal, recordRefusal } from '../src/auth/refusals.ts';
import type { AuditEventRecord } from '../src/db/audit-records.ts';
import { StorageFullError, type Store } from '../src/db/store.ts';
import { createMetrics } from '../src/ops/metrics/metrics.ts';
import { goodPassword, openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { parseScrape } from './helpers/prometheus-text.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeApp, ok } from './helpers/world.ts';

const api = '/api/v1';
const wrong = 'magnolia tugboat 18 linen';

describe('recordRefusal()', () => {
  let service: TestService;
  let person: Person;
  let writes: number;
  const metrics = createMetrics({ dataDir: '' } as never, '/');
  before(async () => {
    service = await openService({
      config: { trustedProxies: ['127.0.0.1'], signInTriesPerMinute: 1000, accountTriesPerHour: 1000 },
      replace: ({ deps }) => ({ deps: { ...deps, store: counting(deps.store), refusalCounts: metrics.refusals } }),
    });
    person = await signUpPerson(service);
  });
  after(async () => {
    await service.close();
    metrics.close();
  });
  beforeEach(() => {
    writes = 0;
    service.advance(24 * 60 * 60_000);
  });

  const counting = (store: Store): Store => ({
    ...store,
    write(work) {
      writes++;
      return store.write(work);
    },
  });
  const refused = (): Promise<AuditEventRecord[]> =>
    service.store.read.auditOfAll({ action: 'sign_in.refuse' }, { limit: 1000 });
  const count = (name: string): number => parseScrape(metrics.registry.text()).samples.get(name) ?? 0;
  const attempt = (email: string, address: string, password = wrong) =>
    openJar(service).call('POST', '/session', { email, password }, { 'x-forwarded-for': address });
  const refusal = (address: string): Refusal => ({ means: 'oidc', reason: 'nonce', address });

  it('costs one transaction for known and for unknown addresses', async () => {
    for (const email of [person.email, 'unknown@example.org', 'no address']) {
      writes = 0;
      assertProblem(await attempt(email, '198.51.100.1'), 401, 'invalid_credentials');
      assert.equal(writes, 1, email);
    }
    const [unknown, , known] = await refused();
    assert.deepEqual([unknown?.accountId, unknown?.targetId, unknown?.targetName], [null, 'unknown', null]);
    assert.deepEqual([known?.accountId, known?.targetId, known?.by], [person.id, person.id, 'system']);
    assert.deepEqual(known?.details, { means: 'password', reason: 'wrong_password' });
    assert.equal(known?.address, '198.51.100.1');
  });

  it('shows users the refusals of their own account only, and operators all', async () => {
    const [other, operator] = [await signUpPerson(service), await service.user('Olga')];
    await setOperator(service.services.deps, 'operator', operator.id, true);
    await attempt(other.email, '198.51.100.2');
    await attempt('unknown@example.org', '198.51.100.2');
    const trail = async (token: string) =>
      (
        await ok<{ objects: { target: { id: string } }[] }>(service, 'GET', `${api}/me/audit?action=sign_in.refuse`, {
          token,
        })
      ).objects;
    const own = await trail(await other.jar.token());
    assert.deepEqual(
      own.map(({ target }) => target.id),
      [other.id],
    );
    assert.deepEqual(await trail(operator.token), []);
    assert.ok((await refused()).length >= 2);
  });

  it('leaves token exchanges to the owners of the application, without addresses', async () => {
    const owner = await service.user('Owner');
    const appId = (await makeApp(service, owner)) as AppId;
    const address = '203.0.113.77';
    await recordRefusal(service.services.deps, { means: 'token_exchange', reason: 'claims', address, appId });
    const path = `${api}/apps/${appId}/audit?action=token_exchange.refuse`;
    const { objects } = await ok<{ objects: unknown[] }>(service, 'GET', path, { token: owner.token });
    assert.equal(objects.length, 1);
    assert.ok(!JSON.stringify(objects).includes(address));
  });

  it('records suspended accounts only after the correct password, and wrong confirmations', async () => {
    const suspended = await signUpPerson(service);
    const wrongly = await suspended.jar.call('POST', '/session/confirm', { password: wrong });
    assertProblem(wrongly, 401, 'invalid_credentials');
    const operator = await service.user('Olga');
    await setOperator(service.services.deps, 'operator', operator.id, true);
    await ok(service, 'PUT', `${api}/users/${suspended.id}/suspension`, { token: operator.token });
    await attempt(suspended.email, '198.51.100.3');
    assertProblem(await attempt(suspended.email, '198.51.100.3', goodPassword), 403, 'account_suspended');
    const reasons = (await refused()).filter(({ accountId }) => accountId === suspended.id);
    assert.deepEqual(
      reasons.map(({ details, address }) => [details.reason, address]),
      [
        ['suspended', '198.51.100.3'],
        ['wrong_password', '198.51.100.3'],
        ['wrong_password', null],
      ],
    );
  });

  it('writes few events of one network, few of all, and counts the others', async () => {
    const { deps } = service.services;
    const [written, suppressed] = [(await refused()).length, count('tenon_suppressed_refusals_total')];
    for (let at = 0; at < 50; at++) await recordRefusal(deps, refusal(`2001:db8::${at.toString(16)}`));
    assert.equal((await refused()).length - written, 30);
    assert.equal(count('tenon_suppressed_refusals_total') - suppressed, 20);
    for (let at = 0; at < 400; at++) await recordRefusal(deps, refusal(`198.51.${at >> 8}.${at & 255}`));
    assert.equal((await refused()).length - written, 300);
    assert.equal(count('tenon_refused_sign_ins_total{means="oidc",reason="nonce"}'), 450);
    service.advance(60_000);
    await recordRefusal(deps, refusal('192.0.2.1'));
    assert.equal((await refused()).length - written, 301);
  });

  it('does not change the response if the store cannot be written', async () => {
    const { deps } = service.services;
    const full = { ...deps, store: { ...deps.store, write: () => Promise.reject(new StorageFullError('full')) } };
    const suppressed = count('tenon_suppressed_refusals_total');
    await recordRefusal(full, refusal('192.0.2.2'));
    assert.equal(count('tenon_suppressed_refusals_total') - suppressed, 1);
    const broken = { ...deps, store: { ...deps.store, write: () => Promise.reject(new Error('a bug')) } };
    await assert.rejects(recordRefusal(broken, refusal('192.0.2.2')), /a bug/);
  });

  it('cuts off long details', async () => {
    const details = { issuer: 'x'.repeat(10_000), subject: null };
    await recordRefusal(service.services.deps, { ...refusal('192.0.2.3'), details });
    const [event] = await refused();
    assert.equal(String(event?.details.issuer).length, 200);
  });

  it('are deleted with the account', async () => {
    const leaving = await signUpPerson(service);
    await attempt(leaving.email, '198.51.100.4');
    const isOf = ({ accountId }: AuditEventRecord) => accountId === leaving.id;
    assert.equal((await refused()).filter(isOf).length, 1);
    await signIn(service, leaving, leaving.jar);
    const token = await leaving.jar.token();
    await ok(service, 'POST', `${api}/me/deletion`, { token, json: { password: goodPassword } });
    assert.deepEqual((await refused()).filter(isOf), []);
    const accountId = newId('user'); // of an account that was deleted meanwhile
    await recordRefusal(service.services.deps, { ...refusal('192.0.2.4'), accountId });
  });
});
