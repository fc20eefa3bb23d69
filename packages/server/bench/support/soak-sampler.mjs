// Loaded into the server's process by `node --import`: appends its memory, descriptors and handles to a CSV file every so often.
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

const file = process.env.SOAK_SAMPLES;
const everyMs = Number(process.env.SOAK_SAMPLE_SECONDS) * 1000;
const columns = ['seconds', 'rss', 'heapUsed', 'external', 'arrayBuffers', 'fds', 'handles', 'cpuSeconds'];

if (isMainThread && file !== undefined) {
  writeFileSync(file, `${columns.join(',')}\n`);
  setInterval(() => {
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const fds = readdirSync('/proc/self/fd').length;
    const handles = process.getActiveResourcesInfo().length;
    const cpuSeconds = ((user + system) / 1e6).toFixed(1);
    const row = [Math.round(process.uptime()), rss, heapUsed, external, arrayBuffers, fds, handles, cpuSeconds];
    appendFileSync(file, `${row.join(',')}\n`);
  }, everyMs).unref();
}
