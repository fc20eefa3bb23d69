import { cliClientId } from '@tenon/protocol';
import { OauthError, requireParameter } from './errors.ts';

/** An OAuth client. */
export interface Client {
  readonly id: string;
  /** The name on the approval page. */
  readonly name: string;
}

/** A public client: installed programs can't keep a secret (RFC 8252 §8.4). */
const commandLine: Client = { id: cliClientId, name: 'Tenon command line' };

export function findClient(id: string): Client | undefined {
  return id === commandLine.id ? commandLine : undefined;
}

/** @throws OauthError `invalid_request` without an id, `invalid_client` for an unknown one */
export function requireClient(id: string | undefined): Client {
  const client = findClient(requireParameter('client_id', id));
  if (client === undefined) throw new OauthError('invalid_client', 'No client has this client_id.');
  return client;
}
