import { Socket } from 'node:net';
import pg from 'pg';

/** The type `bigint`. It is parsed as a number, because counts and times are below 2^53. */
const int8 = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

export interface ConnectionOptions {
  readonly url: string;
  /** The time-out for a connection, and for a statement, in milliseconds. */
  readonly waitMs: number;
  /** The time-out for opening a connection. Default: `waitMs`. */
  readonly connectMs?: number;
  /** Creates the sockets, so that they can be closed when the server is silent. */
  readonly sockets?: Sockets;
}

type Sockets = ReturnType<typeof createSockets>;

/**
 * A server that doesn't respond for this long counts as gone, in milliseconds. After a loss of power, or when a cable or firewall cuts
 * the connection, the operating system reports no error.
 */
export const silentMs = 2500;

/** After how long the operating system probes an idle connection, in milliseconds. It closes a dead one about ten seconds later. */
const keepAliveMs = 5000;

export function createSockets() {
  const opened = new Set<Socket>();
  return {
    open(): Socket {
      const socket = new Socket();
      opened.add(socket);
      return socket.once('close', () => void opened.delete(socket));
    },
    /** Closes sockets that are silent for {@link silentMs}, because their server doesn't confirm the end of the connection. */
    closeSilent(): void {
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
    // For a silent server. Others end the statement earlier: `limitSession()`.
    query_timeout: waitMs + 1000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  };
}

/** Sets the server's time-outs for statements and idle transactions. Startup parameters would do the same, but poolers reject them. */
export async function limitSession(client: pg.ClientBase, waitMs: number): Promise<void> {
  await client.query(
    `set statement_timeout = ${Math.round(waitMs)}; set idle_in_transaction_session_timeout = ${Math.round(waitMs)}`,
  );
}

export function openPool(options: ConnectionOptions, max: number): pg.Pool {
  const onConnect = (client: pg.ClientBase) => limitSession(client, options.waitMs);
  const pool = new pg.Pool({ ...clientConfig(options), max, idleTimeoutMillis: 30_000, onConnect });
  // An `error` event without a listener would end the process. The pool replaces an idle connection that fails.
  pool.on('error', () => {});
  // The query of a connection that is in use rejects as well.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
