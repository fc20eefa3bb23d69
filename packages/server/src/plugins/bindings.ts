import { hash } from 'node:crypto';
import { type Binding, guestKeyFault, pluginId } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import type { CacheSpec } from '../cache/cache.ts';
import { listTag } from '../cache/cache-tag.ts';
import type { BoundRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';

/** The response to A2 (`docs/reference/http-api.md`): the binding list of one guest key. */
export interface BindingListResponse {
  /** ASCII only, so its length in characters is its length in bytes. */
  readonly json: string;
  /** A strong entity tag. It changes exactly when `json` does. */
  readonly etag: string;
  /**
   * The `repr-digest` header (RFC 9530). Hosts check the list with it: otherwise the server would confirm the entity tag of a list
   * that was damaged in transit.
   */
  readonly reprDigest: string;
}

/** Cached by the list's cache tag. */
export const bindingLists: CacheSpec<BindingListResponse> = {
  name: 'binding lists',
  tags: (_list, tag) => [tag],
  sizeOf: (list) => list.json.length,
};

/**
 * Reads the bindings of a guest key at an extension point. A key without plugins has the list `{}`, even when no guest has the key.
 *
 * @throws DomainError `invalid_request` for an invalid guest key
 */
export async function readBindings(
  deps: Deps,
  access: ExtensionPointAccess,
  guestKey: string,
): Promise<BindingListResponse> {
  const fault = guestKeyFault(guestKey);
  if (fault !== undefined) throw new DomainError('invalid_request', `A guest key ${fault}.`);
  const extensionPointId = access.extensionPoint.id;
  const load = async () => toBindingListResponse(await deps.store.read.bindings(extensionPointId, guestKey));
  return deps.cache.of(bindingLists).getOrLoad(listTag(extensionPointId, guestKey), load);
}

/** Serializes a binding list, with its digests. */
export function toBindingListResponse(bindings: readonly BoundRecord[]): BindingListResponse {
  const json = bindingListJson(bindings);
  const digest = hash('sha256', json, 'buffer');
  return { json, etag: `"${digest.toString('base64url')}"`, reprDigest: `sha-256=:${digest.toString('base64')}:` };
}

/**
 * Serializes a binding list to JSON, with names in code-unit order. `JSON.stringify` of the whole object can't do this, because
 * objects always put integer-like names such as `10` first.
 */
export function bindingListJson(bindings: readonly BoundRecord[]): string {
  const sorted = bindings.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return `{${sorted.map((binding) => `${JSON.stringify(binding.name)}:${JSON.stringify(toWire(binding))}`).join(',')}}`;
}

function toWire(binding: BoundRecord): Binding {
  return {
    id: pluginId(binding.extensionPointId, binding.userId, binding.name),
    contentAddress: binding.contentAddress,
    updatedAt: new Date(binding.updatedAtMs).toISOString(),
  };
}
