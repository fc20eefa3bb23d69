/** Makes load, in a process of its own: see `load.ts`. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { createLatencies, type Latencies } from './latencies.ts';
import type { LoadOrder, LoadReport } from './load-order.ts';
import { createMix, createRequestWriter } from './requests.ts';
import { createResponseReader } from './response-reader.ts';

/** Beyond this a server hangs. */
const hangsMs = 60_000;

/** Asks on one connection until the time is over, and waits for the last answer. */
function ask(order: LoadOrder, number: number, latencies: Latencies, isOver: () => boolean): Promise<void> {
  const { kinds, ports } = order;
  const port = ports[number % ports.length] ?? 0;
  const run = randomBytes(8);
  const writers = kinds.map((kind) => createRequestWriter(kind, `127.0.0.1:${port}`, number, run));
  const mix = createMix(
    kinds.map(({ weight }) => weight),
    number * 7,
  );
  return new Promise((resolve, reject) => {
    let current = 0;
    let sentAt = 0;
    let isDone = false;
    const settle = (error?: unknown): void => {
      isDone = true;
      clearTimeout(hangs);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(new Error(`${kinds[current]?.method} ${kinds[current]?.path}: ${error}`));
    };
    const hangs = setTimeout(() => settle('no answer came'), hangsMs);
    const send = (): void => {
      current = mix();
      sentAt = performance.now();
      socket.write(writers[current]?.() ?? '');
    };
    const read = createResponseReader((status, bytes) => {
      latencies.note((performance.now() - sentAt) * 1000);
      const { status: wanted = 0, answerBytes = bytes } = kinds[current] ?? {};
      if (status !== wanted || bytes !== answerBytes) {
        settle(`expected ${wanted} with ${answerBytes} bytes, got ${status} with ${bytes}`);
      } else if (isOver()) settle();
      else {
        hangs.refresh();
        send();
      }
    });
    const onBytes = (count: number, buffer: Uint8Array): boolean => {
      try {
        if (!isDone) read(Buffer.from(buffer.buffer, buffer.byteOffset, count));
      } catch (error) {
        settle(error);
      }
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafeSlow(256 * 1024), callback: onBytes };
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, send);
    socket.on('error', settle).on('close', () => {
      if (!isDone) settle('the connection was closed');
    });
  });
}

async function obey(order: LoadOrder): Promise<LoadReport> {
  const latencies = createLatencies();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const isOver = (): boolean => performance.now() - startedMs > order.seconds * 1000;
  const numbers = Array.from({ length: order.connections }, (_, at) => order.firstConnection + at);
  const asked = await Promise.allSettled(numbers.map((number) => ask(order, number, latencies, isOver)));
  const elapsedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const failed = asked.find(({ status }) => status === 'rejected');
  return {
    counts: latencies.counts,
    elapsedMs,
    cpuUs: user + system,
    requests: latencies.total,
    ...(failed?.status === 'rejected' && {
      error: failed.reason instanceof Error ? failed.reason.message : String(failed.reason),
    }),
  };
}

process.on('message', async (order: LoadOrder) => process.send?.(await obey(order)));
process.on('disconnect', () => process.exit());
