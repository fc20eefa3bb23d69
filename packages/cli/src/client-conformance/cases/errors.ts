import type { ConformanceCase } from '../case.ts';
import { problem, type RequestKind, type Responder } from '../fake-server.ts';
import {
  compressAlways,
  compressIfAccepted,
  dribble,
  failWith,
  hang,
  reset,
  resetInBody,
  sendEndlessly,
  sendGarbage,
  showPage,
  stall,
  truncate,
  truncateChunks,
  withBody,
  withHeaders,
} from '../faults.ts';

interface Fault {
  readonly name: string;
  /** Completes "The client keeps its plugins, and recovers, when a response …". */
  readonly when: string;
  readonly responder: Responder;
  /** Whether a client can use the response. */
  readonly isUsable?: boolean;
}

const anyFaults: readonly Fault[] = [
  { name: '500', when: 'has the status 500', responder: failWith(500, 'internal') },
  { name: '502-page', when: "is a proxy's page with the status 502", responder: showPage(502) },
  { name: '503', when: 'has the status 503', responder: failWith(503, 'unavailable') },
  { name: '200-page', when: "is a proxy's page with the status 200", responder: showPage(200) },
  {
    name: '204',
    when: 'has the status 204',
    responder: ({ send }) => send({ status: 204, headers: {}, body: Buffer.alloc(0) }),
  },
  { name: 'reset', when: 'does not come because the connection is reset', responder: reset },
  { name: 'reset-in-body', when: 'is interrupted by a reset', responder: resetInBody },
  { name: 'truncated', when: 'is shorter than its content-length', responder: truncate },
  { name: 'truncated-chunks', when: 'has no last chunk', responder: truncateChunks },
  { name: 'garbage', when: 'is not HTTP', responder: sendGarbage },
  { name: 'hang', when: 'never begins', responder: hang },
  { name: 'stall', when: 'stops in the body', responder: stall },
  { name: 'slow', when: 'takes seconds', responder: dribble, isUsable: true },
  { name: 'gzip', when: 'is compressed, if the client accepts gzip', responder: compressIfAccepted, isUsable: true },
  { name: 'gzip-unasked', when: 'is compressed without being asked', responder: compressAlways, isUsable: true },
  {
    name: 'gzip-false',
    when: 'has a wrong content-encoding',
    responder: withHeaders({ 'content-encoding': 'gzip' }),
    isUsable: true,
  },
];

const badBody = (text: string): Responder => withBody(() => Buffer.from(text));

const listFaults: readonly Fault[] = [
  ...anyFaults,
  { name: '429', when: 'has the status 429', responder: failWith(429, 'rate_limited') },
  { name: 'empty', when: 'is empty', responder: badBody('') },
  { name: 'array', when: 'is an array', responder: badBody('[]') },
  { name: 'null', when: 'is null', responder: badBody('null') },
  { name: 'string', when: 'is a string', responder: badBody('"greet"') },
  { name: 'no-objects', when: 'has no objects as entries, or shows no plugins', responder: badBody('[{"greet":1}]') },
  {
    name: 'cut',
    when: 'is cut, and its content-length is that of the part',
    responder: withBody((body) => body.subarray(0, -1)),
  },
  {
    name: 'trailing',
    when: 'has text after the JSON',
    responder: withBody((body) => Buffer.concat([body, Buffer.from('{}')])),
  },
  { name: 'deep', when: 'is nested 100,000 levels deep', responder: badBody(`{"greet":${'['.repeat(100_000)}`) },
  {
    name: '304-without-condition',
    when: 'is 304 to a request without if-none-match',
    isUsable: true,
    responder: ({ request, send, proceed }) =>
      request.headers['if-none-match'] === undefined
        ? send({ status: 304, headers: {}, body: Buffer.alloc(0) })
        : proceed(),
  },
];

const contentFaults: readonly Fault[] = [
  ...anyFaults,
  { name: '404', when: 'has the status 404', responder: failWith(404, 'not_found') },
  {
    name: '304',
    when: 'is 304 to a request without if-none-match',
    responder: ({ send }) => send({ status: 304, headers: {}, body: Buffer.alloc(0) }),
  },
  { name: 'empty', when: 'is empty', responder: badBody('') },
  { name: 'wrong-bit', when: 'has a wrong bit', responder: withBody(withWrongBit) },
  {
    name: 'cut',
    when: 'is cut, and its content-length is that of the part',
    responder: withBody((body) => body.subarray(0, -1)),
  },
  { name: 'longer', when: 'has further bytes', responder: withBody((body) => Buffer.concat([body, Buffer.from([0])])) },
  { name: 'other-module', when: 'is another module', responder: badBody('\0asm\u0001\0\0\0') },
];

