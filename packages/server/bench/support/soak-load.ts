import { randomBytes, randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { moduleOfSize } from './module-of-size.ts';
import type { Stage } from './stage.ts';

const [KiB, MiB] = [1024, 1024 * 1024];

/** The sizes of the plugins that are fetched: together more than the content cache holds. */
const fetchedSizes = [
  ...Array.from({ length: 20 }, () => 64 * KiB),
  ...Array.from({ length: 20 }, () => MiB),
  ...Array.from({ length: 20 }, () => 8 * MiB),
];

/** How many plugins get versions in turn, so that each gets fewer than one a minute. */
const publishedPlugins = 100;

/** What the load needs to know of the server. */
export interface SoakTarget {
  readonly port: number;
  readonly stage: Stage;
  /** The path of a binding list without the guest key, and how many keys have one. */
  readonly lists: string;
  readonly keys: number;
  readonly keyPrefix: string;
  readonly changes: string;
  readonly account: { readonly email: string; readonly password: string };
}

/** How often each kind of request was answered with each status. */
export type Counts = Map<string, number>;

interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** Asks a server for a bit of everything, at a steady rate, until the signal aborts. */
export async function runSoak(target: SoakTarget, listsPerSecond: number, signal: AbortSignal): Promise<Counts> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const counts: Counts = new Map();
  const ask = (kind: string, method: string, path: string, headers: object, body?: Uint8Array) =>
    new Promise<Answer>((resolve, reject) => {
      const options = { port: target.port, host: '127.0.0.1', method, path, agent, headers: { ...headers } };
      request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0, headers: fields } = response;
          count(`${kind} ${status}`);
          resolve({ status, etag: fields.etag, body: Buffer.concat(chunks) });
        });
      })
        .on('error', reject)
        .end(body);
    });
  const count = (what: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  };
  const { headers, keyHeaders, publish } = target.stage;
  const wasm = { ...headers, 'content-type': 'application/wasm' };
  const putPlugin = async (name: string, size: number): Promise<Answer> => {
    const module = moduleOfSize(size);
    module.set(randomBytes(16), module.length - 16);
    return ask('publish', 'PUT', publish.replace('p{connection}', name), wasm, module);
  };

  const contents: string[] = [];
  for (const [at, size] of fetchedSizes.entries()) {
    const { status, body } = await putPlugin(`content-${at}`, size);
    if (status !== 201) throw new Error(`publish: ${status} ${body}`);
    contents.push(`/api/v1/c/${(JSON.parse(body.toString()) as { contentAddress: string }).contentAddress}`);
    await sleep(200);
  }

  const etags = new Map<string, string>();
  const list = async (): Promise<void> => {
    const path = `${target.lists}${target.keyPrefix}${randomInt(target.keys)}`;
    const known = Math.random() < 0.5 ? etags.get(path) : undefined;
    const conditions = known === undefined ? {} : { 'if-none-match': known };
    const { etag } = await ask('list', 'GET', path, { ...headers, ...conditions });
    if (etag !== undefined && etags.size < 1000) etags.set(path, etag);
  };
  const content = async (): Promise<void> => {
    await ask('content', 'GET', contents[randomInt(contents.length)] as string, headers);
  };
  let published = 0;
  const publishOne = async (): Promise<void> => {
    const size = published % 20 === 0 ? MiB : randomInt(KiB, 64 * KiB);
    await putPlugin(`published-${published++ % publishedPlugins}`, size);
  };
  const instrument = async (): Promise<void> => {
    const boundary = randomBytes(8).toString('hex');
    const type = `multipart/form-data; boundary=${boundary}`;
    const part = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(part('wasm')),
      moduleOfSize(randomInt(KiB, MiB)),
      Buffer.from(`\r\n${part('config')}{"allowed":[]}\r\n--${boundary}--\r\n`),
    ]);
    await ask('instrument', 'POST', '/instrument', { ...keyHeaders, 'content-type': type }, body);
  };
  const own = { host: `localhost:${target.port}`, origin: `http://localhost:${target.port}` };
  const signIn = async (): Promise<void> => {
    const fields = { ...own, 'content-type': 'application/json' };
    await ask('sign-in', 'POST', '/session', fields, Buffer.from(JSON.stringify(target.account)));
  };
  const stream = async (): Promise<void> => {
    const response = request({ port: target.port, host: '127.0.0.1', path: target.changes, headers: { ...headers } });
    response.on('response', (message) => {
      count(`stream ${message.statusCode}`);
      message.resume().on('error', () => {});
    });
    response.on('error', () => {}).end();
    await sleep(randomInt(1000, 60_000), undefined, { signal }).catch(() => {});
    response.destroy();
  };

  const every = async (perSecond: number, work: () => Promise<void>): Promise<void> => {
    const under = new Set<Promise<void>>();
    for (let next = performance.now(); !signal.aborted; ) {
      next = Math.max(next + 1000 / perSecond, performance.now() - 1000);
      await sleep(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => {});
      if (signal.aborted || under.size >= 100) continue;
      const one = work().catch((error: Error) => count(`failed ${error.message}`));
      under.add(one);
      one.then(() => under.delete(one));
    }
    await Promise.all(under);
  };
  await Promise.all([
    every(listsPerSecond, list),
    every(1, content),
    every(0.5, publishOne),
    every(0.25, instrument),
    every(1 / 20, signIn),
    every(0.5, stream),
  ]);
  agent.destroy();
  return counts;
}
