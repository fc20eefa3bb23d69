import { type ErrorCode, listOf, pageQuery, plugin, reasonInput, version, versionChoice } from '@tenon/protocol';
import { rollBack } from '../../domain/host-control.ts';
import { decideVersion, listVersions, readVersion } from '../../domain/versions.ts';
import { jsonBody } from '../bodies/json-body.ts';
import { toList, toPage } from '../query.ts';
import { type Route, route } from '../route.ts';
import { contentAnswers, contentRequestHeaders, sendContent } from '../send-content.ts';
import { toPlugin, toVersion } from '../wire.ts';
import { pluginExample, versionExample } from './examples.ts';
import { artifactPath, pluginTarget } from './plugin-path.ts';

const tag = 'Versions';
const versionPath = `${artifactPath}/versions/:number` as const;

/** A plugin that was deleted and published anew numbers its versions from 1 again. */
const contentCacheControl = 'private, no-cache';

const publishers = "By the plugin's publisher or the application's team.";
const decisionErrors: readonly ErrorCode[] = ['conflict'];

export const versionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${artifactPath}/versions`,
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: pageQuery,
    doc: {
      id: 'listVersions',
      tag,
      summary: "List a plugin's versions, the newest first",
      description: "Members see every plugin's, guests their own.",
      answers: {
        200: { description: 'the versions', schema: listOf(version), example: { objects: [versionExample] } },
      },
    },
    handle: async ({ context }, { admission, params, query }) => {
      const { actor, access } = admission;
      return toList(await listVersions(context, actor, access, pluginTarget(params), toPage(query)), toVersion);
    },
  }),
  route({
    method: 'GET',
    path: versionPath,
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    doc: {
      id: 'readVersion',
      tag,
      summary: 'Read a version',
      answers: { 200: { description: 'the version', schema: version, example: versionExample } },
    },
    handle: async ({ context }, { admission, params }) =>
      toVersion(await readVersion(context, admission.actor, admission.access, pluginTarget(params), params.number)),
  }),
  route({
    method: 'GET',
    path: `${versionPath}/content`,
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    doc: {
      id: 'readVersionContent',
      tag,
      summary: "Fetch a version's bytes by its number",
      description: 'Whatever its state is. Hosts fetch by address, which they may cache.',
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
  route({
    method: 'POST',
    path: `${versionPath}/yank`,
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: jsonBody(reasonInput, { reason: 'Divides by zero on empty ranges.' }),
    doc: {
      id: 'yankVersion',
      tag,
      summary: 'Take a version back: it is bound nowhere',
      description: `${publishers} What was bound to it falls back to the newest good version, or goes. Its content is still served.`,
      answers: { 200: { description: 'the version', schema: version, example: versionExample } },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      const target = pluginTarget(params);
      return toVersion(await decideVersion(context, access, target, params.number, 'yank', body.reason));
    },
  }),
  route({
    method: 'POST',
    path: `${versionPath}/restore`,
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    doc: {
      id: 'restoreVersion',
      tag,
      summary: 'Take a yank back',
      description: `${publishers} What the team has yanked, the publisher can't restore.`,
      answers: { 200: { description: 'the version', schema: version, example: versionExample } },
      errors: [...decisionErrors, 'plugin_blocked'],
    },
    handle: async ({ context }, { admission, params }) => {
      const { access } = admission;
      return toVersion(await decideVersion(context, access, pluginTarget(params), params.number, 'restore'));
    },
  }),
  route({
    method: 'POST',
    path: `${versionPath}/approve`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    doc: {
      id: 'approveVersion',
      tag,
      summary: 'Let a version that awaits approval be bound',
      answers: { 200: { description: 'the version', schema: version, example: versionExample } },
      errors: [...decisionErrors, 'plugin_blocked'],
    },
    handle: async ({ context }, { admission, params }) => {
      const { access } = admission;
      return toVersion(await decideVersion(context, access, pluginTarget(params), params.number, 'approve'));
    },
  }),
  route({
    method: 'POST',
    path: `${versionPath}/reject`,
    access: { kind: 'extensionPoint', purpose: 'decideOnPlugins' },
    body: jsonBody(reasonInput, { reason: 'Imports a clock, which our sheets have none of.' }),
    doc: {
      id: 'rejectVersion',
      tag,
      summary: 'Refuse a version that awaits approval, for good',
      answers: { 200: { description: 'the version', schema: version, example: versionExample } },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      const target = pluginTarget(params);
      return toVersion(await decideVersion(context, access, target, params.number, 'reject', body.reason));
    },
  }),
  route({
    method: 'POST',
    path: `${artifactPath}/rollback`,
    access: { kind: 'extensionPoint', purpose: 'changePlugins' },
    body: jsonBody(versionChoice, { version: 2 }),
    doc: {
      id: 'rollBackPlugin',
      tag,
      summary: 'Bind a version that is published already',
      description:
        `${publishers} Under every guest that it was published under. To the newest, it ends a roll back, as the next ` +
        'publish does for its guests. What the team has pinned stays.',
      answers: { 200: { description: 'the plugin', schema: plugin, example: pluginExample } },
      errors: decisionErrors,
    },
    handle: async ({ context }, { admission, params, body }) => {
      const { access } = admission;
      return toPlugin(await rollBack(context, access, pluginTarget(params), body.version));
    },
  }),
];
