import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type {
  AccountAuditEntry,
  App,
  InvitationPreview,
  Member,
  MemberInvitation,
  SessionState,
} from '@tenon/protocol';
import { openJar, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { inviteMember, type List, makeMember, makeWorld, ok, type World } from './helpers/world.ts';

const api = '/api/v1';

let service: TestService;
let world: World;
let team: string;
before(async () => {
  service = await openService({ config: { codeTriesPerMinute: 1000 } });
});
beforeEach(async () => {
  world = await makeWorld(service);
  team = `${api}/apps/${world.appId}/members`;
});
after(() => service.close());

const accept = (token: string, code: string) =>
  service.call('POST', `${api}/invitations/accept`, { token, json: { code } });
const membersOf = async () => {
  const { objects } = await ok<List<Member>>(service, 'GET', team, { token: world.owner.token });
  return new Map(objects.map(({ userId, role }) => [userId, role]));
};
const ownTrail = async (token: string) =>
  (await ok<List<AccountAuditEntry>>(service, 'GET', `${api}/me/audit`, { token })).objects;

describe('an invitation to the team', () => {
  it('shows the application, the inviter and the role, and makes a member of the user who accepts', async () => {
    const { owner, stranger, appId } = world;
    const code = await inviteMember(service, owner, appId, 'admin');
    const preview = await ok<InvitationPreview>(service, 'POST', `${api}/invitations/preview`, { json: { code } });
    assert.deepEqual(
      [preview.app, preview.role, preview.invitedBy, preview.allowsSignUp],
      [{ id: appId, name: 'Acme' }, 'admin', 'Olga', true],
    );
    assert.equal((await membersOf()).has(stranger.id), false);
    const accepted = (await accept(stranger.token, code)).json();
    assert.deepEqual(accepted, { status: 'accepted', app: { id: appId, name: 'Acme' }, role: 'admin' });
    assert.equal((await membersOf()).get(stranger.id), 'admin');
    assertProblem(await accept(world.guest.token, code), 410, 'invitation_used');
  });

  it('is in the audit trail of the joining account', async () => {
    const { owner, stranger, appId } = world;
    await makeMember(service, owner, appId, 'viewer', stranger);
    const [entry] = await ownTrail(stranger.token);
    assert.equal(entry?.action, 'invitation.accept');
    assert.deepEqual(entry?.details, { role: 'viewer', invitedBy: owner.id });
  });

  it('does not make a user a member who declines', async () => {
    const { owner, stranger, appId } = world;
    const code = await inviteMember(service, owner, appId, 'owner');
    await ok(service, 'POST', `${api}/invitations/decline`, { token: stranger.token, json: { code } });
    assertProblem(await accept(stranger.token, code), 410, 'invitation_used');
    assert.equal((await membersOf()).has(stranger.id), false);
  });

  it('requires the scope manage, and stays pending without it', async () => {
    const { owner, stranger, appId } = world;
    const code = await inviteMember(service, owner, appId, 'viewer');
    const narrow = await service.token(stranger.id, { scopes: ['read', 'publish'] });
    assertProblem(await accept(narrow, code), 403, 'insufficient_scope');
    assert.equal((await accept(stranger.token, code)).statusCode, 200);
  });

  it("does not change a member's role: the application might lose its only owner", async () => {
    const { owner, appId } = world;
    const code = await inviteMember(service, owner, appId, 'viewer');
    assertProblem(await accept(owner.token, code), 409, 'conflict');
    assert.equal((await membersOf()).get(owner.id), 'owner');
    assert.equal((await accept(world.stranger.token, code)).statusCode, 200);
  });

  it('lets its holder create an account', async () => {
    const code = await inviteMember(service, world.owner, world.appId, 'admin');
    const jar = openJar(service);
    const json = { name: 'New', email: 'new@example.org', password: 'magnolia tugboat 17 linen', invitationCode: code };
    const state = (await jar.call('POST', '/session/sign-up', json)).json<SessionState>();
    assert.equal((await membersOf()).has(state.account?.id ?? ''), false, 'not before it is accepted');
    assert.equal((await accept(await jar.token(), code)).statusCode, 200);
    assert.equal((await membersOf()).get(state.account?.id ?? ''), 'admin');
  });

  it("is listed for the team, separately from guests' invitations, and only owners revoke it", async () => {
    const { owner, admin, viewer, appId } = world;
    const list = async (path: string, { token }: { token: string }) =>
      (await ok<List<MemberInvitation>>(service, 'GET', path, { token })).objects;
    const json = { role: 'admin', name: 'Grace', email: 'grace@example.org' };
    const { link } = await ok<{ link: string }>(service, 'POST', team, { token: owner.token, json });
    const invitations = await list(`${team}/invitations`, viewer);
    const invitation = invitations.find(({ status }) => status === 'pending');
    assert.ok(invitation);
    assert.deepEqual(invitation.invitedBy, { userId: owner.id, name: 'Olga' });
    assert.deepEqual([invitation.role, invitation.name, invitation.email], ['admin', 'Grace', 'grace@example.org']);
    const ofGuests = await list(`${api}/apps/${appId}/invitations`, viewer);
    assert.equal(
      ofGuests.some(({ id }) => id === invitation.id),
      false,
    );
    const path = `${api}/apps/${appId}/invitations/${invitation.id}`;
    assertProblem(await service.call('DELETE', path, { token: admin.token }), 403, 'forbidden');
    await ok(service, 'DELETE', path, { token: owner.token });
    const code = new URL(link).searchParams.get('code') ?? '';
    assertProblem(await accept(world.stranger.token, code), 410, 'invitation_revoked');
  });

  it('requires step-up in a session', async () => {
    const person = await signUpPerson(service);
    await makeMember(service, world.owner, world.appId, 'owner', { token: await person.jar.token() });
    const token = await person.jar.token();
    const invite = async (role: string) =>
      service.call('POST', team, { token: await person.jar.token(), json: { role } });
    assert.equal((await invite('owner')).statusCode, 200);
    const [session] = await service.store.read.sessions(person.id, {});
    assert.ok(session);
    await service.store.write((tx) => tx.confirmSession(session.id, 0));
    assertProblem(await invite('owner'), 403, 'step_up_required');
    assertProblem(await invite('viewer'), 403, 'step_up_required');
    assert.notEqual(token, '');
  });
});

describe('the team', () => {
  it("can't add users directly: a non-member is not found, and no name is revealed", async () => {
    const { owner, stranger } = world;
    const responses = [];
    for (const id of [stranger.id, 'usr_00000000000000000000000000']) {
      const answer = await service.call('PUT', `${team}/${id}`, { token: owner.token, json: { role: 'owner' } });
      assertProblem(answer, 404, 'not_found');
      responses.push(answer.payload);
    }
    assert.equal(responses[0], responses[1]);
    assert.equal((await membersOf()).has(stranger.id), false);
    assert.deepEqual((await ok<List<App>>(service, 'GET', `${api}/apps`, { token: stranger.token })).objects, []);
    await ok(service, 'POST', `${api}/me/deletion`, { token: stranger.token, json: {} });
  });

  it('can be left by every member except the last owner', async () => {
    const { owner, admin, viewer, appId } = world;
    const leave = (token: string) => service.call('DELETE', `${api}/apps/${appId}/membership`, { token });
    assertProblem(await leave(owner.token), 409, 'conflict');
    for (const { token } of [viewer, admin]) {
      assert.equal((await leave(token)).statusCode, 204);
      assertProblem(await leave(token), 404, 'not_found');
    }
    const [entry] = await ownTrail(viewer.token);
    assert.deepEqual([entry?.action, entry?.details], ['member.leave', { role: 'viewer' }]);
    await makeMember(service, owner, appId, 'owner', viewer);
    assert.equal((await leave(owner.token)).statusCode, 204);
    const { objects } = await ok<List<Member>>(service, 'GET', team, { token: viewer.token });
    assert.deepEqual(
      objects.map(({ userId }) => userId),
      [viewer.id],
    );
  });
});
