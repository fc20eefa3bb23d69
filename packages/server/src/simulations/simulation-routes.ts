import {
  maxSimulationBodyBytes,
  simulation,
  simulationComparison,
  simulationInput,
  simulationTrial,
  simulationTrialInput,
  simulationTrialQuery,
  testResult,
  testResultType,
  versionDiffQuery,
} from '@tenon/protocol';
import type { BodySource } from '../http/bodies/body-reader.ts';
import { reserveFrom } from '../http/bodies/body-room.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { notFound } from '../http/domain-errors.ts';
import { disconnectSignal } from '../http/reply.ts';
import { conditionalRead, conditionalWrite, preconditionOf, sendRepresentation } from '../http/representation.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import {
  simulationComparisonExample,
  simulationExample,
  simulationInputExample,
  simulationTrialExample,
  testResultExample,
} from '../http/simulation-examples.ts';
import { artifactPath, pluginTarget } from '../plugins/plugin-routes.ts';
import { contentRequestHeaders, contentResponses, sendContent } from '../plugins/send-content.ts';
import { findVersionsToDiff } from '../plugins/version-diff.ts';
import { compareVersions } from './compare-versions.ts';
import { trySimulations } from './simulation-trial.ts';
import { toSimulation, toSimulationTrial } from './simulation-wire.ts';
import { deleteSimulation, putSimulation, readSimulation, requireSimulationName } from './simulations.ts';
import { readTestResult } from './test-result.ts';

const route = routeTagged('Simulations');

/** Modules are in the body as base64. */
const bodyBounds = ({ maxModuleBytes, maxJsonBytes }: BodySource['limits']) => ({
  maxBytes: Math.max(maxJsonBytes, Math.min(maxSimulationBodyBytes, maxModuleBytes)),
  maxValues: 100_000,
  maxDepth: 64,
});

/** A name can later stand for other bytes. */
const cacheControl = 'private, no-cache';

const list = '/api/v1/extension-points/:extensionPointId/simulations';
const one = `${list}/:name` as const;

/** A route that sends a module of a simulation. */
const moduleRoute = (path: 'test-module' | 'mock-host', id: string, summary: string): Route =>
  route('GET', `${one}/${path}`, {
    access: { kind: 'extensionPoint', purpose: 'readExtensionPoints' },
    id,
    summary,
    description: 'The entity tag is the content address.',
    requestHeaders: contentRequestHeaders,
    responses: contentResponses(cacheControl),
    errors: ['precondition_failed', 'range_not_satisfiable', 'content_damaged'],
    handle: async (services, { request, auth, params }, reply) => {
      const { testModule, mockHost } = await readSimulation(services.deps.store.read, auth.access, params.name);
      const address = path === 'test-module' ? testModule : mockHost;
      if (address === null) throw notFound('module');
      reply.header('content-disposition', `attachment; filename="${params.name}-${path}.wasm"`);
      return sendContent(services, address, cacheControl, request, reply);
    },
  });

