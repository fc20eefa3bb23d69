import type { IncomingMessage } from 'node:http';
import { type ApiKeyId, isId, type SessionId, type TokenId, type UserId } from '@tenon/protocol';
import type { LastUse } from '../db/query-types.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { type ClientAddresses, wideNetworkOf } from '../http/client-address.ts';
import { maxUsedNetworks, noteNewNetworks } from './new-networks.ts';

/** A credential with a "last used" time. */
export type CredentialId = TokenId | ApiKeyId | SessionId;

/** Buffers when and from where tokens, keys, sessions and users were last used, so that a request needs no write. */
export type LastUsedLog = ReturnType<typeof createLastUsedLog>;

/** The times of credentials are rounded down to this, so that a busy token costs one write per minute. */
const lastUsedResolutionMs = 60_000;

/** Rounds the time when a user was last seen, so that a user costs one write per hour. */
export function toHour(ms: number): number {
  return ms - (ms % 3_600_000);
}

/** How many credentials, and how many clients of each, are remembered. */
const maxCredentials = 10_000;
const maxClients = 64;

type Uses = Map<CredentialId, LastUse & { readonly networks: Set<string> }>;

type LastUsedDeps = Pick<Deps, 'store' | 'clock' | 'settings' | 'rates'>;

/** @param onNewNetwork called for each use of a token or a key from a new network */
export function createLastUsedLog(deps: LastUsedDeps, clients: ClientAddresses, onNewNetwork?: () => void) {
  const { store, clock } = deps;
  /** The minute of the last noted use, by credential, peer, and forwarding header: equal requests in a minute cost three look-ups. */
  const noted = new Map<CredentialId, Map<string, Map<string, number>>>();
  /** The networks that are stored already, by credential. */
  const known = new Map<CredentialId, Set<string>>();
  const seen = new Map<UserId, number>();
  let pendingUses: Uses = new Map();
  let pendingUsers = new Map<UserId, number>();

  const noteUse = (id: CredentialId, userId: UserId, nowMs: number, address: string): void => {
    const usedAtMs = nowMs - (nowMs % lastUsedResolutionMs);
    const networks = pendingUses.get(id)?.networks ?? new Set();
    const network = isId('session', id) ? undefined : wideNetworkOf(address);
    if (network !== undefined && networks.size < maxUsedNetworks && known.get(id)?.has(network) !== true) {
      networks.add(network);
    }
    pendingUses.set(id, { usedAtMs, address, networks });
    const hour = toHour(nowMs);
    if (seen.get(userId) !== hour) pendingUsers.set(userId, hour);
  };

  const storeNetworks = async (tx: Transaction, uses: Uses): Promise<number> => {
    let count = 0;
    for (const [id, { networks }] of uses) {
      if (networks.size === 0 || isId('session', id)) continue;
      count += await noteNewNetworks(deps, tx, id as TokenId | ApiKeyId, [...networks]);
    }
    return count;
  };

  return {
    /** Notes that a request uses a credential of a user now. */
    note(id: CredentialId, userId: UserId, message: IncomingMessage): void {
      const nowMs = clock();
      const minute = nowMs - (nowMs % lastUsedResolutionMs);
      const peer = message.socket.remoteAddress ?? '';
      const forwarded = clients.forwardedBy(message);
      if (noted.get(id)?.get(peer)?.get(forwarded) === minute) return;
      const byPeer = entryOf(noted, id, maxCredentials, () => new Map<string, Map<string, number>>());
      const byHeader = entryOf(byPeer, peer, maxClients, () => new Map<string, number>());
      if (byHeader.size >= maxClients) byHeader.clear();
      byHeader.set(forwarded, minute);
      noteUse(id, userId, nowMs, clients.of(message));
    },
    /** Writes what is buffered. */
    async flush(): Promise<void> {
      if (pendingUses.size === 0) return;
      const [uses, users] = [pendingUses, pendingUsers];
      [pendingUses, pendingUsers] = [new Map(), new Map()];
      let newNetworks: number;
      try {
        newNetworks = await store.write(async (tx) => {
          await tx.updateLastSeen(users);
          await tx.updateLastUsed(uses);
          return storeNetworks(tx, uses);
        });
      } catch (error) {
        noted.clear(); // so that the next requests note it again
        throw error;
      }
      for (let count = 0; count < newNetworks; count++) onNewNetwork?.();
      if (seen.size > maxCredentials) seen.clear();
      for (const [id, hour] of users) seen.set(id, hour);
      for (const [id, { networks }] of uses) {
        const stored = entryOf(known, id, maxCredentials, () => new Set<string>());
        if (stored.size + networks.size > maxUsedNetworks) stored.clear();
        for (const network of networks) stored.add(network);
      }
    },
  };
}

/** Returns the entry of a bounded map, which starts again when it is full. */
function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, max: number, create: () => Value): Value {
  const present = map.get(key);
  if (present !== undefined) return present;
  if (map.size >= max) map.clear();
  const created = create();
  map.set(key, created);
  return created;
}
