import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MinuteLoad, ProcessReport, RequestLoad, ServerProcess, ServerStatus } from '@tenon/protocol';
import { concernsOf, duration, nodesOf, rate } from './status-model.ts';

const none: RequestLoad = { requests: 0, refused: 0, failed: 0, p50Ms: null, p99Ms: null };

function report(lists: Partial<RequestLoad> = {}, minutes: MinuteLoad[] = []): ProcessReport {
  const kinds = { lists: { ...none, ...lists }, contents: none, publishes: none, instrument: none, others: none };
  return {
    nodeVersion: '26.0.0',
    isReady: true,
    reasons: [],
    isStopping: false,
    memory: { residentBytes: 1, heapBytes: 1, contentCacheBytes: 0 },
    eventLoop: { busy: 0, delayP99Ms: 0, delayMaxMs: 0 },
    threads: { modules: { running: 0, queued: 0 }, passwords: { running: 0, queued: 0 } },
    connections: 0,
    newsStreams: 0,
    recent: { seconds: 60, kinds },
    history: { untilMinutesAgo: 0, minutes },
  };
}

let number = 0;
function process(fields: Partial<ServerProcess> = {}): ServerProcess {
  return {
    id: `prc_${number++}`,
    node: 'a',
    pid: 1,
    version: '0.1.0',
    startedAt: '2026-01-01T00:00:00.000Z',
    lastSeenAt: '2026-01-01T00:00:00.000Z',
    isAnswering: false,
    state: 'ready',
    report: report(),
    ...fields,
  };
}

function status(fields: Partial<ServerStatus> = {}): ServerStatus {
  return {
    readAt: '2026-01-01T00:00:00.000Z',
    metadata: {
      kind: 'sqlite',
      version: '3.50.4',
      isReachable: true,
      pingMs: 1,
      knowsCommits: true,
      bytes: 1,
      schemaVersion: 7,
    },
    blobs: { kind: 'folder', isReachable: true, pingMs: 1 },
    counts: null,
    chores: { collect: null, verify: null, backup: null },
    processes: [process()],
    ...fields,
  };
}

describe('nodesOf()', () => {
  const minute = (requests: number, p99Ms: number | null = null): MinuteLoad => ({
    requests,
    refused: 0,
    failed: 1,
    p99Ms,
  });

  it('puts the processes of a machine together', () => {
    const nodes = nodesOf([
      process({ report: report({ requests: 60, failed: 1, p99Ms: 5 }, [minute(1), minute(2, 10)]) }),
      process({ report: report({ requests: 120, p99Ms: 2.5 }, [minute(30, 5)]), state: 'not_ready' }),
      process({ node: 'b', report: null }),
    ]);
    assert.deepEqual(
      nodes.map(({ node, processes, state }) => [node, processes.length, state]),
      [
        ['a', 2, 'not_ready'],
        ['b', 1, 'ready'],
      ],
    );
    assert.deepEqual(nodes[0]?.loads?.lists, { perSecond: 3, refused: 0, failed: 1, p50Ms: null, p99Ms: 5 });
    assert.deepEqual(nodes[0]?.minutes, [minute(1), { requests: 32, refused: 0, failed: 2, p99Ms: 10 }]);
    assert.deepEqual([nodes[1]?.loads, nodes[1]?.minutes], [undefined, []]);
  });

  it('counts nothing of what is lost', () => {
    const [node] = nodesOf([process({ state: 'lost', report: report({ requests: 60 }, [minute(1)]) })]);
    assert.deepEqual([node?.state, node?.loads, node?.minutes], ['lost', undefined, []]);
  });
});

describe('concernsOf()', () => {
  it('has none when all is well', () => {
    assert.deepEqual(concernsOf(status()), []);
  });

  it('names what somebody ought to look at', () => {
    const { metadata, blobs } = status();
    const found = concernsOf(
      status({
        metadata: { ...metadata, isReachable: false, knowsCommits: false },
        blobs: { ...blobs, isReachable: false },
        chores: {
          collect: null,
          backup: null,
          verify: { endedAt: '2026-01-01T00:00:00.000Z', contents: 1, faults: 1 },
        },
        processes: [
          process({ state: 'lost', pid: 7, version: '0.0.9' }),
          process({ state: 'not_ready', report: { ...report(), reasons: ['the blob store is full'] } }),
          process({ version: '0.2.0' }),
          process({ report: { ...report(), reasons: ["its clock is 9 seconds behind the database's"] } }),
        ],
      }),
    );
    assert.deepEqual(
      found.map(({ kind }) => kind),
      ['bad', 'bad', 'bad', 'bad', 'waiting', 'bad', 'waiting', 'waiting'],
    );
    assert.ok(found.some(({ text }) => text === 'Process 1 on a is not ready: the blob store is full.'));
    assert.ok(found.some(({ text }) => text === "Process 1 on a: its clock is 9 seconds behind the database's."));
  });
});

describe('rate() and duration()', () => {
  it('are as precise as people read them', () => {
    assert.deepEqual([0, 0.02, 0.34, 9.96, 12.3, 4810].map(rate), ['0', '0.0', '0.3', '10.0', '12', '4,810']);
    assert.deepEqual([null, 0.5, 250, 2500].map(duration), ['–', '0.5\u00a0ms', '250\u00a0ms', '2.5\u00a0s']);
  });
});
