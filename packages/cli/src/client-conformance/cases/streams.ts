import type { ConformanceCase } from '../case.ts';
import { eventText } from '../fake-feed.ts';
import type { Responder } from '../fake-server.ts';
import { failWith, hang, reset, sendGarbage, showPage } from '../faults.ts';

/** How a client follows the change feed. */
export const streamCases: readonly ConformanceCase[] = [
  {
    name: 'events',
    expected: 'shows a new version within 3 s of its event, each time, over one connection',
    needs: 'streaming',
    async run({ io, bind, begin, publish, showsList, check, requests }) {
      bind('greet');
      await begin();
      for (let version = 1; version <= 5; version++) {
        const publishedMs = io.nowMs();
        publish('greet');
        await showsList();
        check(io.nowMs() - publishedMs < 3_000, 'took longer');
      }
      check(requests('stream').length === 1, `opened ${requests('stream').length} streams`);
    },
  },
  {
    name: 'change-before-ready',
    expected: 'asks for the list after the "ready" event',
    needs: 'streaming',
    async run({ server, bind, start, until, showsList }) {
      server.replace('stream', ({ response }) => server.feed.openQuietly(response));
      bind('greet');
      await start();
      await until('open a stream', () => server.feed.openStreams > 0);
      await showsList();
      bind('greet'); // between the list and the event
      server.feed.write(eventText(server.feed.lastId, 'ready', {}));
      await showsList();
    },
  },
  {
    name: 'split-events',
    expected: 'reads events that arrive byte by byte, with CRLF, comments, and data on several lines',
    needs: 'streaming',
    async run({ server, guestKey, bind, begin, pause, showsList, check, requests }) {
      bind('greet');
      await begin();
      bind('greet');
      const text = server.feed.textOf('binding', { extensionPointId: server.extensionPointId, guestKey });
      const split = text.replace('data: {', 'data: {\ndata:').replaceAll('\n', '\r\n');
      for (const byte of Buffer.from(`: a comment\r\n\r\nid: ${server.feed.lastId}\r\n\r\nunknown: x\r\n${split}`)) {
        server.feed.writeBytes(Buffer.from([byte]));
        await pause(1);
      }
      await showsList();
      check(requests('stream').length === 1, `opened ${requests('stream').length} streams`);
    },
  },
  {
    name: 'unknown-events',
    expected: 'ignores unknown events, and events without data, and reads on',
    needs: 'streaming',
    async run({ server, bind, begin, publish, showsList, check, requests }) {
      bind('greet');
      await begin();
      server.feed.write(
        ':\n\nevent: novelty\ndata: not JSON {\n\nevent: binding\n\ndata: {}\n\n: keep-alive\n\nid\n\n',
      );
      publish('greet');
      await showsList();
      check(requests('stream').length === 1, `opened ${requests('stream').length} streams`);
    },
  },
  {
    name: 'foreign-events',
    expected: "shows its own list after events of other guests' lists",
    needs: 'streaming',
    async run({ server, bind, begin, publish, showsList }) {
      bind('greet');
      await begin();
      for (const key of ['customers/globex', 'constructor', 'ünï', 'customers/acme/']) server.feed.emitBinding(key);
      publish('greet');
      await showsList();
    },
  },
  {
    name: 'damaged-event',
    expected: 'survives a "binding" event whose data is not JSON',
    needs: 'streaming',
    async run({ server, bind, begin, publish, showsList }) {
      bind('greet');
      await begin();
      server.feed.write(
        'event: binding\ndata: {"guestKey":\n\nevent: binding\ndata: []\n\nevent: binding\ndata: {"guestKey":1}\n\n',
      );
      publish('greet');
      await showsList();
    },
  },
  {
    name: 'reset-event',
    expected: 'asks for the list after the "reset" event',
    needs: 'streaming',
    async run({ server, bind, begin, showsList }) {
      bind('greet');
      await begin();
      bind('greet');
      server.feed.write(server.feed.textOf('reset', {}));
      await showsList();
    },
  },
  {
    name: 'stream-ends',
    expected: 'reconnects with the id of the last event as last-event-id, and shows what it missed',
    needs: 'streaming',
    async run({ server, bind, begin, publish, until, showsList, requests }) {
      bind('greet');
      await begin();
      publish('greet');
      await showsList();
      const { lastId } = server.feed;
      server.feed.end();
      publish('greet');
      await showsList();
      await until(`reconnect with last-event-id: ${lastId}`, () =>
        requests('stream').some(({ headers }) => headers['last-event-id'] === lastId),
      );
    },
  },
  {
    name: 'heartbeat-id',
    expected: 'resumes after the id of an event without data, and not after that of an incomplete event',
    needs: 'streaming',
    async run({ server, guestKey, bind, begin, until, requests }) {
      bind('greet');
      await begin();
      const first = server.feed.textOf('deleted', { extensionPointId: 'ext_another' });
      const { lastId } = server.feed;
      server.feed.write(`${/id: .*\n/.exec(first)?.[0]}\n`);
      server.feed.write(server.feed.textOf('binding', { guestKey }).slice(0, -1));
      server.feed.end();
      await until(
        `reconnect with last-event-id: ${lastId}`,
        () => requests('stream').at(1)?.headers['last-event-id'] === lastId,
      );
    },
  },
  {
    name: 'end-event',
    expected: 'reconnects after an "end" event',
    needs: 'streaming',
    async run({ server, bind, begin, publish, until, showsList, requests }) {
      bind('greet');
      await begin();
      server.feed.write('event: end\ndata: {"code":"unavailable","detail":"The server is stopping."}\n\n');
      server.feed.end();
      await until('reconnect', () => requests('stream').length > 1);
      publish('greet');
      await showsList();
    },
  },
  {
    name: 'silent-stream',
    expected: 'closes a stream without bytes for 20 s, and reconnects',
    needs: 'streaming',
    async run({ server, bind, begin, until, showsList }) {
      bind('greet');
      await begin();
      server.feed.muteOpen();
      bind('greet');
      await until('close the silent stream', () => server.feed.mutedStreams === 0);
      await showsList();
    },
  },
  ...refusedStreams(),
  {
    name: 'stream-backoff',
    expected: 'opens a stream that fails at most 12 times in 10 s',
    needs: 'streaming',
    async run({ server, bind, start, showsList, pause, check, requests }) {
      server.replace('stream', failWith(500, 'internal'), 1_000);
      bind('greet');
      await start();
      await showsList();
      await pause(10_000);
      check(requests('stream').length <= 12, `opened the stream ${requests('stream').length} times`);
    },
  },
  {
    name: 'list-backoff',
    expected: 'asks for a list that fails at most 20 times in 10 s, whatever the change feed does',
    async run({ server, bind, start, pause, showsList, check, requests }) {
      server.replace('list', failWith(500, 'internal'), 1_000);
      bind('greet');
      await start();
      await pause(10_000);
      check(requests('list').length <= 20, `asked for the list ${requests('list').length} times`);
      server.replace('list', ({ proceed }) => proceed());
      await showsList();
    },
  },
];

function refusedStreams(): readonly ConformanceCase[] {
  const refusals: readonly (readonly [name: string, when: string, responder: Responder])[] = [
    ['404', 'has the status 404', failWith(404, 'not_found')],
    ['500', 'has the status 500', failWith(500, 'internal')],
    ['page', "is a proxy's page", showPage(200)],
    [
      'json',
      'is JSON',
      ({ send }) => send({ status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }),
    ],
    ['reset', 'is a reset', reset],
    ['garbage', 'is not HTTP', sendGarbage],
    ['hang', 'never begins', hang],
  ];
  return refusals.map(([name, when, responder]) => ({
    name: `stream-${name}`,
    expected: `polls while the response to the stream ${when}`,
    needs: 'streaming',
    async run({ server, bind, start, showsList, until, requests }) {
      server.replace('stream', responder, 1_000);
      bind('greet');
      await start();
      await showsList();
      await until('open a stream', () => requests('stream').length > 0);
      bind('greet');
      await showsList();
    },
  }));
}
