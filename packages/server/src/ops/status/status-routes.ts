import { type ProcessStatus, type RequestLoad, type ServerStatus, serverStatus } from '@tenon/protocol';
import { json, type Route, routeTagged } from '../../http/route.ts';

const startedAt = '2026-01-15T08:00:00.000Z';
const readAt = '2026-01-15T09:30:00.000Z';

const load = (requests: number, p50Ms: number | null, p99Ms: number | null): RequestLoad => ({
  requests,
  refused: 0,
  failed: 0,
  p50Ms,
  p99Ms,
});

const minutes = Array.from({ length: 3 }, () => ({ requests: 5900, refused: 2, failed: 0, p99Ms: 1 }));

const exampleProcess: ProcessStatus = {
  node: 'tenon-1',
  pid: 41,
  version: '0.1.0',
  startedAt,
  nodeVersion: '26.10.0',
  state: 'ready',
  reasons: [],
  memory: { residentBytes: 148_000_000, heapBytes: 41_000_000, contentCacheBytes: 12_000_000 },
  eventLoop: { busy: 0.07, delayP99Ms: 1.2, delayMaxMs: 8.4 },
  threads: {
    modules: { running: 0, queued: 0 },
    passwords: { running: 0, queued: 0 },
    simulations: { running: 0, queued: 0 },
  },
  sandbox: ['permissions', 'limits'],
  connections: 12,
  changeStreams: 4,
  recent: {
    seconds: 61.2,
    kinds: {
      lists: load(5820, 0.5, 0.5),
      contents: load(61, 1, 5),
      publishes: load(1, 50, 50),
      instrument: load(0, null, null),
      others: load(20, 2.5, 25),
    },
  },
  history: { untilMinutesAgo: 0.4, minutes },
};

export const statusExample: ServerStatus = {
  readAt,
  metadata: { kind: 'postgresql', place: 'db.internal/tenon', isReachable: true, pingMs: 0.4, knowsCommits: true },
  blobs: { kind: 's3', place: 'tenon-plugins', isReachable: true, pingMs: 1.2 },
  mail: { queued: 2, oldestQueuedAt: '2026-01-15T09:29:58.000Z', failed: 0 },
  webhooks: { pending: 3, oldestPendingAt: '2026-01-15T09:24:11.000Z', failed: 1 },
  audit: { seq: 48_211, hash: 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M', syslogWaiting: null },
  mirror: null,
  process: exampleProcess,
  nodes: [
    {
      id: 'prc_01kf0a3x5yfpq8ad68ha6hbsex',
      node: 'tenon-1',
      pid: 41,
      version: '0.1.0',
      startedAt,
      lastSeenAt: readAt,
      isResponding: true,
      isLost: false,
    },
  ],
};

const route = routeTagged('Operation');

export const statusRoutes: readonly Route[] = [
  route('GET', '/api/v1/status', {
    access: { kind: 'user', scope: 'read', userLevel: true, operator: true },
    id: 'readStatus',
    summary: 'The status of the server: its stores, the process that answers, and on PostgreSQL all nodes',
    description:
      'Only for operators (see `tenon admin operator grant`). Operators have no rights on applications. The figures are those of the process that responds. `/metrics` has those of each process.',
    responses: { 200: json('the status', serverStatus, statusExample) },
    errors: ['forbidden', 'unavailable'],
    handle: ({ status }) => status.read(),
  }),
];
