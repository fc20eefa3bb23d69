import { type ErrorCode, pageQuery, plugin, reasonInput, version, versionChoice } from '@tenon/protocol';
import { rollBack } from '../../domain/host-control.ts';
import { decideVersion, listVersions, readVersion } from '../../domain/versions.ts';
import { jsonBody } from '../bodies/json-body.ts';
import { toList, toPage } from '../query.ts';
import { json, jsonList, type Route, route } from '../route.ts';
import { contentAnswers, contentRequestHeaders, sendContent } from '../send-content.ts';
import { toPlugin, toVersion } from '../wire.ts';
import { pluginExample, versionExample } from './examples.ts';
import { artifactPath, pluginTarget } from './plugin-path.ts';

const tag = 'Versions';
const versionPath = `${artifactPath}/versions/:number` as const;

/** Not cacheable: after a plugin is deleted and published again, its version numbers start from 1. */
const contentCacheControl = 'private, no-cache';

const publishers = "For the plugin's publisher and the application's team.";
const decisionErrors: readonly ErrorCode[] = ['conflict'];

export const versionRoutes: readonly Route[] = [
  route('GET', `${artifactPath}/versions`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: pageQuery,
    doc: {
      id: 'listVersions',
      tag,
      summary: "List a plugin's versions, the newest first",
      description: "Members can see every plugin's versions, guests those of their own plugins.",
      answers: { 200: jsonList('the versions', version, versionExample) },
    },
    handle: async ({ context }, { admission, params, query }) => {
      const { actor, access } = admission;
      return toList(await listVersions(context, actor, access, pluginTarget(params), toPage(query)), toVersion);
    },
  }),
  route('GET', versionPath, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    doc: {
      id: 'readVersion',
      tag,
      summary: 'Read a version',
      answers: { 200: json('the version', version, versionExample) },
    },
    handle: async ({ context }, { admission, params }) =>
      toVersion(await readVersion(context, admission.actor, admission.access, pluginTarget(params), params.number)),
  }),
  route('GET', `${versionPath}/content`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    doc: {
      id: 'readVersionContent',
      tag,
      summary: "Fetch a version's bytes by its number",
      description: 'Works for a version in any state. Hosts fetch by content address, which is cacheable.',
      requestHeaders: contentRequestHeaders,
      answers: contentAnswers(contentCacheControl),
      errors: ['precondition_failed', 'range_not_satisfiable'],
    },
    handle: async (parts, { request, admission, params }, reply) => {
      const { actor, access } = admission;
      const found = await readVersion(parts.context, actor, access, pluginTarget(params), params.number);
      return sendContent(parts, found.version.contentAddress, contentCacheControl, request, reply);
    },
  }),
  route('POST', `${versionPath}/yank`, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: jsonBody(reasonInput, { reason: 'Divides by zero on empty ranges.' }),
    doc: {
      id: 'yankVersion',
      tag,
      summary: 'Yank a version: remove its bindings',
      description: `${publishers} Its bindings change to the newest version that can be bound, if there is one. Its content stays available.`,
      answers: { 200: json('the version', version, versionExample) },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      const target = pluginTarget(params);
      return toVersion(await decideVersion(context, access, target, params.number, 'yank', body.reason));
    },
  }),
  route('POST', `${versionPath}/restore`, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    doc: {
      id: 'restoreVersion',
      tag,
      summary: 'Restore a yanked version',
      description: `${publishers} The publisher can't restore a version that the team has yanked.`,
      answers: { 200: json('the version', version, versionExample) },
      errors: [...decisionErrors, 'plugin_blocked'],
    },
    handle: async ({ context }, { admission, params }) => {
      const { access } = admission;
      return toVersion(await decideVersion(context, access, pluginTarget(params), params.number, 'restore'));
    },
  }),
  route('POST', `${versionPath}/approve`, {
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    doc: {
      id: 'approveVersion',
      tag,
      summary: 'Approve a version: allow its bindings',
      answers: { 200: json('the version', version, versionExample) },
      errors: [...decisionErrors, 'plugin_blocked'],
    },
    handle: async ({ context }, { admission, params }) => {
      const { access } = admission;
      return toVersion(await decideVersion(context, access, pluginTarget(params), params.number, 'approve'));
    },
  }),
  route('POST', `${versionPath}/reject`, {
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    body: jsonBody(reasonInput, { reason: 'Imports a clock, which our sheets have none of.' }),
    doc: {
      id: 'rejectVersion',
      tag,
      summary: 'Reject a version that awaits approval, permanently',
      answers: { 200: json('the version', version, versionExample) },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      const target = pluginTarget(params);
      return toVersion(await decideVersion(context, access, target, params.number, 'reject', body.reason));
    },
  }),
  route('POST', `${artifactPath}/rollback`, {
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: jsonBody(versionChoice, { version: 2 }),
    doc: {
      id: 'rollBackPlugin',
      tag,
      summary: 'Roll back to a published version',
      description:
        `${publishers} Binds the version under every guest that it was published under. Rolling back to the newest version ends a ` +
        'rollback, and so does the next publish, for its guests. Pinned bindings do not change.',
      answers: { 200: json('the plugin', plugin, pluginExample) },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      return toPlugin(await rollBack(context, access, pluginTarget(params), body.version));
    },
  }),
];
