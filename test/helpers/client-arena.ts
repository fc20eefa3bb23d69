import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ResponseFault, responseFault } from '../../packages/client/test/helpers/faults.ts';
import { numberedModule } from '../../packages/client/test/helpers/numbered-module.ts';
import { openStage, type Stage } from '../../packages/client/test/helpers/stage.ts';
import type { Task } from '../engines/client-exercise.mjs';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { createRandom, type Random } from './random.ts';

/** A real server with continuous publishing, behind a proxy that breaks about a third of the responses. */
export interface Arena {
  readonly stage: Stage;
  readonly proxy: FaultProxy;
  /** The input of the exercise. A request to its `calmUrl` ends the faults and the publishing. */
  readonly task: Pick<Task, 'baseUrl' | 'calmUrl' | 'token' | 'extensionPointId' | 'guests'>;
  /** Starts the faults and the publishing. */
  begin(): void;
  /** The number of broken requests by kind of fault. */
  faults(): Map<string, number>;
  /** The credentials of each request to the target of redirects. */
  strayVisits(): readonly (string | undefined)[];
  close(): Promise<void>;
}

const guestKeys = ['plain', 'customers/globex', 'ünï cödé/🦀', 'a?b#c%2Fd\\e', 'constructor', '__proto__'];
const pluginNames = ['10', 'constructor', 'valueOf', 'median'];

export async function openArena(seed: number): Promise<Arena> {
  const random = createRandom(seed);
  const stage = await openStage();
  const proxy = await openFaultProxy(stage.url);
  const guests = guestKeys.map((key, at) => ({
    key,
    names: pluginNames.slice(0, 1 + (at % pluginNames.length)).map((name) => `${name}.${at}`),
  }));
  let number = 0;
  const publish = (key: string, name: string) =>
    stage.publish(key, name, numberedModule(++number, random, 100 + random.below(4000)));
  for (const { key, names } of guests) {
    await stage.invite(key);
    for (const name of names) await publish(key, name);
  }

  const strays: (string | undefined)[] = [];
  const elsewhere = createServer(({ headers }, response) => {
    strays.push(headers.authorization);
    response.end('{}');
  });
  let isCalm = true;
  let disturbances: Promise<unknown> = Promise.resolve();
  const control = createServer(async (_, response) => {
    isCalm = true;
    await disturbances;
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('calm');
  });
  const [calmUrl, strayUrl] = [await listen(control), await listen(elsewhere)];

  const choose = createFaults(random, strayUrl);
  const counts = new Map<string, number>();
  proxy.injectBy(({ path }) => {
    const fault = isCalm
      ? undefined
      : choose(path.includes('/bindings/') ? 'list' : path.endsWith('/changes') ? 'news' : 'content');
    if (fault !== undefined) counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
    return fault && responseFault(fault);
  });

  async function keepPublishing(): Promise<void> {
    while (!isCalm) {
      const { key, names } = random.pick(guests);
      await publish(key, random.pick(names));
      await sleep(random.below(30));
    }
  }

  async function keepFalling(): Promise<void> {
    while (!isCalm) {
      await sleep(200 + random.below(400));
      proxy.cutEventStreams();
      await sleep(random.below(300));
      await proxy.goDown();
      await sleep(random.below(80));
      await proxy.comeUp();
    }
  }

  return {
    stage,
    proxy,
    task: { baseUrl: proxy.url, calmUrl, token: stage.token, extensionPointId: stage.extensionPointId, guests },
    begin() {
      isCalm = false;
      disturbances = Promise.all([keepPublishing(), keepFalling()]);
    },
    faults: () => counts,
    strayVisits: () => strays,
    async close() {
      isCalm = true;
      await disturbances;
      for (const server of [control, elsewhere]) server.close().closeAllConnections();
      await proxy.close();
      await stage.close();
    },
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

type Draw = (random: Random, strayUrl: string) => ResponseFault;

/** Draws a fault for a kind of request, or none. */
function createFaults(
  random: Random,
  strayUrl: string,
): (about: 'list' | 'content' | 'news') => ResponseFault | undefined {
  const own = { list: ofLists, content: ofContents, news: ofNews };
  return (about) => {
    if (!random.chance(0.35)) return undefined;
    return random.pick(random.chance(0.2) ? own[about] : ofAll)(random, strayUrl);
  };
}

const ofAll: readonly Draw[] = [
  () => ({ kind: 'refuse' }),
  () => ({ kind: 'close' }),
  () => ({ kind: 'garbage' }),
  () => ({ kind: 'coding' }),
  () => ({ kind: 'bit' }),
  (random) => ({ kind: 'reset', after: random.pick(['fields', 'half']) }),
  (random) => ({ kind: 'late', ms: random.below(60) }),
  (random) => ({ kind: 'dribble', pieces: 1 + random.below(12), everyMs: random.below(4) }),
  (random) => ({ kind: 'truncate', framing: random.pick(['content-length', 'chunked', 'close', 'shortened']) }),
  (random) => ({ kind: 'status', status: random.pick([500, 502, 503, 504]), page: random.chance(0.5) }),
  (random) => ({ kind: 'status', status: 503, retryAfter: random.pick(['0', '1', 'soon', '']) }),
  (random) => ({ kind: 'status', status: 429, retryAfter: random.pick(['0', '-1', new Date().toUTCString()]) }),
  (random) => ({ kind: 'status', status: random.pick([401, 403]) }),
  () => ({ kind: 'status', status: 404, page: true }),
  (random, location) => ({ kind: 'redirect', status: random.pick([301, 302, 303, 307, 308]), location }),
  () => ({ kind: 'body', contentType: 'text/html', body: '<!doctype html><title>Sign in to the network</title>' }),
  // Faults that take a timeout or 16 MiB are rare.
  (random) => (random.chance(0.3) ? { kind: 'hang' } : { kind: 'close' }),
  (random) => (random.chance(0.3) ? { kind: 'stall' } : { kind: 'refuse' }),
  (random) => (random.chance(0.05) ? { kind: 'endless' } : { kind: 'close' }),
];

const ofLists: readonly Draw[] = [
  (random) => ({ kind: 'etag', value: random.pick(['"another"', 'W/"weak"', 'unquoted', undefined]) }),
  () => ({ kind: 'notModified', etag: '"another"' }),
  (random) => ({
    kind: 'body',
    contentType: 'application/json',
    body: random.pick(['', '[]', 'null', '"a"', '{"a":1}']),
  }),
];

const ofContents: readonly Draw[] = [
  () => ({ kind: 'body', contentType: 'application/wasm', body: '\0asm\u0001\0\0\0' }),
  () => ({ kind: 'notModified', etag: undefined }),
];

const ofNews: readonly Draw[] = [
  () => ({ kind: 'status', status: 404 }), // an older server
  () => ({ kind: 'body', contentType: 'text/event-stream', body: 'id: 1\nevent: binding\ndata: {\n\n' }),
];
