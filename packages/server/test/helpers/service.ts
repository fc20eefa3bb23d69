import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Problem, problem, type TokenScope, type UserId } from '@tenon/protocol';
import inject, { type InjectOptions, type Response as LightMyRequestResponse } from 'light-my-request';
import { pino } from 'pino';
import { type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { raisedQuotas } from '../../../../test/helpers/raised-quotas.ts';
import { type App, createApp } from '../../src/app.ts';
import { issueApiKey, issueToken } from '../../src/auth/tokens.ts';
import { createUser } from '../../src/auth/users.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import type { Store } from '../../src/db/store.ts';
import type { Deps } from '../../src/deps.ts';
import { createRequestLimits } from '../../src/http/limits/request-limits.ts';
import type { Route } from '../../src/http/route.ts';
import type { Router } from '../../src/http/router.ts';
import { createModuleWorkers, type ModuleWorkers } from '../../src/instrument/module-workers.ts';
import { createServices, openData } from '../../src/open-services.ts';
import { allRoutes } from '../../src/routes.ts';
import type { Services } from '../../src/services.ts';
import { createSimulationRuns, type SimulationRuns } from '../../src/simulations/simulation-runs.ts';
import type { Simulator } from '../../src/simulations/simulator.ts';
import { cheapCost } from './account-services.ts';
import { placeMigratedDatabase } from './migrated-database.ts';

/** A user with a token that has all scopes. */
export interface TestUser {
  readonly id: UserId;
  readonly token: string;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly json?: unknown;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For an answer that has no end: reads its beginning, and goes. */
  readonly isEndless?: boolean;
}

export interface TestService {
  readonly app: App;
  readonly services: Services;
  readonly simulationRuns: SimulationRuns;
  /** The store below the one that demands a row in the audit trail: to set a stage, or to change something behind everybody's back. */
  readonly store: Store;
  readonly dataDir: string;
  /** What was logged, a line each. */
  readonly logged: readonly string[];
  /** Moves the clock. Time that limits count by only goes on. */
  advance(ms: number): void;
  user(name?: string): Promise<TestUser>;
  token(userId: UserId, fields?: { scopes?: TokenScope[]; appId?: string; lifetimeMs?: number }): Promise<string>;
  apiKey(userId: UserId): Promise<string>;
  call(method: string, path: string, options?: CallOptions): Promise<LightMyRequestResponse>;
  /** Listens on a free port of this machine; the URL without a slash at its end. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly config?: Partial<Config>;
  /** Replaces parts, to see what the HTTP side makes of their failures. */
  readonly replace?: (services: Services) => Partial<Services>;
  /** Replaces the simulator. */
  readonly simulator?: Pick<Simulator, 'run'>;
}

/** Services with other settings of these have workers of their own. */
const workerSettings = /^module|^trustedRoots$/;
let checker: ModuleWorkers | undefined;

/** Checks the modules of all services of the process: to start a worker takes longer than most tests. */
function checkerOf(config: Config): ModuleWorkers {
  checker ??= createModuleWorkers({ ...config, moduleWorkers: 1 });
  return checker;
}

/** The real service on a folder of its own: real stores, real workers, nothing listens yet. */
export async function openService({ config: changes, replace, simulator }: ServiceOptions = {}): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tenon-http-'));
  await placeMigratedDatabase(dataDir);
  const defaults = loadConfig({ dataDir, port: '0', logLevel: 'debug', quotas: raisedQuotas }, {});
  const config: Config = { ...defaults, moduleWorkers: 1, passwordThreads: 1, createApps: 'all', ...changes };
  const data = await openData(config, cheapCost);
  let aheadMs = 0;
  const clock = (): number => Date.now() + aheadMs;
  let monotonicAheadMs = 0;
  const monotonicClock = (): number => Date.now() + monotonicAheadMs; // `advance` may set the clock back, and not this one
  const allowances = createRequestLimits(config, monotonicClock);
  const logged: string[] = [];
  const log = pino({ level: config.logLevel, base: {} }, { write: (line: string) => void logged.push(line) });
  const replaced = {
    ...(!Object.keys(changes ?? {}).some((name) => workerSettings.test(name)) && { checker: checkerOf(defaults) }),
    ...(simulator && { simulator: { ...data.deps.simulator, ...simulator } }),
  };
  const bound = { base: 'http://localhost:8366' };
  const base = (): string => config.publicUrl ?? bound.base;
  const untested = { ...data.deps, baseUrl: base, clock, rates: allowances.rates, ...replaced };
  const simulationRuns = createSimulationRuns(untested, log);
  const deps: Deps = { ...untested, tester: simulationRuns };
  const addresses = { base, instrument: () => config.instrumentUrl ?? base() };
  const made = createServices(config, { ...data, deps, limits: allowances, monotonicClock }, addresses, log);
  const services = { ...made, ...replace?.(made) };
  const app = createApp(services);

  const token: TestService['token'] = async (userId, fields = {}) => {
    const { scopes = ['read', 'publish', 'manage'], appId = null, lifetimeMs = 3_600_000 } = fields;
    const expiresAtMs = deps.clock() + lifetimeMs;
    const issued = await issueToken(deps, userId, { name: 'test', scopes, appId: appId as never, expiresAtMs });
    return issued.secret;
  };
  return {
    app,
    services,
    simulationRuns,
    store: unaudited(deps.store),
    dataDir,
    logged,
    advance(ms) {
      aheadMs += ms;
      monotonicAheadMs += Math.max(0, ms);
    },
    async user(name = 'A user') {
      const { id } = await createUser(deps, { name, email: null });
      return { id, token: await token(id) };
    },
    token,
    apiKey: async (userId) => (await issueApiKey(deps, userId, 'test')).secret,
    call: async (method, path, options = {}) => {
      const { token: bearer, json, body, headers, isEndless = false } = options;
      const request: InjectOptions = {
        method: method as 'GET',
        url: path,
        headers: {
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? (body === undefined ? {} : { payload: body }) : { payload: JSON.stringify(json) }),
      };
      if (isEndless) return beginningOf(app, request);
      const response = await inject(app.listener, request);
      checkAnswer(app, method, path, response);
      return response;
    },
    async listen() {
      bound.base = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`;
      return bound.base;
    },
    async close() {
      await app.close();
      await simulationRuns.stop();
      await data.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** An answer with the first of what comes of its body. */
async function beginningOf(app: App, request: InjectOptions): Promise<LightMyRequestResponse> {
  const response = await inject(app.listener, { ...request, payloadAsStream: true });
  const stream = response.stream();
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    break;
  }
  const payload = Buffer.concat(chunks).toString();
  return Object.assign(response, { payload, json: () => JSON.parse(payload) });
}

const isProblem = Compile(problem);
const schemas = new Map(allRoutes.flatMap((route) => [...answersOf(route)]));
const anything: TSchema = {};
const validators = new Map<TSchema, Validator>();

/** Holds every JSON answer to the schema that the description of the interface gives for it. */
function checkAnswer({ router }: App, method: string, target: string, response: LightMyRequestResponse): void {
  const { statusCode: status, payload: text } = response;
  if (response.headers['content-encoding'] !== undefined) return; // its bytes are compared with those without
  if (text === '' || method === 'HEAD') return;
  const contentType = String(response.headers['content-type'] ?? '');
  const template = templateOf(router, method, target);
  const where = `${method} ${template} → ${status}`;
  if (contentType.startsWith('application/problem+json')) {
    assert.ok(isProblem.Check(JSON.parse(text)), `${where}: no problem document: ${text}`);
  } else if (contentType.startsWith('application/json')) {
    const schema =
      status < 400
        ? schemas.get(`${method} ${template} ${status}`)
        : (router.pathInfo(target)?.errorFormat?.schema ?? anything);
    assert.ok(schema !== undefined, `${where}: not described`);
    const validator = validatorOf(schema);
    const value: unknown = JSON.parse(text);
    assert.ok(validator.Check(value), `${where}: ${JSON.stringify(validator.Errors(value))} in ${text}`);
  } else if (status >= 400) {
    assert.match(contentType, /^text\/html/, `${where}: an error that is neither a problem document nor a page`);
  }
}

function templateOf(router: Router, method: string, target: string): string | undefined {
  try {
    return router.find(method, target)?.endpoint.route.path;
  } catch {
    return undefined; // a path that can't be decoded
  }
}

function* answersOf({ method, path, responses }: Route): Iterable<[string, TSchema]> {
  for (const [status, answer] of Object.entries(responses)) {
    const schema = answer.schema ?? answer.orJson?.schema;
    if (schema !== undefined) yield [`${method} ${path} ${status}`, schema];
  }
}

/** To compile a schema takes longer than most calls. */
function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(closed(schema));
  validators.set(schema, validator);
  return validator;
}

/** The schema without room for members that it doesn't name: those would be secrets that slip out. */
function closed(schema: TSchema): TSchema {
  const { type, properties, additionalProperties, anyOf } = schema as {
    type?: string;
    anyOf?: TSchema[];
    properties?: object;
    additionalProperties?: unknown;
  };
  if (anyOf !== undefined) return Type.Unsafe({ ...schema, anyOf: anyOf.map(closed) });
  if (type !== 'object' || properties === undefined || additionalProperties !== undefined) return schema;
  return Type.Unsafe({ ...schema, additionalProperties: false });
}

/** The problem document of an answer, which must be one with the code. */
export function assertProblem(response: LightMyRequestResponse, status: number, code: string): Problem {
  assert.equal(response.statusCode, status, response.payload);
  assert.match(String(response.headers['content-type']), /^application\/problem\+json/);
  assert.equal(response.headers['cache-control'], 'no-store');
  const found = response.json<Problem>();
  assert.equal(found.code, code, response.payload);
  assert.equal(found.status, status);
  return found;
}

/** What tests change without a use case leaves no audit event. */
function unaudited(store: Store): Store {
  return {
    ...store,
    write: (work) =>
      store.write(async (tx) => {
        const result = await work(tx);
        tx.effects.recorded.push('app.update');
        return result;
      }),
  };
}
