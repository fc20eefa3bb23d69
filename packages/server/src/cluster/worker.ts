// What a worker runs: it is told by the process that started it what to serve, and serves that until it is told to stop.
import cluster from 'node:cluster';
import process from 'node:process';
import { bindingsPath } from '../http/routes/bindings.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import type { Readings } from '../metrics/readings.ts';
import { type RunningServer, serve } from '../serve.ts';
import { askPrimary } from './ask-primary.ts';
import { toWords } from './error-words.ts';
import type { ToPrimary, ToWorker } from './messages.ts';

// A terminal, or an init system, sends these to every process there is. The primary says when to stop, and how.
process.on('SIGTERM', () => {}).on('SIGINT', () => {});

const primary = askPrimary(send);
let serving: Promise<RunningServer> | undefined;
let readings: (() => Readings) | undefined;
let isStopping = false;

process.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'serve':
      return void begin(message);
    case 'answer':
      return primary.answered(message.id, message.answer);
    case 'tell':
      return send({ kind: 'told', id: message.id, readings: readings?.() ?? {} });
    case 'stop':
      return void stop();
  }
});
cluster.worker?.once('disconnect', () => {
  primary.close();
  if (isStopping) process.exit(1); // nobody waits for it any more
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true; // else Node.js ends it here and now
  void stop();
});
send({ kind: 'here' });

function send(message: ToPrimary): void {
  // Where the primary is gone, `disconnect` tells.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function begin({ number, config, start }: ToWorker & { kind: 'serve' }): Promise<void> {
  const metrics = createMetrics(config, bindingsPath, config.metricsPort !== undefined);
  readings = () => metrics.registry.readings();
  const log = createLog(config.logLevel).child({ worker: number });
  serving = serve(config, log, { allowances: primary.allowances, metrics, start, keepsHouse: number === 1 });
  try {
    const { url, port, start } = await serving;
    send({ kind: 'listening', server: { url, port, start } });
  } catch (error) {
    process.send?.({ kind: 'failed', error: toWords(error) } satisfies ToPrimary, undefined, undefined, () =>
      process.exit(1),
    );
  }
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const server = await serving?.catch(() => undefined);
  await server?.close();
  process.exit(0);
}
