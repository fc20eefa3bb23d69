import type { Simulation, SimulationInput } from '@tenon/protocol';
import type { ApiClient } from '../../api/client.ts';
import { saveBlob } from '../../api/save-blob.ts';
import { fixturesText } from '../../components/fixtures-editor/example-fixtures.ts';

/** The path of a simulation in the API. */
export function simulationApiPath(extensionPointPath: string, name: string): string {
  return `${extensionPointPath}/simulations/${encodeURIComponent(name)}`;
}

/** The modules of a simulation that are stored, and the last segment of their path in the API. */
export type ModulePart = 'test-module' | 'mock-host';

/** Has the browser save a module of a simulation. */
export async function saveModule(api: ApiClient, apiPath: string, { name }: Simulation, part: ModulePart) {
  saveBlob(await fetchModule(api, apiPath, part), `${name}${part === 'mock-host' ? '-mock-host' : ''}.wasm`);
}

/** Has the browser save fixtures, as the editor and the command line read them. */
export function saveFixtures({ name, fixtures }: Simulation): void {
  saveBlob(new Blob([fixturesText(fixtures ?? [])], { type: 'application/json' }), `${name}.json`);
}

async function fetchModule(api: ApiClient, apiPath: string, part: ModulePart): Promise<Blob> {
  return (await api.send('GET', `${apiPath}/${part}`, { headers: { accept: 'application/wasm' } })).blob();
}

/** A module to send: one that was chosen, the stored one, or none. */
export type ModuleChoice = Blob | 'stored' | undefined;

/** What a simulation is replaced with. */
export interface ModulesDraft {
  readonly testModule: ModuleChoice;
  readonly mockHost: ModuleChoice;
  /** A text, bytes in Base64, or nothing. */
  readonly mockInput: SimulationInput['mockInput'];
}

/** Reads the modules of a draft. The server replaces simulations as a whole, so stored modules are sent again. */
export async function inputOf(api: ApiClient, apiPath: string, draft: ModulesDraft): Promise<SimulationInput> {
  const read = async (choice: ModuleChoice, part: ModulePart): Promise<string | undefined> => {
    if (choice === undefined) return undefined;
    return toBase64(choice === 'stored' ? await fetchModule(api, apiPath, part) : choice);
  };
  const [testModuleBase64, mockHostBase64] = await Promise.all([
    read(draft.testModule, 'test-module'),
    read(draft.mockHost, 'mock-host'),
  ]);
  return {
    ...(testModuleBase64 === undefined ? {} : { testModuleBase64 }),
    ...(mockHostBase64 === undefined ? {} : { mockHostBase64 }),
    ...(draft.mockInput === undefined ? {} : { mockInput: draft.mockInput }),
  };
}

/** Bytes in Base64. The browser encodes them, without a string for each byte. */
export function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read'));
    reader.readAsDataURL(blob);
  });
}
