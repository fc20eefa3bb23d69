import type { Static } from 'typebox';
import { nullable, oneOf } from './fields.ts';
import { Type } from './type.ts';

/* The JSON of the OCI endpoints: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md */

const ociErrorCode = oneOf([
  'BLOB_UNKNOWN',
  'BLOB_UPLOAD_INVALID',
  'BLOB_UPLOAD_UNKNOWN',
  'DENIED',
  'DIGEST_INVALID',
  'MANIFEST_BLOB_UNKNOWN',
  'MANIFEST_INVALID',
  'MANIFEST_UNKNOWN',
  'NAME_INVALID',
  'NAME_UNKNOWN',
  'SIZE_INVALID',
  'TOOMANYREQUESTS',
  'UNAUTHORIZED',
  'UNSUPPORTED',
]);
export type OciErrorCode = Static<typeof ociErrorCode>;

export const ociError = Type.Object({
  errors: Type.Array(
    Type.Object({
      code: ociErrorCode,
      message: Type.String(),
      detail: Type.Object({
        code: Type.String({ description: 'the code of the same error in `/api/v1`' }),
        errors: Type.Optional(Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }))),
      }),
    }),
  ),
});
export type OciErrorBody = Static<typeof ociError>;

export const ociVersionCheck = Type.Object({});

export const ociToken = Type.Object({
  token: Type.String({ description: 'the access token that was sent as the password' }),
  access_token: Type.String({ description: 'the same' }),
  expires_in: Type.Integer({ description: 'in seconds' }),
});

export const ociVersionNames = Type.Object(
  {
    repository: Type.String({ description: 'the registry and the repository' }),
    tag: nullable(
      Type.String({
        description: 'its semantic version, with `_` for `+`, else its number; `null` unless it is published',
      }),
    ),
    digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description: "the manifest's" }),
  },
  { description: 'how OCI clients name it; a blocked plugin has no tags' },
);

export const ociTagList = Type.Object({ name: Type.String(), tags: Type.Array(Type.String()) });

const descriptor = {
  mediaType: Type.String(),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  size: Type.Integer({ description: 'in bytes' }),
};

export const ociManifest = Type.Object({
  schemaVersion: Type.Literal(2),
  mediaType: Type.String(),
  artifactType: Type.Optional(Type.String()),
  config: Type.Object(descriptor),
  layers: Type.Array(Type.Object(descriptor)),
  subject: Type.Optional(Type.Object(descriptor)),
  annotations: Type.Optional(Type.Record(Type.String(), Type.String())),
});

/** A manifest as a client may push it, before its media types are checked. */
export const ociPushedManifest = Type.Object({
  schemaVersion: Type.Literal(2),
  mediaType: Type.Optional(Type.String()),
  config: Type.Object(descriptor),
  layers: Type.Array(Type.Object(descriptor)),
});

export const ociIndex = Type.Object({
  schemaVersion: Type.Literal(2),
  mediaType: Type.String(),
  manifests: Type.Array(
    Type.Object({
      ...descriptor,
      artifactType: Type.String(),
      annotations: Type.Record(Type.String(), Type.String()),
    }),
  ),
});

export const wasmPackageRegistry = Type.Object({
  preferredProtocol: Type.Literal('oci'),
  oci: Type.Object({ registry: Type.String({ description: 'the host of the registry' }) }),
});
