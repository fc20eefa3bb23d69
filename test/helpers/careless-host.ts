// A host as one is written in an hour, which `tenon client-conformance` must not let pass.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import process from 'node:process';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const {
  TENON_URL = '',
  TENON_TOKEN = '',
  TENON_EXTENSION_POINT_ID,
  TENON_GUEST_KEY,
  TENON_CACHE_DIR = '',
} = process.env;
const base = `${TENON_URL}/api/v1`;
const listFile = `${TENON_CACHE_DIR}/list.json`;
mkdirSync(TENON_CACHE_DIR, { recursive: true });

/** Sends the token wherever it is redirected. */
function get(url: string): Promise<{ readonly status: number; readonly body: AsyncIterable<Buffer> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: `Bearer ${TENON_TOKEN}` } }, (response) => {
      const { location } = response.headers;
      if (location === undefined) resolve({ status: response.statusCode ?? 0, body: response });
      else get(location).then(resolve, reject);
    });
    sent.on('error', reject).end();
  });
}

function show(list: Readonly<Record<string, { readonly contentAddress: string }>>): void {
  const entries = Object.entries(list).map(([name, { contentAddress }]) => [name, contentAddress]);
  console.log(JSON.stringify(Object.fromEntries(entries)));
}

async function refresh(): Promise<void> {
  const { status, body } = await get(
    `${base}/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURI(TENON_GUEST_KEY ?? '')}`,
  );
  if (status !== 200) throw new Error(`${status}`);
  const list = JSON.parse(await text(body as never));
  for (const { contentAddress } of Object.values<{ contentAddress: string }>(list)) {
    writeFileSync(
      `${TENON_CACHE_DIR}/${contentAddress}`,
      await buffer((await get(`${base}/c/${contentAddress}`)).body as never),
    );
  }
  writeFileSync(listFile, JSON.stringify(list));
  show(list);
}

try {
  show(JSON.parse(readFileSync(listFile, 'utf8')));
} catch {}
for (;;) {
  await refresh().catch(() => console.log('{}'));
  const stream = await get(`${base}/extension-points/${TENON_EXTENSION_POINT_ID}/changes`).catch(() => undefined);
  try {
    for await (const chunk of stream?.body ?? []) if (/ready|binding/.test(String(chunk))) await refresh();
  } catch {
    console.log('{}');
  }
  await sleep(10);
}
