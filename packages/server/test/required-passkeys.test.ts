import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, ExtensionPoint } from '@tenon/protocol';
import { type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { addPasskey, confirmWith, enterPassword, signInWith } from './helpers/passkeys.ts';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeGuest, makeMember, ok, publishAs, tinyModule } from './helpers/world.ts';

const api = '/api/v1';

describe('an application that requires passkeys', () => {
  let service: TestService;
  let owner: Person;
  let member: Person;
  let guest: TestUser;
  let authenticator: Awaited<ReturnType<typeof addPasskey>>['authenticator'];
  let appId: string;
  let listPath: string;
  let contentPath: string;

  const put = async (json: object, token: string) => service.call('PUT', `${api}/apps/${appId}`, { token, json });
  const status = async (path: string, token: string) => (await service.call('GET', path, { token })).statusCode;

  before(async () => {
    service = await openService({ config: { signInTriesPerMinute: 10_000 } });
    [owner, member, guest] = [await signUpPerson(service), await signUpPerson(service), await service.user('Guest')];
    const token = await owner.jar.token();
    appId = (await ok<App>(service, 'POST', `${api}/apps`, { token, json: { name: 'Production' } })).id;
    const json = { name: 'e' };
    const point = await ok<ExtensionPoint>(service, 'POST', `${api}/apps/${appId}/extension-points`, { token, json });
    await makeMember(service, { token }, appId, 'admin', { token: await member.jar.token() });
    await makeGuest(service, { id: owner.id, token }, appId, 'acme', guest);
    const { contentAddress } = await publishAs(service, guest, point.id, 'one', tinyModule(1));
    listPath = `${api}/extension-points/${point.id}/bindings/acme`;
    contentPath = `${api}/c/${contentAddress}`;
  });
  after(() => service.close());

  it('is required only by owners, who have a passkey, after step-up', async () => {
    const json = { requiresPasskey: true };
    assertProblem(await put(json, await owner.jar.token()), 409, 'conflict');
    assertProblem(await put(json, await service.token(owner.id)), 409, 'conflict');
    assertProblem(await put(json, await member.jar.token()), 403, 'forbidden');
    ({ authenticator } = await addPasskey(owner));
    service.advance(5 * 60_000);
    assertProblem(await put(json, await owner.jar.token()), 403, 'step_up_required');
    await confirmWith(owner, authenticator);
    // The responses below are cached before, and must not be used after.
    const token = await service.token(member.id, { scopes: ['read'] });
    assert.equal(await status(listPath, token), 200);
    assert.equal(await status(contentPath, token), 200);
    const changed = await put(json, await owner.jar.token());
    assert.equal(changed.json<App>().requiresPasskey, true);
    for (const path of [listPath, contentPath, `${api}/apps/${appId}`]) {
      assertProblem(await service.call('GET', path, { token }), 403, 'passkey_required');
    }
  });

  it('refuses sessions without a passkey and tokens of users without one, after the visibility', async () => {
    for (const token of [await member.jar.token(), await service.token(member.id)]) {
      assertProblem(await service.call('GET', `${api}/apps/${appId}/members`, { token }), 403, 'passkey_required');
      assertProblem(await put({ name: 'x' }, token), 403, 'passkey_required');
      assert.equal(await status(`${api}/apps`, token), 200);
    }
    const stranger = await service.user();
    assertProblem(await service.call('GET', `${api}/apps/${appId}`, stranger), 404, 'not_found');
    assertProblem(await service.call('GET', contentPath, stranger), 404, 'not_found');
  });

  it('serves guests, members with a passkey, and their tokens', async () => {
    assert.equal(await status(contentPath, guest.token), 200);
    assert.equal(await status(`${api}/apps/${appId}`, guest.token), 200);
    const token = await service.token(owner.id);
    const { jar } = await signInWith(service, authenticator);
    for (const one of [token, await jar.token(), await owner.jar.token()]) {
      assert.equal(await status(listPath, one), 200);
      assert.equal(await status(contentPath, one), 200);
    }
  });

  it('refuses a session that a recovery code started, until it uses a passkey', async () => {
    const { password } = member;
    assert.equal((await member.jar.call('POST', '/session/confirm', { password })).statusCode, 204);
    const added = await addPasskey(member);
    const jar = await enterPassword(service, member);
    const [code = ''] = added.recoveryCodes ?? [];
    assert.equal((await jar.call('POST', '/session/recovery-code', { code })).statusCode, 200);
    assertProblem(await service.call('GET', listPath, { token: await jar.token() }), 403, 'passkey_required');
    const token = await jar.token();
    await confirmWith({ jar }, added.authenticator);
    assert.equal(await status(listPath, token), 200, 'the same token, which was cached as refused');
    const program = await service.token(member.id);
    assert.equal(await status(listPath, program), 200);
    assert.equal((await member.jar.call('DELETE', `/session/passkeys/${added.passkey.id}`)).statusCode, 204);
    assertProblem(await service.call('GET', listPath, { token: program }), 403, 'passkey_required');
    assertProblem(await service.call('GET', listPath, { token: await member.jar.token() }), 403, 'passkey_required');
    const other = await signIn(service, member);
    assertProblem(await service.call('GET', contentPath, { token: await other.token() }), 403, 'passkey_required');
  });

  it('serves all members again once its owner turns it off', async () => {
    const token = await service.token(owner.id);
    assert.equal((await put({ requiresPasskey: false }, token)).statusCode, 200);
    assert.equal(await status(listPath, await member.jar.token()), 200);
    assert.equal(await status(contentPath, await member.jar.token()), 200);
  });
});
