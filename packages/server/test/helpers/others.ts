import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Served } from './served.ts';
import type { TestService, TestUser } from './service.ts';
import { readAnswer, requestOf } from './wire.ts';
import { formOf, makeApp, makeExtensionPoint, makeGuest, publishAs, sampleModule, tinyModule } from './world.ts';

/** A client that uses all parts of the server while others overload it. */
export interface Bystander {
  /**
   * Reads lists and contents, publishes, instruments and listens to news, so many times one after the other.
   *
   * @throws AssertionError unless each is answered as it must be
   */
  work(rounds: number): Promise<void>;
}

/** @returns what has them work with a server on the same data */
export async function makeBystander(service: TestService): Promise<(served: Served) => Bystander> {
  const owner = await service.user('Bystander');
  const appId = await makeApp(service, owner);
  const extensionPointId = await makeExtensionPoint(service, owner, appId);
  await makeGuest(service, owner, appId, 'own', owner);
  const { contentAddress } = await publishAs(service, owner, extensionPointId, 'first', tinyModule(1));
  const key = await service.apiKey(owner.id);
  const world = { owner, appId, extensionPointId, contentAddress, key };
  return (served) => ({ work: (rounds) => work(served, world, rounds) });
}

interface OwnWorld {
  readonly owner: TestUser;
  readonly appId: string;
  readonly extensionPointId: string;
  readonly contentAddress: string;
  readonly key: string;
}

let published = 1000;

async function work(served: Served, world: OwnWorld, rounds: number): Promise<void> {
  const { owner, appId, extensionPointId, contentAddress, key } = world;
  const authorization = `authorization: Bearer ${owner.token}`;
  const list = `/api/v1/extension-points/${extensionPointId}/bindings/own`;
  const form = formOf([{ name: 'wasm', content: sampleModule }]);
  for (let round = 0; round < rounds; round++) {
    const asked = await served.ask([`GET ${list} HTTP/1.1`, authorization]);
    assert.equal(asked.status, 200, asked.body.toString());
    const again = await served.ask([`GET ${list} HTTP/1.1`, authorization, `if-none-match: ${asked.headers.etag}`]);
    assert.equal(again.status, 304);
    const content = await served.ask([`GET /api/v1/c/${contentAddress} HTTP/1.1`, authorization]);
    assert.equal(content.status, 200);
    assert.deepEqual(content.body, tinyModule(1));
    const bytes = tinyModule(published++);
    const put = await served.ask(
      [
        `PUT /api/v1/artifacts/${extensionPointId}/plugin/${owner.id}/first HTTP/1.1`,
        authorization,
        'content-type: application/wasm',
        `content-length: ${bytes.length}`,
      ],
      bytes,
    );
    assert.ok(put.status === 201 || put.status === 200, put.body.toString());
    const instrumented = await served.ask(
      [
        'POST /instrument HTTP/1.1',
        `authorization: Bearer ${key}`,
        `content-type: ${form.headers['content-type']}`,
        `content-length: ${form.body.length}`,
      ],
      form.body,
    );
    assert.equal(instrumented.status, 200, instrumented.body.toString());
    await listen(served, `/api/v1/apps/${appId}/changes`, authorization);
  }
}

async function listen(served: Served, path: string, authorization: string): Promise<void> {
  const socket = await served.connect();
  socket.write(requestOf([`GET ${path} HTTP/1.1`, 'host: x', authorization]));
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 200 /);
  socket.destroy();
}

/** The status of the one answer that comes on a connection; `undefined` when it ends without one. */
export async function statusOn(socket: Parameters<typeof readAnswer>[0]): Promise<number | undefined> {
  return readAnswer(socket).then(
    ({ status }) => status,
    () => undefined,
  );
}
