import {
  approval,
  guestBinding,
  listOf,
  pageQuery,
  plugin,
  reasonInput,
  versionChoice,
  withdrawal,
} from '@tenon/protocol';
import { blockPlugin, listGuestBindings, pinBinding, unblockPlugin, unpinBinding } from '../../domain/host-control.ts';
import { listApprovals } from '../../domain/versions.ts';
import { endWithdrawal, listWithdrawals } from '../../domain/withdrawals.ts';
import { jsonBody } from '../bodies/json-body.ts';
import { toList, toPage } from '../query.ts';
import { type Route, route } from '../route.ts';
import { toApproval, toGuestBinding, toPlugin, toWithdrawal } from '../wire.ts';
import { approvalExample, guestBindingExample, pluginExample, withdrawalExample } from './examples.ts';
import { artifactPath, pluginTarget } from './plugin-path.ts';

const tag = "The host's control";
const guestPath = '/api/v1/extension-points/:extensionPointId/guests/:guestId';
const withdrawalsPath = '/api/v1/extension-points/:extensionPointId/withdrawals';

export const hostControlRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: `${artifactPath}/block`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    body: jsonBody(reasonInput, { reason: 'Sends what it reads to a third party.' }),
    doc: {
      id: 'blockPlugin',
      tag,
      summary: 'Block a plugin: it is bound nowhere and takes no version',
      description: 'A second time replaces the reason.',
      answers: { 200: { description: 'the plugin', schema: plugin, example: pluginExample } },
    },
    handle: async ({ context }, { admission, params, body }) =>
      toPlugin(await blockPlugin(context, admission.access, pluginTarget(params), body.reason)),
  }),
  route({
    method: 'DELETE',
    path: `${artifactPath}/block`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    doc: {
      id: 'unblockPlugin',
      tag,
      summary: 'Take a block back: what was bound before is bound again',
      answers: { 204: { description: 'it is blocked no more' } },
    },
    handle: async ({ context }, { admission, params }, reply) => {
      await unblockPlugin(context, admission.access, pluginTarget(params));
      return reply.code(204).send();
    },
  }),
  route({
    method: 'PUT',
    path: `${guestPath}/pins/:pluginName`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    body: jsonBody(versionChoice, { version: 2 }),
    doc: {
      id: 'pinBinding',
      tag,
      summary: 'Hold what is bound under a guest at one version',
      description:
        'Until it is taken back, whatever is published or rolled back. When that version is yanked, nothing is bound.',
      answers: { 200: { description: 'the binding', schema: guestBinding, example: guestBindingExample } },
      errors: ['conflict'],
    },
    handle: async ({ context }, { admission, params, body }) => {
      const target = { guestId: params.guestId, name: params.pluginName };
      return toGuestBinding(await pinBinding(context, admission.access, target, body.version));
    },
  }),
  route({
    method: 'DELETE',
    path: `${guestPath}/pins/:pluginName`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    doc: {
      id: 'unpinBinding',
      tag,
      summary: 'Take a pin back: the binding follows the publisher again',
      answers: { 204: { description: 'it is pinned no more' } },
    },
    handle: async ({ context }, { admission, params }, reply) => {
      await unpinBinding(context, admission.access, { guestId: params.guestId, name: params.pluginName });
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: `${guestPath}/bindings`,
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    query: pageQuery,
    doc: {
      id: 'listGuestBindings',
      tag,
      summary: "List a guest's plugins with what is bound of each, and why",
      description: "For the team's own eyes; hosts read the guest key's binding list.",
      answers: {
        200: {
          description: 'the plugins by name, those that are bound to nothing too',
          schema: listOf(guestBinding),
          example: { objects: [guestBindingExample] },
        },
      },
    },
    handle: async ({ context }, { admission, params, query }) =>
      toList(await listGuestBindings(context, admission.access, params.guestId, toPage(query)), toGuestBinding),
  }),
  route({
    method: 'GET',
    path: withdrawalsPath,
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    query: pageQuery,
    doc: {
      id: 'listWithdrawals',
      tag,
      summary: 'List the bytes that deleted plugins left withdrawn',
      description:
        'What the team yanked, rejected or blocked stays withdrawn from its publisher when the plugin is deleted, under every name.',
      answers: {
        200: {
          description: 'the bytes, by publisher and content address',
          schema: listOf(withdrawal),
          example: { objects: [withdrawalExample] },
        },
      },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listWithdrawals(context, admission.access, toPage(query)), toWithdrawal),
  }),
  route({
    method: 'DELETE',
    path: `${withdrawalsPath}/:userId/:contentAddress`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    doc: {
      id: 'endWithdrawal',
      tag,
      summary: 'Let a publisher publish withdrawn bytes again',
      answers: { 204: { description: 'they can be published again' } },
    },
    handle: async ({ context }, { admission, params }, reply) => {
      await endWithdrawal(context, admission.access, params);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/apps/:appId/approvals',
    access: { kind: 'app', purpose: 'readBindings' },
    query: pageQuery,
    doc: {
      id: 'listApprovals',
      tag,
      summary: 'List the versions that await approval, the oldest first',
      answers: {
        200: { description: 'the versions', schema: listOf(approval), example: { objects: [approvalExample] } },
      },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listApprovals(context, admission.access, toPage(query)), toApproval),
  }),
];
