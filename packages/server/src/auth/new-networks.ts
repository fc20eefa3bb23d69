import { type ApiKeyId, isId, type TokenId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueNetworkNotice } from '../mail/notices.ts';

/*
 * A token or an API key that is used from a network that is new to it may be stolen: its owner gets a notice, and the audit trail an
 * event. The network of its first use is no news. Each credential remembers few networks, so a use from one that it has forgotten is
 * news again.
 */

/** How many networks of a credential are remembered. */
export const maxUsedNetworks = 16;

/**
 * Stores the networks that a token or an API key was used from. For each new one, inserts an audit event, within the rate limit of the
 * credential, and queues a notice.
 *
 * @param networks in the order of their first use
 * @returns the number of new ones
 */
export async function noteNewNetworks(
  deps: Pick<Deps, 'clock' | 'settings' | 'rates'>,
  tx: Transaction,
  id: TokenId | ApiKeyId,
  networks: readonly string[],
): Promise<number> {
  const stored = await tx.usedNetworks(id);
  if (stored === undefined) return 0; // revoked
  const added = networks.filter((network) => !stored.networks?.includes(network));
  if (added.length === 0) return 0;
  await tx.putUsedNetworks(id, [...added.toReversed(), ...(stored.networks ?? [])].slice(0, maxUsedNetworks));
  const unexpected = stored.networks === null ? added.slice(1) : added;
  const { userId, name } = stored;
  for (const network of unexpected) {
    if (deps.rates.newNetworks.take(id) > 0) break;
    const entry = { accountId: userId, target: { id, name }, details: { network } };
    if (isId('token', id)) await record(deps, tx, 'system', { ...entry, action: 'token.new_network' });
    else await record(deps, tx, 'system', { ...entry, action: 'api_key.new_network' });
    await queueNetworkNotice(deps, tx, userId);
  }
  return unexpected.length;
}
