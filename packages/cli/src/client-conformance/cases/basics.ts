import type { ConformanceCase } from '../case.ts';
import { textOfBinding, textOfList } from '../fake-server.ts';
import { sendInChunks, withHeaders } from '../faults.ts';

/** How a client reads lists that are correct, if unusual. The first case is what all others build on. */
export const basicCases: readonly ConformanceCase[] = [
  {
    name: 'list',
    expected: 'fetches the list and the content of all its plugins, and shows them',
    async run({ bind, start, showsList }) {
      bind('greet', 'sum');
      await start();
      await showsList();
    },
  },
  {
    name: 'empty-list',
    expected: 'shows no plugin for {}',
    async run({ start, until, requests }) {
      await start();
      await until('fetch the list', () => requests('list').length > 0);
      await until('show {}, or nothing', ({ state }) => state === undefined || state.size === 0);
    },
  },
  {
    name: 'changed-list',
    expected: 'shows new, changed, and removed plugins',
    async run({ bind, begin, publish, unbind, showsList }) {
      bind('greet', 'sum');
      await begin();
      unbind('sum'); // such as a yanked plugin without another version
      publish('greet', 'third');
      await showsList();
    },
  },
  {
    name: 'names',
    expected: 'treats names such as constructor and 10 like any other',
    async run({ bind, start, showsList }) {
      bind('constructor', '10', 'valueOf', 'toString', 'hasOwnProperty', '2', 'a.b_c-d', 'A'.repeat(100));
      await start();
      await showsList();
    },
  },
  {
    name: 'name-proto',
    expected: 'shows or leaves out a plugin with the invalid name __proto__, and shows the others',
    async run({ server, guestKey, bind, start, until }) {
      bind('greet', '__proto__');
      await start();
      const address = server.listOf(guestKey).get('greet')?.address;
      await until('show greet', ({ state }) => state?.get('greet') === address);
    },
  },
  ...['ünï cödé/🦀', 'a?b#c%2Fd\\e&f+g', '__proto__', 'constructor'].map(
    (guestKey, at) =>
      ({
        name: `guest-key-${at + 1}`,
        expected: `percent-encodes the guest key ${guestKey} in the path`,
        guestKey,
        async run({ bind, begin, publish, showsList }) {
          bind('greet');
          await begin();
          publish('greet');
          await showsList();
        },
      }) satisfies ConformanceCase,
  ),
  {
    name: 'base-path',
    expected: 'works with a server whose URL has a path',
    basePath: '/tools/registry',
    async run({ bind, begin, publish, showsList }) {
      bind('greet');
      await begin();
      publish('greet');
      await showsList();
    },
  },
  {
    name: 'unknown-fields',
    expected: 'ignores unknown and repeated fields, and reads JSON with escapes and white space',
    async run({ server, guestKey, bind, start, showsList }) {
      bind('greet');
      const { address = '' } = server.listOf(guestKey).get('greet') ?? {};
      const rest = '"id": "bnd_1", "updatedAt": "2026-01-02T03:04:05.678Z"';
      const unknown = '"new": {"a": [1e400, -0.5, true, null, "\\ud83e\\udd80\\"]}"], "b": {}}, "new": 1, "also": []';
      server.setListText(`\r\n{ "gr\\u0065et" :\t{ ${unknown} , "contentAddress" : "${address}" , ${rest} } }\n`);
      await start();
      await showsList();
    },
  },
  {
    name: 'entries-without-content',
    expected: 'shows the other plugins of a list, or keeps its state, if an entry has no content address',
    async run({ server, guestKey, bind, begin, publish, showsList }) {
      bind('greet');
      await begin();
      const text = textOfList(server.listOf(guestKey)).slice(0, -1);
      server.setListText(`${text},"a":{},"b":{"contentAddress":null},"c":{"contentAddress":7},"d":null}`);
      server.feed.emitBinding(guestKey);
      await showsList();
      server.setListText(undefined);
      publish('sum');
      await showsList();
    },
  },
  {
    name: 'hostile-addresses',
    expected: 'neither requests nor stores what an invalid content address names',
    async run({ server, guestKey, bind, begin, publish, showsList, cache, until, check, requests }) {
      bind('greet');
      await begin();
      const hostile = [
        '../../escaped',
        '..%2f..%2fescaped',
        'a'.repeat(42),
        `${'a'.repeat(43)}/`,
        '',
        '\\u0000',
        'C:\\\\x',
      ];
      const entries = hostile.map((address, at) => `"p${at}":${textOfBinding('').replace('""', `"${address}"`)}`);
      server.setListText(`${textOfList(server.listOf(guestKey)).slice(0, -1)},${entries.join(',')}}`);
      const before = requests('list').length;
      server.feed.emitBinding(guestKey);
      await until('fetch the list', () => requests('list').length > before);
      server.setListText(undefined);
      publish('sum');
      await showsList();
      check(!cache.hasStrayFiles(), 'wrote files beside its cache folder');
    },
  },
  {
    name: 'huge-list',
    expected: 'reads a list of 5,000 plugins, and fetches content that they share only once',
    async run({ server, guestKey, start, showsList, check, requests }) {
      const modules = [server.createModule(), server.createModule(), server.createModule()] as const;
      const names = Array.from({ length: 5_000 }, (_, at) => `plugin-${at}`);
      server.setList(guestKey, new Map(names.map((name, at) => [name, modules[(at % 3) as 0 | 1 | 2]])));
      await start();
      await showsList();
      check(
        requests('content').length === modules.length,
        `fetched content ${requests('content').length} times in all`,
      );
    },
  },
  {
    name: 'large-content',
    expected: 'reads content of 2 MB',
    async run({ server, guestKey, start, showsList }) {
      server.setList(guestKey, new Map([['greet', server.createModule(2_000_000)]]));
      await start();
      await showsList();
    },
  },
  {
    name: 'conditional-request',
    expected: 'sends the ETag of its list as if-none-match, and accepts 304',
    async run({ server, guestKey, bind, begin, publish, showsList, until, requests }) {
      bind('greet');
      await begin();
      const [first] = requests('list');
      server.feed.emitBinding(guestKey);
      await until('send if-none-match after a binding event', () =>
        requests('list').some((request) => request !== first && request.headers['if-none-match'] !== undefined),
      );
      await showsList();
      publish('greet');
      await showsList();
    },
  },
  {
    name: 'list-without-etag',
    expected: 'sends no if-none-match for a list without an ETag',
    async run({ server, bind, start, publish, showsList, check, requests }) {
      bind('greet');
      server.replace(
        'list',
        ({ answer, send }) => send({ ...answer, headers: { 'content-type': 'application/json' } }),
        1_000,
      );
      await start();
      await showsList();
      publish('greet');
      await showsList();
      check(
        requests('list').every(({ headers }) => headers['if-none-match'] === undefined),
        'sent if-none-match',
      );
    },
  },
  {
    name: 'weak-etag',
    expected: 'sends back an ETag as it is, also W/"…"',
    async run({ server, guestKey, bind, start, showsList, until, requests }) {
      bind('greet');
      server.replace('list', withHeaders({ etag: 'W/"a-b"' }), 1_000);
      await start();
      await showsList();
      server.feed.emitBinding(guestKey);
      await until('send if-none-match: W/"a-b"', () =>
        requests('list').some(({ headers }) => headers['if-none-match'] === 'W/"a-b"'),
      );
    },
  },
  {
    name: 'chunked-bodies',
    expected: 'reads chunked responses',
    async run({ server, bind, start, publish, showsList }) {
      server.replace('list', sendInChunks, 1_000);
      server.replace('content', sendInChunks, 1_000);
      bind('greet');
      await start();
      await showsList();
      publish('greet');
      await showsList();
    },
  },
];
