import { version } from './config/version.ts';
import { describeRoutes } from './http/openapi.ts';
import { routesOf } from './routes.ts';
import type { Addresses } from './services.ts';

export interface OpenApiOptions {
  /** Describe a server that runs with this area only. */
  readonly only?: 'instrument' | undefined;
  /** `{base_url}`. Default: `http://localhost:8366`. */
  readonly base?: string;
  /** `{instrument_url}`. Default: the same as `base`. */
  readonly instrument?: string;
}

/** Builds the OpenAPI 3.1 description of the HTTP API, as plain JSON without TypeBox's hidden symbols. */
export function buildOpenApi(options: OpenApiOptions = {}): object {
  const { only, base = 'http://localhost:8366', instrument = base } = options;
  return JSON.parse(JSON.stringify(describeRoutes(routesOf(only), { base, instrument, version }))) as object;
}

/** Returns a function that returns the serialised description. It caches the text, and rebuilds it when the server's addresses change. */
export function createOpenApiText(only: OpenApiOptions['only'], addresses: Addresses): () => Buffer {
  let cached: { readonly key: string; readonly text: Buffer } | undefined;
  return () => {
    const [base, instrument] = [addresses.base(), addresses.instrument()];
    const key = `${base} ${instrument}`;
    if (cached?.key !== key) {
      cached = { key, text: Buffer.from(JSON.stringify(buildOpenApi({ only, base, instrument }))) };
    }
    return cached.text;
  };
}
