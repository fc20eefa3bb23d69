import { hash } from 'node:crypto';
import { type ContentAddress, isPluginName, newId, pluginNamePattern } from '@tenon/protocol';
import type { Actor, ExtensionPointAccess } from './access.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import type { PluginWithBindings } from './plugins.ts';
import type { Transaction } from './ports.ts';
import type { GuestRecord, PluginKey, PluginRecord } from './records.ts';

/** A publish as it was asked for: `PUT …/artifacts/<extension point>/plugin/<userId>/<name>`, with `guest=` when it is sent. */
export interface PublishTarget {
  readonly userId: string;
  readonly name: string;
  readonly guestId?: string | undefined;
}

/** What a publish came to: the plugin's first version, a further one, or none that is new. */
export interface Published extends PluginWithBindings {
  readonly made: 'plugin' | 'version' | 'nothing';
}

/** The unpadded base64url SHA-256 of the bytes. */
export function contentAddressOf(bytes: Uint8Array): ContentAddress {
  return hash('sha256', bytes, 'base64url') as ContentAddress;
}

/**
 * What can be said against a publish before its body is read: who publishes, under what name, under which guests.
 *
 * @returns the guests under which the plugin will be bound
 * @throws DomainError `forbidden` for another user's plugin, `not_a_guest` for a guest that the actor doesn't hold,
 *   `invalid_request` for a name that can't be one
 */
export function authorizePublish(
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
): readonly GuestRecord[] {
  if (target.userId !== actor.userId) {
    throw new DomainError('forbidden', `One publishes under one's own user id, which is ${actor.userId}.`);
  }
  const guests =
    target.guestId === undefined ? access.guests : access.guests.filter((guest) => guest.id === target.guestId);
  if (guests.length === 0) throw new DomainError('not_a_guest', 'You do not hold the guest named by "guest".');
  if (!isPluginName(target.name)) {
    throw new DomainError('invalid_request', `The plugin name does not match ${pluginNamePattern}.`);
  }
  return guests;
}

/**
 * Publishes a plugin: checks the bytes, stores them, then in one transaction makes the version and moves the bindings under
 * all of the guests, or under none. A crash in between leaves bytes that nothing refers to, never a binding without bytes.
 * The bytes that are current already make no new version. The same work is done whether or not the bytes are known already,
 * so that neither the answer nor its timing tells.
 *
 * @throws DomainError a code for bytes that are no valid core module, `plugin_name_taken`, `limit_exceeded`, `not_a_guest` or
 *   `not_found` when the guest or the extension point went away meanwhile
 */
export async function publish(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PublishTarget,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<Published> {
  const guests = authorizePublish(actor, access, target);
  await context.checker.check(bytes, signal);
  const contentAddress = contentAddressOf(bytes);
  await context.blobs.put(contentAddress, bytes);

  const key: PluginKey = { extensionPointId: access.extensionPoint.id, userId: actor.userId, name: target.name };
  const nowMs = context.clock();
  return context.store.write(async (tx) => {
    if ((await tx.extensionPoint(key.extensionPointId)) === undefined) throw notFound('extension point');
    const held = await tx.guestsHeldBy(actor.userId, access.app.id);
    for (const guest of guests) {
      if (!held.some((other) => other.id === guest.id)) {
        throw new DomainError('not_a_guest', 'The guest was taken from you while you were publishing.');
      }
      await demandName(context, tx, key, guest);
    }
    const { plugin, made } = await addVersion(tx, key, contentAddress, bytes.length, nowMs);
    for (const guest of guests) await bind(tx, plugin, guest, nowMs);
    return { plugin, bindings: await tx.bindingsOfPlugins([key]), made };
  });
}

async function demandName(context: Context, tx: Transaction, key: PluginKey, guest: GuestRecord): Promise<void> {
  const holder = await tx.binding(key.extensionPointId, guest.id, key.name);
  if (holder !== undefined && holder.userId !== key.userId) {
    throw new DomainError(
      'plugin_name_taken',
      `Another user of the guest ${guest.id} publishes a plugin named "${key.name}" here. Choose another name.`,
    );
  }
  const { maxPluginsPerGuest } = context.limits;
  if (holder === undefined && (await tx.countBindings(key.extensionPointId, guest.id)) >= maxPluginsPerGuest) {
    throw new DomainError(
      'limit_exceeded',
      `The guest ${guest.id} has ${maxPluginsPerGuest} plugins at this extension point, which is the most there may be.`,
    );
  }
}

async function addVersion(
  tx: Transaction,
  key: PluginKey,
  contentAddress: ContentAddress,
  size: number,
  nowMs: number,
): Promise<Pick<Published, 'plugin' | 'made'>> {
  const present = await tx.plugin(key);
  if (present?.contentAddress === contentAddress) return { plugin: present, made: 'nothing' };
  const version = {
    ...key,
    id: newId('version'),
    number: (present?.versionNumber ?? 0) + 1,
    contentAddress,
    size,
    createdAtMs: nowMs,
  };
  await tx.insertVersion(version);
  const plugin: PluginRecord = {
    ...key,
    versionId: version.id,
    versionNumber: version.number,
    contentAddress,
    size,
    publishedAtMs: nowMs,
    createdAtMs: present?.createdAtMs ?? nowMs,
  };
  return { plugin, made: present === undefined ? 'plugin' : 'version' };
}

/** Hosts find the newest plugin by `updatedAt`, so a move of a binding is always later than the one before it. */
async function bind(tx: Transaction, plugin: PluginRecord, guest: GuestRecord, nowMs: number): Promise<void> {
  const present = await tx.binding(plugin.extensionPointId, guest.id, plugin.name);
  if (present?.versionId === plugin.versionId) return;
  await tx.putBinding({
    guestId: guest.id,
    extensionPointId: plugin.extensionPointId,
    userId: plugin.userId,
    name: plugin.name,
    versionId: plugin.versionId,
    updatedAtMs: Math.max(nowMs, (present?.updatedAtMs ?? 0) + 1),
  });
}
