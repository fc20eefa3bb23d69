import type { Worker } from 'node:cluster';

/** What `node:cluster` tells workers, and they answer; only what is looked at here. */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** A connection, as the primary has it. */
interface Handle {
  close(): void;
}

/**
 * Closes the connections that a worker was being handed when it ended. `node:cluster` keeps each open until the worker has said that
 * it has it, and forgets those of which it never does: who has connected would wait for good.
 */
export function closeUnanswered(worker: Worker): void {
  const { process: child } = worker;
  const unanswered = new Map<number, Handle>();
  const send = child.send as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]): boolean => {
    const [message, handle] = args as [ClusterMessage | undefined, Handle | undefined];
    const isHandedOver = message?.cmd === 'NODE_CLUSTER' && message.act === 'newconn';
    if (isHandedOver && message.seq !== undefined && handle !== undefined) unanswered.set(message.seq, handle);
    return send.apply(child, args);
  };
  child.on('internalMessage', ({ cmd, ack }: ClusterMessage) => {
    if (cmd === 'NODE_CLUSTER' && ack !== undefined) unanswered.delete(ack);
  });
  worker.once('exit', () => {
    for (const handle of unanswered.values()) handle.close();
  });
}
