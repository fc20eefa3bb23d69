// A host on @tenon/client for `tenon client-conformance`: it writes the plugins that it would run, by name, whenever they change.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientError, createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';

const { TENON_URL = '', TENON_TOKEN = '', TENON_EXTENSION_POINT_ID = '', TENON_CACHE_DIR = '' } = process.env;
const store = diskStore({ directory: TENON_CACHE_DIR });
const client = createClient({ baseUrl: TENON_URL, token: TENON_TOKEN, store, cachePartition: 'conformance' });
const key = { extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: process.env.TENON_GUEST_KEY ?? '' };
const report = (error: ClientError) => void console.error(`${error.code}: ${error.message}`);

const shown = new Map<string, string>();
for (let last = '', waitMs = 0; ; await sleep(waitMs)) {
  const list = await client.getBindings(key).catch(report);
  waitMs = list === undefined || list.isStale ? 2_000 : 100;
  if (list?.error) report(list.error);
  for (const name of shown.keys()) if (list && !Object.hasOwn(list.bindings, name)) shown.delete(name);
  for (const name of Object.keys(list?.bindings ?? {})) {
    const plugin = await client.loadPlugin({ ...key, name }).catch(report);
    if (plugin !== undefined) shown.set(name, plugin.contentAddress);
  }
  const state = JSON.stringify(Object.fromEntries(shown));
  if (state !== last && (list || shown.size > 0)) console.log(state);
  last = state;
}
