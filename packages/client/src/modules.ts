import type { Contents } from './contents.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter } from './events.ts';
import { createFlights } from './flights.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';

/** Compiled modules by the address of their bytes. */
export interface Modules {
  /** A module that is at hand. Tells nobody. */
  kept(address: string): WebAssembly.Module | undefined;
  /** A module that can be had without asking the server. Tells nobody. */
  loadKept(address: string): Promise<WebAssembly.Module | undefined>;
  load(address: string, signal: AbortSignal | undefined): Promise<WebAssembly.Module>;
  endAll(reason: ClientError): void;
}

export function createModules(settings: Settings, events: Emitter, contents: Contents): Modules {
  const memory = createLru<WebAssembly.Module>(settings.memory.maxModuleBytes);
  const flights = createFlights();

  const told = (source: 'memory' | 'compiled') => {
    if (events.has('lookup')) events.emit('lookup', { kind: 'module', source, isStale: false });
  };

  async function find(address: string, signal: AbortSignal): Promise<WebAssembly.Module> {
    const module = await compile(address, await contents.read(address, signal));
    told('compiled');
    return module;
  }

  async function compile(address: string, bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
    try {
      const module = await WebAssembly.compile(bytes);
      memory.set(address, module, bytes.length);
      return module;
    } catch (cause) {
      throw new ClientError('invalid_module', 'This engine cannot compile the module', { cause });
    }
  }

  return {
    kept: (address) => memory.get(address),
    async loadKept(address) {
      const module = memory.get(address);
      if (module !== undefined) return module;
      const bytes = await contents.readKept(address);
      return bytes === undefined ? undefined : compile(address, bytes);
    },
    async load(address, signal) {
      if (signal?.aborted) throw aborted(signal);
      const module = memory.get(address);
      if (module === undefined) return flights.join(address, (ended) => find(address, ended)).wait(signal);
      told('memory');
      return module;
    },
    endAll: (reason) => flights.endAll(reason),
  };
}
