import type { Static, TProperties, TSchema } from 'typebox';
import { id, timestamp } from './fields.ts';
import { Type } from './type.ts';

/** What operators are told of a server: its processes, its stores, and what they are busy with. */

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const number = (what: string) => Type.Number({ minimum: 0, description: what });
const whole = (what: string) => Type.Integer({ minimum: 0, description: what });

/** The kinds of requests that are counted apart. */
export const requestKinds = {
  lists: 'binding lists (A2)',
  contents: 'plugin contents (A3)',
  publishes: 'publishes',
  instrument: 'modules to instrument (B1)',
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
  p50Ms: orNull(number('half of them took no longer, in milliseconds; `null` where there was none')),
  p99Ms: orNull(number('99 of 100 took no longer')),
});
export type RequestLoad = Static<typeof requestLoad>;

/** One minute of the last hour. */
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

/** What a process tells of itself. */
export const processReport = Type.Object({
  nodeVersion: Type.String({ description: 'the version of Node.js' }),
  isReady: Type.Boolean({ description: 'what `/readyz` answers there' }),
  reasons: Type.Array(Type.String(), {
    description: 'why it is not ready, or takes no changes, and what is wrong with its clock',
  }),
  isStopping: Type.Boolean({ description: 'whether it serves on for a last while only' }),
  memory: Type.Object({
    residentBytes: whole('memory that the process has'),
    heapBytes: whole('the JavaScript heap in use'),
    contentCacheBytes: whole('plugin contents that are kept'),
  }),
  eventLoop: Type.Object({
    busy: Type.Number({ minimum: 0, maximum: 1, description: 'the share of a core that its main thread uses' }),
    delayP99Ms: number('how late timers are: one in a hundred is later'),
    delayMaxMs: number('the latest, since about a minute'),
  }),
  threads: Type.Object({
    modules: threads('those that check and instrument modules'),
    passwords: threads('those that hash passwords'),
  }),
  connections: whole('connections that are open'),
  newsStreams: whole('streams of news that are open'),
  recent: Type.Object({
    seconds: number('how long the counts are about: a minute, or less after a start'),
    kinds: Type.Object(ofEachKind()),
  }),
  history: Type.Object({
    untilMinutesAgo: number('how long ago the last of the minutes ended'),
    minutes: Type.Array(minuteLoad, { maxItems: 60, description: 'the last hour, the oldest minute first' }),
  }),
});
export type ProcessReport = Static<typeof processReport>;

export const processState = Type.Union([
  Type.Literal('ready'),
  Type.Literal('not_ready'),
  Type.Literal('stopping'),
  Type.Literal('lost'),
]);
export type ProcessState = Static<typeof processState>;

/** A process that serves, or did until it was not heard of any more. */
export const serverProcess = Type.Object({
  id: id('process', 'the process'),
  node: Type.String({ description: "the machine's name, or the container's" }),
  pid: whole("the process's number there"),
  version: Type.String({ description: 'the version of Tenon' }),
  startedAt: timestamp('when it began to serve'),
  lastSeenAt: timestamp("when it last told of itself, by the database's clock"),
  isAnswering: Type.Boolean({ description: 'whether it is the one that gives this answer' }),
  state: processState,
  report: Type.Union([processReport, Type.Null()], {
    description: 'what it told; `null` for a process of a version whose reports this one does not know',
  }),
});
export type ServerProcess = Static<typeof serverProcess>;

const reach = {
  isReachable: Type.Boolean(),
  pingMs: orNull(number('how long it took to answer, in milliseconds; `null` when it did not')),
} satisfies TProperties;

/** A number of rows. Many rows are not counted each time: how many there are about is known. */
export const rowCount = Type.Object({
  value: whole('how many there are'),
  isEstimate: Type.Boolean({ description: 'whether that is about so' }),
});
export type RowCount = Static<typeof rowCount>;

/** What is counted in the stores. */
export const storeCounts = Type.Object({
  countedAt: timestamp('when it was counted'),
  accounts: rowCount,
  apps: rowCount,
  extensionPoints: rowCount,
  guests: rowCount,
  plugins: rowCount,
  versions: rowCount,
  bindings: rowCount,
  contents: rowCount,
  contentBytes: rowCount,
});
export type StoreCounts = Static<typeof storeCounts>;

const chore = <P extends TProperties>(properties: P, description: string) =>
  Type.Union([Type.Object({ endedAt: timestamp('when it ended'), ...properties }), Type.Null()], { description });

/** How a server is, as operators see it. */
export const serverStatus = Type.Object({
  readAt: timestamp('when this was true'),
  metadata: Type.Object({
    kind: Type.Union([Type.Literal('sqlite'), Type.Literal('postgresql')]),
    version: orNull(Type.String({ description: "the database's version" })),
    ...reach,
    knowsCommits: Type.Boolean({
      description: 'whether it is known what other processes commit; while it is not, nothing is answered from memory',
    }),
    bytes: orNull(whole('how large it is')),
    schemaVersion: orNull(whole('the number of its last migration')),
  }),
  blobs: Type.Object({ kind: Type.Union([Type.Literal('folder'), Type.Literal('s3')]), ...reach }),
  counts: Type.Union([storeCounts, Type.Null()]),
  chores: Type.Object({
    collect: chore(
      {
        deleted: whole('contents that were deleted'),
        deletedBytes: whole('their size'),
        waiting: whole('contents that no version names, and that will be deleted'),
        waitingBytes: whole('their size'),
      },
      'when bytes that no version names were last collected; `null` for never',
    ),
    verify: chore(
      { contents: whole('contents that were read'), faults: whole('what was not as it must be') },
      'when all data was last verified',
    ),
    backup: chore({ bytes: whole('the size of all plugins in it') }, 'when `tenon admin copy` last copied the data'),
  }),
  processes: Type.Array(serverProcess, { description: 'by node and start' }),
});
export type ServerStatus = Static<typeof serverStatus>;
