import { hash } from 'node:crypto';
import { type Binding, guestKeyFault, pluginId } from '@tenon/protocol';
import type { ExtensionPointAccess } from './access.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { MemoryKind } from './memories/memories.ts';
import { listSubject } from './memories/subject.ts';
import type { BoundRecord } from './records.ts';

/** A2's answer: the JSON text, and the strong entity tag that changes exactly when it does. */
export interface BindingListResponse {
  /** ASCII, as all ids, names, addresses and times are: as long in bytes as it is in characters. */
  readonly json: string;
  readonly etag: string;
  /** What `repr-digest` says (RFC 9530): hosts check a list with it, since one that came damaged would be confirmed by its tag for ever. */
  readonly reprDigest: string;
}

/** By the list's subject. */
const bindingLists: MemoryKind<BindingListResponse> = {
  name: 'binding lists',
  subjects: (_answer, list) => [list],
  weigh: (answer) => answer.json.length,
};

/**
 * What is bound to a guest key at an extension point: `{}` for a key without plugins, whether a guest has it or not.
 *
 * @throws DomainError `invalid_request` for a guest key that can't be one
 */
export async function readBindings(
  context: Context,
  access: ExtensionPointAccess,
  guestKey: string,
): Promise<BindingListResponse> {
  const fault = guestKeyFault(guestKey);
  if (fault !== undefined) throw new DomainError('invalid_request', `A guest key ${fault}.`);
  const extensionPointId = access.extensionPoint.id;
  const read = async () => toAnswer(await context.store.read.bindings(extensionPointId, guestKey));
  return context.memories.of(bindingLists).getOrLoad(listSubject(extensionPointId, guestKey), read);
}

function toAnswer(bindings: readonly BoundRecord[]): BindingListResponse {
  const json = bindingListJson(bindings);
  const digest = hash('sha256', json, 'buffer');
  return { json, etag: `"${digest.toString('base64url')}"`, reprDigest: `sha-256=:${digest.toString('base64')}:` };
}

/**
 * The binding list as JSON text, names in code-unit order. Written by hand, since objects put integer-like names such as
 * `10` first, whatever the order they are set in.
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
