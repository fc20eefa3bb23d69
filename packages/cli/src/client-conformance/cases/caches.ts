import type { ConformanceCase } from '../case.ts';
import type { CaseStage } from '../case-stage.ts';
import type { Responder } from '../fake-server.ts';
import { failWith, hang, stall } from '../faults.ts';

/** For a client to start, and to show what it must not. */
const startMs = 4_000;

/** What a client keeps on its disk. All clients end by SIGKILL. */
export const cacheCases: readonly ConformanceCase[] = [
  {
    name: 'cache-server-down',
    expected: 'shows the cached plugins after a restart while the server is down, then what has changed',
    needs: 'cache',
    async run(stage) {
      const { server, bind, start, showsList } = await filled(stage);
      await server.goDown();
      await start();
      await showsList();
      bind('greet');
      await server.comeUp();
      await showsList();
    },
  },
  ...failingServers(),
  {
    name: 'cache-saves-requests',
    expected: 'sends the cached ETag after a restart, and fetches no content again',
    needs: 'cache',
    async run(stage) {
      const { start, until, showsList, check, requests } = await filled(stage);
      const [lists, contents] = [requests('list').length, requests('content').length];
      await start();
      await until('send if-none-match', () =>
        requests('list')
          .slice(lists)
          .some(({ headers }) => headers['if-none-match'] !== undefined),
      );
      await showsList();
      check(requests('content').length === contents, 'fetched content that it had');
    },
  },
  ...damages(),
  {
    name: 'cache-content-flipped',
    expected: 'shows no cached plugin whose content has a wrong bit, and fetches it again',
    needs: 'cache',
    async run(stage) {
      const { server, guestKey, cache, start, pause, showsList, check, requests } = await filled(stage);
      const { bytes, address } = server.listOf(guestKey).get('greet') ?? server.createModule();
      const contents = requests('content', address).length;
      cache.damage(withWrongBits, bytes);
      await server.goDown();
      await start();
      await pause(startMs);
      check(
        stage.client().states.every((state) => !state.has('greet')),
        'showed a plugin from damaged content',
      );
      await server.comeUp();
      await showsList();
      check(requests('content', address).length > contents, 'did not fetch the damaged content again');
    },
  },
  {
    name: 'cache-killed-in-download',
    expected: 'works after it was killed while it downloaded content',
    needs: 'cache',
    async run(stage) {
      const { server, publish, start, kill, pause, until, showsList, requests } = await filled(stage);
      await start();
      await showsList();
      await until('open a stream', () => server.feed.openStreams > 0 || stage.isWithout('streaming'));
      const before = requests('content').length;
      server.replace('content', stall);
      publish('greet');
      await until('fetch the content', () => requests('content').length > before);
      await pause(200);
      await kill();
      await start();
      await showsList();
    },
  },
  {
    name: 'cache-of-another-guest',
    expected: 'shows only plugins of its guest key, from a cache folder of several',
    needs: 'cache',
    async run(stage) {
      const { server, start, pause, check, showsList } = await filled(stage);
      await server.goDown();
      await start({ guestKey: 'customers/globex' });
      await pause(startMs);
      check(
        stage.client().states.every(({ size }) => size === 0),
        'showed a plugin of another guest key',
      );
      await start();
      await showsList();
    },
  },
  {
    name: 'cache-unusable',
    expected: 'works without its cache if it cannot write to the folder',
    needs: 'cache',
    async run({ cache, bind, start, publish, showsList }) {
      bind('greet');
      await start({ cacheFolder: cache.unusableFolder });
      await showsList();
      publish('greet');
      await showsList();
    },
  },
];

/** Fills the cache, and kills the client. */
async function filled(stage: CaseStage): Promise<CaseStage> {
  const { bind, begin, pause, kill, cache, until } = stage;
  bind('greet', 'sum');
  await begin();
  await until('write to its cache folder', () => cache.hasFiles());
  await pause(300); // the cache may be written after the state is shown
  await kill();
  return stage;
}

function failingServers(): readonly ConformanceCase[] {
  const failures: readonly (readonly [name: string, when: string, responder: Responder])[] = [
    ['500', 'fails with 500', failWith(500, 'internal')],
    ['401', 'rejects the token', failWith(401, 'invalid_token')],
    ['hang', 'never responds', hang],
  ];
  return failures.map(([name, when, responder]) => ({
    name: `cache-server-${name}`,
    expected: `shows the cached plugins after a restart while the server ${when}`,
    needs: 'cache',
    async run(stage) {
      const { server, start, showsList } = await filled(stage);
      for (const kind of ['list', 'content', 'stream'] as const) server.replace(kind, responder, 1_000);
      await start();
      await showsList();
    },
  }));
}

/** Damaged caches, while the server is down and when it is back. */
function damages(): readonly ConformanceCase[] {
  const changes: readonly (readonly [name: string, what: string, change: (bytes: Buffer) => Buffer])[] = [
    ['flipped', 'with a wrong bit', withWrongBits],
    ['cut', 'cut in half, as by a power failure', (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['emptied', 'that are empty', () => Buffer.alloc(0)],
  ];
  return changes.map(([name, what, change]) => ({
    name: `cache-${name}`,
    expected: `uses no cached files ${what}, and fetches them again`,
    needs: 'cache',
    async run(stage) {
      const { server, cache, start, pause, showsList, check, requests } = await filled(stage);
      const contents = requests('content').length;
      check(cache.damage(change) > 0, 'has no files in its cache folder');
      await server.goDown();
      await start();
      await pause(startMs);
      check(
        stage.client().states.every(({ size }) => size === 0),
        'showed a plugin from damaged files',
      );
      await server.comeUp();
      await showsList();
      check(requests('content').length > contents, 'did not fetch the damaged content again');
    },
  }));
}

/** Changes a bit of the last byte: content is damaged, and a header of the client's format is not. */
function withWrongBits(bytes: Buffer): Buffer {
  const wrong = Buffer.from(bytes);
  const at = wrong.length - 1;
  wrong[at] = (wrong[at] ?? 0) ^ 1;
  return wrong;
}
