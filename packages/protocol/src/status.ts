import type { Static, TProperties } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/** The status of a server, for its operators. */

const number = (what: string) => Type.Number({ minimum: 0, description: what });
const whole = (what: string) => Type.Integer({ minimum: 0, description: what });

/** The kinds of requests that are counted apart. */
export const requestKinds = {
  lists: 'binding lists',
  contents: 'plugin content',
  publishes: 'publishes',
  instrument: 'instrumentation',
  others: 'everything else but streams of news',
} as const;

export type RequestKind = keyof typeof requestKinds;

const requestCounts = {
  requests: whole('requests that have ended'),
  refused: whole('those that were answered with 400 to 499'),
  failed: whole('those that were answered with 500 to 599'),
};

/** Requests of one kind over some time. */
export const requestLoad = Type.Object({
  ...requestCounts,
  p50Ms: nullable(number('half of them took no longer, in milliseconds; `null` where there was none')),
  p99Ms: nullable(number('99 of 100 took no longer')),
});
export type RequestLoad = Static<typeof requestLoad>;

export const minuteLoad = Type.Object({ ...requestCounts, p99Ms: requestLoad.properties.p99Ms });
export type MinuteLoad = Static<typeof minuteLoad>;

const threads = (what: string) =>
  Type.Object(
    { running: whole('tasks that a thread is at'), queued: whole('tasks that wait for one') },
    { description: what },
  );

const ofEachKind = (): { [Kind in RequestKind]: typeof requestLoad } =>
  Object.fromEntries(
    Object.entries(requestKinds).map(([kind, description]) => [
      kind,
      Type.Object(requestLoad.properties, { description }),
    ]),
  ) as { [Kind in RequestKind]: typeof requestLoad };

export const processState = oneOf(['ready', 'not_ready', 'stopping']);
export type ProcessState = Static<typeof processState>;

const ofProcess = {
  node: Type.String({ description: "the machine's name, or the container's" }),
  pid: whole("the process's number there"),
  version: Type.String({ description: 'the version of Tenon' }),
  startedAt: timestamp('when it began to serve'),
} satisfies TProperties;

export const processStatus = Type.Object({
  ...ofProcess,
  nodeVersion: Type.String({ description: 'the version of Node.js' }),
  state: processState,
  reasons: Type.Array(Type.String(), {
    description: 'why it is not ready, or takes no changes, and what is wrong with its clock',
  }),
  memory: Type.Object({
    residentBytes: whole('memory that the process has'),
    heapBytes: whole('the JavaScript heap in use'),
    contentCacheBytes: whole('plugin contents that are kept'),
  }),
  eventLoop: Type.Object({
    busy: Type.Number({ minimum: 0, maximum: 1, description: 'the share of a core that its main thread uses' }),
    delayP99Ms: number('how late timers are: one in a hundred is later'),
    delayMaxMs: number('the latest, over one to two minutes'),
  }),
  threads: Type.Object({
    modules: threads('those that check and instrument modules'),
    passwords: threads('those that hash passwords'),
  }),
  connections: whole('connections that are open'),
  changeStreams: whole('streams of news that are open'),
  recent: Type.Object({
    seconds: number('how long the counts are about: a minute, or less after a start'),
    kinds: Type.Object(ofEachKind()),
  }),
  history: Type.Object({
    untilMinutesAgo: number('how long ago the last of the minutes ended'),
    minutes: Type.Array(minuteLoad, { maxItems: 60, description: 'the last hour, the oldest minute first' }),
  }),
});
export type ProcessStatus = Static<typeof processStatus>;

/** A process that serves on a PostgreSQL database. */
export const nodeStatus = Type.Object({
  id: id('process', 'the process'),
  ...ofProcess,
  lastSeenAt: timestamp("when its last heartbeat came, by the database's clock"),
  isResponding: Type.Boolean({ description: 'whether it is the one that gives this answer' }),
  isLost: Type.Boolean({ description: 'whether no heartbeat came for a minute' }),
});
export type NodeStatus = Static<typeof nodeStatus>;

const reach = {
  isReachable: Type.Boolean(),
  pingMs: nullable(number('how long it took to answer, in milliseconds; `null` when it did not')),
} satisfies TProperties;

/** The status of a server, as operators see it. */
export const serverStatus = Type.Object({
  readAt: timestamp('when this was true'),
  metadata: Type.Object({
    kind: oneOf(['sqlite', 'postgresql']),
    ...reach,
    knowsCommits: Type.Boolean({
      description: 'whether it is known what other processes commit; while it is not, nothing is answered from memory',
    }),
  }),
  blobs: Type.Object({ kind: oneOf(['folder', 's3']), ...reach }),
  process: processStatus,
  nodes: Type.Array(nodeStatus, {
    description:
      'the processes that serve on the same PostgreSQL database, by node and start; empty on the embedded store',
  }),
});
export type ServerStatus = Static<typeof serverStatus>;
