// A host process of its own: reads contents through a disk store that others use too, until it is killed.
//
//   node disk-child.ts <base URL> <token> <folder> <bytes that the store may hold> <content address>…
//
// Says "read N" now and then; ends with 1 when anything fails or has other bytes than it should.
import { createHash } from 'node:crypto';
import process from 'node:process';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';

const [baseUrl = '', token = '', directory = '', maxBytes = '', ...addresses] = process.argv.slice(2);
// A busy machine is no fault.
const patience = { headersMs: 120_000, idleMs: 120_000, storeMs: 120_000 };
const store = diskStore({ directory, maxBytes: Number(maxBytes) });
for (let read = 1; ; read++) {
  // A client for each round: nothing is kept but what is in the store.
  const client = createClient({ baseUrl, token, store, streaming: false, timeouts: patience });
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
