import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type {
  AppAuditEntry,
  Guest,
  Invitation,
  InvitationResults,
  MemberInvitation,
  RenewedInvitations,
  RevokedInvitations,
} from '@tenon/protocol';
import { assertProblem, openService, type TestService, type TestUser } from './helpers/service.ts';
import { type List, makeApp, ok } from './helpers/world.ts';

const api = '/api/v1';

describe('invitations in bulk', () => {
  let service: TestService;
  let owner: TestUser;
  let appId: string;
  before(async () => {
    service = await openService();
    owner = await service.user('Olga');
  });
  after(() => service.close());

  const fresh = async () => {
    appId = await makeApp(service, owner);
  };
  const post = (path: string, json: object, token = owner.token) =>
    service.call('POST', `${api}/apps/${appId}/${path}`, { token, json });
  const invite = async (invitations: readonly object[], whenPending?: string) => {
    const response = await post('invitations', { invitations, ...(whenPending && { whenPending }) });
    assert.equal(response.statusCode, 200, response.body);
    return (response.json() as InvitationResults).objects;
  };
  const listed = (query = '') =>
    ok<List<Invitation>>(service, 'GET', `${api}/apps/${appId}/invitations${query}`, owner);
  const codeOf = (link: string | undefined) => new URL(link ?? '').searchParams.get('code');
  const preview = (link: string | undefined) =>
    service.call('POST', `${api}/invitations/preview`, { json: { code: codeOf(link) } });

  it('return a result per row, and repeat without a second invitation', async () => {
    await fresh();
    const rows = [
      { guestKey: 'a', email: 'a@example.org', label: 'A', note: 'first' },
      { guestKey: 'b', name: 'Bea' },
      { guestKey: 'b', name: 'Bob' },
      { guestKey: 'c' },
      { guestKey: 'a', email: 'a@example.org', name: 'another name of the same person' },
    ];
    const first = await invite(rows);
    assert.deepEqual(
      first.map(({ guestKey, outcome }) => [guestKey, outcome]),
      [
        ['a', 'invited'],
        ['b', 'invited'],
        ['b', 'invited'],
        ['c', 'invited'],
        ['a', 'pending'],
      ],
    );
    for (const { link, outcome } of first)
      if (outcome === 'invited') assert.equal((await preview(link)).statusCode, 200);
    const user = await service.user();
    await ok(service, 'POST', `${api}/invitations/accept`, {
      token: user.token,
      json: { code: codeOf(first[1]?.link) },
    });
    const again = await invite(rows.map((row) => ({ ...row, label: 'Changed' })));
    assert.deepEqual(
      again.map(({ outcome, link }) => [outcome, link]),
      [
        ['pending', undefined],
        ['accepted', undefined],
        ['pending', undefined],
        ['pending', undefined],
        ['pending', undefined],
      ],
    );
    assert.equal((await listed()).objects.length, 4);
    const { objects } = await ok<List<Guest>>(service, 'GET', `${api}/apps/${appId}/guests?sort=guestKey`, owner);
    assert.deepEqual(
      objects.map(({ label, note }) => [label, note]),
      [
        ['Changed', 'first'],
        ['Changed', null],
        ['Changed', null],
      ],
    );
    const { objects: events } = await ok<List<AppAuditEntry>>(
      service,
      'GET',
      `${api}/apps/${appId}/audit?action=guest.invite`,
      owner,
    );
    assert.equal(events.length, 4, 'one event per invitation');

    const renewed = await invite(rows.slice(0, 1), 'renew');
    assert.equal(renewed[0]?.outcome, 'renewed');
    assertProblem(await preview(first[0]?.link), 404, 'not_found');
    assert.equal((await preview(renewed[0]?.link)).statusCode, 200);
  });

  it('refuse invalid rows and too many, and change nothing then', async () => {
    await fresh();
    const { errors = [] } = assertProblem(
      await post('invitations', { invitations: [{ guestKey: 'ok' }, { guestKey: 'a//b' }, { guestKey: '..' }] }),
      422,
      'invalid_field',
    );
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/invitations/1/guestKey', '/invitations/2/guestKey'],
    );
    const rows = Array.from({ length: 101 }, (_, at) => ({ guestKey: `k${at}` }));
    for (const invitations of [[], rows, [{ guestKey: 'k', label: '\u202e' }], [{}], 'x']) {
      assertProblem(await post('invitations', { invitations }), 422, 'invalid_field');
    }
    assert.equal((await listed()).objects.length, 0);
  });

  it('of concurrent requests make one invitation per person', async () => {
    await fresh();
    const rows = Array.from({ length: 30 }, (_, at) => ({ guestKey: `k${at}`, email: `${at}@example.org` }));
    const answers = await Promise.all([invite(rows), invite(rows), invite(rows.toReversed())]);
    assert.equal(answers.flat().filter(({ outcome }) => outcome === 'invited').length, 30);
    assert.equal((await listed()).objects.length, 30);
  });

  it('are found by state, age and text, with their number', async () => {
    await fresh();
    await invite([
      { guestKey: 'x/1', email: 'one@example.org', label: 'First' },
      { guestKey: 'x/2', name: 'Two %' },
    ]);
    const found = async (query: string) => {
      const { objects, total } = (await listed(query)) as List<Invitation> & { total: number };
      assert.equal(objects.length, total);
      return objects.map(({ guestKey }) => guestKey);
    };
    assert.deepEqual(await found('?q=FIRST'), ['x/1']);
    assert.deepEqual(await found('?q=one@'), ['x/1']);
    assert.deepEqual(await found('?q=%25'), ['x/2']);
    assert.deepEqual(await found('?status=pending&sort=-createdAt'), ['x/2', 'x/1']);
    assert.deepEqual(await found('?status=expired'), []);
    assert.deepEqual(await found('?olderThanDays=1'), []);
    assert.deepEqual(await found('?olderThanDays=0'), ['x/1', 'x/2']);
  });

  it('are renewed and revoked by id and by filter, in batches', async () => {
    await fresh();
    for (let at = 0; at < 150; at += 75) {
      await invite(Array.from({ length: 75 }, (_, i) => ({ guestKey: `k${String(at + i).padStart(3, '0')}` })));
    }
    const { objects } = await listed('?limit=150');
    const [one, two] = objects;
    const { link: teamLink } = await ok<{ link: string }>(service, 'POST', `${api}/apps/${appId}/members`, {
      token: owner.token,
      json: { role: 'admin' },
    });
    const members = `${api}/apps/${appId}/members/invitations`;
    const [ofTeam] = (await ok<List<MemberInvitation>>(service, 'GET', members, owner)).objects;
    const foreign = 'inv_01j29hxk3mfpq8ad68ha6hbsex';
    const revoked = (await post('invitations/revoke', { ids: [one?.id, one?.id, ofTeam?.id, foreign] })).json();
    assert.deepEqual(revoked, { revoked: 1, skipped: 2 } satisfies RevokedInvitations);
    const renewedOne = (await post('invitations/renew', { ids: [one?.id, two?.id] })).json() as RenewedInvitations;
    assert.deepEqual(
      renewedOne.objects.map(({ id }) => id),
      [two?.id],
    );
    assert.equal(renewedOne.skipped, 1);

    const links = new Set<string>();
    let cursor: string | undefined;
    let requests = 0;
    do {
      const filter = { status: 'pending', q: 'K' };
      const batch = (await post('invitations/renew', { filter, cursor })).json() as RenewedInvitations;
      for (const { link } of batch.objects) links.add(link);
      cursor = batch.nextCursor;
      requests++;
    } while (cursor !== undefined);
    assert.deepEqual([links.size, requests], [149, 2]);
    assertProblem(await preview(renewedOne.objects[0]?.link), 404, 'not_found');
    assert.equal((await preview([...links][0])).statusCode, 200);
    const all = (await post('invitations/revoke', { filter: { status: 'pending' } })).json() as RevokedInvitations;
    assert.deepEqual([all.revoked, typeof all.nextCursor], [100, 'string']);
    const rest = await post('invitations/revoke', { filter: { status: 'pending' }, cursor: all.nextCursor });
    assert.deepEqual(rest.json(), { revoked: 49, skipped: 0 });
    assert.equal((await preview(teamLink)).statusCode, 200, 'invitations to the team stay');
    for (const json of [
      {},
      { ids: [], filter: { status: 'pending' } },
      { ids: ['x'] },
      { filter: { status: 'accepted' } },
    ]) {
      assertProblem(await post('invitations/revoke', json), 422, 'invalid_field');
    }
    const { objects: events } = await ok<List<AppAuditEntry>>(
      service,
      'GET',
      `${api}/apps/${appId}/audit?action=invitation.revoke&limit=1000`,
      owner,
    );
    assert.equal(events.length, 150);
  });

  it('are renewed one by one, also to the team; expired ones too', async () => {
    await fresh();
    const admin = await service.user('Adam');
    const member = await ok<{ link: string }>(service, 'POST', `${api}/apps/${appId}/members`, {
      token: owner.token,
      json: { role: 'admin' },
    });
    await ok(service, 'POST', `${api}/invitations/accept`, { token: admin.token, json: { code: codeOf(member.link) } });
    const viewer = await ok<{ link: string }>(service, 'POST', `${api}/apps/${appId}/members`, {
      token: owner.token,
      json: { role: 'viewer' },
    });
    const members = `${api}/apps/${appId}/members/invitations?isSettled=false`;
    const [pending] = (await ok<List<MemberInvitation>>(service, 'GET', members, owner)).objects;
    const path = `invitations/${pending?.id}/renew`;
    assertProblem(await post(path, {}, admin.token), 403, 'forbidden');
    assertProblem(await post(path, { deliveryMethod: 'email' }), 422, 'unsupported_delivery_method');
    const renewed = (await post(path, {})).json();
    assertProblem(await preview(viewer.link), 404, 'not_found');
    assert.equal((await preview(renewed.link)).json().role, 'viewer');

    const [guest] = await invite([{ guestKey: 'late' }]);
    const lateOwner = await service.token(owner.id, { lifetimeMs: 30 * 86_400_000 });
    service.advance(service.services.settings.invitationLifetimeMs);
    assertProblem(await preview(guest?.link), 410, 'invitation_expired');
    const { objects } = await ok<List<Invitation>>(service, 'GET', `${api}/apps/${appId}/invitations?status=expired`, {
      token: lateOwner,
    });
    const again = await post(`invitations/${objects[0]?.id}/renew`, {}, lateOwner);
    assert.equal((await preview(again.json().link)).statusCode, 200);
    const user = await service.user();
    await ok(service, 'POST', `${api}/invitations/accept`, {
      token: user.token,
      json: { code: codeOf(again.json().link) },
    });
    assertProblem(await post(`invitations/${objects[0]?.id}/renew`, {}, lateOwner), 409, 'conflict');
  });

  it('answer for a renewed one: it ends when the one who renewed it loses the right to invite', async () => {
    const boss = await service.user('Boss');
    const admin = await service.user('Second');
    appId = await makeApp(service, boss, { admin });
    const link = await ok<{ link: string }>(service, 'POST', `${api}/apps/${appId}/guests`, {
      token: boss.token,
      json: { guestKey: 'k' },
    });
    assert.ok(link);
    const path = `${api}/apps/${appId}/invitations`;
    const { objects } = await ok<List<Invitation>>(service, 'GET', path, boss);
    const renewed = (
      await post('invitations/renew', { ids: [objects[0]?.id] }, admin.token)
    ).json() as RenewedInvitations;
    await ok(service, 'DELETE', `${api}/apps/${appId}/members/${admin.id}`, boss);
    assertProblem(await preview(renewed.objects[0]?.link), 410, 'invitation_revoked');
  });
});
