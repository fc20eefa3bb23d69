import type { ConformanceCase } from '../case.ts';
import type { RequestKind } from '../fake-server.ts';
import { failWith, redirectTo } from '../faults.ts';

const retryAfterSeconds = 4;
/** Clocks and timers differ by this much. */
const toleranceMs = 250;

/** How a client treats refusals: overload, rejected tokens, and redirects. */
export const refusalCases: readonly ConformanceCase[] = [
  ...([503, 429] as const).map((status) => waits('list', status)),
  ...([503, 429] as const).map((status) => waits('stream', status)),
  {
    name: 'retry-after-invalid',
    expected: 'recovers from a retry-after that is a date or no number',
    async run({ server, bind, start, publish, showsList }) {
      bind('greet');
      server.replace('list', failWith(503, 'unavailable', { 'retry-after': new Date(0).toUTCString() }));
      await start();
      await showsList();
      for (const value of ['soon', '-1', '0']) {
        server.replace('list', failWith(503, 'unavailable', { 'retry-after': value }));
        publish('greet');
        await showsList();
      }
    },
  },
  {
    name: 'token-rejected',
    expected:
      'reports 401 on stderr, keeps its plugins, asks at most 30 times in 10 s, and recovers when the token is valid again',
    async run({ server, guestKey, bind, begin, pause, until, showsList, check, client }) {
      bind('greet');
      await begin();
      const before = server.requests.length;
      const kept = server.listOf(guestKey).get('greet')?.address;
      for (const kind of ['list', 'content', 'stream'] as const) {
        server.replace(
          kind,
          failWith(401, 'invalid_token', { 'www-authenticate': 'Bearer error="invalid_token"' }),
          1_000,
        );
      }
      server.feed.end();
      bind('greet');
      await pause(10_000);
      const asked = server.requests.length - before;
      check(asked > 0 && asked <= 30, `asked ${asked} times`);
      check(client().state?.get('greet') === kept, 'did not keep the plugins that it had');
      await until('write 401, or invalid_token, to stderr', ({ stderr }) =>
        /401|invalid_token|unauthorized/i.test(stderr),
      );
      for (const kind of ['list', 'content', 'stream'] as const) server.replace(kind, ({ proceed }) => proceed());
      await showsList();
    },
  },
  ...(['list', 'content', 'stream'] as const).flatMap((kind) =>
    ([302, 307] as const).map((status) => redirects(kind, status)),
  ),
];

function waits(kind: RequestKind, status: 429 | 503): ConformanceCase {
  return {
    name: `${kind}-retry-after-${status}`,
    expected: `waits as long as the retry-after of a ${status} says, before it asks for the ${kind} again`,
    ...(kind === 'stream' && { needs: 'streaming' as const }),
    async run({ server, bind, start, until, showsList, check, requests }) {
      bind('greet');
      server.replace(
        kind,
        failWith(status, status === 429 ? 'rate_limited' : 'unavailable', { 'retry-after': String(retryAfterSeconds) }),
      );
      await start();
      await until(`ask for the ${kind} again`, () => requests(kind).length > 1);
      await showsList();
      const [refused, next] = requests(kind);
      const waitedMs = (next?.atMs ?? 0) - (refused?.atMs ?? 0);
      check(waitedMs > retryAfterSeconds * 1000 - toleranceMs, `waited ${Math.round(waitedMs)} ms`);
    },
  };
}

function redirects(kind: RequestKind, status: 302 | 307): ConformanceCase {
  return {
    name: `${kind}-redirect-${status}`,
    expected: `does not send the token to another host to which a ${kind} redirects with ${status}, and recovers`,
    ...(kind === 'stream' && { needs: 'streaming' as const }),
    async run({ server, strangers, bind, start, until, publish, showsList, requests }) {
      bind('greet');
      server.replace(
        kind,
        redirectTo(status, () => strangers.url),
      );
      await start();
      await showsList();
      await until(`ask for the ${kind}`, () => requests(kind).length > 0);
      server.replace(
        kind,
        redirectTo(status, () => strangers.url),
      );
      publish('greet');
      await showsList();
    },
  };
}
