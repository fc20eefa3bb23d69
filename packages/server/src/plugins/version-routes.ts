import {
  plugin,
  type RollOutPlan,
  reasonInput,
  releaseChoice,
  releaseInput,
  rollOutPlanExample,
  version,
  versionChoice,
  versionDiff,
  versionDiffQuery,
  versionListQuery,
} from '@tenon/protocol';
import type { BodyReader } from '../http/bodies/body-reader.ts';
import { reserveFrom } from '../http/bodies/body-room.ts';
import { jsonBody, optionalJsonBody } from '../http/bodies/json-body.ts';
import { pluginExample, versionDiffExample, versionExample } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { disconnectSignal } from '../http/reply.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { withDryRun } from './dry-run-route.ts';
import { rollBack } from './host-control.ts';
import { artifactPath, pluginTarget } from './plugin-routes.ts';
import { toPlugin, toVersion } from './plugin-wire.ts';
import { contentRequestHeaders, contentResponses, sendContent } from './send-content.ts';
import { diffVersions, findVersionsToDiff } from './version-diff.ts';
import { decideVersion, listVersions, readVersion } from './versions.ts';

const route = routeTagged('Versions');
export const versionPath = `${artifactPath}/versions/:number` as const;

/** Not cacheable: after a plugin is deleted and published again, its version numbers start from 1. */
const contentCacheControl = 'private, no-cache';

const publishers = "For the plugin's publisher and the application's team.";

export const versionRoutes: readonly Route[] = [
  route('GET', `${artifactPath}/versions`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: versionListQuery,
    id: 'listVersions',
    summary: "List a plugin's versions, the newest first",
    description: "Members can see every plugin's versions, guests those of their own plugins.",
    responses: { 200: jsonList('the versions', version, versionExample) },
    handle: async ({ deps }, { auth, params, query }) => {
      const { actor, access } = auth;
      const found = await listVersions(deps, actor, access, pluginTarget(params), toPage(query));
      return toList(found, (one) => toVersion(one, access, deps.baseUrl(), query.maxGuests));
    },
  }),
  route('GET', versionPath, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readVersion',
    summary: 'Read a version',
    responses: { 200: json('the version', version, versionExample) },
    handle: async ({ deps }, { auth: { actor, access }, params }) => {
      const found = await readVersion(deps, actor, access, pluginTarget(params), params.number);
      return toVersion(found, access, deps.baseUrl());
    },
  }),
  route('GET', `${versionPath}/content`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readVersionContent',
    summary: "Fetch a version's bytes by its number",
    description: 'Works for a version in any state. Hosts should fetch by content address instead, which is cacheable.',
    requestHeaders: contentRequestHeaders,
    responses: contentResponses(contentCacheControl),
    errors: ['precondition_failed', 'range_not_satisfiable'],
    handle: async (services, { request, auth, params }, reply) => {
      const { actor, access } = auth;
      const found = await readVersion(services.deps, actor, access, pluginTarget(params), params.number);
      return sendContent(services, found.version.contentAddress, contentCacheControl, request, reply);
    },
  }),
  route('GET', `${versionPath}/diff`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: versionDiffQuery,
    id: 'diffVersion',
    summary: "Compare a version's module with that of another version",
    description:
      'Compares imports, exports, features, memories, sizes, functions and sections. Functions correspond by name, ' +
      'without the hash of Rust’s legacy mangling, otherwise by code and order.',
    responses: { 200: json('the differences', versionDiff, versionDiffExample) },
    errors: ['module_too_complex', 'content_damaged'],
    handle: async (services, { request, auth, params, query }, reply) => {
      const { actor, access } = auth;
      const reserve = reserveFrom(services, auth, request, reply.response);
      const jobOptions = { fairnessKey: actor.userId, signal: disconnectSignal(reply.response) };
      const versions = await findVersionsToDiff(
        services.deps,
        actor,
        access,
        pluginTarget(params),
        params.number,
        query,
      );
      return diffVersions(services, versions, reserve, jobOptions);
    },
  }),
  decisionRoute('yank', 'changePlugins', 'Divides by zero on empty ranges.', {
    id: 'yankVersion',
    summary: 'Yank a version: hosts stop getting it',
    description: `${publishers} Each of its bindings moves to the newest version that can be bound; without such a version, it is removed. Its content stays available.`,
  }),
  decisionRoute('restore', 'changePlugins', undefined, {
    id: 'restoreVersion',
    summary: 'Restore a yanked version',
    description: `${publishers} The publisher can't restore a version that the team has yanked.`,
  }),
  decisionRoute('approve', 'decideOnPlugins', undefined, {
    id: 'approveVersion',
    summary: 'Approve a version: allow its bindings',
  }),
  decisionRoute('reject', 'decideOnPlugins', 'Imports a clock, which our sheets have none of.', {
    id: 'rejectVersion',
    summary: 'Reject a version that awaits approval, permanently',
  }),
  decisionRoute('release', 'decideOnPlugins', 'Fixes the wrong totals of version 2.', {
    id: 'releaseVersion',
    summary: 'Release a version before it has the minimum age',
  }),
  withDryRun(
    route('POST', `${artifactPath}/rollback`, {
      access: { kind: 'extensionPoint', purpose: 'changePlugins' },
      body: jsonBody(versionChoice, { version: 2 }),
      id: 'rollBackPlugin',
      summary: 'Roll back to a published version',
      description:
        `${publishers} Binds the version under every guest that it was published under. A rollback ends for a guest when ` +
        'you roll back to the newest version, or publish a new one for that guest. Pinned bindings do not change.',
      responses: { 200: json('the plugin', plugin, pluginExample) },
      errors: ['conflict'],
      handle: async ({ deps }, { auth, params, body }) => {
        const { access } = auth;
        return toPlugin(await rollBack(deps, access, pluginTarget(params), body.version), access);
      },
    }),
  ),
];

/** @param reason an example of the reason, for a decision that needs one */
function decisionRoute(
  decision: 'yank' | 'restore' | 'approve' | 'reject' | 'release',
  purpose: 'changePlugins' | 'decideOnPlugins',
  reason: string | undefined,
  doc: Pick<Route, 'id' | 'summary' | 'description'>,
): Route {
  const withReason = reason === undefined ? undefined : { reason };
  const body: BodyReader<{ readonly reason?: string; readonly rollOut?: RollOutPlan | null } | undefined> =
    withReason === undefined
      ? optionalJsonBody(releaseChoice, { rollOut: rollOutPlanExample })
      : decision === 'release'
        ? jsonBody(releaseInput, withReason)
        : jsonBody(reasonInput, withReason);
  const declared = route('POST', `${versionPath}/${decision}`, {
    ...doc,
    access: { kind: 'extensionPoint', purpose },
    body,
    responses: { 200: json('the version', version, versionExample) },
    errors: [
      ...(decision === 'yank' || decision === 'reject' ? [] : (['step_up_required'] as const)),
      ...(decision === 'yank' || decision === 'reject' ? [] : (['plugin_blocked'] as const)),
      'conflict',
    ],
    handle: async ({ deps }, { auth: { access }, params, body }) => {
      const target = pluginTarget(params);
      const decided = await decideVersion(deps, access, target, params.number, decision, body?.reason, body?.rollOut);
      return toVersion(decided, access, deps.baseUrl());
    },
  });
  return withDryRun(declared);
}
