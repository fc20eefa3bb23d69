import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openService, type TestService } from './helpers/service.ts';
import { exchange, requestOf } from './helpers/wire.ts';
import { invite, makeWorld, tinyModule, type World } from './helpers/world.ts';

/*
 * Requests as the clients in the field send them, byte for byte: to change the base URL is all that a host should need.
 */
describe('existing clients', () => {
  let service: TestService;
  let world: World;
  let base: string;
  let host: string;
  before(async () => {
    service = await openService();
    base = await service.listen();
    host = new URL(base).host;
    world = await makeWorld(service);
  });
  after(() => service.close());

  const head = (request: string, token: string, ...more: string[]) => [
    request,
    `Host: ${host}`,
    'User-Agent: libhttp/1.0',
    'Accept: */*',
    `Authorization: Bearer ${token}`,
    ...more,
  ];

  it('list extension points, and read exports by name', async () => {
    const request = requestOf(head(`GET /api/v1/apps/${world.appId}/extension-points HTTP/1.1`, world.owner.token));
    const answer = await exchange(base, request);
    assert.equal(answer.status, 200);
    const { objects } = JSON.parse(answer.body.toString());
    assert.equal(objects.length, 1);
    assert.equal(objects[0].id, world.extensionPointId);
    assert.equal(objects[0].name, 'Formulas');
    assert.deepEqual(Object.keys(objects[0].schema.exports), ['evaluate']);
  });

  it('invite at the older path, with more fields, and with or without a delivery method', async () => {
    const fields = { email: 'g@example.org', name: 'Grace', guestKey: 'g-1' };
    for (const body of [JSON.stringify({ ...fields, deliveryMethod: 'link' }), JSON.stringify(fields)]) {
      const request = requestOf(
        head(
          `POST /api/v1/apps/${world.appId}/guests/invite HTTP/1.1`,
          world.owner.token,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
        ),
        body,
      );
      const answer = await exchange(base, request);
      assert.equal(answer.status, 200);
      const { status, link } = JSON.parse(answer.body.toString());
      assert.equal(status, 'ok');
      assert.match(link, new RegExp(`^${RegExp.escape(base)}/accept-invite\\?code=[A-Za-z0-9_-]{43}$`));
    }
  });

  it('send the guest key unencoded, and a non-standard header', async () => {
    const path = `/api/v1/extension-points/${world.extensionPointId}/bindings/${world.guestKey}`;
    const dated = 'If-Updated-Since: Wed, 01 Jan 2070 00:00:00 GMT';
    const answer = await exchange(base, requestOf(head(`GET ${path} HTTP/1.1`, world.owner.token, dated)));
    assert.equal(answer.status, 200);
    const list = JSON.parse(answer.body.toString());
    assert.equal(list.median.contentAddress, world.plugin.contentAddress);
    assert.ok(!Number.isNaN(Date.parse(list.median.updatedAt)));
  });

  it('fetch content', async () => {
    const path = `/api/v1/c/${world.plugin.contentAddress}`;
    const answer = await exchange(base, requestOf(head(`GET ${path} HTTP/1.1`, world.owner.token)));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/wasm');
    assert.equal(createHash('sha256').update(answer.body).digest('base64url'), world.plugin.contentAddress);
  });

  it('publish a form with the field artifact', async () => {
    const user = await service.user();
    const code = await invite(service, world.owner, world.appId, 'publisher');
    await service.call('POST', '/api/v1/invitations/accept', { token: user.token, json: { code } });
    const boundary = '------------------------d74496d66958873e';
    const body = Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="artifact"; filename="plugin.wasm"\r\nContent-Type: application/wasm\r\n\r\n`,
      ),
      tinyModule(7),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const path = `/api/v1/artifacts/${world.extensionPointId}/plugin/${user.id}/greet`;
    const request = requestOf(
      head(
        `PUT ${path} HTTP/1.1`,
        user.token,
        `Content-Length: ${body.length}`,
        `Content-Type: multipart/form-data; boundary=${boundary}`,
      ),
      body,
    );
    const answer = await exchange(base, request);
    assert.equal(answer.status, 201, answer.body.toString());
    const plugin = JSON.parse(answer.body.toString());
    assert.equal(plugin.id, `${world.extensionPointId}/plugin/${user.id}/greet`);
    assert.equal(plugin.extensionPointId, world.extensionPointId);
    assert.equal(plugin.name, 'greet');
    for (const field of ['createdAt', 'updatedAt']) assert.ok(!Number.isNaN(Date.parse(plugin[field])), field);
  });

  it('update an extension point with a schema as YAML text, and nothing else', async () => {
    const schema = 'version: v1-draft\nexports:\n  - evaluate\n  - name: describe\n    input:\n      type: string\n';
    const body = JSON.stringify({ name: 'Formulas', schema });
    const path = `/api/v1/extension-points/${world.extensionPointId}`;
    const request = requestOf(
      head(
        `PUT ${path} HTTP/1.1`,
        world.owner.token,
        'content-type: application/json; charset=utf-8',
        `content-length: ${body.length}`,
      ),
      body,
    );
    const answer = await exchange(base, request);
    assert.equal(answer.status, 200, answer.body.toString());
    const updated = JSON.parse(answer.body.toString());
    assert.deepEqual(updated.schema, {
      version: 'v1-draft',
      exports: { evaluate: {}, describe: { input: { type: 'string' } } },
    });
  });

  it('speak HTTP/1.0, and send bodies in chunks', async () => {
    const old = requestOf([`GET /healthz HTTP/1.0`]);
    const answer = await exchange(base, old);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.connection, 'close');

    const json = JSON.stringify({ name: 'Formulas' });
    const path = `/api/v1/extension-points/${world.extensionPointId}`;
    const lines = head(
      `PUT ${path} HTTP/1.1`,
      world.owner.token,
      'content-type: application/json',
      'transfer-encoding: chunked',
    );
    const chunks = [...json].map((letter) => `1\r\n${letter}\r\n`).join('');
    assert.equal((await exchange(base, requestOf(lines, `${chunks}0\r\n\r\n`))).status, 200);
  });
});
