import {
  attestationKind,
  contentAddressPattern,
  extensionPoint,
  isSemver,
  plugin,
  pluginNamePattern,
  version,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { faultsOf, isValid } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { invalidBundle } from './tar.ts';

export const catalogType = 'application/vnd.tenon.bundle.v1+json';

const digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The largest document, in bytes: far above 1 MiB in base64, with a signature. A command parses one at a time. */
const maxDocumentBytes = 16 * 1024 * 1024;

/** The lower-case hexadecimal SHA-256 of a document, and its size in bytes. */
const blob = { digest, size: Type.Integer({ minimum: 1, maximum: maxDocumentBytes }) };

const document = Type.Object(blob, { additionalProperties: false });

const catalogVersion = Type.Object(
  {
    number: version.properties.number,
    semver: version.properties.semver,
    note: version.properties.note,
    contentAddress: Type.String({ pattern: contentAddressPattern }),
    size: Type.Integer({ minimum: 8 }),
    attestations: Type.Array(Type.Object({ kind: attestationKind, ...blob }, { additionalProperties: false }), {
      maxItems: 20,
    }),
    testResult: Type.Union([document, Type.Null()]),
    /** Of a version that an OCI client pushed. All other images are computed. */
    image: Type.Optional(Type.Object({ manifest: document, config: document }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);
export type CatalogVersion = Static<typeof catalogVersion>;

const catalogPlugin = Type.Object(
  {
    /** `ext_…/plugin/usr_…/<name>` */
    id: plugin.properties.id,
    userId: plugin.properties.userId,
    userName: plugin.properties.userName,
    name: Type.String({ pattern: pluginNamePattern }),
    versions: Type.Array(catalogVersion, { minItems: 1 }),
    bindings: Type.Array(
      Type.Object(
        { guestKey: Type.String({ minLength: 1, maxLength: 512 }), version: Type.Integer() },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
  },
  { additionalProperties: false },
);
export type CatalogPlugin = Static<typeof catalogPlugin>;

const { id, name, schema, requiresApproval, minVersionAgeSeconds, limits } = extensionPoint.properties;

const catalogExtensionPoint = Type.Object(
  {
    ...{ id, name, schema, requiresApproval, minVersionAgeSeconds, limits },
    plugins: Type.Array(catalogPlugin),
    /** The server's attestation of all this. */
    attestation: document,
  },
  { additionalProperties: false },
);
export type CatalogExtensionPoint = Static<typeof catalogExtensionPoint>;

/** What a bundle contains, apart from the bytes. */
const catalog = Type.Object(
  { extensionPoints: Type.Array(catalogExtensionPoint, { minItems: 1 }) },
  { additionalProperties: false },
);
export type Catalog = Static<typeof catalog>;

/** A plugin with its extension point. */
export interface PlacedPlugin {
  readonly extensionPoint: CatalogExtensionPoint;
  readonly plugin: CatalogPlugin;
}

export function pluginsOf({ extensionPoints }: Catalog): readonly PlacedPlugin[] {
  return extensionPoints.flatMap((extensionPoint) =>
    extensionPoint.plugins.map((plugin) => ({ extensionPoint, plugin })),
  );
}

/** Parses a catalog and checks what its schema doesn't say. @throws CliError `invalid_bundle` */
export function readCatalog(bytes: Uint8Array): Catalog {
  const value = parseJson(bytes, 'its catalog');
  if (!isValid(catalog, value)) {
    const [fault] = faultsOf(catalog, value);
    throw invalidBundle(`its catalog is malformed: ${fault?.pointer ?? ''} ${fault?.detail ?? ''}`);
  }
  requireAscending(
    value.extensionPoints.map(({ id }) => id),
    'the extension points of its catalog',
  );
  for (const extensionPoint of value.extensionPoints) {
    requireAscending(
      extensionPoint.plugins.map(({ id }) => id),
      `the plugins of ${extensionPoint.id}`,
    );
    for (const plugin of extensionPoint.plugins) checkPlugin(extensionPoint, plugin);
  }
  return value;
}

function checkPlugin(extensionPoint: CatalogExtensionPoint, plugin: CatalogPlugin): void {
  const { id, userId, name, versions, bindings } = plugin;
  if (id !== `${extensionPoint.id}/plugin/${userId}/${name}`) throw invalidBundle(`the plugin ${id} has another id`);
  requireAscending(
    versions.map(({ number }) => number),
    `the versions of ${id}`,
  );
  requireAscending(
    bindings.map(({ guestKey }) => guestKey),
    `the bindings of ${id}`,
  );
  const numbers = new Set(versions.map(({ number }) => number));
  for (const { version } of bindings) {
    if (!numbers.has(version)) throw invalidBundle(`version ${version} of ${id} is bound, and missing`);
  }
  const bound = new Set(bindings.map(({ version }) => version));
  for (const { number, semver, contentAddress } of versions) {
    if (!bound.has(number)) throw invalidBundle(`version ${number} of ${id} is not bound`);
    // The last character has two spare bits.
    const isCanonical = Buffer.from(contentAddress, 'base64url').toString('base64url') === contentAddress;
    if (!isCanonical) throw invalidBundle(`${id} has the content address ${contentAddress}, which is not canonical`);
    if (semver !== null && !isSemver(semver)) throw invalidBundle(`${id} has an invalid semantic version`);
  }
}

const imageManifest = Type.Object({
  config: Type.Object({ digest: Type.String() }),
  layers: Type.Array(Type.Object({ digest: Type.String() })),
});

/** Reads the digests in the manifest of a pushed image. The server checks all else. @throws CliError `invalid_bundle` */
export function readImageManifest(bytes: Uint8Array): { readonly config: string; readonly layers: readonly string[] } {
  const value = parseJson(bytes, 'the manifest of an image');
  if (!isValid(imageManifest, value)) throw invalidBundle('the manifest of an image is malformed');
  return { config: value.config.digest, layers: value.layers.map(({ digest }) => digest) };
}

/** Entries are in code-unit order, without duplicates. */
function requireAscending<T extends string | number>(values: readonly T[], what: string): void {
  const isAscending = values.every((value, index) => index === 0 || (values[index - 1] as T) < value);
  if (!isAscending) throw invalidBundle(`${what} are not in ascending order, or there are duplicates`);
}

export function parseJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalidBundle(`${what} is not JSON`, cause);
  }
}
