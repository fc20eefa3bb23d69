import { hash } from 'node:crypto';
import { type Binding, guestKeyFault, pluginId } from '@tenon/protocol';
import type { ExtensionPointAccess } from './access.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { BindingRecord } from './records.ts';
import { memoryKey } from './snapshots.ts';

/** A2's answer: the JSON text in UTF-8, and the strong entity tag that changes exactly when it does. */
export interface BindingListAnswer {
  readonly body: Uint8Array;
  readonly etag: string;
}

const answers = memoryKey<BindingListAnswer>('binding lists', (answer) => answer.body.length);

/**
 * What is bound to a guest key at an extension point: `{}` for a key without plugins, whether a guest has it or not.
 *
 * @throws DomainError `invalid_request` for a guest key that can't be one
 */
export function readBindings(
  context: Context,
  access: ExtensionPointAccess,
  guestKey: string,
): Promise<BindingListAnswer> {
  const fault = guestKeyFault(guestKey);
  if (fault !== undefined) throw new DomainError('invalid_request', `A guest key ${fault}.`);
  const extensionPointId = access.extensionPoint.id;
  const memory = context.snapshots.current().memory(answers);
  return memory.getOrLoad(`${extensionPointId} ${guestKey}`, async () => {
    const body = Buffer.from(bindingListJson(await context.store.read.bindings(extensionPointId, guestKey)));
    return { body, etag: `"${hash('sha256', body, 'base64url')}"` };
  });
}

/**
 * The binding list as JSON text, names in code-unit order. Written by hand, since objects put integer-like names such as
 * `10` first, whatever the order they are set in.
 */
export function bindingListJson(bindings: readonly BindingRecord[]): string {
  const sorted = bindings.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return `{${sorted.map((binding) => `${JSON.stringify(binding.name)}:${JSON.stringify(toWire(binding))}`).join(',')}}`;
}

function toWire(binding: BindingRecord): Binding {
  return {
    id: pluginId(binding.extensionPointId, binding.userId, binding.name),
    contentAddress: binding.contentAddress,
    updatedAt: new Date(binding.updatedAtMs).toISOString(),
  };
}
