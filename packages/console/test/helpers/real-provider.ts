import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { openStage, type Stage } from './stage.ts';

/** `oidc-provider`, a certified issuer, and a server of ours that signs users in with it. */
export interface RealProvider {
  readonly stage: Stage;
  readonly issuer: string;
  close(): Promise<void>;
}

/** @param file other fields of the configuration of the providers, and of the provider */
export async function openRealProvider(
  file: { readonly passwordSignIn?: boolean } = {},
  settings: object = {},
): Promise<RealProvider> {
  let provider: Provider | undefined;
  const server = createServer((request, response) => void provider?.callback()(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await mkdtemp(join(tmpdir(), 'tenon-providers-'));
  const path = join(folder, 'providers.json');
  const own = { id: 'acme', label: 'Acme', issuer, clientId: 'tenon', clientSecret: 'a secret of Acme' };
  const all = { ...file, providers: [{ ...own, createsAccounts: true, groupClaim: 'groups', ...settings }] };
  await writeFile(path, JSON.stringify(all), { mode: 0o600 });
  const stage = await openStage({ settings: { TENON_SIGN_IN_PROVIDERS: path } });
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: own.clientId,
        client_secret: own.clientSecret,
        redirect_uris: [`${stage.url}/session/oidc/acme/callback`],
        post_logout_redirect_uris: [`${stage.url}/sign-in`],
        backchannel_logout_uri: `${stage.url}/session/oidc/acme/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: id, email: `${id}@acme.example`, email_verified: true, groups: ['staff'] }),
    }),
    cookies: { keys: ['a key of the test'] },
  });
  return {
    stage,
    issuer,
    async close() {
      await stage.close();
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true });
    },
  };
}
