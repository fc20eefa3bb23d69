import { type ContentAddress, contentAddressOfDigest, isPluginName, ociManifest, ociMediaTypes } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { Actor, ExtensionPointAccess } from '../auth/access.ts';
import type { BodyReader } from '../http/bodies/body-reader.ts';
import { reserveFrom } from '../http/bodies/body-room.ts';
import { readBytes } from '../http/bodies/read-bytes.ts';
import { disconnectSignal } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Route } from '../http/route.ts';
import { publishErrors } from '../plugins/plugin-routes.ts';
import type { PluginTarget } from '../plugins/plugins.ts';
import { authorizePublisher } from '../plugins/publish.ts';
import { maxDocumentBytes } from '../plugins/pushed-image.ts';
import { invalidDigest, OciError } from './oci-error.ts';
import { pendingReason, pushManifest } from './oci-push.ts';
import { manifestExample, nameOf, options, repositoryPath, route } from './oci-route.ts';
import {
  appendToUpload,
  cancelUpload,
  findUpload,
  finishUpload,
  maxChunks,
  rangeOf,
  type SentBytes,
  startUpload,
  type Uploader,
  uploadBlob,
} from './oci-uploads.ts';

const push = { access: { kind: 'repository', purpose: 'publish' }, ...options } as const;

const uploadsPath = `${repositoryPath}/blobs/uploads` as const;

const uploadHeaders = { location: 'the path of the upload', range: 'the bytes that the server has' };

const finishedHeaders = { location: 'the path of the blob', 'docker-content-digest': 'its digest' };

const binary = { type: 'string', format: 'binary' } as const;

/** Clients send blobs as any type. */
const blobBody: BodyReader<Uint8Array> = {
  read: (source) => readBytes(source, source.limits.maxModuleBytes, 'A blob'),
  doc: {
    required: false,
    content: { 'application/octet-stream': { schema: binary } },
    errors: ['payload_too_large', 'request_timeout', 'unsupported_media_type'],
  },
};

const manifestBody: BodyReader<Uint8Array> = {
  async read(source) {
    if (source.mediaType !== ociMediaTypes.manifest) {
      const message = `Push a manifest of the type ${ociMediaTypes.manifest} (got "${source.mediaType}").`;
      throw new OciError('unsupported_media_type', 'MANIFEST_INVALID', message, { accept: ociMediaTypes.manifest });
    }
    return readBytes(source, maxDocumentBytes, 'A manifest');
  },
  doc: {
    required: true,
    content: { [ociMediaTypes.manifest]: { schema: ociManifest, example: manifestExample } },
    errors: ['payload_too_large', 'request_timeout', 'unsupported_media_type'],
  },
};

const digestQuery = Type.String({ maxLength: 200, description: 'the digest of the whole blob' });

/** Only the publisher pushes to a repository. The plugin need not exist. */
interface PushCall {
  readonly auth: { readonly actor: Actor; readonly access: ExtensionPointAccess; readonly target: PluginTarget };
}

const rangeHeaders = { 'content-range': 'the first and the last byte of the chunk, such as `0-1023`' };

