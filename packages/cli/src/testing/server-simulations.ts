import {
  extensionPoint as extensionPointSchema,
  type Simulation,
  simulation as simulationSchema,
} from '@tenon/protocol';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import { path } from '../api.ts';
import { readVerified } from '../download.ts';
import type { Session } from '../session.ts';

/** The simulations of an extension point, as a publish runs them. */
export interface ServerSimulations {
  readonly simulations: readonly SimulationInputs[];
  readonly schemaJson: string;
}

export async function fetchSimulations(session: Session, extensionPoint: string): Promise<ServerSimulations> {
  const place = path`/api/v1/extension-points/${extensionPoint}`;
  const [{ schema }, stored] = await Promise.all([
    session.api.get(place, extensionPointSchema),
    session.api.list(`${place}/simulations`, simulationSchema),
  ]);
  const simulations: SimulationInputs[] = [];
  for (const one of stored) simulations.push(await fetchInputs(session, place, one));
  return { simulations, schemaJson: JSON.stringify(schema) };
}

/** @param place the path of the extension point */
export async function fetchInputs(session: Session, place: string, simulation: Simulation): Promise<SimulationInputs> {
  const { name, revision, testModule, mockHost, mockInputBase64, fixtures } = simulation;
  const at = place + path`/simulations/${name}`;
  return {
    name,
    revision,
    ...(testModule !== null && { testModule: await fetchModule(session, `${at}/test-module`, testModule) }),
    ...(mockHost !== null && { mockHost: await fetchModule(session, `${at}/mock-host`, mockHost) }),
    ...(mockInputBase64 !== null && { mockInput: Uint8Array.from(Buffer.from(mockInputBase64, 'base64')) }),
    ...(fixtures !== null && { fixtures }),
  };
}

async function fetchModule(
  session: Session,
  from: string,
  { contentAddress }: { readonly contentAddress: string },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readVerified(session, await session.api.download(from), contentAddress, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}
