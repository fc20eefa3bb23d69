import {
  appPluginListQuery,
  bindingListQuery,
  dryRunQuery,
  guestsQuery,
  plugin,
  pluginAbout,
  pluginAboutInput,
  pluginBinding,
  pluginListQuery,
  pluginSummary,
  publishedPlugin,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { reserveFrom } from '../http/bodies/body-room.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { pluginBindingExample, pluginExample, pluginSummaryExample } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { disconnectSignal } from '../http/reply.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { artifactBody } from './artifact-body.ts';
import { withDryRun } from './dry-run-route.ts';
import { deletePlugin } from './host-control.ts';
import { changePluginAbout, readPluginAbout, removePluginAbout } from './plugin-about.ts';
import { toPlugin, toPluginBinding, toPluginSummary } from './plugin-wire.ts';
import { listBindings, listPlugins, listPluginsOfApp, type PluginTarget, readPlugin } from './plugins.ts';
import { authorizePublish, publish } from './publish.ts';
import { requireValidLabels } from './release-labels.ts';

const route = routeTagged('Plugins');

/** The path of a plugin, and the prefix of the paths of its versions and actions. */
export const artifactPath = '/api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName';

const aboutExample = {
  description: 'The median of a range.',
  homepage: 'https://median.example.org/',
  readme: '# median\n\nSkips empty cells.',
};

const publishQuery = Type.Object({
  ...dryRunQuery,
  guest: Type.Optional(
    Type.String({ maxLength: 200, description: 'bind only under this guest, not under all your guests' }),
  ),
  semver: Type.Optional(
    Type.String({ description: "the version's semantic version (SemVer 2.0.0); also possible as a form field" }),
  ),
  note: Type.Optional(
    Type.String({ description: 'a note on the version, at most 500 characters; also possible as a form field' }),
  ),
});

/** The errors of every publish, besides those of its body. */
export const publishErrors = [
  'not_a_guest',
  'plugin_blocked',
  'publisher_blocked',
  'plugin_name_taken',
  'not_wasm',
  'component_not_supported',
  'invalid_module',
  'unsupported_feature',
  'interface_mismatch',
  'conflict',
  'provenance_required',
  'module_too_complex',
  'limit_exceeded',
  'quota_exceeded',
  'rate_limited',
  'storage_full',
] as const;

export const pluginRoutes: readonly Route[] = [
  route('PUT', artifactPath, {
    access: { kind: 'extensionPoint', purpose: 'publish' },
    query: publishQuery,
    body: artifactBody,
    id: 'publishPlugin',
    summary: 'Publish a plugin, or a new version of it',
    description:
      'The path must have your own user id. The server binds the module under every guest that you hold in the application, or ' +
      'only under `guest`; either all bindings succeed or none. If the bytes are bound already, no version is created. If ' +
      'the extension point requires approval, a new version is bound once the team approves it. With `dryRun=true`, the server ' +
      'makes the same checks, stores nothing, and returns the plugin as the publish would leave it, with provisional ids and times.',
    responses: {
      200: json('a new version, or the unchanged newest version', publishedPlugin, {
        ...pluginExample,
        isNewVersion: true,
      }),
      201: json("the plugin's first version", publishedPlugin, { ...pluginExample, isNewVersion: true }),
    },
    errors: publishErrors,
    beforeBody: (_services, { auth, params, query }) => {
      authorizePublish(auth.actor, auth.access, target(params, query));
      requireValidLabels(query);
    },
    handle: async (services, { request, auth, params, query, body }, reply) => {
      const { actor, access } = auth;
      const isDryRun = query.dryRun === 'true';
      const reserve = isDryRun ? reserveFrom(services, auth, request, reply.response) : undefined;
      const options = { signal: disconnectSignal(reply.response), isDryRun, reserve };
      const { bytes, semver = query.semver, note = query.note, provenance, sbom, origin, manifest, config } = body;
      const image = manifest && { manifest, config };
      const attachments = [
        ...(provenance === undefined
          ? []
          : [{ bytes: provenance, pointer: '/provenance', expected: 'provenance' } as const]),
        ...(sbom === undefined ? [] : [{ bytes: sbom, pointer: '/sbom', expected: 'sbom' } as const]),
      ];
      const published = await publish(
        services.deps,
        actor,
        access,
        target(params, query),
        { bytes, semver, note, attachments, origin, image },
        options,
      );
      reply.code(published.created === 'plugin' && !isDryRun ? 201 : 200);
      return { ...toPlugin(published, access), isNewVersion: published.created !== 'nothing' };
    },
  }),
  route('GET', artifactPath, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: guestsQuery,
    id: 'readPlugin',
    summary: 'Read a plugin with its newest version and its status',
    description: 'Members can read every plugin, guests their own.',
    responses: { 200: json('the plugin', plugin, pluginExample) },
    handle: async ({ deps }, { auth, params, query }) => {
      const { actor, access } = auth;
      return toPlugin(await readPlugin(deps, actor, access, pluginTarget(params)), access, query.maxGuests);
    },
  }),
  withDryRun(
    route('DELETE', artifactPath, {
      access: { kind: 'extensionPoint', purpose: 'deletePlugins' },
      id: 'deletePlugin',
      summary: 'Delete a plugin with its versions and bindings',
      description:
        "For the publisher and the application's team; while the team blocks or pins the plugin, for the team only. The name " +
        'stays reserved for the publisher for 90 days. The content is deleted unless another plugin has the same.',
      responses: { 204: { description: 'deleted' } },
      errors: ['plugin_blocked', 'publisher_blocked', 'conflict', 'step_up_required'],
      handle: ({ deps }, { auth, params }) => deletePlugin(deps, auth.access, pluginTarget(params)),
    }),
  ),
  route('GET', `${artifactPath}/about`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readPluginAbout',
    summary: 'Read what the publisher says about a plugin: description, homepage, and README',
    description: 'The README is Markdown of an untrusted author. Render it without HTML, scripts, and images.',
    responses: { 200: json('the texts', pluginAbout, aboutExample) },
    handle: ({ deps }, { auth, params }) => readPluginAbout(deps, auth.actor, auth.access, pluginTarget(params)),
  }),
  route('PUT', `${artifactPath}/about`, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: jsonBody(pluginAboutInput, aboutExample),
    id: 'changePluginAbout',
    summary: 'Change what the publisher says about a plugin; absent fields keep their values',
    description: 'Only for the publisher. `null` removes a text.',
    responses: { 200: json('the texts', pluginAbout, aboutExample) },
    errors: ['plugin_blocked', 'publisher_blocked', 'conflict'],
    handle: ({ deps }, { auth, params, body }) => changePluginAbout(deps, auth.access, pluginTarget(params), body),
  }),
  route('DELETE', `${artifactPath}/about`, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    id: 'removePluginAbout',
    summary: 'Remove what the publisher says about a plugin',
    description: "For the publisher and the application's team. 404 if there is nothing to remove.",
    responses: { 204: { description: 'removed' } },
    errors: ['conflict'],
    handle: ({ deps }, { auth, params }) => removePluginAbout(deps, auth.access, pluginTarget(params)),
  }),
  route('GET', `${artifactPath}/bindings`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: bindingListQuery,
    id: 'listPluginBindings',
    summary: "List a plugin's bindings, one for each guest",
    description:
      'Members can read the bindings of every plugin, with the guest keys. Guests can read those of their own plugins, without the keys.',
    responses: { 200: jsonList('the bindings', pluginBinding, pluginBindingExample) },
    handle: async ({ deps }, { auth, params, query }) => {
      const { actor, access } = auth;
      const found = await listBindings(deps, actor, access, pluginTarget(params), toPage(query), query.q);
      return toList(found, (binding) => toPluginBinding(binding, access), query.sort);
    },
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId/plugins', {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: pluginListQuery,
    id: 'listPlugins',
    summary: "List an extension point's plugins",
    description: 'Members see every plugin, guests their own.',
    responses: { 200: jsonList('the plugins', plugin, pluginExample) },
    handle: async ({ deps }, { auth, query }) => {
      const { q: text, name, state, userId, sort } = query;
      const found = await listPlugins(deps, auth.access, toPage(query), { text, name, state, userId });
      return toList(found, (one) => toPlugin(one, auth.access, query.maxGuests), sort);
    },
  }),
  route('GET', '/api/v1/apps/:appId/plugins', {
    access: { kind: 'app', purpose: 'readPlugins' },
    query: appPluginListQuery,
    id: 'listAppPlugins',
    summary: "List an application's plugins of all extension points, in short",
    description: 'Members see every plugin, guests their own.',
    responses: { 200: jsonList('the plugins', pluginSummary, pluginSummaryExample) },
    handle: async ({ deps }, { auth, query }) => {
      const { q: text, isBound, sort } = query;
      const { name, state, userId, extensionPointId } = query;
      const filter = { text, name, state, userId, extensionPointId, isBound: isBound && isBound === 'true' };
      const found = await listPluginsOfApp(deps, auth.access, toPage(query), filter);
      return toList(found, (one) => toPluginSummary(one, auth.access), sort);
    },
  }),
];

function target(
  params: { readonly userId: string; readonly pluginName: string },
  query: { readonly guest?: string | undefined },
) {
  return { ...pluginTarget(params), guestId: query.guest };
}

export function pluginTarget(params: { readonly userId: string; readonly pluginName: string }): PluginTarget {
  return { userId: params.userId, name: params.pluginName };
}
