import {
  approval,
  approvalListQuery,
  blockedPublisher,
  guestBinding,
  guestBindingListQuery,
  pageQuery,
  plugin,
  reasonInput,
  versionChoice,
  withdrawal,
} from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import {
  approvalExample,
  blockedPublisherExample,
  guestBindingExample,
  pluginExample,
  withdrawalExample,
} from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { blockPublisher, listBlockedPublishers, unblockPublisher } from './blocked-publishers.ts';
import { withDryRun } from './dry-run-route.ts';
import { blockPlugin, listGuestBindings, pinBinding, unblockPlugin, unpinBinding } from './host-control.ts';
import { artifactPath, pluginTarget } from './plugin-routes.ts';
import { toApproval, toBlockedPublisher, toGuestBinding, toPlugin, toWithdrawal } from './plugin-wire.ts';
import { listApprovals } from './versions.ts';
import { endWithdrawal, listWithdrawals } from './withdrawals.ts';

const route = routeTagged('Team control');
const guestPath = '/api/v1/extension-points/:extensionPointId/guests/:guestId';
const publisherPath = '/api/v1/apps/:appId/publishers/:userId/block';
const withdrawalsPath = '/api/v1/extension-points/:extensionPointId/withdrawals';

export const hostControlRoutes: readonly Route[] = [
  withDryRun(
    route('PUT', `${artifactPath}/block`, {
      access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
      body: jsonBody(reasonInput, { reason: 'Sends what it reads to a third party.' }),
      id: 'blockPlugin',
      summary: 'Block a plugin: remove its bindings and reject new versions',
      description:
        'A repeated request replaces the reason. A browser session may block before step-up: the block is then marked as unconfirmed until the request is repeated after it.',
      responses: { 200: json('the plugin', plugin, pluginExample) },
      handle: async ({ deps }, { auth, params, body }) =>
        toPlugin(await blockPlugin(deps, auth.access, pluginTarget(params), body.reason), auth.access),
    }),
  ),
  withDryRun(
    route('DELETE', `${artifactPath}/block`, {
      access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
      id: 'unblockPlugin',
      summary: 'Unblock a plugin and restore its bindings',
      responses: { 204: { description: 'unblocked' } },
      errors: ['step_up_required'],
      handle: ({ deps }, { auth, params }) => unblockPlugin(deps, auth.access, pluginTarget(params)),
    }),
  ),
  withDryRun(
    route('PUT', `${guestPath}/pins/:pluginName`, {
      access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
      body: jsonBody(versionChoice, { version: 2 }),
      id: 'pinBinding',
      summary: "Pin a guest's binding to one version",
      description:
        'Publishing and rolling back do not change a pinned binding. If the pinned version is yanked, nothing is bound.',
      responses: { 200: json('the binding', guestBinding, guestBindingExample) },
      errors: ['conflict'],
      handle: async ({ deps }, { auth, params, body }) => {
        const target = { guestId: params.guestId, name: params.pluginName };
        return toGuestBinding(await pinBinding(deps, auth.access, target, body.version));
      },
    }),
  ),
  withDryRun(
    route('DELETE', `${guestPath}/pins/:pluginName`, {
      access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
      id: 'unpinBinding',
      summary: 'Unpin a binding: it follows the publisher again',
      responses: { 204: { description: 'unpinned' } },
      handle: ({ deps }, { auth, params }) =>
        unpinBinding(deps, auth.access, { guestId: params.guestId, name: params.pluginName }),
    }),
  ),
  route('GET', '/api/v1/apps/:appId/guests/:guestId/bindings', {
    access: { kind: 'app', purpose: 'readBindings' },
    query: guestBindingListQuery,
    id: 'listGuestBindings',
    summary: "List a guest's plugins at all extension points, with the bound version of each",
    description: "For the application's team. Hosts should fetch the binding list of the guest key instead.",
    responses: {
      200: jsonList(
        'the plugins by extension point and name, including those without a bound version',
        guestBinding,
        guestBindingExample,
      ),
    },
    handle: async ({ deps }, { auth, params, query }) =>
      toList(await listGuestBindings(deps, auth.access, params.guestId, toPage(query), query.q), toGuestBinding),
  }),
  route('GET', withdrawalsPath, {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    query: pageQuery,
    id: 'listWithdrawals',
    summary: 'List the withdrawn contents of deleted plugins',
    description:
      'Contents that the team yanked, rejected, or blocked stay withdrawn after the plugin is deleted: their publisher cannot publish them again, under any name.',
    responses: { 200: jsonList('the contents, by publisher and content address', withdrawal, withdrawalExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listWithdrawals(deps, auth.access, toPage(query)), toWithdrawal),
  }),
  route('DELETE', `${withdrawalsPath}/:userId/:contentAddress`, {
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    id: 'endWithdrawal',
    summary: 'Let a publisher publish a withdrawn content again',
    responses: { 204: { description: 'the withdrawal is ended' } },
    errors: ['step_up_required'],
    handle: ({ deps }, { auth, params }) => endWithdrawal(deps, auth.access, params),
  }),
  route('GET', '/api/v1/apps/:appId/approvals', {
    access: { kind: 'app', purpose: 'readBindings' },
    query: approvalListQuery,
    id: 'listApprovals',
    summary: 'List the versions that await approval, the oldest first',
    responses: { 200: jsonList('the versions', approval, approvalExample) },
    handle: async ({ deps }, { auth: { access }, query }) =>
      toList(await listApprovals(deps, access, toPage(query), query.q), (one) =>
        toApproval(one, access, deps.baseUrl(), query.maxGuests),
      ),
  }),
  route('GET', '/api/v1/apps/:appId/blocked-publishers', {
    access: { kind: 'app', purpose: 'readBindings' },
    query: pageQuery,
    id: 'listBlockedPublishers',
    summary: 'List the publishers that the team has blocked',
    responses: { 200: jsonList('the publishers, by user id', blockedPublisher, blockedPublisherExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listBlockedPublishers(deps, auth.access, toPage(query)), toBlockedPublisher),
  }),
  withDryRun(
    route('PUT', publisherPath, {
      access: { kind: 'app', purpose: 'decideOnPlugins' },
      body: jsonBody(reasonInput, { reason: 'The account was taken over.' }),
      id: 'blockPublisher',
      summary: 'Block a publisher: remove the bindings of all their plugins and reject new versions',
      description: 'For all extension points of the application. A repeated request replaces the reason.',
      responses: { 200: json('the blocked publisher', blockedPublisher, blockedPublisherExample) },
      handle: async ({ deps }, { auth, params, body }) =>
        toBlockedPublisher(await blockPublisher(deps, auth.access, params.userId, body.reason)),
    }),
  ),
  withDryRun(
    route('DELETE', publisherPath, {
      access: { kind: 'app', purpose: 'decideOnPlugins' },
      id: 'unblockPublisher',
      summary: 'Unblock a publisher and restore the bindings of their plugins',
      responses: { 204: { description: 'unblocked' } },
      errors: ['step_up_required'],
      handle: ({ deps }, { auth, params }) => unblockPublisher(deps, auth.access, params.userId),
    }),
  ),
];
