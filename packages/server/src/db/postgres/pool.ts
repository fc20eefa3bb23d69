import { Socket } from 'node:net';
import pg from 'pg';

/** `bigint`: what is counted, and times in milliseconds. Beyond 2^53 there is neither. */
const int8 = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** What all of a store's connections have in common. */
export interface ConnectionOptions {
  readonly url: string;
  /** How long to wait for a connection, and for a statement's answer, in milliseconds. */
  readonly waitMs: number;
  /** How long to wait for a connection to be made, where that is not as long. */
  readonly connectMs?: number;
  /** Where their sockets come from, when they may have to be closed in a hurry. */
  readonly sockets?: Sockets;
}

type Sockets = ReturnType<typeof createSockets>;

/**
 * How long who tries again waits for a connection, in milliseconds. What is cut off without a word (a cable, a machine without
 * power, a firewall that has forgotten) never says that it is gone.
 */
export const silentMs = 2500;

/** After how long an unused connection is asked for by the operating system, which gives it up some ten seconds later. */
const keepAliveMs = 5000;

export function createSockets() {
  const opened = new Set<Socket>();
  return {
    open(): Socket {
      const socket = new Socket();
      opened.add(socket);
      return socket.once('close', () => void opened.delete(socket));
    },
    /** Closes what is silent for a while, since the other side doesn't hear that it is to end. */
    hurry(): void {
      for (const socket of opened) socket.setTimeout(silentMs, () => socket.destroy());
    },
  };
}

export function clientConfig({ url, waitMs, connectMs = waitMs, sockets }: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: url,
    ...(sockets !== undefined && { stream: sockets.open }),
    types,
    application_name: 'tenon',
    connectionTimeoutMillis: connectMs,
    // For a server that says nothing any more; one that does gives up first: `limitSession()`.
    query_timeout: waitMs + 1000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
}

/**
 * Has the server end what takes too long, and transactions of a process that stands still. As statements and not as startup
 * parameters, which poolers refuse.
 */
export async function limitSession(client: pg.ClientBase, waitMs: number): Promise<void> {
  await client.query(
    `set statement_timeout = ${Math.round(waitMs)}; set idle_in_transaction_session_timeout = ${Math.round(waitMs)}`,
  );
}

export function openPool(options: ConnectionOptions, max: number): pg.Pool {
  const onConnect = (client: pg.ClientBase) => limitSession(client, options.waitMs);
  const pool = new pg.Pool({ ...clientConfig(options), max, idleTimeoutMillis: 30_000, onConnect });
  // Of a connection that nobody uses at the moment: the pool drops it, and makes another one when it is needed.
  pool.on('error', () => {});
  // Of one that is in use: its query is told too, and an event that nobody listens to would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
