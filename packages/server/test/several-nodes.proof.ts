import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ServerStatus, TokenInfo } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { setOperator, suspendUser, unsuspendUser } from '../src/auth/manage-users.ts';
import type { Config } from '../src/config/config.ts';
import { startHeartbeat } from '../src/ops/status/heartbeat.ts';
import { openEvents } from './helpers/event-stream.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { openService, type TestService } from './helpers/service.ts';
import { type List, ok, tinyModule } from './helpers/world.ts';

describe('two nodes on one PostgreSQL and one object store', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let here: TestService;
  let there: TestService;
  let workshop: Workshop;
  let databaseUrl: string;

  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    databaseUrl = (await postgres.createDatabase()).url;
    const { bucket, endpoint, credentials } = objects.options('plugins');
    const config: Partial<Config> = {
      databaseUrl,
      databaseConnections: 4,
      s3Bucket: bucket,
      s3Endpoint: endpoint,
      s3AccessKeyId: credentials?.accessKeyId,
      s3SecretAccessKey: credentials?.secretAccessKey,
    };
    [here, there] = await Promise.all([openService({ config }), openService({ config })]);
    workshop = await openWorkshop(here);
  });
  after(async () => {
    await Promise.allSettled([here.close(), there.close()]);
    postgres.stop();
    await objects.stop();
  });

  const listPath = () => `/api/v1/extension-points/${workshop.extensionPointId}/bindings/first`;

  const statusThere = async (token: string) => (await there.call('GET', listPath(), { token })).statusCode;

  it('serve the bindings and bytes of one node on the other, also when they were cached', async () => {
    const { token } = workshop.viewer;
    const first = await there.call('GET', listPath(), { token });
    assert.equal(first.payload, '{}');
    await workshop.publish(1);
    await until(async () => (await there.call('GET', listPath(), { token })).payload !== '{}');
    const [a, b] = [await here.call('GET', listPath(), { token }), await there.call('GET', listPath(), { token })];
    assert.equal(a.payload, b.payload);
    assert.equal(a.headers.etag, b.headers.etag);
    const { contentAddress } = a.json().median;
    const content = await there.call('GET', `/api/v1/c/${contentAddress}`, { token });
    assert.deepEqual(content.rawPayload, tinyModule(1));
    const etag = String(a.headers.etag);
    assert.equal((await there.call('GET', listPath(), { token, headers: { 'if-none-match': etag } })).statusCode, 304);
  });

  it('send the change event on both nodes', async () => {
    const base = await there.listen();
    const changes = await openEvents(`${base}/api/v1/apps/${workshop.appId}/changes`, { token: workshop.viewer.token });
    try {
      assert.equal((await changes.next())?.event, 'ready');
      await workshop.publish(2);
      const { data } = (await changes.next()) ?? {};
      assert.equal((data as { guestKey: string } | undefined)?.guestKey, 'first');
    } finally {
      await changes.close();
    }
  });

  it('reject a token on one node that was revoked on the other', async () => {
    const token = await here.token(workshop.viewer.id);
    assert.equal(await statusThere(token), 200);
    const { objects: tokens } = await ok<List<TokenInfo>>(here, 'GET', '/api/v1/tokens', { token });
    const { id } = tokens.at(-1) as TokenInfo;
    assert.equal((await here.call('DELETE', `/api/v1/tokens/${id}`, { token })).statusCode, 204);
    await until(async () => (await statusThere(token)) === 401);
  });

  it('refuse the token of a user on one node who was suspended on the other, also after the suspension', async () => {
    const { deps } = here.services;
    const { id, token } = await here.user('Sam');
    const read = async () => (await there.call('GET', '/api/v1/me', { token })).statusCode;
    assert.equal(await read(), 200);
    await suspendUser(deps, 'operator', id);
    const startedAtMs = Date.now();
    await until(async () => (await read()) === 401);
    assert.ok(Date.now() - startedAtMs < 1000);
    await unsuspendUser(deps, 'operator', id);
    assert.equal(await read(), 401);
  });

  it('refuse within a second what another node has revoked at once', async () => {
    const user = await here.user('Ria');
    const [token, key] = [await here.token(user.id), await here.apiKey(user.id)];
    const read = async () => (await there.call('GET', '/api/v1/me', { token })).statusCode;
    const instrument = async () => (await there.call('POST', '/instrument', { token: key })).statusCode;
    assert.deepEqual([await read(), await instrument()], [200, 415]);
    await ok(here, 'POST', '/api/v1/credentials/revoke-all', { token: user.token, json: {} });
    const startedAtMs = Date.now();
    await until(async () => (await read()) === 401 && (await instrument()) === 401);
    assert.ok(Date.now() - startedAtMs < 1000);
    assert.equal((await there.call('GET', '/api/v1/me', { token: user.token })).statusCode, 200);
  });

  it('hide an application on one node from a member who was removed on the other', async () => {
    const { viewer, owner, appId } = workshop;
    assert.equal(await statusThere(viewer.token), 200);
    await ok(here, 'DELETE', `/api/v1/apps/${appId}/members/${viewer.id}`, { token: owner.token });
    await until(async () => (await statusThere(viewer.token)) === 404);
  });

  it('list each other in the status, and apply a revoked operator grant on both', async () => {
    const { id, token } = await here.user('Olga');
    await setOperator(here.services.deps, 'operator', id, true);
    const status = async (node: TestService) => node.call('GET', '/api/v1/status', { token });
    await until(async () => (await status(there)).statusCode === 200);
    const heartbeats = [here, there].map(({ services }) =>
      startHeartbeat(services.deps, services.status, services.log),
    );
    await Promise.all(heartbeats.map((each) => each.beat()));
    for (const [node, other] of [
      [here, there],
      [there, here],
    ] as const) {
      const { metadata, blobs, process, nodes } = (await status(node)).json<ServerStatus>();
      assert.deepEqual([metadata.kind, metadata.isReachable, metadata.knowsCommits], ['postgresql', true, true]);
      assert.deepEqual([blobs.kind, blobs.isReachable], ['s3', true]);
      assert.equal(process.state, 'ready');
      const listed = Object.fromEntries(nodes.map((each) => [each.id, [each.isResponding, each.isLost]]));
      assert.deepEqual(listed, {
        [node.services.status.id]: [true, false],
        [other.services.status.id]: [false, false],
      });
    }
    await Promise.all(heartbeats.map((each) => each.stop()));
    assert.deepEqual((await status(here)).json<ServerStatus>().nodes, []);
    await setOperator(here.services.deps, 'operator', id, false);
    await until(async () => (await status(there)).statusCode === 403);
  });

  it('are not ready while PostgreSQL is down, log the reason, and are ready when it is back', async () => {
    const ready = async (node: TestService) => (await node.call('GET', '/readyz')).statusCode;
    assert.deepEqual([await ready(here), await ready(there)], [200, 200]);
    await postgres.kill();
    assert.equal(await ready(here), 503);
    const answer = await there.call('GET', listPath(), { token: workshop.owner.token });
    assert.equal(answer.statusCode, 503);
    assert.ok(answer.headers['retry-after']);
    await postgres.start();
    await until(async () => (await ready(here)) === 200);
    await until(async () => (await statusThere(workshop.owner.token)) === 200);
  });
});
