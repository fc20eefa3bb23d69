import { issueToken, type NewToken } from '../auth/tokens.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { hostsId, hostsUser } from './hosts-user.ts';

/**
 * Creates a token with which hosts read all that a mirror has. The token is unknown to the source, and works while the source is away.
 *
 * @throws DomainError `conflict` on the data of a server that is no mirror, `quota_exceeded`
 */
export async function issueHostToken(
  deps: Pick<Deps, 'store' | 'clock' | 'random' | 'settings'>,
  { name, expiresAtMs }: { readonly name: string; readonly expiresAtMs: number },
): Promise<NewToken> {
  await deps.store.write(async (tx) => {
    if (await tx.hasOwnApp())
      throw new DomainError('conflict', 'The server is no mirror: its applications are its own.');
    await tx.putMirrorHosts(hostsUser(deps.clock()));
  });
  return issueToken(deps, hostsId, { name, scopes: ['read'], appId: null, expiresAtMs });
}
