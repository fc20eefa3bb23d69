import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Node } from './nodes.ts';
import type { Notes } from './notes.ts';
import type { Chance } from './random.ts';

export interface Question {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: Uint8Array;
}

/** What came back, and between which moments it was asked and came. */
export interface Answer {
  /** `undefined` when the connection failed or broke. */
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly node: Node;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Sends each question to one of the nodes that listen, whichever; and changes to the same one for a while, so that the others hear
 * of them in no other way than from each other: their own changes would have them look anew.
 */
export interface Balancer {
  ask(method: string, path: string, question?: Question, node?: Node): Promise<Answer>;
  close(): void;
}

/** For how long changes go to the same node. */
const favouredMs = 4000;

/** Where contents are, by their addresses. */
export const contentPath = '/api/v1/c/';

/** Beyond this a request hangs: stores that are away are waited for no longer than 10 seconds at a time, on whatever machine. */
const hangsMs = 120_000;

export function createBalancer(nodes: readonly Node[], chance: Chance, notes: Notes, now: () => number): Balancer {
  const agent = new Agent({ keepAlive: true });
  let [favourite, favouredUntilMs] = [chance.pick(nodes), Number.NEGATIVE_INFINITY];
  const pickFor = (method: string): Node => {
    if (method === 'GET') return pick(nodes, chance);
    if (now() > favouredUntilMs || favourite.port === undefined) {
      favourite = pick(nodes, chance);
      favouredUntilMs = now() + favouredMs;
    }
    return favourite;
  };
  const ask: Balancer['ask'] = async (method, path, question = {}, node = pickFor(method)) => {
    const fromMs = now();
    const { port } = node;
    let status: number | undefined;
    let headers: IncomingHttpHeaders = {};
    let body = Buffer.alloc(0);
    let broke: unknown;
    try {
      if (port === undefined) throw new Error('no node listens');
      const answer = await send(agent, port, method, path, question);
      headers = answer.headers;
      body = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>));
      status = answer.statusCode;
    } catch (error) {
      broke = error;
    }
    const toMs = now();
    const route = `${method} ${path.split('/').slice(1, 4).join('/')}`;
    const where = `${route} on node ${node.number}, asked at ${Math.round(fromMs)} ms`;
    if (toMs - fromMs > hangsMs) notes.wrong(`${where} hung: ${broke ?? status}`);
    if (status !== undefined) demandHonest(status, headers, body, (what) => notes.wrong(`${where}: ${what}`));
    // A content that its store cut off, or spoilt, is cut off too.
    const mayBreak = path.startsWith(contentPath) || node.wasDisturbedSince(fromMs);
    if (status === undefined && !mayBreak) notes.wrong(`${where}: ${broke}`);
    notes.count(`${route}: ${status ?? 'no answer'}`);
    return { status, headers, body, node, fromMs, toMs };
  };
  return { ask, close: () => agent.destroy() };
}

function pick(nodes: readonly Node[], chance: Chance): Node {
  const listening = nodes.filter(({ port }) => port !== undefined);
  return chance.pick(listening.length === 0 ? nodes : listening);
}

async function send(agent: Agent, port: number, method: string, path: string, question: Question) {
  const { token, json, body = json === undefined ? undefined : Buffer.from(JSON.stringify(json)) } = question;
  const sent = request({
    agent,
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(body !== undefined && { 'content-length': body.length }),
      ...question.headers,
    },
    timeout: hangsMs,
  });
  sent.on('timeout', () => sent.destroy(new Error('nothing came for two minutes')));
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

/** Failures say so in the form of all errors, and when to come again. */
function demandHonest(status: number, headers: IncomingHttpHeaders, body: Buffer, wrong: (what: string) => void): void {
  if (status >= 500 && status !== 503) wrong(`${status} ${body}`);
  if ((status === 503 || status === 429) && headers['retry-after'] === undefined)
    wrong(`${status} without retry-after`);
  if (status < 400) return;
  const isProblem = headers['content-type'] === 'application/problem+json';
  if (!isProblem || (JSON.parse(body.toString()) as { status: number }).status !== status) wrong(`${status} ${body}`);
}
