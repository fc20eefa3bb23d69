import { describeRoutes } from './http/openapi.ts';
import type { Addresses } from './http/parts.ts';
import { routesOf } from './http/routes/all.ts';
import { version } from './version.ts';

/** Which server is described. */
export interface OpenApiOptions {
  readonly only?: 'instrument' | undefined;
  /** `{base_url}`; by default a server on this machine. */
  readonly base?: string;
  /** `{instrument_url}`; by default the same. */
  readonly instrument?: string;
}

/** The OpenAPI 3.1 description of the HTTP interface: a JSON value of its own, without TypeBox's hidden members. */
export function buildOpenApi(options: OpenApiOptions = {}): object {
  const { only, base = 'http://localhost:8366', instrument = base } = options;
  return structuredCloneOfJson(describeRoutes(routesOf(only), { base, instrument, version }));
}

function structuredCloneOfJson(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}

/** Tells the description as it is sent: made once for each pair of addresses, since it takes as long as many lists do. */
export function createOpenApiText(only: OpenApiOptions['only'], addresses: Addresses): () => Buffer {
  let known: { readonly of: string; readonly text: Buffer } | undefined;
  return () => {
    const [base, instrument] = [addresses.base(), addresses.instrument()];
    const of = `${base} ${instrument}`;
    if (known?.of !== of) known = { of, text: Buffer.from(JSON.stringify(buildOpenApi({ only, base, instrument }))) };
    return known.text;
  };
}
