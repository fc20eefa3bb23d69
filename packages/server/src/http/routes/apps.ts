import { app, appInput, appUpdate, listOf, member, memberInput, pageQuery } from '@tenon/protocol';
import { createApp, deleteApp, listApps, listMembers, putMember, removeMember, renameApp } from '../../domain/apps.ts';
import { jsonBody } from '../bodies/json-body.ts';
import { toList, toPage } from '../query.ts';
import { type Route, route } from '../route.ts';
import { toApp, toMember } from '../wire.ts';
import { appExample, example } from './examples.ts';

const tag = 'Applications';
const memberExample = { userId: example.userId, name: 'Ada', role: 'admin' as const, createdAt: example.time };

export const appRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/apps',
    access: { kind: 'user', scope: 'read' },
    query: pageQuery,
    doc: {
      id: 'listApps',
      tag,
      summary: 'List the applications that you are a member or a guest of',
      answers: { 200: { description: 'the applications', schema: listOf(app), example: { objects: [appExample] } } },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listApps(context, admission.actor, toPage(query)), toApp),
  }),
  route({
    method: 'POST',
    path: '/api/v1/apps',
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(appInput, { name: 'Acme Spreadsheet' }),
    doc: {
      id: 'createApp',
      tag,
      summary: 'Make an application, whose owner you become',
      answers: { 201: { description: 'the new application', schema: app, example: appExample } },
    },
    handle: async ({ context }, { admission, body }, reply) => {
      reply.code(201);
      return toApp(await createApp(context, admission.actor, body.name));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/apps/:appId',
    access: { kind: 'app', purpose: 'readApp' },
    doc: {
      id: 'readApp',
      tag,
      summary: 'Read an application',
      answers: { 200: { description: 'the application', schema: app, example: appExample } },
    },
    handle: (_parts, { admission }) => toApp(admission.access),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/apps/:appId',
    access: { kind: 'app', purpose: 'updateApp' },
    body: jsonBody(appUpdate, { name: 'Acme Sheets' }),
    doc: {
      id: 'updateApp',
      tag,
      summary: 'Rename an application',
      answers: { 200: { description: 'the application', schema: app, example: appExample } },
    },
    handle: async ({ context }, { admission, body }) =>
      toApp(body.name === undefined ? admission.access : await renameApp(context, admission.access, body.name)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/apps/:appId',
    access: { kind: 'app', purpose: 'deleteApp' },
    doc: {
      id: 'deleteApp',
      tag,
      summary: 'Delete an application with everything in it',
      description: 'Its extension points, guests, invitations and plugins go with it, and the tokens restricted to it.',
      answers: { 204: { description: 'it is gone' } },
    },
    handle: async ({ context }, { admission }, reply) => {
      await deleteApp(context, admission.access);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/apps/:appId/members',
    access: { kind: 'app', purpose: 'readMembers' },
    query: pageQuery,
    doc: {
      id: 'listMembers',
      tag,
      summary: "List an application's team",
      answers: { 200: { description: 'the members', schema: listOf(member), example: { objects: [memberExample] } } },
    },
    handle: async ({ context }, { admission, query }) =>
      toList(await listMembers(context, admission.access, toPage(query)), toMember),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/apps/:appId/members/:userId',
    access: { kind: 'app', purpose: 'changeMembers' },
    body: jsonBody(memberInput, { role: 'admin' }),
    doc: {
      id: 'putMember',
      tag,
      summary: 'Add a user to the team, or change a role',
      answers: { 200: { description: 'the member', schema: member, example: memberExample } },
      errors: ['conflict'],
    },
    handle: async ({ context }, { admission, params, body }) =>
      toMember(await putMember(context, admission.access, params.userId, body.role)),
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/apps/:appId/members/:userId',
    access: { kind: 'app', purpose: 'changeMembers' },
    doc: {
      id: 'removeMember',
      tag,
      summary: 'Take a user off the team',
      answers: { 204: { description: 'the user is no member any more' } },
      errors: ['conflict'],
    },
    handle: async ({ context }, { admission, params }, reply) => {
      await removeMember(context, admission.access, params.userId);
      return reply.code(204).send();
    },
  }),
];
