import type { ProcessReport, RequestLoad, ServerStatus, StoreCounts } from '@tenon/protocol';

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

const report: ProcessReport = {
  nodeVersion: '26.10.0',
  isReady: true,
  reasons: [],
  isStopping: false,
  memory: { residentBytes: 148_000_000, heapBytes: 41_000_000, contentCacheBytes: 12_000_000 },
  eventLoop: { busy: 0.07, delayP99Ms: 1.2, delayMaxMs: 8.4 },
  threads: { modules: { running: 0, queued: 0 }, passwords: { running: 0, queued: 0 } },
  connections: 12,
  newsStreams: 4,
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

const some = (value: number, isEstimate = false): StoreCounts['apps'] => ({ value, isEstimate });

export const statusExample: ServerStatus = {
  readAt,
  metadata: {
    kind: 'sqlite',
    version: '3.50.4',
    isReachable: true,
    pingMs: 0.05,
    knowsCommits: true,
    bytes: 52_428_800,
    schemaVersion: 7,
  },
  blobs: { kind: 'folder', isReachable: true, pingMs: 1.2 },
  counts: {
    countedAt: '2026-01-15T09:29:30.000Z',
    accounts: some(212),
    apps: some(9),
    extensionPoints: some(31),
    guests: some(1480),
    plugins: some(960),
    versions: some(5200),
    bindings: some(28_000, true),
    contents: some(4100),
    contentBytes: some(268_435_456),
  },
  chores: {
    collect: { endedAt: startedAt, deleted: 3, deletedBytes: 196_608, waiting: 1, waitingBytes: 65_536 },
    verify: null,
    backup: { endedAt: '2026-01-15T03:00:00.000Z', bytes: 320_000_000 },
  },
  processes: [
    {
      id: 'prc_01kf0a3x5yfpq8ad68ha6hbsex',
      node: 'tenon-1',
      pid: 41,
      version: '0.1.0',
      startedAt,
      lastSeenAt: readAt,
      isAnswering: true,
      state: 'ready',
      report,
    },
  ],
};
