import type { Static } from 'typebox';
import { canonicalJson } from './canonical-json.ts';
import type { ExtensionPoint } from './extension-points.ts';
import { id, timestamp } from './fields.ts';
import { Type } from './type.ts';

/*
 * The server's attestation of an extension point: a signed in-toto statement. Its subject is the extension point. The subject's digest is
 * the SHA-256 over lines of canonical JSON: the extension point's own, then one for each binding, sorted by `compareAttestedBindings()`.
 */

export const extensionPointPredicateType = 'urn:tenon:attestation:extension-point:v1';

/** What the attestation covers besides the bindings. */
export type AttestedExtensionPoint = Pick<
  ExtensionPoint,
  'id' | 'name' | 'schema' | 'requiresApproval' | 'minVersionAgeSeconds' | 'limits'
>;

/** A bound version under a guest key. */
export interface AttestedBinding {
  readonly guestKey: string;
  /** `ext_…/plugin/usr_…/<name>` */
  readonly plugin: string;
  /** The plugin's name, which is unique under a guest key. */
  readonly name: string;
  readonly userName: string;
  readonly version: number;
  readonly semver: string | null;
  readonly note: string | null;
  readonly contentAddress: string;
  readonly size: number;
  /**
   * The SHA-256 of each document about the version, in hexadecimal: its attestations, except for origins, and its test result, as
   * `JSON.stringify()` writes them, and the OCI manifest with which it was pushed.
   */
  readonly documents: readonly string[];
}

export function extensionPointLine(extensionPoint: AttestedExtensionPoint): string {
  const { id, name, schema, requiresApproval, minVersionAgeSeconds, limits } = extensionPoint;
  return `${canonicalJson({ id, name, schema, requiresApproval, minVersionAgeSeconds, limits })}\n`;
}

export function bindingLine(binding: AttestedBinding): string {
  const { guestKey, plugin, userName, version, semver, note, contentAddress, size } = binding;
  const documents = [...new Set(binding.documents)].sort();
  return `${canonicalJson({ guestKey, plugin, userName, version, semver, note, contentAddress, size, documents })}\n`;
}

type BindingOrder = Pick<AttestedBinding, 'guestKey' | 'name'>;

/** Compares by guest key, then by name, in the order of UTF-8 bytes, in which databases return them. */
export function compareAttestedBindings(one: BindingOrder, other: BindingOrder): number {
  return compareUtf8(one.guestKey, other.guestKey) || compareUtf8(one.name, other.name);
}

/** UTF-8 sorts by code points. Surrogates, which are code units of the greatest code points, are not the greatest code units. */
function compareUtf8(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
  }
  return one.length - other.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** The predicate of the statement. */
export const extensionPointPredicate = Type.Object({
  server: Type.String({ description: "the server's public URL" }),
  appId: id('app', 'the application'),
  extensionPointId: id('extensionPoint', 'the extension point'),
  bindings: Type.Integer({ minimum: 0, description: 'how many bindings it has' }),
  changedAt: timestamp(
    'the newest change of the extension point, its bindings, and the attestations of bound versions',
  ),
});
export type ExtensionPointPredicate = Static<typeof extensionPointPredicate>;

export const extensionPointAttestation = Type.Object({
  predicate: extensionPointPredicate,
  bundle: Type.Object({}, { additionalProperties: true, description: 'a Sigstore bundle' }),
});
