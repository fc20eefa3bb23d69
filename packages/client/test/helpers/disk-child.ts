// A host process that reads contents through a shared disk store until it is killed.
//
//   node disk-child.ts <base URL> <token> <folder> <maximum bytes> <content address>…
//
// Prints "read N" from time to time. Exits with 1 after an error or wrong bytes.
import { createHash } from 'node:crypto';
import process from 'node:process';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';

const [baseUrl = '', token = '', directory = '', maxBytes = '', ...addresses] = process.argv.slice(2);
// A busy machine must not fail the test.
const longTimeouts = { headersMs: 120_000, idleMs: 120_000, storeMs: 120_000 };
const store = diskStore({ directory, maxBytes: Number(maxBytes) });
for (let read = 1; ; read++) {
  // A new client for each round, so that only the store is warm.
  const client = createClient({ baseUrl, token, store, streaming: false, timeouts: longTimeouts });
  client.on('error', ({ error }) => {
    if (error.code !== 'store_failed' && error.code !== 'damaged_entry') return;
    console.error(error.code, error.cause);
    process.exit(1);
  });
  for (const address of shuffled(addresses).slice(0, 5)) {
    const bytes = await client.getContent(address);
    if (createHash('sha256').update(bytes).digest('base64url') === address) continue;
    console.error('wrong bytes');
    process.exit(1);
  }
  await client.close();
  console.log(`read ${read}`);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