/** A fault of each kind, first at the start of a client without a cache, then at a change. */
export const errorCases: readonly ConformanceCase[] = [
  ...listFaults.map((fault) => recovery('list', fault)),
  ...contentFaults.map((fault) => recovery('content', fault)),
  {
    name: 'start-without-server',
    expected: 'tries again if the server is unreachable at its start, and reports this on stderr',
    async run({ server, bind, start, until, showsList }) {
      bind('greet');
      await server.goDown();
      await start();
      await until('write an error to stderr', ({ stderr }) => stderr.trim() !== '');
      await server.comeUp();
      await showsList();
    },
  },
  {
    name: 'server-restart',
    expected: 'keeps its plugins while the server is away, and then shows what has changed',
    async run({ server, bind, begin, pause, until, client, showsList }) {
      bind('greet');
      await begin();
      const { state } = client();
      await server.goDown();
      await pause(2_000);
      await until('show what it had', ({ state: later }) => later?.get('greet') === state?.get('greet'));
      bind('greet');
      await server.comeUp();
      await showsList();
    },
  },
  {
    name: 'content-fails-for-one',
    expected:
      'shows the other changes of a list while the content of one plugin fails, and keeps the version of that one',
    async run({ server, guestKey, bind, unbind, begin, publish, until, showsList, client }) {
      bind('broken', 'removed', 'changed');
      await begin();
      const old = client().state?.get('broken');
      unbind('removed');
      bind('broken', 'changed');
      const { address = '' } = server.listOf(guestKey).get('broken') ?? {};
      let isBroken = true;
      server.replace(
        'content',
        ({ request, send, proceed }) => {
          if (isBroken && request.url?.endsWith(address)) send(problem(500, 'internal'));
          else proceed();
        },
        1_000,
      );
      publish('added');
      const list = server.listOf(guestKey);
      await until(
        'show the other changes, and the old version of the broken plugin',
        ({ state }) =>
          state?.size === 3 &&
          state.get('broken') === old &&
          state.get('changed') === list.get('changed')?.address &&
          state.get('added') === list.get('added')?.address,
      );
      isBroken = false;
      await showsList();
    },
  },
  ...(['list', 'content', 'stream'] as const).map((kind) => endless(kind)),
];

function recovery(kind: RequestKind, { name, when, responder, isUsable = false }: Fault): ConformanceCase {
  return {
    name: `${kind}-${name}`,
    expected: `${isUsable ? 'uses the response, or ' : ''}keeps its plugins and tries again, when a ${kind} ${when}`,
    async run({ server, guestKey, bind, start, publish, showsList, check, requests, client }) {
      bind('greet');
      server.replace(kind, responder);
      await start();
      await showsList();
      if (!isUsable) check(requests(kind).length > 1, `did not ask again for the ${kind}`);
      const asked = requests(kind).length;
      server.replace(kind, responder);
      publish('sum');
      const added = server.listOf(guestKey).get('sum')?.address;
      const { length: before } = client().states;
      await showsList();
      check(
        client()
          .states.slice(before)
          .every((state) => state.has('greet')),
        'did not keep the plugins that it had',
      );
      if (!isUsable) {
        const again = kind === 'content' ? requests(kind, added).length : requests(kind).length - asked;
        check(again > 1, `did not ask again for the ${kind}`);
      }
    },
  };
}

const maxBodyBytes = 256 * 1024 * 1024;

function endless(kind: RequestKind): ConformanceCase {
  return {
    name: `${kind}-endless`,
    expected: `stops reading a ${kind === 'stream' ? 'line of a stream' : kind} that exceeds a limit, of 64 MiB or less, and tries again`,
    ...(kind === 'stream' && { needs: 'streaming' as const }),
    async run({ server, bind, start, until, showsList, check, requests }) {
      let sentBytes = 0;
      bind('greet');
      server.replace(
        kind,
        sendEndlessly((bytes) => {
          sentBytes = bytes;
        }),
      );
      await start();
      await showsList();
      await until(`ask again for the ${kind}`, () => requests(kind).length > 1);
      check(sentBytes < maxBodyBytes, 'read 256 MiB');
    },
  };
}

function withWrongBit(body: Buffer): Buffer {
  const wrong = Buffer.from(body);
  const at = wrong.length - 10;
  wrong[at] = (wrong[at] ?? 0) ^ 1;
  return wrong;
}
