import { isId } from '@tenon/protocol';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { exchangeIdToken, revokeToken } from '../login/oauth-client.ts';
import { printable } from '../text.ts';
import type { Target } from '../transport.ts';
import { describeClaims, findIdToken } from './id-token.ts';

/** An access token for one command. */
export interface TemporaryToken {
  readonly token: string;
  /** Revokes it. It would end by itself within 15 minutes, so a failure is ignored. */
  revoke(): Promise<void>;
}

/** The plugin of a command, as far as it is known without the server. */
export interface PluginOfJob {
  readonly extensionPoint: string | undefined;
  readonly name: string | undefined;
}

/**
 * Gets an access token in exchange for the identity token of this CI job, if the server has a rule for it.
 *
 * @returns `undefined` outside of CI
 * @throws CliError as {@link findIdToken}; `trusted_publishing_refused`
 */
export async function tokenOfJob(
  io: Io,
  { url }: Connection,
  target: Target,
  { extensionPoint, name }: PluginOfJob,
  file: string | undefined,
): Promise<TemporaryToken | undefined> {
  const idToken = await findIdToken({ io, audience: url, file, signal: target.signal });
  if (idToken === undefined) return undefined;
  const user = io.environment.TENON_USER_ID;
  const isKnown = extensionPoint !== undefined && isId('extensionPoint', extensionPoint) && name !== undefined;
  const plugin = user ? `${extensionPoint}/plugin/${user}/${name}` : `${extensionPoint}/${name}`;
  const issued = await exchangeIdToken(target, idToken, isKnown ? plugin : undefined);
  if ('error' in issued) {
    throw new CliError(
      'trusted_publishing_refused',
      `${url} issued no token for this CI job: ${printable(issued.description ?? issued.error)}`,
      {
        exitCode: exitCodes.denied,
        hint: `The identity token of the job claims:\n${describeClaims(idToken)}\nTo see your rules: tenon plugin trust list`,
      },
    );
  }
  const token = issued.access_token;
  return {
    token,
    // The command may have been interrupted, and its token must end all the same.
    revoke: () => revokeToken({ ...target, signal: AbortSignal.timeout(5000) }, token).catch(() => {}),
  };
}
