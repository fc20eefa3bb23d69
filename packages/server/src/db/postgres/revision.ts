import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { CacheTag } from '../../cache/cache-tag.ts';
import { type CommitListener, RefusedError } from '../store.ts';
import { readNote } from './notes.ts';
import { type ConnectionOptions, clientConfig, limitSession, openPool, silentMs } from './pool.ts';
import { pooledMessage } from './sessions.ts';

/** On which channel commits are told. */
export const channel = 'tenon';

/** How often the way by which commits are told is tried out. */
const pingEveryMs = 250;

/** For how long what was known is taken for true after the way was last known to be open: stale answers are no older. */
const trustedMs = 800;

/** After how long another connection is tried for, when one is lost. */
const reconnectMs = 100;

/** Of how many own transactions it is remembered that nobody knows what came of them. */
const maxUnknown = 10_000;

/**
 * What time is measured with. The monotonic clock may stand still while the machine is suspended; the wall clock doesn't, but it can be
 * set. So the one that says that more time has passed is believed.
 */
export interface Clocks {
  monotonicMs(): number;
  wallMs(): number;
}

const ownClocks: Clocks = { monotonicMs: () => performance.now(), wallMs: Date.now };

/** What both clocks said. */
type ClockReadings = Readonly<Record<keyof Clocks, number>>;

function readClocks({ monotonicMs, wallMs }: Clocks): ClockReadings {
  return { monotonicMs: monotonicMs(), wallMs: wallMs() };
}

function elapsedMs(clocks: Clocks, since: ClockReadings): number {
  return Math.max(clocks.monotonicMs() - since.monotonicMs, clocks.wallMs() - since.wallMs);
}

/** Tells whether anything may have been committed, by whatever node. */
export type RevisionWatch = Awaited<ReturnType<typeof watchRevision>>;

/**
 * Listens to what other nodes commit (https://www.postgresql.org/docs/current/sql-notify.html). Every notification comes in the
 * order of the commits; so does the ping that this node sends to itself over another connection: once one is back, all that was
 * committed before it was sent is known. Another connection, because a pooler that mixes up sessions would return the ping and lose the
 * notes. When no ping comes back for a while, because the connection is gone or stands still, nothing is trusted.
 *
 * @throws what `pg` throws when the first connection fails; none is tried for after that
 */
export async function watchRevision(options: ConnectionOptions, clocks: Clocks = ownClocks) {
  const { monotonicMs } = clocks;
  const self = randomUUID();
  const pings = `${channel} ${self}`; // nobody else listens there
  let revision = 0;
  let knownAt: ClockReadings | undefined;
  let connection: Promise<void> | undefined;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const ownUnderWay = new Set<string>();
  let ownNumber = 0;
  let hasBegun = false;
  let isClosed = false;
  let pingNumber = 0;
  let ping: { readonly text: string; readonly sentAt: ClockReadings } | undefined;
  let isSending = false;
  let unansweredSince: number | undefined;
  let fault: RefusedError | undefined;
  const pinging = openPool({ ...options, waitMs: silentMs }, 1);
  // A connection that doesn't listen hears nothing, unless it has another one's session.
  pinging.on('connect', (other) => {
    other.on('notification', () => {
      fault = new RefusedError(pooledMessage);
      knownAt = undefined;
    });
  });

  const listeners: CommitListener[] = [];
  const advance = (invalidated: readonly CacheTag[] | undefined): void => {
    revision++;
    for (const listener of listeners) listener(invalidated);
  };
  const sendPing = (to: pg.Client): void => {
    if (unansweredSince !== undefined && monotonicMs() - unansweredSince > silentMs) {
      lose(to);
      return;
    }
    if (isSending || (ping !== undefined && elapsedMs(clocks, ping.sentAt) < trustedMs)) return;
    isSending = true;
    const text = String(++pingNumber);
    ping = { text, sentAt: readClocks(clocks) };
    unansweredSince ??= monotonicMs();
    // A ping changes nothing, so it need not reach the disk.
    const sent = pinging.query(
      `begin; set local synchronous_commit = off; select pg_notify('${pings}', '${text}'); commit`,
    );
    sent
      .catch(() => {}) // it doesn't come back, then
      .finally(() => {
        isSending = false;
      });
  };
  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = undefined;
    ping = undefined;
    unansweredSince = undefined;
    knownAt = undefined;
    clearInterval(timer);
    lost.end().catch(() => {});
    if (isClosed || !hasBegun) return;
    timer = setTimeout(() => {
      connection = connect().catch(() => {});
    }, reconnectMs);
    timer.unref();
  };
  const connect = async (): Promise<void> => {
    const fresh = new pg.Client({
      ...clientConfig({ ...options, connectMs: silentMs }),
      application_name: 'tenon revisions',
      query_timeout: silentMs, // pings too
    });
    client = fresh;
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', ({ channel: from, payload }) => {
      if (from !== pings) {
        const note = readNote(payload ?? '');
        if (!note.by.startsWith(self) || ownUnderWay.has(note.by)) advance(note.invalidated);
      } else if (ping !== undefined && payload === ping.text) {
        knownAt = ping.sentAt;
        ping = undefined;
        unansweredSince = undefined;
      }
    });
    try {
      await fresh.connect();
      await limitSession(fresh, silentMs);
      await fresh.query(`listen ${channel}; listen "${pings}"`);
      if (client !== fresh) throw new Error('Connection terminated');
    } catch (error) {
      lose(fresh);
      throw error;
    }
    advance(undefined); // what was committed while nobody listened
    hasBegun = true;
    timer = setInterval(() => sendPing(fresh), pingEveryMs);
    timer.unref();
    sendPing(fresh);
  };
  connection = connect();
  try {
    await connection;
  } catch (error) {
    await pinging.end();
    throw error;
  }
  const isTrusted = (): boolean => knownAt !== undefined && elapsedMs(clocks, knownAt) <= trustedMs;
  return {
    /** Whether the channel is known to be open. */
    isTrusted,
    /** Why commits can't be received, where that is known. */
    fault: () => fault,
    /** See {@link Store.onCommitted}. */
    onCommitted(listener: CommitListener): void {
      listeners.push(listener);
    },
    /** See {@link Store.revision}. While the channel is not known to be open, each call returns another number. */
    current(): number {
      if (!isTrusted()) advance(undefined);
      return revision;
    },
    /**
     * Call before an own transaction begins, and one of the returned functions once it has ended. Until then, its notes on the channel
     * count as those of other nodes do: the answer may be late, or never come.
     */
    begin() {
      const name = `${self}:${++ownNumber}`;
      ownUnderWay.add(name);
      return {
        /** Identifies its notes on the channel. */
        name,
        committed(invalidated: readonly CacheTag[]): void {
          ownUnderWay.delete(name);
          advance(invalidated);
        },
        failed(): void {
          ownUnderWay.delete(name);
        },
        /** The outcome is unknown. It may even be committed later, so that it never ends here. */
        lost(): void {
          advance(undefined);
          const [oldest] = ownUnderWay;
          if (oldest !== undefined && ownUnderWay.size > maxUnknown) ownUnderWay.delete(oldest);
        },
      };
    },
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(timer);
      await connection;
      const last = client;
      client = undefined;
      await Promise.all([last?.end(), pinging.end()]);
    },
  };
}
