// A primary whose only worker is kept busy, is handed a connection, and is killed. Tells what becomes of the connection.
import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeUnanswered } from '../../src/cluster/close-unanswered.ts';

if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const worker = cluster.fork();
  closeUnanswered(worker);
  const [{ port }] = (await once(worker, 'listening')) as [{ port: number }];
  const answered = await fetch(`http://127.0.0.1:${port}`);
  assert.equal(await answered.text(), 'here'); // and is told nothing of when the worker ends
  worker.send('stand still');
  await once(worker, 'message');
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  await sleep(300); // handed over, and not taken
  worker.process.kill('SIGKILL');
  await closed;
  console.log('closed');
} else {
  createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
  process.once('message', () => {
    process.send?.('standing', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
}
