import type { Contents } from './contents.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter } from './events.ts';
import { createLru } from './lru.ts';
import type { Settings, Transform } from './options.ts';
import { createSingleflight } from './singleflight.ts';

export type Modules = ReturnType<typeof createModules>;

/** Compiled modules by their content address. */
export function createModules(settings: Settings, events: Emitter, contents: Contents) {
  const memory = createLru<WebAssembly.Module>(settings.memory.maxModuleBytes);
  const singleflight = createSingleflight();

  const emitLookup = (source: 'memory' | 'compiled') => {
    if (events.has('lookup')) events.emit('lookup', { kind: 'module', source, isStale: false });
  };

  async function find(address: string, signal: AbortSignal): Promise<WebAssembly.Module> {
    const module = await compile(address, await contents.read(address, signal));
    emitLookup('compiled');
    return module;
  }

  async function compile(address: string, bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
    const code = settings.transform === undefined ? bytes : await transform(settings.transform, bytes);
    try {
      const module = await WebAssembly.compile(code);
      memory.set(address, module, code.length);
      return module;
    } catch (cause) {
      throw new ClientError('invalid_module', 'This engine cannot compile the module', { cause });
    }
  }

  return {
    /** A module from memory. Emits nothing. */
    getCached: (address: string): WebAssembly.Module | undefined => memory.get(address),
    /** A module without a request to the server. Emits nothing. */
    async loadCached(address: string): Promise<WebAssembly.Module | undefined> {
      const module = memory.get(address);
      if (module !== undefined) return module;
      const bytes = await contents.readCached(address);
      return bytes === undefined ? undefined : compile(address, bytes);
    },
    async load(address: string, signal: AbortSignal | undefined): Promise<WebAssembly.Module> {
      if (signal?.aborted) throw aborted(signal);
      const module = memory.get(address);
      if (module === undefined) return singleflight.join(address, (ended) => find(address, ended)).wait(signal);
      emitLookup('memory');
      return module;
    },
    abortAll: (reason: ClientError): void => singleflight.abortAll(reason),
  };
}

/** Fails rather than runs a module without the change, which may be a limit. */
async function transform(change: Transform, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await change(bytes);
  } catch (cause) {
    throw new ClientError('invalid_module', 'The option `transform` failed for the module', { cause });
  }
}
