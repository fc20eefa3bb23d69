import { cliClientId } from '@tenon/protocol';
import { OauthError, requireParameter } from './errors.ts';

/** A program that may ask for tokens. */
export interface Client {
  readonly id: string;
  /** As the approval page calls it. */
  readonly name: string;
}

/** Public, like every program that people install: it can keep no secret (RFC 8252 §8.4). */
const commandLine: Client = { id: cliClientId, name: 'Tenon command line' };

export function findClient(id: string): Client | undefined {
  return id === commandLine.id ? commandLine : undefined;
}

/** @throws OauthError `invalid_request` when none is named, `invalid_client` for one that is unknown */
export function requireClient(id: string | undefined): Client {
  const client = findClient(requireParameter('client_id', id));
  if (client === undefined) throw new OauthError('invalid_client', 'No client has this client_id.');
  return client;
}
