import { listOf, pageQuery, plugin, publishedPlugin } from '@tenon/protocol';
import { Type } from 'typebox';
import { listPlugins, readPlugin } from '../../domain/plugins.ts';
import { authorizePublish, publish } from '../../domain/publish.ts';
import { artifactBody } from '../bodies/artifact-body.ts';
import { goneSignal } from '../client-gone.ts';
import { toList, toPage } from '../query.ts';
import { type Route, route } from '../route.ts';
import { toPlugin } from '../wire.ts';
import { pluginExample } from './examples.ts';

const tag = 'Plugins';
const artifactPath = '/api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName';

const publishQuery = Type.Object({
  guest: Type.Optional(
    Type.String({ maxLength: 200, description: 'bind under this one of your guests alone, not under all of them' }),
  ),
});

export const pluginRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: artifactPath,
    access: { kind: 'extensionPoint', purpose: 'publish' },
    query: publishQuery,
    body: artifactBody,
    doc: {
      id: 'publishPlugin',
      tag,
      summary: 'Publish a plugin, or a further version of it',
      description:
        'Under your own user id. The module is bound under every guest that you hold in the application, or under the one ' +
        'that `guest` names; all or none. Bytes that are the newest version already make no further one.',
      answers: {
        200: {
          description: 'a further version, or none that is new',
          schema: publishedPlugin,
          example: { ...pluginExample, isNewVersion: true },
        },
        201: {
          description: "the plugin's first version",
          schema: publishedPlugin,
          example: { ...pluginExample, isNewVersion: true },
        },
      },
      errors: [
        'not_a_guest',
        'plugin_name_taken',
        'not_wasm',
        'component_not_supported',
        'invalid_module',
        'unsupported_feature',
        'module_too_complex',
        'limit_exceeded',
        'storage_full',
      ],
    },
    beforeBody: (_parts, { admission, params, query }) => {
      authorizePublish(admission.actor, admission.access, target(params, query));
    },
    handle: async ({ context }, { admission, params, query, body }, reply) => {
      const { actor, access } = admission;
      const signal = goneSignal(reply.raw);
      const published = await publish(context, actor, access, target(params, query), body, signal);
      reply.code(published.made === 'plugin' ? 201 : 200);
      return { ...toPlugin(published), isNewVersion: published.made !== 'nothing' };
    },
  }),
  route({
    method: 'GET',
    path: artifactPath,
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    doc: {
      id: 'readPlugin',
      tag,
      summary: 'Read a plugin with its newest version',
      description: 'Members read every plugin, guests their own.',
      answers: { 200: { description: 'the plugin', schema: plugin, example: pluginExample } },
    },
    handle: async ({ context }, { admission, params }) => {
      const { actor, access } = admission;
      return toPlugin(await readPlugin(context, actor, access, params.userId, params.pluginName));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/extension-points/:extensionPointId/plugins',
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: pageQuery,
    doc: {
      id: 'listPlugins',
      tag,
      summary: "List an extension point's plugins",
      description: 'Members see every plugin, guests their own.',
      answers: { 200: { description: 'the plugins', schema: listOf(plugin), example: { objects: [pluginExample] } } },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listPlugins(context, admission.actor, admission.access, toPage(query)), toPlugin),
  }),
];

function target(
  params: { readonly userId: string; readonly pluginName: string },
  query: { readonly guest?: string | undefined },
) {
  return { userId: params.userId, name: params.pluginName, guestId: query.guest };
}