export const simulationRoutes: readonly Route[] = [
  route('GET', list, {
    access: { kind: 'extensionPoint', purpose: 'readExtensionPoints' },
    id: 'listSimulations',
    summary: 'List the simulations of an extension point',
    description: 'By name; at most 20. For members and guests, who can run the same on their machines.',
    responses: { 200: jsonList('the simulations', simulation, simulationExample) },
    handle: async ({ deps }, { auth }) => {
      const found = await deps.store.read.simulations(auth.access.extensionPoint.id);
      return { objects: found.map(toSimulation) };
    },
  }),
  route('GET', one, {
    access: { kind: 'extensionPoint', purpose: 'readExtensionPoints' },
    id: 'readSimulation',
    summary: 'Read a simulation',
    ...conditionalRead('the simulation', simulation, simulationExample),
    handle: async ({ deps }, { request, auth, params }, reply) =>
      sendRepresentation(request, reply, toSimulation(await readSimulation(deps.store.read, auth.access, params.name))),
  }),
  route('PUT', one, {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    body: jsonBody(simulationInput, simulationInputExample, bodyBounds),
    id: 'putSimulation',
    summary: 'Create or replace a simulation',
    description:
      'It has either `fixtures`, or a test module with an optional mock host and mock input. Versions are tested against it from their next publish on. The same content changes nothing.',
    requestHeaders: conditionalWrite.requestHeaders,
    responses: {
      200: json('the simulation', simulation, simulationExample, conditionalWrite.headers),
      201: json('the new simulation', simulation, simulationExample, conditionalWrite.headers),
    },
    errors: ['invalid_request', 'limit_exceeded', 'precondition_failed', 'quota_exceeded', 'rate_limited'],
    beforeBody: (_services, { params }) => requireSimulationName(params.name),
    handle: async ({ deps }, { request, auth: { actor, access }, params, body }, reply) => {
      const put = await putSimulation(deps, access, params.name, body, {
        jobOptions: { fairnessKey: actor.userId, signal: disconnectSignal(reply.response) },
        precondition: preconditionOf(request, toSimulation),
      });
      if (put.isCreated) reply.code(201);
      return sendRepresentation(request, reply, toSimulation(put.simulation));
    },
  }),
  route('DELETE', one, {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    id: 'deleteSimulation',
    summary: 'Delete a simulation',
    requestHeaders: conditionalWrite.requestHeaders,
    responses: { 204: { description: 'deleted' } },
    errors: ['precondition_failed'],
    handle: ({ deps }, { request, auth, params }) =>
      deleteSimulation(deps, auth.access, params.name, preconditionOf(request, toSimulation)),
  }),
  route('POST', `${list}/trial`, {
    access: { kind: 'extensionPoint', purpose: 'changeExtensionPoints' },
    query: simulationTrialQuery,
    body: jsonBody(simulationTrialInput, { name: 'basics', simulation: simulationInputExample }, bodyBounds),
    id: 'trySimulations',
    summary: 'Test bound versions with simulations, or with another schema, before you set them',
    description:
      'Runs `simulation`, the stored one with the `name`, or all. A request tries some versions, for about 10 seconds; repeat it with `nextCursor` as `cursor` for the others. Changes nothing.',
    responses: { 200: json('the results', simulationTrial, simulationTrialExample) },
    errors: ['unavailable'],
    handle: async (services, { request, auth, query, body }, reply) => {
      const { actor, access } = auth;
      const jobOptions = { fairnessKey: actor.userId, signal: disconnectSignal(reply.response) };
      const reserve = reserveFrom(services, auth, request, reply.response);
      return toSimulationTrial(await trySimulations(services.deps, access, body, query.cursor, reserve, jobOptions));
    },
  }),
  route('GET', `${artifactPath}/versions/:number/comparison`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    query: versionDiffQuery,
    id: 'compareVersion',
    summary: "Compare a version's behaviour with that of another version",
    description:
      "Runs the extension point's simulations with both, by default with the newest other version that is bound. Calls correspond by export and order.",
    responses: { 200: json('the calls', simulationComparison, simulationComparisonExample) },
    errors: ['unavailable', 'content_damaged'],
    handle: async (services, { request, auth, params, query }, reply) => {
      const { deps } = services;
      const { actor, access } = auth;
      const reserve = reserveFrom(services, auth, request, reply.response);
      const versions = await findVersionsToDiff(deps, actor, access, pluginTarget(params), params.number, query);
      return compareVersions(deps, access, versions, reserve, { signal: disconnectSignal(reply.response) });
    },
  }),
  route('GET', `${artifactPath}/versions/:number/test-result`, {
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readTestResult',
    summary: "Download the result of a version's newest test",
    description:
      'An unsigned [in-toto](https://in-toto.io) statement with a test result. 404 until a test has ended. Tests that errored are left out.',
    responses: {
      200: {
        description: 'the statement',
        contentType: testResultType,
        schema: testResult,
        example: testResultExample,
      },
    },
    handle: async ({ deps, addresses }, { auth: { actor, access }, params }, reply) => {
      const target = pluginTarget(params);
      const result = await readTestResult(deps, actor, access, target, params.number, addresses.base());
      return reply
        .headers({
          'content-type': testResultType,
          'content-disposition': `attachment; filename="${params.pluginName}-${params.number}.intoto.json"`,
        })
        .send(Buffer.from(JSON.stringify(result)));
    },
  }),
  moduleRoute('test-module', 'readTestModule', "Fetch a simulation's test module"),
  moduleRoute('mock-host', 'readMockHost', "Fetch a simulation's mock host"),
];
