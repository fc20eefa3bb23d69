import {
  promotionInput,
  type RollOut,
  reasonInput,
  rollOut,
  rollOutListQuery,
  rollOutPlanExample,
} from '@tenon/protocol';
import { isMember } from '../../auth/access.ts';
import { jsonBody, optionalJsonBody } from '../../http/bodies/json-body.ts';
import { example } from '../../http/examples.ts';
import { toList, toPage } from '../../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../../http/route.ts';
import { withDryRun } from '../dry-run-route.ts';
import { pluginTarget } from '../plugin-routes.ts';
import { versionPath } from '../version-routes.ts';
import { toRollOut } from './roll-out-wire.ts';
import { decideRollOut, listRollOuts, readRollOut } from './roll-outs.ts';

const route = routeTagged('Roll-outs');

const path = `${versionPath}/roll-out` as const;

const rollOutExample: RollOut = {
  pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
  version: 3,
  semver: '1.2.0',
  versionId: example.versionId,
  previousVersion: 2,
  state: 'running',
  step: 1,
  steps: 3,
  percent: 10,
  reason: null,
  plan: rollOutPlanExample,
  reachedGuests: 104,
  totalGuests: 1000,
  startedAt: example.time,
  stepAt: example.time,
  nextStepAt: null,
  waitsForReports: { calls: 3, minCalls: 20 },
  endedAt: null,
};

const responses = { 200: json('the roll-out', rollOut, rollOutExample) };

const decisionAccess = { kind: 'extensionPoint', purpose: 'decideOnPlugins' } as const;

export const rollOutRoutes: readonly Route[] = [
  route('GET', path, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readRollOut',
    summary: 'Read the roll-out of a version',
    description: 'Members can read every roll-out, guests those of their own plugins, without the plan.',
    responses,
    handle: async ({ deps }, { auth: { actor, access }, params }) =>
      toRollOut(await readRollOut(deps, actor, access, pluginTarget(params), params.number), isMember(access)),
  }),
  withDryRun(
    route('POST', `${path}/pause`, {
      access: decisionAccess,
      id: 'pauseRollOut',
      summary: 'Pause a roll-out: its guests keep the version, and no more get it',
      responses,
      errors: ['conflict'],
      handle: async ({ deps }, { auth: { access }, params }) => {
        const decision = { action: 'pause' } as const;
        return toRollOut(await decideRollOut(deps, access, pluginTarget(params), params.number, decision), true);
      },
    }),
  ),
  withDryRun(
    route('POST', `${path}/resume`, {
      access: decisionAccess,
      id: 'resumeRollOut',
      summary: 'Resume a paused or halted roll-out: its step starts again',
      responses,
      errors: ['conflict', 'step_up_required'],
      handle: async ({ deps }, { auth: { access }, params }) => {
        const decision = { action: 'resume' } as const;
        return toRollOut(await decideRollOut(deps, access, pluginTarget(params), params.number, decision), true);
      },
    }),
  ),
  withDryRun(
    route('POST', `${path}/promote`, {
      access: decisionAccess,
      body: optionalJsonBody(promotionInput, { full: false, step: 1 }),
      id: 'promoteRollOut',
      summary: 'Move a roll-out to its next step, or to all guests',
      responses,
      errors: ['conflict', 'step_up_required'],
      handle: async ({ deps }, { auth: { access }, params, body }) => {
        const decision = { action: 'promote', isFull: body?.full ?? false, step: body?.step } as const;
        return toRollOut(await decideRollOut(deps, access, pluginTarget(params), params.number, decision), true);
      },
    }),
  ),
  withDryRun(
    route('POST', `${path}/abort`, {
      access: decisionAccess,
      body: jsonBody(reasonInput, { reason: 'Fails for half of the calls.' }),
      id: 'abortRollOut',
      summary: 'Abort a roll-out: yank the version',
      responses,
      errors: ['conflict'],
      handle: async ({ deps }, { auth: { access }, params, body }) => {
        const decision = { action: 'abort', reason: body.reason } as const;
        return toRollOut(await decideRollOut(deps, access, pluginTarget(params), params.number, decision), true);
      },
    }),
  ),
  route('GET', '/api/v1/apps/:appId/roll-outs', {
    access: { kind: 'app', purpose: 'readBindings' },
    query: rollOutListQuery,
    id: 'listRollOuts',
    summary: "List an application's roll-outs, the newest versions first",
    description: 'A page has at most 50 entries.',
    responses: { 200: jsonList('the roll-outs', rollOut, rollOutExample) },
    handle: async ({ deps }, { auth, query }) => {
      const found = await listRollOuts(deps, auth.access, toPage(query), query.state);
      return toList(found, (one) => toRollOut(one, true));
    },
  }),
];
