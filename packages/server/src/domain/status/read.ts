import { type ProcessReport, type ProcessState, processReport } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import type { Context } from '../context.ts';
import type { PingResult, Readiness } from '../readiness.ts';
import type { ChoreRecord, ProcessRecord, SeenProcess, StoreFacts, StoreSizes } from './ports.ts';

/** After how long a process that has told nothing of itself counts as lost, in milliseconds: three times it was silent then. */
const lostAfterMs = 60_000;

/** For how long what was counted is told again, in milliseconds. */
const sizesKeptMs = 60_000;

/** This process, which can tell how it is at any moment. */
export interface OwnProcess extends Omit<ProcessRecord, 'reportJson'> {
  report(): Promise<ProcessReport>;
}

/** A process, with what is made of when it was heard of. */
export interface ProcessStatus extends Omit<ProcessRecord, 'reportJson'> {
  readonly lastSeenAtMs: number;
  readonly isAnswering: boolean;
  readonly state: ProcessState;
  /** `undefined` where the process is of a version whose reports this one does not know. */
  readonly report: ProcessReport | undefined;
}

export interface Status {
  readonly readAtMs: number;
  readonly metadata: PingResult & { readonly knowsCommits: boolean };
  readonly blobs: PingResult;
  /** What the store tells of itself, and how much there is, as of some moment; `undefined` where that has failed so far. */
  readonly counted: { readonly atMs: number; readonly facts: StoreFacts; readonly sizes: StoreSizes } | undefined;
  readonly chores: readonly ChoreRecord[];
  readonly processes: readonly ProcessStatus[];
}

export interface StatusReader {
  /** @throws UnavailableError when the metadata can't be read */
  read(): Promise<Status>;
}

interface Parts extends Pick<Context, 'store' | 'clock'> {
  readonly readiness: Readiness;
  readonly own: OwnProcess;
}

/** Tells how the server is: as of now, but for what takes time to count, which is told again for a minute. */
export function createStatusReader({ store, clock, readiness, own }: Parts): StatusReader {
  let counted: Status['counted'];
  let counting: Promise<void> | undefined;
  const count = async (): Promise<void> => {
    try {
      const [facts, sizes] = [await store.facts(), await store.sizes()];
      counted = { atMs: clock(), facts, sizes };
    } catch {
      // What was counted before is dated, and whether the store answers is told beside it.
    } finally {
      counting = undefined;
    }
  };
  const { read } = store;
  return {
    async read() {
      if (counted === undefined || clock() - counted.atMs > sizesKeptMs) counting ??= count();
      const [answers, report, chores, seen] = await Promise.all([
        readiness.checkStores(),
        own.report(),
        read.chores(),
        read.processes(),
        counting,
      ]);
      const readAtMs = clock();
      const others = seen.filter(({ id }) => id !== own.id).map(statusOf);
      return {
        readAtMs,
        metadata: { ...answers.metadata, knowsCommits: store.isRevisionTrusted() },
        blobs: answers.blobs,
        counted,
        chores,
        processes: [ownStatus(own, report, readAtMs), ...others].toSorted(byNodeAndStart),
      };
    },
  };
}

function ownStatus(own: OwnProcess, report: ProcessReport, readAtMs: number): ProcessStatus {
  const { id, node, pid, version, startedAtMs } = own;
  const known = { id, node, pid, version, startedAtMs, lastSeenAtMs: readAtMs };
  return { ...known, isAnswering: true, state: stateOf(report), report };
}

function statusOf({ silentMs, reportJson, ...known }: SeenProcess): ProcessStatus {
  const report = parseReport(reportJson);
  const state = silentMs > lostAfterMs ? 'lost' : report === undefined ? 'ready' : stateOf(report);
  return { ...known, isAnswering: false, state, report };
}

function stateOf({ isStopping, isReady }: ProcessReport): ProcessState {
  if (isStopping) return 'stopping';
  return isReady ? 'ready' : 'not_ready';
}

/** Reports of other versions may have another form. */
function parseReport(json: string): ProcessReport | undefined {
  try {
    const report: unknown = JSON.parse(json);
    return isValid(processReport, report) ? report : undefined;
  } catch {
    return undefined;
  }
}

function byNodeAndStart(a: ProcessStatus, b: ProcessStatus): number {
  if (a.node !== b.node) return a.node < b.node ? -1 : 1;
  return a.startedAtMs - b.startedAtMs;
}
