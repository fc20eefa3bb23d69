import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type ConnectionOptions, clientConfig } from './pool.ts';

/** On which channel commits are told. */
export const channel = 'tenon';

/** How often the way by which commits are told is tried out. */
const pingEveryMs = 250;

/** For how long what was known is taken for true after the way was last known to be open: stale answers are no older. */
const trustedMs = 800;

/** After how long another connection is tried for, when one is lost. */
const reconnectMs = 100;

/** Tells whether anything may have been committed, by whatever node. */
export interface RevisionWatch {
  /** What writers tell to the channel. */
  readonly self: string;
  /** See {@link Store.revision}. While the way by which commits are told is not known to be open, each call has another number. */
  current(): number;
  /** Whether that way is known to be open. */
  isTrusted(): boolean;
  /** To be called after an own commit. */
  advance(): void;
  close(): Promise<void>;
}

/**
 * Listens to what other nodes commit (https://www.postgresql.org/docs/current/sql-notify.html). Every notification comes in the
 * order of the commits; so does the ping that this node sends to itself: once one is back, all that was committed before it was
 * sent is known. When none comes back for a while, because the connection is gone or stands still, nothing is trusted.
 */
export async function watchRevision(options: ConnectionOptions, now: () => number): Promise<RevisionWatch> {
  const self = randomUUID();
  const pings = `${channel} ${self}`; // nobody else listens there
  let revision = 0;
  let knownAt = Number.NEGATIVE_INFINITY;
  let connection: Promise<void> | undefined;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let pingNumber = 0;
  let ping: { readonly text: string; readonly sentAt: number } | undefined;

  const advance = (): void => {
    revision++;
  };
  const sendPing = (to: pg.Client): void => {
    if (ping !== undefined && now() - ping.sentAt < trustedMs) return;
    const text = String(++pingNumber);
    ping = { text, sentAt: now() };
    to.query('select pg_notify($1, $2)', [pings, text]).catch(() => lose(to));
  };
  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = undefined;
    ping = undefined;
    knownAt = Number.NEGATIVE_INFINITY;
    clearInterval(timer);
    lost.end().catch(() => {});
    if (isClosed) return;
    timer = setTimeout(() => {
      connection = connect().catch(() => {});
    }, reconnectMs);
    timer.unref();
  };
  const connect = async (): Promise<void> => {
    const fresh = new pg.Client({ ...clientConfig(options), application_name: 'tenon revisions' });
    client = fresh;
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', ({ channel: from, payload }) => {
      if (from !== pings) {
        if (payload !== self) advance();
      } else if (ping !== undefined && payload === ping.text) {
        knownAt = ping.sentAt;
        ping = undefined;
      }
    });
    try {
      await fresh.connect();
      // A ping changes nothing, so it need not reach the disk.
      await fresh.query('set synchronous_commit = off');
      await fresh.query(`listen ${channel}; listen "${pings}"`);
    } catch (error) {
      lose(fresh);
      throw error;
    }
    advance(); // what was committed while nobody listened
    timer = setInterval(() => sendPing(fresh), pingEveryMs);
    timer.unref();
    sendPing(fresh);
  };
  connection = connect();
  await connection;
  const isTrusted = (): boolean => now() - knownAt <= trustedMs;
  return {
    self,
    isTrusted,
    current() {
      if (!isTrusted()) advance();
      return revision;
    },
    advance,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await connection;
      const last = client;
      client = undefined;
      await last?.end();
    },
  };
}
