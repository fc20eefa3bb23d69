import type { MirrorState } from '@tenon/protocol';
import type { Logger } from 'pino';
import type { MirrorRecord } from '../db/mirror-records.ts';
import type { Deps } from '../deps.ts';
import type { AppProgress } from './follow-app.ts';
import { SourceError } from './source.ts';
import type { SyncOptions } from './sync-list.ts';

/* The state of a mirror: the progress of its applications in one record, which is stored so that all nodes show it. */

/** How often the state is stored while only the time of the last equality changes, in milliseconds. */
export const stateIntervalMs = 5000;

/** The longest reason that is stored, in characters. */
const maxDetailLength = 500;

/** An application that is followed. */
export interface FollowedApp {
  progress: AppProgress | undefined;
  failure: unknown;
}

/** The state as last stored, and whether this process follows the source. */
export interface FollowState {
  record: MirrorRecord | undefined;
  isFollowing: boolean;
}

export interface Summary extends Pick<AppProgress, 'equalAtMs' | 'missingLists' | 'missingContents' | 'detail'> {
  readonly state: MirrorState;
}

/** @param discovery the error of the last look for applications; `pending` before the first one */
export function summarize(apps: readonly FollowedApp[], discovery: unknown): Summary {
  const sumOf = (name: 'missingLists' | 'missingContents') =>
    apps.reduce((sum, { progress }) => sum + (progress?.[name] ?? 0), 0);
  const counts = {
    missingLists: sumOf('missingLists'),
    missingContents: sumOf('missingContents'),
    equalAtMs: undefined,
  };
  const errors = [discovery === 'pending' ? undefined : discovery, ...apps.map(({ failure }) => failure)];
  const found = errors.filter((error) => error !== undefined);
  const refusal = found.find(
    (error) => error instanceof SourceError && (error.kind === 'refused' || error.kind === 'missing'),
  );
  if (refusal instanceof Error) return { ...counts, state: 'refused', detail: refusal.message };
  const [error] = found;
  if (error !== undefined) {
    const isOutage = error instanceof SourceError && error.kind === 'unreachable';
    const message = error instanceof Error ? error.message : String(error);
    return { ...counts, state: isOutage ? 'unreachable' : 'incomplete', detail: message };
  }
  const detail = apps.find(({ progress }) => progress?.detail !== undefined)?.progress?.detail;
  if (detail !== undefined) return { ...counts, state: 'incomplete', detail };
  const isSynchronized = discovery === undefined && apps.every(({ progress }) => progress?.isSynchronized);
  if (!isSynchronized) return { ...counts, state: 'synchronizing', detail: undefined };
  const times = apps.flatMap(({ progress }) => progress?.equalAtMs ?? []);
  const equalAtMs = times.length === apps.length ? Math.min(...times) : undefined;
  return { ...counts, state: 'following', detail: undefined, equalAtMs };
}

export interface StateWriterOptions extends Pick<SyncOptions, 'assertFollowing'> {
  readonly deps: Pick<Deps, 'store' | 'clock'>;
  /** The URL of the source. */
  readonly source: string;
  readonly log: Logger;
  readonly state: FollowState;
  /** Counts the lists that have plugins. */
  readonly countLists: () => Promise<number>;
}

/** Returns a function that stores a summary, if it has changed or if a time has passed. It continues from the record of before. */
export function createStateWriter(
  { deps: { store, clock }, source, log, state, assertFollowing, countLists }: StateWriterOptions,
  before: MirrorRecord | undefined,
): (current: Summary) => Promise<void> {
  let [completedAtMs, equalAtMs, lists] = [
    before?.completedAtMs ?? null,
    before?.equalAtMs ?? null,
    before?.lists ?? 0,
  ];
  let [storedAtMs, isCounted] = [0, false];
  return async (current) => {
    const equal = current.state === 'following' ? current.equalAtMs : undefined;
    if (equal !== undefined) {
      equalAtMs = Math.max(equalAtMs ?? 0, equal);
      completedAtMs ??= equal;
    }
    const { missingLists, missingContents } = current;
    const detail = current.detail?.slice(0, maxDetailLength) ?? null;
    const record = {
      source,
      state: current.state,
      detail,
      equalAtMs,
      completedAtMs,
      lists,
      missingLists,
      missingContents,
    };
    const isChanged = (['state', 'detail', 'completedAtMs', 'missingLists', 'missingContents'] as const).some(
      (name) => record[name] !== state.record?.[name],
    );
    if (state.record !== undefined && record.state !== state.record.state)
      log.info({ state: record.state, detail }, 'mirror: state changed');
    const isDue = clock() - storedAtMs >= stateIntervalMs;
    state.record = record;
    if (!isChanged && !isDue) return;
    if (isDue || !isCounted) [lists, isCounted] = [await countLists(), true];
    state.record = { ...record, lists };
    storedAtMs = clock();
    await store.write(async (tx) => {
      await assertFollowing(tx);
      await tx.putMirror({ ...record, lists });
    });
  };
}
