import { type ContentAddress, isContentAddress } from '@tenon/protocol';
import { type Actor, requireScope } from './access.ts';
import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import type { MemoryKind } from './memories/memories.ts';
import { contents, readingSubject } from './memories/subject.ts';

/** By the ids of the user and of the token's application, and the address. That something may not be read is not kept. */
const readable: MemoryKind<true> = {
  name: 'readable content',
  subjects(_mayRead, key) {
    const userId = key.slice(0, key.indexOf(' '));
    return [userId, readingSubject(userId), contents];
  },
};

/**
 * Lets an actor read bytes by their address: a member of an application in which some version has them, or the guest who
 * published them there. A yanked version's bytes are still served, since hosts hold older lists.
 *
 * @throws DomainError `not_found`, the same for bytes that don't exist and bytes of others; then `insufficient_scope`
 */
export async function authorizeContent(context: Context, actor: Actor, address: string): Promise<ContentAddress> {
  if (!isContentAddress(address)) throw notFound('content');
  const { userId, appId } = actor;
  const ask = async () => (await context.store.read.mayReadContent(userId, address, appId ?? undefined)) || undefined;
  const mayRead = await context.memories.of(readable).getOrLoad(`${userId} ${appId} ${address}`, ask);
  if (!mayRead) throw notFound('content');
  requireScope(actor, 'read');
  return address;
}
