import { createRemoteJWKSet, type JWTVerifyGetKey, customFetch as joseFetch } from 'jose';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  None,
  type ServerMetadata,
} from 'openid-client';
import type { ProviderSettings, SignInSettings } from '../../config/sign-in-providers.ts';
import type { Clock } from '../../db/store.ts';
import { createProviderFetch, type ProviderFetch } from './provider-fetch.ts';

/** How long discovered metadata is used. */
const metadataLifetimeMs = 60 * 60 * 1000;

/** How long a failed discovery is not repeated. */
const retryAfterMs = 3000;

/** How long a request to a provider may take. */
const requestTimeoutSeconds = 10;

/** Unknown keys are looked up again at most this often. */
const keyCooldownMs = 3000;

/** What the server has learned about a provider. */
export interface DiscoveredProvider {
  readonly client: Configuration;
  readonly metadata: ServerMetadata;
  /** Finds the key of a token. Fetches the keys again for an unknown one, so that the provider may rotate them. */
  readonly keys: JWTVerifyGetKey;
}

export interface SignInProvider {
  readonly settings: ProviderSettings;
  /**
   * Discovers the provider, or returns what was discovered within the last hour. If the provider is down after that, the old result is
   * used.
   *
   * @throws ProviderUnavailableError
   */
  discover(): Promise<DiscoveredProvider>;
}

/** Thrown if a provider is down, or its metadata is not usable. The message is for the log. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

export interface SignInProviders {
  /** In the order of the configuration. */
  readonly all: readonly SignInProvider[];
  find(id: string): SignInProvider | undefined;
}

export function createSignInProviders({ providers }: SignInSettings, clock: Clock): SignInProviders {
  const byId = new Map(providers.map((settings) => [settings.id, createProvider(settings, clock)]));
  return { all: [...byId.values()], find: (id) => byId.get(id) };
}

function createProvider(settings: ProviderSettings, clock: Clock): SignInProvider {
  const fetchOfProvider = createProviderFetch(settings.issuer);
  let found: { readonly value: DiscoveredProvider; readonly atMs: number } | undefined;
  let failed: { readonly error: ProviderUnavailableError; readonly atMs: number } | undefined;
  let pending: Promise<DiscoveredProvider> | undefined;
  const load = async (): Promise<DiscoveredProvider> => {
    try {
      const value = await discoverProvider(settings, fetchOfProvider, found?.value);
      found = { value, atMs: clock() };
      failed = undefined;
      return value;
    } catch (error) {
      failed = { error: unavailable(settings, error), atMs: clock() };
      if (found !== undefined) return found.value;
      throw failed.error;
    } finally {
      pending = undefined;
    }
  };
  return {
    settings,
    async discover() {
      const nowMs = clock();
      if (found !== undefined && found.atMs + metadataLifetimeMs > nowMs) return found.value;
      if (failed !== undefined && failed.atMs + retryAfterMs > nowMs) {
        if (found !== undefined) return found.value;
        throw failed.error;
      }
      pending ??= load();
      return pending;
    },
  };
}

async function discoverProvider(
  settings: ProviderSettings,
  fetchOfProvider: ProviderFetch,
  previous: DiscoveredProvider | undefined,
): Promise<DiscoveredProvider> {
  const isInsecure = settings.issuer.startsWith('http:');
  const found = await discovery(new URL(settings.issuer), settings.clientId, undefined, None(), {
    [customFetch]: fetchOfProvider,
    timeout: requestTimeoutSeconds,
    execute: isInsecure ? [allowInsecureRequests] : [],
  });
  const metadata = found.serverMetadata();
  const { jwks_uri: keysUrl } = metadata;
  if (metadata.issuer !== settings.issuer) {
    throw new Error(`the issuer in its metadata is ${JSON.stringify(metadata.issuer)}`);
  }
  if (keysUrl === undefined) throw new Error('its metadata has no jwks_uri');
  const client = new Configuration(metadata, settings.clientId, undefined, authenticationOf(settings, metadata));
  client[customFetch] = fetchOfProvider;
  client.timeout = requestTimeoutSeconds;
  if (isInsecure) allowInsecureRequests(client);
  const keepsKeys = previous?.metadata.jwks_uri === keysUrl;
  return { client, metadata, keys: keepsKeys ? previous.keys : createKeys(keysUrl, fetchOfProvider) };
}

function createKeys(url: string, fetchOfProvider: ProviderFetch): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [joseFetch]: (target, options) => fetchOfProvider(target, options as never),
    timeoutDuration: requestTimeoutSeconds * 1000,
    cooldownDuration: keyCooldownMs,
  });
}

/** Authenticates with the method that the provider supports: `client_secret_basic` is the default of the specification. */
function authenticationOf({ clientSecret }: ProviderSettings, metadata: ServerMetadata) {
  if (clientSecret === undefined) return None();
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
  return methods.includes('client_secret_basic') ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

function unavailable({ id }: ProviderSettings, cause: unknown): ProviderUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ProviderUnavailableError(`The sign-in provider ${id} is not available: ${reason}`, { cause });
}
