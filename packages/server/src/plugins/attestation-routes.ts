import { attestation, attestationKind } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { maxAttachmentBytesOfVersion } from '../attestations/attach.ts';
import { maxAttachmentBytes } from '../attestations/attachment.ts';
import { readAttestations, toAttestation } from '../attestations/read-attestations.ts';
import type { BodyReader } from '../http/bodies/body-reader.ts';
import { reserveFrom } from '../http/bodies/body-room.ts';
import { readBytes } from '../http/bodies/read-bytes.ts';
import { attestationExample } from '../http/examples.ts';
import { HttpError } from '../http/http-error.ts';
import { disconnectSignal } from '../http/reply.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { attachToVersion } from './attach-to-version.ts';
import { artifactPath, pluginTarget } from './plugin-routes.ts';
import { findPlugin } from './plugins.ts';
import { readVersion } from './versions.ts';

const route = routeTagged('Versions');
const attestationsPath = `${artifactPath}/versions/:number/attestations` as const;

/** A publish attestation has the claims of a CI job, each of at most 500 characters. */
const maxPublishBundleBytes = 64 * 1024;

const mediaTypes = [
  'application/json',
  'application/vnd.dev.sigstore.bundle.v0.3+json',
  'application/vnd.cyclonedx+json',
];

/** Reads an attached document as it is. */
const attachmentBody: BodyReader<Uint8Array> = {
  async read(source) {
    if (!mediaTypes.includes(source.mediaType)) {
      throw new HttpError('unsupported_media_type', 'Send the document as application/json.', {
        accept: mediaTypes.join(', '),
      });
    }
    return readBytes(source, maxAttachmentBytes, 'An attestation');
  },
  doc: {
    required: true,
    content: Object.fromEntries(
      mediaTypes.map((type) => [
        type,
        { schema: { type: 'object' }, example: { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] } },
      ]),
    ),
    errors: ['payload_too_large', 'request_timeout', 'unsupported_media_type', 'invalid_field'],
  },
};

const contentQuery = Type.Object({
  contentAddress: Type.String({ maxLength: 100, description: 'the content address of the module' }),
  kind: Type.Optional(attestationKind),
});

export const attestationRoutes: readonly Route[] = [
  route('GET', attestationsPath, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: Type.Object({ kind: Type.Optional(attestationKind) }),
    id: 'listVersionAttestations',
    summary: "List a version's attestations, the oldest first",
    description:
      "For the plugin's publisher and the application's members. Versions from before an upgrade may have none.",
    responses: { 200: jsonList('the attestations', attestation, attestationExample) },
    handle: async (services, { request, auth, params, query }, reply) => {
      const { deps } = services;
      const reserve = reserveFrom(services, auth, request, reply.response);
      const { version } = await readVersion(deps, auth.actor, auth.access, pluginTarget(params), params.number);
      reserve(maxAttachmentBytesOfVersion);
      const found = await readAttestations(deps, version, query.kind);
      return { objects: found.map((one) => toAttestation(one, version)) };
    },
  }),
  route('GET', `${artifactPath}/attestations`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: contentQuery,
    id: 'listAttestations',
    summary: "List the attestations of a plugin's content, for hosts",
    description: 'Those of the newest version with the content. The list is empty if there is no such version.',
    responses: { 200: jsonList('the attestations', attestation, attestationExample) },
    handle: async (services, { request, auth, params, query }, reply) => {
      const { store } = services.deps;
      const reserve = reserveFrom(services, auth, request, reply.response);
      const plugin = await findPlugin(store.read, auth.actor, auth.access, pluginTarget(params));
      const version = await store.read.versionOfContent(plugin, query.contentAddress as never);
      if (version === undefined) return { objects: [] };
      reserve(query.kind === 'publish' ? maxPublishBundleBytes : maxAttachmentBytesOfVersion);
      const found = await readAttestations(services.deps, version, query.kind);
      return { objects: found.map((one) => toAttestation(one, version)) };
    },
  }),
  route('POST', attestationsPath, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: attachmentBody,
    id: 'attachAttestation',
    summary: 'Attach provenance or an SBOM to a version',
    description:
      'Only for the publisher. The body is a Sigstore bundle with an in-toto statement of SLSA provenance or of a CycloneDX ' +
      'SBOM, or a CycloneDX document without a signature. The server verifies the bundle and stores the result. To verify it ' +
      'again, send it again.',
    responses: { 201: json('the attestation', attestation, attestationExample) },
    errors: ['plugin_blocked', 'publisher_blocked', 'limit_exceeded', 'quota_exceeded', 'rate_limited', 'conflict'],
    handle: async ({ deps }, { auth, params, body }, reply) => {
      const { attached, version } = await attachToVersion(
        deps,
        auth.access,
        pluginTarget(params),
        params.number,
        body,
        disconnectSignal(reply.response),
      );
      return toAttestation(attached, version);
    },
  }),
];
