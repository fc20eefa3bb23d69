// The network traffic of a day of polling: all bytes of HTTP in both directions, counted on the socket.
//
//   node packages/client/bench/polling.bench.ts
//
// A day is extrapolated from the measured polls, which are alike. Bindings change ten times a day.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@tenon/client';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from '../test/helpers/numbered-module.ts';
import { openStage } from '../test/helpers/stage.ts';
import { openCountingProxy } from './support/counting-proxy.ts';

const polls = 1_000;
const pollsADay = 24 * 60 * 60; // one a second
const changesADay = 10;
const listeningMs = 46_000; // three heartbeats
const secondsADay = 24 * 60 * 60;

const random = createRandom(1);
const stage = await openStage();
const proxy = await openCountingProxy(stage.url);
let number = 0;
/** The traffic of the stream's heartbeats, which does not depend on the list. */
let quietBytesADay: number | undefined;

console.log(
  `one guest key, asked for once a second for a day, ${changesADay} changes; bytes of HTTP on the socket, both ways\n`,
);
console.log('plugins in the list   without conditions   with them    ratio    by news   ratio');
for (const plugins of [1, 10, 100]) {
  const key = `guest/${plugins}`;
  await stage.invite(key);
  const publish = (at: number) => stage.publish(key, `plugin.${plugins}.${at}`, numberedModule(++number, random));
  for (let at = 0; at < plugins; at++) await publish(at);
  const path = `/api/v1/extension-points/${stage.extensionPointId}/bindings/${encodeURIComponent(key)}`;
  const headers = { authorization: `Bearer ${stage.token}`, accept: 'application/json' };

  const plain = async (): Promise<void> => {
    await (await fetch(proxy.url + path, { headers })).text();
  };
  const plainBytes = await bytesOf(polls, plain);

  const polling = createClient({ baseUrl: proxy.url, token: stage.token, streaming: false });
  const look = async (): Promise<void> => {
    await polling.getBindings({ extensionPointId: stage.extensionPointId, guestKey: key }, { maxAgeMs: 0 });
  };
  await look();
  const unchangedBytes = await bytesOf(polls, look);
  let changedBytes = 0;
  for (let change = 0; change < changesADay; change++) {
    await publish(0);
    changedBytes += await bytesOf(1, look);
  }
  await polling.close();

  const listening = createClient({ baseUrl: proxy.url, token: stage.token });
  let onChanged = (): void => {};
  listening.on('change', () => onChanged());
  // With a live stream a list is fresh for any `maxAgeMs` above 0.
  while (
    (await listening.getBindings({ extensionPointId: stage.extensionPointId, guestKey: key }, { maxAgeMs: 0.001 }))
      .source !== 'memory'
  )
    await sleep(50);
  proxy.take();
  quietBytesADay ??= await bytesWhileQuiet();
  let newsBytes = 0;
  for (let change = 0; change < changesADay; change++) {
    const changed = new Promise<void>((resolve) => {
      onChanged = resolve;
    });
    await publish(0);
    await changed;
    const { sent, received } = proxy.take();
    newsBytes += sent + received;
  }
  await listening.close();

  const without = (plainBytes / polls) * pollsADay;
  const conditional = (unchangedBytes / polls) * (pollsADay - changesADay) + changedBytes;
  const byNews = quietBytesADay + newsBytes;
  const columns = [
    String(plugins).padStart(19),
    mebibytes(without).padStart(20),
    mebibytes(conditional).padStart(11),
    `${(without / conditional).toFixed(1)}×`.padStart(8),
    mebibytes(byNews).padStart(10),
    `${(without / byNews).toFixed(0)}×`.padStart(7),
  ];
  console.log(columns.join(' '));
}
await proxy.close();
await stage.close();

async function bytesWhileQuiet(): Promise<number> {
  await sleep(listeningMs);
  const { sent, received } = proxy.take();
  return ((sent + received) / (listeningMs / 1000)) * secondsADay;
}

async function bytesOf(times: number, work: () => Promise<void>): Promise<number> {
  proxy.take();
  for (let time = 0; time < times; time++) await work();
  const { sent, received } = proxy.take();
  return sent + received;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(2)} MiB`;
}
