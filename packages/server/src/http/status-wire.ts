import type { ServerProcess, ServerStatus } from '@tenon/protocol';
import type { Settings } from '../config/settings.ts';
import type { PingResult } from '../domain/readiness.ts';
import type { ChoreKind } from '../domain/status/ports.ts';
import type { ProcessStatus, Status } from '../domain/status/read.ts';

function time(ms: number): string {
  return new Date(ms).toISOString();
}

/** Where the stores are is not told: URLs have credentials in them. */
export function toServerStatus(
  { readAtMs, metadata, blobs, counted, chores, processes }: Status,
  { databaseUrl, s3Bucket }: Pick<Settings, 'databaseUrl' | 's3Bucket'>,
): ServerStatus {
  return {
    readAt: time(readAtMs),
    metadata: {
      kind: databaseUrl === undefined ? 'sqlite' : 'postgresql',
      version: counted?.facts.version ?? null,
      ...reachOf(metadata),
      knowsCommits: metadata.knowsCommits,
      bytes: counted?.facts.bytes ?? null,
      schemaVersion: counted?.facts.schemaVersion ?? null,
    },
    blobs: { kind: s3Bucket === undefined ? 'folder' : 's3', ...reachOf(blobs) },
    counts: counted === undefined ? null : { countedAt: time(counted.atMs), ...counted.sizes },
    chores: choresOf(chores),
    processes: processes.map(toServerProcess),
  };
}

function reachOf({ failure, durationMs }: PingResult) {
  const isReachable = failure === undefined;
  return { isReachable, pingMs: isReachable ? Math.round(durationMs * 100) / 100 : null };
}

function choresOf(chores: Status['chores']): ServerStatus['chores'] {
  const last = (kind: ChoreKind) => {
    const found = chores.find((chore) => chore.kind === kind);
    return found && { endedAt: time(found.endedAtMs), of: (name: string) => found.outcome[name] ?? 0 };
  };
  const [collect, verify, backup] = [last('collect'), last('verify'), last('backup')];
  return {
    collect: collect
      ? {
          endedAt: collect.endedAt,
          deleted: collect.of('deleted'),
          deletedBytes: collect.of('deletedBytes'),
          waiting: collect.of('waiting'),
          waitingBytes: collect.of('waitingBytes'),
        }
      : null,
    verify: verify ? { endedAt: verify.endedAt, contents: verify.of('contents'), faults: verify.of('faults') } : null,
    backup: backup ? { endedAt: backup.endedAt, bytes: backup.of('bytes') } : null,
  };
}

function toServerProcess({ startedAtMs, lastSeenAtMs, report, ...known }: ProcessStatus): ServerProcess {
  return { ...known, startedAt: time(startedAtMs), lastSeenAt: time(lastSeenAtMs), report: report ?? null };
}
