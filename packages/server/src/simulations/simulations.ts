import { maxSimulations, newId, type Simulation, type SimulationInput, simulationNamePattern } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type ExtensionPointAccess, renewAccess } from '../auth/access.ts';
import { chargeStoredBytes, takeQuota } from '../auth/quotas.ts';
import { writeWithBlobs } from '../blobs/with-blob.ts';
import type { SimulationRecord } from '../db/simulation-records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound, type Precondition } from '../http/domain-errors.ts';
import type { JobOptions } from '../plugins/module-checker.ts';
import { contentAddressOf } from '../plugins/publish.ts';
import { type CheckedSimulation, checkSimulation } from './check-simulation.ts';

const namePattern = new RegExp(simulationNamePattern);

/** @throws DomainError `invalid_request` */
export function requireSimulationName(name: string): void {
  if (namePattern.test(name)) return;
  throw new DomainError('invalid_request', `The simulation's name does not match ${simulationNamePattern}.`);
}

/** @throws DomainError `not_found` */
export async function readSimulation(
  read: Pick<Queries, 'simulation'>,
  { extensionPoint }: ExtensionPointAccess,
  name: string,
): Promise<SimulationRecord> {
  const found = namePattern.test(name) ? await read.simulation(extensionPoint.id, name) : undefined;
  if (found === undefined) throw notFound('simulation');
  return found;
}

interface PutOptions {
  readonly jobOptions?: JobOptions | undefined;
  readonly precondition?: Precondition<SimulationRecord> | undefined;
}

export interface PutSimulation {
  readonly simulation: SimulationRecord;
  readonly isCreated: boolean;
}

/**
 * Creates or replaces a simulation. The same content changes nothing.
 *
 * @throws DomainError `invalid_request`, `invalid_field`, `limit_exceeded`, `quota_exceeded`, `rate_limited`, `precondition_failed`
 */
export async function putSimulation(
  deps: Deps,
  access: ExtensionPointAccess,
  name: string,
  input: SimulationInput,
  { jobOptions, precondition }: PutOptions = {},
): Promise<PutSimulation> {
  requireSimulationName(name);
  const { actor, app, extensionPoint } = access;
  const checked = await checkSimulation(deps, extensionPoint.schemaJson, input, jobOptions);
  const content = contentOf(checked);

  const put = async (tx: Transaction): Promise<PutSimulation> => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    const point = await tx.extensionPoint(extensionPoint.id);
    if (point === undefined) throw notFound('extension point');
    const others = await tx.simulations(point.id);
    const present = others.find((simulation) => simulation.name === name);
    if (precondition !== undefined && (present === undefined || !precondition(present))) throw changedMeanwhile();
    if (present !== undefined && isSameContent(present, content)) return { simulation: present, isCreated: false };
    if (present === undefined && others.length >= maxSimulations) {
      throw new DomainError('limit_exceeded', `An extension point has at most ${maxSimulations} simulations.`);
    }
    const addedBytes = content.bytes - (present?.bytes ?? 0);
    if (addedBytes > 0) {
      await takeQuota(deps, tx, 'app-bytes', app.id, (await tx.countPlugins(app.id)).bytes, addedBytes);
    }
    const nowMs = deps.clock();
    const simulation: SimulationRecord = {
      id: present?.id ?? newId('simulation'),
      extensionPointId: point.id,
      name,
      revision: point.simulationsRevision + 1,
      ...content,
      createdAtMs: present?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    await tx.putSimulation(simulation);
    const { revision, testModule, mockHost, bytes: size } = simulation;
    await record(deps, tx, actor, {
      action: 'simulation.put',
      appId: app.id,
      target: point,
      details: { simulation: name, revision, kind: kindOf(simulation), testModule, mockHost, size },
    });
    return { simulation, isCreated: present === undefined };
  };

  const charge = (tx: Transaction): Promise<void> => chargeStoredBytes(deps, tx, actor.userId, content.bytes);
  return writeWithBlobs(deps, modulesOf(checked), put, charge);
}

/** @throws DomainError `not_found`, `precondition_failed` */
export async function deleteSimulation(
  deps: Deps,
  access: ExtensionPointAccess,
  name: string,
  precondition?: Precondition<SimulationRecord>,
): Promise<void> {
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'changeExtensionPoints');
    const point = await tx.extensionPoint(access.extensionPoint.id);
    if (point === undefined) throw notFound('extension point');
    const present = await readSimulation(tx, access, name);
    if (precondition?.(present) === false) throw changedMeanwhile();
    const revision = point.simulationsRevision + 1;
    await tx.deleteSimulation({ extensionPointId: point.id, name, revision });
    await record(deps, tx, access.actor, {
      action: 'simulation.delete',
      appId: access.app.id,
      target: point,
      details: { simulation: name, revision },
    });
  });
}

function changedMeanwhile(): DomainError {
  return new DomainError(
    'precondition_failed',
    'The simulation has changed since it was read: "if-match" has another entity tag.',
  );
}

export function kindOf({ testModule }: Pick<SimulationRecord, 'testModule'>): Simulation['kind'] {
  return testModule === null ? 'fixtures' : 'module';
}

const contentFields = [
  'testModule',
  'testModuleSize',
  'mockHost',
  'mockHostSize',
  'mockInputBase64',
  'fixturesJson',
] as const;

type Content = Pick<SimulationRecord, (typeof contentFields)[number] | 'bytes'>;

function contentOf({ testModule, mockHost, mockInput, fixtures }: CheckedSimulation): Content {
  const fixturesJson = fixtures && JSON.stringify(fixtures);
  const sizes = [testModule, mockHost, mockInput].map((bytes) => bytes?.length ?? 0);
  return {
    testModule: testModule && contentAddressOf(testModule),
    testModuleSize: testModule?.length ?? null,
    mockHost: mockHost && contentAddressOf(mockHost),
    mockHostSize: mockHost?.length ?? null,
    mockInputBase64: mockInput && Buffer.from(mockInput).toString('base64'),
    fixturesJson,
    bytes: sizes.reduce((sum, size) => sum + size, Buffer.byteLength(fixturesJson ?? '')),
  };
}

function isSameContent(present: Content, content: Content): boolean {
  return contentFields.every((name) => present[name] === content[name]);
}

/** The modules to store, each content once. */
function modulesOf({ testModule, mockHost }: CheckedSimulation) {
  const contents = [testModule, mockHost].flatMap((bytes) =>
    bytes === null ? [] : [{ address: contentAddressOf(bytes), bytes }],
  );
  return contents.filter(({ address }, index) => contents.findIndex((one) => one.address === address) === index);
}
