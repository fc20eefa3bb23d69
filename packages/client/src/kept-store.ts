import { parseBindingList } from './bindings.ts';
import type { Clock } from './clock.ts';
import { addressOf, hexOfAddress, sha256, toHex } from './content-address.ts';
import { ClientError } from './errors.ts';
import type { Emitter, ListKey } from './events.ts';
import type { Settings } from './options.ts';
import type { Store } from './store.ts';

/** A list as it is kept: its text is checked again when it is read. */
export interface StoredList extends ListKey {
  readonly etag: string | undefined;
  /** A2's answer. */
  readonly text: string;
  /** When the server last said that it holds: milliseconds since 1970. */
  readonly checkedAtMs: number;
}

/**
 * The store, as the client sees it: of its own identity alone, with every entry checked when it is read, and never an error. What fails is
 * told once, until something works again.
 */
export interface KeptStore {
  readContent(address: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  writeContent(address: string, bytes: Uint8Array<ArrayBuffer>): void;
  readList(key: ListKey): Promise<StoredList | undefined>;
  writeList(list: StoredList): void;
  deleteList(key: ListKey): void;
  /** Until everything that was to be kept is kept. */
  settled(): Promise<void>;
}

type Doing = 'read' | 'written';

const formatVersion = 1;

/** @returns `undefined` when there is no store */
export function createKeptStore(settings: Settings, events: Emitter): KeptStore | undefined {
  return settings.store === undefined ? undefined : keep(settings.store, settings, events);
}

function keep(store: Store, { baseUrl, identity, clock, timeouts }: Settings, events: Emitter): KeptStore {
  const partition = hexOf('tenon-partition', baseUrl, identity);
  const pending = new Set<Promise<void>>();
  const failing = new Set<Doing>();

  async function guarded<T>(doing: Doing, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const done = await withinTime(clock, timeouts.storeMs, work());
      failing.delete(doing);
      return done;
    } catch (cause) {
      // A disk that is full fails every time; saying so once is enough.
      if (!failing.has(doing)) {
        failing.add(doing);
        const text = `The store cannot be ${doing}: going on without it`;
        events.emit('problem', { error: new ClientError('store_failed', text, { cause }) });
      }
      return undefined;
    }
  }

  function beside(doing: Doing, work: () => Promise<void>): void {
    const running: Promise<void> = guarded(doing, work).then(() => void pending.delete(running));
    pending.add(running);
  }

  async function dropDamaged(key: string, what: string): Promise<undefined> {
    events.emit('problem', { error: new ClientError('damaged_entry', `A kept ${what} was damaged, and is deleted`) });
    await guarded('written', () => store.delete(key));
    return undefined;
  }

  const contentKey = async (address: string) => `${await partition}/content/${hexOfAddress(address)}`;
  const listKey = async ({ extensionPointId, guestKey }: ListKey) =>
    `${await partition}/list/${await hexOf('tenon-list', extensionPointId, guestKey)}`;

  return {
    async readContent(address) {
      const key = await contentKey(address);
      const bytes = await guarded('read', () => store.get(key));
      if (bytes === undefined || (await addressOf(bytes)) === address) return bytes;
      return dropDamaged(key, 'content');
    },
    writeContent: (address, bytes) => beside('written', async () => store.set(await contentKey(address), bytes)),
    async readList(wanted) {
      const key = await listKey(wanted);
      const bytes = await guarded('read', () => store.get(key));
      if (bytes === undefined) return undefined;
      return (await readStoredList(bytes, wanted)) ?? dropDamaged(key, 'list');
    },
    writeList: (list) => beside('written', async () => store.set(await listKey(list), await writeStoredList(list))),
    deleteList: (list) => beside('written', async () => store.delete(await listKey(list))),
    async settled() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** Waits for a store no longer than that: a disk behind a network may hang, and a host goes on without it. */
function withinTime<T>(clock: Clock, limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new ClientError('timeout', `The store took longer than ${limitMs} ms`));
    const cancel = clock.setTimer(giveUp, limitMs);
    work.then(resolve, reject).finally(cancel);
  });
}

/** One line with the digest of what follows, so that a damaged list is found out as a damaged content is. */
async function writeStoredList(list: StoredList): Promise<Uint8Array<ArrayBuffer>> {
  const body = JSON.stringify({ formatVersion, ...list });
  return encode(`${await hexOf(body)}\n${body}`);
}

async function readStoredList(bytes: Uint8Array, wanted: ListKey): Promise<StoredList | undefined> {
  try {
    const text = new TextDecoder().decode(bytes);
    const body = text.slice(text.indexOf('\n') + 1);
    if (text !== `${await hexOf(body)}\n${body}`) return undefined;
    const list = JSON.parse(body) as StoredList & { formatVersion: number };
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
