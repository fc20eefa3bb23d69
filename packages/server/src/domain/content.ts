import { type ContentAddress, isContentAddress } from '@tenon/protocol';
import { type Actor, demandScope } from './access.ts';
import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import { memoryKey } from './snapshots.ts';

const readable = memoryKey<boolean>('readable content');

/**
 * Lets an actor read bytes by their address: a member of an application in which some version has them, or the guest who
 * published them there. A yanked version's bytes are still served, since hosts hold older lists.
 *
 * @throws DomainError `not_found`, the same for bytes that don't exist and bytes of others; then `insufficient_scope`
 */
export async function authorizeContent(context: Context, actor: Actor, address: string): Promise<ContentAddress> {
  if (!isContentAddress(address)) throw notFound('content');
  const memory = context.snapshots.current().memory(readable);
  const mayRead = await memory.getOrLoad(`${actor.userId} ${actor.appId} ${address}`, () =>
    context.store.read.mayReadContent(actor.userId, address, actor.appId ?? undefined),
  );
  if (!mayRead) throw notFound('content');
  demandScope(actor, 'read');
  return address;
}
