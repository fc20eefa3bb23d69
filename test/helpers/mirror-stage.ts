import assert from 'node:assert/strict';
import { openService, type TestService } from '../../packages/server/test/helpers/service.ts';
import { makeWorld, publishAs, tinyModule, type World } from '../../packages/server/test/helpers/world.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { type MirrorOptions, type MirrorProcess, makeMirror } from './mirror-process.ts';
import { until } from './until.ts';

/** A source behind a proxy, and what a mirror of it needs. */
export interface Stage {
  readonly source: TestService;
  readonly world: World;
  readonly proxy: FaultProxy;
  /** A token of a viewer, for the mirror. */
  readonly token: string;
}

export async function openStage(config: NonNullable<Parameters<typeof openService>[0]>['config'] = {}): Promise<Stage> {
  const source = await openService({ config: { changeHeartbeatMs: 300, ...config } });
  const world = await makeWorld(source);
  const proxy = await openFaultProxy(await source.listen());
  const token = await source.token(world.viewer.id, { scopes: ['read'] });
  return { source, world, proxy, token };
}

export async function closeStage({ source, proxy }: Stage): Promise<void> {
  await proxy.close();
  await source.close();
}

export const mirrorOf = ({ proxy, token }: Stage, options: MirrorOptions = {}) =>
  makeMirror({ source: proxy.url, token }, options);

export const listPath = ({ extensionPointId }: Pick<World, 'extensionPointId'>, guestKey: string) =>
  `/api/v1/extension-points/${extensionPointId}/bindings/${encodeURIComponent(guestKey)}`;

/** What a host gets, without the date and the id of the request. */
export async function answerOf(response: Response) {
  const {
    date: _date,
    'x-request-id': _id,
    connection: _connection,
    'keep-alive': _alive,
    ...headers
  } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()).toString('base64') };
}

/** Compares a list, its 304, and all its contents with the source's. */
export async function assertEqual(stage: Stage, mirror: MirrorProcess, guestKey: string): Promise<void> {
  const { source, world, token } = stage;
  const base = await baseOf(source);
  const at = (path: string, headers: Record<string, string> = {}) =>
    fetch(base + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const path = listPath(world, guestKey);
  const [here, there] = [await answerOf(await at(path)), await answerOf(await mirror.get(path))];
  assert.deepEqual(there, here);
  const unchanged = { 'if-none-match': String(here.headers.etag) };
  assert.deepEqual(await answerOf(await mirror.get(path, unchanged)), await answerOf(await at(path, unchanged)));
  for (const { contentAddress } of Object.values(
    JSON.parse(Buffer.from(here.body, 'base64').toString()) as Record<string, { contentAddress: string }>,
  )) {
    const content = `/api/v1/c/${contentAddress}`;
    const range = { range: 'bytes=2-9' };
    assert.deepEqual(await answerOf(await mirror.get(content)), await answerOf(await at(content)));
    assert.deepEqual(await answerOf(await mirror.get(content, range)), await answerOf(await at(content, range)));
  }
}

export const jsonOf = async <T>(response: Promise<Response>): Promise<T> => (await response).json() as Promise<T>;

export const baseOf = async ({ services }: TestService) => services.addresses.base();

export const etagAt = async (mirror: MirrorProcess, path: string) => (await mirror.get(path)).headers.get('etag');
export const etagOf = async ({ source, token }: Stage, path: string) =>
  (await source.call('GET', path, { token })).headers.etag;

/** Waits until the mirror's list is the source's. @returns how long it took, in milliseconds */
export async function untilEqual(stage: Stage, mirror: MirrorProcess, guestKey: string): Promise<number> {
  const startMs = performance.now();
  const path = listPath(stage.world, guestKey);
  const wanted = await etagOf(stage, path);
  await until(async () => (await etagAt(mirror, path)) === wanted, {
    message: () => `the list differs:\n${mirror.log()}`,
  });
  return performance.now() - startMs;
}

export const untilReady = (mirror: MirrorProcess) =>
  until(mirror.isReady, { message: () => `not ready:\n${mirror.log()}` });

export const publish = ({ source, world }: Stage, name: string, number: number) =>
  publishAs(source, world.guest, world.extensionPointId, name, tinyModule(number));
