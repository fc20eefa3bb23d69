import { type BindingList, newestName, parseBindingList } from './bindings.ts';
import { ClientError } from './errors.ts';
import type { BindingsKey } from './events.ts';

/** A binding list in memory. */
export interface CachedList extends BindingsKey {
  readonly bindings: BindingList;
  readonly newest: string | undefined;
  /** The response body. */
  readonly text: string;
  readonly etag: string | undefined;
  /** When the request began that fetched or confirmed it, by the monotonic clock. */
  readonly checkedMs: number;
  /** The same by the wall clock, which continues while the machine is suspended. */
  readonly checkedAtMs: number;
  /** The sequence number at which that request began: see `ChangeSource`. */
  readonly sequence: number;
  /** When it was last written to the store, by the monotonic clock. */
  readonly storedMs: number;
  /** Whether the server confirmed it to this client. A list from the store is never fresh: only wall clocks know its age. */
  readonly isConfirmed: boolean;
}

/** The id of an extension point contains no slash. */
export function cacheKeyOf({ extensionPointId, guestKey }: BindingsKey): string {
  return `${extensionPointId}/${guestKey}`;
}

export function bindingsKeyOf({ extensionPointId, guestKey }: BindingsKey): BindingsKey {
  return { extensionPointId, guestKey };
}

export function readText(text: string): Pick<CachedList, 'bindings' | 'newest' | 'text'> {
  const bindings = parseBindingList(text);
  return { bindings, newest: newestName(bindings), text };
}

export function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ClientError('unexpected_response', 'The binding list is not valid UTF-8');
  }
}

/** The entity tag of a response, if it is valid (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3). */
export function entityTag(headers: Headers): string | undefined {
  const field = headers.get('etag') ?? '';
  return /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(field) ? field : undefined;
}

/** The part of an entity tag that weak comparison compares. */
export function opaqueTag(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