export const ociPushRoutes: readonly Route[] = [
  route('POST', `${uploadsPath}/`, {
    ...push,
    query: Type.Object({
      digest: Type.Optional(digestQuery),
      mount: Type.Optional(Type.String({ maxLength: 200, description: 'has no effect' })),
      from: Type.Optional(Type.String({ maxLength: 400, description: 'has no effect' })),
    }),
    body: blobBody,
    id: 'startOciUpload',
    summary: 'Start the upload of a blob, or upload a whole blob with its digest',
    description:
      'The repository must have your own user id. An upload expires an hour after its last change. The server does not mount blobs of other ' +
      'repositories.',
    responses: {
      201: { description: 'the blob was uploaded', headers: finishedHeaders },
      202: {
        description: 'an upload without bytes',
        headers: { ...uploadHeaders, 'oci-chunk-min-length': 'the minimum size of all chunks but the last' },
      },
    },
    errors: ['not_a_guest', 'invalid_request', 'limit_exceeded', 'rate_limited', 'storage_full'],
    beforeBody: (_services, call) => {
      requirePush(call);
      if (call.query.digest !== undefined) addressOf(call.query.digest);
    },
    handle: async ({ deps, settings }, { auth, params, query: { digest }, body }, reply) => {
      const uploader = uploaderOf(auth);
      if (digest !== undefined) {
        await uploadBlob(deps, uploader, { bytes: body, contentAddress: addressOf(digest) });
        return reply.headers(blobFields(nameOf(params), digest)).send();
      }
      const { id } = await startUpload(deps, uploader);
      const minLength = Math.ceil(settings.maxModuleBytes / maxChunks);
      return reply
        .code(202)
        .headers({ ...uploadFields(nameOf(params), id, 0), 'oci-chunk-min-length': String(minLength) })
        .send();
    },
  }),
  route('GET', `${uploadsPath}/:uploadId`, {
    ...push,
    id: 'readOciUpload',
    summary: 'Read how many bytes of an upload the server has',
    responses: { 204: { description: 'an unfinished upload', headers: uploadHeaders } },
    errors: ['not_a_guest'],
    beforeBody: (_services, call) => requirePush(call),
    handle: async ({ deps }, { auth, params }, reply) => {
      const { id, size } = await findUpload(deps, uploaderOf(auth), params.uploadId);
      reply.headers(uploadFields(nameOf(params), id, size));
    },
  }),
  route('PATCH', `${uploadsPath}/:uploadId`, {
    ...push,
    body: blobBody,
    id: 'appendToOciUpload',
    summary: 'Add a chunk to the end of an upload',
    requestHeaders: rangeHeaders,
    responses: { 202: { description: 'added', headers: uploadHeaders } },
    errors: [
      'not_a_guest',
      'invalid_request',
      'range_not_satisfiable',
      'limit_exceeded',
      'rate_limited',
      'storage_full',
    ],
    beforeBody: (_services, call) => requirePush(call),
    handle: async ({ deps }, { request, auth, params, body }, reply) => {
      const { uploadId } = params;
      const size = await appendToUpload(deps, uploaderOf(auth), uploadId, sentBytes(request, body));
      return reply.headers(uploadFields(nameOf(params), uploadId, size)).send();
    },
  }),
  route('PUT', `${uploadsPath}/:uploadId`, {
    ...push,
    query: Type.Object({ digest: digestQuery }),
    body: blobBody,
    id: 'finishOciUpload',
    summary: 'Finish an upload, with its last bytes or without',
    requestHeaders: rangeHeaders,
    responses: { 201: { description: 'the blob was uploaded', headers: finishedHeaders } },
    errors: ['not_a_guest', 'range_not_satisfiable', 'rate_limited', 'storage_full'],
    beforeBody: (_services, call) => {
      requirePush(call);
      addressOf(call.query.digest);
    },
    handle: async (services, { request, auth, params, query: { digest }, body }, reply) => {
      const reserve = reserveFrom(services, auth, request, reply.response);
      const sent = { ...sentBytes(request, body), contentAddress: addressOf(digest), reserve };
      await finishUpload(services.deps, uploaderOf(auth), params.uploadId, sent);
      return reply.headers(blobFields(nameOf(params), digest)).send();
    },
  }),
  route('DELETE', `${uploadsPath}/:uploadId`, {
    ...push,
    id: 'cancelOciUpload',
    summary: 'Cancel an upload',
    responses: { 204: { description: 'canceled' } },
    errors: ['not_a_guest'],
    beforeBody: (_services, call) => requirePush(call),
    handle: ({ deps }, { auth, params }) => cancelUpload(deps, uploaderOf(auth), params.uploadId),
  }),
  route('PUT', `${repositoryPath}/manifests/:reference`, {
    ...push,
    body: manifestBody,
    id: 'pushOciManifest',
    summary: 'Publish a version: push the manifest of its module',
    description:
      'Makes the same checks as every publish. The tag is the semantic version (`_` instead of `+`), or the number of the next version. The ' +
      'manifest has one layer of the type `application/wasm`, and a configuration of the type `application/vnd.wasm.config.v0+json` or ' +
      '`application/vnd.oci.empty.v1+json`. The server keeps both documents unchanged. To push the same manifest again only publishes the newest version under guests that you ' +
      'have accepted since. A version never gets another manifest.',
    responses: {
      201: {
        description: 'the version',
        headers: {
          location: 'the path of the manifest',
          'docker-content-digest': 'its digest',
          warning: 'why the version has no tag yet',
        },
      },
    },
    errors: ['invalid_request', ...publishErrors],
    beforeBody: (_services, call) => requirePush(call),
    handle: async (services, { request, auth, params, body }, reply) => {
      const { version, digest } = await pushManifest(services.deps, {
        uploader: uploaderOf(auth),
        access: auth.access,
        reference: params.reference,
        bytes: body,
        reserve: reserveFrom(services, auth, request, reply.response),
        signal: disconnectSignal(reply.response),
      });
      const warning = pendingReason(version);
      if (warning !== undefined) reply.header('warning', `299 - "${warning}"`);
      return reply
        .headers({ location: `/v2/${nameOf(params)}/manifests/${digest}`, 'docker-content-digest': digest })
        .send();
    },
  }),
];

/** @throws DomainError `forbidden`, `not_a_guest`; `invalid_request` for a name that no plugin can have */
function requirePush({ auth: { actor, access, target } }: PushCall): void {
  authorizePublisher(actor, access, target);
  if (isPluginName(target.name)) return;
  const message = 'The last component of the repository is not the encoded name of a plugin.';
  throw new OciError('invalid_request', 'NAME_INVALID', message);
}

function uploaderOf({ actor, access, target }: PushCall['auth']): Uploader {
  return { actor, key: { extensionPointId: access.extensionPoint.id, userId: actor.userId, name: target.name } };
}

/** @throws DomainError `invalid_request` */
function addressOf(digest: string): ContentAddress {
  const address = contentAddressOfDigest(digest);
  if (address === undefined) throw invalidDigest();
  return address;
}

/** @throws DomainError `invalid_request` for a `content-range` that does not fit the bytes */
function sentBytes({ headers }: Request, bytes: Uint8Array): SentBytes {
  const field = headers['content-range'];
  if (field === undefined) return { bytes };
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(field) ?? [];
  if (Number(last) - Number(first) + 1 === bytes.length) return { bytes, startByte: Number(first) };
  const message = `"content-range" must be the first and the last of the ${bytes.length} bytes, such as "0-1023".`;
  throw new OciError('invalid_request', 'BLOB_UPLOAD_INVALID', message);
}

// Clients resolve the paths against the host, which is all of a registry's address.
function uploadFields(name: string, id: string, size: number) {
  return { location: `/v2/${name}/blobs/uploads/${id}`, range: rangeOf(size) };
}

function blobFields(name: string, digest: string) {
  return { location: `/v2/${name}/blobs/${digest}`, 'docker-content-digest': digest };
}
