import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AppAuditEntry, AppId, Invitation, Member, MemberInvitation } from '@tenon/protocol';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import {
  invite,
  inviteMember,
  type List,
  makeGuest,
  makeMember,
  makeWorld,
  ok,
  tinyModule,
  type World,
} from './helpers/world.ts';

const api = '/api/v1';

describe('an invitation whose inviter loses the right to invite', () => {
  let service: TestService;
  let world: World;
  let members: string;
  before(async () => {
    service = await openService({ config: { codeTriesPerMinute: 1000 } });
  });
  beforeEach(async () => {
    world = await makeWorld(service);
    members = `${api}/apps/${world.appId}/members`;
  });
  after(() => service.close());

  const accept = ({ token }: TestUser, code: string) =>
    service.call('POST', `${api}/invitations/accept`, { token, json: { code } });
  const revocations = async () => {
    const path = `${api}/apps/${world.appId}/audit?action=invitation.revoke&limit=100`;
    return (await ok<List<AppAuditEntry>>(service, 'GET', path, { token: world.owner.token })).objects;
  };
  const pending = async () => {
    const { token } = world.owner;
    const list = <T>(path: string) => ok<List<T>>(service, 'GET', path, { token });
    const ofGuests = await list<Invitation>(`${api}/apps/${world.appId}/invitations`);
    const ofTeam = await list<MemberInvitation>(`${members}/invitations`);
    return [...ofGuests.objects, ...ofTeam.objects].filter(({ status }) => status === 'pending').length;
  };

  it('is revoked in the transaction that removes the member', async () => {
    const { owner, admin, appId, guestKey, extensionPointId } = world;
    const code = await invite(service, admin, appId, guestKey);
    await ok(service, 'DELETE', `${members}/${admin.id}`, { token: owner.token });
    assertProblem(await accept(admin, code), 410, 'invitation_revoked');
    const path = `${api}/artifacts/${extensionPointId}/plugin/${admin.id}/backdoor`;
    const headers = { 'content-type': 'application/wasm' };
    const published = await service.call('PUT', path, { token: admin.token, body: tinyModule(9), headers });
    assertProblem(published, 404, 'not_found');
    assert.equal(await pending(), 0);
    const [entry, ...others] = await revocations();
    assert.equal(others.length, 0);
    assert.equal(entry?.user?.id, owner.id);
    assert.equal(entry?.details.cause, 'inviter_lost_right');
    assert.deepEqual(Object.values(entry?.guestKeys ?? {}), [guestKey]);
  });

  const losses: Readonly<Record<string, (who: TestUser) => Promise<unknown>>> = {
    'becomes a viewer': ({ id }) =>
      ok(service, 'PUT', `${members}/${id}`, { token: world.owner.token, json: { role: 'viewer' } }),
    'leaves the team': ({ token }) => ok(service, 'DELETE', `${api}/apps/${world.appId}/membership`, { token }),
    'deletes the account': ({ token }) => ok(service, 'POST', `${api}/me/deletion`, { token, json: {} }),
  };
  for (const [what, lose] of Object.entries(losses)) {
    it(`is revoked when the member ${what}`, async () => {
      const { owner, appId } = world;
      const second = await service.user('Second owner');
      await makeMember(service, owner, appId, 'owner', second);
      const codes = [await invite(service, second, appId, 'a'), await inviteMember(service, second, appId, 'owner')];
      await lose(second);
      for (const code of codes) assertProblem(await accept(world.stranger, code), 410, 'invitation_revoked');
      assert.equal(await pending(), 0);
      const causes = (await revocations()).map(({ details }) => details.cause);
      assert.deepEqual(causes, ['inviter_lost_right', 'inviter_lost_right']);
    });
  }

  it('stays if the new role may make it, as do those of others', async () => {
    const { owner, admin, appId, stranger, otherGuest } = world;
    const second = await service.user('Second owner');
    await makeMember(service, owner, appId, 'owner', second);
    const toTeam = await inviteMember(service, second, appId, 'viewer');
    const [ofGuest, ofAdmin] = [await invite(service, second, appId, 'a'), await invite(service, admin, appId, 'b')];
    await ok(service, 'PUT', `${members}/${second.id}`, { token: owner.token, json: { role: 'admin' } });
    assertProblem(await accept(stranger, toTeam), 410, 'invitation_revoked');
    for (const code of [ofGuest, ofAdmin]) assert.equal((await accept(otherGuest, code)).statusCode, 200);
  });

  it('is checked again when it is accepted, and allows no sign-up', async () => {
    const { admin, appId, stranger } = world;
    const code = await invite(service, admin, appId, 'a');
    await service.store.write((tx) => tx.deleteMember(appId as AppId, admin.id));
    assertProblem(await accept(stranger, code), 410, 'invitation_revoked');
    const preview = await service.call('POST', `${api}/invitations/preview`, { json: { code } });
    assertProblem(preview, 410, 'invitation_revoked');
  });

  it("is revoked with the member's guests on request", async () => {
    const { owner, admin, viewer, appId } = world;
    const own = await makeGuest(service, admin, appId, 'given/to-oneself', admin);
    await makeGuest(service, admin, appId, 'given/to-another', viewer);
    const { objects } = await ok<List<Member>>(service, 'GET', members, { token: owner.token });
    assert.deepEqual(objects.find(({ userId }) => userId === admin.id)?.guestIds, [own]);
    await ok(service, 'DELETE', `${members}/${viewer.id}`, { token: owner.token });
    await ok(service, 'DELETE', `${members}/${admin.id}?guests=remove`, { token: owner.token });
    assertProblem(await service.call('GET', `${api}/apps/${appId}`, { token: admin.token }), 404, 'not_found');
    assert.equal((await service.call('GET', `${api}/apps/${appId}`, { token: viewer.token })).statusCode, 200);
    const odd = await service.call('DELETE', `${members}/${owner.id}?guests=some`, { token: owner.token });
    assertProblem(odd, 400, 'invalid_request');
  });
});
