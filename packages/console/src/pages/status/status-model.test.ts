import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeStatus, ProcessStatus, RequestLoad, ServerStatus } from '@tenon/protocol';
import { concernsOf, duration, perSecond, rate } from './status-model.ts';

const none: RequestLoad = { requests: 0, refused: 0, failed: 0, p50Ms: null, p99Ms: null };
const ofProcess = { node: 'a', pid: 1, version: '0.1.0', startedAt: '2026-01-01T00:00:00.000Z' };

function process(fields: Partial<ProcessStatus> = {}): ProcessStatus {
  return {
    ...ofProcess,
    nodeVersion: '26.0.0',
    state: 'ready',
    reasons: [],
    memory: { residentBytes: 1, heapBytes: 1, contentCacheBytes: 0 },
    eventLoop: { busy: 0, delayP99Ms: 0, delayMaxMs: 0 },
    threads: {
      modules: { running: 0, queued: 0 },
      passwords: { running: 0, queued: 0 },
      simulations: { running: 0, queued: 0 },
    },
    sandbox: [],
    connections: 0,
    changeStreams: 0,
    recent: {
      seconds: 60,
      kinds: { lists: none, contents: none, publishes: none, instrument: none, others: none },
    },
    history: { untilMinutesAgo: 0, minutes: [] },
    ...fields,
  };
}

function node(fields: Partial<NodeStatus> = {}): NodeStatus {
  const lastSeenAt = '2026-01-01T00:00:00.000Z';
  return { id: 'prc_1', ...ofProcess, lastSeenAt, isResponding: false, isLost: false, ...fields };
}

function status(fields: Partial<ServerStatus> = {}): ServerStatus {
  return {
    readAt: '2026-01-01T00:00:00.000Z',
    metadata: { kind: 'sqlite', place: '/data/tenon.db', isReachable: true, pingMs: 1, knowsCommits: true },
    blobs: { kind: 'folder', place: '/data/blobs', isReachable: true, pingMs: 1 },
    mail: null,
    webhooks: { pending: 0, oldestPendingAt: null, failed: 0 },
    mirror: null,
    audit: { seq: 3, hash: 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M', syslogWaiting: null },
    process: process(),
    nodes: [],
    ...fields,
  };
}

describe('concernsOf()', () => {
  it('has none when all is well', () => {
    assert.deepEqual(concernsOf(status()), []);
  });

  it('names what to look at', () => {
    const { metadata, blobs } = status();
    const found = concernsOf(
      status({
        metadata: { ...metadata, isReachable: false, knowsCommits: false },
        blobs: { ...blobs, isReachable: false },
        process: process({ state: 'not_ready', reasons: ['the blob store is full'] }),
        nodes: [node({ isLost: true, pid: 7, version: '0.0.9' }), node(), node({ version: '0.2.0' })],
      }),
    );
    assert.deepEqual(
      found.map(({ kind }) => kind),
      ['bad', 'bad', 'bad', 'bad', 'check', 'check'],
    );
    assert.ok(found.some(({ text }) => text === 'This process is not ready: the blob store is full.'));
    const ready = concernsOf(
      status({ process: process({ reasons: ["its clock is 9 seconds behind the database's"] }) }),
    );
    assert.deepEqual(ready, [{ kind: 'check', text: "This process: its clock is 9 seconds behind the database's." }]);
    assert.deepEqual(concernsOf(status({ nodes: [node({ isLost: true, version: '0.0.9' }), node()] })).length, 1);
    const both = concernsOf(status({ process: process({ reasons: ['busy'] }), nodes: [node({ isLost: true })] }));
    assert.deepEqual(
      both.map(({ kind }) => kind),
      ['bad', 'check'],
    );
  });
});

describe('concernsOf() of a mirror', () => {
  const mirror = {
    source: 'https://tenon.example.org',
    ...{ detail: null, isComplete: true, equalAt: null, lists: 2, missingLists: 0, missingContents: 0 },
  };

  it('has none while it follows', () => {
    assert.deepEqual(concernsOf(status({ mirror: { ...mirror, state: 'following' } })), []);
  });

  it('says that the source does not accept the token', () => {
    const [concern] = concernsOf(status({ mirror: { ...mirror, state: 'refused', detail: 'status 401' } }));
    assert.deepEqual(concern, {
      kind: 'check',
      text: 'The mirror serves what it has: the source does not accept the token (status 401).',
    });
  });
});

describe('perSecond()', () => {
  it('is nothing before the first second is over', () => {
    assert.deepEqual([perSecond({ ...none, requests: 30 }, 60), perSecond({ ...none, requests: 30 }, 0)], [0.5, 0]);
  });
});

describe('rate() and duration()', () => {
  it('are as precise as people read them', () => {
    assert.deepEqual([0, 0.02, 0.34, 9.96, 12.3, 4810].map(rate), ['0', '0.0', '0.3', '10.0', '12', '4,810']);
    assert.deepEqual([null, 0.5, 250, 2500].map(duration), ['–', '0.5\u00a0ms', '250\u00a0ms', '2.5\u00a0s']);
  });
});
