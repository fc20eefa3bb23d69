import type { Static, TProperties } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';
import { webhookDeliveryRetentionDays } from './webhooks.ts';

/* The status of a server, for its operators. */

const number = (what: string) => Type.Number({ minimum: 0, description: what });
const integer = (what: string) => Type.Integer({ minimum: 0, description: what });

/** The kinds of requests with separate statistics. */
export const requestKinds = {
  lists: 'binding lists',
  contents: 'plugin content',
  publishes: 'publishes',
  instrument: 'instrumentation',
  others: 'all other requests, except change streams',
} as const;

export type RequestKind = keyof typeof requestKinds;

const requestCounts = {
  requests: integer('completed requests'),
  refused: integer('responses with a status from 400 to 499'),
  failed: integer('responses with a status from 500 to 599'),
};

/** Statistics on the requests of one kind. */
export const requestLoad = Type.Object({
  ...requestCounts,
  p50Ms: nullable(number('the median duration in milliseconds; `null` without requests')),
  p99Ms: nullable(number('the 99th percentile of the duration, in milliseconds')),
});
export type RequestLoad = Static<typeof requestLoad>;

export const minuteLoad = Type.Object({ ...requestCounts, p99Ms: requestLoad.properties.p99Ms });
export type MinuteLoad = Static<typeof minuteLoad>;

const threads = (what: string) =>
  Type.Object({ running: integer('running tasks'), queued: integer('waiting tasks') }, { description: what });

const loadByKind = (): { [Kind in RequestKind]: typeof requestLoad } =>
  Object.fromEntries(
    Object.entries(requestKinds).map(([kind, description]) => [
      kind,
      Type.Object(requestLoad.properties, { description }),
    ]),
  ) as { [Kind in RequestKind]: typeof requestLoad };

export const processState = oneOf(['ready', 'not_ready', 'stopping']);
export type ProcessState = Static<typeof processState>;

const processFields = {
  node: Type.String({ description: 'the name of the machine or container' }),
  pid: integer('the process id'),
  version: Type.String({ description: 'the version of Tenon' }),
  startedAt: timestamp('when it started'),
} satisfies TProperties;

export const processStatus = Type.Object({
  ...processFields,
  nodeVersion: Type.String({ description: 'the version of Node.js' }),
  state: processState,
  reasons: Type.Array(Type.String(), {
    description: 'why it is not ready or read-only, and problems with its clock',
  }),
  memory: Type.Object({
    residentBytes: integer('the resident memory of the process'),
    heapBytes: integer('the JavaScript heap in use'),
    contentCacheBytes: integer('cached plugin contents'),
  }),
  eventLoop: Type.Object({
    busy: Type.Number({ minimum: 0, maximum: 1, description: 'the share of a core that its main thread uses' }),
    delayP99Ms: number('the 99th percentile of the delay of timers'),
    delayMaxMs: number('the maximum delay, over one to two minutes'),
  }),
  threads: Type.Object({
    modules: threads('the processes that check and instrument modules'),
    passwords: threads('the threads that hash passwords'),
    simulations: threads('the processes that run simulations'),
  }),
  sandbox: Type.Array(oneOf(['permissions', 'limits', 'user']), {
    description:
      "how the processes of simulations are confined: by Node's permission model, resource limits (`prlimit`), users without rights (the server runs as root). Empty if simulations are off",
  }),
  connections: integer('open connections'),
  changeStreams: integer('open change streams'),
  recent: Type.Object({
    seconds: number('the length of the period: a minute, or less after a start'),
    kinds: Type.Object(loadByKind()),
  }),
  history: Type.Object({
    untilMinutesAgo: number('how long ago the last minute ended'),
    minutes: Type.Array(minuteLoad, { maxItems: 60, description: 'the last hour, the oldest minute first' }),
  }),
});
export type ProcessStatus = Static<typeof processStatus>;

/** A process that serves on a PostgreSQL database. */
export const nodeStatus = Type.Object({
  id: id('process', 'the process'),
  ...processFields,
  lastSeenAt: timestamp("the time of its last heartbeat, by the database's clock"),
  isResponding: Type.Boolean({ description: 'whether it sent this response' }),
  isLost: Type.Boolean({ description: 'whether no heartbeat came for a minute' }),
});
export type NodeStatus = Static<typeof nodeStatus>;

const reachability = {
  isReachable: Type.Boolean(),
  pingMs: nullable(number('the response time in milliseconds; `null` without a response')),
} satisfies TProperties;

/** How a mirror follows its source. */
export const mirrorState = oneOf(['synchronizing', 'following', 'incomplete', 'unreachable', 'refused'], {
  description:
    '`synchronizing`: all lists are being compared. `following`: changes are applied as they come. `incomplete`: lists differ, because a content could not be fetched or verified. `unreachable`: the source does not respond. `refused`: the source does not accept the token. The mirror serves in every state',
});
export type MirrorState = Static<typeof mirrorState>;

/** The status of a server, as operators see it. */
export const serverStatus = Type.Object({
  readAt: timestamp('when the status was read'),
  metadata: Type.Object({
    kind: oneOf(['sqlite', 'postgresql']),
    place: Type.String({ description: "the database's host and name, or the path of its file" }),
    ...reachability,
    knowsCommits: Type.Boolean({
      description: 'whether the server sees the commits of other processes; otherwise it does not use its caches',
    }),
  }),
  blobs: Type.Object({
    kind: oneOf(['folder', 's3']),
    place: Type.String({ description: 'the bucket with its prefix and endpoint, or the path of the folder' }),
    ...reachability,
  }),
  mail: nullable(
    Type.Object({
      queued: integer('mails that wait to be sent'),
      oldestQueuedAt: nullable(timestamp('when the oldest of them was queued')),
      failed: integer('mails of the last seven days that could not be sent'),
    }),
    { description: 'the queue of mails; `null` on a server that sends none' },
  ),
  webhooks: Type.Object(
    {
      pending: integer('deliveries that wait for an attempt'),
      oldestPendingAt: nullable(timestamp('when the oldest of them was queued')),
      failed: integer(`deliveries of the last ${webhookDeliveryRetentionDays} days that failed for good`),
    },
    { description: 'the deliveries to webhooks' },
  ),
  audit: Type.Object(
    {
      seq: integer('the sequence number of the newest event'),
      hash: Type.String({ description: 'the hash of its link' }),
      syslogWaiting: nullable(integer('events that the syslog server has not certainly received; `null` without one')),
    },
    { description: 'the head of the hash chain over the audit trail' },
  ),
  mirror: nullable(
    Type.Object({
      source: Type.String({ description: 'the URL of the source' }),
      state: mirrorState,
      detail: nullable(Type.String(), { description: 'why the state is not `following`' }),
      isComplete: Type.Boolean({ description: 'whether the first synchronization is complete' }),
      equalAt: nullable(timestamp('when the mirror was last known to equal the source')),
      lists: integer('the binding lists that have plugins'),
      missingLists: integer('the lists of the source that differ'),
      missingContents: integer('the contents that these name, and that the mirror could not store'),
    }),
    { description: 'how the server follows its source; `null` unless it is a mirror' },
  ),
  process: processStatus,
  nodes: Type.Array(nodeStatus, {
    description:
      'the processes that use the same PostgreSQL database, by node and start; empty with the embedded store',
  }),
});
export type ServerStatus = Static<typeof serverStatus>;
