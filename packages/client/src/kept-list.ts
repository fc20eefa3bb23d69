import { type BindingList, newestName, parseBindingList } from './bindings.ts';
import { ClientError } from './errors.ts';
import type { ListKey } from './events.ts';

/** A list in memory. */
export interface KeptList extends ListKey {
  readonly list: BindingList;
  readonly newest: string | undefined;
  readonly text: string;
  readonly etag: string | undefined;
  /** When the request began that was answered with it, or with that it still holds: by the monotonic clock. */
  readonly checkedMs: number;
  /** The same by the wall clock, which goes on while the machine is suspended. */
  readonly checkedAtMs: number;
  /** The turn at which that request began: see {@link News}. */
  readonly turn: number;
  /** When its place in the store was last written: by the monotonic clock. */
  readonly storedMs: number;
  /** Whether the server has said in this client's life that it holds. One that comes from the store is never fresh: only clocks tell its age. */
  readonly isConfirmed: boolean;
}

/** An extension point's id has no slash. */
export function nameOf({ extensionPointId, guestKey }: ListKey): string {
  return `${extensionPointId}/${guestKey}`;
}

export function keyOf({ extensionPointId, guestKey }: ListKey): ListKey {
  return { extensionPointId, guestKey };
}

export function readText(text: string): Pick<KeptList, 'list' | 'newest' | 'text'> {
  const list = parseBindingList(text);
  return { list, newest: newestName(list), text };
}

export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ClientError('unexpected_answer', 'The binding list is no UTF-8');
  }
}

/** An answer's entity tag, if it is one (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3). */
export function entityTag(headers: Headers): string | undefined {
  const field = headers.get('etag') ?? '';
  return /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(field) ? field : undefined;
}

/** What weak comparison compares. */
export function opaque(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
