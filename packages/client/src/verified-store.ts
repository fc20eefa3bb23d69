import { parseBindingList } from './bindings.ts';
import type { CacheStore } from './cache-store.ts';
import type { Clock } from './clock.ts';
import { addressOf, hexOfAddress, sha256, toHex } from './content-address.ts';
import { ClientError } from './errors.ts';
import type { BindingsKey, Emitter } from './events.ts';
import type { Settings } from './options.ts';

/** A binding list in the store. */
export interface StoredList extends BindingsKey {
  readonly etag: string | undefined;
  /** The response body. It is parsed again when it is read. */
  readonly text: string;
  /** When the server last confirmed it: milliseconds since 1970. */
  readonly checkedAtMs: number;
}

export type VerifiedStore = ReturnType<typeof verify>;

type Access = 'read' | 'written';

const formatVersion = 1;

/** @returns `undefined` without a store */
export function createVerifiedStore(settings: Settings, events: Emitter): VerifiedStore | undefined {
  return settings.store === undefined ? undefined : verify(settings.store, settings, events);
}

/** The client's partition of the store. It verifies each entry that it reads, and never rejects: an error is emitted once per outage. */
function verify(store: CacheStore, settings: Settings, events: Emitter) {
  const { baseUrl, cachePartition, clock, timeouts } = settings;
  const partition = hexOf('tenon-partition', baseUrl, cachePartition);
  const pending = new Set<Promise<void>>();
  const failing = new Set<Access>();

  async function attempt<T>(access: Access, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await withTimeout(clock, timeouts.storeMs, work());
      failing.delete(access);
      return result;
    } catch (cause) {
      // A full disk fails every time. One event is enough.
      if (!failing.has(access)) {
        failing.add(access);
        const text = `The store cannot be ${access}: the client continues without it`;
        events.emit('error', { error: new ClientError('store_failed', text, { cause }) });
      }
      return undefined;
    }
  }

  function inBackground(access: Access, work: () => Promise<void>): void {
    const running: Promise<void> = attempt(access, work).then(() => void pending.delete(running));
    pending.add(running);
  }

  async function deleteDamaged(key: string, kind: string): Promise<undefined> {
    events.emit('error', { error: new ClientError('damaged_entry', `A stored ${kind} was damaged and is deleted`) });
    await attempt('written', () => store.delete(key));
    return undefined;
  }

  const contentKey = async (address: string) => `${await partition}/content/${hexOfAddress(address)}`;
  const listKey = async ({ extensionPointId, guestKey }: BindingsKey) =>
    `${await partition}/list/${await hexOf('tenon-list', extensionPointId, guestKey)}`;

  const attestationsKey = async (id: string, address: string) =>
    `${await partition}/attestations/${await hexOf('tenon-attestations', id, address)}`;

  return {
    async readContent(address: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const key = await contentKey(address);
      const bytes = await attempt('read', () => store.get(key));
      if (bytes === undefined || (await addressOf(bytes)) === address) return bytes;
      return deleteDamaged(key, 'content');
    },
    writeContent: (address: string, bytes: Uint8Array<ArrayBuffer>): void =>
      inBackground('written', async () => store.set(await contentKey(address), bytes)),
    async readList(wanted: BindingsKey): Promise<StoredList | undefined> {
      const key = await listKey(wanted);
      const bytes = await attempt('read', () => store.get(key));
      if (bytes === undefined) return undefined;
      return (await readStoredList(bytes, wanted)) ?? deleteDamaged(key, 'list');
    },
    /** The bundles of a plugin's publish attestations. */
    async readAttestations(id: string, address: string): Promise<readonly unknown[] | undefined> {
      const key = await attestationsKey(id, address);
      const bytes = await attempt('read', () => store.get(key));
      if (bytes === undefined) return undefined;
      const bundles = await readSealed(bytes);
      return Array.isArray(bundles) ? bundles : deleteDamaged(key, 'attestation');
    },
    writeAttestations: (id: string, address: string, bundles: readonly unknown[]): void =>
      inBackground('written', async () => store.set(await attestationsKey(id, address), await seal(bundles))),
    writeList: (list: StoredList): void =>
      inBackground('written', async () => store.set(await listKey(list), await writeStoredList(list))),
    deleteList: (list: BindingsKey): void => inBackground('written', async () => store.delete(await listKey(list))),
    /** Waits for all pending writes. */
    async settled(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** A network file system can hang, so each store access has a timeout. */
function withTimeout<T>(clock: Clock, limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new ClientError('timeout', `The store took longer than ${limitMs} ms`));
    const cancel = clock.setTimer(fail, limitMs);
    work.then(resolve, reject).finally(cancel);
  });
}

function writeStoredList(list: StoredList): Promise<Uint8Array<ArrayBuffer>> {
  return seal({ formatVersion, ...list });
}

/** JSON with its digest on the first line, so that damage is detected like that of content. */
async function seal(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const body = JSON.stringify(value);
  return encode(`${await hexOf(body)}\n${body}`);
}

/** @returns `undefined` if it is damaged */
async function readSealed(bytes: Uint8Array): Promise<unknown> {
  const text = new TextDecoder().decode(bytes);
  const body = text.slice(text.indexOf('\n') + 1);
  if (text !== `${await hexOf(body)}\n${body}`) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

async function readStoredList(bytes: Uint8Array, wanted: BindingsKey): Promise<StoredList | undefined> {
  try {
    const list = (await readSealed(bytes)) as (StoredList & { formatVersion: number }) | undefined;
    if (list === undefined) return undefined;
    const isWanted = list.extensionPointId === wanted.extensionPointId && list.guestKey === wanted.guestKey;
    if (list.formatVersion !== formatVersion || !isWanted) return undefined;
    parseBindingList(list.text);
    return list;
  } catch {
    return undefined;
  }
}

/** SHA-256 of texts as hexadecimal. */
async function hexOf(...texts: readonly string[]): Promise<string> {
  return toHex(await sha256(encode(texts.length === 1 ? `${texts[0]}` : JSON.stringify(texts))));
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
