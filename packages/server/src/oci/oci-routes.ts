import {
  ociIndex,
  ociManifest,
  ociMediaTypes,
  ociRepositoryOf,
  ociTagList,
  ociToken,
  ociVersionCheck,
  wasmPackageRegistry,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { authenticateBasic } from '../auth/authenticate-request.ts';
import { evaluateConditions } from '../http/conditions.ts';
import { notFound } from '../http/domain-errors.ts';
import { example } from '../http/examples.ts';
import { HttpError } from '../http/http-error.ts';
import { limitPublicReads } from '../http/limits/public-reads.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { json, type Route, type SuccessDoc } from '../http/route.ts';
import { contentRequestHeaders, contentResponses, sendContent } from '../plugins/send-content.ts';
import { OciError, tokenPath } from './oci-error.ts';
import { findBlob, findManifest, findRepository, listReferrers, listTags, toReferrerIndex } from './oci-repository.ts';
import { manifestExample, nameOf, options, repositoryPath, route } from './oci-route.ts';
import { findUploadedBlob } from './oci-uploads.ts';

/** Access is checked per request, so shared caches may store nothing. */
const immutable = 'private, max-age=31536000, immutable';
const changing = 'private, no-cache';

/** The maximum number of tags in a response. */
const maxTags = 1000;

const read = { access: { kind: 'repository', purpose: 'readPlugins' }, ...options } as const;

const digestHeader = { 'docker-content-digest': 'the digest of the whole document' };

const documents = (description: string, contentType: string, more: Partial<SuccessDoc>) => ({
  200: { description, contentType, headers: { ...digestHeader, etag: 'the digest' }, ...more },
  304: { description: 'not modified' },
});

export const ociRoutes: readonly Route[] = [
  route('GET', '/v2/', {
    access: { kind: 'user' },
    ...options,
    id: 'checkOciVersion',
    summary: 'Check that the server implements the OCI distribution specification, and the token',
    responses: { 200: json('an empty object', ociVersionCheck, {}) },
    handle: () => ({}),
  }),
  route('GET', tokenPath, {
    access: { kind: 'public' },
    ...options,
    id: 'readOciToken',
    summary: 'Get a bearer token for basic credentials: any user name, and an access token as the password',
    description: 'Clients find this endpoint in the challenge of a 401 response. It returns the access token itself.',
    requestHeaders: { authorization: '`Basic …`' },
    responses: {
      200: json('the token', ociToken, {
        token: 'tnn_0000000000000000000000000000AbCdEf',
        access_token: 'tnn_0000000000000000000000000000AbCdEf',
        expires_in: 3600,
      }),
    },
    errors: ['missing_credentials', 'invalid_token', 'account_suspended', 'invalid_request'],
    handle: async (services, { request }) => {
      const found = await authenticateBasic(services, request);
      if (found === undefined) throw needsBasic();
      const { secret, actor } = found;
      const expiresIn = Math.floor((actor.expiresAtMs - services.deps.clock()) / 1000);
      return { token: secret, access_token: secret, expires_in: expiresIn };
    },
  }),
  route('GET', `${repositoryPath}/manifests/:reference`, {
    ...read,
    id: 'readOciManifest',
    summary: 'Read a manifest by its tag or digest',
    description:
      'The tags are the numbers and the semantic versions (`_` instead of `+`) of the published versions, `latest`, and, for members of the ' +
      'application, `bound-<guest id>`. A digest also finds a version in another state.',
    requestHeaders: { 'if-none-match': 'the entity tags that you have cached' },
    responses: documents('the manifest', ociMediaTypes.manifest, {
      schema: ociManifest,
      example: manifestExample,
    }),
    errors: ['precondition_failed'],
    handle: async ({ deps }, { request, auth, params: { reference } }, reply) => {
      const manifest = await findManifest(deps, await findRepository(deps, auth.access, auth.target), reference);
      const cacheControl = reference === manifest.digest ? immutable : changing;
      return sendDocument(request, reply, manifest, manifest.mediaType, cacheControl);
    },
  }),
  route('GET', `${repositoryPath}/blobs/:digest`, {
    ...read,
    id: 'readOciBlob',
    summary: 'Fetch a blob by its digest: a module, a configuration, or a document about a version',
    requestHeaders: contentRequestHeaders,
    responses: contentResponses(immutable),
    errors: ['precondition_failed', 'range_not_satisfiable', 'content_damaged'],
    handle: async (services, { request, auth, params }, reply) => {
      const { deps, usage } = services;
      const { access, target } = auth;
      const blob =
        (await findUploadedBlob(deps, access, target, params.digest)) ??
        (await findBlob(deps, await findRepository(deps, access, target), params.digest));
      reply.header('docker-content-digest', params.digest);
      if ('text' in blob) return sendDocument(request, reply, blob, 'application/octet-stream', immutable);
      const { userId, appId } = access.actor;
      const cell = usage.cell(access.actor, { kind: 'content', address: blob.address, userId, tokenAppId: appId });
      const sent = await sendContent(services, blob.address, immutable, request, reply);
      if (cell !== undefined && request.method === 'GET' && sent.statusCode === 200) usage.note(cell, request.headers);
      return sent;
    },
  }),
  route('GET', `${repositoryPath}/tags/list`, {
    ...read,
    query: Type.Object({
      n: Type.Optional(Type.Integer({ minimum: 0, description: `the number of tags, at most ${maxTags}` })),
      last: Type.Optional(Type.String({ maxLength: 200, description: 'the last tag of the page before' })),
    }),
    id: 'listOciTags',
    summary: 'List the tags of a repository',
    responses: {
      200: json(
        'the tags',
        ociTagList,
        {
          name: ociRepositoryOf(example.appId, example.extensionPointId, example.userId, 'median'),
          tags: ['1', '1.0.0', 'latest'],
        },
        { link: 'the next page' },
      ),
    },
    handle: async ({ deps }, { auth: { access, target }, params, query: { n = maxTags, last } }, reply) => {
      const name = nameOf(params);
      const limit = Math.min(n, maxTags);
      const { tags, hasMore } = await listTags(deps, await findRepository(deps, access, target), { limit, last });
      const end = tags.at(-1);
      // Clients resolve it against the host, which is all of a registry's address.
      if (hasMore && end !== undefined)
        reply.header('link', `</v2/${name}/tags/list?n=${limit}&last=${end}>; rel="next"`);
      return { name, tags };
    },
  }),
  route('GET', `${repositoryPath}/referrers/:digest`, {
    ...read,
    query: Type.Object({
      artifactType: Type.Optional(Type.String({ maxLength: 255, description: 'only artifacts of this type' })),
    }),
    id: 'listOciReferrers',
    summary: 'List the attestations and the test result of a version, by the digest of its manifest',
    description:
      'The list is empty if no version has the manifest. A further test changes the digest of the test result.',
    responses: {
      200: {
        description: 'an image index',
        contentType: ociMediaTypes.index,
        headers: { 'oci-filters-applied': '`artifactType`, if the request has it' },
        schema: ociIndex,
        example: { schemaVersion: 2, mediaType: ociMediaTypes.index, manifests: [] },
      },
    },
    handle: async ({ deps }, { auth: { access, target }, params, query: { artifactType } }, reply) => {
      const repository = await findRepository(deps, access, target);
      const referrers = await listReferrers(deps, repository, params.digest, artifactType);
      if (artifactType !== undefined) reply.header('oci-filters-applied', 'artifactType');
      reply.header('content-type', ociMediaTypes.index);
      return reply.send(JSON.stringify(toReferrerIndex(referrers)));
    },
  }),
  route('GET', '/v2/*', {
    access: { kind: 'user' },
    ...options,
    id: 'readOtherOciName',
    summary: 'The response for names that no repository has',
    wildcard: { name: 'other', description: 'any path' },
    responses: { 404: { description: 'always' } },
    errors: ['not_found'],
    handle: () => {
      throw notFound('repository');
    },
  }),
  route('GET', '/.well-known/wasm-pkg/registry.json', {
    access: { kind: 'public' },
    id: 'readWasmPackageRegistry',
    summary: 'Tell clients of Wasm packages to use OCI',
    responses: {
      200: json('the registry', wasmPackageRegistry, {
        preferredProtocol: 'oci',
        oci: { registry: 'tenon.example.org' },
      }),
    },
    errors: ['rate_limited'],
    handle: (services, { request }) => {
      limitPublicReads(services, request);
      return { preferredProtocol: 'oci', oci: { registry: new URL(services.addresses.base()).host } };
    },
  }),
];

function needsBasic(): HttpError {
  const message = 'Send "authorization: Basic …" with any user name, and an access token as the password.';
  return new OciError('missing_credentials', 'UNAUTHORIZED', message, { 'www-authenticate': 'Basic realm="tenon"' });
}

function sendDocument(
  request: Request,
  reply: Reply,
  document: { readonly text: string; readonly digest: string },
  contentType: string,
  cacheControl: string,
): Reply {
  const etag = `"${document.digest}"`;
  const fields = { etag, 'cache-control': cacheControl, vary: 'authorization' };
  const outcome = evaluateConditions(request.headers, etag);
  if (outcome === 'precondition_failed') {
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  }
  reply.headers({ ...fields, 'docker-content-digest': document.digest });
  if (outcome === 'not_modified') return reply.code(304).send();
  return reply.header('content-type', contentType).send(document.text);
}
