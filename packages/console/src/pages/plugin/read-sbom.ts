import { listProducers } from '@tenon/instrument';
import { type Attestation, bomOfProducers, type Version } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';

/** The bill of materials of a version, and where it comes from. */
export interface Sbom {
  /** `producers` for one that was read from the module, which names no libraries. */
  readonly source: 'attached' | 'producers';
  /** Whether the server verified its signature. Always `true` for `producers`. */
  readonly isVerified: boolean;
  readonly detail: string | null;
  /** A CycloneDX document. */
  readonly document: object;
  /** What it lists: `<name> <version>`. */
  readonly names: readonly string[];
}

/**
 * Reads the bill of materials that is attached to a version, else what its module says.
 *
 * @returns `undefined` if there is neither
 */
export async function readSbom(
  api: ApiClient,
  versionPath: string,
  { contentAddress, number }: Pick<Version, 'contentAddress' | 'number'>,
  name: string,
  signal: AbortSignal,
): Promise<Sbom | undefined> {
  const path = `${versionPath}/attestations`;
  const { objects } = await api.get<{ readonly objects: readonly Attestation[] }>(path, {
    query: { kind: 'sbom' },
    signal,
  });
  const newest = objects.at(-1);
  const attached = newest === undefined ? undefined : predicateOf(newest);
  if (newest !== undefined && attached !== undefined) {
    const { state, detail } = newest;
    return {
      source: 'attached',
      isVerified: state === 'verified',
      detail,
      document: attached,
      names: namesOf(attached),
    };
  }
  const response = await api.send('GET', `/api/v1/c/${contentAddress}`, {
    headers: { accept: 'application/wasm' },
    signal,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const producers = listProducers(bytes);
  if (producers.length === 0) return undefined;
  const sha256 = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), hexOf).join('');
  const document = bomOfProducers({ name, version: String(number), sha256 }, producers);
  const names = namesOf({ components: document.formulation[0]?.components ?? [] });
  return { source: 'producers', isVerified: true, detail: null, document, names };
}

/** The document in a bundle's statement. Its signature is the server's concern. */
function predicateOf({ bundle }: Attestation): object | undefined {
  try {
    const { payload } = (bundle as { readonly dsseEnvelope: { readonly payload: string } }).dsseEnvelope;
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    const { predicate } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof predicate === 'object' && predicate !== null ? predicate : undefined;
  } catch {
    return undefined;
  }
}

/** The names and versions of a document's components, as far as they are texts. */
function namesOf(document: object): readonly string[] {
  const { components } = document as { readonly components?: unknown };
  if (!Array.isArray(components)) return [];
  const names = components.flatMap((component) => {
    const { name, version } = Object(component);
    if (typeof name !== 'string') return [];
    return typeof version === 'string' && version !== '' ? `${name} ${version}` : name;
  });
  return [...new Set(names)];
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
