import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { CacheTag } from '../../cache/cache-tag.ts';
import { type CommitListener, RefusedError } from '../store.ts';
import { readNote } from './notes.ts';
import { type ConnectionOptions, clientConfig, limitSession, openPool, silentMs } from './pool.ts';
import { pooledMessage } from './sessions.ts';

/** The channel on which nodes notify each other of commits. */
export const channel = 'tenon';

/** How often the channel is tested, in milliseconds. */
const pingEveryMs = 250;

/** How long the channel is trusted after a successful ping, in milliseconds. No response is staler than this. */
const trustedMs = 800;

const reconnectMs = 100;

/** How many own transactions with an unknown outcome are remembered. */
const maxUnknown = 10_000;

/** The monotonic clock may stop while the machine is suspended, and the wall clock can be set. The larger elapsed time counts. */
export interface Clocks {
  monotonicMs(): number;
  wallMs(): number;
}

const systemClocks: Clocks = { monotonicMs: () => performance.now(), wallMs: Date.now };

type ClockReadings = Readonly<Record<keyof Clocks, number>>;

function readClocks({ monotonicMs, wallMs }: Clocks): ClockReadings {
  return { monotonicMs: monotonicMs(), wallMs: wallMs() };
}

function elapsedMs(clocks: Clocks, since: ClockReadings): number {
  return Math.max(clocks.monotonicMs() - since.monotonicMs, clocks.wallMs() - since.wallMs);
}

export type RevisionWatch = Awaited<ReturnType<typeof watchRevision>>;

/**
 * Receives the commits of all nodes as notifications (https://www.postgresql.org/docs/current/sql-notify.html).
 *
 * Notifications arrive in the order of the commits. The node also sends pings to itself. When a ping returns, all commits before it have
 * been received. Without a recent ping, the revision is not trusted. Pings use a separate connection: a pooler that mixes up sessions
 * could return pings on the same connection, and still lose notifications.
 *
 * @throws errors of `pg` if the first connection fails; later connections are retried
 */
export async function watchRevision(options: ConnectionOptions, clocks: Clocks = systemClocks) {
  const { monotonicMs } = clocks;
  const self = randomUUID();
  const pings = `${channel} ${self}`; // a channel for this node only
  let revision = 0;
  let knownAt: ClockReadings | undefined;
  let connection: Promise<void> | undefined;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** The running transactions of this node. */
  const running = new Set<string>();
  let ownNumber = 0;
  let isStarted = false;
  let isClosed = false;
  let pingNumber = 0;
  let ping: { readonly text: string; readonly sentAt: ClockReadings } | undefined;
  let isSending = false;
  let unansweredSince: number | undefined;
  let fault: RefusedError | undefined;
  const pinging = openPool({ ...options, waitMs: silentMs }, 1);
  // This connection doesn't listen. If it gets a notification, a pooler has given it the session of another connection.
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
    // A ping changes no data, so it need not wait for the disk.
    pinging
      .query(`begin; set local synchronous_commit = off; select pg_notify('${pings}', '${text}'); commit`)
      .catch(() => {}) // a ping that was not sent doesn't return
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
    if (isClosed || !isStarted) return;
    timer = setTimeout(() => {
      connection = connect().catch(() => {});
    }, reconnectMs);
    timer.unref();
  };
  const connect = async (): Promise<void> => {
    const newClient = new pg.Client({
      ...clientConfig({ ...options, connectMs: silentMs }),
      application_name: 'tenon revisions',
      query_timeout: silentMs, // pings too
    });
    client = newClient;
    newClient.on('error', () => lose(newClient));
    newClient.on('end', () => lose(newClient));
    newClient.on('notification', ({ channel: from, payload }) => {
      if (from !== pings) {
        const note = readNote(payload ?? '');
        if (!note.commit.startsWith(self) || running.has(note.commit)) advance(note.invalidated);
      } else if (ping !== undefined && payload === ping.text) {
        knownAt = ping.sentAt;
        ping = undefined;
        unansweredSince = undefined;
      }
    });
    try {
      await newClient.connect();
      await limitSession(newClient, silentMs);
      await newClient.query(`listen ${channel}; listen "${pings}"`);
      if (client !== newClient) throw new Error('Connection terminated');
    } catch (error) {
      lose(newClient);
      throw error;
    }
    advance(undefined); // commits may have been missed before the connection
    isStarted = true;
    timer = setInterval(() => sendPing(newClient), pingEveryMs);
    timer.unref();
    sendPing(newClient);
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
    /** Whether a ping has returned recently. */
    isTrusted,
    /** The reason why commits can't be received, if it is known. */
    fault: () => fault,
    /** See {@link Store.onCommitted}. */
    onCommitted(listener: CommitListener): void {
      listeners.push(listener);
    },
    /** See {@link Store.revision}. */
    current(): number {
      if (!isTrusted()) advance(undefined);
      return revision;
    },
    /**
     * Call before a transaction of this node begins, and one of the returned functions when it has ended. Until then, its notifications
     * advance the revision, because the response to the commit may be late or lost.
     */
    begin() {
      const name = `${self}:${++ownNumber}`;
      running.add(name);
      return {
        /** Identifies the transaction's notifications. */
        name,
        committed(invalidated: readonly CacheTag[]): void {
          running.delete(name);
          advance(invalidated);
        },
        failed(): void {
          running.delete(name);
        },
        /** The outcome is unknown. The transaction may still be committed later, so it counts as running. */
        lost(): void {
          advance(undefined);
          const [oldest] = running;
          if (oldest !== undefined && running.size > maxUnknown) running.delete(oldest);
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
