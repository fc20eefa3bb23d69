import { createHash } from 'node:crypto';
import { ClientError } from '@tenon/client';
import { openBundle, type TrustedKey } from '@tenon/client/provenance';
import {
  type AttestedBinding,
  bindingLine,
  compareAttestedBindings,
  type ExtensionPointPredicate,
  extensionPointLine,
  extensionPointPredicate,
  extensionPointPredicateType,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { isValid } from '@tenon/protocol/validate';
import { type CatalogExtensionPoint, parseJson } from './catalog.ts';
import type { Bundle } from './open-bundle.ts';

/** What this machine found out about the attestation of an extension point. */
export type ExtensionPointJudgement =
  | { readonly state: 'verified'; readonly predicate: ExtensionPointPredicate }
  | { readonly state: 'failed'; readonly detail: string };

const statementType = 'https://in-toto.io/Statement/v1';

const subject = Type.Object({ name: Type.String(), digest: Type.Object({ sha256: Type.String() }) });

const statement = Type.Object({
  _type: Type.Literal(statementType),
  subject: Type.Array(subject, { minItems: 1, maxItems: 1 }),
  predicateType: Type.Literal(extensionPointPredicateType),
  predicate: extensionPointPredicate,
});

/** Returns the digest that the server attests: of the extension point, and of what is bound under which guest key, with the documents about it. */
export function stateDigest(extensionPoint: Omit<CatalogExtensionPoint, 'attestation'>): string {
  const digest = createHash('sha256').update(extensionPointLine(extensionPoint));
  for (const binding of bindingsOf(extensionPoint).sort(compareAttestedBindings)) digest.update(bindingLine(binding));
  return digest.digest('hex');
}

function bindingsOf({ plugins }: Pick<CatalogExtensionPoint, 'plugins'>): AttestedBinding[] {
  return plugins.flatMap(({ id: plugin, name, userName, versions, bindings }) => {
    const byNumber = new Map(versions.map((version) => [version.number, version]));
    return bindings.flatMap(({ guestKey, version }) => {
      const bound = byNumber.get(version);
      if (bound === undefined) return [];
      const { semver, note, contentAddress, size, attestations, testResult, image } = bound;
      const documents = [...attestations, testResult ?? [], image?.manifest ?? []].flat().map(({ digest }) => digest);
      return [{ guestKey, plugin, name, userName, version, semver, note, contentAddress, size, documents }];
    });
  });
}

/** Verifies the attestation of an extension point with the pinned keys, on this machine. */
export async function judgeExtensionPoint(
  { read }: Pick<Bundle, 'read'>,
  keys: readonly TrustedKey[],
  extensionPoint: CatalogExtensionPoint,
): Promise<ExtensionPointJudgement> {
  const { id, attestation } = extensionPoint;
  const bundle = parseJson(await read(attestation.digest), `the attestation of ${id}`);
  try {
    const { validKeys, statement: signed } = await openBundle(bundle, keys);
    if (!isValid(statement, signed)) return failed('it is no attestation of an extension point');
    const [about] = signed.subject;
    const { predicate } = signed;
    if (about?.name !== id || predicate.extensionPointId !== id) return failed(`it is about ${about?.name}`);
    if (about.digest.sha256 !== stateDigest(extensionPoint)) {
      return failed('the server signed another name, schema, limits, plugins, versions, bindings, or documents');
    }
    // The key may be newer than the last change. It must not have ended before.
    if (!validKeys.some(({ validUntilMs }) => Date.parse(predicate.changedAt) <= validUntilMs)) {
      return failed(`its key was not valid at ${predicate.changedAt}`);
    }
    return { state: 'verified', predicate };
  } catch (error) {
    if (error instanceof ClientError && error.reason !== undefined) return failed(error.message);
    if (error instanceof RangeError) return failed('its schema is nested too deeply');
    throw error;
  }
}

function failed(detail: string): ExtensionPointJudgement {
  return { state: 'failed', detail };
}
