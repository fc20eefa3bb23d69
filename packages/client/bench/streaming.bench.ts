// The delay from a publish, and from its response, until an idle host has the new list.
//
//   node packages/client/bench/streaming.bench.ts
import { createClient } from '@tenon/client';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from '../test/helpers/numbered-module.ts';
import { openStage } from '../test/helpers/stage.ts';

const publishes = 300;
const warmUps = 20;
const hostCounts = [1, 50];

const random = createRandom(1);
const stage = await openStage();
await stage.invite('guest');
let number = 0;
const publish = () => stage.publish('guest', 'plugin', numberedModule(++number, random));
await publish();

const fixed = (ms: number) => ms.toFixed(1).padStart(7);
console.log(
  `A publish to a server in its own process, and hosts with a stream each. Milliseconds: median, 95 %, maximum`,
);
for (const count of hostCounts) {
  const hosts = await Promise.all(Array.from({ length: count }, () => openHost()));
  const times = { sent: [] as number[], answered: [] as number[], publish: [] as number[] };
  for (let at = 0; at < warmUps + publishes; at++) {
    const changes = hosts.map(({ nextChange }) => nextChange());
    const sentMs = performance.now();
    const answered = publish().then(() => performance.now());
    const lastMs = Math.max(...(await Promise.all(changes)));
    const answeredMs = await answered;
    if (at < warmUps) continue;
    times.publish.push(answeredMs - sentMs);
    times.sent.push(lastMs - sentMs);
    times.answered.push(lastMs - answeredMs);
  }
  const all = count === 1 ? 'the host has the list' : `the last of ${count} hosts has it`;
  print('response to the publish', times.publish);
  print(`${all}, after the request`, times.sent);
  print(`${all}, after the response`, times.answered);
  for (const { client } of hosts) await client.close();
}
await stage.close();

function print(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  console.log(`${fixed(at(0.5))} ${fixed(at(0.95))} ${fixed(at(1))}  ${what}`);
}

/** An idle host with a live stream. */
async function openHost() {
  const client = createClient({ baseUrl: stage.url, token: stage.token });
  let tell: (atMs: number) => void = () => {};
  client.on('change', () => tell(performance.now()));
  for (;;) {
    // With a live stream a list is fresh for any `maxAgeMs` above 0.
    const { source } = await client.getBindings(
      { extensionPointId: stage.extensionPointId, guestKey: 'guest' },
      { maxAgeMs: 0.001 },
    );
    if (source === 'memory') break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    client,
    nextChange: () =>
      new Promise<number>((resolve) => {
        tell = resolve;
      }),
  };
}
