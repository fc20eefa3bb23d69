import { ClientError } from './errors.ts';

/** A plugin that is bound to a guest key. */
export interface Binding {
  /** `<extension_point_id>/plugin/<user_id>/<plugin_name>` */
  readonly id: string;
  /** The unpadded base64url SHA-256 of the plugin's bytes: 43 characters. */
  readonly contentAddress: string;
  /** When the binding last changed: ISO 8601, UTC, with milliseconds. */
  readonly updatedAt: string;
}

/** The bindings of a guest key by plugin name. Frozen and without a prototype, since a plugin may be named `constructor`. */
export type BindingList = Readonly<Record<string, Binding>>;

export const contentAddressPattern: RegExp = /^[A-Za-z0-9_-]{43}$/;

/**
 * Parses a binding list. Skips entries without a content address: there is nothing to load.
 *
 * @throws ClientError `unexpected_response`
 */
export function parseBindingList(text: string): BindingList {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ClientError('unexpected_response', 'The binding list is not valid JSON', { cause });
  }
  if (!isObject(value)) throw new ClientError('unexpected_response', 'The binding list must be a JSON object');
  const list: Record<string, Binding> = Object.create(null);
  for (const [name, entry] of Object.entries(value)) {
    if (!isObject(entry)) throw new ClientError('unexpected_response', 'A binding must be a JSON object');
    const { id, contentAddress, updatedAt } = entry;
    if (typeof contentAddress !== 'string' || !contentAddressPattern.test(contentAddress)) continue;
    if (typeof id !== 'string' || typeof updatedAt !== 'string') {
      throw new ClientError('unexpected_response', 'A binding must have the strings `id` and `updatedAt`');
    }
    list[name] = Object.freeze({ id, contentAddress, updatedAt });
  }
  return Object.freeze(list);
}

/** The name of the binding that changed last. Ties go to the first name by code units. `undefined` for an empty list. */
export function newestName(list: BindingList): string | undefined {
  let newest: string | undefined;
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const name of Object.keys(list).sort()) {
    const parsed = Date.parse(list[name]?.updatedAt ?? '');
    const updatedMs = Number.isNaN(parsed) ? Number.MIN_SAFE_INTEGER : parsed;
    if (updatedMs <= newestMs) continue;
    newest = name;
    newestMs = updatedMs;
  }
  return newest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
