import { maxAttachmentBytes } from '../attestations/attachment.ts';
import type { BodyReader } from '../http/bodies/body-reader.ts';
import { formErrors, readForm } from '../http/bodies/multipart.ts';
import { readBytes } from '../http/bodies/read-bytes.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';
import { HttpError } from '../http/http-error.ts';
import { maxDocumentBytes } from './pushed-image.ts';

const binary = { type: 'string', format: 'binary' } as const;

/** Far above the limits of `semver` and `note`, which the use case checks. */
const maxTextBytes = 4096;

/** A publish attestation has about 2 KiB. */
const maxOriginBytes = 64 * 1024;

/** The contents of a publish request. Only a form can have more than the bytes. */
interface Artifact {
  readonly bytes: Uint8Array;
  readonly semver?: string;
  readonly note?: string;
  /** A document with provenance, as it was sent. */
  readonly provenance?: Uint8Array;
  /** A document with an SBOM. */
  readonly sbom?: Uint8Array;
  /** A document with the publish attestation of another server. */
  readonly origin?: Uint8Array;
  /** The OCI manifest with which the version was pushed. */
  readonly manifest?: Uint8Array;
  /** The configuration that the manifest names. */
  readonly config?: Uint8Array;
}

/** Reads a plugin's bytes: the field `artifact` of a form, or a body of type `application/wasm`. */
export const artifactBody: BodyReader<Artifact> = {
  async read(source) {
    const what = 'A module';
    switch (source.mediaType) {
      case 'application/wasm':
        return { bytes: await readBytes(source, source.limits.maxModuleBytes, what) };
      case 'multipart/form-data': {
        const form = await readForm(source, {
          artifact: { maxBytes: source.limits.maxModuleBytes, what },
          semver: { maxBytes: maxTextBytes, what: 'A semantic version' },
          note: { maxBytes: maxTextBytes, what: 'A note' },
          provenance: { maxBytes: maxAttachmentBytes, what: 'Provenance' },
          sbom: { maxBytes: maxAttachmentBytes, what: 'An SBOM' },
          origin: { maxBytes: maxOriginBytes, what: 'An origin' },
          manifest: { maxBytes: maxDocumentBytes, what: 'A manifest' },
          config: { maxBytes: maxDocumentBytes, what: 'A configuration' },
        });
        const texts = (['semver', 'note'] as const).flatMap((name) => {
          const bytes = form.get(name);
          return bytes === undefined || bytes.length === 0 ? [] : [[name, textOf(name, bytes)]];
        });
        const documents = (['provenance', 'sbom', 'origin', 'manifest', 'config'] as const).flatMap((name) => {
          const bytes = form.get(name);
          return bytes === undefined || bytes.length === 0 ? [] : [[name, bytes]];
        });
        const bytes = requiredPart(form, 'artifact', 'the compiled module');
        return { bytes, ...Object.fromEntries([...texts, ...documents]) };
      }
      default:
        throw new HttpError('unsupported_media_type', 'Send the module as multipart/form-data or application/wasm.', {
          accept: 'multipart/form-data, application/wasm',
        });
    }
  },
  doc: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['artifact'],
          properties: {
            artifact: binary,
            semver: { type: 'string' },
            note: { type: 'string' },
            provenance: { type: 'string', description: 'a Sigstore bundle with SLSA provenance, as JSON' },
            sbom: { type: 'string', description: 'a CycloneDX document, or a Sigstore bundle with one, as JSON' },
            origin: {
              type: 'string',
              description:
                'of an imported version: JSON with `bundle`, the publish attestation of the server that it comes from, and `publicKey`, its key in PEM; only for owners and admins',
            },
            manifest: {
              type: 'string',
              description:
                'the OCI manifest with which the version was pushed to another server, so that it has the same digest here; computed by default',
            },
            config: { type: 'string', description: 'the OCI configuration that `manifest` names' },
          },
        },
      },
      'application/wasm': { schema: binary },
    },
    errors: formErrors,
  },
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(name: string, bytes: Uint8Array): string {
  if (bytes.includes(0)) throw invalidField(`/${name}`, 'must not contain the character U+0000');
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidField(`/${name}`, 'must be UTF-8');
  }
}

/** @throws DomainError `invalid_field` */
export function requiredPart(form: ReadonlyMap<string, Uint8Array>, name: string, what: string): Uint8Array {
  const part = form.get(name);
  if (part !== undefined) return part;
  const detail = `is required: ${what}`;
  throw new DomainError('invalid_field', `The form must have the field "${name}", which holds ${what}.`, {
    errors: [{ pointer: `/${name}`, detail }],
  });
}
