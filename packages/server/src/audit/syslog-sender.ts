import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Lease, takeLease } from '../blobs/leases.ts';
import type { SyslogServer } from '../config/readers.ts';
import type { AuditPosition } from '../db/audit-chain-records.ts';
import type { Deps } from '../deps.ts';
import { readAuditHead } from './seal.ts';
import { openSyslog, type SyslogConnection } from './syslog-connection.ts';
import { toSyslogMessage } from './syslog-message.ts';

/*
 * Sends the events of the hash chain to a syslog server, in the order of the chain. One process of all nodes sends at a time: it holds a lease.
 *
 * Syslog has no acknowledgements. Therefore the position is stored only when the connection is still open some time after the events were
 * sent. After a failure or a crash, the events after the stored position are sent again.
 */

const batchSize = 100;
const leaseMs = 60_000;

export interface SyslogTimes {
  /** How often the sender looks for events, in milliseconds. */
  readonly pollMs: number;
  /** How long a connection must stay open until events count as received, in milliseconds. */
  readonly settleMs: number;
  /** The longest pause between two connections, in milliseconds. */
  readonly maxPauseMs: number;
}

const defaultTimes: SyslogTimes = { pollMs: 1000, settleMs: 5000, maxPauseMs: 60_000 };

export interface SyslogSenderOptions {
  readonly deps: Pick<Deps, 'store' | 'clock' | 'random'>;
  readonly server: SyslogServer;
  readonly log: Logger;
  readonly times?: SyslogTimes;
}

export type SyslogSender = ReturnType<typeof startSyslogSender>;

export function startSyslogSender({ deps, server, log, times = defaultTimes }: SyslogSenderOptions) {
  const { store } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const state = { sent: 0, lagEvents: 0, oldestWaitingAtMs: undefined as number | undefined, isReachable: true };
  let lease: Lease | undefined;
  let connection: SyslogConnection | undefined;
  let stored: AuditPosition | undefined;
  let failures = 0;
  /** What was sent on the connection, and when, from the newest stored position on. */
  let sent: { readonly position: AuditPosition; readonly atMs: number }[] = [];

  const storePosition = async (position: AuditPosition): Promise<void> => {
    await store.write((tx) => tx.putAuditPosition({ kind: 'syslog', seq: position.seq, hash: position.hash }));
    stored = position;
  };
  /** Stores the newest position whose events count as received. */
  const settle = async (): Promise<void> => {
    if (connection?.isOpen() !== true) return;
    const untilMs = performance.now() - times.settleMs;
    const last = sent.findLast(({ atMs }) => atMs <= untilMs);
    if (last === undefined) return;
    await storePosition(last.position);
    sent = sent.filter(({ position }) => position.seq > last.position.seq);
  };
  const disconnect = (): void => {
    connection?.close();
    connection = undefined;
    sent = [];
  };
  /** Reads the position of the last sender. The first one begins at the head, so that a log gets no old events. */
  const takeOver = async (): Promise<boolean> => {
    lease ??= await takeLease(deps, 'syslog', { lengthMs: leaseMs, isExclusive: true });
    if (lease === undefined) return false;
    await lease.renew();
    if ((await store.read.leaseHolders('syslog', deps.clock())).length > 1) {
      // This process was suspended for longer than its lease, and another one has taken over.
      disconnect();
      await lease.release();
      [lease, stored] = [undefined, undefined];
      return false;
    }
    if (stored !== undefined) return true;
    stored = await store.read.auditPosition('syslog');
    if (stored === undefined) await storePosition(await readAuditHead(deps));
    return true;
  };
  const sendNext = async (): Promise<boolean> => {
    const after = sent.at(-1)?.position ?? stored ?? { seq: 0, hash: '' };
    const page = await store.read.auditLinks(after.seq, batchSize);
    const last = page.at(-1);
    state.oldestWaitingAtMs = page[0]?.link.sealedAtMs;
    state.lagEvents = Math.max(0, (await readAuditHead(deps)).seq - after.seq);
    if (last === undefined) return false;
    connection ??= await openSyslog(server);
    const messages = page.flatMap(({ link, event }) =>
      event === undefined ? [] : [toSyslogMessage(event, link, host)],
    );
    await connection.send(messages);
    state.sent += messages.length;
    state.lagEvents -= page.length;
    state.oldestWaitingAtMs = undefined;
    sent.push({ position: { seq: last.link.seq, hash: last.link.hash }, atMs: performance.now() });
    return page.length === batchSize;
  };
  const round = async (): Promise<void> => {
    if (!(await takeOver())) return;
    if (connection?.isOpen() === false) {
      disconnect();
      throw new Error('The syslog server closed the connection');
    }
    while (await sendNext()) {
      signal.throwIfAborted();
      await lease?.renew();
    }
    await settle();
  };
  const host = hostname();
  const run = async (): Promise<void> => {
    for (;;) {
      try {
        await round();
        if (failures > 0) log.info('audit syslog: sending again');
        failures = 0;
        state.isReachable = true;
      } catch (error) {
        disconnect();
        if (signal.aborted) return;
        state.isReachable = false;
        if (++failures === 1) log.warn({ err: error }, 'audit syslog: cannot send');
      }
      const pauseMs = failures === 0 ? times.pollMs : Math.min(times.maxPauseMs, times.pollMs * 2 ** failures);
      await sleep(pauseMs, undefined, { ref: false, signal });
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'audit syslog: stopped');
  });
  return {
    /** Events that wait, when the oldest of them was sealed, and whether the server is reachable, as this process knows. */
    state: state as Readonly<typeof state>,
    /** Stops, and lets another process send. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
      disconnect();
      await lease?.release().catch(() => {}); // it expires
    },
  };
}
