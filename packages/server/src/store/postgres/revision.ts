import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Subject } from '../../domain/memories/subject.ts';
import type { CommitListener } from '../../domain/ports.ts';
import { readNote } from './notes.ts';
import { type ConnectionOptions, clientConfig, silentMs } from './pool.ts';

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

/** Tells whether anything may have been committed, by whatever node. */
export interface RevisionWatch {
  /** See {@link Store.revision}. While the way by which commits are told is not known to be open, each call has another number. */
  current(): number;
  /** Whether that way is known to be open. */
  isTrusted(): boolean;
  /** See {@link Store.onCommitted}. */
  onCommitted(listener: CommitListener): void;
  /**
   * To be called before an own transaction begins. Until it has ended, what comes of it by the channel counts as what others commit
   * does: its answer may be late, or never come.
   */
  begin(): OwnTransaction;
  close(): Promise<void>;
}

/** What came of an own transaction. Each is to be told of once. */
export interface OwnTransaction {
  /** By what its notes are known on the channel. */
  readonly name: string;
  /** It was committed, and has touched these. */
  committed(touched: readonly Subject[]): void;
  /** It came to nothing. */
  failed(): void;
  /** Nobody knows. It may even be committed later, so that it never ends here. */
  lost(): void;
}

/**
 * Listens to what other nodes commit (https://www.postgresql.org/docs/current/sql-notify.html). Every notification comes in the
 * order of the commits; so does the ping that this node sends to itself: once one is back, all that was committed before it was
 * sent is known. When none comes back for a while, because the connection is gone or stands still, nothing is trusted.
 *
 * @throws what `pg` throws when the first connection fails; none is tried for after that
 */
export async function watchRevision(options: ConnectionOptions, now: () => number): Promise<RevisionWatch> {
  const self = randomUUID();
  const pings = `${channel} ${self}`; // nobody else listens there
  let revision = 0;
  let knownAt = Number.NEGATIVE_INFINITY;
  let connection: Promise<void> | undefined;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const ownUnderWay = new Set<string>();
  let ownNumber = 0;
  let hasBegun = false;
  let isClosed = false;
  let pingNumber = 0;
  let ping: { readonly text: string; readonly sentAt: number } | undefined;
  let sendingOn: pg.Client | undefined;

  const listeners: CommitListener[] = [];
  const advance = (touched: readonly Subject[] | undefined): void => {
    revision++;
    for (const listener of listeners) listener(touched);
  };
  const sendPing = (to: pg.Client): void => {
    if (sendingOn === to || (ping !== undefined && now() - ping.sentAt < trustedMs)) return;
    sendingOn = to;
    const text = String(++pingNumber);
    ping = { text, sentAt: now() };
    const sent = to.query('select pg_notify($1, $2)', [pings, text]);
    sent.then(
      () => {
        if (sendingOn === to) sendingOn = undefined;
      },
      () => lose(to),
    );
  };
  const lose = (lost: pg.Client): void => {
    if (client !== lost) return;
    client = undefined;
    ping = undefined;
    knownAt = Number.NEGATIVE_INFINITY;
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
        if (!note.by.startsWith(self) || ownUnderWay.has(note.by)) advance(note.touched);
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
  await connection;
  const isTrusted = (): boolean => now() - knownAt <= trustedMs;
  return {
    isTrusted,
    onCommitted(listener) {
      listeners.push(listener);
    },
    current() {
      if (!isTrusted()) advance(undefined);
      return revision;
    },
    begin() {
      const name = `${self}:${++ownNumber}`;
      ownUnderWay.add(name);
      return {
        name,
        committed(touched) {
          ownUnderWay.delete(name);
          advance(touched);
        },
        failed() {
          ownUnderWay.delete(name);
        },
        lost() {
          advance(undefined);
          const [oldest] = ownUnderWay;
          if (oldest !== undefined && ownUnderWay.size > maxUnknown) ownUnderWay.delete(oldest);
        },
      };
    },
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
