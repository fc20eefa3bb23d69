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
  load(address: string, signal: AbortSignal | undefined): Promise<WebAssembly.Module>;
  endAll(reason: ClientError): void;
}

export function createModules(settings: Settings, events: Emitter, contents: Contents): Modules {
  const memory = createLru<WebAssembly.Module>(settings.memory.maxModuleBytes);
  const flights = createFlights();

  async function compile(address: string, signal: AbortSignal): Promise<WebAssembly.Module> {
    const bytes = await contents.read(address, signal);
    let module: WebAssembly.Module;
    try {
      module = await WebAssembly.compile(bytes);
    } catch (cause) {
      throw new ClientError('invalid_module', 'This engine cannot compile the module', { cause });
    }
    memory.set(address, module, bytes.length);
    if (events.has('lookup')) events.emit('lookup', { kind: 'module', source: 'compiled', isStale: false });
    return module;
  }

  return {
    kept: (address) => memory.get(address),
    async load(address, signal) {
      if (signal?.aborted) throw aborted(signal);
      const module = memory.get(address);
      if (module === undefined) return flights.join(address, (ended) => compile(address, ended)).wait(signal);
      if (events.has('lookup')) events.emit('lookup', { kind: 'module', source: 'memory', isStale: false });
      return module;
    },
    endAll: (reason) => flights.endAll(reason),
  };
}
